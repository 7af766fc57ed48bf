# SPDX-License-Identifier: Apache-2.0
"""All commands with their options, as data: the manual page, the reference and the snapshot of help texts read it.

Names of registries in help texts: ``<exporters>`` in a help text stands for the names of all exporters. The registries
are looked at when help is shown: at each start of the program that would take too long.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import typer
from typer.core import TyperCommand

# What gives the names, or has them as its keys.
_REGISTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "<exporters>": ("exporters", "load_exporters"),
    "<importers>": ("importers", "load_importers"),
    "<comparisons>": ("report.comparison_text", "FORMS"),
    "<launchers>": ("launch", "launcher_names"),
    "<systems>": ("launch", "batch_systems"),
}


def list_names(command: Any) -> None:  # noqa: ANN401 - typer's own are not exported
    """Write the names of registries into the help texts of the options of ``command``."""
    for one in command.params:
        for mark in [mark for mark in _REGISTRIES if mark in (getattr(one, "help", "") or "")]:
            *names, last = _names(*_REGISTRIES[mark])
            one.help = one.help.replace(mark, f"{', '.join(names)} or {last}")


def _names(module: str, name: str) -> Iterable[str]:
    found = getattr(importlib.import_module(f"ullage.{module}"), name)
    return cast("Iterable[str]", found() if callable(found) else found)


class ListedCommand(TyperCommand):
    """A command whose help lists names of registries."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own are not exported
        """Write the options with the names in their help."""
        list_names(self)
        super().format_options(ctx, formatter)


def add_group(app: typer.Typer, name: str, doc: str, *verbs: Callable[..., None]) -> None:
    """Add a command to ``app`` that has ``verbs`` below it."""
    group = typer.Typer(help=doc, no_args_is_help=True, rich_markup_mode=None)
    for verb in verbs:
        group.command()(verb)
    app.add_typer(group, name=name)


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
