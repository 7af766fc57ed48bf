# SPDX-License-Identifier: Apache-2.0
"""``ullage report``: a result in another form, made again from its records."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.options import ResultArgument
from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.exporters import Content
    from ullage.report.data import ReportData
    from ullage.results.folder import ResultFolder


def report(
    result: ResultArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="terminal, html, md, brief, csv, json, png, svg, pdf, ior, mdtest, "
            "github-action-benchmark, openmetrics.",
        ),
    ] = "terminal",
    output: Annotated[
        Path | None,
        typer.Option(
            help="File, or folder of png and svg; FILE.png and FILE.svg hold the front page alone. "
            "Default: a name in the result; stdout for text.",
            show_default=False,
        ),
    ] = None,
    care: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Suites or parts of the machine that you use: disk,metadata. Gains of others rank after theirs.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Show a result, or write it as HTML, Markdown, CSV, JSON or pictures.

    The summary is made again from the records, so a report never shows more than they hold.
    """
    from ullage.exporters import load_exporters
    from ullage.parameters import suggest
    from ullage.report.data import FinishedResult, uncollected

    folder, forms = FinishedResult.open(result), ["terminal", *load_exporters()]
    if form not in forms:
        raise UserError(f"unknown format '{form}'", "--format", suggest(form, forms))
    with uncollected():
        if form == "terminal":
            _show(folder, output, _cared(care))
        else:
            _write(folder, form, output, _cared(care))


def _cared(words: str) -> tuple[str, ...]:
    from ullage.parameters import suggest
    from ullage.runs.composite.options import cared_words

    found, known = tuple(filter(None, (word.strip() for word in words.split(",")))), cared_words() if words else []
    unknown = next((word for word in found if word not in known), None)
    if unknown is not None:
        raise UserError(f"unknown word '{unknown}'", "--care", suggest(unknown, known))
    return found


def _load(folder: "ResultFolder", care: tuple[str, ...]) -> "ReportData":
    """With the summary made again, and ``care`` where some is named in the place of the run's own."""
    from ullage.report.data import load
    from ullage.runs.summary import build_summary

    data = load(folder, build_summary(folder))
    return replace(data, care=care) if care else data


def _show(folder: "ResultFolder", output: Path | None, care: tuple[str, ...]) -> None:
    from ullage.report.terminal import print_report
    from ullage.terminal import make_console

    if output is not None:
        right = "add --format html, md, csv, json, png or svg"
        raise UserError("the terminal form is not written to a file", "--output", right)
    print_report(_load(folder, care), make_console())


def _write(folder: "ResultFolder", form: str, output: Path | None, care: tuple[str, ...]) -> None:
    from ullage.exporters import load_exporters
    from ullage.terminal import print_line

    exporter, data = load_exporters()[form], _load(folder, care)
    place = output if output is not None else folder.path / exporter.default if exporter.default else None
    alone = exporter.alone is not None and output is not None and output.suffix == f".{form}"
    content = exporter.alone(data) if alone and exporter.alone is not None else exporter.render(data)
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
