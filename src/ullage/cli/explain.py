# SPDX-License-Identifier: Apache-2.0
"""``ullage explain``: where the rest goes, from the ceiling of each part down to its value."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.cli.options import ResultArgument
from ullage.errors import UserError
from ullage.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.summary import Row, Summary
    from ullage.report.ladders import Explained

_INDENT: Final = " " * 8


def explain(
    result: ResultArgument,
    part: Annotated[
        str,
        typer.Argument(
            metavar="[PART]",
            help="Explain this part of the machine: cores, memory, disk, messages. Default: all parts.",
            show_default=False,
        ),
    ] = "",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ladders as JSON.")] = False,
) -> None:
    """Say where the rest of a ceiling goes.

    A ladder leads from the ceiling of a part down to its value. Each rung is the same work with one thing changed. It
    says what that costs, how sure this is, and what to do. What no rung explains stands last.
    """
    from ullage.report.data import FinishedResult, uncollected
    from ullage.runs.summary import build_summary

    with uncollected():
        summary = build_summary(FinishedResult.open(result))
    shown = _asked(summary, part)
    if as_json:
        ladders = [one.ladder.model_dump(mode="json") for one in shown if one.ladder is not None]
        sys.stdout.write(json.dumps({"run_id": summary.run_id, "ladders": ladders}, indent=1) + "\n")
        return
    blocks = [list(_block(one, summary)) for one in shown]
    lines = [line for index, block in enumerate(blocks) for line in ([""] if index else []) + block]
    sys.stdout.write("\n".join(lines or ["No number of this result stands for a part of the machine."]) + "\n")


def _asked(summary: "Summary", part: str) -> "Sequence[Explained]":
    """Return the parts that ``part`` names: a whole name, or the first word of several (``disk``)."""
    from ullage.parameters import suggest
    from ullage.report.ladders import explained_parts

    found, word = explained_parts(summary), part.replace("-", " ").lower()
    shown = [one for one in found if not word or word in (one.vessel.part, one.vessel.part.split(" ")[0])]
    if word and not shown:
        known = [one.vessel.part for one in found]
        raise UserError(f"no number stands for the part '{part}'", "PART", suggest(part, known))
    return shown


def _block(one: "Explained", summary: "Summary") -> Iterator[str]:
    from ullage.quantity import percent
    from ullage.report.ladders import cost, head, largest, steps

    ladder, row = one.ladder, one.row
    yield from folded(
        f"{one.vessel.part}: {one.vessel.value}" if one.vessel.is_time_lost else head(one.vessel.part, row)
    )
    yield from folded(one.vessel.what, "  ")
    yield from _of_ceiling(one, row, summary.created)
    if one.vessel.is_disturbed:
        yield from folded("Other programs disturbed this number (grade C).", "  ")
    if ladder is None:
        return
    if (cause := largest(ladder)) is not None:
        yield from folded(f"The largest cause: {cause.clause}.", "  ")
    yield f"{percent(1):>6}  the ceiling"
    for rung, left in steps(ladder):
        words = f"{rung.clause}: {cost(rung)}"
        yield from folded(words, _INDENT, f"{percent(left):>6}  ")
        if not rung.is_sure:
            continue
        yield from folded(rung.advice, _INDENT)
        yield from folded(rung.command, f"{_INDENT}  ", f"{_INDENT}$ ")


def _of_ceiling(one: "Explained", row: "Row", created: str) -> Iterator[str]:
    from ullage.report.ladders import told_ceiling

    told = told_ceiling(row, created)
    if not told or one.vessel.share is None:
        known = "its ceiling is all of the time" if one.vessel.is_time_lost else f"no ceiling: {one.vessel.advice}"
        yield from folded(known, "  ")
        return
    kind, source, at, why = told
    yield from folded(f"{kind} ceiling{f', {at}' if at else ''}: {source}", "  ")
    yield from folded(why, "  ")
    if one.ladder is None or not one.ladder.rungs:
        yield from folded("No rung of this part was measured in this run.", "  ")


VERBS = (explain,)
