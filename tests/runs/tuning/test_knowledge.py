# SPDX-License-Identifier: Apache-2.0
"""Where a search begins by what the first trial and the machine's facts say, and which trials it ends early."""

import math
from pathlib import Path

import pytest

from support.data import some
from support.make_records import plain_row
from support.simulated_engine import DESCRIBE
from ullage.model.record import Done, PhaseRecord
from ullage.model.summary import Ceiling, Row
from ullage.model.system import Cpu, Place, SystemFacts
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.runs.tuning.early_stop import FEWEST, Watch, means, rates_of
from ullage.runs.tuning.knowledge import at_once, known_start, needed_at_once
from ullage.runs.tuning.options import TunedParameter
from ullage.runs.tuning.tuned_parameters import ParameterSources, read_overs


def overs(suite: str, tmp_path: Path, *texts: str) -> list[TunedParameter]:
    model = find_suite(suite).options
    asked = parse_options(model, target=[f"a={tmp_path}"])
    return read_overs(texts, (), ParameterSources(suite, model, asked, DESCRIBE))


def row(median: float, ceiling: float | None, **params: int) -> Row:
    top = None if ceiling is None else Ceiling(value=ceiling, kind="detected", source="link")
    own = {"target": "a", "low": None, "high": None, "verdict": "none", "grade": None, "ceiling": top, "share": None}
    return plain_row(median, {"access": "write", "ranks": 1, "nodes": 1, **params}, **own)


def facts(block_bytes: int = 4096, cores: int = 4) -> SystemFacts:
    place = Place(target="a", path="/a", exists=True, block_bytes=block_bytes)
    return SystemFacts(host="n1", taken="", cpu=Cpu(usable_cores=cores), places=[place])


def test_littles_law_tells_the_depth_that_a_ceiling_needs(tmp_path: Path) -> None:
    """A request takes 1 ms, so 100 requests/s each need 1/10 of the ceiling of 1,000 requests/s: 10 in flight."""
    parameters = overs("disk", tmp_path, "queue_depth=1,4,8,16,32,64", "backend=posix,uring")
    found = known_start(parameters, find_suite("disk").options, [row(100e6, 1000e6)], facts())
    assert found.values == {"queue_depth": "16"}
    assert found.reasons == ["The ceiling needs 10 requests in flight by Little's law, so queue_depth begins at 16."]


def test_ranks_come_first_and_depth_takes_what_the_cores_leave(tmp_path: Path) -> None:
    parameters = overs("disk", tmp_path, "threads=1,2,4,8", "queue_depth=1,2,4,8,16")
    found = known_start(parameters, find_suite("disk").options, [row(50e6, 1000e6)], facts(cores=4))
    assert found.values == {"threads": "4", "queue_depth": "8"}


def test_processes_per_node_are_those_of_each_node(tmp_path: Path) -> None:
    parameters = overs("io500", tmp_path, "ppn=1,2,4,8,16")
    rows = [row(10e6, 80e6, ranks=4, nodes=4)]
    assert known_start(parameters, find_suite("io500").options, rows, facts(cores=16)).values == {"ppn": "8"}


@pytest.mark.parametrize(("median", "ceiling"), [(100e6, None), (950e6, 1000e6)])
def test_without_a_ceiling_or_near_it_nothing_is_known(tmp_path: Path, median: float, ceiling: float | None) -> None:
    parameters = overs("disk", tmp_path, "queue_depth=1,4,16")
    found = known_start(parameters, find_suite("disk").options, [row(median, ceiling)], facts())
    assert found.values == {}
    assert needed_at_once([row(median, ceiling)]) is None


def test_a_block_begins_at_what_a_striped_file_system_prefers(tmp_path: Path) -> None:
    parameters = overs("disk", tmp_path, "block=64K:16M:x4")
    model = find_suite("disk").options
    assert known_start(parameters, model, [], facts(4 << 20)).values == {"block": "4M"}
    assert known_start(parameters, model, [], facts(4096)).values == {}
    assert known_start(parameters, model, [], None).values == {}


def test_requests_under_way_are_those_of_all_ranks_and_threads() -> None:
    assert at_once(row(1.0, None, ranks=4, threads=2, queue_depth=8)) == 64


def phase(case: str, rate: float, name: str = "write", *, warmup: bool = False) -> PhaseRecord:
    done = Done.model_construct()
    return PhaseRecord.model_construct(
        case=case,
        phase=name,
        status="ok",
        warmup=warmup,
        bytes=int(rate),
        operations=1,
        elapsed_ns=10**9,
        last_done=done,
    )


def watch(rate: float = 1e9) -> Watch:
    return Watch(means(rates_of([phase("best", rate), phase("best", 9 * rate, "read")], "write bandwidth")), 1, "write")


def test_a_trial_ends_when_all_its_repetitions_are_far_below_the_best() -> None:
    one = watch()
    for number, rate in enumerate((1.00e8, 1.02e8, 0.98e8), start=1):
        one.hear(phase("c", rate))
        assert one.is_enough() == (number >= FEWEST)
    assert not one.is_enough(), "it looks once at each repetition"


@pytest.mark.parametrize("rates", [(0.9e9, 0.91e9, 0.92e9, 0.9e9), (0.1e9, 1.5e9, 0.2e9, 0.9e9)])
def test_a_trial_near_the_best_or_of_great_noise_goes_on(rates: tuple[float, ...]) -> None:
    one = watch()
    for rate in some(rates):
        one.hear(phase("c", rate))
        assert not one.is_enough()


def test_warm_ups_and_phases_that_the_objective_does_not_name_say_nothing() -> None:
    one = watch()
    for _ in range(6):
        one.hear(phase("c", 1e6, warmup=True))
        one.hear(phase("c", 1e6, "read"))
        assert not one.is_enough()


def test_a_trial_does_not_end_before_each_of_its_cases_was_measured() -> None:
    rates = rates_of([phase(case, 1e9) for case in ("a", "b")], "write")
    one = Watch(means(rates), 2, "write")
    for _ in range(5):
        one.hear(phase("c", 1e7))
        assert not one.is_enough()
    for number in range(1, 5):
        one.hear(phase("d", 1e7))
        assert one.is_enough() == (number >= FEWEST)


def test_equal_settings_seldom_end_early() -> None:
    """200 trials of 10 repetitions at noise of 10 %, as good as the best: none lies below 0.8 of it."""
    import random

    draw, ended = random.Random(7), 0
    for _ in range(200):
        one, is_over = watch(), False
        for _ in range(10):
            one.hear(phase("c", 1e9 * math.exp(draw.gauss(0, 0.1))))
            is_over = is_over or one.is_enough()
        ended += is_over
    assert ended <= 2
