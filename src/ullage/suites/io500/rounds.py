# SPDX-License-Identifier: Apache-2.0
"""Which phases a result still lacks, and which must be made again because what they left is gone. Pure over documents.

A round is one pass over all phases on one target. It may have taken several launches, when it was interrupted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ullage.model.plan import Plan, Target
from ullage.model.record import CaseRecord, PhaseRecord, RunRecord
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.planning import Step, phase_of_case

# find looks at everything that lies there then; the other phases at their own dataset only.
_SEARCHED: Final = ("ior-easy", "mdtest-easy", "timestamp", "ior-hard", "mdtest-hard")


@dataclass(frozen=True)
class Attempt:
    """One repetition of one phase; the records of its case, in which the case record says how it ended."""

    phase: OfficialPhase
    launch: int
    run: RunRecord
    case: CaseRecord
    phases: tuple[PhaseRecord, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it went well."""
        return self.case.status == "ok"

    @property
    def scored(self) -> PhaseRecord | None:
        """The phase record that the official phase's value comes from."""
        return next((record for record in self.phases if record.phase == self.phase.scored_phase), None)


@dataclass
class Round:
    """All attempts of one round on one target, in their order."""

    target: Target
    number: int
    attempts: list[Attempt] = field(default_factory=list[Attempt])

    def counted(self) -> dict[str, Attempt]:
        """Return by phase the first attempt that went well, else the last; what is made again does not count twice."""
        found: dict[str, Attempt] = {}
        for attempt in self.attempts:
            known = found.get(attempt.phase.name)
            if known is None or not known.is_whole:
                found[attempt.phase.name] = attempt
        return found

    @property
    def done(self) -> set[str]:
        """Phases that went well."""
        return {attempt.phase.name for attempt in self.attempts if attempt.is_whole}

    @property
    def again(self) -> list[str]:
        """Phases that went well more than once."""
        whole = [attempt.phase.name for attempt in self.attempts if attempt.is_whole]
        return [name for name in dict.fromkeys(whole) if whole.count(name) > 1]


def read_rounds(result: ResultFolder) -> list[Round]:
    """Return every round that any launch of ``result`` belongs to, by target and number."""
    records = {_number(file.path): file.records for file in result.read_records()}
    rounds: dict[tuple[str, int], Round] = {}
    for launch in result.launches():
        plan = result.read_plan(launch)
        target = plan.targets[0]
        found = rounds.setdefault((target.name, plan.seed - 1), Round(target, plan.seed - 1))
        found.attempts.extend(_attempts(plan, launch, records.get(launch, ())))
    return list(rounds.values())


def _number(path: Path) -> int:
    return int(path.stem)


def _attempts(plan: Plan, launch: int, records: Iterable[AnyRecord]) -> list[Attempt]:
    official = {case.id: phase_of_case(case, phases_of("extended")) for case in plan.cases}
    run: RunRecord | None = None
    waiting: list[PhaseRecord] = []
    found: list[Attempt] = []
    for record in records:
        match record:
            case RunRecord():
                run, waiting = record, []
            case PhaseRecord():
                waiting.append(record)
            case CaseRecord() if run is not None:
                phase = official.get(record.case)
                own = tuple(one for one in waiting if one.case == record.case)
                if phase is not None:
                    found.append(Attempt(phase, launch, run, record, own))
                waiting = []
            case _:
                pass
    return found


@dataclass(frozen=True)
class Rest:
    """What is left of a round: ``steps`` to run in official order, of which those in ``again`` only make data anew."""

    steps: list[Step]
    again: list[str]


def rest_of(steps: Sequence[Step], done: set[str], there: set[str]) -> Rest:
    """Return what ``done`` and ``there`` leave to do; what a phase needs and is not there is made again.

    The timestamp must be older than what find looks for, so with it mdtest-hard is made again. The other way round,
    mdtest-hard could be made without a new timestamp.
    """
    if not done:
        return Rest(list(steps), [])
    lacking = [step for step in steps if step.phase.name not in done]
    needed = {name for step in lacking for name in _needs(step.phase)}
    missing = {name for name in needed if name not in there}
    if "timestamp" in missing and "mdtest-hard" in needed:
        missing.add("mdtest-hard")
    again = {step.phase.name for step in steps if step.phase.name in done and _makes(step.phase) in missing}
    wanted = {step.phase.name for step in lacking} | again
    return Rest(
        [step for step in steps if step.phase.name in wanted], [s.phase.name for s in steps if s.phase.name in again]
    )


def _makes(phase: OfficialPhase) -> str:
    makers = {"write", "tree-create", "precreate", "timestamp"}
    return phase.dataset if phase.engine_phases[0] in makers else ""


def _needs(phase: OfficialPhase) -> tuple[str, ...]:
    match phase.name:
        case "find":
            return _SEARCHED
        case "find-easy":
            return ("mdtest-easy",)
        case "find-hard":
            return ("timestamp", "mdtest-hard")
        case _:
            return () if _makes(phase) else (phase.dataset,)
