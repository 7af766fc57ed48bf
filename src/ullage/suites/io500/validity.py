# SPDX-License-Identifier: Apache-2.0
"""What voids a phase, and which phases void the run: the official rules, and the holes they leave.

The official tool lets a run stand whose metadata phases met errors or read wrong data, or whose find missed files; and
it lets its unscored pilot void the run. Here it is the other way round.

A printed table is also held against its own arithmetic: phases on one dataset handle the items that its write has made.
The time that a phase prints is longer than what its rate was measured over: it may hold the removal of a tree, a sleep,
a second pass. So rate x time is the most that a phase has handled, and only a phase with fewer than the write has made
contradicts it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.grouping import grouped
from ullage.model.flags import Flag
from ullage.model.summary import Finding
from ullage.quantity import listing, plural
from ullage.suites.io500.phases import BY_NAME, Mode, OfficialPhase, modes_of, phases_of
from ullage.units import format_time, format_volume

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

    @property
    def reasons(self) -> list[str]:
        """What voids a run by the way in which it was asked for, before any phase has run."""
        reasons: list[str] = []
        if self.stonewall_s != self.required_s:
            side = "below" if self.stonewall_s < self.required_s else "above"
            reasons.append(f"the stonewall of {self.stonewall_s:g} s is {side} the {self.required_s:g} s of the rules")
        if self.dry_run:
            reasons.append("it was a dry run")
        if self.pause_folder:
            reasons.append(f"it could be paused (pause-dir {self.pause_folder})")
        if self.files_per_directory:
            reasons.append(f"files-per-dir was set to {self.files_per_directory}")
        return reasons


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

    @property
    def is_short(self) -> bool:
        """Whether find missed files."""
        return self.found is not None and self.wanted is not None and self.found < self.wanted

    @property
    def is_wrong(self) -> bool:
        """Whether an operation failed, data came back wrong or find missed files."""
        return self.is_short or bool(self.bad_blocks or self.failed_operations or self.first_failure)


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
    run: dict[Mode, tuple[str, ...]] = {}
    for one in modes_of(mode):
        counted = [phase.name for phase in phases_of(one) if not phase.pilot]
        said = [f"{name} {reason}" for name in counted for reason in phases.get(name, ())]
        run[one] = (*conditions.reasons, *said)
    return Validity(phases, run)


def merge(rounds: list[Validity]) -> Validity:
    """Merge the validity of several rounds of a run: what voids one round voids all, each reason once."""
    phases = grouped((name, why) for one in rounds for name, said in one.phases.items() for why in said)
    run = grouped((mode, why) for one in rounds for mode, said in one.run.items() for why in said)
    return Validity(
        {name: tuple(dict.fromkeys(said)) for name, said in phases.items()},
        {mode: tuple(dict.fromkeys(said)) for mode, said in run.items()},
    )


def phase_reasons(phase: OfficialPhase, outcome: Outcome, conditions: Conditions) -> tuple[str, ...]:
    """Return what voids ``phase``, as predicates of it (``met 3 failed operations``); nothing when it is valid."""
    broken = [flag.detail.replace("-", " ") for flag in outcome.flags if flag.is_invalid]
    return (
        *_value_reasons(phase, outcome),
        *_time_reasons(phase, outcome, conditions),
        *_data_reasons(outcome),
        *_find_reasons(phase, outcome),
        *(["was cut short in its wear-out: the ranks did not all do the same work"] if outcome.wear_out_cut else []),
        *(f"cannot be right: {what or 'a limit of physics is broken'}" for what in broken),
        *outcome.further,
    )


def _value_reasons(phase: OfficialPhase, outcome: Outcome) -> list[str]:
    if outcome.value is None and (phase.scored_phase or outcome.why_not_run):
        return [f"did not run{f': {outcome.why_not_run}' if outcome.why_not_run else ''}"]
    return ["has a rate of 0"] if phase.scored_phase and outcome.value == 0 else []


def _time_reasons(phase: OfficialPhase, outcome: Outcome, conditions: Conditions) -> list[str]:
    """Compare times with the wall asked for: one below that of the rules voids the run, not every phase of it."""
    least = conditions.stonewall_s
    for what, seconds in (("ran", outcome.elapsed_s), ("moved data for", outcome.transfer_s)):
        if phase.needs_minimum_time and seconds is not None and seconds < least:
            return [f"{what} {format_time(seconds)} only, less than the stonewall of {least:g} s"]
    return []


def _data_reasons(outcome: Outcome) -> Iterator[str]:
    if outcome.bad_blocks:
        yield f"read {plural(outcome.bad_blocks, 'bad block')}"
    if outcome.failed_operations or outcome.first_failure:
        count = max(outcome.failed_operations, 1)
        first = f", the first: {outcome.first_failure}" if outcome.first_failure else ""
        yield f"met {plural(count, 'failed operation')}{first}"


def _find_reasons(phase: OfficialPhase, outcome: Outcome) -> list[str]:
    if phase.workload != "find" or outcome.found is None:
        return []
    if outcome.is_short:
        return [f"found {outcome.found:,} of the {outcome.wanted:,} files that match"]
    return ["found nothing"] if phase.scored and outcome.found == 0 else []


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


# A phase that was cut by its time and completed afterwards has handled up to this many times what its rate says.
_MOST_APART: Final = 2.0
# The time of a write holds the making of its tree and a sync: so much more than others it may seem to have handled.
_SURELY_MORE: Final = 1.5
# mdtest sleeps so long in each phase before it begins to measure.
_ASLEEP_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Phases of ``dataset``, and bytes or items that each of them handled by its own rate and time."""

    dataset: str
    amounts: Mapping[str, float]

    @property
    def text(self) -> str:
        """``mdtest-easy-write 4,760,000,000 items and mdtest-easy-stat 213,000,000 items``."""
        return listing([f"{name} {_amount(name, value)}" for name, value in self.amounts.items()], len(self.amounts))


def contradictions(printed: Mapping[str, tuple[float, float]]) -> list[Contradiction]:
    """Return the datasets whose phases cannot all be right; ``printed`` gives SI rate and seconds of each phase."""
    datasets: dict[str, dict[str, float]] = {}
    made: dict[str, float] = {}
    for name, (rate, seconds) in printed.items():
        phase = BY_NAME[name]
        if phase.scored_phase and phase.workload in {"transfer", "metadata"} and rate > 0 and seconds > 0:
            datasets.setdefault(phase.dataset, {})[name] = rate * seconds
            if phase.scored_phase in {"write", "create"}:
                made[phase.dataset] = rate * max(seconds - _ASLEEP_S, 0.0)
    return [
        Contradiction(dataset, amounts)
        for dataset, amounts in datasets.items()
        if max(amounts.values()) > _MOST_APART * min(amounts.values())
        and made.get(dataset, 0.0) > _SURELY_MORE * min(amounts.values())
    ]


def doubted(found: list[Contradiction]) -> frozenset[str]:
    """Return the phases on which no sentence may rest, as it cannot be told which of a dataset's is wrong."""
    return frozenset(name for one in found for name in one.amounts)


def score_reason(found: list[Contradiction]) -> list[str]:
    """Return what stands beside the score: which datasets contradict themselves; nothing without any."""
    if not found:
        return []
    names = listing([one.dataset for one in found], len(found))
    return [f"rate x time of the phases on {names} does not agree: the score counts these rates as printed"]


def arithmetic_findings(found: list[Contradiction], target: str) -> list[Finding]:
    """Return one finding for each dataset that contradicts itself."""
    lead = f"{target}: " if target else ""
    return [
        finding(
            "io500-arithmetic",
            f"{lead}{'the' if lead else 'The'} phases on {one.dataset} contradict each other",
            f"{lead}the phases on {one.dataset} handle the same items, but their rate x time does not agree: "
            f"{one.text}. The score counts their rates as printed. No finding rests on these phases.",
            "warning",
            target=target,
            dataset=one.dataset,
            phase=list(one.amounts),
            amount=list(one.amounts.values()),
        )
        for one in found
    ]


def _amount(name: str, value: float) -> str:
    return format_volume(round(value)) if BY_NAME[name].is_bandwidth else f"{float(f'{value:.3g}'):,.0f} items"
