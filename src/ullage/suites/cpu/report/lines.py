# SPDX-License-Identifier: Apache-2.0
"""Rows of suite ``cpu``, those of one case together. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.report.data import ReportData
from ullage.report.verdicts import is_invalid

SUITE: Final = "cpu"
RATE: Final = "compute_rate"
TYPES: Final = ("int8", "int16", "int32", "int64", "fp16", "bf16", "fp32", "fp64")
LIBRARY_WORK: Final = ("gemm", "solve", "distributed-solve")


@dataclass(frozen=True)
class Line:
    """All metrics of one case."""

    rows: Mapping[str, Row]
    phases: Sequence[PhaseRecord]

    @property
    def rate(self) -> Row:
        """Every line has one."""
        return self.rows[RATE]

    @property
    def params(self) -> Mapping[str, Scalar]:
        """Of the case."""
        return self.rate.params

    @property
    def threads(self) -> int:
        """At work together."""
        return int(self.params.get("threads", 1))

    @property
    def type(self) -> str:
        """``fp64``."""
        return str(self.params.get("type", ""))

    @property
    def is_kernel(self) -> bool:
        """Of registers alone; else a product or a solve by a library."""
        return "isa" in self.params

    @property
    def name(self) -> str:
        """``avx512 fp64 fma``, ``gemm``."""
        words = ("isa", "type", "operation") if self.is_kernel else ("operation",)
        return " ".join(str(self.params[word]) for word in words)

    @property
    def is_valid(self) -> bool:
        """Whether its rate is a speed."""
        return not is_invalid(self.rate)

    def value(self, metric: str) -> float | None:
        """Median of a metric."""
        return self.rows[metric].median if metric in self.rows else None

    def gauge(self, name: str) -> float | None:
        """The largest over ranks, median over the repetitions; None without records."""
        found = [phase.gauges[name].most for phase in self.phases if name in phase.gauges]
        return median(found) if found else None

    def fact(self, name: str) -> str:
        """What a library said of itself; empty without records."""
        return self.phases[-1].hints_granted.get(name, "") if self.phases else ""


def lines_of(data: ReportData) -> list[Line]:
    """By kernel, or product, and threads; rows that follow from others are left out."""
    cases: dict[str, dict[str, Row]] = {}
    for row in data.rows_of(SUITE):
        if row.case:
            cases.setdefault(row.case, {})[row.metric] = row
    found = [Line(rows, data.phases_of(rows[RATE])) for rows in cases.values() if RATE in rows]
    return sorted(found, key=_order)


def _order(line: Line) -> tuple[bool, int, str, str, str, int]:
    params = line.params
    own = str(params.get("isa", params.get("library", ""))), str(params["operation"]), str(params.get("core", ""))
    place = TYPES.index(line.type) if line.type in TYPES else len(TYPES)
    return not line.is_kernel, place, *own, line.threads


def ratios_of(data: ReportData) -> list[Row]:
    """Rows that follow from others."""
    return [row for row in data.rows_of(SUITE) if not row.case]


def best_of(lines: Iterable[Line]) -> Line | None:
    """The fastest valid one."""
    return max((line for line in lines if line.is_valid), key=lambda line: line.rate.median, default=None)


def best_of_types(lines: Iterable[Line], threads: int) -> list[Line]:
    """Of each type the fastest kernel with so many threads, in the order of the types."""
    same = [line for line in lines if line.is_kernel and line.threads == threads]
    types = dict.fromkeys(line.type for line in same)
    return [best for name in types if (best := best_of(line for line in same if line.type == name)) is not None]


def thread_counts(lines: Iterable[Line]) -> list[int]:
    """Rising."""
    return sorted({line.threads for line in lines})
