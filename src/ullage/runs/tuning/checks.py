# SPDX-License-Identifier: Apache-2.0
"""Whether a search can be run as it is asked for, before anything starts, and what its trials may take.

A case is measured that the objectives name, and that a varied parameter changes. One that is the same in every setting
tells nothing of them, and takes time from those that do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ullage.analysis.tuning.search import FEWEST_TRIALS
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.identity import canonical_json
from ullage.model.plan import Case, Layout, Plan
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import DEFAULT_METRICS
from ullage.runs.cells.planning import WORKLOAD
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.jobtime import LAUNCH_S, Costed
from ullage.runs.options.declared import declared
from ullage.runs.options.model import SuiteOptions
from ullage.runs.session import Needed
from ullage.runs.suite import Prepared, find_suite
from ullage.runs.tuning.budget import measuring_s
from ullage.runs.tuning.objective import read_rule, tokens, wanted_tokens
from ullage.runs.tuning.options import UNSET, OptionValue, TunedParameter, TuneOptions
from ullage.runs.tuning.trial_inputs import TrialInputsMaker
from ullage.units import format_duration

# Where nobody says how long a trial measures, it gets one part in so many of the budget, and no less than so many
# seconds.
_TRIALS_IN_BUDGET: Final = 40
_SHORTEST_TRIAL_S: Final = 2.0
_USUAL_TRIAL_S: Final = 4.0
# A budget with room for so many full trials has that of the default, of finalists and of pairs, and of 20 short ones.
_FULL_IN_BUDGET: Final = 12
# A hanging trial takes one part in so many of the budget, but is not ended before so many seconds.
_HANGS_IN_BUDGET: Final = 10
_SHORTEST_WATCHDOG_S: Final = 10.0
_USUAL_WATCHDOG_S: Final = 120.0


def fitted_options(options: TuneOptions) -> dict[str, str]:
    """Return options that make the trials of a suite without a limit of time short enough for the budget.

    None where nobody has to choose them: they are typed or varied, or the budget has room without them.
    """
    each_s = measuring_s(options.budget_s, _full_trials(options))
    found = find_suite(options.suite).options.within(options.words, each_s)
    varied = {one.word for one in options.parameters}
    return {name: text for name, text in found.items() if name not in varied and name not in options.words}


def _full_trials(options: TuneOptions) -> int:
    """Return for how many full trials there is to be room where the search chooses what they take."""
    most = _FULL_IN_BUDGET if options.trials is None else min(_FULL_IN_BUDGET, options.trials)
    return max(FEWEST_TRIALS, most)


def shown_options(chosen_options: Mapping[str, str]) -> str:
    """Return options of a suite as they are typed."""
    return " ".join(f"--{name.replace('_', '-')} {text}" for name, text in chosen_options.items())


def usual_options(options: TuneOptions) -> dict[str, OptionValue]:
    """Return the options that the search chooses for its trials where nobody did, by its budget.

    A trial that hangs must leave time for others, so its watchdog is shorter than usual in a short search.
    """
    fields = declared(find_suite(options.suite).options)
    varied = {one.word for one in options.parameters}
    least = min(_USUAL_TRIAL_S, round(measuring_s(options.budget_s, FEWEST_TRIALS), 1))
    each = max(_SHORTEST_TRIAL_S, least, options.trial_s, round(options.budget_s / _TRIALS_IN_BUDGET))
    hang = max(_SHORTEST_WATCHDOG_S, round(options.budget_s / _HANGS_IN_BUDGET))
    chosen = {"watchdog_s": hang} if hang < _USUAL_WATCHDOG_S else {}
    # A suite that measures until all is done where no time is given would lack cases if it was cut short.
    if (time_s := fields.get("time_s")) is not None and not (time_s.default is None and time_s.option.unsaid):
        chosen["time_s"] = each
    chosen_options: dict[str, OptionValue] = {
        fields[field].keyword: format_duration(seconds) for field, seconds in chosen.items() if field in fields
    }
    chosen_options |= fitted_options(options)
    named = [wanted_tokens(text) for text in (*options.objective, *options.keep)]
    if "access" in fields and named and all("write" in words and "read" not in words for words in named):
        chosen_options[fields["access"].keyword] = "write"
    if (most := _space_of_trial(options)) is not None:
        chosen_options[fields["space"].keyword] = str(most)
    return {name: text for name, text in chosen_options.items() if name not in varied and name not in options.words}


def enough_of(options: TuneOptions) -> int | None:
    """Return the repetitions that will do where a trial has no time for more; None where that is for the suite to say.

    How well a setting is known follows from its trials.
    """
    asked = {*options.words, *(one.word for one in options.parameters)}
    return 1 if "min_repetitions" in declared(find_suite(options.suite).options).keys() - asked else None


def _space_of_trial(options: TuneOptions) -> int | None:
    """Return the space that a trial may take, where its suite keeps what it writes within that; else None.

    So a search stays within its bytes, whatever a probe chooses.
    """
    model = find_suite(options.suite).options
    written = model.writes_within(options.words)
    if options.space is None or written is None or "space" not in declared(model):
        return None
    said = options.words.get("target")
    targets = len(said) if isinstance(said, list) else 1
    return max(1, options.space // (_full_trials(options) * written * targets))


@dataclass(frozen=True)
class Checked:
    """A search whose every value was prepared once: the default setting, the parameters, and which cases it needs."""

    first: Prepared
    overs: Sequence[TunedParameter]
    plans: Sequence[Plan]
    needed: Needed


def checked(
    inputs_maker: TrialInputsMaker, options: TuneOptions, request: Request, engine_context: EngineContext
) -> Checked:
    """Prepare each value of each parameter beside the defaults of the others.

    Raise ``UserError`` for a value that can never be measured. ``unset`` that comes to the same is that value.
    """
    import tempfile

    overs = inputs_maker.overs
    default = {one.name: one.default for one in overs}
    with tempfile.TemporaryDirectory() as scratch:
        own = replace(inputs_maker, folder=Path(scratch))
        result = ResultFolder(Path(scratch))

        def plans(setting: Mapping[str, str]) -> Sequence[Plan]:
            return _prepared(own.parsed(own.of(setting)), request, engine_context).plans(result)

        first = _prepared(own.parsed(own.of(default)), request, engine_context)
        of_default = first.plans(result)
        found = {one.name: _of_values(one, overs, plans) for one in overs}
    others = [of_value for values in found.values() for of_value in values.values()]
    metrics = [*options.objective, *(read_rule(text).metric for text in options.keep)]
    check_metrics(metrics, inputs_maker.model, of_default)
    merged = [_without_twin(one, of_default, found[one.name]) for one in overs]
    return Checked(first, merged, of_default, needed_cases(of_default, others, metrics))


def _of_values(
    over: TunedParameter, overs: Sequence[TunedParameter], plans: Callable[[Mapping[str, str]], Sequence[Plan]]
) -> dict[str, Sequence[Plan]]:
    """Return the plans of each value of a parameter but its default, beside the defaults of the others.

    A value that the machine refuses is a trial that fails, where another is not. One that suite or engine refuse beside
    every value of every other parameter is an error.
    """
    default = {one.name: one.default for one in overs}
    found: dict[str, Sequence[Plan]] = {}
    refused: list[UserError] = []
    for value in (text for text in over.values if text != over.default):
        beside = [{one.name: text} for one in overs if one is not over for text in one.values if text != one.default]
        errors: list[UserError] = []
        for other in ({}, *beside):
            try:
                found[value] = plans({**default, **other, over.name: value})
            except UserError as error:
                errors.append(error)
                if error.code == EXIT_BAD_INPUT:
                    continue
            break
        if value not in found:
            refused.append(errors[0])
            if errors[-1].code == EXIT_BAD_INPUT:
                raise _refusal(errors[0], f"--over {over.name}={value}")
    if refused and not found:
        raise _refusal(refused[0], f"--over {over.name}", "no value of it can be measured: ")
    return found


def _refusal(error: UserError, where: str, head: str = "") -> UserError:
    return UserError(head + f"{error.where}: {error.what}".lstrip(": "), where, error.right, error.code)


def _without_twin(over: TunedParameter, default: Sequence[Plan], found: Mapping[str, Sequence[Plan]]) -> TunedParameter:
    """Return ``over`` without ``unset`` where that makes the cases of one of the values: then this is the default."""
    if over.default != UNSET or over.how not in ("option", "parameter"):
        return over
    twin = next((value for value, plans in found.items() if same_cases(plans, default)), None)
    if twin is None:
        return over
    values = tuple(value for value in over.values if value != UNSET)
    return over.model_copy(update={"values": values, "default": twin})


def _prepared(parsed: ParsedOptions, request: Request, engine_context: EngineContext) -> Prepared:
    suite = find_suite(str(request.options.get("suite", "")))
    asked = {"suite": suite.name, "targets": parsed.targets, "options": parsed.options}
    return suite.prepare(request.model_copy(update=asked), engine_context)


def launches_seconds(found: Checked) -> float:
    """Return the seconds that the launches of a trial are assumed to take besides their repetitions."""
    return LAUNCH_S * sum(any(found.needed(case, plan.layout) for case in plan.cases) for plan in found.plans)


def least_seconds(found: Checked, enough: int | None) -> float:
    """Return the seconds that a trial needs for its minimum, by what is assumed of the machine; 0 where not known.

    ``enough``: repetitions that will do, as ``enough_of`` says.
    """
    if not isinstance(found.first, Costed):
        return 0.0
    needed = {case.id for plan in found.plans for case in plan.cases if found.needed(case, plan.layout)}
    work = [one for launch in found.first.work().launches for one in launch if one.case in needed]
    return launches_seconds(found) + sum(one.each_s * min(one.repetitions, enough or one.repetitions) for one in work)


def seconds_of(request: Request) -> float | None:
    """Return the seconds that a run of ``request`` may measure; None where it has no limit."""
    seconds = request.options.get("time_s")
    return float(seconds) if isinstance(seconds, (int, float)) else None


def bytes_of(first: Prepared, plans: Sequence[Plan], options: TuneOptions) -> int | None:
    """Return the bytes that a trial can write at most, or None where that is not known.

    Raise ``UserError`` where bytes are limited and a probe would choose how many a trial writes.
    """
    if options.space is not None and _space_of_trial(options) is not None:
        return options.space // _full_trials(options)
    if first.unsettled:
        if options.space is not None:
            raise UserError("a probe would choose what a trial writes", "--space", f"give {first.unsettled}")
        return None
    return most_written(plans)


# A probe chooses these, by what it measures.
_BY_PROBE = frozenset({"block_bytes", "segments"})


def needed_cases(default: Sequence[Plan], others: Sequence[Sequence[Plan]], metrics: Sequence[str]) -> Needed:
    """Return what tells the cases that a search over settings with these plans needs for ``metrics``.

    Where all cases are the same in all settings, for example with a variable of the environment, all are needed that
    the metrics name.
    """
    every = [(case, plan.layout) for plan in default for case in plan.cases]
    shared = {_likeness(*one) for one in every}
    for plans in others:
        shared &= {_likeness(case, plan.layout) for plan in plans for case in plan.cases}
    unvaried = shared if any(_likeness(*one) not in shared for one in every) else set[bytes]()
    words = [_tokens(case) for case, _ in every]
    known = set[str]().union(*words)
    named = [{word for word in wanted_tokens(metric) if word in known} for metric in metrics]

    def is_needed(case: Case, layout: Layout) -> bool:
        own = _tokens(case)
        return _likeness(case, layout) not in unvaried and any(words <= own for words in named)

    return is_needed if any(is_needed(*one) for one in every) else lambda _case, _layout: True


def same_cases(first: Sequence[Plan], second: Sequence[Plan]) -> bool:
    """Tell whether plans have the same cases, whatever a probe chooses."""
    one, other = ({_likeness(case, plan.layout) for plan in plans for case in plan.cases} for plans in (first, second))
    return one == other


def check_metrics(metrics: Sequence[str], model: type[SuiteOptions], plans: Sequence[Plan]) -> None:
    """Raise ``UserError`` for an objective or a rule with a word that no row of the suite has.

    Only suites that state their metrics, and their phases in each case, tell that before a trial.
    """
    cases = [case for plan in plans for case in plan.cases]
    usual = DEFAULT_METRICS if all(case.workload.name == WORKLOAD for case in cases) else ()
    names = model.metrics.split() or usual
    if not names or not all("phases" in case.workload.parameters for case in cases):
        return
    known = {word for name in (*names, "cpu_time") for word in tokens(name)}
    known |= {word for case in cases for word in _tokens(case)}
    for metric in metrics:
        strange = sorted(word for word in wanted_tokens(metric) - known if word.isalpha())
        if strange:
            right = f"name one of: {', '.join(name.replace('_', ' ') for name in names)}"
            raise UserError(f"no row of this suite has the word '{strange[0]}'", f"--objective '{metric}'", right)


def _likeness(case: Case, layout: Layout) -> bytes:
    """Return what two cases have in common that differ in what a probe chooses."""
    parameters = {name: value for name, value in case.workload.parameters.items() if name not in _BY_PROBE}
    workload = case.workload.model_copy(update={"parameters": parameters})
    own = case.model_copy(update={"id": "0" * 16, "workload": workload})
    return canonical_json([own.model_dump(mode="json"), layout.model_dump(mode="json")])


def _tokens(case: Case) -> set[str]:
    values: Iterable[object] = (case.target, case.backend.name, *case.workload.parameters.values())
    flat = (text for value in values for text in (value if isinstance(value, list) else [value]))
    return {word for text in flat for word in tokens(str(text))}


def most_written(plans: Sequence[Plan]) -> int | None:
    """Return the bytes that ``plans`` can write at most; None where a plan does not say.

    A plan says of transfers how often they are repeated at most.
    """
    total = 0
    for plan in plans:
        most = plan.stop_rule.parameters.get("maximum")
        if not isinstance(most, int):
            return None
        for case in plan.cases:
            if case.workload.name != "transfer":
                return None
            parameters = case.workload.parameters
            phases = parameters.get("phases", ["write", "read"])
            writes = sum(word in {"write", "rewrite"} for word in phases) if isinstance(phases, list) else 1
            size = count_of(parameters, "block_bytes") * count_of(parameters, "segments", 1) * plan.layout.ranks
            total += writes * size * (most + plan.warmups)
    return total


def seconds_of_walls(plans: Sequence[Plan]) -> float | None:
    """Return about how long ``plans`` take whose phases go on until a wall; None where they have none.

    All else, such as the phases that read, takes about as long again.
    """
    walls = [case.workload.parameters.get("stonewall_s") for plan in plans for case in plan.cases]
    total = sum(wall for wall in walls if isinstance(wall, (int, float)))
    return 2 * total or None
