# SPDX-License-Identifier: Apache-2.0
"""``ullage report``: a result in another form, made again from its records."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.cli.options import ResultArgument
from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.exporters import Content
    from ullage.results.folder import ResultFolder

_SCREEN: Final = "screen"
_TERMINAL: Final = "terminal"


def report(
    result: ResultArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="screen (at most 45 lines), terminal (everything, paged), html, md, csv, json, png, svg, ior, mdtest, "
            "github-action-benchmark, openmetrics.",
        ),
    ] = _SCREEN,
    output: Annotated[
        Path | None,
        typer.Option(
            help="File, or folder of png and svg. Default: a name in the result; stdout for text.", show_default=False
        ),
    ] = None,
) -> None:
    """Show a result, or write it as HTML, Markdown, CSV, JSON or pictures.

    The summary is made again from the records, so a report never shows more than they hold.
    """
    from ullage.exporters import load_exporters
    from ullage.parameters import suggest
    from ullage.report.data import FinishedResult, uncollected

    folder, forms = FinishedResult.open(result), [_SCREEN, _TERMINAL, *load_exporters()]
    if form not in forms:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, forms))
    with uncollected():
        if form in (_SCREEN, _TERMINAL):
            _show(folder, form, output)
        else:
            _write(folder, form, output)


def _show(folder: "ResultFolder", form: str, output: Path | None) -> None:
    from ullage.runs.lifecycle import print_result
    from ullage.runs.summary import build_summary
    from ullage.terminal import print_line

    if output is not None:
        right = "add --format html, md, csv, json, png or svg"
        raise UserError(f"the form {form} is not written to a file", "--output", right)
    print_result(folder, build_summary(folder), "screen" if form == _SCREEN else "all")
    if form == _SCREEN and folder.report_path.is_file():
        print_line("")
        print_line(f"Report: {folder.report_path}")


def _write(folder: "ResultFolder", form: str, output: Path | None) -> None:
    from ullage.exporters import load_exporters
    from ullage.report.data import load
    from ullage.runs.summary import build_summary
    from ullage.terminal import print_line

    exporter, data = load_exporters()[form], load(folder, build_summary(folder))
    place = output if output is not None else folder.path / exporter.default if exporter.default else None
    content = exporter.render(data)
    if place is None:
        sys.stdout.write(_text(content))
        return
    write_content(content, place)
    if exporter.beside is not None:
        write_content(exporter.beside(data), place.parent)
    print_line(str(place))


def _text(content: "Content | Mapping[str, Content]") -> str:
    if not isinstance(content, str):
        raise TypeError("an exporter without a default place must give text")
    return content


def write_content(content: "Content | Mapping[str, Content]", place: Path) -> None:
    """Write a file, or the files of a folder, at ``place``. ``UserError`` when it cannot be written."""
    from ullage.results.folder import write_atomically

    if not isinstance(content, Mapping):
        write_atomically(place, content)
        return
    if not content:
        raise UserError("there is nothing to draw", str(place), "the result has no rows")
    for name, part in content.items():
        write_atomically(place / name, part)
