# SPDX-License-Identifier: Apache-2.0
"""The words of ``ullage run from-TOOL`` as people write them. Imported for every command: nothing heavy up here."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from ullage.command_lines.translation import Draft, Translator
    from ullage.model.plan import Target


def words_of(
    tool: str, translator: "Callable[[], Translator]", metrics: Sequence[str] = ()
) -> Callable[..., ParsedOptions]:
    """The options of the suite for ``tool``, whose rows are ``metrics``.

    ``translator`` is asked for only when a command line is there.
    """

    def line_words(
        *,
        lines: Annotated[
            list[str],
            typer.Argument(
                metavar="LINE...",
                help=f'Whole command lines, each in quotes: "{tool} ..." or "mpirun -np 8 {tool} ...".',
                show_default=False,
            ),
        ],
        target: Annotated[
            str | None,
            typer.Option(metavar="NAME=PATH", help="The place to measure. Default: the path the lines name."),
        ] = None,
        ranks: Annotated[
            int | None,
            typer.Option(min=1, help="Default: what the lines say, else 1.", show_default=False),
        ] = None,
        nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of every case.", show_default=False)] = None,
        ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Ranks on a node.", show_default=False)] = None,
        space: Annotated[
            str | None,
            typer.Option(
                metavar="SIZE", help="Most to take of a target. Default: half of what is free.", show_default=False
            ),
        ] = None,
        watchdog: Annotated[
            str | None, typer.Option(metavar="DURATION", help="A rank without progress for this long hangs.")
        ] = None,
        keep: Annotated[bool, typer.Option("--keep", help="Leave the datasets in place.")] = False,
    ) -> ParsedOptions:
        """Read the words; each mistake is a ``UserError`` before anything is touched."""
        from ullage.command_lines.options import LineOptions
        from ullage.command_lines.reading import read_text, translation_of
        from ullage.units import parse_duration, parse_size

        options = LineOptions(
            lines=lines,
            metrics=list(metrics),
            ranks=ranks,
            nodes=nodes,
            ranks_per_node=ranks_per_node,
            space=None if space is None else parse_size(space),
            keep=keep,
            watchdog_s=None if watchdog is None else parse_duration(watchdog),
        )
        translation = translation_of(tool, options, translator(), read_text)
        targets, places = _targets(tool, target, translation.drafts)
        return ParsedOptions(targets, options.model_copy(update={"places": places}).model_dump(mode="json"))

    return line_words


def _targets(tool: str, asked: str | None, drafts: "tuple[Draft, ...]") -> "tuple[list[Target], dict[str, str]]":
    """The targets, and which of them stands for each place of the drafts."""
    from pathlib import PurePath

    from ullage.errors import UserError
    from ullage.model.plan import Target
    from ullage.uri import parse_target, parse_targets

    on_paths = list(dict.fromkeys(draft.place for draft in drafts if draft.needs_path))
    without = [] if on_paths and all(draft.needs_path for draft in drafts) else [Target(name="null", uri="null:")]
    if asked is not None:
        target = parse_target(asked)
        return [target, *without] if on_paths else without, dict.fromkeys(on_paths, target.name)
    places: dict[str, str] = {}
    texts: list[str] = []
    for place in on_paths:
        if not place:
            right = f"add --target NAME=PATH, or the path in the words of {tool}"
            raise UserError("the command line names no place to measure", tool, right)
        stem = PurePath(place).name or "target"
        name = stem if stem not in places.values() else f"{stem}-{len(places) + 1}"
        places[place] = name
        texts.append(f"{name.replace('=', '-')}={place}")
    return [*parse_targets(texts), *without], {place: name.replace("=", "-") for place, name in places.items()}
