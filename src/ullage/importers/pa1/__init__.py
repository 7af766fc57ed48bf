# SPDX-License-Identifier: Apache-2.0
"""Tables of a widespread course report on one node (pa1_*.csv): ours, a known tool's, the theory, both efficiencies.

The files belong together: rates and latencies of one are held against each other, and against the device's ceiling.
"""

from collections.abc import Mapping
from typing import Final

from ullage.importers import IMPORT_SUITE, Importer
from ullage.importers.pa1.checks import checked
from ullage.importers.pa1.findings import findings_of
from ullage.importers.pa1.tables import TABLES, read_lines, table_of
from ullage.model.summary import Summary

_FORM: Final = "CSV of a course report: precision, workload or protocol, threads, measured_*, a peer, theoretical_*"


def recognises(text: str) -> bool:
    """The first line is that of one of the tables."""
    return table_of(text) is not None


def read_all(texts: Mapping[str, str]) -> Summary:
    """The summary of all tables together. ``UserError`` names file, line and column of the first mistake."""
    lines = [line for name, text in texts.items() for line in read_lines(text, name)]
    found = checked(lines)
    rows = [one.row for one in found]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings_of(found))


IMPORTER: Final = Importer(
    "pa1",
    _FORM,
    recognises,
    lambda text, name: read_all({name: text}),
    tuple(f"pa1_{table.name.replace(' ', '_')}.csv" for table in TABLES),
    read_all,
)
IMPORTERS: Final = (IMPORTER,)
