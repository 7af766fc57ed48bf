# SPDX-License-Identifier: Apache-2.0
"""``ullage completion``: let the shell complete commands, suites, options, their values and result folders."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from ullage.cli.command_tree import add_group

_PROGRAM: Final = "ullage"
# typer gives this name to the variable by which the shell's script asks the program for completions.
VARIABLE: Final = "_ULLAGE_COMPLETE"


# zsh loads the script when Tab is first pressed. typer's script then registers the function and offers nothing.
_ZSH_FIRST_TIME: Final = """
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _ullage_completion "$@"
fi
"""


class Shell(StrEnum):
    """The shells that can be taught."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


ShellArgument = Annotated[
    Shell,
    typer.Argument(metavar="SHELL", help="Write the script for this shell: bash, zsh or fish.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    add_group(app, "completion", "Install shell completion of commands, options and results.", install, show)


def enable() -> None:
    """Answer the shell's question, if this process was started to do so: typer looks for the shell's class then."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # pyright: ignore[reportPrivateImportUsage]

        completion_init()


def install(shell: ShellArgument) -> None:
    """Write the completion script where the shell looks for it.

    Start-up files of the shell are not changed. If one of them needs a line, the line is printed.
    """
    from ullage.results.folder import write_atomically
    from ullage.terminal import print_line

    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    path = {
        Shell.BASH: data / "bash-completion" / "completions" / _PROGRAM,
        Shell.ZSH: data / "zsh" / "site-functions" / f"_{_PROGRAM}",
        Shell.FISH: config / "fish" / "completions" / f"{_PROGRAM}.fish",
    }[shell]
    write_atomically(path, script(shell))
    print_line(f"written  {path}")
    of_bash = "New shells with bash-completion read it. Without bash-completion, add to ~/.bashrc"
    next_steps = {
        Shell.BASH: f"{of_bash}: source '{path}'",
        Shell.ZSH: f"Add to ~/.zshrc, before compinit: fpath+=('{path.parent}')",
        Shell.FISH: "New shells read it.",
    }
    print_line(next_steps[shell])


def show(shell: ShellArgument) -> None:
    """Print the completion script."""
    typer.echo(script(shell), nl=False)


def script(shell: Shell) -> str:
    """Return the script that ``shell`` has to read."""
    from typer.completion import get_completion_script  # pyright: ignore[reportPrivateImportUsage]

    text = get_completion_script(prog_name=_PROGRAM, complete_var=VARIABLE, shell=shell.value) + "\n"
    return text + _ZSH_FIRST_TIME if shell is Shell.ZSH else text
