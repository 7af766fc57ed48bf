# SPDX-License-Identifier: Apache-2.0
"""The tables of a cpu run: the best of each type with HPL and ceiling, products and solves, ratios, every kernel."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import DASH, format_share, significant
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.declared import columns
from ullage.report.grids import Column, PhaseLine, ceiling_hint, grid_of, of, peer_text, peers_of, row_lines
from ullage.suites.cpu.libraries import place_of_type
from ullage.suites.cpu.rows import Measurement, best_of, best_of_types

SUITE: Final = "cpu"
RATE: Final = "compute_rate"


@dataclass(frozen=True)
class Line(Measurement):
    """A measurement that has a rate."""

    @property
    def rate(self) -> Row:
        """Every line has one."""
        return self.rows[RATE]

    @property
    def type(self) -> str:
        """``fp64``."""
        return str(self.params.get("type", ""))

    @property
    def name(self) -> str:
        """``avx512 fp64 fma``, ``gemm``."""
        return super().name.replace("/", " ")


def lines_of(data: ReportData) -> list[Line]:
    """Return a line for each case, by kernel or product and threads; leave out rows that follow from others."""
    cases = nested((row.case, row.metric, row) for row in data.rows_of(SUITE) if row.case)
    measured = grouped((item.case.case, item) for item in data.measured)
    found = [Line(rows, measured.get(case, ())) for case, rows in cases.items() if RATE in rows]
    return sorted(found, key=_order)


def _order(line: Line) -> tuple[bool, int, str, str, str, int]:
    params = line.params
    own = str(params.get("isa", params.get("library", ""))), str(params["operation"]), str(params.get("core", ""))
    return not line.is_kernel, place_of_type(line.type), *own, line.threads


def best_with(lines: Iterable[Line], threads: int) -> list[Line]:
    """Return the fastest kernel of each type with so many threads, in the order of the types."""
    return best_of_types(line for line in lines if line.is_kernel and line.threads == threads)


def thread_counts(lines: Iterable[Line]) -> list[int]:
    """Return the thread counts that occur, rising."""
    return sorted({line.threads for line in lines})


_SEED_NAMES: Final = {"int8": "QP", "int16": "HP", "fp32": "SP", "fp64": "DP"}
_RATIOS: Final = {
    "clock_ratio": "clock under",
    "rate_ratio": "operations of",
    "thread_ratio": "threads of",
    "core_share": "each core of",
    "hidden_share": "the mean window of",
}
_IDENTITY: Final = ("isa", "type", "operation")
_SOLVE: Final = "solve_beside"
_UNITS_NOTE: Final = (
    "Operations are floating-point or integer ones. An FMA, and a step of a dot product, counts as "
    "two for each lane. QP, HP, SP and DP have 8, 16, 32 and 64 bits. The first two are integers."
)
_CEILING_NOTE: Final = (
    "The ceiling of a kernel is that of the cores it used: cores x measured clock x instructions a "
    "cycle x operations of an instruction. The clock is the higher one of its own and that of one scalar thread. "
    "More threads than cores do not raise the ceiling. That of products and solves is the fastest kernel in double "
    "precision on the same cores."
)


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
        *grid_of("one over another", _RATIO_COLUMNS, row_lines(row for row in data.rows_of(SUITE) if not row.case)),
        *grid_of("every kernel", _KERNEL_COLUMNS, kernels),
    ]
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
    return Content(notes=[*notes, peer] if any(not line.is_kernel for line in lines) else notes, grids=grids)


def _best(lines: Sequence[Line]) -> list[Line]:
    """Return the best kernels by type and then threads, as a reader compares them.

    Those in double precision have the fastest solve with as many threads beside them.
    """
    found: list[Line] = []
    for threads in thread_counts(line for line in lines if line.is_kernel):
        solve = best_of(one for one in lines if one.params["operation"] == "solve" and one.threads == threads)
        for line in best_with(lines, threads):
            beside = {_SOLVE: solve.rate} if solve is not None and line.type == "fp64" else {}
            found.append(replace(line, rows={**line.rows, **beside}))
    types = list(dict.fromkeys(line.type for line in lines if line.is_kernel))
    return sorted(found, key=lambda line: (types.index(line.type), line.threads))


def _workload(line: Line) -> str:
    seed = _SEED_NAMES.get(line.type)
    return line.type if seed is None else f"{seed} ({line.type})"


def _solve_share(line: Line) -> str:
    solve, ceiling = line.rows.get(_SOLVE), line.rate.ceiling
    return DASH if solve is None or ceiling is None else format_share(solve.median / ceiling.value)


def _core(line: Line) -> str:
    """Say which kernels the library took, and whether it was told to."""
    chosen, asked = line.fact("core"), str(line.params.get("core", ""))
    return f"{chosen}, {asked}" if chosen and chosen.lower() != asked.lower() else f"{asked}, told to"


def _residual(line: Line) -> str:
    found = [gauge.most for item in line.measured if (gauge := item.phase.gauges.get("residual")) is not None]
    return significant(median(found), 2) if found else DASH


def _ratio_of(line: PhaseLine) -> str:
    """Say what of which kernel or product a ratio is: ``clock under avx512 fp64 fma``."""
    metric, params = line.first.metric, line.first.params
    return " ".join([_RATIOS.get(metric, metric), *(str(params[key]) for key in _IDENTITY if key in params)])


_NAME: Final = Column[Line]("kernel", lambda line: line.name, is_number=False, css="nowrap")
_BEST_COLUMNS: Final = columns(
    Column[Line]("workload", _workload, is_number=False, css="nowrap"),
    "threads=concurrency",
    _NAME,
    f"compute_rate:value=ours {_SOLVE}:value=HPL",
    Column[Line]("peer's HPL", of(_SOLVE, peer_text)),
    "compute_rate:ceiling compute_rate:share=our_efficiency",
    Column[Line]("HPL efficiency", _solve_share),
)
_MIND: Final = Column[Line](
    "mind", lambda line: ", ".join(flag.code for flag in line.rate.flags if not flag.is_of_repetitions), is_number=False
)
_WORK_COLUMNS: Final = columns(
    replace(_NAME, heading="work"),
    Column[Line](
        "library",
        lambda line: str(line.params.get("library", "")),
        is_number=False,
        css="nowrap",
        hint=lambda line: line.fact("library"),
    ),
    Column[Line]("kernels for", _core, is_number=False, css="nowrap", hint=lambda line: line.fact("config")),
    "n threads compute_rate:value=rate compute_rate:interval",
    Column[Line]("of the roof", lambda line: format_share(line.rate.share), hint=of(RATE, ceiling_hint, "")),
    Column[Line]("residual", _residual),
    Column[Line]("peer", of(RATE, peer_text)),
    "compute_rate:ratio",
    _MIND,
)
_RATIO_COLUMNS: Final = columns(
    Column[PhaseLine]("of", _ratio_of, is_number=False, css="nowrap"),
    "threads",
    Column[PhaseLine]("over", lambda line: line.first.word("over").replace("/", " "), is_number=False, css="nowrap"),
    "row:plain=ratio row:interval",
)
_KERNEL_COLUMNS: Final = columns(
    _NAME,
    "threads compute_rate:value=rate compute_rate:interval best_compute_rate:value=best_window",
    Column[Line]("clock", of("clock", lambda row: f"{row.median / 1e9:.2f} GHz")),
    "instructions_per_cycle:plain=instr/cycle compute_rate:ceiling compute_rate:share=of_it",
    Column[Line]("grade", lambda line: line.rate.grade or DASH, is_number=False, css="nowrap"),
    _MIND,
)
