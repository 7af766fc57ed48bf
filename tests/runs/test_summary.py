# SPDX-License-Identifier: Apache-2.0
"""A summary is made from a result folder alone, whatever state the run left it in."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.make_records import make_case, make_launch, make_phase, make_repetition, make_run
from ullage.model.plan import Target
from ullage.model.record import CaseRecord, EndRecord, EventRecord, Failure, PeerRecord, ProbeRecord
from ullage.model.request import Request
from ullage.model.summary import Peer
from ullage.model.system import Place, SystemFacts
from ullage.results.events import failed_cases, summarise_events
from ullage.results.folder import ResultFolder, append_line
from ullage.results.records import AnyRecord, read_records
from ullage.runs.summary import build_summary

REQUEST = Request(
    run_id="r",
    suite="sweep",
    created="2026-01-01T00:00:00Z",
    command=["ullage", "run", "sweep"],
    targets=[Target(name="disk", uri="posix:/data")],
    options={"access": ["write"], "interval": 0.05, "ceilings": {"disk": 4e9}},
    versions={"ullage": "1"},
)
FAILURE = Failure(
    rank=1, node="n1", operation="write", path="/data/<x>", errno=28, text="No space left on device", offset_bytes=4096
)


def _result(tmp_path: Path, *launches: Sequence[AnyRecord], request: Request = REQUEST) -> ResultFolder:
    result = ResultFolder.create(tmp_path / "result", request)
    for number, records in enumerate(launches, start=1):
        path = result.records_path(number)
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(record.model_dump_json() + "\n" for record in records))
    return result


def _good(*repetitions: int) -> list[AnyRecord]:
    return make_launch(
        *(make_repetition(i, make_phase(repetition=i), make_phase(repetition=i, phase="read")) for i in repetitions)
    )


def test_the_summary_of_a_whole_run(tmp_path: Path) -> None:
    result = _result(tmp_path, _good(0, 1, 2))
    place = Place(target="disk", path="/data", exists=True, is_memory=False)
    result.write_system(SystemFacts(taken="now", host="h", places=[place]))
    summary = build_summary(result)
    assert (summary.suite, summary.run_id, summary.command) == ("sweep", "r", ["ullage", "run", "sweep"])
    assert {row.params["access"] for row in summary.rows} == {"write"}
    assert summary.rows[0].ceiling is not None
    assert summary.rows[0].ceiling.value == 4e9
    assert summary.versions["mpi"] == "MPICH"
    assert summary.system["host"] == "h"
    assert summary.events == []
    assert {finding.kind for finding in summary.findings} == {"cache"}
    assert build_summary(result) == summary


def test_a_peers_number_stands_beside_the_row_it_belongs_to(tmp_path: Path) -> None:
    result = _result(tmp_path, _good(0, 1))
    for repetition, value in enumerate((3e9, 1e9, 2e9)):
        result.append_peer(
            PeerRecord(
                case="c1",
                phase="write",
                tool="fio",
                version="3.33",
                repetition=repetition,
                values={"bandwidth": value},
                command=["fio"],
            )
        )
    peers = {row.metric: row.peer for row in build_summary(result).rows}
    assert peers.pop("bandwidth") == Peer(tool="fio", version="3.33", median=2e9, samples=3)
    assert set(peers.values()) == {None}


def test_a_memory_target_is_named_by_the_facts_of_the_machine(tmp_path: Path) -> None:
    result = _result(tmp_path, _good(0))
    place = Place(target="disk", path="/data", exists=True, is_memory=True)
    result.write_system(SystemFacts(taken="now", places=[place]))
    assert {row.verdict for row in build_summary(result).rows} == {"memory"}


def test_a_target_without_a_path_holds_no_data(tmp_path: Path) -> None:
    request = REQUEST.model_copy(update={"targets": [Target(name="disk", uri="model:")]})
    assert {row.verdict for row in build_summary(_result(tmp_path, _good(0), request=request)).rows} == {"none"}


def test_a_run_that_left_nothing_has_an_empty_summary(tmp_path: Path) -> None:
    summary = build_summary(_result(tmp_path))
    assert (summary.rows, summary.findings, summary.events, summary.system) == ([], [], [], {})


def test_a_note_on_what_was_not_started_is_no_launch_that_crashed(tmp_path: Path) -> None:
    result = _result(tmp_path)
    append_line(
        result.records_path(1), EventRecord(severity="warning", code="x", text="not begun").model_dump_json().encode()
    )
    assert [event.kind for event in build_summary(result).events] == ["x"]


def test_a_launch_cut_short_keeps_what_it_has_and_says_so(tmp_path: Path) -> None:
    result = _result(tmp_path, _good(0, 1)[:-1])
    with result.records_path(1).open("a") as stream:
        stream.write('{"kind":"phase","case":')
    summary = build_summary(result)
    assert len(summary.rows[0].repetitions) == 2
    assert [event.kind for event in summary.events] == ["unreadable-record", "cut-short"]
    assert all(event.severity == "warning" for event in summary.events)


@pytest.mark.parametrize("content", [b"", b"\0\0\0\n", b"no json\n{}\n"])
def test_garbage_is_an_event_and_no_error(tmp_path: Path, content: bytes) -> None:
    result = _result(tmp_path, [])
    result.records_path(1).write_bytes(content)
    summary = build_summary(result)
    assert summary.rows == []
    assert {event.kind for event in summary.events} == {"unreadable-record"}


def test_failed_cases_have_no_row_but_a_finding(tmp_path: Path) -> None:
    failed: list[AnyRecord] = [
        make_phase(repetition=0, status="failed", failures=[FAILURE]),
        make_case(repetition=0, status="failed"),
    ]
    summary = build_summary(_result(tmp_path, make_launch(failed)))
    assert summary.rows == []
    (finding,) = summary.findings
    assert finding.kind == "failure"
    assert finding.text == (
        "1 case failed on disk: write: No space left on device (errno 28) "
        "(first: rank 1 on n1, /data/<x> at byte 4096)."
    )


def test_failures_are_counted_by_repetition() -> None:
    good = make_repetition(0, make_phase())
    bad = [make_phase(repetition=1, status="failed", failures=[FAILURE]), make_case(repetition=1, status="failed")]
    stopped = [make_case(repetition=2, status="interrupted")]
    (found,) = failed_cases([make_launch(good, bad, stopped, run=make_run(4))])
    assert (found.repetitions_failed, found.repetitions, found.ranks, found.target) == (1, 2, 4, "disk")


def test_an_error_outside_a_phase_is_told_too() -> None:
    event = EventRecord(severity="error", code="case-failed", text="begin: rank 0: open: denied", case="c1")
    (found,) = failed_cases([make_launch([event, make_case(status="failed")])])
    assert found.text == "begin: rank 0: open: denied"


def test_a_case_whose_dataset_was_not_made_says_what_failed_before_it() -> None:
    """What the engine says of it has no errno, and tells to run a case that was run."""
    failure = Failure(
        rank=1, node="n", operation="write", path="/t/ullage-x/a/data", errno=5, text="Input/output error"
    )
    bad = make_phase("a" * 16, status="failed", failures=[failure])
    text = "begin: rank 0 on n: dataset 'a': is not there; first run the case that makes it"
    event = EventRecord(severity="error", code="case-failed", text=text, case="b" * 16)
    records = [bad, make_case("a" * 16, status="failed"), event, make_case("b" * 16, status="failed")]
    maker, reader = failed_cases([make_launch(records)])
    assert maker.text == "write: Input/output error (errno 5)"
    assert reader.text == f"dataset 'a' was not made, because a case failed before: {maker.text}"
    (alone,) = failed_cases([make_launch(records[2:])])
    assert alone.text == text


def test_a_hang_is_a_failure_and_an_interruption_is_none() -> None:
    hang = CaseRecord(case="c1", repetition=0, status="timeout", target="d", backend="b", workload="w", elapsed_ns=1)
    assert len(failed_cases([make_launch([hang])])) == 1
    assert failed_cases([make_launch([make_case(status="interrupted")])]) == []


def on_nodes(names: Sequence[str], *cases: str) -> list[AnyRecord]:
    probes = [ProbeRecord(probe="node", node=name) for name in names]
    done: list[AnyRecord] = [record for case in cases for record in (make_phase(case), make_case(case))]
    return make_launch([*probes, *done])


def test_a_case_that_went_on_on_other_nodes_says_so(tmp_path: Path) -> None:
    before, after = on_nodes(["n0", "n1"], "c1", "c2"), on_nodes(["n3", "n1"], "c2", "c3")
    (moved,) = [one for one in build_summary(_result(tmp_path, before, before, after)).events if one.kind == "moved"]
    assert moved.text.startswith("1 case ran on n[0-1], then on n[1,3]. Nodes differ")
    assert (moved.severity, moved.numbers["case"]) == ("warning", ["c2"])


def test_a_case_that_went_on_on_the_same_nodes_says_nothing(tmp_path: Path) -> None:
    launches = on_nodes(["n0", "n1"], "c1"), on_nodes(["n1", "n0"], "c1"), on_nodes(["n3"], "c2")
    assert [one.kind for one in build_summary(_result(tmp_path, *launches)).events if one.kind == "moved"] == []
    warmup = make_case("c1").model_copy(update={"warmup": True})
    again = make_launch([ProbeRecord(probe="node", node="n9"), warmup])
    assert [one.kind for one in build_summary(_result(tmp_path / "b", *launches, again)).events] == []


def _events(tmp_path: Path, records: Sequence[AnyRecord]) -> list[tuple[str, str, object]]:
    path = tmp_path / "001.ndjson"
    path.write_text("".join(record.model_dump_json() + "\n" for record in records))
    return [(found.kind, found.text, found.numbers["count"]) for found in summarise_events([read_records(path)])]


def test_equal_events_are_told_once(tmp_path: Path) -> None:
    event = EventRecord(severity="warning", code="unpinned", text="2 ranks are not bound", advice="bind them")
    other = event.model_copy(update={"text": "4 ranks are not bound"})
    elsewhere = event.model_copy(update={"case": "c2"})
    assert _events(tmp_path, make_launch([event, other, elsewhere])) == [
        ("unpinned", "2 ranks are not bound. Bind them. This happened 2 times.", 2),
        ("unpinned", "4 ranks are not bound. Bind them.", 1),
    ]


def test_a_flood_of_events_is_counted(tmp_path: Path) -> None:
    flood = [EventRecord(severity="error", code="case-failed", text=f"case {i}") for i in range(500)]
    found = _events(tmp_path, make_launch(flood))
    assert len(found) == 21
    assert found[-1] == ("case-failed", "480 more events of this kind are in the records.", 480)


def test_an_interrupted_launch_is_told(tmp_path: Path) -> None:
    end = EndRecord(status="interrupted", cases_ok=0, cases_failed=0, repetitions=0, elapsed_ns=1)
    ((kind, text, _),) = _events(tmp_path, [make_run(), end])
    assert kind == "interrupted"
    assert "ullage resume" in text
