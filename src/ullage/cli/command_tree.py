# SPDX-License-Identifier: Apache-2.0
"""All commands with their options, as data: the manual page, the reference and the snapshot of help texts read it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from ullage.cli.listed import list_names


@dataclass(frozen=True)
class Parameter:
    """An option or argument. ``typed``: names and value as a person types them; ``note``: default and limits."""

    typed: str
    help: str
    note: str
    is_argument: bool


@dataclass(frozen=True)
class Command:
    """A command. ``path``: the names that lead to it, ``ullage`` first; ``doc``: its help as paragraphs of one line."""

    path: tuple[str, ...]
    doc: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    is_group: bool

    @property
    def name(self) -> str:
        """The path, separated by spaces."""
        return " ".join(self.path)


def commands(app: typer.Typer) -> Iterator[Command]:
    """Yield every command of ``app``; a group stands before its own commands."""
    yield from _walk(typer.main.get_command(app), ("ullage",))


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[Command]:  # noqa: ANN401 - typer's own are not exported
    list_names(command)
    context = typer.Context(command, info_name=path[-1])
    below = getattr(command, "commands", {})
    doc = tuple(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    shown = (_parameter(one, context) for one in command.get_params(context) if "--help" not in one.opts)
    yield Command(path, doc, tuple(one for one in shown if one is not None), bool(below))
    for name in below:
        # A group may list a command without its options, and completes it when it is asked for.
        _, whole, _ = command.resolve_command(context, [name])
        if not whole.hidden:
            yield from _walk(whole, (*path, name))


def _parameter(one: Any, context: typer.Context) -> Parameter | None:  # noqa: ANN401 - typer's own are not exported
    record = one.get_help_record(context)
    if record is None:
        return None
    typed, text = record
    is_argument = one.param_type_name == "argument"
    if is_argument:
        # typer adds the type to the name of an argument.
        typed = typed.partition(" <")[0] + ("..." if one.nargs != 1 and not typed.endswith("...") else "")
    help_text = " ".join((one.help or "").split())
    note = " ".join(text.split()).removeprefix(help_text).strip().removeprefix("[").removesuffix("]")
    return Parameter(typed, help_text, note, is_argument)
