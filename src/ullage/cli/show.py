# SPDX-License-Identifier: Apache-2.0
"""``ullage show``: a part, a case or a row of a result, down to its repetitions."""

from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.options import ResultArgument

if TYPE_CHECKING:
    from ullage.results.folder import ResultFolder


def show(
    result: ResultArgument,
    what: Annotated[
        str,
        typer.Argument(
            metavar="[PART|CASE|ROW]",
            help=(
                "Show this suite, part of the machine, case id or its beginning, or number of a row. Default: "
                "the rows of the front page."
            ),
            show_default=False,
        ),
    ] = "",
    *,
    everything: Annotated[bool, typer.Option("--all", help="List every row, by a pager, not 40.")] = False,
) -> None:
    """Show the rows of a result, or a row with its repetitions.

    A single row is shown with its ceiling, verdict, flags and repetitions. Rows are numbered from 1 in the order of
    summary.json.
    """
    from ullage.report.data import FinishedResult, uncollected

    with uncollected():
        _show(FinishedResult.open(result), what, everything=everything)


def _show(folder: "ResultFolder", what: str, *, everything: bool) -> None:
    from ullage.report.data import load
    from ullage.report.terminal import find_rows, print_row, print_rows
    from ullage.runs.summary import build_summary
    from ullage.terminal import make_console, paged, print_line

    summary = build_summary(folder)
    indices = find_rows(summary, what)
    if not indices:
        print_line("The result has no rows.")
    elif len(indices) == 1:
        print_row(load(folder, summary), indices[0], make_console())
    elif everything:
        with paged() as console:
            print_rows(summary, indices, console, everything=True)
    else:
        print_rows(summary, indices, make_console())
