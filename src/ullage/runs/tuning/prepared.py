# SPDX-License-Identifier: Apache-2.0
"""A search that was checked against suite, engine and machine: every value of every parameter was read once."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import Ask, Search, Trial
from ullage.analysis.tuning.space import Setting, Space, setting_with
from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.tuning import TuneObjective, TuneTrial
from ullage.results.folder import DEFAULT_PARENT, ResultFolder
from ullage.runs.composite.prepared import is_part_of
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options, read_options
from ullage.runs.remains import remove_remains
from ullage.runs.session import Session, Watch
from ullage.runs.suite import Explanation, Prepared, find_suite
from ullage.runs.tuning.budget import NO_LIMIT, Budget
from ullage.runs.tuning.checks import (
    bytes_of,
    checked,
    enough_of,
    fitted_options,
    launches_seconds,
    least_seconds,
    seconds_of,
    shown_options,
    usual_options,
)
from ullage.runs.tuning.commands import SetCommand, folder_of, read_command
from ullage.runs.tuning.constraints import judged
from ullage.runs.tuning.earlier import earlier_settings, known_trial
from ullage.runs.tuning.early_stop import Watch as Hopeless
from ullage.runs.tuning.early_stop import means, rates_of
from ullage.runs.tuning.journal import add_trial, as_searched, next_folder, read_trials, targets_alone
from ullage.runs.tuning.knowledge import start_of
from ullage.runs.tuning.needs import Needed
from ullage.runs.tuning.objective import Rule, objective_of, read_rule, read_value
from ullage.runs.tuning.options import TunedParameter, TuneOptions
from ullage.runs.tuning.proxies import counted, is_short_one, lacks_default
from ullage.runs.tuning.trial import Job, WantedValues, run_trial, seconds_of_walls
from ullage.runs.tuning.trial_inputs import TrialInputsMaker, key_of
from ullage.runs.tuning.tuned_parameters import UNSET, ParameterSources, read_overs, space_of
from ullage.units import format_time, format_volume

Build = Callable[[ResultFolder], Summary]
_LEAST_S: Final = 0.5
# A trial is ended after this share of the budget, or so many times the longest that has succeeded, whichever is more.
_SLOW_SHARE: Final = 0.2
_SLOW: Final = 3.0
# Before so many trials succeeded, none is ended for being far below the best.
_FEWEST_KNOWN: Final = 3
FILES: Final = "settings"


@dataclass(frozen=True)
class PreparedTune:
    """See ``Prepared``. ``first``: the default setting, prepared as a trial; ``build`` makes the summary of one."""

    request: Request
    options: TuneOptions
    engine_context: EngineContext
    overs: Sequence[TunedParameter]
    first: Prepared
    budget: Budget
    build: Build
    needed: Needed

    @cached_property
    def space(self) -> Space:
        """The space of the search."""
        return space_of(self.overs)

    @property
    def rules(self) -> list[Rule]:
        """The rules of ``--keep``."""
        return [read_rule(text) for text in self.options.keep]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: what to measure next follows from what was measured."""
        return "settings by hand: a search cannot be a batch script"

    def inputs_maker(self, result: ResultFolder) -> TrialInputsMaker:
        """Return what turns settings into options of the suite; their files lie in ``result``."""
        model = find_suite(self.options.suite).options
        hosts, usual = len(self.request.hosts), usual_options(self.options)
        return TrialInputsMaker(model, self.options.words, self.overs, hosts, result.path / FILES, usual)

    @cached_property
    def shorter(self) -> dict[str, str]:
        """The options that make a trial short; none if the suite has none, they are varied, or all are to be full."""
        model, varied = find_suite(self.options.suite).options, {one.word for one in self.overs}
        short = {} if self.options.full else model.shorter(self.first.request.options)
        return {} if varied & short.keys() else short

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        rows = [[one.name, ", ".join(one.values), one.default] for one in self.overs]
        room = min(self.budget.left([]), 2 * self.space.size + 30)
        what = " and ".join(self.options.objective)
        bounds = (
            f"Trials at most: {room}. Time at most: {format_time(self.budget.seconds)}. "
            f"Bytes written at most: {self._bytes_text(room)}."
        )
        head = [f"A search over {self.space.size} settings of suite {self.options.suite} for the best {what}.", bounds]
        tail = [
            "The default is measured first, and again between the other settings.",
            *self._fitted(),
            *self._short(),
            *self._whole(),
            *self._commands(),
        ]
        part = ("a trial with the default setting", self.first.explain())
        return Explanation(head, ["parameter", "values", "default"], rows, tail, [part])

    def _commands(self) -> list[str]:
        """Show the commands that prepare the folder of a trial, each with one of its values."""
        shown: list[str] = []
        folders = [folder for one in self.first.request.targets if (folder := folder_of(one, self.request.run_id))]
        for one in self.overs:
            value = next((text for text in one.values if text != UNSET), None)
            if one.how == "command" and value is not None:
                command = SetCommand(read_command(one.word), value)
                shown += [shlex.join(command.argv(folder)) for folder in folders]
        return [f"Before its dataset is made, a trial with that value runs: {text}" for text in shown]

    def _bytes_text(self, room: int) -> str:
        each = self.budget.trial_bytes
        if self.budget.bytes is not None:
            return format_volume(self.budget.bytes)
        return "not known before a trial" if each is None else format_volume(each * room)

    def _fitted(self) -> list[str]:
        shown = shown_options(fitted_options(self.options))
        return [f"Trials have {shown}, to fit into the budget. Repeat the best setting without it."] if shown else []

    def _short(self) -> list[str]:
        shown = shown_options(self.shorter)
        return [f"Other settings are measured short first ({shown}), the finalists in full."] if shown else []

    def _whole(self) -> list[str]:
        each = self.budget.trial_s
        if each is None:
            return []
        return [f"The whole grid, each setting once, would take about {format_time(each * self.space.size)}."]

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: those of the first trial; the others follow from what it says."""
        return self.first.plans(result.part("trial-001"))

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        with targets_alone(self.request.targets):
            return _Run(self, session).execute()


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
    inputs_maker = TrialInputsMaker(suite.options, options.words, overs, hosts, where / FILES, usual_options(options))
    found = checked(inputs_maker, options, request, engine_context)
    if (needs_s := least_seconds(found, enough_of(options))) > (seconds_of(found.first.request) or math.inf):
        options = options.model_copy(update={"trial_s": math.ceil(10 * needs_s) / 10})
        inputs_maker = replace(inputs_maker, usual=usual_options(options))
        found = checked(inputs_maker, options, request, engine_context)
    first, overs, plans = found.first, found.overs, found.plans
    options = options.model_copy(update={"parameters": list(overs)})
    each_s = seconds_of(first.request) or seconds_of_walls(plans)
    trial_bytes = bytes_of(first, plans, options)
    least_s = launches_seconds(found)
    budget = Budget(options.budget_s, options.trials, options.space, each_s, trial_bytes, least_s)
    budget.check()
    make_search(options.search, space_of(overs), options.seed)
    settled = request.model_copy(update={"targets": first.request.targets, "options": options.kept()})
    return PreparedTune(settled, options, engine_context, overs, first, budget, build, found.needed)


class _Run:
    """The search under way."""

    def __init__(self, prepared: PreparedTune, session: Session) -> None:
        self.prepared, self.session = prepared, session
        self.inputs_maker = prepared.inputs_maker(session.result)
        self.done = read_trials(session.result)
        self.budget = prepared.budget
        names = [*prepared.options.objective, *(rule.metric for rule in prepared.rules)]
        self.earlier = earlier_settings(session.result, names)
        if session.seconds is not None:
            used = sum(one.seconds for one in self.done)
            most = self.budget.trials
            more = None if most is None or len(self.done) < most else NO_LIMIT
            self.budget = replace(self.budget, seconds=used + session.seconds, trials=more or most)
        self.objectives: list[TuneObjective] = []
        self.settled: Mapping[str, object] | None = None
        self.begin: Setting | None = None
        self.known: list[str] = []
        self.wanted = WantedValues(prepared.options.objective, prepared.rules)
        first = next((one for one in self.done if not one.reason), None)
        if first is not None:
            self._take_first(self._summary(first), first)
        self.turn = max((one.turn for one in self.done), default=0)
        self.search = self._search()
        if session.seconds is not None and self._has_ended():
            self.turn += 1
            self.search = self._search()

    def _search(self) -> Search:
        options = self.prepared.options
        return make_search(options.search, self.prepared.space, options.seed, self.turn, self.begin)

    def _has_ended(self) -> bool:
        """Tell whether the last turn has been confirmed, so that more time is for another."""
        searched = self._searched()
        return any(one.purpose == "confirm" for one in searched) and self.search.next(searched, NO_LIMIT) is None

    def execute(self) -> int:
        """Run the search and return its exit code.

        Failed trials are data; only a default that fails ends the search.
        """
        self._tidy()
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

    def _tidy(self) -> None:
        """Remove what trials of this search have left when it was killed."""
        request, engine = self.prepared.request, self.session.engine_context.engine
        if self.done or self.session.result.parts():
            for text in remove_remains(request.targets, lambda run_id: is_part_of(run_id, request.run_id), engine):
                self.session.progress.say(text)

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
        number = len(self.done) + 1
        setting = self.prepared.space.texts(ask.setting)
        if (known := self._known(ask, setting, number)) is not None:
            self._keep(known)
            return known
        name = next_folder(self.session.result, number)
        shown = " ".join(f"{key}={value}" for key, value in setting.items())
        is_short = self._is_short(ask)
        self.session.progress.part(f"trial {number} ({ask.purpose}{', short' if is_short else ''}): {shown}")
        options = self.prepared.options
        left = self.budget.seconds_left(self.done)
        if self.objectives:
            # One slow setting must not take the time of all others.
            left = min(left, max(_SLOW_SHARE * self.budget.seconds, _SLOW * self.budget.longest_s(self.done)))
        watch = None if is_short else self._watch(ask)
        seconds = self._trial_seconds()
        job = Job(number, ask.purpose, setting, name, seconds, self.turn, self.settled, left, watch, is_short)
        job = replace(job, needed=self.prepared.needed, enough=enough_of(options))
        request = self.prepared.request.model_copy(update={"suite": options.suite})
        shorter = {**self.inputs_maker.options, **self.prepared.shorter}
        inputs_maker = replace(self.inputs_maker, options=shorter) if is_short else self.inputs_maker
        trial, summary = run_trial(job, request, inputs_maker, self.wanted, self.session, self.prepared.build)
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

    def _watch(self, ask: Ask) -> Watch | None:
        """Return what ends a trial that is far below the best; None where all its repetitions are wanted.

        The default and the pairs are measured in full. Only rates can be compared while a trial goes on.
        """
        goals, best = self.objectives, self._best()
        if ask.purpose in ("default", "confirm") or best is None or best == ask.setting:
            return None
        if len(goals) != 1 or not goals[0].metric.endswith(("bandwidth", "rate")):
            return None
        setting = self.prepared.space.texts(best)
        own = [one for one in self.done if one.setting == setting and not one.is_proxy]
        good = [one for one in own if not one.reason and not one.is_short]
        parts = [self.session.result.part(one.result.rpartition("/")[2]) for one in good if one.seconds > 0]
        if not parts or len(parts[-1].launches()) != 1:
            return None
        rates = rates_of((record for file in parts[-1].read_records() for record in file.records), goals[0].name)
        return Hopeless(means(rates), len(rates), goals[0].name) if rates else None

    def _best(self) -> Setting | None:
        searched = self._searched()
        return self.search.best(searched) if sum(one.log is not None for one in searched) >= _FEWEST_KNOWN else None

    def _keep(self, trial: TuneTrial) -> None:
        add_trial(self.session.result, trial)
        self.done.append(trial)

    def _known(self, ask: Ask, setting: dict[str, str], number: int) -> TuneTrial | None:
        """Return what an earlier search has measured, or None; repetitions and pairs are always measured anew."""
        if ask.purpose not in ("start", "search") or not self.objectives or not self.earlier:
            return None
        asked = self.inputs_maker.of(setting, self.settled)
        parsed = self.inputs_maker.parsed(asked)
        key = key_of(self.prepared.options.suite, parsed, asked.environment, asked.commands or ())
        if (found := self.earlier.get(key)) is None:
            return None
        self.session.progress.say(f"trial {number}: known from {found.result}")
        return known_trial(number, self.turn, setting, found)

    def _trial_seconds(self) -> float | None:
        """Return the seconds that are left where a trial would have more of them, else None."""
        limit, left = seconds_of(self.prepared.first.request), self.budget.seconds_left(self.done)
        return None if limit is None or left >= limit else max(_LEAST_S, left)

    def _take_first(self, summary: Summary, trial: TuneTrial) -> None:
        """Keep what the objectives are, and what a probe has settled for all trials."""
        self.objectives = [objective_of(words, read_value(words, summary)) for words in self.prepared.options.objective]
        self.settled = self.session.result.part(trial.result.rpartition("/")[2]).read_request().options
        options, space = self.prepared.options, self.prepared.space
        rows = {metric: read_value(metric, summary).rows for metric in self.wanted.metrics}
        self.wanted = replace(self.wanted, rows=rows)
        known = start_of(options, self.inputs_maker.model, summary, self.session.result)
        self.begin = setting_with(space, known.values) if known.values else None
        self.known = known.reasons

    def _summary(self, trial: TuneTrial) -> Summary:
        return self.session.result.part(trial.result.rpartition("/")[2]).read_summary()
