# SPDX-License-Identifier: Apache-2.0
"""What stands for parts of the machine is measured first, with samples enough; what does not fit is left out."""

from pathlib import Path

import pytest

from runs.composite.conftest import World
from support.simulated_engine import Clock
from ullage.model.plan import Case, Layout, Named
from ullage.model.summary import PartOutcome
from ullage.runs.composite.options import PartsOptions
from ullage.runs.composite.steps import Step, cells_like, scaled, seconds_for
from ullage.runs.execution import Deadline
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import MOST, Quick, headline_cases, load_suites
from ullage.suites.overview.options import OverviewOptions

FIRST = {"cpu", "disk", "from-mdtest", "gpu", "memory", "network", "noise", "rings"}


def test_the_suites_that_stand_for_parts_of_the_machine_have_headlines() -> None:
    quick = {name for name, suite in load_suites().items() if isinstance(suite, Quick)}
    assert {name for name in quick if headline_cases(name) is not None} == FIRST


def test_headlines_share_the_time_first_and_leave_a_quarter_to_the_others() -> None:
    steps = [Step("a", 30.0, is_headline=True), Step("b", 60.0, is_headline=True), Step("c", 100.0)]
    clock = Clock()
    ends = Deadline(clock.now() + 40.0, clock.now)
    assert seconds_for(steps, ends) == pytest.approx(10.0)
    clock.at += 10
    assert seconds_for(steps[1:], ends) == pytest.approx(22.5)
    clock.at += 20
    assert seconds_for(steps[2:], ends) == pytest.approx(10.0)


def test_headlines_take_no_more_than_what_a_busy_machine_explains() -> None:
    clock = Clock()
    steps = [Step("a", 10.0, is_headline=True), Step("b", 10.0)]
    assert seconds_for(steps, Deadline(clock.now() + 1000.0, clock.now)) == pytest.approx(25.0)


def test_what_does_not_fit_is_left_out() -> None:
    clock = Clock()
    ends = Deadline(clock.now() + 10.0, clock.now)
    assert seconds_for([Step("fixed", 20.0, is_fixed=True)], ends) is None
    assert seconds_for([Step("other", 20.0)], ends) == pytest.approx(10.0)
    assert seconds_for([Step("other", 20.0)], ends.earlier(8.0)) is None


def test_a_part_that_does_not_fit_says_so_and_is_measured_by_whoever_goes_on(world: World) -> None:
    prepared = world.prepare(world.disk(), world.sweep())
    world.engine.cost = lambda _case, plan: 60.0 if plan.suite == "disk" else 0.1
    code, session = world.run(prepared, seconds=20.0)
    by_suite = {outcome.suite: outcome for outcome in world.result.read_outcomes()}
    assert by_suite["sweep"] == PartOutcome(
        suite="sweep", code=0, began=False, reason=by_suite["sweep"].reason, lacks=True
    )
    assert by_suite["sweep"].reason.startswith("left out: it takes about")
    assert any("left out" in text for text in world.progress.said)
    del code, session
    world.engine.cost = lambda _case, _plan: 0.1
    world.resume()
    assert {outcome.suite: outcome.began for outcome in world.result.read_outcomes()}["sweep"]


def test_the_time_of_the_whole_is_kept_with_the_request_and_shortens_every_part(tmp_path: Path) -> None:
    usual = PartsOptions.model_validate(parse_options(OverviewOptions, target=[f"a={tmp_path}"]).options)
    short = PartsOptions.model_validate(parse_options(OverviewOptions, target=[f"a={tmp_path}"], time="65s").options)
    assert (usual.time_s, short.time_s) == (260.0, 65.0)
    times = [{part.suite: part.options.get("time_s") for part in one.parts} for one in (usual, short)]
    assert times[1]["disk"] == pytest.approx(float(str(times[0]["disk"])) / 4, rel=0.02)
    assert scaled({"time_s": 10.0}, 2.0) == {"time_s": 10.0}, "more time than usual is no reason to write more"
    assert scaled({"ranks": 2}, 0.5) == {"ranks": 2}


def test_cases_are_chosen_by_their_parameters_and_the_largest_that_is_planned() -> None:
    layout = Layout(ranks=1)

    def case(name: str, **parameters: object) -> tuple[Case, Layout]:
        workload = Named(name="compute", parameters=parameters)  # type: ignore[arg-type]
        none = Named(name="null")
        return Case(id=name * 16, target="cpu", backend=none, workload=workload), layout

    cells = [
        case("a", type="fp64", operation="fma", threads=1),
        case("b", type="fp64", operation="fma", threads=4),
        case("c", type="fp32", operation="fma", threads=8),
    ]
    chosen = cells_like({"threads": MOST, "type": "fp64"}, cells)
    assert [one.id[0] for one, _ in chosen] == ["b"]
    assert not cells_like({"type": "int8"}, cells)
