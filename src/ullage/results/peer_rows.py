# SPDX-License-Identifier: Apache-2.0
"""The peers' numbers beside ours: rows joined with what other tools measured at the same work."""

from collections.abc import Sequence

from ullage.analysis.statistics import median
from ullage.model.peer import PeerRecord
from ullage.model.summary import Peer, Row


def with_peers(rows: Sequence[Row], records: Sequence[PeerRecord]) -> list[Row]:
    """``rows`` in their order, each with the median of the peer that did its case and phase and tells its metric.

    A row that names no phase is of a case with a single one.
    Of several tools the first by name; of several versions of it the one that ran last, since numbers of two programs
    are never mixed. A row without such records stays as it is.
    """
    runs: dict[str, list[PeerRecord]] = {}
    for record in records:
        runs.setdefault(record.case, []).append(record)
    return [_with_peer(row, _of_phase(runs.get(row.case, []), row)) for row in rows]


def _of_phase(runs: Sequence[PeerRecord], row: Row) -> list[PeerRecord]:
    phase = row.params.get("access", row.params.get("phase"))
    return [record for record in runs if phase is None or record.phase == phase]


def _with_peer(row: Row, runs: Sequence[PeerRecord]) -> Row:
    telling = [record for record in runs if row.metric in record.values]
    if not telling:
        return row
    tool = min(record.tool for record in telling)
    of_tool = [record for record in telling if record.tool == tool]
    version = of_tool[-1].version
    values = [record.values[row.metric] for record in of_tool if record.version == version]
    return row.model_copy(update={"peer": Peer(tool=tool, version=version, median=median(values))})
