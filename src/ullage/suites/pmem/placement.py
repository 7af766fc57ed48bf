# SPDX-License-Identifier: Apache-2.0
"""Where ranks ran and their buffers were, as the engine has recorded it: flags of rows, and what a remote path costs.

Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.grouping import grouped
from ullage.model.flags import UNPINNED, Flag, each_once
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import times
from ullage.results.rows import Measured
from ullage.suites.pmem.curves import NUMA_PATH, Curve
from ullage.units import format_rate

__all__ = ["NOT_ASKED", "NUMA_PATH", "numa_findings", "with_placement"]

NOT_ASKED: Final = "unsaid"
BUFFERS_ELSEWHERE: Final = "buffers-elsewhere"
_LOCAL, _REMOTE = "local", "remote"


def with_placement(rows: Iterable[Row], measured: Iterable[Measured]) -> list[Row]:
    """Return ``rows``; those whose ranks the engine has placed get the flags of that, and lose that of the launch."""
    phases = grouped(((item.case.case, item.phase.phase), item.phase) for item in measured if item.phase.gauges)
    return [_with_placement(row, phases.get((row.case, str(row.params.get("access", ""))), [])) for row in rows]


def _with_placement(row: Row, phases: Sequence[PhaseRecord]) -> Row:
    placed = [phase for phase in phases if "bound_ranks" in phase.gauges]
    if not placed:
        return row
    kept = [flag for flag in row.flags if flag.kind != UNPINNED]
    return row.model_copy(update={"flags": each_once([*kept, *_flags(placed)])})


def _flags(phases: Sequence[PhaseRecord]) -> Iterable[Flag]:
    free = max(phase.ranks - round(phase.gauges["bound_ranks"].sum) for phase in phases)
    if free > 0:
        yield Flag(code=UNPINNED, reason=f"{free} ranks are not bound to a core")
    elsewhere = max(round(phase.gauges["buffer_pages_elsewhere"].sum) for phase in phases)
    if elsewhere > 0:
        yield Flag(code=BUFFERS_ELSEWHERE, reason=f"{elsewhere} pages of buffers are on another NUMA node than planned")


def numa_findings(paths: Mapping[Curve, Mapping[str, Row]], level: float) -> list[Finding]:
    """Compare the local with the remote path of each interface; ``level``: of all comparisons together."""
    both = {curve: found for curve, found in paths.items() if {_LOCAL, _REMOTE} <= found.keys()}
    own = level_of_part(level, max(1, len(both)))
    return [_finding(curve, found[_LOCAL], found[_REMOTE], own) for curve, found in both.items()]


def _finding(curve: Curve, local: Row, remote: Row, level: float) -> Finding:
    found = compare_rows(remote, local, level, None)
    interval = "" if found.low is None or found.high is None else f" [{found.low:.2f}, {found.high:.2f}]"
    ratio = f"{times(found.ratio)} the bandwidth of the local path{interval}"
    text = f"{curve.subject} reach {format_rate(remote.median)} from remote NUMA nodes, {ratio}."
    if found.verdict == "slower":
        title = f"{curve.subject} are slower from remote NUMA nodes"
        text += " Bind ranks to the node of the device."
    elif found.verdict == "faster":
        title = f"{curve.subject} are faster from remote NUMA nodes"
    else:
        title = f"Whether {curve.subject} are slower from remote NUMA nodes cannot be told"
        text += " Whether the paths differ cannot be told."
    said = finding(
        "numa-path",
        title,
        text,
        target=curve.target,
        access=curve.access,
        interface=curve.interface,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
    )
    return with_gain(said, gain_of(compare_rows(local, remote, level, None)), "--numa-path local")
