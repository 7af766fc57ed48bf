# SPDX-License-Identifier: Apache-2.0
"""What voids a phase, and which phases void the run: the official rules, and the holes they leave.

The official tool lets a run stand whose metadata phases met errors or read wrong data, or whose find missed files; and
it lets its unscored pilot void the run. Here it is the other way round.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from ullage.model.flags import Flag
from ullage.suites.io500.phases import Mode, OfficialPhase, phases_of
from ullage.units import format_time

STONEWALL_S: Final = 300.0
COMPETITION_STONEWALL_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """What was asked of the whole run. ``competition``: the student cluster competition, whose wall stands at 30 s."""

    stonewall_s: float = STONEWALL_S
    competition: bool = False
    dry_run: bool = False
    pause_folder: str = ""
    files_per_directory: int = 0

    @property
    def required_s(self) -> float:
        """The wall that the rules ask for."""
        return COMPETITION_STONEWALL_S if self.competition else STONEWALL_S


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of one phase of one round; every default stands for "nothing wrong" or "not known".

    ``value`` in bytes/s or operations/s, null when the phase left none; ``elapsed_s`` from its start to its end,
    ``transfer_s`` the part of it in which data moved, where that is stamped apart; ``wanted``: the least number that
    find must find; ``flags`` as of a row; ``further``: reasons of the caller's own, predicates of the phase.
    """

    value: float | None
    elapsed_s: float | None = None
    transfer_s: float | None = None
    failed_operations: int = 0
    first_failure: str = ""
    bad_blocks: int = 0
    found: int | None = None
    wanted: int | None = None
    wear_out_cut: bool = False
    flags: tuple[Flag, ...] = ()
    why_not_run: str = ""
    further: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Validity:
    """Says what does not count, and why.

    ``phases``: reasons by phase, those of all phases that have one. ``run``: by mode; empty means valid.
    """

    phases: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    run: dict[Mode, tuple[str, ...]] = field(default_factory=dict[Mode, tuple[str, ...]])

    def is_valid(self, mode: Mode = "standard") -> bool:
        """Tell whether the score of ``mode`` stands."""
        return not self.run.get(mode)


def judge_run(outcomes: Mapping[str, Outcome], conditions: Conditions, mode: Mode = "standard") -> Validity:
    """Apply every rule to all phases of ``mode``, by their official names.

    A phase that is not there did not run, except that nobody misses a pilot.

    A void phase voids the scores that it counts in or leads to. The pilot voids itself only, and a phase of the
    extended mode only the extended score.
    """
    found = {
        phase.name: phase_reasons(phase, outcomes.get(phase.name, Outcome(None)), conditions)
        for phase in phases_of(mode)
        if phase.name in outcomes or not phase.pilot
    }
    phases = {name: reasons for name, reasons in found.items() if reasons}
    conditional = condition_reasons(conditions)
    modes: tuple[Mode, ...] = ("standard", "extended") if mode == "extended" else ("standard",)
    run: dict[Mode, tuple[str, ...]] = {one: (*conditional, *_of_phases(phases, one)) for one in modes}
    return Validity(phases, run)


def _of_phases(phases: Mapping[str, tuple[str, ...]], mode: Mode) -> list[str]:
    counted = {phase.name for phase in phases_of(mode) if not phase.pilot}
    return [f"{name} {reason}" for name, reasons in phases.items() if name in counted for reason in reasons]


def merge(rounds: list[Validity]) -> Validity:
    """Merge the validity of several rounds of a run: what voids one round voids all, each reason once."""
    phases: dict[str, dict[str, None]] = {}
    run: dict[Mode, dict[str, None]] = {}
    for one in rounds:
        for name, reasons in one.phases.items():
            phases.setdefault(name, {}).update(dict.fromkeys(reasons))
        for mode, reasons in one.run.items():
            run.setdefault(mode, {}).update(dict.fromkeys(reasons))
    return Validity({name: tuple(said) for name, said in phases.items()}, {m: tuple(said) for m, said in run.items()})


def condition_reasons(conditions: Conditions) -> list[str]:
    """Return what voids a run by the way in which it was asked for, before any phase has run."""
    reasons: list[str] = []
    required = conditions.required_s
    if conditions.stonewall_s != required:
        side = "below" if conditions.stonewall_s < required else "above"
        reasons.append(f"the stonewall of {conditions.stonewall_s:g} s is {side} the {required:g} s of the rules")
    if conditions.dry_run:
        reasons.append("it was a dry run")
    if conditions.pause_folder:
        reasons.append(f"it could be paused (pause-dir {conditions.pause_folder})")
    if conditions.files_per_directory:
        reasons.append(f"files-per-dir was set to {conditions.files_per_directory}")
    return reasons


def phase_reasons(phase: OfficialPhase, outcome: Outcome, conditions: Conditions) -> tuple[str, ...]:
    """Return what voids ``phase``, as predicates of it (``met 3 failed operations``); nothing when it is valid."""
    return (
        *_value_reasons(phase, outcome),
        *_time_reasons(phase, outcome, conditions),
        *_data_reasons(outcome),
        *_find_reasons(phase, outcome),
        *_measuring_reasons(outcome),
        *outcome.further,
    )


def _value_reasons(phase: OfficialPhase, outcome: Outcome) -> list[str]:
    if outcome.value is None and (phase.scored_phase or outcome.why_not_run):
        return [f"did not run{f': {outcome.why_not_run}' if outcome.why_not_run else ''}"]
    return ["has a rate of 0"] if phase.scored_phase and outcome.value == 0 else []


def _time_reasons(phase: OfficialPhase, outcome: Outcome, conditions: Conditions) -> list[str]:
    """Compare times with the wall that was asked for.

    A wall below that of the rules voids the run, not every phase of it.
    """
    if not phase.needs_minimum_time:
        return []
    least = conditions.stonewall_s
    for what, seconds in (("ran", outcome.elapsed_s), ("moved data for", outcome.transfer_s)):
        if seconds is not None and seconds < least:
            return [f"{what} {format_time(seconds)} only, less than the stonewall of {least:g} s"]
    return []


def _data_reasons(outcome: Outcome) -> list[str]:
    reasons: list[str] = []
    if outcome.bad_blocks:
        reasons.append(f"read {outcome.bad_blocks:,} bad {'block' if outcome.bad_blocks == 1 else 'blocks'}")
    if outcome.failed_operations or outcome.first_failure:
        count = max(outcome.failed_operations, 1)
        first = f", the first: {outcome.first_failure}" if outcome.first_failure else ""
        reasons.append(f"met {count:,} failed {'operation' if count == 1 else 'operations'}{first}")
    return reasons


def _find_reasons(phase: OfficialPhase, outcome: Outcome) -> list[str]:
    if phase.workload != "find" or outcome.found is None:
        return []
    if outcome.wanted is not None and outcome.found < outcome.wanted:
        return [f"found {outcome.found:,} of the {outcome.wanted:,} files that match"]
    return ["found nothing"] if phase.scored and outcome.found == 0 else []


def _measuring_reasons(outcome: Outcome) -> list[str]:
    reasons: list[str] = []
    if outcome.wear_out_cut:
        reasons.append("was cut short in its wear-out: the ranks did not all do the same work")
    broken = [flag.detail.replace("-", " ") for flag in outcome.flags if flag.is_invalid]
    reasons.extend(f"cannot be right: {what or 'a limit of physics is broken'}" for what in broken)
    return reasons


def files_to_find(first_rank: int, last_rank: int, items: int) -> int:
    """Count the files ``file.mdtest.RANK.ITEM`` that have ``01`` in their name, as find is asked for.

    Ranks go from ``first_rank`` up to but not including ``last_rank``, each with items 0 to ``items`` - 1. The count
    takes time for the ranks only, as the items of all ranks are counted by their digits.
    """
    ranks = sum("01" in str(rank) for rank in range(first_rank, last_rank))
    return ranks * items + (last_rank - first_rank - ranks) * _numbers_with_01(items)


@cache
def _numbers_with_01(end: int) -> int:
    """Count the numbers below ``end`` with the digits 01 side by side.

    A number has them when it has without its last digit, or when that is 1 and the one before, not the first, is 0.
    """
    if end <= 100:
        return 0
    tens, last = divmod(end, 10)
    hundreds = (tens + 9) // 10
    ending_in_0 = hundreds - 1 - _numbers_with_01(hundreds)
    of_the_last_ten = last if "01" in str(tens) else int(tens % 10 == 0 and last > 1)
    return 10 * _numbers_with_01(tens) + ending_in_0 + of_the_last_ten
