# SPDX-License-Identifier: Apache-2.0
"""From the journal of a search and the results of its trials to rows, findings and the part ``tune`` of the summary."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ullage.analysis.statistics.intervals import median_interval
from ullage.analysis.tuning.confirmation import FEWEST_PAIRS, front, proved_changes, sentence
from ullage.analysis.tuning.effects import effects, response, told
from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import FEWEST_TRIALS, Search, Trial
from ullage.analysis.tuning.space import Setting, Space
from ullage.analysis.verdicts.grades import worst_grade
from ullage.arrays import np
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.flags import Flag, interval_below
from ullage.model.request import Request
from ullage.model.summary import Row, Summary
from ullage.model.tuning import (
    TuneConfirmation,
    TuneCost,
    TuneFront,
    TuneInteraction,
    TuneObjective,
    TuneParameter,
    TunePoint,
    TuneTrial,
    Tuning,
)
from ullage.quantity import plural, times
from ullage.results.folder import ResultFolder
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary, find_suite
from ullage.runs.tuning.checks import fitted_options, shown_options
from ullage.runs.tuning.findings import findings_on
from ullage.runs.tuning.journal import as_searched, read_trials
from ullage.runs.tuning.judging import RuleResult, counted, difference, judged, kept_in_pairs
from ullage.runs.tuning.objective import medians, read_rule, read_value, toward_more
from ullage.runs.tuning.options import OptionValue, TuneOptions
from ullage.runs.tuning.prepared import FILES
from ullage.runs.tuning.trial_inputs import TrialInputs, TrialInputsMaker, command_of
from ullage.runs.tuning.tuned_parameters import space_of
from ullage.units import format_time
from ullage.uri import target_path

_FEWEST_OF_EFFECTS: Final = 6
_NOTABLE_SHARE: Final = 0.01
LEVEL: Final = 0.95
TUNED: Final = "tuned"
"""The folder below a target that the commands of the best setting are shown for."""


@dataclass(frozen=True)
class Study:
    """What a tune has, read once. ``trials``: those of ``every`` that count, as the search sees them."""

    options: TuneOptions
    space: Space
    every: Sequence[TuneTrial]
    trials: Sequence[TuneTrial]
    objectives: Sequence[TuneObjective]
    searched: Sequence[Trial]
    search: Search
    inputs_maker: TrialInputsMaker

    @property
    def default(self) -> dict[str, str]:
        """The setting that others are compared with."""
        return self.space.texts(self.space.default)

    @property
    def pairs(self) -> list[TuneTrial]:
        """The trials of the pairs that succeeded."""
        turns = zip(self.searched, self.trials, strict=True)
        return [one for searched, one in turns if searched.purpose == "confirm" and not one.reason]

    @property
    def best(self) -> Setting:
        """The setting that the pairs confirm, where they began; else the best so far."""
        pairs = [one.setting for one in self.searched if one.purpose == "confirm"]
        return next((one for one in pairs if one != self.space.default), None) or self.search.chosen(self.searched)


def summarise_tune(result: ResultFolder, request: Request) -> SuiteSummary:
    """Summarise a tune; raise ``UserError`` where nothing was measured yet."""
    options = read_options(TuneOptions, request)
    space = space_of(options.parameters)
    default = space.texts(space.default)
    every = read_trials(result)
    trials = judged(counted(every, default), [read_rule(text) for text in options.keep], default)
    good = next((one for one in trials if not one.reason), None)
    if good is None:
        if trials:
            right = f"see {trials[0].result} there, and set another default with --default"
            raise UserError(f"no trial has succeeded: {trials[0].reason}", str(result.path), right)
        raise UserError("no trial has ended yet", str(result.path), "give the search more time")
    breaks = {one.number: one.breaks for one in trials}
    every = [one.model_copy(update={"breaks": breaks.get(one.number, "")}) for one in every]
    first, model = _summary_of(result, good), find_suite(options.suite).options
    objectives = [read_value(words, first).objective for words in options.objective]
    turn = max((one.turn for one in trials if one.purpose == "confirm"), default=0)
    searched = as_searched(trials, space, objectives, turn)
    hosts = len(request.hosts)
    inputs_maker = TrialInputsMaker(model, options.words, options.parameters, hosts, result.path / FILES)
    search = make_search("model", space, options.seed, turn)
    study = Study(options, space, every, trials, objectives, searched, search, inputs_maker)
    tune = _tuning(study, result)
    return SuiteSummary(_rows(study, result), findings_on(tune), tune=tune)


def _summary_of(result: ResultFolder, trial: TuneTrial) -> Summary:
    return result.part(trial.result.rpartition("/")[2]).read_summary()


def _tuning(study: Study, result: ResultFolder) -> Tuning:
    said = study.search.confirmation(study.searched)
    best = study.space.texts(study.best)
    asked = study.inputs_maker.of(best)
    options = {name: value for name, value in asked.options.items() if name != "no_peer" or name in study.options.words}
    preparation = _preparation(asked, result, options)
    rules = [read_rule(text) for text in study.options.keep]
    kept = kept_in_pairs(study.pairs, rules, lambda one: one.setting == study.default)
    shown = shown_options(fitted_options(study.options))
    fitted = [f"All of this was measured with {shown}, to fit into the budget."] if shown else []
    broken = next((one.rule.text for one in kept if one.breaks), "")
    parameters, confirmation = _parameters(study), None
    if said is not None:
        differs = _difference(study, study.best)
        answer = "not better" if (broken or differs) and said.answer == "better" else said.answer
        confirmation = TuneConfirmation(
            ratio=said.ratio,
            low=said.low,
            high=said.high,
            pairs=said.pairs,
            answer=answer,
            breaks=broken,
            differs=differs,
        )
    return Tuning(
        suite=study.options.suite,
        objectives=list(study.objectives),
        constraints=study.options.keep,
        default=study.default,
        best=best,
        confirmation=confirmation,
        answer=" ".join([answer_of(study, confirmation), *(_of_rule(one) for one in kept), *fitted]),
        parameters=parameters,
        interactions=_interactions(study, parameters),
        front=_front(study),
        tradeoffs=_tradeoffs(study, result),
        cost=_cost(study),
        command=command_of(study.options.suite, study.inputs_maker.model, options),
        environment=asked.environment,
        preparation=preparation,
        trials=list(study.every),
    )


def _preparation(asked: TrialInputs, result: ResultFolder, options: dict[str, OptionValue]) -> list[list[str]]:
    """Return the commands that make a folder with the best setting below each target, and name these in ``options``.

    The user's own folders stay as they are.
    """
    found: list[list[str]] = []
    if not asked.commands:
        return found
    targets: list[str] = []
    for target in result.read_request().targets:
        path = target_path(target)
        targets.append(f"{target.name}={target.uri if path is None else path / TUNED}")
        if path is not None:
            found += [["mkdir", str(path / TUNED)], *(one.argv(path / TUNED) for one in asked.commands)]
    options["target"] = targets
    return found


def answer_of(study: Study, said: TuneConfirmation | None) -> str:
    """Return the sentence that a tune is run for."""
    what = " and ".join(one.name for one in study.objectives)
    setting = _shown(study.space.texts(study.best), study.default)
    if study.best == study.space.default:
        count = len({one.setting for one in study.searched if one.log is not None} | {study.best})
        if count == 1:
            each = max(one.seconds for one in study.trials)
            needs = f"A trial takes {format_time(each)}, and a search needs {FEWEST_TRIALS} at least"
            return f"Only the default was measured, so nothing is known of {what} yet. {needs}: give it more time."
        return f"None of {plural(count - 1, 'other setting')} in the search improves {what} over the default."
    if said is None:
        takes = format_time(2 * FEWEST_PAIRS * max(one.seconds for one in study.trials))
        so_far = f"{setting} has the best {what} so far, which noise may explain: no pairs were measured yet."
        differs = f" But {found}, so the two cannot be compared." if (found := _difference(study, study.best)) else ""
        return f"{so_far}{differs} That takes {takes} or more. Continue the search with more time."
    interval = f"[{said.low:.2f}, {said.high:.2f}] in {said.pairs} pairs"
    if said.low > 1 and (said.breaks or said.differs):
        but = "breaks a rule" if said.breaks else f"{said.differs}. So it is no improvement"
        return f"{setting} reaches {times(said.ratio)} the default's {what} {interval}, but {but}."
    if said.answer == "better":
        return f"{setting} improves {what} to {times(said.ratio)} the default's {interval}.{_untested(study)}"
    reached = f"Setting {setting} reaches {times(said.ratio)} the default's {interval}."
    return f"Nothing improves {what} beyond the noise. {reached}{_untested(study)}"


def _untested(study: Study) -> str:
    """Name the setting that all trials support best, where pairs have tested another and made it fall behind."""
    ahead = study.search.chosen(study.searched)
    if ahead in (study.best, study.space.default) or _difference(study, ahead):
        return ""
    setting = _shown(study.space.texts(ahead), study.default)
    return f" By all trials, {setting} is ahead, which noise may explain: no pairs have tested it. Give it more time."


def _difference(study: Study, setting: Setting) -> str:
    """Say why ``setting`` and the default were not measured alike; return nothing where they were."""
    turns = [*zip(study.searched, study.trials, strict=True)]
    is_paired = any(one.purpose == "confirm" and one.setting == setting for one, _ in turns)
    good = [
        (one.setting, trial) for one, trial in turns if not trial.reason and (one.purpose == "confirm" or not is_paired)
    ]
    default, best = ([trial for at, trial in good if at == wanted] for wanted in (study.space.default, setting))
    return difference(study.objectives, default, best)


def _of_rule(kept: RuleResult) -> str:
    value = f"{times(kept.value)} the default's" if kept.rule.times else f"{kept.value:.3g}"
    return (
        f"In the pairs, {kept.rule.metric} is {value}, which {'breaks' if kept.breaks else 'keeps'} {kept.rule.text}."
    )


def _shown(setting: Mapping[str, str], default: Mapping[str, str]) -> str:
    """Write only the values that differ from the default's, as ``NAME=VALUE``."""
    return " ".join(f"{name}={value}" for name, value in setting.items() if value != default[name])


def _parameters(study: Study) -> list[TuneParameter]:
    best, known = study.best, [one for one in study.searched if one.log is not None]
    surrogate = study.search.surrogate(study.searched) if len(known) >= _FEWEST_OF_EFFECTS else None
    shares = effects(surrogate).alone if surrogate is not None else None
    is_told = told([one.setting for one in known], [one.log for one in known if one.log is not None])
    found: list[TuneParameter] = []
    for place, one in enumerate(study.options.parameters):
        points: list[TunePoint] = []
        if surrogate is not None:
            base = float(surrogate.predict(np.array([study.space.default]))[0][0])
            for value, expected in enumerate(response(surrogate, best, place)):
                count = sum(trial.setting[place] == value for trial in study.searched)
                low, middle, high = (math.exp(float(log) - base) for log in expected)
                points.append(TunePoint(value=one.values[value], expected=middle, low=low, high=high, trials=count))
        found.append(
            TuneParameter(
                name=one.name,
                values=list(one.values),
                ordered=one.ordered,
                default=one.default,
                best=one.values[best[place]],
                importance=shares[place] if shares is not None and is_told[place] else None,
                response=points,
            )
        )
    return found


def _interactions(study: Study, parameters: Sequence[TuneParameter]) -> list[TuneInteraction]:
    if all(one.importance is None for one in parameters):
        return []
    names = [one.name for one in parameters]
    shares = effects(study.search.surrogate(study.searched)).together
    found = [TuneInteraction(first=names[a], second=names[b], share=share) for (a, b), share in shares.items()]
    return sorted((one for one in found if one.share >= _NOTABLE_SHARE), key=lambda one: -one.share)


def _front(study: Study) -> list[TuneFront]:
    """Return the settings on the front of several objectives by the means of their trials, or none of a single one.

    Single trials would be on it by chance.
    """
    if len(study.objectives) < 2:
        return []
    full = [one for one in study.trials if not one.is_proxy]
    good = grouped((tuple(one.setting.items()), one) for one in full if not one.reason and not one.breaks)
    names = [goal.name for goal in study.objectives]
    means = [
        {name: math.exp(fmean(math.log(one.values[name]) for one in trials)) for name in names}
        for trials in good.values()
    ]
    points = [[toward_more(values[goal.name], goal.better) for goal in study.objectives] for values in means]
    found = [
        TuneFront(setting=trials[0].setting, values=values, trials=len(trials))
        for trials, values in zip(good.values(), means, strict=True)
    ]
    return [found[place] for place in front(points)]


def _tradeoffs(study: Study, result: ResultFolder) -> list[str]:
    """Say what else the best setting changes, by the pairs that confirm it."""
    best, default = study.space.texts(study.best), study.default
    before = [medians(_summary_of(result, one).rows) for one in study.pairs if one.setting == default]
    after = [medians(_summary_of(result, one).rows) for one in study.pairs if one.setting == best]
    count = min(len(before), len(after))
    found = proved_changes(before[:count], after[:count])
    setting = _shown(best, default)
    text = sentence(setting, _shown(default, best), found)
    return [text] if text else []


def _cost(study: Study) -> TuneCost:
    trials = study.every
    seconds, written = sum(one.seconds for one in trials), sum(one.bytes for one in trials)
    size = study.space.size
    # The whole grid would be of full trials.
    full = [one for one in trials if not one.is_proxy and one.seconds > 0]
    each = max(1, len(full))
    return TuneCost(
        trials=len(trials),
        seconds=seconds,
        bytes=written,
        settings=size,
        whole_seconds=sum(one.seconds for one in full) / each * size,
        whole_bytes=round(sum(one.bytes for one in full) / each * size),
    )


def _rows(study: Study, result: ResultFolder) -> list[Row]:
    """Return a row for each objective and setting, over all its trials."""
    by_setting = grouped(
        (searched.setting, trial)
        for searched, trial in zip(study.searched, study.trials, strict=True)
        if not trial.reason and not trial.is_proxy and not trial.default_there
    )
    targets = "+".join(target.name for target in result.read_request().targets)
    return [
        _row(goal, targets, study.space.texts(setting), trials, several=len(study.objectives) > 1)
        for setting, trials in by_setting.items()
        for goal in study.objectives
    ]


def _row(
    goal: TuneObjective, target: str, setting: Mapping[str, str], trials: Sequence[TuneTrial], *, several: bool
) -> Row:
    values = [one.values[goal.name] for one in trials]
    interval = median_interval(values, LEVEL)
    alone = len(values) == 1
    reason = "a single trial has no interval" if alone else f"the range of {len(values)} trials stands for an interval"
    few = Flag(code=interval_below(LEVEL), reason=reason)
    return Row(
        metric=goal.metric,
        unit=goal.unit,
        better=goal.better,
        target=target,
        params={**({"objective": goal.name} if several else {}), **setting},
        median=interval.median,
        low=None if alone else interval.low,
        high=None if alone else interval.high,
        repetitions=values,
        verdict=" and ".join(sorted({word for one in trials for word in one.verdict.split(" and ")})) or "none",
        grade=worst_grade(one.grade for one in trials),
        flags=[few] if interval.below_level else [],
    )
