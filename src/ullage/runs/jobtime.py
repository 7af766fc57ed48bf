# SPDX-License-Identifier: Apache-2.0
"""What fits into the time limit of a batch job: how many jobs a run takes, and which cases a launch can still finish.

A case that a job cannot finish is left whole for the next one, so that all of its repetitions are from the same nodes.
Only a case that no job could finish is divided by its repetitions.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from ullage.errors import EXIT_ABORTED, EXIT_OK, UserError
from ullage.launch.batch import clock, usable_seconds
from ullage.results.folder import write_atomically

if TYPE_CHECKING:
    from ullage.model.plan import Plan
    from ullage.runs.case_progress import RunProgress

# Besides its repetitions a launch takes so long, where it was not measured.
LAUNCH_S: Final = 1.0
_MINUTE_S: Final = 60


@dataclass(frozen=True)
class CaseWork:
    """What a case takes: so many ``repetitions`` of ``each_s`` seconds."""

    case: str
    each_s: float
    repetitions: int

    @property
    def all_s(self) -> float:
        """The seconds of all its repetitions."""
        return self.each_s * self.repetitions


@dataclass(frozen=True)
class Work:
    """What a run takes, launch by launch.

    ``is_firm``: a repetition never takes less, since it is made of windows of time. ``until_s``: so long the run may
    repeat cases beyond that, to narrow their intervals. ``unknown``: suites that cannot tell.
    """

    launches: Sequence[Sequence[CaseWork]]
    is_firm: bool = False
    until_s: float = 0.0
    unknown: tuple[str, ...] = ()


@runtime_checkable
class Costed(Protocol):
    """A prepared run that can tell what it takes before anything was measured."""

    def work(self) -> Work:
        """Return what the run takes."""
        ...


def joined(parts: Sequence[tuple[str, object]]) -> Work:
    """Return what several prepared suites take, each with its name, one after the other."""
    known = [part.work() for _, part in parts if isinstance(part, Costed)]
    return Work(
        [launch for one in known for launch in one.launches],
        is_firm=all(one.is_firm for one in known),
        until_s=sum(one.until_s for one in known),
        unknown=tuple(name for name, part in parts if not isinstance(part, Costed)),
    )


def choose(work: Sequence[CaseWork], left_s: float, whole_s: float) -> list[int]:
    """Return the indices of the cases to measure in ``left_s``.

    They are those that fit whole, in their order. Where none does, one that fits into no job (``whole_s``) begins, if
    a repetition of it fits.
    """
    found: list[int] = []
    used_s = 0.0
    for index, one in enumerate(work):
        if used_s + one.all_s <= left_s:
            found.append(index)
            used_s += one.all_s
    if found:
        return found
    return [index for index, one in enumerate(work) if one.all_s > whole_s and one.each_s <= left_s][:1]


def divide(work: Work, walltime_s: float) -> list[int]:
    """Return how many cases each job of that time limit finishes.

    Raise ``UserError`` where the longest repetition fits into none.
    """
    whole_s = usable_seconds(walltime_s)
    of_launches_s = whole_s - LAUNCH_S
    longest_s = max((one.each_s for launch in work.launches for one in launch), default=0.0)
    if longest_s > of_launches_s:
        raise too_long(longest_s, walltime_s)
    jobs, left_s = [0], whole_s
    for launch in work.launches:
        rest = list(launch)
        while rest:
            chosen = choose(rest, left_s - LAUNCH_S, of_launches_s)
            if not chosen:
                jobs.append(0)
                left_s = whole_s
                continue
            left_s -= LAUNCH_S
            rest, done, used_s = _after(rest, chosen, left_s)
            jobs[-1] += done
            left_s -= used_s
            if rest:
                jobs.append(0)
                left_s = whole_s
    return jobs


def most_jobs(work: Work, jobs: Sequence[int], walltime_s: float) -> int:
    """Return how many jobs of that limit a run takes at most that needs ``jobs`` at least."""
    whole_s = usable_seconds(walltime_s)
    return max(len(jobs), math.ceil(work.until_s / whole_s) if whole_s else 0)


def _after(work: list[CaseWork], chosen: Sequence[int], left_s: float) -> tuple[list[CaseWork], int, float]:
    """Return what is left after ``chosen`` was measured in ``left_s``, how many cases that finished, and its time."""
    used_s = sum(work[index].all_s for index in chosen)
    if used_s <= left_s:
        return [one for index, one in enumerate(work) if index not in chosen], len(chosen), used_s
    (index,) = chosen
    one = work[index]
    made = int(left_s / one.each_s)
    rest = [*work]
    rest[index] = CaseWork(one.case, one.each_s, one.repetitions - made)
    return rest, 0, made * one.each_s


def least_walltime(each_s: float) -> str:
    """Return the shortest time limit, in whole minutes, of a job that finishes a repetition of ``each_s``."""
    minutes = math.ceil((each_s + LAUNCH_S) / _MINUTE_S)
    while usable_seconds(minutes * _MINUTE_S) - LAUNCH_S < each_s:
        minutes += 1
    return clock(f"{minutes * _MINUTE_S}s")


def too_long(each_s: float, walltime_s: float) -> UserError:
    """Return the error that a repetition fits into no job of that time limit."""
    usable_s = max(0.0, usable_seconds(walltime_s) - LAUNCH_S)
    limit = clock(f"{round(walltime_s)}s")
    what = f"a repetition takes {each_s:.0f} s, and a job of {limit} has {usable_s:.0f} s for it"
    return UserError(what, "--walltime", f"give --walltime {least_walltime(each_s)} at least, or a smaller case")


@dataclass(frozen=True)
class JobTime:
    """The time of the batch job that a run is in.

    ``ends_at``: when measuring has to be over, in s of ``now``. ``walltime_s``: the limit of the whole job. ``ended``:
    the file by which a job of ours tells who follows it how it ended.
    """

    ends_at: float
    walltime_s: float
    now: Callable[[], float] = time.monotonic
    ended: Path | None = None

    @property
    def left_s(self) -> float:
        """The seconds that are left to measure in."""
        return self.ends_at - self.now()

    def leave_rest(self) -> None:
        """Tell who follows the job that it leaves a rest for another one, as planned."""
        if self.ended is not None:
            write_atomically(self.ended, f"{EXIT_ABORTED}\n")

    def code_of_job(self, code: int) -> int:
        """Return the exit code of the job: a run that it divides as planned is no failure for the batch system."""
        is_planned = code == EXIT_ABORTED and self.ended is not None and self.ended.exists()
        return EXIT_OK if is_planned else code

    def fit(self, plan: "Plan", progress: "RunProgress", expected: Mapping[str, float]) -> "Fitted":
        """Return the part of ``plan`` that the job can finish.

        ``expected``: the seconds of one repetition, by case, where it was not measured. No repetition is begun that is
        not expected to end in time, whatever was expected before. Cases that share datasets stay together: none of them
        can be left out. Raise ``UserError`` where no repetition would fit into a job of the same limit.
        """
        if plan.order == "listed" or any(case.dataset for case in plan.cases):
            return Fitted(plan)
        left_s, whole_s = self.left_s - LAUNCH_S, usable_seconds(self.walltime_s) - LAUNCH_S
        if plan.time_budget_s is not None and plan.time_budget_s <= left_s:
            return Fitted(plan)
        seen = {case.id: progress.of(case.id) for case in plan.cases}
        known = {**expected, **{case: median(found.seconds) for case, found in seen.items() if found.seconds}}
        # A case of which nothing is known takes what the others do.
        usual_s = fmean([known[case] for case in seen if case in known] or [0.0])
        most = repetitions_of(plan)[1]
        work = [
            CaseWork(case, known.get(case, usual_s), max(0, most - len(found.counted))) for case, found in seen.items()
        ]
        chosen = choose(work, left_s, whole_s)
        if not chosen:
            shortest_s = min((one.each_s for one in work if one.repetitions), default=0.0)
            if shortest_s > whole_s:
                raise too_long(shortest_s, self.walltime_s)
            return Fitted(None, len(work))
        update = {"cases": [plan.cases[index] for index in chosen], "time_budget_s": left_s}
        return Fitted(plan.model_copy(update=update), len(work) - len(chosen), is_bounded=True)


@dataclass(frozen=True)
class Fitted:
    """The part of a plan that a job can finish, None where that is nothing. ``left_out``: cases for another job.

    ``is_bounded``: its time budget is that of the job.
    """

    plan: "Plan | None"
    left_out: int = 0
    is_bounded: bool = False

    def lacking(self, progress: "RunProgress") -> int:
        """Return the cases for another job, once the part was measured: those it had to leave are among them."""
        if self.plan is None or not self.is_bounded:
            return self.left_out
        fewest = repetitions_of(self.plan)[0]
        return self.left_out + sum(progress.lacks(case.id, fewest) for case in self.plan.cases)


def repetitions_of(plan: "Plan") -> tuple[int, int]:
    """Return the fewest and the most repetitions in all by the stop rule of ``plan``."""
    said = plan.stop_rule.parameters
    most = said.get("count", said.get("maximum", 1))
    fewest = said.get("count", said.get("minimum", 1))
    return (fewest if isinstance(fewest, int) else 1), (most if isinstance(most, int) else 1)
