# SPDX-License-Identifier: Apache-2.0
"""Suite ``pio`` on real files with the real engine: every pattern and operation, faults, and mistakes."""

import os
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import check_refusal, command, run, run_here
from tests.e2e.launching import Document, plan, untouched

from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.suites.pio.options import OPERATIONS, PATTERNS

SMALL = ["--volume", "96K", "--request", "1K", "--record", "64", "--variables", "4", "--verify", "full"]
ONCE = ["--time", "120s", "--max-repetitions", "1"]


def has_hdf5(engine: Path) -> bool:
    return any(one.name == "hdf5" and one.available for one in describe(engine).backends)


def rates(result: Path) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == "bandwidth"]


def operations_of(pattern: str) -> list[str]:
    return ["read", "reread"] if pattern == "sequential-shared" else list(OPERATIONS)


@pytest.mark.each_mpi
def test_every_pattern_and_operation_is_measured_and_nothing_is_left(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "3", *SMALL, *ONCE]
    code, out, err = run(command(engine, *words, "--hint", "no_such_hint=7", "--all", "--result", str(result)))
    assert code == 0, err
    rows = rates(result)
    measured = {
        (row.params["pattern"], row.params["calls"], row.params["base_bytes"], row.params["access"]) for row in rows
    }
    assert measured == {
        (pattern, calls, base, operation)
        for pattern in PATTERNS
        for calls in ("independent", "collective")
        for base in (0, 8)
        for operation in operations_of(pattern)
        if not (pattern == "sequential-own" and calls == "collective")
    }
    for file in ResultFolder.open(result).read_records():
        for phase in file.phases:
            assert phase.status == "ok"
            assert phase.verified_bytes >= int(str(phase.facts["data_bytes"]))
            assert phase.bad_blocks == 0
    found = ResultFolder.open(result).read_summary().findings
    ignored = [one.numbers["key"] for one in found if one.kind == "pio-hints-ignored"]
    # Open MPI names every hint that a file was opened with, whether anything uses it or not.
    assert ignored == ([] if describe(engine).engine.mpi.family == "openmpi" else ["no_such_hint"])
    assert "Access patterns of parallel programs" in out
    assert [path.name for path in target.iterdir()] == ["precious"]
    page = tmp_path / "page.html"
    code, _, err = run_here("report", str(result), "--format", "html", "--output", str(page))
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    assert "Patterns by operation and request" in text
    assert "Times of ranks: here, mpiio, 3 ranks" in text
    times = [
        [row.median for row in ResultFolder.open(result).read_summary().rows if row.metric == f"{which}_rank_time"]
        for which in ("fastest", "mean", "slowest")
    ]
    assert len(times[0]) == len(rows)
    assert all(least <= mean <= most for least, mean, most in zip(*times, strict=True))
    assert "Who owns which bytes" in text


@pytest.mark.each_mpi
@pytest.mark.parametrize("ranks", [1, 6, 8])
def test_any_number_of_ranks(engine: Path, target: Path, tmp_path: Path, ranks: int) -> None:
    result = tmp_path / "result"
    words = ["run", "pio", "--target", f"here={target}", "--ranks", str(ranks), *SMALL, *ONCE, "--base", "8"]
    code, _, err = run(command(engine, *words, "--operation", "read,read-modify-write", "--result", str(result)))
    assert code == 0, err
    assert len({(row.params["pattern"], row.params["calls"]) for row in rates(result)}) == 2 * len(PATTERNS) - 1


def test_hdf5_measures_every_pattern_by_both_kinds_of_calls(engine: Path, target: Path, tmp_path: Path) -> None:
    if not has_hdf5(engine):
        pytest.skip("parallel HDF5 of this MPI is missing")
    result = tmp_path / "result"
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "2", *SMALL, *ONCE, "--base", "8"]
    told = ["--backend", "hdf5", "--param", "hdf5.chunk_bytes=10K", "--operation", "read,rewrite,read-modify-write"]
    code, _, err = run(command(engine, *words, *told, "--result", str(result)))
    assert code == 0, err
    found = {(row.params["pattern"], row.params["calls"]) for row in rates(result)}
    assert len(found) == 2 * len(PATTERNS) - 1
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert all(phase.verified_bytes >= int(str(phase.facts["data_bytes"])) for phase in phases)
    assert {phase.hints_granted["hdf5.layout"] for phase in phases} == {"chunked"}
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_a_file_of_directives(engine: Path, target: Path, tmp_path: Path) -> None:
    directives, result = tmp_path / "d.toml", tmp_path / "result"
    directives.write_text(
        '[[pattern]]\nname = "nested-strided"\nlabel = "deep"\nlevels = 3\ninner = 2\nrequest = "512"\nbase = 8\n'
        '[[pattern]]\nname = "mesh"\nrecord = 8\nunsorted = true\noperation = "read"\nrequest = 64\nbase = 0\n'
    )
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "2", "--volume", "64K", *ONCE]
    told = ["--directives", str(directives), "--operation", "write,rewrite", "--verify", "full"]
    code, _, err = run(command(engine, *words, *told, "--result", str(result)))
    assert code == 0, err
    assert {(row.params["pattern"], row.params["access"], row.params["calls"]) for row in rates(result)} == {
        ("deep", "write", "independent"),
        ("deep", "rewrite", "independent"),
        ("deep", "write", "collective"),
        ("deep", "rewrite", "collective"),
        ("mesh", "read", "independent"),
    }


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--target", "here={here}", "--calls", "collective", "--backend", "posix"], 2, "no case is left"),
        (["--target", "here={here}", "--directives", os.devnull], 2, "is no regular file"),
        (["--target", "here={here}", "--volume", "1G", "--space", "1M"], 3, "--volume"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    engine: Path, tmp_path: Path, words: list[str], code: int, expected: str
) -> None:
    check_refusal(engine, tmp_path, ["run", "pio", *words], code, expected)


# -- faults, on the engine ---------------------------------------------------------------------------------------------


def faulty(pattern: str, *, collective: bool, **fault: object) -> Document:
    """A case through views of mpiio, whose calls go wrong as ``fault`` says."""
    parameters = {
        "pattern": pattern,
        "phases": list(OPERATIONS),
        "request_bytes": 4096,
        "requests": 24,
        "through": "view",
        "collective": collective,
        "verify": "full",
    }
    return launching.case() | {
        "backend": {"name": "fault", "parameters": {"inner": "mpiio", **fault}},
        "workload": {"name": "pio", "parameters": parameters},
    }


@pytest.mark.each_mpi
@pytest.mark.fault("ENOSPC in the middle of a pattern", "exit 4; errno and rank in the record; the other case is run")
@pytest.mark.parametrize("collective", [False, True])
def test_a_full_file_system_in_mid_phase_ends_the_case_on_all_ranks(
    engine: Path, target: Path, tmp_path: Path, *, collective: bool
) -> None:
    # 24 calls each of write and rewrite, then those of read-modify-write.
    enospc: Document = {"kind": "enospc", "operation": "write", "rank": 1, "after": 53}
    cases = [faulty("simple-strided", collective=collective, **enospc)]
    if has_hdf5(engine):
        inner = {"inner": "hdf5", "inner_parameters": {"collective": "true" if collective else "false"}}
        in_hdf5 = faulty("simple-strided", collective=False, **{**enospc, **inner})
        in_hdf5["workload"]["parameters"]["through"] = "offsets"
        cases.append(in_hdf5)
    good = launching.case()
    done = launching.run(engine, tmp_path, plan(tmp_path, [*cases, good], f"posix:{target}", ranks=3))
    assert done.code == 4, done.stderr
    for bad in cases:
        phases = [record for record in done.of("phase") if record.case == bad["id"]]
        assert [record.status for record in phases] == ["ok"] * 4 + ["failed"]
        assert {(one.errno, one.rank) for one in phases[-1].failures if one.errno} == {(28, 1)}
    assert {record.status for record in done.of("case") if record.case == good["id"]} == {"ok"}
    assert untouched(target)


@pytest.mark.fault("a call of a pattern hangs", "end status timeout within the limit, everything removed by clean")
def test_a_call_that_hangs_ends_the_run(engine: Path, target: Path, tmp_path: Path) -> None:
    bad = faulty("nested-strided", collective=True, kind="hang", operation="read", rank=1, after=5)
    bad["workload"]["parameters"]["verify"] = "none"
    document = plan(tmp_path, [bad], f"posix:{target}", ranks=3, watchdog_s=6.0)
    done = launching.run(engine, tmp_path, document)
    assert done.of("end")[0].status == "timeout"
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert "in read: transfer" in event.text, event.text


@pytest.mark.fault("a flipped bit of a written pattern", "exit 4; file, offset, expected and found in the record")
@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "sequential-own"])
def test_a_flipped_bit_is_found_where_it_is(engine: Path, target: Path, tmp_path: Path, pattern: str) -> None:
    bad = faulty(pattern, collective=True, kind="flip", operation="write", rank=1, after=3, flip_bit=8 * 777)
    if pattern == "sequential-shared":
        bad["workload"]["parameters"]["phases"] = ["write", "read"]
    done = launching.run(engine, tmp_path, plan(tmp_path, [bad], f"posix:{target}", ranks=2))
    assert done.code == 4, done.stderr
    (failure,) = done.phase("write").failures
    assert failure.expected != failure.found
    assert failure.offset_bytes is not None
    if pattern == "simple-strided":
        assert failure.offset_bytes == (3 * 2 + 1) * 4096 + 777
