# SPDX-License-Identifier: Apache-2.0
"""Run b_eff_io, or go on with a run: round by round, target by target, a launch for each access and partition.

A pattern that hangs ends its launch by the watchdog. What the launch still lacks is done by another one without that
pattern, and so on, until everything else is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ullage.cleaning import find_run_folders, remove
from ullage.errors import EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Plan, Target
from ullage.runs.session import Ended, Session
from ullage.suites.b_eff_io.cases import keys_of, turns_of
from ullage.suites.b_eff_io.measured import Attempt, CellKey, read_course, read_launch
from ullage.suites.b_eff_io.notes import again_text, given_up_text, hang_text
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.prepare import PreparedBEffIo
from ullage.suites.b_eff_io.rest import Rest, rest_of, runnable
from ullage.suites.b_eff_io.schedule import type_s
from ullage.suites.b_eff_io.skipping import Skips
from ullage.suites.io500.course import datasets_there
from ullage.uri import target_path

if TYPE_CHECKING:
    from ullage.results.records import AnyRecord


def execute(prepared: PreparedBEffIo, session: Session) -> int:
    """The exit code. The texts of the original lie in the result afterwards, whatever became of the run."""
    run = _Run(prepared, session)
    try:
        run.follow()
    finally:
        run.tidy()
        run.write_texts()
    return run.code


@dataclass
class _Run:
    """A run under way. ``is_whole``: nothing is lacking but what failed."""

    prepared: PreparedBEffIo
    session: Session
    code: int = EXIT_OK
    is_whole: bool = False
    _done: set[tuple[int, CellKey]] = field(default_factory=set[tuple[int, CellKey]])
    _skips: Skips = field(default_factory=Skips)
    _has_data: bool = False
    _ahead_s: float = 0.0

    @property
    def _options(self) -> BEffIoOptions:
        return self.prepared.options

    def follow(self) -> None:
        """Everything that no launch so far has done well."""
        if self.session.seconds is not None:
            self.session.progress.say("the scheduled time of b_eff_io is part of its value: --time changes nothing")
        targets = self.prepared.request.targets
        course = read_course(self.session.result, self._options, [target.name for target in targets])
        for attempt in (attempt for launch in course.launches for attempt in launch.attempts):
            self._skips.note(attempt)
            if attempt.is_whole:
                self._done.add((attempt.round, attempt.key))
        rounds = [(number, target) for number in range(self._options.repetitions) for target in targets]
        self._ahead_s = sum(
            type_s(key.type, self._options) for number, target in rounds for key in self._lacking(number, target)
        )
        self.is_whole = all(self._round(number, target) for number, target in rounds)

    def _keys(self, target: Target) -> list[CellKey]:
        turns = turns_of(self._options, target)
        return [key for turn in turns for key in keys_of(self._options, target, turn)]

    def _lacking(self, number: int, target: Target) -> list[CellKey]:
        return [key for key in self._keys(target) if (number, key) not in self._done]

    def _there(self, target: Target) -> set[str]:
        return datasets_there(target, self.prepared.request.run_id) if self._has_data else set()

    def _rest(self, number: int, target: Target) -> Rest:
        """Data that lies there is this round's if any launch of it has written something to the end."""
        keys = self._keys(target)
        done = {key for key in keys if (number, key) in self._done}
        self._has_data = bool(done)
        there = self._there(target)
        self._has_data = bool(there)
        return rest_of(keys, done, {key for key in keys if self._skips.is_given_up(key)}, there)

    def _round(self, number: int, target: Target) -> bool:
        """Whether the run may go on after it."""
        rest = self._rest(number, target)
        if rest.again:
            self.session.progress.say(again_text(rest.again))
        turns = [keys_of(self._options, target, turn) for turn in turns_of(self._options, target)]
        lacking = [wanted for keys in turns if (wanted := [key for key in keys if key in rest.wanted])]
        return all(
            self._turn(number, target, keys, is_last=index == len(lacking) - 1) for index, keys in enumerate(lacking)
        )

    def _turn(self, number: int, target: Target, keys: Sequence[CellKey], *, is_last: bool) -> bool:
        """The cells of one launch, and a further launch after each hang. Whether the run may go on."""
        left = [key for key in keys if not self._skips.is_given_up(key)]
        while chosen := runnable(left, self._there(target)):
            launch = self.session.result.next_launch()
            plan = self._plan(launch, number, target, chosen, is_last=is_last)
            ended, attempts = self._launch(launch, plan, chosen)
            if ended.code == EXIT_CASE_FAILED:
                self.code = ended.code
            if ended.may_go_on:
                return True
            hung = self._hang_of(ended, attempts)
            if hung is None:
                self.code = ended.code
                return False
            self._go_on_without(launch, plan, ended, hung)
            over = {attempt.key for attempt in attempts if attempt is not hung}
            left = [key for key in left if key not in over and not self._skips.is_given_up(key)]
        return True

    def _plan(self, launch: int, number: int, target: Target, keys: Sequence[CellKey], *, is_last: bool) -> Plan:
        records = str(self.session.result.records_path(launch))
        prepared = self.prepared
        terms = prepared.terms(target, keys, number, records, continues=self._has_data, is_last=is_last)
        return prepared.plan(terms, {key: self._skips.of(key) for key in keys})

    def _launch(self, launch: int, plan: Plan, keys: Sequence[CellKey]) -> tuple[Ended, list[Attempt]]:
        accesses = "/".join(dict.fromkeys(key.access for key in keys))
        repetitions = self._options.repetitions
        rounds = f"round {plan.seed} of {repetitions}, " if repetitions > 1 else ""
        text = f"{rounds}{plan.targets[0].name}: {accesses}, {plan.layout.ranks} processes"
        self.session.progress.stage(text, len(keys), self._ahead_s)
        records: list[AnyRecord] = []
        self._has_data = True
        ended = self.session.launch(launch, plan, records.append)
        self._ahead_s -= sum(type_s(key.type, self._options) for key in keys)
        found = read_launch(plan, launch, records)
        attempts = [] if found is None else list(found.attempts)
        self._done.update((attempt.round, attempt.key) for attempt in attempts if attempt.is_whole)
        return ended, attempts

    def _hang_of(self, ended: Ended, attempts: Sequence[Attempt]) -> Attempt | None:
        """The attempt that a hang has ended, if that is what happened and leaving out a pattern may help."""
        last = attempts[-1] if attempts else None
        if last is None or ended.was_stopped or not self._skips.note(last):
            return None
        return last

    def _go_on_without(self, launch: int, plan: Plan, ended: Ended, hung: Attempt) -> None:
        self.code = EXIT_CASE_FAILED
        if ended.message in self.session.messages:
            self.session.messages.remove(ended.message)
        hints = self._options.hint_sets
        where = f" with hints {hints[hung.key.hints].name}" if len(hints) > 1 else ""
        texts = [("pattern-timeout", hang_text(hung, plan.watchdog_s, where))]
        if self._skips.is_given_up(hung.key):
            texts.append(("type-given-up", given_up_text(hung.key, self._skips.of(hung.key), where)))
        for code, text in texts:
            self.session.note(launch, "warning", code, text, "the result is NOT VALID")
            self.session.progress.say(text)

    def tidy(self) -> None:
        """Remove what launches have left for others that will not come any more."""
        if self._options.keep or (self._options.resumable and not self.is_whole):
            return
        for target in self.prepared.request.targets:
            path = target_path(target)
            folders = [] if path is None else find_run_folders(path, self.prepared.request.run_id)
            for folder in folders:
                why = folder.refused or remove(self.session.engine_context.engine, folder)
                if why is not None:
                    self.session.messages.append(f"data was left at target '{target.name}': {why}")

    def write_texts(self) -> None:
        """As far as anything was measured."""
        from ullage.suites.b_eff_io.texts import write_texts

        if not self.session.result.launches():
            return
        try:
            write_texts(self.session.result)
        except UserError as error:
            self.session.messages.append(str(error))
