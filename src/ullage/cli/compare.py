# SPDX-License-Identifier: Apache-2.0
"""``ullage compare``: what is faster, cell by cell, and where one cannot tell."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.model.summary import Summary


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command(name="compare")(compare)


def compare(
    results: Annotated[list[Path], typer.Argument(help="Folders that `ullage run` has printed.", show_default=False)],
    by: Annotated[str, typer.Option(help="target, result, backend, block, ranks or access.")] = "target",
    base: Annotated[
        str | None, typer.Option(help="What the others are compared with. Default: the first.", show_default=False)
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Default: the first that the suite names; all for all.", show_default=False)
    ] = None,
    form: Annotated[str, typer.Option("--format", help="terminal, json, md or csv.")] = "terminal",
) -> None:
    """Compare cell by cell: faster, slower or cannot tell.

    Two numbers are compared when they differ in one thing only. Each ratio is that of the other to the base.
    """
    from ullage.analysis.compare import DIMENSIONS, compare_summaries
    from ullage.parameters import suggest
    from ullage.report import comparison_text

    if by not in DIMENSIONS:
        raise UserError(f"unknown dimension '{by}'", "--by", suggest(by, DIMENSIONS))
    if form not in {"terminal", *comparison_text.FORMS}:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, ["terminal", *comparison_text.FORMS]))
    summaries = _summaries(results)
    chosen = metric or next((row.metric for summary in summaries.values() for row in summary.rows), None)
    found = compare_summaries(summaries, by, base, None if chosen == "all" else chosen)
    for warning in found.warnings:
        sys.stderr.write(f"ullage: warning: {warning}\n")
    if form == "terminal":
        comparison_text.print_comparison(found)
    else:
        sys.stdout.write(comparison_text.FORMS[form](found))


def _summaries(paths: list[Path]) -> "dict[str, Summary]":
    """Summaries by the shortest names that tell the folders apart: their last part, else their path."""
    from ullage.results.folder import ResultFolder
    from ullage.runs.summary import build_summary

    folders = [ResultFolder.open(path) for path in paths]
    distinct = {folder.path.resolve() for folder in folders}
    if len(distinct) < len(folders):
        raise UserError("a result is named twice", "RESULT", "name each once")
    short = [folder.path.name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(path) for path in paths]
    return {name: build_summary(folder) for name, folder in zip(names, folders, strict=True)}
