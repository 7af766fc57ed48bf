# SPDX-License-Identifier: Apache-2.0
"""From the records of a memory run to rows that say by their parameters all that decides their number, and findings."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.declared import memory_ceiling, memory_latency
from ullage.analysis.ceilings.measured import best_clean, is_clean, under_measured
from ullage.analysis.ceilings.rows import best_reached, with_ceiling
from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import level_of_part
from ullage.analysis.ladders import STOLEN, WAITED
from ullage.analysis.verdicts.grades import sound_rows
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.model.flags import NO_HUGE_PAGES, Flag
from ullage.model.machine import MachineFile
from ullage.model.plan import Parameters, Scalar
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Row
from ullage.parameters import count_of
from ullage.quantity import format_quantity, percent, plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, with_peers
from ullage.runs.kernels.options import MEMORY
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, launches_of, told_rows, usual, with_cause
from ullage.suites.memory.bandwidth_findings import bandwidth_findings
from ullage.suites.memory.latency_findings import latency_findings
from ullage.suites.memory.options import MEMORY_LEVEL, Cache, MemoryOptions, level_of
from ullage.units import format_bytes

METRICS: Final = (
    "memory_bandwidth",
    "bus_bandwidth",
    "access_time",
    "injected_bandwidth",
    "core_round_trip",
    "update_rate",
    WAITED,
    STOLEN,
)
# Of the cases of a headline it is asked where the rest went.
_ASKED: Final = "triad"
# These have no choice of stores.
_ONE_KIND: Final = frozenset({"read", "read-write"})
# The least share of huge pages in a set that asked for them; what is below is measured in a mixture.
_ENOUGH_HUGE: Final = 0.9


def memory_rows(
    launches: Launches, context: RowContext, caches: Sequence[Cache], quota: float | None = None
) -> list[Row]:
    """Return all rows of our cases, in the order in which their cases were first met.

    Only sets that no cache holds tell how many bytes cross the bus, so only they have such a row. ``quota``: of the
    control group, in CPUs; None: none.
    """

    def params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
        if source.case.workload not in _PARAMS:
            return None
        params = _PARAMS[source.case.workload](source, caches)
        in_memory = params.get("level") == MEMORY_LEVEL
        is_known = row.metric != "bus_bandwidth" or in_memory
        if row.metric in (WAITED, STOLEN):
            is_known = in_memory and params.get("kernel") == _ASKED
        return {**usual(row, "access"), **params} if is_known else None

    own = context.without_storage(MEMORY.name, METRICS, is_place=False)

    def finish(row: Row, source: Source) -> Row:
        pages = _pages(source.workload, source.phases)
        flags = [*row.flags, *(one for one in pages if isinstance(one, Flag))]
        notes = [*row.notes, *(one for one in pages if isinstance(one, str))]
        return with_cause(row.model_copy(update={"flags": flags, "notes": notes}), source, quota)

    return told_rows(launches, own, params_of, finish)


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


def _stream(source: Source, caches: Sequence[Cache]) -> dict[str, Scalar]:
    told = source.values.some("kernel", "stores", "threads", "working_set_bytes", "order", "block_bytes", "pages")
    left_out = {
        "stores": told["kernel"] in _ONE_KIND,
        "order": not told["block_bytes"],
        "block_bytes": not told["block_bytes"],
        "pages": told["pages"] == "default",
    }
    params = {name: value for name, value in told.items() if not left_out.get(name)}
    return {**params, **_nodes(source), **_level(caches, params["working_set_bytes"], params["threads"])}


def _chase(source: Source, caches: Sequence[Cache]) -> dict[str, Scalar]:
    params = source.values.some("threads", "working_set_bytes", "pages", "stride_bytes")
    size, threads, locality = params["working_set_bytes"], params["threads"], source.values.some("locality_bytes")
    is_whole = locality["locality_bytes"] in (0, size)
    return {
        **params,
        "locality": "whole set" if is_whole else "local",
        **(locality if locality["locality_bytes"] else {}),
        **source.values.some("chains"),
        **_nodes(source),
        # Each thread has a set of its own.
        **_level(caches, int(size) * int(threads), threads),
    }


def _loaded(source: Source, caches: Sequence[Cache]) -> dict[str, Scalar]:
    params = source.values.some("injection", "injectors", "delay", "working_set_bytes", "pages")
    return {**params, **_level(caches, params["working_set_bytes"], 1)}


def _updates(source: Source, caches: Sequence[Cache]) -> dict[str, Scalar]:
    params = source.values.some("threads", "table_bytes")
    return {**params, **_level(caches, params["table_bytes"], params["threads"])}


_PARAMS: Final[Mapping[str, Callable[[Source, Sequence[Cache]], dict[str, Scalar]]]] = {
    "stream": _stream,
    "chase": _chase,
    "core-to-core": lambda source, _caches: source.values.some("cpu_a", "cpu_b"),
    "loaded-latency": _loaded,
    "updates": _updates,
}


def _nodes(source: Source) -> dict[str, Scalar]:
    return {name: node for name, node in source.values.some("cpu_node", "memory_node").items() if int(node) >= 0}


def _level(caches: Sequence[Cache], size: Scalar, threads: Scalar) -> dict[str, Scalar]:
    level = level_of(caches, int(size), int(threads))
    return {"level": level} if level else {}


# Kinds of sentences that compare: bytes of stores, kinds of them, threads, order, pages, chases, load.
COMPARING: Final = 7


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(MemoryOptions, request)
    launches = launches_of(result)
    system = result.read_system()
    quota = None if system is None else system.limits.cpu_quota
    rows = with_peers(memory_rows(launches, context, options.caches, quota), result.read_peers())
    rows = with_ceilings(with_thread_flags(rows), options.machine)
    own = [failed for failed in failed_cases(launches) if failed.target == MEMORY.name]
    failures = find_all([], own, context.level, context.settable)
    sound = sound_rows(rows)
    level = level_of_part(context.level, COMPARING)
    found = [*bandwidth_findings(sound, level), *latency_findings(sound, options.caches, level)]
    return SuiteSummary(rows, [*failures, *found])


_APPLICATION: Final = "memory_bandwidth"
_BUS: Final = "bus_bandwidth"
_INJECTED: Final = "injected_bandwidth"
NON_TEMPORAL: Final = "non-temporal"
# What a kernel reads and writes of the bytes that it names.
_NAMED: Final = {
    "read": (1, 0),
    "write": (0, 1),
    "read-write": (1, 1),
    "copy": (1, 1),
    "scale": (1, 1),
    "add": (2, 1),
    "triad": (2, 1),
}
# These store to what they have just read, so that nothing is fetched for it.
_IN_PLACE: Final = frozenset({"read-write"})
# Sizes this near are the same bytes: two medians of the same repetitions.
_ALIKE: Final = 1.001


@dataclass(frozen=True)
class _Rows:
    """All rows of a run; ``on_bus``: of each case what crossed the bus over what the application names."""

    rows: Sequence[Row]
    on_bus: Mapping[str, float]

    def alike(self, row: Row, metric: str) -> list[Row]:
        """Return the rows of ``metric`` that were measured in the same way as ``row``."""
        kind = _kind(row)
        return [other for other in self.rows if other.metric == metric and _kind(other) == kind]

    def beside(self, row: Row, metric: str) -> list[Row]:
        """Return the rows of ``metric`` by the same threads from the same memory, of any kernel."""
        cores = _cores_of(row)
        return [other for other in self.rows if other.metric == metric and _cores_of(other) == cores]

    def in_flight(self, row: Row) -> list[Ceiling]:
        """Return what the lines that one thread has in flight bring; none for several threads.

        Prefetchers have more lines in flight than loads do, so the best kernel may be above this.
        """
        is_one = _cores_of(row) == (MEMORY_LEVEL, 1, None, None)
        chases = [other for other in self.rows if is_one and other.params.get("chains", 1) != 1 and is_clean(other)]
        best = min(
            (other for other in chases if _cores_of(other) == _cores_of(row)), key=lambda row: row.median, default=None
        )
        if best is None:
            return []
        text = f"{best.params['chains']} lines in flight x {LINE_BYTES} B / {format_quantity(best.median, 's')}"
        return [Ceiling(value=LINE_BYTES / best.median, kind="measured", source=text, why=_WHY_IN_FLIGHT)]


def with_ceilings(rows: Sequence[Row], machine: MachineFile | None) -> list[Row]:
    """Return ``rows`` in their order, with ceiling and share where one is known; flag those above the ceiling."""
    named = {row.case: row.median for row in rows if row.metric == _APPLICATION and row.median > 0}
    on_bus = {row.case: row.median / named[row.case] for row in rows if row.metric == _BUS and row.case in named}
    found = _Rows(rows, on_bus)
    memory, latency = memory_ceiling(machine), memory_latency(machine)
    ceilings = [_ceiling(row, found, memory, latency) for row in rows]
    return [
        under_measured(row, [one]) if one is not None and one.kind == "measured" else with_ceiling(row, one)
        for row, one in zip(rows, ceilings, strict=True)
    ]


def _ceiling(row: Row, found: _Rows, memory: Ceiling | None, latency: Ceiling | None) -> Ceiling | None:
    level = row.params.get("level")
    if row.params.get("cpu_node") != row.params.get("memory_node") or level is None:
        # Between NUMA nodes their link holds back, of which nothing is known.
        return None
    if row.metric == "access_time":
        return latency if level == MEMORY_LEVEL and row.params.get("chains") == 1 else None
    if row.metric not in {_APPLICATION, _BUS, _INJECTED}:
        return None
    if level != MEMORY_LEVEL:
        return best_reached(found.alike(row, row.metric), describe)
    of_bus = memory or _most_on_bus(row, found)
    return of_bus if row.metric == _BUS else _of_application(of_bus, found.on_bus.get(row.case, 1.0))


def _most_on_bus(row: Row, found: _Rows) -> Ceiling | None:
    if row.metric == _INJECTED:
        return best_reached(found.alike(row, _INJECTED), describe)
    carried = found.beside(row, _BUS)
    # A peer tells the bytes of an application alone; what it moved on the bus is as much more as ours.
    named = [_scaled_peer(other, found.on_bus.get(other.case, 1.0)) for other in found.beside(row, _APPLICATION)]
    best = best_reached([*carried, *named], describe, of_all=False)
    if best is None:
        return None
    most = best_clean([other for other in carried if is_clean(other)]) or 0.0
    source = f"the best bus rate of any kernel: {best.source.partition(': ')[2]}"
    ceilings = [Ceiling(value=max(best.value, most), kind="measured", source=source, why=_WHY), *found.in_flight(row)]
    return max(ceilings, key=lambda one: one.value)


def _scaled_peer(row: Row, on_bus: float) -> Row:
    peer = None if row.peer is None else row.peer.model_copy(update={"median": row.peer.median * on_bus})
    return row.model_copy(update={"metric": _BUS, "median": row.median * on_bus, "peer": peer})


def _of_application(ceiling: Ceiling | None, on_bus: float) -> Ceiling | None:
    """Convert a ceiling of bytes on the bus to bytes that an application names."""
    if ceiling is None or on_bus <= _ALIKE:
        return ceiling
    source = f"{ceiling.source}; {on_bus:.3g} bytes cross the bus for each that the kernel names"
    return ceiling.model_copy(update={"value": ceiling.value / on_bus, "source": source})


LINE_BYTES: Final = 64
_WHY: Final = "By the same cores, memory moves no more for a kernel than for the one that moves most."
_WHY_IN_FLIGHT: Final = "One thread moves no more than the lines it has in flight, in the time that each takes."


def _cores_of(row: Row) -> Hashable:
    params = row.params
    return params.get("level"), params.get("threads"), params.get("cpu_node"), params.get("memory_node")


def _kind(row: Row) -> Hashable:
    """Return what rows must share to bound each other's bandwidth: level, mix, threads and NUMA nodes."""
    params = row.params
    threads = params.get("threads", params.get("injectors", 1))
    return params.get("level"), write_share(row), threads, params.get("cpu_node"), params.get("memory_node")


def write_share(row: Row) -> float | None:
    """Return the share of writes in the bytes that move; None for a kernel whose mix is not known.

    These are the bytes on the bus for a set in memory, and those that the kernel names for one in a cache.
    """
    if "injection" in row.params:
        return 1.0 if row.word("injection") != "read" else 0.0
    kernel = row.word("kernel")
    if kernel not in _NAMED:
        return None
    reads, writes = _NAMED[kernel]
    fetches = row.params.get("level") == MEMORY_LEVEL and kernel not in _IN_PLACE
    fetched = writes if fetches and row.params.get("stores") != NON_TEMPORAL else 0
    return round(writes / (reads + writes + fetched), 6)


def describe(row: Row) -> str:
    """Describe the row that a ceiling is from."""
    params = row.params
    stores = f", {params['stores']} stores" if "stores" in params else ""
    size = format_bytes(int(params.get("working_set_bytes", 0)))
    what = "bus bytes of " if row.metric == _BUS and params.get("kernel") != "read" else ""
    work = params.get("kernel", params.get("injection", ""))
    return f"{what}{work}{stores}, {plural(int(params.get('threads', params.get('injectors', 1))), 'thread')}, {size}"
