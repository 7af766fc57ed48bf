# SPDX-License-Identifier: Apache-2.0
"""``ullage plan SUITE``: what a run would do. Nothing is started and nothing is written."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ullage.cli.options import ChainOption, EngineOption, HostsOption, LauncherOption, SiteOption, WalltimeOption
from ullage.cli.submitting import check_walltime, limit_of_jobs
from ullage.cli.suite_commands import add_suites, make_request

if TYPE_CHECKING:
    from ullage.runs.inputs import ParsedOptions
    from ullage.runs.suite import Explanation, Prepared, Suite

_DOC = (
    "Show what a run would do, without measuring anything.\n\nThe plan lists every case "
    "with its bytes, files, time and space."
)


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    add_suites(app, "plan", _DOC, _plan, _options)


def _options(
    as_json: Annotated[bool, typer.Option("--json", help="Print the plans as JSON, one for each layout.")] = False,
    engine: EngineOption = None,
    hosts: HostsOption = None,
    walltime: WalltimeOption = "",
    chain: ChainOption = 0,
    launcher: LauncherOption = "auto",
    site: SiteOption = None,
) -> None:
    """Declare the options of the verb as parameters."""


def _plan(suite: "Suite", asked: "ParsedOptions", own: Mapping[str, Any]) -> None:
    from ullage.runs.inputs import EngineContext
    from ullage.runs.members.prepared import prepare_run
    from ullage.terminal import print_line

    engine_context = EngineContext.of(own["engine"])
    prepared = prepare_run(suite, make_request(suite, asked, own["hosts"]), engine_context)
    if own["as_json"]:
        typer.echo(_json(prepared))
        return
    walltime, system = limit_of_jobs(own)
    lines = check_walltime(prepared, system, walltime, own["chain"]) if walltime else []
    print_explanation(prepared.explain())
    for line in lines:
        print_line(line)


def _json(prepared: "Prepared") -> str:
    import json

    from ullage.results.folder import DEFAULT_PARENT, ResultFolder

    folder = ResultFolder((DEFAULT_PARENT / prepared.request.run_id).absolute())
    return json.dumps([plan.model_dump(mode="json") for plan in prepared.plans(folder)], indent=1)


def print_explanation(explanation: "Explanation") -> None:
    """Print a table of cases with the lines around it, and the same of each part."""
    from ullage.terminal import print_line, print_table

    for line in explanation.head:
        print_line(line)
    if explanation.headers:
        print_table(explanation.headers, explanation.rows)
    for name, part in explanation.parts:
        print_line("")
        print_line(f"== {name}")
        print_explanation(part)
    for line in explanation.tail:
        print_line(line)
