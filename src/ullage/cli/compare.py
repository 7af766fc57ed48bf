# SPDX-License-Identifier: Apache-2.0
"""``ullage compare``: what is faster, cell by cell, and where one cannot tell."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.options import complete_results, option
from ullage.errors import UserError, one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ullage.analysis.attribution import Attribution
    from ullage.analysis.compare import Comparison
    from ullage.model.summary import Summary


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT",
            autocompletion=complete_results,
            help="Compare these result folders. `ullage run` prints the folder at its end.",
            show_default=False,
        ),
    ],
    by: Annotated[
        str | None,
        option(
            "Compare by target, result, backend, block, ranks, nodes, ppn, access or any parameter of the rows. "
            "Default: result, of several results, else target.",
            metavar="NAME",
        ),
    ] = None,
    base: Annotated[str | None, option("Compare the others with this one. Default: the first.", metavar="NAME")] = None,
    metric: Annotated[
        str | None,
        option(
            "Compare this metric; all means every metric. Default: the metric of each phase, or the suite's first.",
            metavar="NAME",
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Print in this format: terminal, <comparisons>.")
    ] = "terminal",
    everything: Annotated[
        bool, typer.Option("--all", help="Show every cell in the terminal, not the largest differences.")
    ] = False,
) -> None:
    """Compare results cell by cell: faster, slower or cannot tell.

    Two numbers are compared if they differ in one dimension and in what follows from it. Runs on 160 and on 504 nodes
    stand side by side, phase by phase. The change of a score is divided among its phases. Each ratio is the other value
    divided by that of the base.
    """
    from ullage.parameters import suggest
    from ullage.report import comparison_text
    from ullage.report.data import uncollected

    if form not in {"terminal", *comparison_text.FORMS}:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, ["terminal", *comparison_text.FORMS]))
    with uncollected():
        found = _compared(_summaries(results), by or ("target" if len(results) == 1 else "result"), base, metric)
        if form == "terminal":
            comparison_text.print_comparison(found, everything=everything)
        else:
            sys.stdout.write(comparison_text.FORMS[form](found))


def _compared(summaries: "dict[str, Summary]", by: str, base: str | None, metric: str | None) -> "Comparison":
    from ullage.analysis.compare import MAIN, compare_summaries
    from ullage.analysis.matching import dimensions_of
    from ullage.parameters import suggest

    dimensions = dimensions_of(row for summary in summaries.values() for row in summary.rows)
    if by not in dimensions:
        raise UserError(f"unknown dimension '{by}'", "--by", suggest(by, dimensions))
    found = compare_summaries(summaries, by, base, None if metric == "all" else metric or MAIN)
    found = replace(found, attributions=tuple(_attributed(found)))
    for warning in found.warnings:
        say(f"warning: {warning}")
    return found


def _attributed(found: "Comparison") -> "Iterator[Attribution]":
    """Divide the changes of scores among their phases, where a suite can."""
    from ullage.analysis.attribution import load_attributions

    attributions = load_attributions() if found.groups else []
    for name in found.names:
        for attributed in attributions if name != found.base_name else ():
            yield from attributed(found.groups[found.base_name], found.groups[name], (found.base_name, name))


def _summaries(paths: list[Path]) -> "dict[str, Summary]":
    """Return the summaries by the shortest names that tell the folders apart: their last part, else their path."""
    from ullage.results.folder import ResultFolder
    from ullage.runs.summary import build_summary

    folders = [ResultFolder.open(path) for path in paths]
    distinct = {folder.path.resolve() for folder in folders}
    if len(distinct) < len(folders):
        raise UserError("a result is named twice", "RESULT", "name each result once")
    short = [one_line(folder.path.name) for folder in folders]
    names = short if len(set(short)) == len(short) else [one_line(str(path)) for path in paths]
    return {name: build_summary(folder) for name, folder in zip(names, folders, strict=True)}


VERBS = (compare,)
