# SPDX-License-Identifier: Apache-2.0
"""Published runs that results are held against."""

import math

import pytest

from support.data import some
from ullage.report.charts.phases import ReferenceRun, publications
from ullage.suites.io500.phases import BY_NAME


def runs() -> list[ReferenceRun]:
    return [run for publication in publications() for run in publication.runs]


def test_every_run_has_a_source_and_a_name_of_its_own() -> None:
    assert all(publication.source for publication in publications())
    assert len({run.name for run in runs()}) == len(runs()) > 0


def test_phases_have_the_names_and_units_of_the_benchmark() -> None:
    for run in some(runs()):
        assert {name: phase.unit for name, phase in run.phases.items()} == {
            name: BY_NAME[name].unit for name in run.phases
        }


def geometric_mean(run: ReferenceRun, unit: str) -> float:
    return math.exp(math.fsum(math.log(phase.value) for phase in run.phases.values() if phase.unit == unit) / 4)


@pytest.mark.parametrize(
    ("nodes", "bandwidth", "metadata"), [("160 nodes", 19.9883, 4056.73), ("504 nodes", 88.2049, 1522.68)]
)
def test_summit_gives_its_published_scores_again(nodes: str, bandwidth: float, metadata: float) -> None:
    """Within the rounding of the printed phases: 0.021 GiB/s was 0.021018."""
    run = next(run for run in runs() if nodes in run.name)
    assert geometric_mean(run, "GiB/s") == pytest.approx(bandwidth, rel=3e-4)
    assert math.sqrt(geometric_mean(run, "kIOPS")) == pytest.approx(metadata, rel=1e-5)


def test_rates_are_plain_numbers() -> None:
    phases = next(run for run in runs() if "504" in run.name).phases
    assert phases["ior-easy-write"].rate == 2158.7 * 2**30
    assert phases["find"].rate == 21_780_030.0
