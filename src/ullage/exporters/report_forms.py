# SPDX-License-Identifier: Apache-2.0
"""Forms that the report itself makes: the summary, all rows, the page, its charts as pictures.

Parquet is written by DuckDB where that is installed.
"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.exporters import Exporter
from ullage.model.summary import SUMMARY_SCHEMA, Summary
from ullage.reading import read_bytes
from ullage.report.contents import documents
from ullage.report.data import ReportData
from ullage.report.first_screen import front_of
from ullage.report.picture import front_svg
from ullage.report.row_records import LISTS, NUMBERS, Cell, columns_of, row_records
from ullage.report.row_table import to_csv
from ullage.report.vega import svg_to_pdf, svg_to_png, to_png, to_svg

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def _page(data: ReportData) -> str:
    from ullage.report.html import render

    return render(data)


def _beside_page(data: ReportData) -> Mapping[str, str]:
    from ullage.report.html import beside

    return beside(data)


def _front_svg(data: ReportData) -> str:
    return front_svg(*front_of(data))


def _front_png(data: ReportData) -> bytes:
    return svg_to_png(_front_svg(data))


def _pdf(data: ReportData) -> bytes:
    from ullage.report.printed import printed_svg

    return svg_to_pdf(printed_svg(data))


def _pictures(form: str, data: ReportData) -> Mapping[str, str | bytes]:
    """Draw the charts by file name, PNG at twice the size of the page; add the front page where there are rows."""
    front, draw = (_front_png, to_png) if form == "png" else (_front_svg, to_svg)
    charts = {f"{name}.{form}": draw(document) for name, document in documents(data)}
    return {f"front.{form}": front(data), **charts} if data.summary.rows else charts


def parquet_file(data: ReportData) -> bytes:
    """Return a Parquet file with a record a row, typed where all rows agree; raise ``UserError`` without DuckDB."""
    records = list(row_records(data.summary))
    types = _types(data.summary, records)
    return to_parquet([_typed(record, types) for record in records], types, "--format parquet")


def to_parquet(records: Iterable[Mapping[str, object]], types: dict[str, str], asked: str) -> bytes:
    """Return a Parquet file of ``records``, whose columns have these types in SQL.

    Raise ``UserError`` without DuckDB, which was ``asked`` for.
    """
    database = connect(asked)
    with tempfile.TemporaryDirectory(prefix="ullage-parquet-") as folder, database:
        lines, file = Path(folder) / "rows.ndjson", Path(folder) / "rows.parquet"
        with lines.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in records)
        table = database.read_json(str(lines), format="newline_delimited", columns=types)
        table.write_parquet(str(file))
        return read_bytes(file)


def connect(asked: str) -> "DuckDBPyConnection":
    """Return an empty database in memory; raise ``UserError`` without DuckDB, which was ``asked`` for."""
    try:
        import duckdb
    except ImportError as error:
        right = "install it: pip install duckdb"
        raise UserError("this needs DuckDB", asked, right, EXIT_ENVIRONMENT) from error
    return duckdb.connect()


def _types(summary: Summary, records: Iterable[dict[str, Cell]]) -> dict[str, str]:
    met: dict[str, set[type]] = {name: set() for name in columns_of(summary)}
    for record in records:
        for name, value in record.items():
            if value is not None:
                met[name].add(type(value))
    fixed = {**dict.fromkeys(NUMBERS, "DOUBLE"), **LISTS}
    return {name: fixed.get(name) or _type_of(kinds) for name, kinds in met.items()}


def _type_of(kinds: set[type]) -> str:
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT"
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"


def _typed(record: dict[str, Cell], types: dict[str, str]) -> dict[str, Cell]:
    return {
        name: str(value) if types[name] == "VARCHAR" and value is not None else value for name, value in record.items()
    }


EXPORTERS: Final = (
    Exporter(
        "json", f"the summary (schema {SUMMARY_SCHEMA})", "", lambda data: data.summary.model_dump_json(indent=1) + "\n"
    ),
    Exporter("csv", "all rows, plain SI numbers, every repetition", "", lambda data: to_csv(data.summary)),
    Exporter("parquet", "all rows as Apache Parquet, typed; needs DuckDB", "rows.parquet", parquet_file),
    Exporter("html", "one self-contained page with charts and tables", "report.html", _page, _beside_page),
    Exporter(
        "png", "a folder of front page and charts as PNG", "charts-png", partial(_pictures, "png"), alone=_front_png
    ),
    Exporter(
        "svg", "a folder of front page and charts as SVG", "charts-svg", partial(_pictures, "svg"), alone=_front_svg
    ),
    Exporter("pdf", "the page as PDF: first screen, answers and charts", "report.pdf", _pdf),
)
