# SPDX-License-Identifier: Apache-2.0
"""``ullage predict PROGRAM``: how long a program will take, from measured rates, and a run for comparison."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import typer

from ullage.cli.options import (
    AllOption,
    EngineOption,
    HostsOption,
    LauncherOption,
    QuietOption,
    ResultOption,
)
from ullage.cli.suite_commands import add_suites, make_request, measure_prepared

if TYPE_CHECKING:
    from ullage.model.summary import Finding
    from ullage.runs.inputs import ParsedOptions
    from ullage.runs.suite import Prepared, Suite

_DOC: Final = (
    "Predict how long a program will take, from measured rates.\n\nA run of the same work is compared with the "
    "prediction. The last line of stdout is the result folder."
)
_PREFIX: Final = "predict-"


class _Prediction(Protocol):
    @property
    def told(self) -> "Sequence[Finding]": ...


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    from ullage.runs.suite import all_suites

    own = {name.removeprefix(_PREFIX): suite for name, suite in all_suites().items() if name.startswith(_PREFIX)}
    add_suites(app, "predict", _DOC, _predict, _options, own)


def _options(
    result: ResultOption = None,
    launcher: LauncherOption = "auto",
    engine: EngineOption = None,
    hosts: HostsOption = None,
    everything: AllOption = False,
    quiet: QuietOption = False,
) -> None:
    """Declare the options of the verb as parameters."""


def _predict(suite: "Suite", asked: "ParsedOptions", own: Mapping[str, Any]) -> None:
    from ullage.runs.inputs import EngineContext

    engine_context = EngineContext.of(own["engine"])
    prepared = suite.prepare(make_request(suite, asked, own["hosts"]), engine_context)
    if not _print_told(prepared):
        measure_prepared(prepared, engine_context, own)


def _print_told(prepared: "Prepared") -> bool:
    """Print what is known without a measurement; return whether there is such."""
    from ullage.terminal import print_line

    found = cast("_Prediction", prepared).told
    for one in found:
        print_line(f"{one.title}")
        print_line(f"    {one.text}")
    return bool(found)
