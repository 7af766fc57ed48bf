# SPDX-License-Identifier: Apache-2.0
"""How much communication and memory come with how much arithmetic, where one result has all three numbers. Pure.

Source: Rabenseifner, Tiyyagura and Mueller, CUG and EuroPVM/MPI 2005: ratios of HPC Challenge's numbers over HPL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.words import columns
from ullage.model.summary import Finding, Row
from ullage.report.view import best_of
from ullage.suites.rings.rows import find_row
from ullage.units import format_rate

_KILO: Final = 1e3
_SOLVES: Final = ("solve", "distributed-solve")


@dataclass(frozen=True, slots=True)
class Balance:
    """``value`` in ``unit``: the rate ``over`` of all processes or threads over that of the linear solve."""

    name: str
    value: float
    unit: str
    over: Row
    over_rate: float
    solve: Row


def balances(rows: Sequence[Row]) -> list[Balance]:
    """Network and memory over arithmetic; each where both its numbers are there."""
    solve = best_solve(rows)
    if solve is None:
        return []
    found: list[Balance] = []
    ring = find_row(rows, "ring_bandwidth", "random")
    if ring is not None:
        rate = int(ring.params["ranks"]) * ring.median
        found.append(Balance("network : compute", _KILO * rate / solve.median, "B/kflop", ring, rate, solve))
    triad = _triad(rows)
    if triad is not None:
        found.append(Balance("memory : compute", triad.median / solve.median, "B/flop", triad, triad.median, solve))
    return found


def best_solve(rows: Iterable[Row]) -> Row | None:
    """By threads of one process, or by ranks."""
    return best_of(row for row in rows if row.metric == "compute_rate" and row.params.get("operation") in _SOLVES)


def _triad(rows: Iterable[Row]) -> Row | None:
    """STREAM's triad over sets that no cache holds, with ordinary stores as EP-STREAM has them."""
    return best_of(
        row
        for row in rows
        if row.metric == "memory_bandwidth"
        and row.params.get("kernel") == "triad"
        and row.params.get("stores") == "ordinary"
        and row.params.get("level") == "DRAM"
        and "block_bytes" not in row.params
    )


def _words(one: Balance) -> str:
    return one.name.replace(" : ", " to ")


def balance_findings(rows: Sequence[Row]) -> list[Finding]:
    """One sentence each."""
    return [
        Finding(
            kind="balance",
            title=f"Balance of {_words(one)}: {one.value:.3g} {one.unit}",
            text=f"The balance of {_words(one)} is {one.value:.3g} {one.unit}: {format_rate(one.over_rate)} over "
            f"{one.solve.median / 1e9:.3g} Gflop/s of a linear solve.",
            numbers=columns(ratio=one.value, bytes_per_s=one.over_rate, flops=one.solve.median),
            suite="rings",
        )
        for one in balances(rows)
    ]
