# SPDX-License-Identifier: Apache-2.0
"""Workload ``b-eff-io`` over launches: written, rewritten and read; what hangs is left out, what fails ends cleanly."""

import contextlib
import secrets
import time
from pathlib import Path

import pytest
from tests.e2e.launching import MIB, Document, Finished, cleaned, finish, plan, run, start, untouched

TYPES = {"scatter": (0, 8), "shared": (9, 16), "separated": (17, 24), "segmented": (25, 33), "seg_coll": (34, 42)}


def case(kind: str, access: str, backend: Document | None = None, **words: object) -> Document:
    """A case of one type: 64 KiB at most in a chunk, patterns of some milliseconds."""
    wants_counts = access == "write" and kind.startswith("seg")
    given: Document = {"type": kind, "access": access, "lmax_bytes": 65536, "unit_s": 0.005, "most_bytes": 24 * MIB}
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "dataset": f"h0-n2-{kind}",
        "backend": backend or {"name": "mpiio", "parameters": {}},
        "workload": {
            "name": "b-eff-io",
            "parameters": given | ({"counts_of": "h0-n2"} if wants_counts else {}) | words,
        },
    }


def faulty(**fault: object) -> Document:
    """MPI-IO with some calls going wrong."""
    return {"name": "fault", "parameters": {"inner": "mpiio", **fault}}


def first(tmp_path: Path, target: Path, cases: list[Document], ranks: int = 2, **members: object) -> Document:
    """The first launch of a round, which leaves its datasets."""
    listed: Document = {"order": "listed", "watchdog_s": 20.0, "keep": True}
    return plan(tmp_path, cases, f"posix:{target}", ranks=ranks, **(listed | members))


def then(tmp_path: Path, before: Document, cases: list[Document], **members: object) -> Document:
    """A later launch of the same round."""
    records = str(tmp_path / f"{secrets.token_hex(4)}.ndjson")
    return before | {"cases": cases, "continues": True, "records": records} | members


def counts(done: Finished) -> dict[str, int]:
    """Repetitions by pattern."""
    return {record.phase: record.facts["repetitions"] for record in done.of("phase")}


def names(done: Finished) -> list[str]:
    """Phases in order."""
    return [record.phase for record in done.of("phase")]


def pattern_names(kind: str) -> list[str]:
    low, high = TYPES[kind]
    return [f"pattern-{number:02d}" for number in range(low, high + 1)]


@pytest.mark.each_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_three_launches_write_rewrite_and_read_all_types(
    engine: Path, tmp_path: Path, target: Path, ranks: int
) -> None:
    write = first(tmp_path, target, [case(kind, "write") for kind in TYPES], ranks)
    written = run(engine, tmp_path, write)
    assert written.code == 0, written.stderr
    rewrite = then(tmp_path, write, [case(kind, "rewrite") for kind in TYPES])
    rewritten = run(engine, tmp_path, rewrite)
    assert rewritten.code == 0, rewritten.stderr
    read = then(tmp_path, write, [case(kind, "read", cache="advise") for kind in TYPES], keep=False)
    done = run(engine, tmp_path, read)
    assert done.code == 0, done.stderr
    expected = [name for kind in TYPES for name in pattern_names(kind)]
    # A segment that ends at a whole mebibyte has no fill-up.
    assert [name for name in expected if name not in names(written)] in ([], ["pattern-33", "pattern-42"])
    assert counts(done) == counts(rewritten) == counts(written)
    assert all(record.verified_bytes == record.bytes > 0 for record in done.of("phase"))
    assert untouched(target)


def test_a_pattern_that_hangs_is_named_and_can_be_left_out(engine: Path, tmp_path: Path, target: Path) -> None:
    hang = faulty(kind="hang", operation="write", rank=1, after=1)
    document = first(tmp_path, target, [case("separated", "write"), case("scatter", "write", hang)], watchdog_s=6.0)
    hung = run(engine, tmp_path, document)
    assert hung.code != 0
    assert hung.of("end")[0].status == "timeout"
    event = next(event for event in hung.of("event") if event.code == "timeout")
    assert "pattern-01" in event.text
    assert event.case == document["cases"][1]["id"]
    again = then(tmp_path, document, [case("scatter", "write", skip=["1"]), case("separated", "read")])
    done = run(engine, tmp_path, again)
    assert done.code == 0, done.stderr
    assert "pattern-01" not in names(done)
    reads = then(tmp_path, document, [case("scatter", "read")], keep=False)
    read = run(engine, tmp_path, reads)
    assert read.code == 0, read.stderr
    assert names(read) == [name for name in pattern_names("scatter") if name != "pattern-01"]
    assert untouched(target)


@pytest.mark.each_mpi
def test_a_hang_leaves_nothing_that_clean_cannot_remove(engine: Path, tmp_path: Path, target: Path) -> None:
    hang = faulty(kind="hang", operation="write", rank=0, after=4)
    document = first(tmp_path, target, [case("shared", "write", hang)], watchdog_s=3.0)
    assert run(engine, tmp_path, document).of("end")[0].status == "timeout"
    assert cleaned(engine, target / f"ullage-{document['run_id']}")
    assert untouched(target)


def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path) -> None:
    slow = faulty(kind="delay", operation="write", count=0, delay_s=0.02)
    words: Document = {"most_bytes": 4 * MIB, "unit_s": 1.0}
    document = first(
        tmp_path,
        small,
        [case("separated", "write", slow, **words)],
        keep=False,
        limits={"space_fraction": 1.0, "reserve_bytes": 0},
    )
    process = start(engine, tmp_path, document)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(file.stat().st_size > MIB for file in small.rglob("data.*")):
        time.sleep(0.01)
    with (small / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        for _ in range(16):
            filler.write(bytes(MIB))  # as much of it as there is
    done = finish(process, document)
    assert done.code == 4, done.stderr
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert "h0-n2-separated/data" in failures[0].path
    assert [path.name for path in small.iterdir()] == ["filler"]


@pytest.mark.each_mpi
@pytest.mark.parametrize("operation", ["open", "sync", "close"])
@pytest.mark.parametrize("kind", ["scatter", "shared", "separated"])
def test_errors_around_the_patterns_are_errors_and_nobody_hangs(
    engine: Path, tmp_path: Path, target: Path, kind: str, operation: str
) -> None:
    broken = faulty(kind="eio", operation=operation, rank=1)
    cases = [case(kind, "write", broken, unit_s=0.001), case("segmented", "write"), case("separated", "write")]
    done = run(engine, tmp_path, first(tmp_path, target, cases, keep=False))
    assert done.code == 4, done.stderr
    assert done.of("end")[0].cases_ok == 1
    assert 1 in [failure.rank for record in done.of("phase") for failure in record.failures]
    assert untouched(target)


@pytest.mark.each_mpi
def test_hints_are_said_as_given_and_as_granted(engine: Path, tmp_path: Path, target: Path) -> None:
    hints = {"on_open/cb_nodes": "1", "1024/cb_buffer_size": "65536", "1024/no_such_hint": "x"}
    done = run(engine, tmp_path, first(tmp_path, target, [case("scatter", "write", hints=hints)], keep=False))
    assert done.code == 0, done.stderr
    record = done.phase("pattern-05")
    assert record.hints_given == {"cb_nodes": "1", "cb_buffer_size": "65536", "no_such_hint": "x"}
    assert done.phase("pattern-06").hints_given == {"cb_nodes": "1"}
    assert "no_such_hint" not in record.hints_granted
