# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a cpu run: its tables, kernels beside their ceilings, how the best grow, and the roofline."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.ladders import TAKEN_BY_OTHERS, LadderRule, Picks, Step
from ullage.analysis.settings import select
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, format_row, format_share, percent, plural
from ullage.report import plots
from ullage.report.answers import AnswerRule
from ullage.report.contents import Figure
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.headlines import Rule, threads_text
from ullage.report.vega import INK, Spec, ordered_colors, rank_axis, tooltip
from ullage.report.verdicts import is_invalid
from ullage.suites.cpu.libraries import NARROW
from ullage.suites.cpu.ratios import CORE_SHARE, HIDDEN_SHARE
from ullage.suites.cpu.rows import best_of
from ullage.suites.cpu.tables import SUITE, Line, best_with, lines_of, tables, thread_counts

_GIGA: Final = 1e9
_STEP: Final = 17
_FEWEST_COUNTS: Final = 3
_BAR_TOOLTIP: Final = tooltip("name=kernel text=median ceiling_text=ceiling share=of_it")


def rate_figures(data: ReportData) -> list[Figure]:
    """Return bars of the rates with the most threads, and lines over threads where there are three counts or more."""
    kernels = [line for line in lines_of(data) if line.is_kernel and line.rate.median > 0]
    counts = thread_counts(kernels)
    if not counts:
        return []
    found = [_bars(best_of_each([line for line in kernels if line.threads == counts[-1]]), counts[-1])]
    return [*found, *([_scaling(kernels, counts)] if len(counts) >= _FEWEST_COUNTS else [])]


def best_of_each(kernels: Sequence[Line]) -> list[Line]:
    """Return the fastest operation of each type and instruction set.

    Types come in the order of the lines, within a type the fastest first.
    """
    groups = grouped(((line.type, str(line.params["isa"])), line) for line in kernels)
    types = list(dict.fromkeys(type_ for type_, _ in groups))
    found = [best for group in groups.values() if (best := best_of(group)) is not None]
    return sorted(found, key=lambda line: (types.index(line.type), -line.rate.median))


def _bars(kernels: Sequence[Line], threads: int) -> Figure:
    caption = (
        f"The fastest operation of each type and instruction set, with {plural(threads, 'thread')}; ticks: ceilings."
    )
    lowest = min((line.rate.median for line in kernels), default=1.0) / _GIGA
    floor = plots.decade_floor(lowest)
    values = [_bar(line, floor) for line in kernels]
    types = list(dict.fromkeys(line.type for line in kernels))
    top = max((max(value["y"], value["ceiling"] or 0.0) for value in values), default=1.0) * 1.3
    x = plots.log_axis("y", (floor, top), "Gop/s", tickCount=6)
    place = {"y": plots.bar_names([value["name"] for value in values])}
    color = plots.nominal("type", types, ordered_colors(len(types)), None)
    tick: Spec = {
        "transform": [{"filter": "isValid(datum.ceiling)"}],
        "mark": {"type": "tick", "color": INK, "thickness": 2, "size": _STEP - 3},
        "encoding": {**place, "x": {**x, "field": "ceiling"}},
    }
    spec = plots.layered(420, {"step": _STEP}, [plots.bar_layer(place, x, color, _BAR_TOOLTIP), tick], values)
    return Figure("kernels", caption, spec, wide=True)


def _bar(line: Line, floor: float) -> Spec:
    ceiling = line.rate.ceiling
    return {
        "name": line.name,
        "type": line.type,
        "y": line.rate.median / _GIGA,
        "floor": floor,
        "ceiling": None if ceiling is None else ceiling.value / _GIGA,
        "text": format_row(line.rate),
        "ceiling_text": DASH if ceiling is None else f"{format_quantity(ceiling.value, 'op/s')} ({ceiling.kind})",
        "share": format_share(line.rate.share),
    }


def _scaling(kernels: Sequence[Line], counts: Sequence[int]) -> Figure:
    """Draw for each type the kernel that is best with the most threads, over itself with the fewest."""
    values: list[Spec] = []
    names: list[str] = []
    for best in best_with(kernels, counts[-1]):
        line = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        names.append(best.name)
        for one in line:
            gain = one.rate.median / line[0].rate.median
            values.append({"name": best.name, "x": one.threads, "y": gain, "text": f"{gain:.2f} x"})
    encoding = {
        "x": rank_axis(list(counts), "x", "threads"),
        "y": plots.quantity_axis("y", f"times what {counts[0]} gives"),
        "color": plots.nominal("name", names, ordered_colors(len(names)), {"title": None, "labelLimit": 260}),
        "tooltip": tooltip("name=kernel x=threads text=over_1_thread"),
    }
    return Figure(
        "threads", "The best kernel of each type.", plots.plot(410, 250, values, plots.line_mark(36), encoding)
    )


_MEMORY: Final = "memory"
# One addition and one multiplication for three doubles: a = b + s c, as STREAM counts bytes.
_TRIAD_INTENSITY: Final = 2 / 24
_DOUBLE: Final = 8


def roofline_figures(data: ReportData) -> list[Figure]:
    """Return one roofline, of the most threads; none without a kernel in double or single precision."""
    lines = lines_of(data)
    counts = thread_counts(line for line in lines if line.is_kernel)
    if not counts:
        return []
    threads = counts[-1]
    same = [line for line in lines if line.threads == threads]
    peaks = peaks_of(same)
    if not peaks:
        return []
    bandwidths = select(data.rows_of(_MEMORY), "memory_bandwidth", threads=threads)
    streams = [row for row in bandwidths if not is_invalid(row)]
    slopes, works = slopes_of(streams), [*_triad(streams), *works_of(same)]
    words = [
        f"With {plural(threads, 'thread')}.",
        "Horizontal lines are the fastest kernels, slopes the best bandwidth of each level." if slopes else "",
        "" if slopes else "This result has no bandwidths. The suites node and overview draw the slopes.",
        "A product of n x n matrices moves at least 24 n^2 bytes, a solve 16 n^2." if works else "",
    ]
    return [Figure("roofline", " ".join(filter(None, words)), plots.roofline(peaks, slopes, works), wide=True)]


def peaks_of(lines: Sequence[Line]) -> list[plots.Roof]:
    """Return the fastest kernel in single and in double precision, and the scalar FMA; highest first."""
    kernels = [line for line in lines if line.is_kernel]
    found: list[plots.Roof] = []
    for name, chosen in (
        ("fp32", best_of(line for line in kernels if line.type == "fp32")),
        ("fp64", best_of(line for line in kernels if line.type == "fp64")),
        ("fp64 without vectors", best_of(line for line in kernels if line.name == "scalar fp64 fma")),
    ):
        if chosen is not None and all(chosen.rate.median != roof.value for roof in found):
            found.append(plots.Roof(name, chosen.rate.median, chosen.name))
    return sorted(found, key=lambda roof: -roof.value)


def slopes_of(streams: Iterable[Row]) -> list[plots.Roof]:
    """Return the best bandwidth of each level, highest first."""
    best: dict[str, Row] = {}
    for row in streams:
        level = row.word("level")
        if level and (level not in best or row.median > best[level].median):
            best[level] = row
    roofs = [plots.Roof(level, row.median, row.word("kernel")) for level, row in best.items()]
    return sorted(roofs, key=lambda roof: -roof.value)


def works_of(lines: Iterable[Line]) -> list[plots.Work]:
    """Return the fastest product and the fastest solve, at the intensity that the bytes of their matrices give."""
    all_ = [line for line in lines if not line.is_kernel and line.type == "fp64"]
    found: list[plots.Work] = []
    # Operations over bytes: 2 n^3 over three matrices, 2/3 n^3 over one that is read and written.
    for name, intensity_of_n in (("gemm", 2 / (3 * _DOUBLE)), ("solve", 2 / 3 / (2 * _DOUBLE))):
        best = best_of(line for line in all_ if line.name == name)
        if best is not None:
            n = int(best.params.get("n", 0))
            note = f"n = {n}, BLAS {best.params.get('library', '')}"
            found.append(plots.Work(name, intensity_of_n * n, best.rate.median, note))
    return found


def _triad(streams: Iterable[Row]) -> list[plots.Work]:
    """Return the triad from memory, not from a cache: that of the level with the least bandwidth."""
    triads = [row for row in streams if row.params.get("kernel") == "triad"]
    lowest = slopes_of(triads)[-1:]
    return [
        plots.Work("triad", _TRIAD_INTENSITY, _TRIAD_INTENSITY * roof.value, f"from {roof.name}") for roof in lowest
    ]


_REPORT: Final = PartOfReport(SUITE, "cores", 1)
SECTION: Final = _REPORT.section(
    "The cores",
    "Efficiency is the share of the ceiling of the cores in use, never of the whole machine. HPL is the linear "
    "solve with the best library here. The tables of gemm and solve and distributed-solve show each library.",
    tables,
)
_LINEAR: Final = {
    "gemm": "matrix product",
    "solve": "linear solve (HPL)",
    "distributed-solve": "linear solve (HPL) over ranks",
}


def _is_arithmetic(row: Row) -> bool:
    return "isa" in row.params and row.word("type") in ("fp64", "fp32", "bf16", "int8")


def _is_linear(row: Row) -> bool:
    return row.word("operation") in _LINEAR


def _arithmetic(row: Row) -> str:
    kernel = " ".join(filter(None, (row.word("isa"), row.word("operation"))))
    return f"{row.word('type')} by {kernel}, {threads_text(row)}"


def _linear(row: Row) -> str:
    name = _LINEAR[row.word("operation")]
    size = f", n={row.params['n']}" if "n" in row.params else ""
    return f"{name}{size}, {threads_text(row)}"


def _same_kernel(line: Row, row: Row) -> bool:
    return all(line.params.get(name) == row.params.get(name) for name in ("isa", "type", "operation"))


def _clock_alone(line: Row, row: Row) -> bool:
    return row.metric == "clock" and _same_kernel(line, row) and row.count("threads") == 1 and "isa" in row.params


def _narrow_alone(_low: Row, row: Row) -> bool:
    is_narrow = (row.word("isa"), row.word("type"), row.word("operation")) == (NARROW, "fp64", "fma")
    return row.metric == "clock" and is_narrow and row.count("threads") == 1


def _of_kernel(metric: str) -> Picks:
    def picks(line: Row, row: Row) -> bool:
        is_same = _same_kernel(line, row) and row.params.get("threads") == line.params.get("threads")
        return row.metric == metric and is_same and "isa" in line.params

    return picks


def _kernel_beside(low: Row, row: Row) -> bool:
    is_fma = (row.word("type"), row.word("operation")) == ("fp64", "fma")
    return row.metric == low.metric and is_fma and row.params.get("threads") == low.params.get("threads")


def _clocks(high: Row, low: Row) -> str:
    return f"{low.median / 1e9:.2f} GHz in place of {high.median / 1e9:.2f} GHz"


# Cores of their own do more of their instructions than that beside each other; two CPUs of a core do half to 0.7.
_SHARED: Final = 0.85


def _apart(_high: Row, low: Row) -> str:
    if low.median > _SHARED:
        return ""
    return (
        "CPUs that share a core do this, also where the machine does not say so. Ask for whole cores. "
        "lscpu -e lists those that are known."
    )


LADDER: Final = LadderRule(
    "cores",
    (
        Step(
            "clock",
            lambda high, low: f"The clock under {low.word('isa')}: {_clocks(high, low)}",
            _narrow_alone,
            _clock_alone,
            "Wide units lower the clock. Short stretches of wide code may cost more than they gain.",
        ),
        Step(
            "clock-of-all",
            lambda high, low: f"The clock when all {low.count('threads')} threads work: {_clocks(high, low)}",
            lambda low, row: _clock_alone(low, row) and row is not low,
            lambda line, row: row.metric == "clock" and row.case == line.case and row.count("threads") > 1,
        ),
        Step(
            "shared-cores",
            lambda _, low: (
                f"Each of {low.count('threads')} threads does {percent(low.median)} of the instructions a cycle "
                "that it does alone"
            ),
            None,
            _of_kernel(CORE_SHARE),
            _apart,
            may_rank=True,
        ),
        *TAKEN_BY_OTHERS,
        Step(
            "hidden",
            lambda _, low: f"The mean window reaches {percent(low.median)} of the best one; no other program was seen",
            None,
            _of_kernel(HIDDEN_SHARE),
            "Another tenant on the same core or a changing clock does this. Ask for dedicated cores.",
            of_others=True,
        ),
        Step(
            "library",
            lambda _, low: f"What the library {low.word('library')} reaches of our own kernel, n={low.params['n']}",
            _kernel_beside,
            lambda line, row: row is line and _is_linear(row),
            "A larger matrix, or a library with kernels for this CPU, reaches more.",
        ),
    ),
)
HEADLINES: Final = (
    Rule("cores", "compute_rate", _is_arithmetic, lambda row: row.params["type"], _arithmetic),
    Rule("cores", "compute_rate", _is_linear, lambda row: row.params["operation"], _linear),
)

CHARTS: Final = (
    _REPORT.chart(
        "compute_rates",
        "Rates of the cores",
        "The axis is logarithmic. A bar that meets its tick reaches its ceiling.",
        rate_figures,
    ),
    _REPORT.chart(
        "roofline",
        "Roofline",
        "Bandwidth limits work left of where a slope meets a horizontal line. The cores limit work right"
        " of it. Both axes are logarithmic.",
        roofline_figures,
    ),
)
ANSWER: Final = AnswerRule(
    "cpu",
    "How fast do the cores compute, and what holds them back?",
    "fastest solve threads special-unit clock-penalty",
    remarks="missing no-blas detected empirical",
)
