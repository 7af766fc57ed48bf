# SPDX-License-Identifier: Apache-2.0
"""``ullage man``: the manual pages, made of the help texts."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

import ullage
from ullage.cli.command_tree import Command, Parameter, add_group

_LIST: Final = re.compile(r",(?=\S)")
"""A comma within a long word, behind which the word may go on in a new line."""
_RUN: Final = ("ullage", "run")
_PLAN: Final = ("ullage", "plan")
_EXIT_CODES: Final = (
    ("0", "The command succeeded."),
    ("2", "A word, file or plan is wrong. Nothing was touched."),
    ("3", "The machine or its MPI does not allow the command."),
    ("4", "A case of the run failed, or a floor of --require. The other cases are complete."),
    ("5", "The run was interrupted or ended by a time limit. `ullage resume` continues it."),
    ("6", "No floor of --require failed, and one cannot be told."),
    ("7", "A node is suspect (--each-node --strict)."),
)
_FILES: Final = (
    ("ullage-results/RUN_ID/", "Folder of a result: plans, records, facts of the machine, summary and report."),
    ("TARGET/ullage-RUN_ID/", "Folder of a run at a target. It is removed when the run ends."),
)
_VARIABLES: Final = (
    ("ULLAGE_ENGINE", "Path of the engine."),
    ("ULLAGE_RSH_AGENT", "Program that starts commands on the nodes of --hosts."),
)


def manual_pages(commands: Iterable[Command]) -> Mapping[str, str]:
    """Write each page in roff by its name, without the section: ``ullage`` and ``ullage-run-SUITE``."""
    every = list(commands)
    runs, plans = ({one.path[2]: one for one in every if one.path[:-1] == verb} for verb in (_RUN, _PLAN))
    # `plan SUITE` takes the options of `run SUITE`.
    verbs = [one for one in every if one.path[:-1] not in (_RUN, _PLAN)]
    pages = {"ullage": _main_page(verbs, list(runs.values()))}
    return pages | {"-".join(suite.path): _suite_page(suite, plans[name]) for name, suite in runs.items()}


def _main_page(verbs: Sequence[Command], suites: Sequence[Command]) -> str:
    root, *others = verbs
    lines = [*_head("ullage", root.doc[0]), ".SH SYNOPSIS", ".B ullage", "COMMAND [ARGUMENTS]"]
    lines += [".SH OPTIONS", *_options(root.parameters), ".SH COMMANDS"]
    for verb in others:
        arguments = [one.typed for one in verb.parameters if one.is_argument]
        typed = " ".join([*verb.path[1:], *(["COMMAND"] if verb.is_group else []), *arguments])
        lines += [".SS " + _text(typed), *_paragraphs(verb.doc), *_options(verb.parameters)]
    lines += [".SH SUITES", "Each suite has a manual page of its own, for example", ".BR ullage-run-sweep (1)."]
    for suite in suites:
        lines += [".TP", f".B {_text(suite.path[-1])}", _text(suite.doc[0])]
    for title, entries in (("EXIT STATUS", _EXIT_CODES), ("FILES", _FILES), ("ENVIRONMENT", _VARIABLES)):
        lines += [f".SH {title}"]
        for name, text in entries:
            lines += [".TP", f".B {_text(name)}", _text(text)]
    return "\n".join(lines) + "\n"


def _suite_page(suite: Command, plan: Command) -> str:
    name = "-".join(suite.path)
    lines = [*_head(name, suite.doc[0]), ".SH SYNOPSIS", f".B ullage run {_text(suite.path[-1])}", "[OPTIONS]"]
    lines += [".br", f".B ullage plan {_text(suite.path[-1])}", "[OPTIONS]"]
    lines += [".SH DESCRIPTION", *_paragraphs(suite.doc)]
    lines += [".SH OPTIONS", *_options(suite.parameters)]
    only_run, only_plan = _difference(suite, plan), _difference(plan, suite)
    names = " and no ".join(one.typed.partition(" ")[0] for one in only_run)
    lines += [".SH OPTIONS OF PLAN", f"`ullage plan` takes no {_text(names)}. It also takes:"]
    lines += [*_options(only_plan), ".SH SEE ALSO", ".BR ullage (1)"]
    return "\n".join(lines) + "\n"


def _difference(one: Command, other: Command) -> list[Parameter]:
    names = {parameter.typed for parameter in other.parameters}
    return [parameter for parameter in one.parameters if parameter.typed not in names]


def _head(name: str, what: str) -> list[str]:
    # The first words of a NAME section are what `apropos` finds.
    return [
        f'.TH {_text(name).upper()} 1 "" "ullage {ullage.__version__}" "Ullage"',
        ".ad l",  # a line of one long list has no blanks to stretch
        ".SH NAME",
        f"{_text(name)} \\- {_text(what)}",
    ]


def _paragraphs(doc: Sequence[str]) -> list[str]:
    return [line for text in doc for line in (".PP", _text(text))]


def _options(parameters: Sequence[Parameter]) -> list[str]:
    lines: list[str] = []
    for one in parameters:
        note = f" [{one.note}]" if one.note else ""
        lines += [".TP", f".B {_text(one.typed)}", _LIST.sub(",\\\\:", _text(one.help + note))]
    return lines


def _text(text: str) -> str:
    """Write ``text`` as roff prints it: no escapes, hyphens that can be copied, no line that begins a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    add_group(app, "man", "Install or print the manual pages.", install, show)


def install(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="DIR",
            help="Write the pages below this folder. Default: ~/.local/share/man, which man searches.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the pages, so that `man ullage` shows them.

    There is one page for ullage, and one for each suite, for example `man ullage-run-sweep`.
    """
    from ullage.results.folder import write_atomically
    from ullage.terminal import print_line

    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    section = (folder or data / "man") / "man1"
    pages = _pages()
    for name, text in pages.items():
        write_atomically(section / f"{name}.1", text)
    print_line(f"written  {len(pages)} pages in {section}")
    print_line(f"If `man ullage` finds no page, use: man -l {section / 'ullage.1'}")


def show(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="Print this page: ullage or ullage-run-SUITE.")
    ] = "ullage",
) -> None:
    """Print a page in roff, for example for `man -l -`."""
    from ullage.errors import UserError
    from ullage.parameters import suggest

    pages = _pages()
    if page not in pages:
        raise UserError(f"there is no manual page '{page}'", "PAGE", suggest(page, pages))
    typer.echo(pages[page], nl=False)


def _pages() -> Mapping[str, str]:
    from ullage.cli.app import make_app
    from ullage.cli.command_tree import commands

    return manual_pages(commands(make_app()))
