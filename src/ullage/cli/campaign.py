# SPDX-License-Identifier: Apache-2.0
"""``ullage keep``, ``history``, ``check`` and ``baseline``: results over time, and how a new one stands among them."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ullage.cli.options import CAMPAIGN, complete_results, option
from ullage.errors import EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_OK, UserError, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.campaign.check import Checked
    from ullage.campaign.series import Series

DEFAULT: Final = Path("ullage-campaign")
_MOST: Final = 40
_OF_SERIES: Final = ("number", "node", "last", "since", "runs", "trend", "not judged", "row")
_OF_CHECK: Final = ("verdict", "number", "node", "now", "change in %", "runs before", "what to do")
_WORST_FIRST: Final = ("worse", "cannot tell", "better", "same")
_WIDEST: Final = 100.0  # times the lower end, of an interval that says something
_FORMS: Final = ("md", "line", "junit")
_WHERE: Final = f"Use the campaign in this folder. Default: ${CAMPAIGN}, otherwise {DEFAULT}."
CampaignOption: TypeAlias = Annotated[Path, option(_WHERE, envvar=CAMPAIGN, show_envvar=False, metavar="DIR")]
_Since: TypeAlias = Annotated[str, option("Begin at this date, for example 2026-03-01.", metavar="DATE")]
_Results: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[RESULT]",
        autocompletion=complete_results,
        help="Take these result folders. `ullage run` prints the folder at its end.",
        show_default=False,
    ),
]


def keep(
    results: _Results = None,
    *,
    campaign: CampaignOption = DEFAULT,
    system: Annotated[
        str, option("Name the machine. Default: the name of its host without the number at the end.", metavar="NAME")
    ] = "",
    pack: Annotated[bool, typer.Option("--pack", help="Then put the files of each month into one.")] = False,
) -> None:
    """Keep the rows of results in a campaign.

    A campaign is a folder of Parquet files, by system, suite and month. Many jobs may write to it at the same time. A
    result that is kept twice counts once. Of a run of each node, the rows of each node are kept.
    """
    from ullage.campaign import store
    from ullage.quantity import plural
    from ullage.results.folder import ResultFolder
    from ullage.terminal import print_line

    if not results and not pack:
        raise UserError("nothing to keep", "RESULT", "name result folders, or give --pack")
    for path in results or ():
        rows, new = store.keep(ResultFolder.open(path), campaign, system)
        print_line(f"{path}: {plural(rows, 'row')}, {'kept' if new else 'already kept'}")
    if pack:
        print_line(f"{plural(store.pack(campaign), 'file')} packed")
    print_line(str(campaign))


def keep_at_end(result: Path, campaign: Path | None, code: int) -> int:
    """Keep a result whose run ended with ``code``, if that was asked for; return the exit code."""
    if campaign is None:
        return code
    from ullage.campaign.store import keep
    from ullage.results.folder import ResultFolder

    try:
        say(f"{keep(ResultFolder.open(result), campaign)[0]} rows are kept in {campaign}")
    except UserError as error:
        say(f"the result is not kept: {error}")
        return code or error.code
    return code


def history(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[PART|ROW]",
            help="Show this part of the machine, suite or metric, or the row whose id begins so. Default: all parts.",
            show_default=False,
        ),
    ] = "",
    *,
    campaign: CampaignOption = DEFAULT,
    node: Annotated[
        str, option("Show this node; each means every node. Default: the median of all nodes.", metavar="NAME")
    ] = "",
    since: _Since = "",
    everything: Annotated[bool, typer.Option("--all", help="List all numbers, not 40.")] = False,
    sql: Annotated[
        str, option("Print DuckDB's answer to this question about the table rows, as CSV.", metavar="SQL")
    ] = "",
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the history as a page to this file. An existing file is replaced."
        ),
    ] = None,
) -> None:
    """Show how numbers changed over time.

    A change is told with the date, its size, and the versions that changed with it. On stable machines, at most 5 % of
    reports name a change. Disturbed rows, and rows of caches, are counted and not judged.
    """
    from ullage.campaign.series import Selection, read_series, sentences, told_changes
    from ullage.campaign.store import query
    from ullage.report.contents import to_csv_text
    from ullage.terminal import make_console, print_fitting, print_line

    if sql:
        lines = query(campaign, sql, (), lambda found: [[one[0] for one in found.description], *found.fetchall()])
        sys.stdout.write(to_csv_text(lines))
        return
    series = read_series(Selection(campaign, what, node, since))
    told = told_changes(campaign, series)
    if page is not None:
        from ullage.campaign.page import render
        from ullage.results.outputs import write_outputs

        write_outputs({page.name: render(campaign, series, told)}, page.absolute().parent, replace=True)
    for line in sentences(series, told):
        print_line(line)
    changed = {id(one) for one, *_ in told}
    shown = sorted(series, key=lambda one: id(one) not in changed)[: None if everything else _MOST]
    print_fitting(make_console(), [(name, False) for name in _OF_SERIES], [_of_series(one) for one in shown])
    if len(shown) < len(series):
        print_line(f"{len(series) - len(shown)} more: --all lists them.")


def _of_series(one: "Series") -> list[str]:
    from ullage.quantity import between, format_compact, format_quantity

    last, low, high = format_quantity(one.values[-1], one.unit), one.lows[-1], one.highs[-1]
    if low is not None and high is not None:
        last += f" {between(format_compact(low, one.unit), format_compact(high, one.unit))}"
    runs, unsound = str(len(one.values)), str(one.unsound or "")
    return [one.title, one.node, last, f"{one.times[0]:%Y-%m-%d}", runs, one.trend, unsound, one.id]


def check(
    results: _Results = None,
    *,
    campaign: CampaignOption = DEFAULT,
    against: Annotated[
        str,
        typer.Option(
            metavar="NAME|RESULT",
            help="Compare with this result, or with the past of the node: campaign means since its last change, last "
            "means its last run. class means other nodes of its kind, baseline their baseline.",
        ),
    ] = "campaign",
    margin: Annotated[str, typer.Option(metavar="SHARE", help="Differences below this share are the same.")] = "5%",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 6 where something cannot be told.")] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Print a table (md), one line (line), or JUnit XML (junit).")
    ] = "md",
) -> None:
    """Say whether results are as good as those before them.

    Each row is better, the same, worse or cannot be told, all with 95 % confidence together. Several results repeat one
    another. Without any, the one that was kept last is checked. The exit code is 4 where something is worse.
    """
    from ullage.campaign.check import check as check_rows
    from ullage.campaign.check import last_rows, rows_of
    from ullage.parameters import suggest
    from ullage.results.folder import ResultFolder
    from ullage.units import parse_share

    if form not in _FORMS:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, _FORMS))
    now = rows_of([ResultFolder.open(path) for path in results]) if results else last_rows(campaign)
    found = check_rows(now, campaign, against, parse_share(margin))
    found.sort(key=lambda one: _WORST_FIRST.index(one.word))
    counts = Counter(one.word for one in found)
    _print(found, form, ", ".join(f"{counts[word]} {word}" for word in _WORST_FIRST if counts[word]) or "no rows")
    told = EXIT_CANNOT_TELL if strict and counts["cannot tell"] else EXIT_OK
    raise typer.Exit(EXIT_CASE_FAILED if counts["worse"] else told)


def _print(found: "Sequence[Checked]", form: str, counts: str) -> None:
    rows = [_of_check(one) for one in found]
    if form == "junit":
        sys.stdout.write(_junit(rows))
        return
    worse = "; ".join(f"{name} on {node}" for word, name, node, *_ in rows[:3] if word == "worse")
    sys.stdout.write(f"ullage check: {counts}{f' ({worse})' if worse and form == 'line' else ''}\n")
    parts = any(one.row["part"] for one in found)
    shown = [one.word != "same" and (one.word != "cannot tell" or bool(one.row["part"]) == parts) for one in found]
    telling = [
        [cell.replace("|", "\\|").replace("<", "&lt;") for cell in row]
        for row, is_shown in zip(rows, shown, strict=True)
        if is_shown
    ]
    if form == "md" and telling:
        lines = (" | ".join(row) for row in [_OF_CHECK, ["---"] * len(_OF_CHECK), *telling])
        sys.stdout.write("".join(["\n", *(f"| {line} |\n" for line in lines)]))
    left = sum(one.word == "cannot tell" for one in found) - sum(row[0] == "cannot tell" for row in telling)
    if form == "md" and left:
        sys.stdout.write(f"\n{left} more cannot be told; `--format junit` lists them.\n")


def _of_check(one: "Checked") -> list[str]:
    from ullage.errors import one_line
    from ullage.quantity import between, change_percent, format_quantity

    row, told = one.row, ""
    if one.ratio is not None:
        by, low, high = map(change_percent, (one.ratio, one.low, one.high))
        told = f"{by} {between(low, high)}" if one.high < _WIDEST * one.low else f"{by}, no interval from so few runs"
    name = one_line(f"{row['part']}: {row['what']}" if row["part"] else row["what"])
    return [one.word, name, row["node"], format_quantity(row["median"], row["unit"]), told, str(one.past), one.reason]


def _junit(rows: "Sequence[Sequence[str]]") -> str:
    from xml.etree import ElementTree as ET

    marks = {"worse": "failure", "cannot tell": "skipped"}
    root = ET.Element("testsuite", {"name": "ullage", "tests": str(len(rows))})
    for word, name, node, *more in rows:
        case = ET.SubElement(root, "testcase", {"classname": f"ullage.{node}", "name": name})
        if mark := marks.get(word):
            ET.SubElement(case, mark, {"message": ", ".join(filter(None, more))})
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def baseline(
    *,
    campaign: CampaignOption = DEFAULT,
    since: _Since = "",
    node: Annotated[str, option("Take this node alone, for example one that was accepted.", metavar="NAME")] = "",
) -> None:
    """Make the baseline of `ullage check --against baseline`.

    It is of each kind of node. The sound rows of the time are copied to DIR/baseline.parquet, in the place of what was
    there.
    """
    from ullage.campaign.series import Selection
    from ullage.campaign.store import write_baseline
    from ullage.quantity import plural
    from ullage.terminal import print_line

    place, count = write_baseline(campaign, *Selection(campaign, "", node, since).where())
    print_line(f"{place}: {plural(count, 'row')}")


VERBS = (keep, history, check, baseline)
