# SPDX-License-Identifier: Apache-2.0
"""From the records of a memory run to rows that say by their parameters all that decides their number, and findings."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import level_of_part
from ullage.analysis.verdicts.grades import sound_rows
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.grouping import grouped
from ullage.model.flags import NO_HUGE_PAGES, Flag
from ullage.model.plan import Parameters, Scalar
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.quantity import percent
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured, RowContext, join, with_peers
from ullage.runs.kernels.options import MEMORY
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, launches_of, told_rows, usual
from ullage.suites.memory.bandwidth_findings import bandwidth_findings
from ullage.suites.memory.ceilings import with_ceilings
from ullage.suites.memory.latency_findings import latency_findings
from ullage.suites.memory.options import MemoryOptions
from ullage.suites.memory.sizes import MEMORY_LEVEL, Cache, level_of

METRICS: Final = (
    "memory_bandwidth",
    "bus_bandwidth",
    "access_time",
    "injected_bandwidth",
    "core_round_trip",
    "update_rate",
)
# These have no choice of stores.
_ONE_KIND: Final = frozenset({"read", "read-write"})
# The least share of huge pages in a set that asked for them; what is below is measured in a mixture.
_ENOUGH_HUGE: Final = 0.9


def memory_rows(launches: Launches, context: RowContext, caches: Sequence[Cache]) -> list[Row]:
    """Return all rows of our cases, in the order in which their cases were first met.

    Only sets that no cache holds tell how many bytes cross the bus, so only they have such a row.
    """

    def told(row: Row, source: Source) -> dict[str, Scalar] | None:
        if source.case.workload not in _PARAMS:
            return None
        params = _PARAMS[source.case.workload](source.workload, caches)
        is_known = row.metric != "bus_bandwidth" or params.get("level") == MEMORY_LEVEL
        return {**usual(row, "access"), **params} if is_known else None

    measured = grouped((item.case.case, item) for item in join(launches))
    rows = told_rows(launches, context.without_storage(MEMORY.name, METRICS, is_place=False), told)
    return [_with_pages(row, measured[row.case]) for row in rows]


def _with_pages(row: Row, measured: Sequence[Measured]) -> Row:
    pages = _pages(measured[-1].case.workload_parameters, [item.phase for item in measured])
    flags = [*row.flags, *(one for one in pages if isinstance(one, Flag))]
    notes = [*row.notes, *(one for one in pages if isinstance(one, str))]
    return row.model_copy(update={"flags": flags, "notes": notes})


def _pages(given: Parameters, phases: Sequence[PhaseRecord]) -> list[Flag | str]:
    """Tell what share of the set lay in huge pages, if it is known: in a flag where it is too little, else a note."""
    asked = given.get("pages", "default")
    size = count_of(given, "working_set_bytes", 0)
    found = [phase.gauges["huge_bytes"].sum for phase in phases if "huge_bytes" in phase.gauges]
    if asked == "small" or not found or size <= 0:
        return []
    share = min(found) / size
    text = f"{percent(min(share, 1))} of the set lay in huge pages"
    if asked == "huge" and share < _ENOUGH_HUGE and size >= _HUGE_PAGE:
        return [Flag(code=NO_HUGE_PAGES, reason=f"{text}, all was asked for")]
    return [text]


# The huge page of x86-64 and of most others; a set below has none.
_HUGE_PAGE: Final = 2 << 20


# -- parameters by workload -------------------------------------------------------------------------------------------


def _stream(given: Parameters, caches: Sequence[Cache]) -> dict[str, Scalar]:
    kernel, threads = str(given.get("kernel", "read")), count_of(given, "threads", 1)
    size = count_of(given, "working_set_bytes", 0)
    params: dict[str, Scalar] = {"kernel": kernel}
    if kernel not in _ONE_KIND:
        params["stores"] = str(given.get("stores", "ordinary"))
    params |= {"threads": threads, "working_set_bytes": size}
    if block := count_of(given, "block_bytes", 0):
        params |= {"order": str(given.get("order", "sequential")), "block_bytes": block}
    return {**params, **_pages_word(given), **_nodes(given), **_level(caches, size, threads)}


def _chase(given: Parameters, caches: Sequence[Cache]) -> dict[str, Scalar]:
    threads, size = count_of(given, "threads", 1), count_of(given, "working_set_bytes", 0)
    locality = count_of(given, "locality_bytes", 0)
    return {
        "threads": threads,
        "working_set_bytes": size,
        "pages": str(given.get("pages", "default")),
        "stride_bytes": count_of(given, "stride_bytes", 64),
        "locality": "whole set" if locality in (0, size) else "local",
        **({"locality_bytes": locality} if locality else {}),
        "chains": count_of(given, "chains", 1),
        **_nodes(given),
        # Each thread has a set of its own.
        **_level(caches, size * threads, threads),
    }


def _cores(given: Parameters, _caches: Sequence[Cache]) -> dict[str, Scalar]:
    return {"cpu_a": count_of(given, "cpu_a", 0), "cpu_b": count_of(given, "cpu_b", 0)}


def _loaded(given: Parameters, caches: Sequence[Cache]) -> dict[str, Scalar]:
    injectors, size = count_of(given, "injectors", 1), count_of(given, "working_set_bytes", 0)
    return {
        "injection": str(given.get("injection", "read")),
        "injectors": injectors,
        "delay": count_of(given, "delay", 0),
        "working_set_bytes": size,
        "pages": str(given.get("pages", "default")),
        **_level(caches, size, 1),
    }


def _updates(given: Parameters, caches: Sequence[Cache]) -> dict[str, Scalar]:
    threads, table = count_of(given, "threads", 1), count_of(given, "table_bytes", 0)
    return {"threads": threads, "table_bytes": table, **_level(caches, table, threads)}


_PARAMS: Final = {
    "stream": _stream,
    "chase": _chase,
    "core-to-core": _cores,
    "loaded-latency": _loaded,
    "updates": _updates,
}


def _pages_word(given: Parameters) -> dict[str, Scalar]:
    pages = str(given.get("pages", "default"))
    return {} if pages == "default" else {"pages": pages}


def _nodes(given: Parameters) -> dict[str, Scalar]:
    found = {name: count_of(given, name, -1) for name in ("cpu_node", "memory_node")}
    return {name: node for name, node in found.items() if node >= 0}


def _level(caches: Sequence[Cache], size: int, threads: int) -> dict[str, Scalar]:
    level = level_of(caches, size, threads)
    return {"level": level} if level else {}


# -- the summary of a run ----------------------------------------------------------------------------------------------


# Kinds of sentences that compare: bytes of stores, kinds of them, threads, order, pages, chases, load.
COMPARING: Final = 7


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(MemoryOptions, request)
    launches = launches_of(result)
    rows = with_peers(memory_rows(launches, context, options.caches), result.read_peers())
    rows = with_ceilings(with_thread_flags(rows), options.machine)
    own = [failed for failed in failed_cases(launches) if failed.target == MEMORY.name]
    failures = find_all([], own, context.level, context.settable)
    sound = sound_rows(rows)
    level = level_of_part(context.level, COMPARING)
    found = [*bandwidth_findings(sound, level), *latency_findings(sound, options.caches, level)]
    return SuiteSummary(rows, [*failures, *found])
