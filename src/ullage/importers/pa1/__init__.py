# SPDX-License-Identifier: Apache-2.0
"""Tables of a widespread course report on one node (pa1_*.csv): ours, a known tool's, the theory, both efficiencies.

The files belong together: rates and latencies of one are held against each other, and against the device's ceiling.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.importers import IMPORT_SUITE, Importer
from ullage.importers.pa1 import checks
from ullage.importers.pa1.checks import Checked, checked
from ullage.importers.pa1.tables import TABLES, read_lines, table_of
from ullage.model.flags import INVALID_ABOVE_CEILING, INVALID_LITTLES_LAW
from ullage.model.summary import Finding, Summary
from ullage.units import format_bytes, format_rate

_Pick = Callable[[Checked], float]
_WIDTH_ALIKE: Final = 1.3
_TOLD_ONCE: Final = frozenset({INVALID_LITTLES_LAW, checks.PEER_LITTLES_LAW})


def findings_of(found: Sequence[Checked]) -> list[Finding]:
    """Make one finding for each kind and table in which it is met; then what the rates of types say of the code."""
    findings: list[Finding] = []
    for code, rule in _RULES.items():
        # The law binds two tables, and is told once.
        tables = dict.fromkeys(one.line.table.name for one in found if code in one.found)
        if code in _TOLD_ONCE and len(tables) > 1:
            tables = dict.fromkeys(list(tables)[:1])
        for table in tables:
            met = [one for one in found if code in one.found and one.line.table.name == table]
            findings.append(_finding(code, table, met, rule))
    return [*findings, *_widths(found), *_not_checked({one.line.table.name for one in found})]


def _finding(code: str, table: str, met: Sequence[Checked], rule: tuple[str, _Pick]) -> Finding:
    lead, pick = rule
    worst = max(met, key=pick)
    flag = worst.found[code]
    count = "The only line" if len(met) == 1 else f"The clearest of {len(met)} lines"
    text = f"{table}: {lead}. {count} is {_place(worst)}. Reason: {flag.reason}."
    return finding(
        flag.detail or flag.code, f"{table}: {lead}", text, "warning", table=table, lines=len(met), worst=pick(worst)
    )


def _place(one: Checked) -> str:
    line = one.line
    size = f" {format_bytes(line.size)}" if line.size else ""
    return f"{line.work}{size} with {line.threads} thread{'s' if line.threads > 1 else ''}"


def _peer_share(one: Checked) -> float:
    peer = one.line.peer or 0.0
    if one.line.table.better == "more":
        return peer / one.device
    return one.device / peer if peer else 0.0


def _threads(one: Checked) -> float:
    return one.line.threads


def _fewest_threads(one: Checked) -> float:
    return -one.line.threads


_RULES: Final[dict[str, tuple[str, _Pick]]] = {
    checks.CEILING_TIMES_THREADS: ("the ceiling was multiplied by the threads", _threads),
    checks.CEILING_OF_SMALL_REQUESTS: ("random blocks have the ceiling of small requests", _threads),
    INVALID_ABOVE_CEILING: ("more was measured than the device can do", lambda one: one.row.share or 0.0),
    checks.PEER_ABOVE_CEILING: ("the other tool's number is more than the device can do", _peer_share),
    INVALID_LITTLES_LAW: ("rate and latency contradict each other", _fewest_threads),
    checks.PEER_LITTLES_LAW: ("the other tool's rate and latency contradict each other", _fewest_threads),
    checks.INVALID_INVERSE_RATE: ("a latency falls with threads", _threads),
    checks.EFFICIENCY_INVERTED: ("the efficiency of a time is inverted", lambda one: one.line.efficiency or 0.0),
    checks.PEER_EFFICIENCY_INVERTED: (
        "the efficiency of the other tool's time is inverted",
        lambda one: one.line.peer_efficiency or 0.0,
    ),
    checks.CEILING_WITHOUT_INSTRUCTION: ("no instruction can reach the theoretical rate", _threads),
    checks.CEILING_OF_DDR_TWICE: ("the ceiling may count DDR twice", _threads),
    checks.CEILING_OF_ALL_CORES: ("a part of the cores is compared with all of them", _fewest_threads),
}


# These checks of a table need another table beside it.
_NEEDS: Final = {
    "disk iops": ("disk latency", "whether its rates and the latencies agree"),
    "disk latency": ("disk iops", "whether its latencies and the rates agree"),
    "disk throughput": ("disk iops", "whether its random blocks have the ceiling of small requests"),
}


def _not_checked(tables: Collection[str]) -> list[Finding]:
    """Name the checks that were not made: one that was not made is not one that was passed."""
    found: list[Finding] = []
    for table, (other, what) in _NEEDS.items():
        if table in tables and other not in tables:
            text = f"{table}: {what} was not checked. Import {file_of(other)} with it."
            found.append(
                finding("not-checked", f"{table}: one check was not made", text, table=table, needs=file_of(other))
            )
    return found


def file_of(table: str) -> str:
    """Return the name of the file with that table, such as ``pa1_disk_iops.csv``."""
    return f"pa1_{table.replace(' ', '_')}.csv"


def _widths(found: Sequence[Checked]) -> list[Finding]:
    """Report rates that do not depend on the width of the type: such code handles one value at a time."""
    cpu = [one for one in found if one.line.table.name == "cpu"]
    alone = {one.line.work: one.line.ours for one in cpu if one.line.threads == 1}
    if len(alone) < 2 or max(alone.values()) > _WIDTH_ALIKE * min(alone.values()):
        return []
    least, most = (format_rate(value).removesuffix("B/s") for value in (min(alone.values()), max(alone.values())))
    text = (
        f"cpu: {', '.join(alone)} all do {least} to {most}operations a second with 1 thread. A rate that does not "
        "depend on the width of the type is that of scalar code: one value an instruction."
    )
    return [
        finding(
            "width-independent", "cpu: the rate does not depend on the type's width", text, "advice", types=list(alone)
        )
    ]


_FORM: Final = "CSV of a course report: precision, workload or protocol, threads, measured_*, a peer, theoretical_*"


def recognises(text: str) -> bool:
    """Tell whether the first line is that of one of the tables."""
    return table_of(text) is not None


def read_all(texts: Mapping[str, str]) -> Summary:
    """Summarise all tables together; raise ``UserError`` with file, line and column of the first mistake."""
    lines = [line for name, text in texts.items() for line in read_lines(text, name)]
    found = checked(lines)
    rows = [one.row for one in found]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings_of(found))


IMPORTER: Final = Importer(
    "pa1",
    _FORM,
    recognises,
    lambda text, name: read_all({name: text}),
    tuple(file_of(table.name) for table in TABLES),
    read_all,
)
IMPORTERS: Final = (IMPORTER,)
