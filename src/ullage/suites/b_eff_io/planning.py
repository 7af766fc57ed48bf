# SPDX-License-Identifier: Apache-2.0
"""From cells to the plans of launches. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.model.plan import Case, Layout, Limits, Named, Plan, Target
from ullage.model.request import Request
from ullage.suites.b_eff_io.options import BEffIoOptions


@dataclass(frozen=True)
class Terms:
    """Of one launch: its round from 0, whether it goes on with data that is there, and leaves its own for others."""

    round: int
    target: Target
    layout: Layout
    records: str
    watchdog_s: float
    continues: bool = False
    keep: bool = False


def make_plan(request: Request, options: BEffIoOptions, terms: Terms, cases: Sequence[Case]) -> Plan:
    """Rounds differ in their seed, so that data of an earlier round is never taken for that of a later one."""
    return Plan(
        run_id=request.run_id,
        suite=request.suite,
        records=terms.records,
        seed=terms.round + 1,
        layout=terms.layout,
        targets=[terms.target],
        stop_rule=Named(name="fixed", parameters={"count": 1}),
        # A case that was disturbed cannot be repeated alone: those that follow use its data.
        dirty_retries=0,
        watchdog_s=terms.watchdog_s,
        limits=Limits(space_bytes=options.space),
        order="listed",
        keep=terms.keep,
        keep_when_interrupted=options.resumable,
        continues=terms.continues,
        cases=list(cases),
    )
