# SPDX-License-Identifier: Apache-2.0
"""Which cases of a trial are measured: those that the objectives name, and that a varied parameter changes.

A case that is the same in every setting tells nothing of them, and takes time from those that do.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ullage.errors import UserError
from ullage.identity import canonical_json
from ullage.model.plan import Case, Layout, Plan
from ullage.results.rows import DEFAULT_METRICS
from ullage.runs.cells.planning import WORKLOAD
from ullage.runs.options.model import SuiteOptions
from ullage.runs.tuning.objective import tokens, wanted_tokens

Needed: TypeAlias = Callable[[Case, Layout], bool]
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
