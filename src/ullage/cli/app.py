# SPDX-License-Identifier: Apache-2.0
"""Put the verbs together and turn every error into one line and an exit code.

A verb's module is imported for every command, ``--help`` included: it imports what is heavy inside its functions.
"""

import gc
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

import ullage
from ullage.cli import completion
from ullage.cli.command_tree import ListedCommand
from ullage.discovery import modules_in
from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK, UserError, plain_fault, say
from ullage.harmless import is_plain_line

_INVALID_VALUE = re.compile(r"^Invalid value for '([^']*)': ")
_KEYBOARD_INTERRUPT = 130  # what typer makes of a KeyboardInterrupt
# What all refusals of typer derive from: an exception of click, of which later versions have their own copy.
_USAGE_ERROR: Final = cast("type[Exception]", typer.BadParameter.__mro__[2])


def help_(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="Help on this command, for example run sweep.")
    ] = None,
) -> None:
    """Show the help of ullage, or of one of its commands."""
    raise typer.Exit(run([*(words or []), "--help"]))


def version() -> None:
    """Show the version."""
    raise typer.Exit(run(["--version"]))


VERBS = (help_, version)


def make_app() -> typer.Typer:
    """Make the command line with all verbs of this package, in alphabetical order."""
    app = typer.Typer(
        name="ullage",
        help="Measure how fast each part of a machine runs, and how far that is below what it could do.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    for module in modules_in(__name__.rpartition(".")[0]):
        if hasattr(module, "register"):
            module.register(app)
        for verb in getattr(module, "VERBS", ()):
            app.command(name=verb.__name__.rstrip("_"), cls=ListedCommand)(verb)
    app.registered_commands.sort(key=lambda verb: verb.name or "")
    return app


@cache
def _command() -> Any:  # noqa: ANN401 - typer's own are not exported
    """Return the command-line parser, which is built once per process."""
    return typer.main.get_command(make_app())


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ullage {ullage.__version__}")
        raise typer.Exit(EXIT_OK)


def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version  # handled by its callback


def run(arguments: list[str]) -> int:
    """Do what ``arguments`` (without the program's name) say; return the exit code. Errors are one line each."""
    completion.enable()
    try:
        code = _act(arguments) if (strange := _strange(arguments)) is None else _refuse(strange, EXIT_BAD_INPUT)
        sys.stdout.flush()
    except OSError as error:
        return _refuse(_refused_by_system(error), EXIT_ENVIRONMENT)
    return code


def _strange(arguments: list[str]) -> str | None:
    """Return what is wrong with the first argument that is no plain line of UTF-8, as all names have to be; or None."""
    at = next((at for at, argument in enumerate(arguments) if not is_plain_line(argument)), None)
    if at is None:
        return None
    argument, before = arguments[at], arguments[at - 1] if at else ""
    name, has_value, _ = argument.partition("=")
    option = name if has_value and name.startswith("--") else before if before.startswith("--") and before[2:] else ""
    where = f"{option} {argument.removeprefix(f'{option}=')}".strip()
    if any("\ud800" <= character <= "\udfff" for character in argument):
        return f"{where}: is not UTF-8, as all names in results are; rename it, or reach it by another name"
    return f"{where}: has a line end or a control character; write it on one line, or reach it by another name"


def _act(arguments: list[str]) -> int:
    try:
        code = _command().main(args=arguments, prog_name="ullage", standalone_mode=False)
    except UserError as error:
        return _refuse(str(error), error.code)
    except RecursionError:
        return _refuse("something that was read is nested too deeply; name files and results as programs write them", 2)
    except typer.Abort:
        return _refuse("interrupted", EXIT_ABORTED)
    except _USAGE_ERROR as error:
        return _refuse_usage(error)
    if code == _KEYBOARD_INTERRUPT:
        return _refuse("interrupted", EXIT_ABORTED)
    return code if isinstance(code, int) else EXIT_OK


def _refused_by_system(error: OSError) -> str:
    from ullage.cli.streams import abandon_stdout

    abandon_stdout()
    what = error.strerror or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {what}" if isinstance(error.filename, (str, bytes)) else what


def _refuse(text: str, code: int) -> int:
    say(text)
    return code


def _refuse_usage(error: Exception) -> int:
    """Refuse words that no verb knows, in one line; without any print the whole help, which typer raises."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "ullage")
    message = getattr(error, "format_message", lambda: str(error))()
    if "\n" in message.strip():
        sys.stderr.write(message.rstrip() + "\n")
        return EXIT_BAD_INPUT
    text = _INVALID_VALUE.sub(r"\1: ", plain_fault(message)).rstrip(".")
    return _refuse(f"{text}{' See' if text.endswith('?') else '; see'} `{command} --help`", EXIT_BAD_INPUT)


# New objects after which the collector looks for cycles. What modules and records make stays: at Python's 700, walking
# it again and again takes a tenth of the start of a command.
_COLLECT_AFTER = 100_000


def main() -> None:
    """Run the console script."""
    gc.set_threshold(_COLLECT_AFTER)
    # The mpiexec of an MPI that was installed into the same environment is found, also where that is not activated.
    os.environ["PATH"] = os.pathsep.join(filter(None, (os.environ.get("PATH"), str(Path(sys.executable).parent))))
    from ullage.cli.streams import make_usable

    make_usable()
    sys.exit(run(sys.argv[1:]))
