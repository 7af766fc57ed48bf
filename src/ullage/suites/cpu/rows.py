# SPDX-License-Identifier: Apache-2.0
"""Rows of a cpu run by what sets them apart: kernel and threads, or product, library, size and threads. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

from ullage.analysis.ceilings.declared import compute_ceiling
from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, with_ceiling
from ullage.analysis.ladders import STOLEN, WAITED
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped, nested
from ullage.model.flags import UNPINNED, Flag
from ullage.model.machine import MachineFile
from ullage.model.plan import Parameters, Scalar
from ullage.model.record import CaseRecord
from ullage.model.summary import Ceiling, Row
from ullage.parameters import count_of
from ullage.quantity import percent
from ullage.report.grids import PhaseLine
from ullage.results.rows import Measured, RowContext, join
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


def best_of_types(found: Iterable[MeasurementT]) -> list[MeasurementT]:
    """Return the fastest measurement of each type, whatever its thread count."""
    types = grouped((one.params["type"], one) for one in found)
    return [best for of_type in types.values() if (best := best_of(of_type)) is not None]


def best_of(found: Iterable[MeasurementT]) -> MeasurementT | None:
    """Return the fastest measurement that is not INVALID, or None without one."""
    valid = [one for one in found if one.rate is not None and not one.rate.is_invalid]
    return max(valid, key=lambda one: one.value("compute_rate") or 0.0, default=None)


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
