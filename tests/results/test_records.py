# SPDX-License-Identifier: Apache-2.0
"""Whatever state a record file is in, what is good in it is read and the rest is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.model.record import CaseRecord, EndRecord, EventRecord, PhaseRecord, RunRecord
from ullage.results.records import Problem, RecordTail, parse_record, read_records

STAMPS = {"elapsed_ns": 10, "bytes": 4096, "operations": 1}
RUN = {
    "kind": "run",
    "schema": "ullage.record/1",
    "run_id": "r",
    "suite": "sweep",
    "plan_sha256": "0",
    "started": "2026-01-01T00:00:00Z",
    "origin_ns": 1,
    "engine": {"version": "1", "git": "g", "compiler": "c", "flags": "", "mpi": {"family": "mpich", "library": "x"}},
    "layout": {"ranks": 1},
    "clock": {"source": "m", "read_cost_ns": 30, "largest_offset_ns": 0, "largest_offset_rank": 0, "residual_ns": 0},
    "pinning": {
        "pinned_ranks": 0,
        "unpinned_ranks": 1,
        "cores_available": 2,
        "most_ranks_on_a_node": 1,
        "oversubscribed": False,
    },
}
PHASE = {
    "kind": "phase",
    "case": "0" * 16,
    "repetition": 0,
    "phase": "write",
    "access": "write",
    "status": "ok",
    "grade": "A",
    "ranks": 1,
    "start_ns": 0,
    **STAMPS,
    "stages": {"open": {"first_start_ns": 0, "last_stop_ns": 1, "longest_ns": 1}},
    "first_done": STAMPS,
    "last_done": STAMPS,
}
CASE = {
    "kind": "case",
    "case": "0" * 16,
    "repetition": 0,
    "status": "ok",
    "target": "a",
    "backend": "null",
    "workload": "transfer",
    "elapsed_ns": 10,
}
EVENT = {"kind": "event", "severity": "warning", "code": "oversubscribed", "text": "more ranks than cores"}
END = {"kind": "end", "status": "complete", "cases_ok": 1, "cases_failed": 0, "repetitions": 1, "elapsed_ns": 10}
ALL = (RUN, PHASE, CASE, EVENT, END)


def line(record: dict[str, object]) -> bytes:
    return json.dumps(record).encode() + b"\n"


WHOLE = b"".join(line(record) for record in ALL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "001.ndjson"


def test_a_whole_file(file: Path) -> None:
    file.write_bytes(WHOLE)
    found = read_records(file)
    assert [type(record) for record in found.records] == [RunRecord, PhaseRecord, CaseRecord, EventRecord, EndRecord]
    assert not found.truncated
    assert not found.problems
    assert found.run is not None
    assert found.run.run_id == "r"
    assert found.end is not None
    assert (len(found.phases), len(found.cases), len(found.events), len(found.probes)) == (1, 1, 1, 0)


def test_unknown_keys_of_a_newer_engine_are_ignored(file: Path) -> None:
    file.write_bytes(line({**PHASE, "colour": "blue", "last_done": {**STAMPS, "mood": 1}}) + line(END))
    found = read_records(file)
    assert len(found.phases) == 1
    assert not found.problems


def test_an_unknown_kind_is_a_problem_and_the_rest_is_read(file: Path) -> None:
    file.write_bytes(line({"kind": "dream"}) + line(END))
    found = read_records(file)
    assert len(found.records) == 1
    assert found.problems[0].line == 1
    assert "dream" in found.problems[0].text


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 7))
def test_a_file_cut_anywhere_gives_all_whole_lines(file: Path, cut: int) -> None:
    file.write_bytes(WHOLE[:cut])
    found = read_records(file)
    assert found.truncated
    assert len(found.records) == WHOLE[:cut].count(b"\n")


def test_a_last_line_that_lost_only_its_line_end_counts(file: Path) -> None:
    file.write_bytes(WHOLE[:-1])
    found = read_records(file)
    assert not found.truncated
    assert not found.problems


def test_an_empty_file(file: Path) -> None:
    file.write_bytes(b"")
    found = read_records(file)
    assert found.truncated
    assert found.records == []
    assert found.problems == [Problem(0, "no record in the file")]
    assert found.run is None
    assert found.end is None


def test_a_second_launch_without_end_makes_the_file_truncated(file: Path) -> None:
    file.write_bytes(WHOLE + line(RUN) + line(PHASE))
    found = read_records(file)
    assert found.truncated
    assert found.end is None


def test_blocks_of_nul_hide_no_record_beside_them(file: Path) -> None:
    file.write_bytes(b"\0" * 4096 + line(RUN) + b"\0" * 100 + b"\n" + line(END)[:-1] + b"\0" * 512)
    found = read_records(file)
    assert [type(record) for record in found.records] == [RunRecord, EndRecord]
    assert [problem.line for problem in found.problems] == [2]


def test_garbage_is_named_by_its_line_in_harmless_words(file: Path) -> None:
    file.write_bytes(line(RUN) + b"\x1b[31mnot json\xff\n" + b"[1, 2]\n" + b"{}\n" + b'{"kind": "end"}\n' + line(END))
    found = read_records(file)
    assert len(found.records) == 2
    assert [problem.line for problem in found.problems] == [2, 3, 4, 5]
    assert all(problem.text.isprintable() and len(problem.text) <= 200 for problem in found.problems)


def test_a_line_of_megabytes_is_read(file: Path) -> None:
    latency = dict.fromkeys(("operations", "sum_ns", "min_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns"), 1)
    buckets = [[number, 1] for number in range(200_000)]
    long = line({**PHASE, "latency": {**latency, "buckets": buckets}})
    assert len(long) > 2 << 20
    file.write_bytes(long + line(END))
    found = read_records(file)
    assert found.phases[0].latency is not None
    assert len(found.phases[0].latency.buckets) == 200_000


def test_an_endless_line_is_a_problem_of_that_line_only(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.results.records._LONGEST_LINE", 4096)
    file.write_bytes(line(RUN) + b"x" * 50_000 + b"\n" + line(END))
    found = read_records(file)
    assert len(found.records) == 2
    assert [problem.line for problem in found.problems] == [2]


def test_deep_nesting_does_not_break_the_reader(file: Path) -> None:
    file.write_bytes(b'{"kind": "probe", "probe": "p", "facts": ' + b'{"a": ' * 100_000 + b"\n" + line(END))
    assert len(read_records(file).records) == 1


def test_a_missing_file_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        read_records(tmp_path / "none.ndjson")
    with pytest.raises(UserError):
        read_records(tmp_path)


@given(st.binary(max_size=300))
def test_no_line_raises(content: bytes) -> None:
    parse_record(content)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_place_costs_at_most_the_lines_it_touches(
    tmp_path_factory: pytest.TempPathFactory, at: int, bytes_: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.ndjson"
    damaged = WHOLE[:at] + bytes_ + WHOLE[at + len(bytes_) :]
    file.write_bytes(damaged)
    touched = WHOLE[at : at + len(bytes_)].count(b"\n") + 1
    assert len(read_records(file).records) >= len(ALL) - touched


def test_a_tail_hands_out_each_record_once_and_only_when_whole(file: Path) -> None:
    tail = RecordTail(file)
    assert tail.poll() == []
    with file.open("ab") as stream:
        seen = 0
        for start in range(0, len(WHOLE), 11):
            stream.write(WHOLE[start : start + 11])
            stream.flush()
            seen += len(tail.poll())
            assert seen == WHOLE[: start + 11].count(b"\n")
    assert tail.poll() == []


def test_a_tail_begins_where_it_is_told_and_passes_over_garbage(file: Path) -> None:
    file.write_bytes(WHOLE)
    tail = RecordTail(file, offset_bytes=len(WHOLE))
    with file.open("ab") as stream:
        stream.write(b"garbage\n" + line(END))
    assert [record.kind for record in tail.poll()] == ["end"]


@pytest.mark.parametrize(
    "number", ["18446744073709551616", "-18446744073709551616", "1e20", "1E+20", "1.5e0020", "-2e19"]
)
def test_a_number_beyond_64_bits_is_a_problem(number: str) -> None:
    text = json.dumps({**CASE, "workload_parameters": {"volume": 1}}).replace('"volume": 1', f'"volume": {number}')
    assert parse_record(text.encode()) == Problem(0, "a number beyond 64 bits, which the engine does not write")
    assert isinstance(parse_record(text.replace(" ", "").encode()), Problem)


@pytest.mark.parametrize("number", ["18446744073709551615", "1e19", "1e-20", "1", "0.1234567890123456789", "1e5"])
def test_a_large_number_within_64_bits_and_an_id_that_looks_like_one_are_read(number: str) -> None:
    case = {**CASE, "case": "1e99567812345678", "workload_parameters": {"volume": 1}}
    text = json.dumps(case).replace('"volume": 1', f'"volume": {number}')
    assert isinstance(parse_record(text.encode()), CaseRecord)
