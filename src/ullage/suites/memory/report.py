# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a memory run: its tables, bandwidth and access time over the working set, and under load."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.measured import Bound, best_clean
from ullage.analysis.ceilings.rows import FEWEST_SAMPLES
from ullage.analysis.ladders import TAKEN_BY_OTHERS, LadderRule, Step, alike_but
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import format_quantity, format_row, plural, rounded
from ullage.report import plots
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import peers_of
from ullage.report.headlines import Rule, threads_text
from ullage.report.vega import Spec, time_axis, tooltip
from ullage.suites.memory.options import MEMORY_LEVEL
from ullage.suites.memory.prepare import KERNELS
from ullage.suites.memory.tables import SUITE, cache_lines, grids, loads, single_chases, size_of, streams, threads_of
from ullage.units import format_bytes

_WIDTH: Final = 560
_HEIGHT: Final = 300
_GIGA: Final = 1e9
_NANO: Final = 1e-9
_FEWEST: Final = 3
_FEWEST_LOADS: Final = 2
_DASHES: Final = ([1, 0], [6, 4], [2, 3])
_BANDWIDTH_TOOLTIP: Final = tooltip("name=kernel size=working_set who=by text=bandwidth")


def bandwidth_figures(data: ReportData) -> list[Figure]:
    """Return one figure of bandwidth over the working set; none where no curve has three sets."""
    rows = [row for row in streams(data.rows_of(SUITE)) if row.word("stores", "ordinary") == "ordinary"]
    curves = grouped(((KERNELS.index(row.word("kernel")), threads_of(row)), row) for row in sorted(rows, key=size_of))
    drawn = [row for _, curve in sorted(curves.items()) if len(curve) >= _FEWEST for row in curve]
    if not drawn:
        return []
    values: list[Spec] = [
        {
            "x": size_of(row),
            "y": rounded(row.median / _GIGA),
            "name": row.word("kernel"),
            "who": plural(threads_of(row), "thread"),
            "size": format_bytes(size_of(row)),
            "text": format_row(row),
        }
        for row in drawn
    ]
    whos = [plural(count, "thread") for count in sorted({threads_of(row) for row in drawn})]
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2}
    dashes = [_DASHES[index % len(_DASHES)] for index in range(len(whos))]
    dash = plots.nominal("who", whos, dashes, legend if len(whos) > 1 else None)
    y = plots.decade_axis([value["y"] for value in values], "bandwidth (GB/s)")
    spec = _over_sets(data, values, y, _BANDWIDTH_TOOLTIP, 26, {"strokeDash": dash})
    caption = (
        "Bytes are counted as STREAM does, with ordinary stores. The working set is that of all threads together. "
        "Dashed vertical lines are the caches of one core, or shared ones, as the kernel states them."
    )
    return [Figure("bandwidth over the working set", caption, spec, wide=True)]


def _over_sets(
    data: ReportData, values: Sequence[Spec], y: Spec, tips: list[Spec], size: int, of_lines: Spec | None = None
) -> Spec:
    sizes = [value["x"] for value in values]
    names = list(dict.fromkeys(value["name"] for value in values))
    points = {"x": plots.size_axis(sizes), "y": y, "color": plots.curve_colors("name", names)}
    lines = plots.line_layers({**points, **(of_lines or {})}, tips, size, values, points)
    return plots.layered(_WIDTH, _HEIGHT, [*plots.upright_layers(cache_lines(data), sizes), *lines])


def time_figures(data: ReportData) -> list[Figure]:
    """Return one figure of access time over the working set, a line for each way its pages lie.

    There is none where no curve has three sets.
    """
    values = [
        plots.row_point(row, size_of(row), name=words, size=format_bytes(size_of(row)))
        for words, curve in single_chases(data.rows_of(SUITE)).items()
        if len(curve) >= _FEWEST
        for row in curve
    ]
    if not values:
        return []
    y = time_axis([value["y"] for value in values], "y", "access time")
    caption = (
        "One thread follows pointers from line to line in a random cycle, so each load waits for the one before. "
        "Where small pages are slower than huge ones, the core also misses address translations."
    )
    spec = _over_sets(data, values, y, tooltip("name=pages size=working_set text=access_time flags"), 30)
    return [Figure("access time over the working set", caption, spec, wide=True)]


def _load_figures(data: ReportData) -> list[Figure]:
    """Return one figure of access time against what other threads inject; none with fewer than two loads."""
    found = loads(data.rows_of(SUITE))
    if len(found) < _FEWEST_LOADS:
        return []
    values: list[Spec] = [
        {
            "x": rounded(load.bytes_per_s / _GIGA),
            "y": rounded(load.time.median / _NANO),
            "name": f"{load.time.word('injection').replace('-', ' ')}s",
            "rate": format_quantity(load.bytes_per_s, "B/s"),
            "text": format_row(load.time),
            "delay": load.time.word("delay"),
        }
        for load in found
    ]
    encoding = {
        "x": plots.quantity_axis("x", "injected bandwidth (GB/s)", axis={"grid": False}),
        "y": plots.quantity_axis("y", "access time (ns)"),
        "color": plots.curve_colors("name", list(dict.fromkeys(value["name"] for value in values))),
        "order": {"field": "x", "type": "quantitative"},
        "tooltip": tooltip("name=injected rate=bandwidth text=access_time delay=pauses"),
    }
    threads = max(load.time.count("injectors", 1) for load in found)
    caption = (
        f"One thread chases beside {threads} that load{'s' if threads == 1 else ''} memory, with pauses between lines. "
        "Where a curve stays flat, these threads do not reach the limit of the memory."
    )
    return [Figure("access time under load", caption, plots.plot(_WIDTH, 240, values, plots.line_mark(40), encoding))]


_PEERS: Final = "mbw, sysbench and HPC Challenge's STREAM"


def tables(data: ReportData) -> Content | None:
    """Return the notes and tables of the suite; None for other suites, and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    peers = peers_of(rows)
    after = f"{', '.join(peers)} ran for comparison, after the measurements of Ullage on the same machine."
    without = f"No other tool was run for comparison: none of {_PEERS} is installed, or none was requested."
    return Content(notes=[after if peers else without, _ceilings(rows)], grids=grids(rows))


def _ceilings(rows: Sequence[Row]) -> str:
    in_memory = [row for row in rows if row.unit == "B/s" and row.params.get("level") == MEMORY_LEVEL]
    if not in_memory:
        return "No working set was larger than all caches, so no number here is one of memory."
    bounds = [row.ceiling for row in in_memory if row.ceiling is not None]
    declared = max((one for one in bounds if one.kind == "declared"), key=lambda ceiling: ceiling.value, default=None)
    if declared is not None:
        return (
            f"The ceiling of memory is {format_quantity(declared.value, 'B/s')} on the bus ({declared.source}). Where "
            "ordinary stores fetch lines first, less of it is left for the bytes of the application."
        )
    by_best = (
        "The ceiling of each number of memory is the most that crossed the bus here for any kernel. It needs as many "
        f"threads and at least {FEWEST_SAMPLES} samples."
    )
    none = f"No row has the {FEWEST_SAMPLES} clean samples that a ceiling needs, so memory has no ceiling here."
    instead = " A machine file (--machine) with channels and transfers replaces it."
    return (by_best if bounds else none) + instead


_KERNELS: Final = ("read", "write", "copy", "triad")


def _is_in_memory(row: Row) -> bool:
    return row.word("level") == MEMORY_LEVEL


def _is_stream(row: Row) -> bool:
    return _is_in_memory(row) and row.word("kernel") in _KERNELS and not {"block_bytes", "pages"} & row.params.keys()


def _is_chase(row: Row) -> bool:
    whole = row.word("locality") in ("", "whole set")
    alone = row.params.get("chains", 1) == 1 and row.params.get("threads", 1) == 1
    return row.metric == "access_time" and _is_in_memory(row) and whole and alone


def _stream(row: Row) -> str:
    stores = f", {row.word('stores')} stores" if "stores" in row.params else ""
    return f"{row.word('kernel')}{stores}, {threads_text(row)}"


def _chase(row: Row) -> str:
    size = row.params.get("working_set_bytes")
    place = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    pages = f", {row.word('pages')} pages" if "pages" in row.params else ""
    return f"one load{place}{pages}"


# Bytes that no x86 core of today moves more of in a cycle: two loads and a store of 64 bytes from and to its first
# cache, a line to and from its second one (Intel's and AMD's optimization manuals, 2024).
_A_CYCLE: Final = {"L1": {"read": 128, "copy": 128, "triad": 192}, "L2": dict.fromkeys(("read", "copy", "triad"), 64)}
_BYTES_WHY: Final = "No core of today moves more bytes a cycle between its registers and this cache."


def _of_cache(level: str, kernel: str, each: int) -> Bound:
    def value(rows: Sequence[Row]) -> float | None:
        hz = best_clean(rows)
        return None if hz is None else hz * each * rows[0].count("threads", 1)

    return Bound(
        metric="memory_bandwidth",
        bounds=lambda row: row.params.get("level") == level and row.params.get("kernel") == kernel,
        gives=lambda row: row.metric == "clock" and "isa" in row.params,
        key=lambda row: row.count("threads", 1),
        source=lambda row: f"{plural(row.count('threads', 1), 'thread')} x {each} B a cycle x measured clock",
        why=_BYTES_WHY,
        value=value,
    )


BOUNDS: Final = (
    *(_of_cache(level, *one) for level, kernels in _A_CYCLE.items() for one in kernels.items()),
    Bound(
        metric="access_time",
        bounds=_is_chase,
        gives=_is_chase,
        key=lambda row: row.count("working_set_bytes"),
        source=lambda row: f"the soonest load of this run: {_chase(row)}",
        why="Loads of as large a set came so soon on this machine. What is slower loses it by its pages or its node.",
        is_own_best=True,
    ),
)


def _any_bus(low: Row, row: Row) -> bool:
    same = ("level", "threads", "cpu_node", "memory_node")
    return row.metric == low.metric and all(row.params.get(name) == low.params.get(name) for name in same)


def _mixes(high: Row, low: Row) -> str:
    rates = [format_quantity(row.median, row.unit) for row in (low, high)]
    return f"The kind of access: {rates[0]} on the bus for {_stream(low)}, {rates[1]} for {_stream(high)}"


_STEPS: Final = (
    Step(
        "access",
        _mixes,
        _any_bus,
        lambda line, row: row.metric == "bus_bandwidth" and row.case == line.case,
        "Reads and stores in turn move less than either alone. Fewer arrays at a time help.",
    ),
    Step(
        "pages",
        "Pages as a program gets them, in place of huge ones",
        lambda low, row: row.params.get("pages") == "huge" and alike_but(low, row, "pages"),
        advice="Ask for huge pages: madvise(MADV_HUGEPAGE) in the source, or the setting below.",
        command="GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
        may_rank=True,
    ),
    Step(
        "numa",
        "Memory of another NUMA node",
        lambda low, row: (
            alike_but(low, row, "memory_node") and row.params.get("cpu_node") == row.params.get("memory_node")
        ),
        advice="Bind threads and memory to the same node.",
        command="numactl -N NODE -m NODE PROGRAM",
        may_rank=True,
    ),
    *TAKEN_BY_OTHERS,
)
LADDER: Final = LadderRule("memory", _STEPS)
HEADLINES: Final = (
    Rule("memory", "memory_bandwidth", _is_stream, lambda row: row.params["kernel"], _stream),
    Rule("memory", "access_time", _is_chase, lambda row: row.metric, _chase),
    Rule(
        "memory",
        "update_rate",
        _is_in_memory,
        lambda row: row.metric,
        lambda row: f"random updates, {threads_text(row)}",
    ),
)


_REPORT: Final = PartOfReport(SUITE, "memory", 3)
SECTION: Final = _REPORT.section(
    "Memory",
    "RWS copies blocks in order, RWR in random order. Application bytes are counted as STREAM does. Bytes on "
    "the bus include the lines that ordinary stores fetch before they write them. Access time is that of dependent "
    "loads.",
    tables,
)
CHARTS: Final = (
    _REPORT.chart(
        "memory_mountain",
        "Memory: bandwidth of every level",
        "Each step down is the end of a cache. Both axes are logarithmic.",
        bandwidth_figures,
    ),
    _REPORT.chart(
        "access_time",
        "Memory: time of a load",
        "Each step up is the end of a cache or of the address translations that the core keeps. Both "
        "axes are logarithmic.",
        time_figures,
        order=4,
    ),
    _REPORT.chart(
        "loaded_latency",
        "Memory: time of a load while others work",
        "Memory is busier to the right. Where the line turns up, loads wait in a queue.",
        _load_figures,
        order=4,
    ),
)

ANSWER: Final = AnswerRule(
    "memory",
    "How fast is memory, and what would make it faster?",
    "memory-bandwidth memory-latency memory-threads non-temporal huge-pages numa cache-ends "
    "parallel-loads loaded-latency",
    remarks="write-allocate",
)
