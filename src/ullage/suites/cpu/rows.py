# SPDX-License-Identifier: Apache-2.0
"""Rows of a cpu run by what sets them apart: kernel and threads, or product, library, size and threads. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from ullage.analysis.ceilings.declared import compute_ceiling
from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, with_ceiling
from ullage.analysis.contests import compare_rows
from ullage.analysis.ladders import STOLEN, WAITED
from ullage.analysis.statistics import median
from ullage.analysis.verdicts.grades import is_sound, worst_grade
from ullage.grouping import grouped, nested
from ullage.model.flags import UNPINNED, Flag
from ullage.model.machine import MachineFile
from ullage.model.plan import Parameters, Scalar
from ullage.model.record import CaseRecord
from ullage.model.summary import Ceiling, Row
from ullage.parameters import count_of
from ullage.quantity import percent
from ullage.report.grids import PhaseLine
from ullage.results.rows import Measured, RowContext, RowFrame, join
from ullage.runs.told import Launches, Source, told_rows, with_cause
from ullage.suites.cpu.libraries import DISTRIBUTED, GEMM, NARROW, SOLVE, WORKLOAD
from ullage.suites.cpu.options import METRICS

# Rows say this of kernels that a library chose itself, without being told.
CHOSEN: Final = "chosen"
_IDENTITY: Final = ("isa", "type", "operation")
CLOCK_DISAGREES: Final = "clock-disagrees"
# Two chains of known latency that disagree by more were disturbed, or stand for another clock than ours.
_MOST_DISAGREEMENT: Final = 0.02


@dataclass(frozen=True)
class Measurement(PhaseLine):
    """All rows of one case, with the repetitions behind them."""

    measured: Sequence[Measured]

    @property
    def rate(self) -> Row | None:
        """Operations/s."""
        return self.rows.get("compute_rate")

    @property
    def params(self) -> Mapping[str, Scalar]:
        """The same of all rows."""
        return self.first.params

    @property
    def threads(self) -> int:
        """The number of threads that work together."""
        return int(self.params.get("threads", 1))

    @property
    def is_kernel(self) -> bool:
        """Whether it measures registers alone; else it is a product or a solve by a library."""
        return "isa" in self.params

    @property
    def name(self) -> str:
        """``avx512/fp64/fma``, ``gemm``."""
        return "/".join(str(self.params[key]) for key in (_IDENTITY if self.is_kernel else _IDENTITY[-1:]))

    @property
    def label(self) -> str:
        """The short name of that library; empty of a kernel."""
        return str(self.params.get("library", ""))

    @property
    def library(self) -> str:
        """Path of the library that did it; empty of a kernel."""
        return str(self.measured[-1].case.workload_parameters.get("library", "")) if self.measured else ""

    def fact(self, name: str) -> str:
        """Return what the library said of itself (``core``, ``config``); empty where it did not."""
        return self.measured[-1].phase.hints_granted.get(name, "") if self.measured else ""

    def gauge(self, name: str) -> float | None:
        """Return a gauge, added over ranks, as median over the repetitions; None where no record has it."""
        found = [item.phase.gauges[name].sum for item in self.measured if name in item.phase.gauges]
        return median(found) if found else None

    def value(self, metric: str) -> float | None:
        """Return the median of a metric, or None without a row of it."""
        row = self.rows.get(metric)
        return None if row is None else row.median

    def flagged(self, flags: Iterable[Flag], metric: str | None = None) -> "Measurement":
        """Return the same with ``flags`` behind those of all rows, or of one metric's."""
        added = list(flags)
        if not added:
            return self
        rows = {
            name: row.model_copy(update={"flags": [*row.flags, *added]}) if metric in (None, name) else row
            for name, row in self.rows.items()
        }
        return replace(self, rows=rows)


MeasurementT = TypeVar("MeasurementT", bound=Measurement)


def measurements(
    launches: Launches, context: RowContext, labels: Mapping[str, str], quota: float | None = None
) -> list[Measurement]:
    """Return a measurement for each case, in the order in which cases were first met.

    Their rows have readable parameters and the flags of the clock.

    ``labels`` gives short names of libraries by path. ``quota``: of the control group, in CPUs; None: none.
    """
    wanted = replace(context, metrics=METRICS, accesses=())

    def tell(row: Row, source: Source) -> dict[str, Scalar] | None:
        params = params_of(source.case, labels, source.run.layout.ranks)
        # Of the others nobody asks where their rest went.
        is_asked = row.metric not in (WAITED, STOLEN) or (params is not None and params["type"] == ROOF_TYPE)
        return params if is_asked else None

    told = told_rows(launches, wanted, tell, partial(with_cause, quota=quota))
    measured = grouped((item.case.case, item) for item in join(launches))
    rows = nested((row.case, row.metric, row) for row in told)
    found = [Measurement(of_case, measured[case]) for case, of_case in rows.items()]
    return [one.flagged(_clock_flags(one)) for one in found]


def with_rows(found: Sequence[Measurement], change: Callable[[list[Row]], Iterable[Row]]) -> list[Measurement]:
    """Return ``found`` with what ``change`` makes of all their rows, in their order."""
    changed = iter(change([row for one in found for row in one.rows.values()]))
    return [replace(one, rows={metric: next(changed) for metric in one.rows}) for one in found]


def params_of(case: CaseRecord, labels: Mapping[str, str], ranks: int = 1) -> dict[str, Scalar] | None:
    """Return those parameters of a case that are worth reading; None for a case that is no work of this suite.

    ``threads`` are those of all ``ranks``.
    """
    given = case.workload_parameters
    if case.workload == WORKLOAD:
        return {name: _scalar(given, name) for name in ("isa", "type", "operation", "threads")}
    if case.workload in (GEMM, SOLVE, DISTRIBUTED):
        return {
            "operation": case.workload,
            "type": str(given.get("type", "fp64")),
            "threads": ranks * count_of(given, "threads", 1),
            "n": _scalar(given, "n"),
            "library": labels.get(path := str(given.get("library", "")), Path(path).name),
            "core": str(given.get("core", "")) or CHOSEN,
        }
    return None


def _scalar(parameters: Parameters, name: str) -> Scalar:
    value = parameters.get(name, 1 if name == "threads" else "")
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _clock_flags(measurement: Measurement) -> list[Flag]:
    flags: list[Flag] = []
    apart = measurement.gauge("clock_disagreement")
    if apart is not None and apart > _MOST_DISAGREEMENT:
        text = f"the two chains that tell the clock differ by {percent(apart, 1)}: it changed, or the core was shared"
        flags.append(Flag(code=CLOCK_DISAGREES, reason=text))
    loose = measurement.gauge("unpinned_threads")
    if loose:
        flags.append(Flag(code=UNPINNED, reason=f"{loose:g} threads could not be bound to a CPU"))
    return flags


CLOCK_RATIO = "clock_ratio"
RATE_RATIO = "rate_ratio"
THREAD_RATIO = "thread_ratio"
CORE_SHARE = "core_share"
_WIDE = "avx512"
_MATRIX = "amx"
_SPECIAL = ("int8", "bf16")
_RATE = "compute_rate"
# All ratios of a run hold together at 95 %, up to 50 of them.
_LEVEL: Final = 0.999
_OF_ROWS: Final = 0.95


def ratio_rows(found: Iterable[Measurement]) -> list[Row]:
    """Return the rows that follow from others.

    For each type's best kernel they give the rate of k threads over that of one.
    """
    kernels = [one for one in found if one.is_kernel]
    pairs = [
        pair for _, same in sorted(grouped((one.threads, one) for one in kernels).items()) for pair in _compared(same)
    ]
    for best in best_of_types(kernels):
        first, *others = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        pairs += [(THREAD_RATIO, _RATE, one, first) for one in others if first.threads == 1]
    shared = [row for one in kernels if one.threads > 1 for row in _core_share(one, kernels)]
    return [*(row for pair in pairs for row in _ratio(*pair)), *shared]


def _core_share(one: Measurement, kernels: Iterable[Measurement]) -> list[Row]:
    """Return what a core does of its instructions a cycle alone when all do: in the best windows, free of others.

    Only of the FMA in double precision, repetition by repetition.
    """
    alone = next((other for other in kernels if other.name == one.name and other.threads == 1), None)
    if alone is None or one.params["type"] != ROOF_TYPE or one.params["operation"] != "fma":
        return []
    sides = [(side.rows.get("best_compute_rate"), side.rows.get("clock")) for side in (one, alone)]
    cycles: list[list[float]] = []
    for best, clock in sides:
        if best is None or clock is None or min(clock.repetitions) <= 0:
            return []
        cycles.append([rate / hz for rate, hz in zip(best.repetitions, clock.repetitions, strict=False)])
    values = [all_ / one.threads / single for all_, single in zip(*cycles, strict=False)]
    grade = worst_grade((one.first.grade, alone.first.grade))
    params = {**one.params, "over": f"{one.name} with 1 thread"}
    frame = RowFrame(CORE_SHARE, "x", one.first.target, params, grade=grade)
    made = frame.row(values, _OF_ROWS)
    return [
        made.model_copy(update={"notes": ["instructions a cycle of the best windows, per thread, over those alone"]})
    ]


def _compared(same: Sequence[Measurement]) -> Iterator[tuple[str, str, Measurement | None, Measurement | None]]:
    """Yield what is compared at a thread count: the metric of the ratio, that of both sides, and both.

    They are the clock of the FMA in double precision under AVX-512 and under scalar instructions, AMX and the fastest
    vector kernel of its type, and the dots of each short type and single precision.
    """
    named = {one.name: one for one in same}
    yield CLOCK_RATIO, "clock", named.get(f"{_WIDE}/fp64/fma"), named.get(f"{NARROW}/fp64/fma")
    base = best_of(one for one in same if one.params["type"] == "fp32")
    if base is None:
        return
    vectors = grouped((one.params["type"], one) for one in same if one.params["isa"] != _MATRIX)
    for best in best_of_types(one for one in same if one.params["isa"] == _MATRIX):
        yield RATE_RATIO, _RATE, best, best_of(vectors.get(best.params["type"], []))
    for type_ in _SPECIAL:
        dots = (one for one in same if one.params["type"] == type_ and one.params["operation"] == "dot")
        yield RATE_RATIO, _RATE, best_of(dots), base


def best_of_types(found: Iterable[MeasurementT]) -> list[MeasurementT]:
    """Return the fastest measurement of each type, whatever its thread count."""
    types = grouped((one.params["type"], one) for one in found)
    return [best for of_type in types.values() if (best := best_of(of_type)) is not None]


def best_of(found: Iterable[MeasurementT]) -> MeasurementT | None:
    """Return the fastest measurement that is not INVALID, or None without one."""
    valid = [one for one in found if one.rate is not None and not one.rate.is_invalid]
    return max(valid, key=lambda one: one.value("compute_rate") or 0.0, default=None)


def _ratio(metric: str, of: str, first: Measurement | None, second: Measurement | None) -> list[Row]:
    """Return ``first`` over ``second`` with the interval of their comparison, where both carry one."""
    if first is None or second is None or first is second:
        return []
    a, b = first.rows.get(of), second.rows.get(of)
    if a is None or b is None or b.median <= 0:
        return []
    over = f"{second.name} with {second.threads} thread{'s' if second.threads > 1 else ''}"
    found = compare_rows(a, b, _LEVEL)
    return [
        Row(
            metric=metric,
            unit="x",
            better="more",
            target=a.target,
            params={**a.params, "over": over},
            median=a.median / b.median,
            low=found.low,
            high=found.high,
            repetitions=[a.median / b.median],
            verdict="none",
            notes=[f"{of} of {first.name} over that of {over}: two medians, interval at {percent(_LEVEL, 1)}"],
            grade=worst_grade((a.grade, b.grade)),
        )
    ]


ROOF_TYPE: Final = "fp64"
# A reading may lie above a rate by so much, by the noise of two clocks.
_ABOVE: Final = 1.05
# From here on rates are multiples of a half (two ports serve most; some kernels alternate); below, one in k cycles.
_HALVES_FROM: Final = 0.75
_SLOWEST: Final = 64
# No core starts more a cycle: x86 cores of 2024 have at most 2 pipes for multiplications (uops.info), 4 for integer and
# 6 for scalar additions; Arm's Neoverse V has 4 for each.
_MOST_X86: Final = {"add": 4.0}
_MOST_X86_USUAL: Final = 2.0
_MOST_SCALAR_ADD: Final = 6.0
_MOST_OTHERS: Final = 4.0
_OTHERS: Final = frozenset({"neon", "sve", "portable"})


def with_ceilings(found: Iterable[Measurement], machine: MachineFile | None, cores: int | None) -> list[Measurement]:
    """Return the measurements with ceiling and share of their rates, and a flag on each rate above its ceiling.

    ``cores`` is the number of usable physical cores, which more threads do not raise; None if it is not known.
    """
    all_ = list(found)
    issue, narrow = issue_rates(all_), narrow_clock(all_)
    kernels = [_with_ceiling(one, _of_kernel(one, machine, cores, issue, narrow)) for one in all_ if one.is_kernel]
    roofs = fp64_roofs(kernels)
    others = [_with_ceiling(one, _of_library(one, machine, roofs)) for one in all_ if not one.is_kernel]
    return [*kernels, *others]


def narrow_clock(found: Iterable[Measurement]) -> float:
    """Return the clock of one thread with scalar instructions; 0 where no sound row tells it.

    Wide units and busy neighbours lower it. That is part of the gap below a ceiling, not of the ceiling.
    """
    rows = (one.rows.get("clock") for one in found if one.name == f"{NARROW}/{ROOF_TYPE}/fma" and one.threads == 1)
    return max((row.median for row in rows if row is not None and _carries(row)), default=0.0)


def issue_rates(found: Iterable[Measurement]) -> dict[str, float]:
    """Return by kernel the instructions a cycle that the ports can start, rounded.

    They are those of the shortest windows with any thread count.

    What disturbs a window makes it longer, so the shortest is nearest to what the core can do.
    """
    seen: dict[str, float] = {}
    for one in found:
        each = _operations_each(one)
        if one.is_kernel and each is not None:
            seen[one.name] = max(seen.get(one.name, 0.0), _best_rate(one, each))
    return {name: min(rounded_rate(value), _most(name)) for name, value in seen.items() if value > 0}


def _best_rate(one: Measurement, operations_each: float) -> float:
    """Return a thread's instructions a cycle in the best window; the usual ones, or 0, where that is not known."""
    best, clock = one.rows.get("best_compute_rate"), one.value("clock")
    usual = one.value("instructions_per_cycle") or 0.0
    if best is None or clock is None:
        return usual
    return max(best.repetitions) / (one.threads * clock * operations_each)


def rounded_rate(seen: float) -> float:
    """Round to the nearest half, or below 3/4 to one in k cycles or two in three, but never clearly below ``seen``."""
    slow = [2 / 3, *(1 / k for k in range(2, _SLOWEST + 1))]
    halves = [step / 2 for step in range(2, 17)]
    candidates = halves if seen >= _HALVES_FROM else [*slow, 1.0]
    allowed = [value for value in candidates if seen <= _ABOVE * value] or [max(candidates)]
    return min(allowed, key=lambda value: abs(value - seen))


def _most(name: str) -> float:
    isa, _, operation = name.split("/")
    if isa in _OTHERS:
        return _MOST_OTHERS
    if isa == "scalar" and operation == "add":
        return _MOST_SCALAR_ADD
    return _MOST_X86.get(operation, _MOST_X86_USUAL)


def _of_kernel(
    one: Measurement, machine: MachineFile | None, cores: int | None, issue: Mapping[str, float], narrow_hz: float
) -> Ceiling | None:
    declared = compute_ceiling(machine, one.name, one.threads)
    if declared is not None:
        return declared
    clock, rate, each = one.value("clock"), issue.get(one.name), _operations_each(one)
    if clock is None or rate is None or each is None:
        return None
    used, clock = one.threads if cores is None else min(one.threads, cores), max(clock, narrow_hz)
    text = (
        f"{used} core{'s' if used > 1 else ''} x {clock / 1e9:.2f} GHz measured x {_rate_text(rate)} "
        f"x {each:g} operations"
    )
    return Ceiling(value=used * clock * rate * each, kind="detected", source=text)


def _operations_each(one: Measurement) -> float | None:
    """Return the operations of one instruction, by the counts of the records; None without them."""
    operations, instructions = one.gauge("operations"), one.gauge("instructions")
    return None if not operations or not instructions else round(operations / instructions, 3)


def _rate_text(rate: float) -> str:
    if rate >= 1:
        return f"{rate:g} instruction{'s' if rate > 1 else ''} a cycle"
    if abs(rate - 2 / 3) < 1e-9:
        return "2 instructions in 3 cycles"
    return f"1 instruction in {round(1 / rate)} cycles"


def fp64_roofs(found: Iterable[Measurement]) -> dict[int, Row]:
    """Return by thread count the rate of the fastest kernel in double precision, sound and with enough repetitions."""
    kernels = (one for one in found if one.is_kernel and one.params["type"] == ROOF_TYPE)
    rates = grouped((one.threads, one.rate) for one in kernels if one.rate is not None and _carries(one.rate))
    return {threads: max(some, key=lambda row: row.median) for threads, some in rates.items()}


def _carries(rate: Row) -> bool:
    return is_sound(rate) and len(rate.repetitions) >= FEWEST_SAMPLES


def _of_library(one: Measurement, machine: MachineFile | None, roofs: Mapping[int, Row]) -> Ceiling | None:
    """Return the declared ceiling, else that of our own best kernel on the same cores; None for types but fp64."""
    if one.params["type"] != ROOF_TYPE:
        return None
    declared = compute_ceiling(machine, ROOF_TYPE, one.threads)
    if declared is not None:
        return declared
    if (roof := roofs.get(one.threads)) is None:
        return None
    name = "/".join(roof.word(key) for key in _IDENTITY)
    text = f"fastest of our own kernels in double precision on the same cores: {name}"
    return Ceiling(value=roof.median, kind="empirical", source=text)


def _with_ceiling(one: Measurement, ceiling: Ceiling | None) -> Measurement:
    rate = one.rate
    if ceiling is None or rate is None:
        return one
    return Measurement({**one.rows, rate.metric: with_ceiling(rate, ceiling)}, one.measured)
