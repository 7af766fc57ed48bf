# SPDX-License-Identifier: Apache-2.0
"""Command lines are prepared, explained and run through the suite, on a simulated engine."""

from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine
from ullage.command_lines.prepared import PreparedLines
from ullage.errors import UserError
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.runs.suite import find_suite

LINES = ["mpirun -np 2 ior -w -k -t 1m -b 2m -o {}/f -i 3", "ior -r -t 1m -b 2m -o {}/f -i 3"]


GROUND = EngineContext(Path("/engine"), DESCRIBE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def prepare(place: Path, lines: list[str] = LINES, **words: object) -> PreparedLines:
    suite = find_suite("from-ior")
    asked = parse_options(suite.options, lines=[line.format(place) for line in lines], **words)
    request = Request(run_id="r1", suite="from-ior", created="now", targets=asked.targets, options=asked.options)
    prepared = suite.prepare(request, GROUND)
    assert isinstance(prepared, PreparedLines)
    return prepared


def run(prepared: PreparedLines, result: ResultFolder, engine: SimulatedEngine) -> int:
    return prepared.run(Session(result, GROUND, Mpich(Path("/mpiexec")), SilentProgress(), None, engine.start))


def engine_with(*ends: str) -> SimulatedEngine:
    return SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1, ends=dict(enumerate(ends, start=1)))


def test_the_plan_lists_the_cases_in_the_order_of_the_lines(place: Path, tmp_path: Path) -> None:
    (plan,) = prepare(place).plans(ResultFolder(tmp_path / "result"))
    assert (plan.order, plan.layout.ranks, plan.keep, plan.seed) == ("listed", 2, False, 1)
    assert (plan.stop_rule.name, plan.stop_rule.parameters) == ("fixed", {"count": 3})
    assert [case.dataset for case in plan.cases] == ["f", "f"]
    assert [case.workload.parameters["phases"] for case in plan.cases] == [["write"], ["read"]]
    assert [target.uri for target in plan.targets] == [f"posix:{place}"]


def test_options_win_over_the_lines(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    prepared = prepare(place, target=f"mine={other}", ranks=4, keep=True, space="1G", watchdog="9s")
    (plan,) = prepared.plans(ResultFolder(tmp_path / "result"))
    assert (plan.layout.ranks, plan.keep, plan.watchdog_s, plan.limits.space_bytes) == (4, True, 9.0, 1 << 30)
    assert {case.target for case in plan.cases} == {"mine"}


def test_the_explanation_names_lines_notes_cases_and_space(place: Path) -> None:
    found = prepare(place, ["ior -v -t 1m -b 2m -o {}/f"]).explain()
    text = "\n".join(found.head + found.tail)
    assert f"Line 1: ior -v -t 1m -b 2m -o {place}/f" in text
    assert "Note: -v: every result holds it" in text
    assert "Space on data: 2.00 MiB at a time" in text
    assert [row[2] for row in found.rows] == ["write read"]
    assert {len(row) for row in found.rows} == {len(found.headers)}


def test_a_run_is_one_launch_and_leaves_nothing_to_do(place: Path, tmp_path: Path) -> None:
    prepared, engine = prepare(place), engine_with()
    result = ResultFolder.create(tmp_path / "result", prepared.request)
    assert run(prepared, result, engine) == 0
    assert run(prepared, result, engine) == 0
    assert len(engine.plans) == 1


def test_an_interrupted_run_makes_its_round_whole_again(place: Path, tmp_path: Path) -> None:
    prepared, engine = prepare(place), engine_with("interrupt")
    result = ResultFolder.create(tmp_path / "result", prepared.request)
    assert run(prepared, result, engine) == 5
    again = find_suite("from-ior").prepare(result.read_request(), GROUND)
    assert isinstance(again, PreparedLines)
    assert run(again, result, engine) == 0
    first, second = engine.plans
    assert [case.id for case in second.cases] == [case.id for case in first.cases]
    assert [{phase: len(v) for phase, v in case.prior_elapsed_ns.items()} for case in second.cases] == [
        {"write": 1},
        {"read": 1},
    ]


def test_a_cut_volume_stays_when_the_room_has_changed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare(place, ["ior -w -t 1m -b 9920000m -D 300 -o {}/f"])
    monkeypatch.setattr("ullage.command_lines.prepared.most_bytes", lambda *_: 8 << 20)
    again = find_suite("from-ior").prepare(prepared.request, GROUND)
    assert isinstance(again, PreparedLines)
    assert [item.case.id for item in again.bound] == [item.case.id for item in prepared.bound]


def test_a_damaged_request_is_named(place: Path) -> None:
    request = prepare(place).request.model_copy(update={"options": {"lines": []}})
    with pytest.raises(UserError, match=r"request\.json /options/lines"):
        find_suite("from-ior").prepare(request, GROUND)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        prepare(tmp_path / "nowhere")


def test_several_folders_are_several_targets(place: Path, tmp_path: Path) -> None:
    (tmp_path / "more" / "data").mkdir(parents=True)
    prepared = prepare(place, ["ior -w -o {}/f", f"ior -w -t 8 -b 8 -o {tmp_path}/more/data/g"])
    assert [target.name for target in prepared.request.targets] == ["data", "data-2"]
    assert [item.target.name for item in prepared.bound] == ["data", "data-2"]


def test_without_a_place_there_is_nothing_to_measure(place: Path) -> None:
    with pytest.raises(UserError, match="names no place to measure; add --target"):
        prepare(place, ["ior -w"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ior -t 1m -b 1t -w -o {}/f", r"the lines need 1.00 TiB, but only .* may be used"),
        ("ior -t 1m -b 1m -w -o {}/f --posix.odirect -s 9000000000", r"the lines need 8.38 PiB"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_started(place: Path, line: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        prepare(place, [line], space="40G")
    assert caught.value.code == 3


def test_a_result_is_gone_on_with_whatever_is_free_now(place: Path) -> None:
    prepared = prepare(place)
    request = prepared.request.model_copy(update={"options": {**prepared.request.options, "rooms": {"data": 1}}})
    assert find_suite("from-ior").prepare(request, GROUND).request == request
