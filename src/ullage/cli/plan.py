# SPDX-License-Identifier: Apache-2.0
"""``ullage plan SUITE``: what a run would do, without starting or writing anything; ``ullage predict PROGRAM``: how
long a program will take, from measured rates, and a run for comparison.
"""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, cast

import typer

from ullage.cli.diagnose import RATES, LogArgument, TargetOption, read_rates
from ullage.cli.options import options_of_runs
from ullage.cli.submitting import check_walltime, limit_of_jobs
from ullage.cli.suite_commands import add_suites, make_request, measure_prepared

if TYPE_CHECKING:
    from ullage.model.summary import Finding
    from ullage.runs.inputs import ParsedOptions
    from ullage.runs.suite import Explanation, Suite

_DOC: Final = (
    "Show what a run would do, without measuring anything.\n\nThe plan lists every case "
    "with its bytes, files, time and space."
)


_DOC_OF_PREDICT: Final = (
    "Predict how long a program will take, from measured rates.\n\nA run of the same work is compared with the "
    "prediction. The last line of stdout is the result folder. `ullage predict LOG` is short for `ullage predict log "
    "LOG`."
)
_PREFIX: Final = "predict-"


def register(app: typer.Typer) -> None:
    """Add the verbs to ``app``."""
    from ullage.runs.suite import all_suites

    json = Annotated[bool, typer.Option("--json", help="Print the plans as JSON, one for each layout.")]
    as_json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=json)
    more = options_of_runs("engine", "hosts", "walltime", "chain", "launcher", "site")
    add_suites(app, "plan", _DOC, _plan, {"as_json": as_json, **more})
    own = {name.removeprefix(_PREFIX): suite for name, suite in all_suites().items() if name.startswith(_PREFIX)}
    of_verb = options_of_runs("result", "launcher", "engine", "hosts", "everything", "quiet")
    add_suites(app, "predict", _DOC_OF_PREDICT, _predict, of_verb, own, {"log": _predict_log})


def _plan(suite: "Suite", asked: "ParsedOptions", own: Mapping[str, Any]) -> None:
    from ullage.runs.inputs import EngineContext
    from ullage.runs.members.prepared import prepare_run
    from ullage.terminal import print_line

    engine_context = EngineContext.of(own["engine"])
    prepared = prepare_run(suite, make_request(suite, asked, own["hosts"]), engine_context)
    if own["as_json"]:
        import json

        from ullage.results.folder import DEFAULT_PARENT, ResultFolder

        folder = ResultFolder((DEFAULT_PARENT / prepared.request.run_id).absolute())
        typer.echo(json.dumps([plan.model_dump(mode="json") for plan in prepared.plans(folder)], indent=1))
        return
    walltime, system = limit_of_jobs(own)
    lines = check_walltime(prepared, system, walltime, own["chain"]) if walltime else []
    print_explanation(prepared.explain())
    for line in lines:
        print_line(line)


def print_explanation(explanation: "Explanation") -> None:
    """Print a table of cases with the lines around it, and the same of each part."""
    from ullage.terminal import print_line, print_table, print_text

    for line in explanation.head:
        print_text(line)
    if explanation.headers:
        print_table(explanation.headers, explanation.rows)
    for name, part in explanation.parts:
        print_line("")
        print_line(f"== {name}")
        print_explanation(part)
    for line in explanation.tail:
        print_text(line)


class _Prediction(Protocol):
    @property
    def told(self) -> "Sequence[Finding]": ...


def _predict(suite: "Suite", asked: "ParsedOptions", own: Mapping[str, Any]) -> None:
    from ullage.runs.inputs import EngineContext
    from ullage.terminal import print_text

    engine_context = EngineContext.of(own["engine"])
    prepared = suite.prepare(make_request(suite, asked, own["hosts"]), engine_context)
    told = cast("_Prediction", prepared).told
    for one in told:
        print_text(f"{one.title}")
        print_text(f"    {one.text}")
    if not told:
        measure_prepared(prepared, engine_context, own)


def _predict_log(log: LogArgument, *, rates: Annotated[list[Path], RATES], target: TargetOption = "") -> None:
    """How long does the I/O of this Darshan log take on a target?

    The bytes and operations of the log are held against rates of the target, by their size, order, kind of file and
    ranks. What has no rate there is named and left out.
    """
    from ullage.importers.darshan import facts_at
    from ullage.importers.darshan.causes import time_of
    from ullage.quantity import listing, percent, show
    from ullage.terminal import print_text

    facts, known = facts_at(log), read_rates(rates, target)
    time, unknown = time_of(facts, known)
    between = f"{show(time.low, 's')} to {show(time.high, 's')}"
    print_text(f"All I/O of the log takes {show(time.value, 's')} ({between}) at the rates of {known.name}.")
    print_text(f"In the job of the log it took {show(facts.waited, 's')} of {show(facts.job.seconds, 's')}.")
    if unknown:
        moved = sum(group.moved() for group in facts.lowest)
        lost = sum(work.amount for work in unknown if work.block_bytes) / max(1, moved)
        words = listing(list(dict.fromkeys(work.words for work in unknown)))
        share = f" ({percent(lost, 1)} of the bytes)" if lost else ""
        print_text(f"No rate is known of the following, which is left out{share}: {words}.")
