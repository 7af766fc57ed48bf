# SPDX-License-Identifier: Apache-2.0
"""The tables of a cpu run: the best of each type with HPL and ceiling, products and solves, ratios, every kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from ullage.model.summary import Row
from ullage.quantity import DASH, format_interval, format_quantity, format_share, scale_for, significant
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.table import Cell, number_cell
from ullage.runs.composite.headlines import Rule, threads_text, word_of
from ullage.suites.cpu.report.lines import (
    LIBRARY_WORK,
    SUITE,
    Line,
    best_of,
    best_of_types,
    lines_of,
    ratios_of,
    thread_counts,
)

T = TypeVar("T")
_SEED_NAMES: Final = {"int8": "QP", "int16": "HP", "fp32": "SP", "fp64": "DP"}
_RATIOS: Final = {
    "clock_ratio": "clock under",
    "rate_ratio": "operations of",
    "thread_ratio": "threads of",
}
_MIND: Final = "mind"
_UNITS_NOTE: Final = (
    "Floating-point and integer operations alike; an FMA, and a step of a dot product, counts two a lane. QP, HP, SP "
    "and DP are 8, 16, 32 and 64 bits; the first two are integers."
)
_CEILING_NOTE: Final = (
    "A kernel's ceiling is that of the cores it used: cores x clock measured beside it x instructions a cycle x "
    "operations of an instruction; more threads than cores do not raise it. That of products and solves is the fastest "
    "of our own kernels in double precision on the same cores."
)


@dataclass(frozen=True)
class _Column(Generic[T]):
    """Left out where no item has a text."""

    heading: str
    text: Callable[[T], str]
    is_number: bool = True
    hint: Callable[[T], str] = lambda _item: ""


@dataclass(frozen=True)
class _Best:
    """The fastest kernel of a type with so many threads, and the fastest solve beside it where that is its type."""

    line: Line
    solve: Line | None


def tables(data: ReportData) -> Content | None:
    """None for other suites, and where nothing was measured."""
    lines = lines_of(data)
    if not lines:
        return None
    kernels = [line for line in lines if line.is_kernel]
    works = [line for line in lines if not line.is_kernel]
    grids = [
        _grid("the fastest kernel of each type", _BEST_COLUMNS, _best(lines)),
        _grid("matrix products and linear solves", _WORK_COLUMNS, works),
        _grid("one over another", _RATIO_COLUMNS, ratios_of(data)),
        _grid("every kernel", _KERNEL_COLUMNS, kernels),
    ]
    return Content(notes=_notes(lines), grids=[grid for grid in grids if grid.rows])


def _best(lines: Sequence[Line]) -> list[_Best]:
    """By type and then threads, as a reader compares them."""
    found: list[_Best] = []
    for threads in thread_counts(line for line in lines if line.is_kernel):
        solves = [line for line in lines if line.params["operation"] == "solve" and line.threads == threads]
        solve = best_of(solves)
        found += [_Best(line, solve if line.type == "fp64" else None) for line in best_of_types(lines, threads)]
    types = list(dict.fromkeys(line.type for line in lines if line.is_kernel))
    return sorted(found, key=lambda one: (types.index(one.line.type), one.line.threads))


def _grid(title: str, columns: Sequence[_Column[T]], items: Sequence[T]) -> Grid:
    shown = [column for column in columns if any(column.text(item) not in ("", DASH) for item in items)]
    heads = [Heading(column.heading, is_number=column.is_number) for column in shown]
    return Grid(title, heads, [[_cell(column, item) for column in shown] for item in items])


def _cell(column: _Column[T], item: T) -> Cell:
    text, hint = column.text(item), column.hint(item)
    if column.is_number:
        return number_cell(text, hint=hint)
    # Short words stay whole; flags may be many.
    return Cell(text, "" if column.heading == _MIND else "nowrap", hint=hint)


def _notes(lines: Sequence[Line]) -> list[str]:
    peers = sorted({f"{line.rate.peer.tool} {line.rate.peer.version}" for line in lines if line.rate.peer is not None})
    peer = (
        f"Peer: {', '.join(peers)}, with a process a core: its HPL at the same n; its DGEMM of smaller matrices, one "
        "for each process."
        if peers
        else "No peer was run beside."
    )
    notes = [_UNITS_NOTE, _CEILING_NOTE]
    return [*notes, peer] if any(not line.is_kernel for line in lines) else notes


# -- columns ----------------------------------------------------------------------------------------------------------


def _rate(line: Line) -> str:
    return format_quantity(line.rate.median, line.rate.unit)


def _interval(row: Row) -> str:
    return format_interval(row.low, row.high, scale_for([row.median], row.unit)) or DASH


def _ceiling(line: Line) -> str:
    ceiling = line.rate.ceiling
    return DASH if ceiling is None else format_quantity(ceiling.value, line.rate.unit)


def _ceiling_hint(line: Line) -> str:
    ceiling = line.rate.ceiling
    return "" if ceiling is None else f"{ceiling.kind}: {ceiling.source}"


def _metric(metric: str, unit: str = "") -> Callable[[Line], str]:
    def text(line: Line) -> str:
        value = line.value(metric)
        return DASH if value is None else f"{significant(value)}{unit}"

    return text


def _clock(line: Line) -> str:
    value = line.value("clock")
    return DASH if value is None else f"{value / 1e9:.2f} GHz"


def _workload(best: _Best) -> str:
    seed = _SEED_NAMES.get(best.line.type)
    return best.line.type if seed is None else f"{seed} ({best.line.type})"


def _solve_rate(best: _Best) -> str:
    return DASH if best.solve is None else _rate(best.solve)


def _solve_share(best: _Best) -> str:
    ceiling = best.line.rate.ceiling
    return DASH if best.solve is None or ceiling is None else format_share(best.solve.rate.median / ceiling.value)


def _solve_peer(best: _Best) -> str:
    return DASH if best.solve is None else _peer(best.solve)


def _peer(line: Line) -> str:
    return DASH if line.rate.peer is None else format_quantity(line.rate.peer.median, line.rate.unit)


def _peer_ratio(line: Line) -> str:
    peer = line.rate.peer
    return DASH if peer is None or not peer.median else significant(line.rate.median / peer.median)


def _core(line: Line) -> str:
    """What the library took, and whether it was told to."""
    chosen, asked = line.fact("core"), str(line.params.get("core", ""))
    return f"{chosen}, {asked}" if chosen and chosen.lower() != asked.lower() else f"{asked}, told to"


def _residual(line: Line) -> str:
    value = line.gauge("residual")
    return DASH if value is None else significant(value, 2)


def _best_window(line: Line) -> str:
    value = line.value("best_compute_rate")
    return DASH if value is None else format_quantity(value, line.rate.unit)


def _mind(row: Row) -> str:
    """What makes it another number than it seems; how well it is known stands in the complete table."""
    return ", ".join(flag.code for flag in row.flags if not flag.is_of_repetitions)


def _first(row: Row) -> str:
    return " ".join(str(row.params[key]) for key in ("isa", "type", "operation") if key in row.params)


_BEST_COLUMNS: Final[Sequence[_Column[_Best]]] = (
    _Column("workload", _workload, is_number=False),
    _Column("concurrency", lambda best: str(best.line.threads)),
    _Column("kernel", lambda best: best.line.name, is_number=False),
    _Column("ours", lambda best: _rate(best.line)),
    _Column("HPL", _solve_rate),
    _Column("peer's HPL", _solve_peer),
    _Column("ceiling", lambda best: _ceiling(best.line), hint=lambda best: _ceiling_hint(best.line)),
    _Column("our efficiency", lambda best: format_share(best.line.rate.share)),
    _Column("HPL efficiency", _solve_share),
)
_WORK_COLUMNS: Final[Sequence[_Column[Line]]] = (
    _Column("work", lambda line: line.name, is_number=False),
    _Column(
        "library",
        lambda line: str(line.params.get("library", "")),
        is_number=False,
        hint=lambda line: line.fact("library"),
    ),
    _Column("kernels for", _core, is_number=False, hint=lambda line: line.fact("config")),
    _Column("n", lambda line: str(line.params.get("n", ""))),
    _Column("threads", lambda line: str(line.threads)),
    _Column("rate", _rate),
    _Column("interval", lambda line: _interval(line.rate)),
    _Column("of the roof", lambda line: format_share(line.rate.share), hint=_ceiling_hint),
    _Column("residual", _residual),
    _Column("peer", _peer),
    _Column("ratio to peer", _peer_ratio),
    _Column(_MIND, lambda line: _mind(line.rate), is_number=False),
)
_RATIO_COLUMNS: Final[Sequence[_Column[Row]]] = (
    _Column("of", lambda row: f"{_RATIOS.get(row.metric, row.metric)} {_first(row)}", is_number=False),
    _Column("threads", lambda row: str(row.params.get("threads", ""))),
    _Column("over", lambda row: str(row.params.get("over", "")).replace("/", " "), is_number=False),
    _Column("ratio", lambda row: significant(row.median)),
    _Column("interval", _interval),
)
_KERNEL_COLUMNS: Final[Sequence[_Column[Line]]] = (
    _Column("kernel", lambda line: line.name, is_number=False),
    _Column("threads", lambda line: str(line.threads)),
    _Column("rate", _rate),
    _Column("interval", lambda line: _interval(line.rate)),
    _Column("best window", _best_window),
    _Column("clock", _clock),
    _Column("instr/cycle", _metric("instructions_per_cycle")),
    _Column("ceiling", _ceiling, hint=_ceiling_hint),
    _Column("of it", lambda line: format_share(line.rate.share)),
    _Column("grade", lambda line: line.rate.grade or DASH, is_number=False),
    _Column(_MIND, lambda line: _mind(line.rate), is_number=False),
)


SECTION: Final = Section(
    name="cpu",
    title="The cores",
    doc="Efficiency is against the ceiling of the cores in use, never of the whole machine. HPL is the linear solve by "
    f"the best library here ({' and '.join(LIBRARY_WORK)} stand below, library by library).",
    order=1,
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
