# SPDX-License-Identifier: Apache-2.0
"""In which order a run of several suites measures: first what stands for the parts of the machine, then all else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Case, Layout
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.execution import Deadline, share_out
from ullage.runs.jobtime import LAUNCH_S, Costed
from ullage.runs.options.engine import values_of
from ullage.runs.session import Needed
from ullage.runs.suite import HEADLINE_REPETITIONS, MOST, Headlines, Prepared, headline_cases

# A part that says neither how long it may take nor how long it takes counts as one of so many seconds.
_ASSUMED_S: Final = 30.0
# Headlines may take so many times what they are planned for, before others have a right to the time.
_HEADLINE_ROOM: Final = 2.5
# Where headlines need all of the time, so much is kept for the others, in proportion to what the headlines get.
_OTHERS: Final = 1 / 3
# In less than this a part has no launch and a repetition.
_LEAST_S: Final = 3.0
_LAUNCHES: Final = 3
# Around its scheduled time a benchmark starts, syncs and checks.
_FIXED_ROOM: Final = 1.4


@dataclass(frozen=True)
class Step:
    """A part, or the cases of it that are ``needed``, which takes ``needs_s``.

    ``is_headline``: it is measured first. ``is_fixed``: a shorter time would change what is measured, so the step has
    its time or is left out.
    """

    suite: str
    needs_s: float = 0.0
    is_headline: bool = False
    is_fixed: bool = False
    needed: Needed | None = None

    @property
    def text(self) -> str:
        """What stands in the progress."""
        return f"{self.suite}, its headline" if self.needed is not None else self.suite


def steps_of(suite: str, prepared: Prepared | None, request: Request | None, result: ResultFolder) -> list[Step]:
    """Return a step for the headlines of a part, where it has any, and one for all else.

    ``prepared`` and ``request`` are None for a part that cannot run. ``result``: of the part.
    """
    if prepared is None or request is None:
        return [Step(suite)]
    whole_s, said = _whole_s(prepared, request), headline_cases(suite)
    is_fixed = bool(getattr(prepared, "is_fixed", False))
    if said is None or not isinstance(prepared, Costed):
        needs_s = _FIXED_ROOM * whole_s if is_fixed else whole_s
        return [Step(suite, needs_s, is_headline=said is not None, is_fixed=is_fixed)]
    if not said:
        return [Step(suite, whole_s, is_headline=True)]
    cells = [(case, plan.layout) for plan in prepared.plans(result) for case in plan.cases]
    ids = {(case.id, layout.ranks) for one in said for case, layout in cells_like(one, cells)}
    if not ids:
        return [Step(suite, whole_s)]
    work = [one for launch in prepared.work().launches for one in launch if one.case in {name for name, _ in ids}]
    first_s = _LAUNCHES * LAUNCH_S + sum(max(HEADLINE_REPETITIONS, one.repetitions) * one.each_s for one in work)

    def needed(case: Case, layout: Layout) -> bool:
        return (case.id, layout.ranks) in ids

    rest = Step(suite, max(_LEAST_S, whole_s - first_s))
    return [Step(suite, first_s, is_headline=True, needed=needed), rest]


def cells_like(asked: Headlines, cells: Sequence[tuple[Case, Layout]]) -> list[tuple[Case, Layout]]:
    """Return the cells whose parameters are as ``asked``; ``MOST`` is the largest among those that fit otherwise."""
    found = [(cell, values_of(cell[0].workload.name, cell[0].workload.parameters)) for cell in cells]
    for name, said in sorted(asked.items(), key=lambda item: item[1] == MOST):
        there = [number for _, values in found if isinstance(number := values.get(name), int)]
        wanted = max(there, default=None) if said == MOST else said
        found = [(cell, values) for cell, values in found if values.get(name) == wanted]
    return [cell for cell, _ in found]


def _whole_s(prepared: Prepared, request: Request) -> float:
    """Return how long a part would take by itself: its limit, else its minimum, else an assumed time."""
    limit_s = request.options.get("time_s")
    if isinstance(limit_s, (int, float)):
        return float(limit_s)
    if not isinstance(prepared, Costed):
        return _ASSUMED_S
    return sum(case.all_s for launch in prepared.work().launches for case in launch)


def seconds_for(steps: Sequence[Step], deadline: Deadline) -> float | None:
    """Return the seconds for the first of ``steps``, which are all that are left; None where it does not fit.

    Headlines come first: they share the time among them, but for a quarter where there are others.
    """
    step, left_s = steps[0], deadline.left_s
    if step.is_headline:
        needs = [one.needs_s for one in steps if one.is_headline]
        others_s = 0.0 if len(needs) == len(steps) else sum(needs) * _OTHERS
        share_s = share_out(left_s, [*needs, others_s])
        return min(share_s, _HEADLINE_ROOM * step.needs_s)
    if left_s < (step.needs_s if step.is_fixed else min(_LEAST_S, step.needs_s)):
        return None
    return share_out(left_s, [one.needs_s for one in steps])


def scaled(options: Mapping[str, object], share: float) -> dict[str, object]:
    """Return the options of a part whose run as a whole has only a ``share`` of the usual time."""
    limit_s = options.get("time_s")
    shorter = {"time_s": round(limit_s * share, 1)} if isinstance(limit_s, (int, float)) and share < 1 else {}
    return {**options, **shorter}
