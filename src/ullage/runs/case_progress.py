# SPDX-License-Identifier: Apache-2.0
"""What a run knows so far of each case, from its records: samples, how certain they are, what a repetition costs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ullage.analysis.statistics.dependence import pooled_dependence
from ullage.analysis.statistics.intervals import is_look
from ullage.grouping import grouped
from ullage.model.plan import Case, Plan
from ullage.model.record import CaseRecord, EndRecord, PhaseRecord, RunRecord
from ullage.results.records import AnyRecord


@dataclass
class CaseProgress:
    """One case over all launches. ``counted``: elapsed ns by phase of each whole repetition that rows are made of.

    ``seconds``: of each of them with all that is around it.
    ``begun``: repetitions of any kind, also those that failed or hung: the next one has this number.
    """

    counted: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    seconds: list[float] = field(default_factory=list[float])
    begun: int = 0
    stop: str = ""
    relative_width: float | None = None
    has_failed: bool = False

    @property
    def prior_elapsed_ns(self) -> dict[str, list[int]]:
        """Elapsed times by phase, for the stop rule of a further launch."""
        return grouped((phase, elapsed_ns) for sample in self.counted for phase, elapsed_ns in sample.items())

    def converged(self, relative_width: float, minimum: int) -> bool:
        """Tell whether the interval was as narrow as ``relative_width`` when the engine last looked.

        The answer is False below ``minimum`` counted repetitions, and where the engine has not looked after the last
        one.
        """
        known = self.relative_width is not None and self.relative_width <= relative_width
        return known and len(self.counted) >= minimum and is_look(len(self.counted))


class RunProgress:
    """Follows a run from its records in their order. Records of cases of other runs are kept and do no harm."""

    def __init__(self, launches: Iterable[Iterable[AnyRecord]] = ()) -> None:
        self._cases: dict[str, CaseProgress] = {}
        self._waiting: dict[tuple[str, int], dict[str, int]] = {}
        self._of_launch: dict[str, int] = {}
        self._ended_s = self._open_s = 0.0
        for records in launches:
            for record in records:
                self.add(record)

    def of(self, case: str) -> CaseProgress:
        """Return what is known of the case with that id: an empty ``CaseProgress`` of an unknown one."""
        return self._cases.get(case, CaseProgress())

    def lacks(self, case: str, fewest: int) -> bool:
        """Tell whether ``case`` has fewer counted repetitions than ``fewest``, unless it failed and gets no more."""
        found = self.of(case)
        return not found.has_failed and len(found.counted) < fewest

    @property
    def repetitions(self) -> int:
        """Counted ones of all cases."""
        return sum(len(case.counted) for case in self._cases.values())

    @property
    def has_failed(self) -> bool:
        """Tell whether a case has failed or hung and was not forgiven."""
        return any(case.has_failed for case in self._cases.values())

    @property
    def seconds(self) -> float:
        """What all launches have taken, failed and hung repetitions included.

        A launch that wrote no end counts with what its repetitions took.
        """
        return self._ended_s + self._open_s

    @property
    def correlation(self) -> float:
        """Correlation of each repetition with the one before, over all cases and phases; 0 where it cannot be told."""
        series = (list(map(float, phase)) for case in self._cases.values() for phase in case.prior_elapsed_ns.values())
        return pooled_dependence(series).correlation

    def numbered(self, plan: Plan) -> Plan:
        """Return ``plan`` with repetitions that are numbered on from those of earlier launches.

        Cases that share a dataset keep their numbers: what one repetition has written is known there by its number.
        """
        cases = [
            case if case.dataset else case.model_copy(update={"first_repetition": self.of(case.id).begun})
            for case in plan.cases
        ]
        return plan.model_copy(update={"cases": cases})

    def under_way(self, plan: Plan) -> Case | None:
        """Return the case of ``plan`` whose repetition the last launch did not end; None where that cannot be told.

        It has ended a phase, or is the only one that its round still lacks.
        """
        begun = {case for case, _ in self._waiting}
        ended = {case.id: self._of_launch.get(case.id, 0) for case in plan.cases if not self.of(case.id).stop}
        behind = {case for case, count in ended.items() if count == min(ended.values())}
        found = [case for case in plan.cases if case.id in (begun or behind)]
        return found[0] if len(found) == 1 else None

    def forgive(self, only: str = "") -> None:
        """Try failed cases again: whoever resumes a run has had the chance to cure what made them fail.

        ``only``: this case alone.
        """
        for name, case in self._cases.items():
            if case.has_failed and only in ("", name):
                case.has_failed = False
                case.stop = ""

    def add(self, record: AnyRecord) -> None:
        """Take the next record."""
        match record:
            case RunRecord():
                self._waiting.clear()
                self._of_launch.clear()
                # What ended a case in an earlier launch says nothing of this one, unless it gets no more.
                for case in self._cases.values():
                    case.stop = case.stop if case.has_failed else ""
                self._end(0.0)
            case PhaseRecord(status="ok", warmup=False):
                elapsed = self._waiting.setdefault((record.case, record.repetition), {})
                elapsed[record.phase] = record.elapsed_ns
            case CaseRecord():
                self._open_s += record.elapsed_ns / 1e9
                self._close(record)
            case EndRecord():
                self._end(record.elapsed_ns / 1e9)
            case _:
                pass

    def _end(self, seconds: float) -> None:
        self._ended_s, self._open_s = self._ended_s + max(seconds, self._open_s), 0.0

    def _close(self, record: CaseRecord) -> None:
        self._of_launch[record.case] = self._of_launch.get(record.case, 0) + 1
        elapsed_ns = self._waiting.pop((record.case, record.repetition), {})
        case = self._cases.setdefault(record.case, CaseProgress())
        case.begun = max(case.begun, record.repetition + 1)
        if record.status in ("failed", "timeout"):
            case.has_failed = True
            case.stop = record.stop or record.status
        if record.status != "ok" or record.warmup:
            return
        case.seconds.append(record.elapsed_ns / 1e9)
        case.counted.append(elapsed_ns)
        case.stop = record.stop
        case.relative_width = record.relative_width
