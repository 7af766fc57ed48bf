# SPDX-License-Identifier: Apache-2.0
"""From records of a matrix to rows; what its maps say, and the sizes at which files outgrow a cache of this machine.

Findings over rows: where caches end, what a second read gains, what an order of access costs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.contests import compare_ratios, compare_together
from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped, nested
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.model.system import SystemFacts
from ullage.parameters import count_of
from ullage.quantity import listing, percent, plural, times
from ullage.reading import child
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, build_rows
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.matrix.suite import MatrixOptions, job_of
from ullage.units import format_bytes, format_rate, format_volume

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_MEMORY: Final = "RAM"


@dataclass(frozen=True)
class Level:
    """A cache that holds up to ``size_bytes``."""

    name: str
    size_bytes: int

    @property
    def text(self) -> str:
        """``L2 1.00 MiB``."""
        return f"{self.name} {format_volume(self.size_bytes)}"


def levels_of(system: SystemFacts | None) -> list[Level]:
    """Return L2 and L3 as one core sees them and the memory, as far as known, rising."""
    if system is None:
        return []
    return _levels(system.cpu.caches, system.memory.total_bytes)


def levels_in(system: Mapping[str, object]) -> list[Level]:
    """Return the levels as ``levels_of`` does, from the facts in a summary."""
    caches = {name: size for name, size in child(system, "cpu", "caches").items() if isinstance(size, int)}
    total = child(system, "memory").get("total_bytes")
    return _levels(caches, total if isinstance(total, int) else None)


def _levels(caches: Mapping[str, int], memory_bytes: int | None) -> list[Level]:
    found = [Level(name, caches[name]) for name in ("L2", "L3") if caches.get(name)]
    if memory_bytes:
        found.append(Level(_MEMORY, memory_bytes))
    return sorted(found, key=lambda level: level.size_bytes)


Shape = tuple[int, int]
# A smaller step between two plateaus does not show that a level ends.
_STEP: Final = 1.15
_PLATEAU: Final = "reread"
_READ: Final = "read"
# Sentences that compare: where caches end, rereads, orders.
_FAMILIES: Final = 3


def findings_of(rows: Iterable[Row], levels: Sequence[Level], level: float = 0.95) -> list[Finding]:
    """Return the findings of each target, in the order of the targets.

    ``level``: of all comparisons. Cells are their samples: a map may have one repetition of each.
    """
    by_target = grouped((row.target, (row.word("test"), shape_of(row), row)) for row in rows if not row.is_invalid)
    own = level_of_part(level, _FAMILIES * max(1, len(by_target)))
    found: list[Finding] = []
    for target, cells in by_target.items():
        maps = nested(cells)
        found += [
            *_plateaus(target, maps.get(_PLATEAU, {}), levels, own),
            *_reread(target, maps, own),
            *_orders(target, maps, own),
        ]
    return found


def shape_of(row: Row) -> Shape:
    """Return the bytes of file and record."""
    return row.count("file_bytes"), row.count("block_bytes")


def _plateaus(target: str, cells: Mapping[Shape, Row], levels: Sequence[Level], level: float) -> list[Finding]:
    """Compare the levels by the median of all cells whose file fits into a level and into none below it.

    There is one finding, where rates are proved to step down from one level to the next, record by record.
    """
    rates: dict[str, dict[int, list[float]]] = {}
    for (file, record), row in cells.items():
        name = next((one.name for one in levels if file <= one.size_bytes), "")
        rates.setdefault(name, {}).setdefault(record, []).append(row.median)
    names = [name for name in (*(one.name for one in levels), "") if name in rates]
    known = [(name, median([rate for some in rates[name].values() for rate in some])) for name in names]
    steps = list(pairwise(name for name, _ in known))
    ratios = [
        [median(values) / median(rates[b][one]) for one, values in rates[a].items() if one in rates[b]]
        for a, b in steps
    ]
    judged = compare_ratios([[ratio / _STEP for ratio in some] for some in ratios], level)
    ends = [name for (name, _), found in zip(steps, judged, strict=True) if found.verdict == "faster"]
    if not ends:
        return []
    texts = {level.name: level.text for level in levels}
    said = ", ".join(
        f"{format_rate(rate)} {f'within {texts[name]}' if name else 'beyond these'}" for name, rate in known
    )
    text = f"{target} rereads reach, by what holds the file: {said}."
    title = f"{target} rereads slow down beyond {listing(ends)}"
    of_levels = [rate for _, rate in known]
    return [finding("cache-ends", title, text, target=target, level=names, bytes_per_s=of_levels, ends=ends)]


def _reread(target: str, maps: Mapping[str, Mapping[Shape, Row]], level: float) -> list[Finding]:
    first, again = maps.get(_READ, {}), maps.get(_PLATEAU, {})
    pairs = [(again[shape], row) for shape, row in first.items() if shape in again]
    if not pairs:
        return []
    found, of = compare_together(pairs, level), "geometric mean of "
    verdicts = f"Reads have the verdict {_verdicts(first.values())}, rereads {_verdicts(again.values())}"
    title = f"{target} rereads run at {times(found.ratio)} the rate of reads"
    if found.verdict == "cannot tell":
        title, of = f"Whether rereads are faster than reads on {target} cannot be told", ""
    text = f"{title} ({of}{plural(len(pairs), 'cell')}). {verdicts}."
    numbers = {"ratio": found.ratio, "low": found.low, "high": found.high, "cells": len(pairs)}
    return [finding("reread", title, text, target=target, **numbers)]


def _verdicts(rows: Iterable[Row]) -> str:
    return " or ".join(word for word, _ in Counter(row.verdict.split(" ")[0] for row in rows).most_common())


def _orders(target: str, maps: Mapping[str, Mapping[Shape, Row]], level: float) -> list[Finding]:
    """Report the share of sequential reads that each order is proved to reach, by the least and the most record."""
    reads = maps.get(_READ, {})
    # A file of one record has no order to compare.
    pairs = {
        order: grouped(
            (shape[1], (row, reads[shape]))
            for shape, row in maps.get(order, {}).items()
            if shape in reads and shape[0] > shape[1]
        )
        for order in ("random read", "backward read", "stride read")
    }
    own = level_of_part(level, max(1, sum(map(len, pairs.values()))))
    found = (_order(target, order, by_record, own) for order, by_record in pairs.items())
    return [one for one in found if one is not None]


def _order(target: str, order: str, pairs: Mapping[int, Sequence[tuple[Row, Row]]], level: float) -> Finding | None:
    judged = {record: compare_together(some, level) for record, some in pairs.items()}
    shares = {record: judged[record].ratio for record in sorted(judged) if judged[record].verdict != "cannot tell"}
    if not shares:
        return None
    least = min(shares)
    each = [
        f"{percent(shares[one])} with records of {format_bytes(one)}" for one in dict.fromkeys((least, max(shares)))
    ]
    title = f"{target} {order}s of {format_bytes(least)} reach {percent(shares[least])} of sequential reads"
    text = f"{target} {order}s reach, of the rate of sequential reads, {listing(each)}."
    records, reached = list(shares), list(shares.values())
    return finding("access-order", title, text, target=target, test=order, record_bytes=records, share=reached)


# The general findings that hold without neighbours in ranks: what went wrong, and what was really measured.
_KEPT: Final = frozenset({"failure", "cache"})
# Where one of these caches answered, the ceiling of the device does not apply.
_CACHED: Final = ("warm", "mixed", "cached", "partly")


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows have a ``test`` (what IOzone's users call it), ``file_bytes`` and ``block_bytes``."""
    options = read_options(MatrixOptions, request)
    files = result.read_records()
    launches = [file.records for file in files]
    cases = {case.case: case for file in files for case in file.cases}
    rows = label_rows(build_rows(launches, context), cases, options)
    general = [
        one for one in find_all(rows, failed_cases(launches), context.level, context.settable) if one.kind in _KEPT
    ]
    system = result.read_system()
    return SuiteSummary(rows, [*findings_of(sound_rows(rows), levels_of(system), context.level), *general])


def label_rows(rows: Iterable[Row], cases: Mapping[str, CaseRecord], options: MatrixOptions) -> list[Row]:
    """Return the rows of the tests, labelled, in their order; phases that only make a file are left out."""
    found: list[Row] = []
    for row in rows:
        if (case := cases.get(row.case)) is None:
            continue
        job = job_of(options, case.backend, (case.backend_parameters, case.workload_parameters))
        label = "" if job is None else job.label(row.access, options.tests)
        if job is None or not label:
            continue
        params: dict[str, Scalar] = {
            "test": label,
            "iozone": job.test_of(label),
            "access": row.access,
            "ranks": row.params.get("ranks", 1),
            "file_bytes": count_of(case.workload_parameters, "block_bytes", 1 << 20),
            "block_bytes": row.params.get("block_bytes", 0),
            "backend": case.backend,
        }
        bounded = with_ceiling(row, None) if row.verdict.split(" ")[0] in _CACHED else row
        found.append(bounded.model_copy(update={"params": params}))
    return found
