# SPDX-License-Identifier: Apache-2.0
"""All rows as an Apache Parquet file, written by DuckDB where that is installed."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.exporters import Exporter
from ullage.model.summary import Summary
from ullage.reading import read_bytes
from ullage.report.data import ReportData
from ullage.report.row_records import LISTS, NUMBERS, Cell, columns_of, row_records


def parquet_file(data: ReportData) -> bytes:
    """Return the content of a Parquet file with a record a row.

    Parameters are numbers or truth values where all rows have such, else text. Raise ``UserError`` without DuckDB.
    """
    try:
        import duckdb
    except ImportError as error:
        right = "install it: pip install duckdb"
        raise UserError("this form needs DuckDB", "--format parquet", right, EXIT_ENVIRONMENT) from error
    records = list(row_records(data.summary))
    types = _types(data.summary, records)
    with tempfile.TemporaryDirectory(prefix="ullage-parquet-") as folder:
        lines, file = Path(folder) / "rows.ndjson", Path(folder) / "rows.parquet"
        with lines.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(_typed(record, types)) + "\n" for record in records)
        with duckdb.connect() as database:
            table = database.read_json(str(lines), format="newline_delimited", columns=types)
            table.write_parquet(str(file))
        return read_bytes(file)


def _types(summary: Summary, records: Iterable[dict[str, Cell]]) -> dict[str, str]:
    """Return the type in SQL of each column."""
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
    Exporter("parquet", "all rows as Apache Parquet, typed; needs DuckDB", "rows.parquet", parquet_file),
)
