# SPDX-License-Identifier: Apache-2.0
"""A search that was checked against suite, engine and machine: every value of every parameter was read once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import Ask, Search
from ullage.analysis.tuning.space import Space
from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.tuning import TuneObjective, TuneTrial
from ullage.results.folder import DEFAULT_PARENT, ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import declared
from ullage.runs.options.reading import parse_options, read_options
from ullage.runs.session import Session
from ullage.runs.suite import Explanation, Prepared, find_suite
from ullage.runs.tuning.asking import Asking, key_of
from ullage.runs.tuning.budget import NO_LIMIT, Budget
from ullage.runs.tuning.earlier import earlier_settings, known_trial
from ullage.runs.tuning.journal import add_trial, as_searched, next_folder, read_trials, targets_alone
from ullage.runs.tuning.objective import Rule, objective_of, read_rule, read_value
from ullage.runs.tuning.options import Over, TuneOptions, Word
from ullage.runs.tuning.over import Ground, read_overs, space_of
from ullage.runs.tuning.trial import Job, Wanted, most_written, prepare, run_trial
from ullage.units import format_duration, format_time, format_volume

Build = Callable[[ResultFolder], Summary]
# Where nobody says how long a trial measures, it gets one part in so many of the budget, and no less than so many
# seconds.
_TRIALS_IN_BUDGET: Final = 40
_SHORTEST_TRIAL_S: Final = 2.0
_LEAST_S: Final = 0.5
FILES: Final = "settings"


@dataclass(frozen=True)
class PreparedTune:
    """See ``Prepared``. ``first``: the default setting, prepared as a trial; ``build`` makes the summary of one."""

    request: Request
    options: TuneOptions
    engine_context: EngineContext
    overs: Sequence[Over]
    first: Prepared
    budget: Budget
    build: Build

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

    def asking(self, result: ResultFolder) -> Asking:
        """Return what turns settings into words of the suite; their files lie in ``result``."""
        model = find_suite(self.options.suite).options
        return Asking(model, self.options.words, self.overs, len(self.request.hosts), result.path / FILES)

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
        tail = ["The default is measured first, and again between the other settings.", *self._whole()]
        part = ("a trial with the default setting", self.first.explain())
        return Explanation(head, ["parameter", "values", "default"], rows, tail, [part])

    def _bytes_text(self, room: int) -> str:
        each = self.budget.trial_bytes
        if self.budget.bytes is not None:
            return format_volume(self.budget.bytes)
        return "not known before a trial" if each is None else format_volume(each * room)

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
    words = _with_time(options)
    hosts = len(request.hosts)
    ground = Ground(suite.name, suite.options, parse_options(suite.options, hosts, **words), engine_context.description)
    overs = options.parameters or read_overs(options.over, options.default, ground)
    options = options.model_copy(update={"words": words, "parameters": overs})
    for text in options.keep:
        read_rule(text)
    where = (DEFAULT_PARENT / request.run_id).absolute()
    asking = Asking(suite.options, words, overs, hosts, where / FILES)
    first = _checked(asking, overs, request, engine_context)
    budget = Budget(
        options.budget_s, options.trials, options.space, _seconds_of(first.request), _bytes_of(first, options)
    )
    budget.check()
    make_search(options.search, space_of(overs), options.seed)
    settled = request.model_copy(update={"targets": first.request.targets, "options": options.kept()})
    return PreparedTune(settled, options, engine_context, overs, first, budget, build)


def _with_time(options: TuneOptions) -> dict[str, Word]:
    """Return the words of the suite, with a time for a trial where it takes one and none was given."""
    model = find_suite(options.suite).options
    time_ = declared(model).get("time_s")
    if time_ is None or time_.word in options.words or time_.field in {text.partition("=")[0] for text in options.over}:
        return dict(options.words)
    each = max(_SHORTEST_TRIAL_S, round(options.budget_s / _TRIALS_IN_BUDGET))
    return {**options.words, time_.word: format_duration(each)}


def _checked(asking: Asking, overs: Sequence[Over], request: Request, engine_context: EngineContext) -> Prepared:
    """Read each value of each parameter beside the defaults of the others; the default setting is prepared."""
    import tempfile

    default = {one.name: one.default for one in overs}
    with tempfile.TemporaryDirectory() as scratch:
        own = replace(asking, folder=Path(scratch))
        for one in overs:
            for value in one.values:
                try:
                    parsed = own.parsed(own.of({**default, one.name: value}))
                except UserError as error:
                    where = f"--over {one.name}={value}"
                    raise UserError(
                        f"{error.where}: {error.what}".lstrip(": "), where, error.right, error.code
                    ) from error
        parsed = own.parsed(own.of(default))
    asked = {"suite": find_suite(_suite_of(request)).name, "targets": parsed.targets, "options": parsed.options}
    return prepare(request.model_copy(update=asked), engine_context)


def _suite_of(request: Request) -> str:
    return str(request.options.get("suite", ""))


def _seconds_of(request: Request) -> float | None:
    seconds = request.options.get("time_s")
    return float(seconds) if isinstance(seconds, (int, float)) else None


def _bytes_of(first: Prepared, options: TuneOptions) -> int | None:
    """Return the bytes that a trial can write at most, or None where that is not known.

    Raise ``UserError`` where bytes are limited and a probe would choose how many a trial writes.
    """
    if first.unsettled:
        if options.space is not None:
            raise UserError("a probe would choose what a trial writes", "--space", f"give {first.unsettled}")
        return None
    return most_written(first.plans(ResultFolder((DEFAULT_PARENT / first.request.run_id).absolute())))


class _Run:
    """The search under way."""

    def __init__(self, prepared: PreparedTune, session: Session) -> None:
        self.prepared, self.session = prepared, session
        self.asking = prepared.asking(session.result)
        self.done = read_trials(session.result)
        self.budget = prepared.budget
        rules = [rule.words for rule in prepared.rules]
        self.earlier = {} if rules else earlier_settings(session.result, prepared.options.objective)
        if session.seconds is not None:
            used = sum(one.seconds for one in self.done)
            most = self.budget.trials
            more = None if most is None or len(self.done) < most else NO_LIMIT
            self.budget = replace(self.budget, seconds=used + session.seconds, trials=more or most)
        self.objectives: list[TuneObjective] = []
        self.settled: Mapping[str, object] | None = None
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
        return make_search(options.search, self.prepared.space, options.seed, self.turn)

    def _has_ended(self) -> bool:
        """Tell whether the last turn has been confirmed, so that more time is for another."""
        searched = as_searched(self.done, self.prepared.space, self.objectives, self.turn)
        return any(one.purpose == "confirm" for one in searched) and self.search.next(searched, NO_LIMIT) is None

    def execute(self) -> int:
        """Run the search and return its exit code.

        Failed trials are data; only a default that fails ends the search.
        """
        while (ask := self._next()) is not None:
            trial = self._measure(ask)
            if self.session.was_stopped:
                return EXIT_ABORTED
            if ask.purpose == "default" and trial.reason and not any(not one.reason for one in self.done):
                raise UserError(f"the default setting failed: {trial.reason}", "", "", EXIT_CASE_FAILED)
        return EXIT_OK

    def _next(self) -> Ask | None:
        searched = as_searched(self.done, self.prepared.space, self.objectives, self.turn)
        return self.search.next(searched, self.budget.left(self.done))

    def _measure(self, ask: Ask) -> TuneTrial:
        number = len(self.done) + 1
        setting = self.prepared.space.words(ask.setting)
        if (known := self._known(ask, setting, number)) is not None:
            self._keep(known)
            return known
        name = next_folder(self.session.result, number)
        shown = " ".join(f"{key}={value}" for key, value in setting.items())
        self.session.progress.part(f"trial {number} ({ask.purpose}): {shown}")
        options = self.prepared.options
        wanted = Wanted(options.objective, self.prepared.rules, self._default_values())
        job = Job(number, ask.purpose, setting, name, self._trial_seconds(), self.turn, self.settled)
        request = self.prepared.request.model_copy(update={"suite": options.suite})
        trial, summary = run_trial(job, request, self.asking, wanted, self.session, self.prepared.build)
        if not self.session.was_stopped:
            self._keep(trial)
            if summary is not None and not self.objectives and not trial.reason:
                self._take_first(summary, trial)
            self._say(trial)
        return trial

    def _keep(self, trial: TuneTrial) -> None:
        add_trial(self.session.result, trial)
        self.done.append(trial)

    def _known(self, ask: Ask, setting: dict[str, str], number: int) -> TuneTrial | None:
        """Return what an earlier search has measured, or None; repetitions and pairs are always measured anew."""
        default = self._default_values()
        if ask.purpose not in ("start", "search") or not default or not self.earlier:
            return None
        asked = self.asking.of(setting, self.settled)
        key = key_of(self.prepared.options.suite, self.asking.parsed(asked), asked.environment)
        if (found := self.earlier.get(key)) is None:
            return None
        self.session.progress.say(f"trial {number}: known from {found.result}")
        return known_trial(number, self.turn, setting, key, found, default)

    def _trial_seconds(self) -> float | None:
        """Return the seconds that are left where a trial would have more of them, else None."""
        limit, left = self.budget.trial_s, self.budget.seconds_left(self.done)
        return None if limit is None or left >= limit else max(_LEAST_S, left)

    def _take_first(self, summary: Summary, trial: TuneTrial) -> None:
        """Keep what the objectives are, and what a probe has settled for all trials."""
        self.objectives = [objective_of(words, read_value(words, summary)) for words in self.prepared.options.objective]
        self.settled = self.session.result.part(trial.result.rpartition("/")[2]).read_request().options

    def _summary(self, trial: TuneTrial) -> Summary:
        return self.session.result.part(trial.result.rpartition("/")[2]).read_summary()

    def _default_values(self) -> dict[str, float]:
        default = self.prepared.space.words(self.prepared.space.default)
        found = [one.values for one in self.done if one.setting == default and not one.reason]
        return {} if not found else {name: sum(one[name] for one in found) / len(found) for name in found[0]}

    def _say(self, trial: TuneTrial) -> None:
        if trial.reason:
            self.session.progress.say(f"  failed: {trial.reason}")
