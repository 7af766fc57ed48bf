# SPDX-License-Identifier: Apache-2.0
"""Parts run one after the other, each into a result of its own; one that fails does not stop the others."""

from pathlib import Path

import pytest

from runs.composite.conftest import World
from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.exporters import load_exporters
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import Mpich
from ullage.model.plan import Plan
from ullage.model.summary import Summary
from ullage.report.data import FinishedResult, load
from ullage.report.html import beside, render
from ullage.results.folder import ResultFolder
from ullage.runs.composite.options import PartRequest
from ullage.runs.composite.prepared import prepare_parts
from ullage.runs.session import Session
from ullage.runs.summary import build_summary


def summary_of(world: World) -> Summary:
    return build_summary(world.result)


def statuses(summary: Summary) -> dict[str, str]:
    return {part.suite: part.status for part in summary.parts}


def test_the_summary_holds_what_all_parts_say(world: World) -> None:
    code, _ = world.run(world.prepare())
    assert code == EXIT_OK
    summary = summary_of(world)
    assert statuses(summary) == {"disk": "complete", "sweep": "complete"}
    assert {row.suite for row in summary.rows} == {"disk", "sweep"}
    assert {finding.suite for finding in summary.findings} == {"disk", "sweep"}
    assert summary.suite == "overview"
    for part in world.result.parts():
        own = part.read_summary()
        assert own.suite == part.path.name == part.read_request().suite
        assert len(own.rows) == len([row for row in summary.rows if row.suite == own.suite]) > 0
        assert part.read_system() is not None


def test_the_report_finds_records_and_plans_of_the_parts(world: World) -> None:
    world.run(world.prepare())
    data = load(FinishedResult(world.result.path), summary_of(world))
    assert all(data.phases_of(row) for row in data.summary.rows)
    assert {launch.plan.split("/plans/")[0] for launch in data.launches} == {"parts/disk", "parts/sweep"}
    assert all(len(launch.plan_sha256) == 64 for launch in data.launches)
    assert [len(data.rows_of(suite)) > 0 for suite in ("disk", "sweep", "cpu")] == [True, True, False]
    page = render(data)
    places = ['class="vessels"', 'id="change-first"', 'id="part-disk"', 'id="disk"', 'id="part-rows"', 'id="ran"']
    assert [page.index(place) for place in places] == sorted(page.index(place) for place in places)
    assert 'id="best"' not in page
    for name in ("json", "csv", "md"):
        text = str(load_exporters()[name].render(data))
        assert all("sweep" in text or row.case in text for row in data.rows_of("sweep"))


def test_every_part_has_a_run_of_its_own(world: World) -> None:
    world.run(world.prepare())
    assert {plan.run_id for plan in world.engine.plans} == {"r1.disk", "r1.sweep"}
    assert {plan.suite for plan in world.engine.plans} == {"disk", "sweep"}


def test_a_part_that_is_refused_does_not_stop_the_others(world: World, tmp_path: Path) -> None:
    code, _ = world.run(world.prepare(world.disk(tmp_path / "gone"), world.sweep()))
    assert code in (EXIT_ENVIRONMENT, EXIT_BAD_INPUT)
    summary = summary_of(world)
    assert statuses(summary) == {"disk": "not available", "sweep": "complete"}
    assert "gone" in summary.parts[0].reason
    assert summary.parts[0].seconds is None


def test_a_part_that_fails_does_not_stop_the_others_and_the_worst_code_counts(world: World) -> None:
    first = world.prepare().parts[0].prepared
    assert first is not None
    (bad, *_) = [case.id for plan in first.plans(ResultFolder(world.path / "x")) for case in plan.cases]
    world.engine.bad = {bad}
    code, _ = world.run(world.prepare())
    assert code == EXIT_CASE_FAILED
    assert statuses(summary_of(world)) == {"disk": "failed", "sweep": "complete"}


def test_a_launch_that_is_refused_ends_its_part_only(world: World) -> None:
    world.engine.ends = {1: "refuse"}
    code, session = world.run(world.prepare())
    assert code == EXIT_ENVIRONMENT
    assert session.messages == ["disk: target 'a': is full"]
    summary = summary_of(world)
    assert statuses(summary) == {"disk": "failed", "sweep": "complete"}
    assert "is full" in summary.parts[0].reason


def test_who_asks_for_an_end_gets_it_and_can_go_on(world: World) -> None:
    world.engine.ends = {1: "interrupt"}
    code, session = world.run(world.prepare())
    assert (code, session.was_stopped) == (EXIT_ABORTED, True)
    assert statuses(summary_of(world)) == {"disk": "interrupted", "sweep": "not begun"}
    world.engine.ends = {}
    code, _ = world.resume()
    assert code == EXIT_OK
    assert statuses(summary_of(world)) == {"disk": "complete", "sweep": "complete"}


def test_the_parts_that_are_left_share_the_time_that_resume_is_given(world: World) -> None:
    world.engine.ends = {1: "interrupt"}
    world.run(world.prepare())
    world.engine.ends = {}
    done = len(world.engine.plans)
    code, _ = world.resume(seconds=12.0)
    assert code == EXIT_OK
    longest = dict.fromkeys(("disk", "sweep"), 0.0)
    for plan in world.engine.plans[done:]:
        assert plan.time_budget_s is not None
        longest[plan.suite] = max(longest[plan.suite], plan.time_budget_s)
    # Neither has all of it.
    assert all(0 < seconds < 0.8 * 12 for seconds in longest.values())


def test_a_part_whose_time_was_too_short_for_one_number_says_so(world: World) -> None:
    code, session = world.run(world.prepare(world.disk(), world.sweep(time="50ms")))
    assert code == EXIT_BAD_INPUT
    assert [message.split(":")[0] for message in session.messages] == ["sweep"], "the terminal tells why as well"
    disk, sweep = summary_of(world).parts
    assert (disk.status, disk.reason) == ("complete", "")
    assert "50.0 ms is too short for a single repetition" in sweep.reason
    assert "give more time" in sweep.reason


def test_what_is_complete_is_left_alone(world: World) -> None:
    world.run(world.prepare())
    launches = len(world.engine.plans)
    code, _ = world.resume()
    assert code == EXIT_OK
    assert len(world.engine.plans) == launches


def test_a_part_that_failed_is_tried_again(world: World) -> None:
    world.engine.ends = {1: "refuse"}
    world.run(world.prepare())
    world.engine.ends = {}
    done = len(world.engine.plans)
    code, _ = world.resume()
    assert code == EXIT_OK
    assert {plan.suite for plan in world.engine.plans[done:]} == {"disk"}


def test_a_part_that_this_engine_lacks_is_no_failure(world: World) -> None:
    code, _ = world.run(world.prepare(world.sweep(backend="pmem"), world.disk()))
    assert code == EXIT_OK
    part = summary_of(world).parts[0]
    assert (part.status, part.reason) == ("not available", "backend 'pmem' is not available here; libpmem not found")


def test_a_part_that_is_none_here_costs_nothing(world: World) -> None:
    code, _ = world.run(world.prepare(PartRequest(suite="cpu", why_not="there are no cores"), world.sweep()))
    assert code == EXIT_OK
    summary = summary_of(world)
    assert (summary.parts[0].status, summary.parts[0].reason) == ("not available", "there are no cores")


def test_what_a_run_would_do_is_explained_for_every_part(world: World, tmp_path: Path) -> None:
    prepared = world.prepare(world.disk(tmp_path / "gone"), world.sweep())
    explanation = prepared.explain()
    assert [name for name, _ in explanation.parts] == ["sweep"]
    assert any("disk" in line and "gone" in line for line in explanation.tail)
    result = ResultFolder(tmp_path / "result")
    plans = world.prepare().plans(result)
    assert {Path(plan.records).parents[1] for plan in plans} == {result.part("disk").path, result.part("sweep").path}
    assert prepared.unsettled == "each part its own: `ullage run sweep --launcher script`"


def test_outliers_are_those_of_one_part(world: World) -> None:
    world.run(world.prepare())
    request = world.result.read_request()
    asked = request.model_copy(update={"options": {**request.options, "recheck": True}})
    with pytest.raises(UserError, match="parts/sweep"):
        prepare_parts(asked, world.engine_context, build_summary)


def test_nothing_at_all_can_be_run(world: World, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no part of the suite") as found:
        world.prepare(world.disk(tmp_path / "gone"))
    assert found.value.code == EXIT_ENVIRONMENT


def test_a_few_rows_stand_in_the_page_and_the_file_holds_all(world: World) -> None:
    world.run(world.prepare())
    data = load(FinishedResult(world.result.path), summary_of(world))
    assert f"{len(data.summary.rows)} rows." in render(data)
    assert len(beside(data)["tables/rows.csv"].splitlines()) == 1 + len(data.summary.rows)


def test_only_parts_between_hosts_are_launched_on_them(world: World) -> None:
    """The others are where their peers, their disks and the facts of the machine are."""
    far = world.sweep().model_copy(update={"on_hosts": True})
    prepared = world.prepare(world.disk(), far)
    prepared = prepare_parts(
        prepared.request.model_copy(update={"hosts": ["a", "b"]}), world.engine_context, build_summary
    )
    assert [part.request and part.request.hosts for part in prepared.parts] == [[], ["a", "b"]]
    assert prepared.explain().head[1:] == ["Between the hosts a and b: sweep.", "On this node alone: disk."]
    world.kept = ResultFolder.create(world.path / "result", prepared.request)
    launchers: dict[str, tuple[str, ...]] = {}

    def start(*words: object) -> object:
        launcher, plan = words[1], words[3]
        assert isinstance(launcher, Mpich)
        assert isinstance(plan, Plan)
        launchers[plan.suite] = launcher.hosts.names
        return world.engine.start(*words)  # type: ignore[arg-type]

    launcher = Mpich(Path("/mpiexec"), hosts=Hosts(("a", "b")))
    session = Session(world.result, world.engine_context, launcher, world.progress, start=start)  # type: ignore[arg-type]
    assert prepared.run(session) == EXIT_OK
    assert launchers == {"disk": (), "sweep": ("a", "b")}


def test_a_host_that_refuses_ends_the_run_before_any_part(world: World) -> None:
    sweep = world.sweep(ranks="2", nodes="2").model_copy(update={"on_hosts": True})
    asked = world.prepare(world.disk(), sweep).request.model_copy(update={"hosts": ["a", "b"]})
    prepared = world.prepare_request(asked)
    world.kept = ResultFolder.create(world.path / "result", prepared.request)
    agent = world.path / "agent"
    agent.write_text("#!/bin/sh\necho 'connect to host b: Connection refused' >&2\nexit 255\n")
    agent.chmod(0o755)
    launcher = Mpich(Path("/mpiexec"), hosts=Hosts(("a", "b"), str(agent)))
    session = Session(world.result, world.engine_context, launcher, world.progress)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="--hosts: b: it refuses connections"):
        prepared.run(session)
    assert world.result.parts() == []
