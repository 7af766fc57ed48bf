# SPDX-License-Identifier: Apache-2.0
"""Whether a search can be run as it is asked for, before anything starts, and what its trials may take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ullage.analysis.tuning.search import FEWEST_TRIALS
from ullage.errors import UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.options.declared import Declared, declared
from ullage.runs.suite import Prepared, find_suite
from ullage.runs.tuning.budget import measuring_s
from ullage.runs.tuning.options import OptionValue, TunedParameter, TuneOptions
from ullage.runs.tuning.trial import most_written, prepare
from ullage.runs.tuning.trial_inputs import TrialInputsMaker
from ullage.units import format_duration

# Where nobody says how long a trial measures, it gets one part in so many of the budget, and no less than so many
# seconds.
_TRIALS_IN_BUDGET: Final = 40
_SHORTEST_TRIAL_S: Final = 2.0
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
    each = max(_SHORTEST_TRIAL_S, round(options.budget_s / _TRIALS_IN_BUDGET))
    hang = max(_SHORTEST_WATCHDOG_S, round(options.budget_s / _HANGS_IN_BUDGET))
    chosen = {"watchdog_s": hang} if hang < _USUAL_WATCHDOG_S else {}
    if "time_s" in fields and not _ends_by_itself(fields["time_s"]):
        chosen["time_s"] = each
    chosen_options: dict[str, OptionValue] = {
        fields[field].keyword: format_duration(seconds) for field, seconds in chosen.items() if field in fields
    }
    chosen_options |= fitted_options(options)
    if (most := _space_of_trial(options)) is not None:
        chosen_options[fields["space"].keyword] = str(most)
    return {name: text for name, text in chosen_options.items() if name not in varied and name not in options.words}


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


def _ends_by_itself(time_: Declared) -> bool:
    """Tell whether a suite measures until all is done where no time is given: cut short, it would lack cases."""
    return time_.default is None and bool(time_.option.unsaid)


def checked(
    inputs_maker: TrialInputsMaker, overs: Sequence[TunedParameter], request: Request, engine_context: EngineContext
) -> Prepared:
    """Read each value of each parameter beside the defaults of the others; the default setting is prepared."""
    import tempfile

    default = {one.name: one.default for one in overs}
    with tempfile.TemporaryDirectory() as scratch:
        own = replace(inputs_maker, folder=Path(scratch))
        for one in overs:
            for value in one.values:
                try:
                    own.parsed(own.of({**default, one.name: value}))
                except UserError as error:
                    where = f"--over {one.name}={value}"
                    raise UserError(
                        f"{error.where}: {error.what}".lstrip(": "), where, error.right, error.code
                    ) from error
        for one in overs:
            _check_any(own, one, default, request, engine_context)
        return _prepared(own.parsed(own.of(default)), request, engine_context)


def _check_any(
    inputs_maker: TrialInputsMaker,
    over: TunedParameter,
    default: Mapping[str, str],
    request: Request,
    engine_context: EngineContext,
) -> None:
    """Raise ``UserError`` where engine or machine refuse every value of a parameter but its default.

    A refused value beside others is a trial that fails.
    """
    refused: list[UserError] = []
    for value in over.values:
        if value == over.default:
            continue
        try:
            _prepared(inputs_maker.parsed(inputs_maker.of({**default, over.name: value})), request, engine_context)
        except UserError as error:
            refused.append(error)
        else:
            return
    if refused:
        what = f"no value of it can be measured: {refused[0].where}: {refused[0].what}"
        raise UserError(what, f"--over {over.name}", refused[0].right, refused[0].code)


def _prepared(parsed: ParsedOptions, request: Request, engine_context: EngineContext) -> Prepared:
    suite = find_suite(str(request.options.get("suite", ""))).name
    asked = {"suite": suite, "targets": parsed.targets, "options": parsed.options}
    return prepare(request.model_copy(update=asked), engine_context)


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
