# SPDX-License-Identifier: Apache-2.0
"""A search under way: each trial is a run of the suite with one setting, in a result of its own below the tune's."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import Ask, Search, Trial
from ullage.analysis.tuning.space import setting_with
from ullage.analysis.verdicts.grades import worst_grade
from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.tuning import TuneCommand, TuneObjective, TuneTrial
from ullage.results.folder import DEFAULT_PARENT, ResultFolder
from ullage.runs.composite.prepared import is_part_of, part_run_id
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.options.reading import parse_options, read_options
from ullage.runs.remains import folders_of, remove_remains
from ullage.runs.session import Session, Watch
from ullage.runs.suite import find_suite
from ullage.runs.tuning import checks, trial_inputs
from ullage.runs.tuning.budget import NO_LIMIT, Budget
from ullage.runs.tuning.early_stop import Watch as Hopeless
from ullage.runs.tuning.early_stop import means, rates_of
from ullage.runs.tuning.journal import add_trial, as_searched, earlier_settings, next_folder, read_trials
from ullage.runs.tuning.judging import counted, is_short_one, judged, lacks_default, verdict_of, work_of
from ullage.runs.tuning.knowledge import start_of
from ullage.runs.tuning.objective import failure_of, is_cost, lacking_in, read_rule, read_value, rows_of, with_cost
from ullage.runs.tuning.options import TuneOptions
from ullage.runs.tuning.prepared import FILES, Build, PreparedTune
from ullage.runs.tuning.tuned_parameters import ParameterSources, read_overs, space_of

if TYPE_CHECKING:
    from ullage.analysis.tuning.space import Setting

_LEAST_S: Final = 0.5
# A trial is ended after this share of the budget, or so many times the longest that has succeeded, whichever is more.
_SLOW_SHARE: Final = 0.2
_SLOW: Final = 3.0
# Before so many trials succeeded, none is ended for being far below the best.
_FEWEST_KNOWN: Final = 3
_WRITES: Final = frozenset({"write", "rewrite"})
# This part of a trial's time, and at most so many seconds, is for what follows its last launch.
_AFTERWARDS: Final = 0.1
_AFTERWARDS_S: Final = 1.0


class RunningSearch:
    """The search under way. ``rows``: of how many rows each value is the mean, once the first trial said so."""

    def __init__(self, prepared: PreparedTune, session: Session) -> None:
        self.prepared, self.session = prepared, session
        self.inputs_maker = prepared.inputs_maker(session.result)
        self.done = read_trials(session.result)
        self.budget = prepared.budget
        self.earlier = earlier_settings(session.result, prepared.metrics)
        if session.seconds is not None:
            used = sum(one.seconds for one in self.done)
            most = self.budget.trials
            more = None if most is None or len(self.done) < most else NO_LIMIT
            self.budget = replace(self.budget, seconds=used + session.seconds, trials=more or most)
        self.objectives: list[TuneObjective] = []
        self.settled: Mapping[str, object] | None = None
        self.begin: Setting | None = None
        self.known: list[str] = []
        self.rows: Mapping[str, int] = {}
        first = next((one for one in self.done if not one.reason), None)
        if first is not None:
            self._take_first(self._part_of(first).read_summary(), first)
        self.turn = max((one.turn for one in self.done), default=0)
        self.search = self._search()
        searched = self._searched() if session.seconds is not None else []
        # Where the last turn has been confirmed, more time is for another.
        if any(one.purpose == "confirm" for one in searched) and self.search.next(searched, NO_LIMIT) is None:
            self.turn += 1
            self.search = self._search()

    def _search(self) -> Search:
        options = self.prepared.options
        return make_search(options.search, self.prepared.space, options.seed, self.turn, self.begin)

    def execute(self) -> int:
        """Run the search and return its exit code.

        Failed trials are data; only a default that fails ends the search.
        """
        request = self.prepared.request
        if self.done or self.session.result.parts():
            self._remove(request.targets, lambda run_id: is_part_of(run_id, request.run_id))
        begun_with = len(self.done)
        while (ask := self._next()) is not None:
            if self._is_short(ask) and lacks_default(self.done, self._default):
                ask = Ask(self.prepared.space.default, "default")
            trial = self._measure(ask)
            if self.session.was_stopped:
                return EXIT_ABORTED
            if ask.purpose == "default" and trial.reason and not any(not one.reason for one in self.done):
                raise UserError(f"the default setting failed: {trial.reason}", "", "", EXIT_CASE_FAILED)
        if begun_with and len(self.done) == begun_with:
            self.session.progress.say(self.budget.why_no_more(self.done))
        return EXIT_OK

    def _remove(self, targets: Sequence[Target], is_one: Callable[[str], bool], indent: str = "") -> None:
        """Remove what trials have left because they were killed: folders whose run id ``is_one`` accepts."""
        for text in remove_remains(targets, is_one, self.session.engine_context.engine):
            self.session.progress.say(f"{indent}{text}")

    def _next(self) -> Ask | None:
        """Return what is next; what remains for short trials is known only once it is clear that one comes."""
        searched = self._searched()
        if not self.prepared.shorter:
            return self.search.next(searched, self.budget.left(self.done))
        short = self.search.next(searched, self.budget.left(self.done, next_is_short=True))
        if short is not None and self._is_short(short):
            return short
        return self.search.next(searched, self.budget.left(self.done))

    def _is_short(self, ask: Ask) -> bool:
        return bool(self.prepared.shorter) and is_short_one(ask.purpose, self.done, self._default)

    @property
    def _default(self) -> dict[str, str]:
        return self.prepared.space.texts(self.prepared.space.default)

    def _searched(self) -> list[Trial]:
        trials = judged(counted(self.done, self._default), self.prepared.rules, self._default)
        return as_searched(trials, self.prepared.space, self.objectives, self.turn)

    def _measure(self, ask: Ask) -> TuneTrial:
        number, is_short = len(self.done) + 1, self._is_short(ask)
        setting = self.prepared.space.texts(ask.setting)
        if (known := self._known(ask, setting, number)) is not None:
            self._keep(known)
            return known
        name = next_folder(self.session.result, number)
        shown = " ".join(f"{key}={value}" for key, value in setting.items())
        self.session.progress.part(f"trial {number} ({ask.purpose}{', short' if is_short else ''}): {shown}")
        trial, summary = self._run(
            TuneTrial(
                number=number,
                turn=self.turn,
                purpose=ask.purpose,
                setting=setting,
                seconds=0.0,
                bytes=0,
                result=f"parts/{name}",
                is_proxy=is_short,
            ),
            self._session_of(name, None if is_short else self._watch(ask)),
        )
        if not self.session.was_stopped:
            self._keep(trial)
            if summary is not None and not self.objectives and not trial.reason:
                self._take_first(summary, trial)
                self.search = self._search()
                for text in self.known:
                    self.session.progress.say(f"  {text}")
            if trial.reason:
                self.session.progress.say(f"  failed: {trial.reason}")
        return trial

    def _session_of(self, name: str, watch: Watch | None) -> Session:
        """Return the session of a trial in the folder ``name``, with the time that it may take, whatever it does."""
        left_s = most_s = self.budget.seconds_left(self.done)
        if self.objectives:
            # One slow setting must not take the time of all others.
            most_s = min(left_s, max(_SLOW_SHARE * self.budget.seconds, _SLOW * self.budget.longest_s(self.done)))
        limit = checks.seconds_of(self.prepared.first.request)
        seconds = None if limit is None or left_s >= limit else max(_LEAST_S, left_s)
        # What is not measured, such as the summary, has to fit in too.
        ends_at = time.monotonic() + max(0.0, most_s - min(_AFTERWARDS_S, _AFTERWARDS * most_s))
        inner = self.session.within(self.session.result.part(name), seconds, ends_at=ends_at, watch=watch)
        inner.needed, inner.enough = self.prepared.needed, checks.enough_of(self.prepared.options)
        return inner

    def _run(self, trial: TuneTrial, inner: Session) -> tuple[TuneTrial, Summary | None]:
        """Measure, and read what was measured. A trial that is refused or fails has a reason and no value.

        A trial that was interrupted has one too, and ``session.was_stopped`` says that it is not to be counted.
        """
        began, prepared, maker = time.monotonic(), self.prepared, self.inputs_maker
        if trial.is_proxy:
            maker = replace(maker, options={**maker.options, **prepared.shorter})
        key, summary, reason, ran = "", None, "", list[TuneCommand]()
        try:
            asked = maker.of(trial.setting, self.settled)
            parsed = maker.parsed(asked)
            key = trial_inputs.key_of(prepared.options.suite, parsed, asked.environment, asked.commands or ())
            own_id = part_run_id(prepared.request.run_id, inner.result.path.name)
            asks = {"suite": prepared.options.suite, "run_id": own_id, "options": parsed.options}
            with trial_inputs.environment_with(asked.environment), self._targets(asked, parsed, inner, ran) as targets:
                try:
                    reason = _measured(prepared.request.model_copy(update={**asks, "targets": targets}), inner)
                finally:
                    self._remove(targets, folders_of(own_id).__contains__, "  ")
                for one in ran if inner.result.launches() else ():
                    text = f"The folder was prepared: {trial_inputs.sentence(one)}."
                    inner.note(inner.result.launches()[0], "info", "folder-prepared", text)
            summary = prepared.build(inner.result)
            summary = with_cost(summary, inner.result) if any(map(is_cost, prepared.metrics)) else summary
            inner.result.write_summary(summary)
        except (UserError, OSError) as error:
            reason = reason or str(error)
        self.session.was_stopped = self.session.was_stopped or inner.was_stopped
        reason = reason or ("" if summary is not None and self._has_rows(summary) else lacking_in(inner.result))
        if reason and time.monotonic() >= (inner.ends_at or math.inf):
            reason = f"it was not done when the time of the search was over ({reason})"
        values: dict[str, float] = {}
        if summary is not None and not reason:
            try:
                values = {metric: read_value(metric, summary).value for metric in prepared.metrics}
            except UserError as error:
                reason = str(error)
        phases = [phase for file in inner.result.read_records() for phase in file.phases]
        objectives = prepared.options.objective if summary is not None else []
        rows = [row for words in objectives for row in rows_of(words, summary)] if summary is not None else []
        update = {
            "values": values,
            "reason": reason,
            "seconds": time.monotonic() - began,
            "bytes": sum(one.bytes for one in phases if one.access == "write" or one.phase in _WRITES),
            "is_short": inner.had_enough,
            "key": key,
            "commands": ran,
            "verdict": verdict_of(rows),
            "grade": worst_grade(row.grade for row in rows),
            "work": work_of(phases, rows),
        }
        return trial.model_copy(update=update), summary

    def _targets(
        self, asked: trial_inputs.TrialInputs, parsed: ParsedOptions, inner: Session, ran: list[TuneCommand]
    ) -> AbstractContextManager[list[Target]]:
        """Give the targets of a trial, in folders that commands have prepared where it has such."""
        if asked.commands is None:
            return nullcontext(parsed.targets)
        engine, run_id = self.session.engine_context.engine, self.prepared.request.run_id
        left_s = (inner.ends_at or math.inf) - time.monotonic()
        return trial_inputs.prepared_targets(parsed.targets, run_id, asked.commands, ran, engine, left_s)

    def _has_rows(self, summary: Summary) -> bool:
        """Tell whether each value is the mean of as many rows as in the first trial, whatever else is lacking."""
        try:
            own = {metric: read_value(metric, summary).objective.rows for metric in self.prepared.metrics}
        except UserError:
            return False
        return own == self.rows

    def _watch(self, ask: Ask) -> Watch | None:
        """Return what ends a trial that is far below the best; None where all its repetitions are wanted.

        The default and the pairs are measured in full. Only rates can be compared while a trial goes on.
        """
        goals, searched = self.objectives, self._searched()
        is_known = sum(one.log is not None for one in searched) >= _FEWEST_KNOWN
        best = self.search.best(searched) if is_known else None
        if ask.purpose in ("default", "confirm") or best is None or best == ask.setting:
            return None
        if len(goals) != 1 or not goals[0].metric.endswith(("bandwidth", "rate")):
            return None
        setting = self.prepared.space.texts(best)
        own = [one for one in self.done if one.setting == setting and not one.is_proxy]
        good = [one for one in own if not one.reason and not one.is_short]
        parts = [self._part_of(one) for one in good if one.seconds > 0]
        if not parts or len(parts[-1].launches()) != 1:
            return None
        rates = rates_of((record for file in parts[-1].read_records() for record in file.records), goals[0].name)
        return Hopeless(means(rates), len(rates), goals[0].name) if rates else None

    def _keep(self, trial: TuneTrial) -> None:
        add_trial(self.session.result, trial)
        self.done.append(trial)

    def _known(self, ask: Ask, setting: dict[str, str], number: int) -> TuneTrial | None:
        """Return what an earlier search has measured, or None; repetitions and pairs are always measured anew."""
        if ask.purpose not in ("start", "search") or not self.objectives or not self.earlier:
            return None
        asked = self.inputs_maker.of(setting, self.settled)
        parsed = self.inputs_maker.parsed(asked)
        key = trial_inputs.key_of(self.prepared.options.suite, parsed, asked.environment, asked.commands or ())
        if (found := self.earlier.get(key)) is None:
            return None
        self.session.progress.say(f"trial {number}: known from {found.result}")
        return found.model_copy(update={"number": number, "turn": self.turn, "setting": setting})

    def _part_of(self, trial: TuneTrial) -> ResultFolder:
        return self.session.result.part(trial.result.rpartition("/")[2])

    def _take_first(self, summary: Summary, trial: TuneTrial) -> None:
        """Keep what the objectives are, and what a probe has settled for all trials."""
        self.objectives = [read_value(words, summary).objective for words in self.prepared.options.objective]
        self.settled = self._part_of(trial).read_request().options
        options, space = self.prepared.options, self.prepared.space
        self.rows = {metric: read_value(metric, summary).objective.rows for metric in self.prepared.metrics}
        known = start_of(options, self.inputs_maker.model, summary, self.session.result)
        self.begin = setting_with(space, known.values) if known.values else None
        self.known = known.reasons


def _measured(request: Request, session: Session) -> str:
    """Run a trial and say why it failed; return nothing where it did not."""
    prepared = find_suite(request.suite).prepare(request, session.engine_context)
    ResultFolder.create(session.result.path, prepared.request)
    code = prepared.run(session)
    if code == EXIT_OK or session.had_enough:
        return ""
    return "; ".join(session.messages) or failure_of(session.result) or f"a case failed (exit code {code})"


def prepare_tune(request: Request, engine_context: EngineContext, build: Build) -> PreparedTune:
    """Check everything that can be checked without starting anything; raise ``UserError`` for what is wrong."""
    options = read_options(TuneOptions, request)
    suite = find_suite(options.suite)
    hosts = len(request.hosts)
    parsed = parse_options(suite.options, hosts, **options.words)
    for name in ("each_node", "require"):
        if parsed.options.get(name):
            what = "is of runs, and a search compares settings"
            raise UserError(what, f"--{name.replace('_', '-')}", "leave it out, and give it to `ullage run`")
    sources = ParameterSources(suite.name, suite.options, parsed, engine_context.description)
    overs = options.parameters or read_overs(options.over, options.default, sources)
    options = options.model_copy(update={"parameters": overs})
    for text in options.keep:
        read_rule(text)
    where = (DEFAULT_PARENT / request.run_id).absolute()
    inputs_maker = trial_inputs.TrialInputsMaker(
        suite.options, options.words, overs, hosts, where / FILES, checks.usual_options(options)
    )
    found = checks.checked(inputs_maker, options, request, engine_context)
    if (needs_s := checks.least_seconds(found, checks.enough_of(options))) > (
        checks.seconds_of(found.first.request) or math.inf
    ):
        options = options.model_copy(update={"trial_s": math.ceil(10 * needs_s) / 10})
        inputs_maker = replace(inputs_maker, usual=checks.usual_options(options))
        found = checks.checked(inputs_maker, options, request, engine_context)
    first, overs, plans = found.first, found.overs, found.plans
    options = options.model_copy(update={"parameters": list(overs)})
    each_s = checks.seconds_of(first.request) or checks.seconds_of_walls(plans)
    trial_bytes = checks.bytes_of(first, plans, options)
    least_s = checks.launches_seconds(found)
    budget = Budget(options.budget_s, options.trials, options.space, each_s, trial_bytes, least_s)
    budget.check()
    make_search(options.search, space_of(overs), options.seed)
    settled = request.model_copy(update={"targets": first.request.targets, "options": options.kept()})
    return PreparedTune(settled, options, engine_context, overs, first, budget, build, found.needed, _execute)


def _execute(prepared: PreparedTune, session: Session) -> int:
    return RunningSearch(prepared, session).execute()
