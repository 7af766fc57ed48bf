# SPDX-License-Identifier: Apache-2.0
"""Run IO500, or go on with a run: sizes, then a launch for each round on each target, until no phase is lacking."""

from dataclasses import dataclass, field
from typing import Final

from ullage.errors import EXIT_CASE_FAILED, EXIT_OK
from ullage.model.plan import Target
from ullage.model.record import CaseRecord, EndRecord
from ullage.results.folder import write_atomically
from ullage.results.records import AnyRecord
from ullage.runs.session import Session
from ullage.suites.io500.calibrate import CalibrationError, run_probe
from ullage.suites.io500.course import Rest, Round, datasets_there, read_rounds, rest_of
from ullage.suites.io500.planning import LaunchSpec, has_wall, make_plan
from ullage.suites.io500.prepare import PreparedIo500

# When a run goes on after its time was over, what it still lacks is finished, with some room for surprises.
_GENEROUS: Final = 3.0
_SHORTEST_S: Final = 60.0


def execute(prepared: PreparedIo500, session: Session) -> int:
    """The exit code. The official texts lie in the result afterwards, whatever became of the run."""
    try:
        settled = settle(prepared, session)
    except CalibrationError as error:
        session.messages.append(error.ended.message)
        return error.ended.code
    try:
        code = _Run(settled, session).follow()
    finally:
        is_wrong = conclude(settled, session)
    return EXIT_CASE_FAILED if is_wrong and code == EXIT_OK else code


def settle(prepared: PreparedIo500, session: Session) -> PreparedIo500:
    """With the sizes of every target, by a probe where they are neither given nor known from an earlier launch."""
    found = dict(prepared.options.sizes)
    for target in prepared.request.targets:
        if target.name in found:
            continue
        if prepared.options.config.sizes_are_given:
            found[target.name] = prepared.sizes(target).model_copy(update={"basis": "as given"})
            continue
        session.progress.stage(f"probe of {target.name}", 0, _SHORTEST_S)
        room = prepared.room(target)
        rates = run_probe(session, prepared.request, prepared.options, target, prepared.layout, room)
        found[target.name] = prepared.sizes(target, rates)
        session.progress.say(f"sizes on {target.name} ({rates.basis})")
    settled = prepared.with_sizes(found)
    session.result.write_request(settled.request)
    return settled


@dataclass
class _Run:
    """One run under way."""

    prepared: PreparedIo500
    session: Session
    code: int = EXIT_OK
    _known: dict[tuple[str, int], Round] = field(default_factory=dict[tuple[str, int], Round])
    _used_s: float = 0.0

    def follow(self) -> int:
        self._known = {(found.target.name, found.number): found for found in read_rounds(self.session.result)}
        self._used_s = _used_s(self.session)
        for number in range(self.prepared.options.repeat):
            for target in self.prepared.request.targets:
                if not self._round(target, number):
                    return self.code
        return self.code

    def _round(self, target: Target, number: int) -> bool:
        """Whether the run may go on after it."""
        steps = self.prepared.steps(target)
        known = self._known.get((target.name, number), Round(target, number))
        there = datasets_there(target, self.prepared.request.run_id) if known.done else set[str]()
        rest = rest_of(steps, known.done, there)
        if not rest.steps:
            return True
        launch = self.session.result.next_launch()
        seconds = self._left_s(rest)
        turn = LaunchSpec(number, str(self.session.result.records_path(launch)), seconds, continues=bool(there))
        plan = make_plan(self.prepared.request, self.prepared.options, rest.steps, self.prepared.layout, turn)
        rounds = f"round {number + 1} of {self.prepared.options.repeat}, " if self.prepared.options.repeat > 1 else ""
        expected_s = sum(has_wall(step.phase) for step in rest.steps) * 2 * self.prepared.options.stonewall_s
        text = f"{rounds}{target.name}: {len(rest.steps)} phases"
        self.session.progress.stage(text, len(rest.steps), expected_s if seconds is None else seconds)
        if rest.again:
            self.session.progress.say(_again(rest))
        ended = self.session.launch(launch, plan, self._hear)
        if rest.again and ended.may_go_on:
            self.session.note(launch, "info", "made-again", _again(rest))
        if not ended.may_go_on or ended.code == EXIT_CASE_FAILED:
            self.code = ended.code
        return ended.may_go_on

    def _hear(self, record: AnyRecord) -> None:
        if isinstance(record, EndRecord):
            self._used_s += record.elapsed_ns / 1e9

    def _left_s(self, rest: Rest) -> float | None:
        """What earlier launches have left of the time, and always enough for a first round of what is lacking."""
        asked_s = self.session.seconds
        if asked_s is not None:
            return asked_s
        if self.prepared.options.time_s is None:
            return None
        left_s = self.prepared.options.time_s - self._used_s
        if not self._known:
            return max(left_s, 1.0)
        walls = sum(has_wall(step.phase) for step in rest.steps)
        return max(left_s, _GENEROUS * walls * self.prepared.options.stonewall_s + _SHORTEST_S)


def _again(rest: Rest) -> str:
    return (
        f"{', '.join(rest.again)} {'is' if len(rest.again) == 1 else 'are'} run again, for the data that later phases "
        "need and that is gone; the first value counts"
    )


def _used_s(session: Session) -> float:
    """Of earlier launches; one that wrote no end took as long as its phases."""
    total = 0.0
    for file in session.result.read_records():
        ends = [record.elapsed_ns for record in file.records if isinstance(record, EndRecord)]
        cases = [record.elapsed_ns for record in file.records if isinstance(record, CaseRecord)]
        total += (sum(ends) or sum(cases)) / 1e9
    return total


def conclude(prepared: PreparedIo500, session: Session) -> bool:
    """Write what the official tool would, for people's scripts; whether anything that was measured went wrong."""
    from ullage.suites.io500.summarise import official_texts, read_digests

    digests = read_digests(session.result)
    for name, text in official_texts(digests, prepared.options).items():
        write_atomically(session.result.path / name, text)
    return any(found.is_wrong for found in digests)
