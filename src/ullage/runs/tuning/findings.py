# SPDX-License-Identifier: Apache-2.0
"""The findings of a search for the best setting."""

from ullage.model.summary import Finding, Gain
from ullage.model.tuning import Tuning
from ullage.quantity import listing, percent, plural
from ullage.runs.tuning.trial_inputs import shell_line
from ullage.units import format_time, format_volume


def findings_on(tune: Tuning) -> list[Finding]:
    """Return the answer first, then what changes with it, what matters, what it cost and what failed."""
    said = tune.confirmation
    better = said is not None and said.answer == "better"
    gain = Gain(factor=said.ratio, low=said.low, high=said.high) if said is not None and better else None
    what = " and ".join(one.name for one in tune.objectives)
    found = [
        Finding(
            kind="tuned",
            title=f"Best setting for {what}",
            text=tune.answer,
            change=shell_line(tune.environment, tune.preparation, tune.command) if better else "",
            gain=gain,
            severity="advice" if better else "info",
            numbers={"trials": tune.cost.trials, "settings": tune.cost.settings},
        )
    ]
    found += [Finding(kind="tune-tradeoff", title="What else changes", text=text) for text in tune.tradeoffs]
    found += _importance(tune)
    found.append(_cost_finding(tune))
    failed = [one for one in tune.trials if one.reason]
    if failed:
        text = (
            f"{len(failed)} of {plural(len(tune.trials), 'trial')} failed. The first: {failed[0].reason.rstrip('.')}."
        )
        found.append(Finding(kind="tune-failed", title="Some trials failed", text=text, severity="warning"))
    return [*found, *_broken(tune)]


def _broken(tune: Tuning) -> list[Finding]:
    """Say how many settings break a rule."""
    found: list[Finding] = []
    for rule in tune.constraints:
        count = len({tuple(one.setting.items()) for one in tune.trials if one.breaks == rule})
        if count:
            text = f"{plural(count, 'setting')} of the search {'breaks' if count == 1 else 'break'} {rule}."
            found.append(Finding(kind="tune-broken", title="Some settings break a rule", text=text))
    return found


def _importance(tune: Tuning) -> list[Finding]:
    shares = [(one.name, one.importance) for one in tune.parameters if one.importance is not None]
    if not shares:
        return []
    ordered = sorted(shares, key=lambda one: -one[1])
    named = ", ".join(f"{name} {percent(share)}" for name, share in ordered)
    rest = [one.name for one in tune.parameters if one.importance is None]
    does = "does" if len(rest) == 1 else "do"
    others = f" What {listing(rest)} {does} cannot be told from noise." if rest else ""
    text = f"Shares of the variance over all settings: {named}.{others}"
    return [Finding(kind="tune-importance", title=f"{ordered[0][0]} changes the objective most", text=text)]


def _cost_finding(tune: Tuning) -> Finding:
    cost = tune.cost
    text = (
        f"The search took {plural(cost.trials, 'trial')}, {format_time(cost.seconds)} and {format_volume(cost.bytes)} "
        f"written. All {cost.settings} settings once would take {format_time(cost.whole_seconds)} and "
        f"{format_volume(cost.whole_bytes)}."
    )
    return Finding(kind="tune-cost", title="What the search cost", text=text)
