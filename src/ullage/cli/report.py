# SPDX-License-Identifier: Apache-2.0
"""``ullage report`` and ``show``: a result in another form, or a part of it down to its repetitions."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.cli.options import AllOption, ResultArgument, option
from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.exporters import Content
    from ullage.model.acceptance import Floor
    from ullage.report.data import ReportData
    from ullage.results.folder import ResultFolder

_SCREEN: Final = "screen"
_TERMINAL: Final = "terminal"


def _complete_forms(incomplete: str) -> list[str]:
    from ullage.exporters import load_exporters

    return [name for name in [_SCREEN, _TERMINAL, *load_exporters()] if name.startswith(incomplete)]


def report(
    result: ResultArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            autocompletion=_complete_forms,
            help="Use this format: screen (45 lines), terminal (everything, paged), <exporters>.",
        ),
    ] = _SCREEN,
    output: Annotated[
        Path | None,
        option(
            "Write to this file; - is stdout. png and svg need a folder; FILE.png and FILE.svg get the front page "
            "alone. Default: a name in the result folder, or stdout for text.",
            metavar="PATH",
        ),
    ] = None,
    care: Annotated[
        str, option("Rank the gains of these suites or parts of the machine first: disk,metadata.", metavar="NAMES")
    ] = "",
    require: Annotated[
        Path | None,
        option(
            "Judge the rows by the floors in this TOML file. The exit code is 4 where one fails, 6 where one "
            "cannot be told. Default: the floors of the run. `ullage draft floors RESULT` writes a draft.",
            metavar="FILE",
        ),
    ] = None,
    *,
    everything: AllOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files of these names.")] = False,
) -> None:
    """Show a result, or write it as a page, picture or table.

    The summary is made again from the records, so a report never shows more than the records hold.
    """
    from ullage.report.data import FinishedResult, uncollected
    from ullage.runs.options.floors import read_checked_floors

    with uncollected():
        shown = _TERMINAL if everything and form == _SCREEN else form
        floors = [] if require is None else read_checked_floors(require)
        _report(FinishedResult.open(result), shown, output, care, floors, force=force)


def _report(
    folder: "ResultFolder", form: str, output: Path | None, care: str, floors: "list[Floor]", *, force: bool
) -> None:
    """Do what ``report`` says; when this returns nothing refers to the records of ``folder`` any more."""
    from ullage.exporters import load_exporters
    from ullage.parameters import suggest
    from ullage.runs.nodes import code_of_floors

    forms = [_SCREEN, _TERMINAL, *load_exporters()]
    if form not in forms:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, forms))
    data = _load(folder, _cared(care), floors)
    if form in (_SCREEN, _TERMINAL):
        _print(folder, data, form, output)
    else:
        _write(folder, data, form, output, force=force)
    _end_badly_without_rows(folder)
    if floors:
        raise typer.Exit(code_of_floors(data.summary))


def _end_badly_without_rows(folder: "ResultFolder") -> None:
    """Say why, and exit with 3, where nothing was measured because no launch came to its first record."""
    from ullage.errors import EXIT_ENVIRONMENT
    from ullage.results.events import failed_launches

    files = folder.read_records()
    if any(file.run is not None for file in files):
        return
    if failed := [finding for one in (folder, *folder.parts()) for finding in failed_launches(one, files)]:
        more = f" {len(failed) - 1} more launches failed." if len(failed) > 1 else ""
        raise UserError(f"{failed[0].text}{more}", str(folder.path), "", EXIT_ENVIRONMENT)


def _cared(words: str) -> tuple[str, ...]:
    from ullage.parameters import suggest
    from ullage.runs.composite.options import cared_words

    found, known = tuple(filter(None, (word.strip() for word in words.split(",")))), cared_words() if words else []
    unknown = next((word for word in found if word not in known), None)
    if unknown is not None:
        raise UserError(f"unknown word '{unknown}'", "--care", suggest(unknown, known))
    return found


def _load(folder: "ResultFolder", care: tuple[str, ...], floors: "list[Floor]") -> "ReportData":
    """Load a result with the summary made again; ``care`` and ``floors``, if any, in the place of the run's own."""
    from ullage.report.data import load
    from ullage.runs.summary import build_summary

    data = load(folder, build_summary(folder, floors) if floors else build_summary(folder))
    return replace(data, care=care) if care else data


def _print(folder: "ResultFolder", data: "ReportData", form: str, output: Path | None) -> None:
    from ullage.results.outputs import is_stream
    from ullage.runs.lifecycle import print_result
    from ullage.terminal import print_line

    if output is not None and not is_stream(output):
        right = "add --format html, md, csv, json, png or svg"
        raise UserError(f"the form {form} is not written to a file", "--output", right)
    print_result(data, "screen" if form == _SCREEN else "all")
    if form == _SCREEN and folder.report_path.is_file():
        print_line("")
        print_line(f"Report: {folder.report_path}")


def _write(folder: "ResultFolder", data: "ReportData", form: str, output: Path | None, *, force: bool) -> None:
    from ullage.exporters import load_exporters
    from ullage.results.outputs import is_stream, lies_within, write_outputs
    from ullage.terminal import print_line

    exporter = load_exporters()[form]
    place = output if output is not None else folder.path / exporter.default if exporter.default else None
    alone = exporter.alone is not None and output is not None and output.suffix == f".{form}"
    content = exporter.alone(data) if alone and exporter.alone is not None else exporter.render(data)
    if place is None or is_stream(place):
        if not isinstance(content, str):
            raise UserError(f"the form {form} is not one text", "--output", "name a folder")
        sys.stdout.write(content)
        return
    files = _files(content, place)
    if exporter.beside is not None:
        files.update(exporter.beside(data))
    write_outputs(files, place.absolute().parent, replace=force or lies_within(place, folder.path))
    print_line(str(place))


def _files(content: "Content | Mapping[str, Content]", place: Path) -> "dict[str, Content]":
    """Return the files by their paths beside ``place``; raise ``UserError`` for a folder's name or no content."""
    if not isinstance(content, Mapping):
        if place.name in ("", ".."):
            raise UserError("is a folder", str(place), "name a file in it, or - for standard output")
        return {place.name: content}
    if not content:
        raise UserError("there is nothing to draw", str(place), "the result has no rows")
    return {f"{place.absolute().name}/{name}": one for name, one in content.items()}


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
        _show_rows(FinishedResult.open(result), what, everything=everything)


def _show_rows(folder: "ResultFolder", what: str, *, everything: bool) -> None:
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


VERBS = (report, show)
