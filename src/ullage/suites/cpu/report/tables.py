# SPDX-License-Identifier: Apache-2.0
"""The tables of a cpu run: the best of each type with HPL and ceiling, products and solves, ratios, every kernel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics import median
from ullage.grouping import nested
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, format_share, significant
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import (
    Column,
    ceiling_hint,
    ceiling_text,
    grid_of,
    interval_text,
    of,
    peer_text,
    peers_of,
    ratio_text,
    value_text,
)
from ullage.report.headlines import Rule, threads_text, word_of
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
        """Parameters of the case."""
        return self.rate.params

    @property
    def threads(self) -> int:
        """The number of threads that work together."""
        return int(self.params.get("threads", 1))

    @property
    def type(self) -> str:
        """``fp64``."""
        return str(self.params.get("type", ""))

    @property
    def is_kernel(self) -> bool:
        """Whether it measures registers alone; else it is a product or a solve by a library."""
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
        """Return the median of a metric, or None without a row of it."""
        return self.rows[metric].median if metric in self.rows else None

    def gauge(self, name: str) -> float | None:
        """Return a gauge's largest value over ranks, as median over the repetitions; None without records."""
        found = [phase.gauges[name].most for phase in self.phases if name in phase.gauges]
        return median(found) if found else None

    def fact(self, name: str) -> str:
        """Return what a library said of itself; empty without records."""
        return self.phases[-1].hints_granted.get(name, "") if self.phases else ""


def lines_of(data: ReportData) -> list[Line]:
    """Return a line for each case, by kernel or product and threads; leave out rows that follow from others."""
    cases = nested((row.case, row.metric, row) for row in data.rows_of(SUITE) if row.case)
    found = [Line(rows, data.phases_of(rows[RATE])) for rows in cases.values() if RATE in rows]
    return sorted(found, key=_order)


def _order(line: Line) -> tuple[bool, int, str, str, str, int]:
    params = line.params
    own = str(params.get("isa", params.get("library", ""))), str(params["operation"]), str(params.get("core", ""))
    place = TYPES.index(line.type) if line.type in TYPES else len(TYPES)
    return not line.is_kernel, place, *own, line.threads


def ratios_of(data: ReportData) -> list[Row]:
    """Return the rows that follow from others."""
    return [row for row in data.rows_of(SUITE) if not row.case]


def best_of(lines: Iterable[Line]) -> Line | None:
    """Return the fastest valid line, or None without one."""
    return max((line for line in lines if line.is_valid), key=lambda line: line.rate.median, default=None)


def best_of_types(lines: Iterable[Line], threads: int) -> list[Line]:
    """Return the fastest kernel of each type with so many threads, in the order of the types."""
    same = [line for line in lines if line.is_kernel and line.threads == threads]
    types = dict.fromkeys(line.type for line in same)
    return [best for name in types if (best := best_of(line for line in same if line.type == name)) is not None]


def thread_counts(lines: Iterable[Line]) -> list[int]:
    """Return the thread counts that occur, rising."""
    return sorted({line.threads for line in lines})


# -- tables ------------------------------------------------------------------------------------------------------------


_SEED_NAMES: Final = {"int8": "QP", "int16": "HP", "fp32": "SP", "fp64": "DP"}
_RATIOS: Final = {
    "clock_ratio": "clock under",
    "rate_ratio": "operations of",
    "thread_ratio": "threads of",
}
_MIND: Final = "mind"
_UNITS_NOTE: Final = (
    "Operations are floating-point or integer ones. An FMA, and a step of a dot product, counts as "
    "two for each lane. QP, HP, SP and DP have 8, 16, 32 and 64 bits. The first two are integers."
)
_CEILING_NOTE: Final = (
    "The ceiling of a kernel is that of the cores it used: cores x measured clock x instructions a "
    "cycle x operations of an instruction. More threads than cores do not raise it. The ceiling of "
    "products and solves is the fastest kernel in double precision on the same cores."
)


@dataclass(frozen=True)
class _Best:
    """The fastest kernel of a type with so many threads, and the fastest solve beside it where that is its type."""

    line: Line
    solve: Row | None


def tables(data: ReportData) -> Content | None:
    """Return the notes and tables of the suite; None for other suites, and where nothing was measured."""
    lines = lines_of(data)
    if not lines:
        return None
    kernels = [line for line in lines if line.is_kernel]
    works = [line for line in lines if not line.is_kernel]
    grids = [
        *grid_of("the fastest kernel of each type", _BEST_COLUMNS, _best(lines)),
        *grid_of("matrix products and linear solves", _WORK_COLUMNS, works),
        *grid_of("one over another", _RATIO_COLUMNS, ratios_of(data)),
        *grid_of("every kernel", _KERNEL_COLUMNS, kernels),
    ]
    return Content(notes=_notes(lines), grids=grids)


def _best(lines: Sequence[Line]) -> list[_Best]:
    """Return the best kernels by type and then threads, as a reader compares them."""
    found: list[_Best] = []
    for threads in thread_counts(line for line in lines if line.is_kernel):
        solves = [line for line in lines if line.params["operation"] == "solve" and line.threads == threads]
        solve = best_of(solves)
        beside = None if solve is None else solve.rate
        found += [_Best(line, beside if line.type == "fp64" else None) for line in best_of_types(lines, threads)]
    types = list(dict.fromkeys(line.type for line in lines if line.is_kernel))
    return sorted(found, key=lambda one: (types.index(one.line.type), one.line.threads))


def _notes(lines: Sequence[Line]) -> list[str]:
    peers = peers_of(line.rate for line in lines)
    peer = (
        (
            f"{', '.join(peers)} ran for comparison with a process on each core. Its HPL has the same n. Its "
            "DGEMM multiplies smaller matrices, one for each process."
        )
        if peers
        else "No other tool was run for comparison."
    )
    notes = [_UNITS_NOTE, _CEILING_NOTE]
    return [*notes, peer] if any(not line.is_kernel for line in lines) else notes


# -- columns ----------------------------------------------------------------------------------------------------------


def _clock(row: Row | None) -> str:
    return DASH if row is None else f"{row.median / 1e9:.2f} GHz"


def _workload(best: _Best) -> str:
    seed = _SEED_NAMES.get(best.line.type)
    return best.line.type if seed is None else f"{seed} ({best.line.type})"


def _solve_share(best: _Best) -> str:
    ceiling = best.line.rate.ceiling
    return DASH if best.solve is None or ceiling is None else format_share(best.solve.median / ceiling.value)


def _core(line: Line) -> str:
    """Say which kernels the library took, and whether it was told to."""
    chosen, asked = line.fact("core"), str(line.params.get("core", ""))
    return f"{chosen}, {asked}" if chosen and chosen.lower() != asked.lower() else f"{asked}, told to"


def _residual(line: Line) -> str:
    value = line.gauge("residual")
    return DASH if value is None else significant(value, 2)


def _mind(row: Row) -> str:
    """Name what makes the rate another number than it seems; how well it is known is in the complete table."""
    return ", ".join(flag.code for flag in row.flags if not flag.is_of_repetitions)


def _first(row: Row) -> str:
    return " ".join(str(row.params[key]) for key in ("isa", "type", "operation") if key in row.params)


_BEST_COLUMNS: Final[Sequence[Column[_Best]]] = (
    Column("workload", _workload, is_number=False, css="nowrap"),
    Column("concurrency", lambda best: str(best.line.threads)),
    Column("kernel", lambda best: best.line.name, is_number=False, css="nowrap"),
    Column("ours", lambda best: value_text(best.line.rate)),
    Column("HPL", lambda best: value_text(best.solve)),
    Column("peer's HPL", lambda best: peer_text(best.solve)),
    Column("ceiling", lambda best: ceiling_text(best.line.rate), hint=lambda best: ceiling_hint(best.line.rate)),
    Column("our efficiency", lambda best: format_share(best.line.rate.share)),
    Column("HPL efficiency", _solve_share),
)
_WORK_COLUMNS: Final[Sequence[Column[Line]]] = (
    Column("work", lambda line: line.name, is_number=False, css="nowrap"),
    Column(
        "library",
        lambda line: str(line.params.get("library", "")),
        is_number=False,
        css="nowrap",
        hint=lambda line: line.fact("library"),
    ),
    Column("kernels for", _core, is_number=False, css="nowrap", hint=lambda line: line.fact("config")),
    Column("n", lambda line: str(line.params.get("n", ""))),
    Column("threads", lambda line: str(line.threads)),
    Column("rate", of(RATE, value_text)),
    Column("interval", lambda line: interval_text(line.rate)),
    Column("of the roof", lambda line: format_share(line.rate.share), hint=of(RATE, ceiling_hint, "")),
    Column("residual", _residual),
    Column("peer", of(RATE, peer_text)),
    Column("ratio to peer", of(RATE, ratio_text)),
    Column(_MIND, lambda line: _mind(line.rate), is_number=False),
)
_RATIO_COLUMNS: Final[Sequence[Column[Row]]] = (
    Column("of", lambda row: f"{_RATIOS.get(row.metric, row.metric)} {_first(row)}", is_number=False, css="nowrap"),
    Column("threads", lambda row: str(row.params.get("threads", ""))),
    Column("over", lambda row: str(row.params.get("over", "")).replace("/", " "), is_number=False, css="nowrap"),
    Column("ratio", lambda row: significant(row.median)),
    Column("interval", interval_text),
)
_KERNEL_COLUMNS: Final[Sequence[Column[Line]]] = (
    Column("kernel", lambda line: line.name, is_number=False, css="nowrap"),
    Column("threads", lambda line: str(line.threads)),
    Column("rate", of(RATE, value_text)),
    Column("interval", lambda line: interval_text(line.rate)),
    Column("best window", of("best_compute_rate", value_text)),
    Column("clock", of("clock", _clock)),
    Column("instr/cycle", of("instructions_per_cycle", lambda row: significant(row.median))),
    Column("ceiling", of(RATE, ceiling_text), hint=of(RATE, ceiling_hint, "")),
    Column("of it", lambda line: format_share(line.rate.share)),
    Column("grade", lambda line: line.rate.grade or DASH, is_number=False, css="nowrap"),
    Column(_MIND, lambda line: _mind(line.rate), is_number=False),
)


SECTION: Final = Section(
    name="cpu",
    title="The cores",
    doc="Efficiency is the share of the ceiling of the cores in use, never of the whole machine. HPL is the linear "
    f"solve with the best library here. The tables of {' and '.join(LIBRARY_WORK)} show each library.",
    order=1,
    part="cores",
    build=tables,
    suite=SUITE,
)

# -- headlines of the front page --------------------------------------------------------------------------------------

_TYPES: Final = ("fp64", "fp32", "bf16", "int8")
_LINEAR: Final = {
    "gemm": "matrix product",
    "solve": "linear solve (HPL)",
    "distributed-solve": "linear solve (HPL) over ranks",
}


def _is_arithmetic(row: Row) -> bool:
    return "isa" in row.params and word_of(row, "type") in _TYPES


def _is_linear(row: Row) -> bool:
    return word_of(row, "operation") in _LINEAR


def _arithmetic(row: Row) -> str:
    kernel = " ".join(filter(None, (word_of(row, "isa"), word_of(row, "operation"))))
    return f"{word_of(row, 'type')} by {kernel}, {threads_text(row)}"


def _linear(row: Row) -> str:
    name = _LINEAR[word_of(row, "operation")]
    size = f", n={row.params['n']}" if "n" in row.params else ""
    return f"{name}{size}, {threads_text(row)}"


HEADLINES: Final = (
    Rule("cores", "compute_rate", _is_arithmetic, lambda row: row.params["type"], _arithmetic),
    Rule("cores", "compute_rate", _is_linear, lambda row: row.params["operation"], _linear),
)
