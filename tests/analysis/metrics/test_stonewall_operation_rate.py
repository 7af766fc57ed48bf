# SPDX-License-Identifier: Apache-2.0
"""Operations at the wall over the time to it; nothing without a wall."""

import pytest

from support.make_records import make_phase
from ullage.analysis.metrics import metric_named
from ullage.model.record import Done, Stonewall


def test_only_phases_with_a_wall_have_it() -> None:
    metric = metric_named("stonewall_operation_rate")
    phase = make_phase()
    assert metric.sample(phase) is None
    wall = Done(elapsed_ns=2_000_000_000, bytes=0, operations=500)
    stonewall = Stonewall(deadline_ns=1, at_wall=wall, wear_out=True, least_operations=1, most_operations=2)
    assert metric.sample(phase.model_copy(update={"stonewall": stonewall})) == pytest.approx(250)
    assert (metric.unit, metric.better) == ("op/s", "more")
