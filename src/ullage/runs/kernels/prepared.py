# SPDX-License-Identifier: Apache-2.0
"""Work on cores and memory that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Limits, Named, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.kernels.notes import Note
from ullage.runs.kernels.options import CaseOptions
from ullage.runs.session import Session
from ullage.runs.suite import Explanation
from ullage.units import format_time

_SHORTEST_PATIENCE_S: Final = 120.0
# A case may be so much slower than expected before it counts as hanging.
_MOST_SURPRISE: Final = 20
LAUNCH_S: Final = 1.0


@dataclass(frozen=True)
class PreparedKernels:
    """See ``Prepared``. ``headers``: of the cases' ``words``.

    ``more``: cases that only what was measured can ask for; called after all ``cases`` have run, and again after those
    it has named, until it names no new ones. ``beside``: what is measured after all of our own. ``notes``
    become events of the run.
    """

    request: Request
    options: CaseOptions
    headers: tuple[str, ...]
    cases: Sequence[KernelCase]
    beside: Callable[[Session], None] | None = None
    notes: tuple[Note, ...] = ()
    more: Callable[[Session], Sequence[KernelCase]] | None = None

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        options, groups = self.options, by_launch(self.cases)
        limit = "" if options.time_s is None else f", in {format_time(options.time_s)} at most"
        head = [
            f"Cases: {len(self.cases)} in {len(groups)} launch{'es' if len(groups) > 1 else ''}{limit}.",
            f"Each is repeated {options.repetitions} times; order shuffled with seed {options.seed}.",
            *(f"{note.text}; {note.advice}." for note in self.notes),
        ]
        rows = [[*case.words, format_time(case.seconds), case.case.id] for case in self.cases]
        total_s = len(groups) * LAUNCH_S + options.repetitions * sum(case.seconds for case in self.cases)
        tail = [f"All of it takes about {format_time(round(total_s, 1))}."]
        if options.time_s is not None and total_s > options.time_s:
            tail.append("That is more than the time allows: some cases would get fewer repetitions, and be flagged.")
        if options.peer and self.beside is not None:
            tail.append("What is installed of the peers is run afterwards; `ullage peers` names them.")
        return Explanation(head, [*self.headers, "each takes about", "case"], rows, tail)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: one for each launch, without what only measurements can ask for."""
        groups = by_launch(self.cases).values()
        all_s = sum(expected_s(group) for group in groups)
        share = None if self.options.time_s is None else self.options.time_s / all_s
        return [
            self.plan(group, str(result.records_path(number)), None if share is None else share * expected_s(group))
            for number, group in enumerate(groups, start=1)
        ]

    def plan(
        self,
        cases: Sequence[KernelCase],
        records: str,
        seconds: float | None,
        prior: Mapping[str, dict[str, list[int]]] | None = None,
    ) -> Plan:
        """The plan of one launch; all ``cases`` have one layout. ``prior``: earlier elapsed ns by case and phase."""
        known = prior or {}
        targets = {case.target.name: case.target for case in cases}
        return Plan(
            run_id=self.request.run_id,
            suite=self.request.suite,
            records=records,
            seed=self.options.seed,
            layout=cases[0].layout,
            targets=list(targets.values()),
            stop_rule=Named(name="fixed", parameters={"count": self.options.repetitions}),
            time_budget_s=seconds,
            watchdog_s=max(_SHORTEST_PATIENCE_S, _MOST_SURPRISE * max(case.seconds for case in cases)),
            limits=Limits(),
            cases=[case.case.model_copy(update={"prior_elapsed_ns": known.get(case.case.id, {})}) for case in cases],
        )

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.runs.kernels.execution import execute

        return execute(self, session)


def by_launch(cases: Sequence[KernelCase]) -> dict[tuple[str, str], list[KernelCase]]:
    """Cases of the same launch together, each case once, launches in the order in which they are first met."""
    groups: dict[tuple[str, str], list[KernelCase]] = {}
    for case in {case.case.id: case for case in cases}.values():
        groups.setdefault((case.launch, case.layout.model_dump_json()), []).append(case)
    return groups


def expected_s(cases: Sequence[KernelCase]) -> float:
    """One repetition of each."""
    return sum(case.seconds for case in cases)
