# SPDX-License-Identifier: Apache-2.0
"""What the cores in use could do at most, and how much of it each row reached. Pure.

A kernel's ceiling: cores x clock measured beside the row x instructions a cycle x operations of an instruction. The
instructions a cycle are those seen, rounded to what execution ports can do: no table of processors is asked.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ullage.analysis.ceilings.declared import compute_ceiling
from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, with_ceiling
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.machine import MachineFile
from ullage.model.summary import Ceiling
from ullage.suites.cpu.rows import Measurement

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
    issue = issue_rates(all_)
    kernels = [_with_ceiling(one, _of_kernel(one, machine, cores, issue)) for one in all_ if one.is_kernel]
    roofs = fp64_roofs(kernels)
    others = [_with_ceiling(one, _of_library(one, machine, roofs)) for one in all_ if not one.is_kernel]
    return [*kernels, *others]


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
    one: Measurement, machine: MachineFile | None, cores: int | None, issue: Mapping[str, float]
) -> Ceiling | None:
    declared = compute_ceiling(machine, one.name, one.threads)
    if declared is not None:
        return declared
    clock, rate, each = one.value("clock"), issue.get(one.name), _operations_each(one)
    if clock is None or rate is None or each is None:
        return None
    used = one.threads if cores is None else min(one.threads, cores)
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


def fp64_roofs(found: Iterable[Measurement]) -> dict[int, Measurement]:
    """Return by thread count the fastest kernel in double precision with a sound rate and enough repetitions."""
    roofs: dict[int, Measurement] = {}
    for one in found:
        rate = one.rate
        if not one.is_kernel or one.params["type"] != ROOF_TYPE or rate is None:
            continue
        if not is_sound(rate) or len(rate.repetitions) < FEWEST_SAMPLES:
            continue
        known = roofs.get(one.threads)
        if known is None or rate.median > (known.value("compute_rate") or 0):
            roofs[one.threads] = one
    return roofs


def _of_library(one: Measurement, machine: MachineFile | None, roofs: Mapping[int, Measurement]) -> Ceiling | None:
    """Return the declared ceiling, else that of our own best kernel on the same cores; None for types but fp64."""
    if one.params["type"] != ROOF_TYPE:
        return None
    declared = compute_ceiling(machine, ROOF_TYPE, one.threads)
    if declared is not None:
        return declared
    roof = roofs.get(one.threads)
    if roof is None or roof.rate is None:
        return None
    text = f"fastest of our own kernels in double precision on the same cores: {roof.name}"
    return Ceiling(value=roof.rate.median, kind="empirical", source=text)


def _with_ceiling(one: Measurement, ceiling: Ceiling | None) -> Measurement:
    rate = one.rate
    if ceiling is None or rate is None:
        return one
    return Measurement({**one.rows, rate.metric: with_ceiling(rate, ceiling)}, one.measured)
