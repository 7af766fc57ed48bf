# SPDX-License-Identifier: Apache-2.0
"""A limit of the size of files (ulimit -f): no signal ends a launch, what is too large fails, all else is measured."""

from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import command, run
from tests.e2e.launching import MIB, case, plan

from ullage.engine import describe
from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT
from ullage.results.records import read_records


def limited(kib: int, words: list[str]) -> list[str]:
    """The command, none of whose files may be longer."""
    return ["bash", "-c", f'ulimit -f {kib} && exec "$@"', "bash", *words]


def cases_of(result: Path) -> dict[str, set[str]]:
    """Their ids, by the status that their repetitions were recorded with; every launch has ended by itself."""
    found: dict[str, set[str]] = {}
    for file in (result / "records").glob("*.ndjson"):
        records = read_records(file).records
        assert records[-1].kind == "end", file
        for record in records:
            if record.kind == "case":
                found.setdefault(record.status, set()).add(record.case)
    return found


@pytest.mark.fault("a file grows beyond the limit (ulimit -f)", "the case fails with EFBIG in one line, others are run")
@pytest.mark.parametrize("backend", ["posix", "stdio", "uring", "mmap", "mpiio", "hdf5", "pmem"])
@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
def test_a_file_beyond_the_limit_of_its_size_fails_the_case(
    engine: Path, tmp_path: Path, target: Path, backend: str, shared: bool
) -> None:
    if backend not in {entry.name for entry in describe(engine).backends if entry.available}:
        pytest.skip(f"there is no {backend} here")
    if shared and backend == "hdf5":
        pytest.skip("the library says only that a write failed: the case fails with EIO")
    mode = "shared" if shared else "per-process"
    large = case(backend, block_bytes=16 * MIB, file_mode=mode)
    small = case(backend, file_mode=mode)
    document = plan(tmp_path, [large, small], f"posix:{target}")
    words, environment = launching.command(engine, launching.write(tmp_path, document), 2)
    done = launching.finish(launching.popen(limited(8192, words), environment), document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert failures
    assert {failure.errno for failure in failures} == {27}, failures
    assert {record.case for record in done.of("case") if record.status == "ok"} == {small["id"]}
    assert launching.untouched(target)


def test_a_sweep_measures_what_is_small_enough(engine: Path, tmp_path: Path, target: Path) -> None:
    """Of a volume of 8 MiB one rank's file is too long, those of eight are not."""
    result = tmp_path / "result"
    sizes = ["--ranks", "1,8", "--block", "256K", "--volume", "8M", "--min-repetitions", "2", "--max-repetitions", "2"]
    words = ["--target", f"t={target}", "--result", str(result), "--time", "60s", *sizes]
    code, _, errors = run(limited(3000, command(engine, "run", "sweep", *words)))
    assert code == EXIT_CASE_FAILED, errors
    assert "Traceback" not in errors
    assert {"ok", "failed"} == set(cases_of(result))
    assert launching.untouched(target)


def test_phases_of_io500_that_are_too_large_fail(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["--target", f"t={target}", "--ranks", "2", "--stonewall", "0.3s", "--result", str(result)]
    code, _, errors = run(limited(3000, command(engine, "run", "io500", *words)))
    assert code == EXIT_CASE_FAILED, errors
    assert "Traceback" not in errors
    assert {"ok", "failed"} == set(cases_of(result))
    assert launching.untouched(target)


def test_records_that_are_too_long_are_one_line(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case() for _ in range(8)], f"posix:{target}")
    words, environment = launching.command(engine, launching.write(tmp_path, document), 2)
    (tmp_path / "records.ndjson").write_text('{"kind":"event"}\n' * 400_000)
    done = launching.finish(launching.popen(limited(6144, words), environment), document)
    assert done.code == EXIT_ENVIRONMENT, done.stderr
    assert f"{document['records']}: File too large" in done.stderr
    assert launching.untouched(target)
