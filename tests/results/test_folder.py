# SPDX-License-Identifier: Apache-2.0
"""The folder of a run."""

import json
import os
from pathlib import Path

import pytest

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.record import PeerRecord
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.system import SystemFacts
from ullage.results.folder import ResultFolder, check_plans, write_atomically

REQUEST = Request(run_id="r1", suite="sweep", created="2026-01-01T00:00:00Z", options={"ranks": [1, 2]})


def make_plan(records: Path) -> Plan:
    case = Case(id="0" * 16, target="a", backend=Named(name="null"), workload=Named(name="transfer"))
    return Plan(
        run_id="r1",
        suite="sweep",
        records=str(records),
        layout=Layout(ranks=1),
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed"),
        cases=[case],
    )


def test_the_default_place_is_below_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = ResultFolder.create(None, REQUEST)
    assert result.path == tmp_path / "ullage-results" / "r1"
    assert ResultFolder.open(result.path).read_request() == REQUEST


def test_an_empty_folder_is_taken_and_a_used_one_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ResultFolder.create(tmp_path / "empty", REQUEST)
    with pytest.raises(UserError, match="a result already"):
        ResultFolder.create(tmp_path / "empty", REQUEST)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").touch()
    with pytest.raises(UserError, match="not empty"):
        ResultFolder.create(tmp_path / "foreign", REQUEST)
    assert [entry.name for entry in (tmp_path / "foreign").iterdir()] == ["thesis.tex"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError) as caught:
        ResultFolder.create(tmp_path / "file", REQUEST)
    assert caught.value.code == EXIT_ENVIRONMENT


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a result"):
        ResultFolder.open(tmp_path)
    with pytest.raises(UserError, match="no such folder"):
        ResultFolder.open(tmp_path / "none")
    (tmp_path / "request.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        ResultFolder.open(tmp_path).read_request()


def test_launches_are_numbered_above_everything_that_is_there(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    assert result.next_launch() == 1
    plan = make_plan(result.records_path(1))
    assert result.prepare_launch(1, plan).read_bytes()
    assert result.read_plan(1) == plan
    assert (result.launches(), result.next_launch()) == ([1], 2)
    result.stderr_path(7).write_text("left by a crash")
    (result.path / "plans" / "notes.txt").touch()
    assert result.next_launch() == 8
    result.prepare_launch(1000, plan)
    assert result.launches() == [1, 1000]


def test_records_are_read_in_the_order_of_the_launches(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    assert result.read_records() == []
    for launch in (10, 2):
        result.prepare_launch(launch, make_plan(result.records_path(launch)))
        result.records_path(launch).write_text("")
    assert [found.path.name for found in result.read_records()] == ["002.ndjson", "010.ndjson"]


def test_documents_come_back(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    assert result.read_system() is None
    facts = SystemFacts(taken="2026-01-01T00:00:00Z", host="n")
    result.write_system(facts)
    assert result.read_system() == facts
    summary = Summary(suite="sweep", run_id="r1", created="2026-01-01T00:00:00Z", rows=[])
    with pytest.raises(UserError):
        result.read_summary()
    result.write_summary(summary)
    assert result.read_summary() == summary


def test_writing_replaces_the_whole_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, "old")
    write_atomically(path, b"new")
    assert path.read_text() == "new"

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        write_atomically(path, "newer")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


def make_peer(repetition: int) -> PeerRecord:
    return PeerRecord(
        case="c1",
        phase="write",
        tool="fio",
        version="3",
        repetition=repetition,
        values={"bandwidth": 1e9},
        command=["fio"],
    )


def test_peers_are_read_back_in_their_order_and_none_is_no_file(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    assert result.read_peers() == []
    assert not result.peers_path.exists()
    for repetition in range(3):
        result.append_peer(make_peer(repetition))
        assert len(result.peers_path.read_bytes().splitlines()) == repetition + 1
    assert result.read_peers() == [make_peer(repetition) for repetition in range(3)]


def test_a_peer_cut_short_is_left_out_and_swallows_nothing(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    result.append_peer(make_peer(0))
    with result.peers_path.open("ab") as stream:
        stream.write(make_peer(1).model_dump_json().encode()[:20])
    assert result.read_peers() == [make_peer(0)]
    result.append_peer(make_peer(2))
    assert result.read_peers() == [make_peer(0), make_peer(2)]


def test_peers_that_cannot_be_read_or_written_are_one_line(tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    result.peers_path.mkdir()
    with pytest.raises(UserError, match=r"peers\.ndjson"):
        result.read_peers()
    with pytest.raises(UserError, match=r"peers\.ndjson") as caught:
        result.append_peer(make_peer(0))
    assert caught.value.code == EXIT_ENVIRONMENT


@pytest.mark.parametrize("name", ["..", ".", "../x", "/etc", "a/b", "", "a\nb", "-x"])
def test_a_name_that_leads_elsewhere_is_none_of_a_part(name: str, tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    with pytest.raises(UserError, match="no name of a part"):
        result.part(name)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"suite": "io500"}, "is of suite sweep, run r1"),
        ({"run_id": "r2"}, "is of suite sweep, run r1"),
        ({"targets": []}, "/targets has no 'a', where plans/001.json measures"),
        ({"targets": [Target(name="b", uri="null:")]}, "/targets has no 'a'"),
    ],
)
def test_a_request_that_is_not_that_of_the_plans_is_damaged(
    changed: dict[str, object], said: str, tmp_path: Path
) -> None:
    result = ResultFolder.create(
        tmp_path / "r", REQUEST.model_copy(update={"targets": [Target(name="a", uri="null:")]})
    )
    result.prepare_launch(1, make_plan(tmp_path / "records"))
    check_plans(result)
    result.write_request(result.read_request().model_copy(update=changed))
    with pytest.raises(UserError) as caught:
        check_plans(result)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"), [("run_id", "../x"), ("run_id", ""), ("run_id", "a\nb"), ("hosts", ["-oProxyCommand=x"])]
)
def test_words_of_a_request_that_would_act_are_damage(key: str, value: object, tmp_path: Path) -> None:
    result = ResultFolder.create(tmp_path / "r", REQUEST)
    document = {**REQUEST.model_dump(mode="json"), key: value}
    (result.path / "request.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match=f"is damaged: {key}"):
        result.read_request()


def test_a_result_has_a_plain_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="control characters"):
        ResultFolder.create(tmp_path / "a\x1b[2J", REQUEST)
    assert not list(tmp_path.iterdir())
