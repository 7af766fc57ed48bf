# SPDX-License-Identifier: Apache-2.0
"""Mapped files, persistent memory and memory itself as targets, on the real engine."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.control_groups import inside, memory_group
from tests.e2e.launching import KIB, MIB, Document, case, command, finish, plan, popen, run, start, untouched, write

from ullage.analysis.verdicts.cache import cache_verdict
from ullage.engine import describe, find_registered

PAGES = ("heap", "shared", "huge")


@pytest.fixture
def pmem(engine: Path) -> None:
    """libpmem, which not every machine has."""
    found = find_registered(describe(engine), "backend", "pmem")
    if not found.available:
        assert found.reason
        pytest.skip(found.reason)


def memory_case(pages: str, **workload: object) -> Document:
    return case(backend="memory", parameters={"pages": pages}, verify="full", **workload)


def segments() -> set[str]:
    """What shared memory has names, but for that of other tests, which run beside these."""
    names = {path.name for path in Path("/dev/shm").iterdir()}
    return {name for name in names if "ullage" in name and not name.startswith("ullage-test-")}


@pytest.mark.parametrize("pages", PAGES)
def test_memory_is_written_and_read_back_without_a_path(engine: Path, tmp_path: Path, pages: str) -> None:
    cases = [memory_case(pages, phases=["write", "read", "rewrite", "reread"])]
    done = run(engine, tmp_path, plan(tmp_path, cases, "memory:"))
    assert done.code == 0, done.stderr
    for phase in done.of("phase"):
        assert phase.bytes == 2 * MIB
        assert cache_verdict(phase).text == "memory"
        assert phase.hints_granted["pages"] == pages
    assert done.phase("read").verified_bytes == 2 * MIB


@pytest.mark.each_mpi
@pytest.mark.parametrize("words", [{"read_back": "other-rank"}, {"file_mode": "shared"}])
def test_ranks_of_a_node_read_the_memory_of_others(engine: Path, tmp_path: Path, words: Document) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [memory_case("shared", **words)], "memory:"))
    assert done.code == 0, done.stderr
    assert done.phase("read").verified_bytes == 2 * MIB
    refused = run(engine, tmp_path, plan(tmp_path, [memory_case("heap", **words)], "memory:"))
    assert refused.code == 4
    assert "pages shared" in str(refused.records)


def test_memory_beside_a_path_leaves_the_target_alone(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [memory_case("shared"), memory_case("heap")], f"posix:{target}"))
    assert done.code == 0, done.stderr
    assert untouched(target)


def test_a_dataset_that_is_to_outlive_its_case_is_no_plan(engine: Path, tmp_path: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [memory_case("heap") | {"dataset": "d"}], "memory:"))
    assert done.code == 2
    assert "holds data for one repetition" in done.stderr


@pytest.mark.parametrize("backend", ["memory", "mmap", "pmem"])
@pytest.mark.fault("a flipped bit in mapped memory", "exit 4; file, offset, expected and found in the record")
def test_one_flipped_bit_is_found(
    engine: Path, tmp_path: Path, target: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    if backend == "pmem":
        request.getfixturevalue("pmem")
    fault = {"inner": backend, "kind": "flip", "operation": "write", "rank": 1, "after": 2, "flip_bit": 8 * 777}
    document = plan(tmp_path, [case(backend="fault", parameters=fault, verify="full")], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 4
    failure = done.phase("read").failures[0]
    assert failure.offset_bytes == 2 * 64 * KIB + 777
    assert "data.00000001" in failure.path


@pytest.mark.each_mpi
@pytest.mark.fault("a rank with shared memory is killed (SIGKILL)", "nothing is left in /dev/shm")
def test_killed_ranks_leave_no_memory(engine: Path, tmp_path: Path) -> None:
    before = segments()
    rule = {"name": "fixed", "parameters": {"count": 1000000}}
    document = plan(tmp_path, [memory_case("shared")], "memory:", stop_rule=rule)
    process = start(engine, tmp_path, document)
    records = Path(str(document["records"]))
    deadline = time.monotonic() + 60
    while not (records.exists() and '"kind":"case"' in records.read_text()):
        assert time.monotonic() < deadline, "no repetition ended in time"
        time.sleep(0.05)
    ranks = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _runs(path, tmp_path)]
    assert ranks
    for rank in ranks:
        os.kill(rank, signal.SIGKILL)
    assert finish(process, document).code != 0
    assert segments() == before


def _runs(process: Path, tmp_path: Path) -> bool:
    """Whether a process is a rank of the plan: it holds the shared memory, and its launcher does not."""
    try:
        words = (process / "cmdline").read_bytes()
        held = [str(link.readlink()) for link in (process / "fd").iterdir()]
    except OSError:
        return False
    return os.fsencode(tmp_path / "plan.json") in words and any("ullage-memory" in name for name in held)


@pytest.mark.usefixtures("pmem")
@pytest.mark.parametrize("store", ["persist", "nodrain", "nontemporal", "streaming"])
def test_pmem_says_that_other_memory_is_not_persistent(
    engine: Path, tmp_path: Path, target: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: Document = {"transfer_bytes": 264, "block_bytes": 264 * 1000, "verify": "full"}
    for forced, said in (("0", "no"), ("1", "forced")):
        monkeypatch.setenv("PMEM_IS_PMEM_FORCE", forced)
        (tmp_path / "records.ndjson").unlink(missing_ok=True)
        document = plan(tmp_path, [case(backend="pmem", parameters={"store": store}, **words)], f"posix:{target}")
        done = run(engine, tmp_path, document)
        assert done.code == 0, done.stderr
        for phase in done.of("phase"):
            assert phase.hints_granted["persistent"] == said
        assert done.phase("read").verified_bytes == 2 * 264 * 1000
        assert untouched(target)


@pytest.mark.parametrize("backend", ["mmap", "memory"])
def test_short_operations_share_clock_readings_and_lose_none(
    engine: Path, tmp_path: Path, target: Path, backend: str
) -> None:
    words: Document = {"transfer_bytes": 8, "block_bytes": 256 * KIB, "phases": ["write", "read"]}
    done = run(engine, tmp_path, plan(tmp_path, [case(backend=backend, **words)], f"posix:{target}"))
    assert done.code == 0, done.stderr
    for phase in done.of("phase"):
        assert phase.operations == 2 * 32 * KIB
        assert phase.latency.operations == phase.operations
        assert phase.stamped_every > 1


_LITTLE = 96 * MIB


@pytest.fixture
def little_memory() -> Iterator[Path]:
    with memory_group(_LITTLE) as group:
        yield group


@pytest.mark.parametrize("backend", ["mmap", "pmem"])
def test_a_mapping_may_be_larger_than_memory(
    engine: Path, tmp_path: Path, little_memory: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    if backend == "pmem":
        request.getfixturevalue("pmem")
    own: Document = {"store": "nodrain"} if backend == "pmem" else {}
    volume = {"transfer_bytes": MIB, "block_bytes": 96 * MIB, "verify": "full"}
    document = plan(tmp_path, [case(backend=backend, parameters=own, **volume)], f"posix:{tmp_path}")
    words, environment = command(engine, write(tmp_path, document), 2)
    done = finish(popen([*inside(little_memory), *words], environment), document, timeout_s=300)
    if done.of("phase") and done.phase("write").file_system in ("tmpfs", "ramfs"):
        pytest.skip("not available: a folder for tests that is not in memory")
    assert done.code == 0, done.stderr
    assert done.phase("read").verified_bytes == 2 * 96 * MIB
    most = int((little_memory / "memory.max_usage_in_bytes").read_text())
    assert most <= _LITTLE
    assert int((little_memory / "memory.failcnt").read_text()) > 0, "the limit was never met"


def test_page_faults_of_a_mapping_are_counted(engine: Path, tmp_path: Path, target: Path) -> None:
    words: Document = {"transfer_bytes": 64 * KIB, "block_bytes": 4 * MIB, "phases": ["write"]}
    document = plan(tmp_path, [case(backend="mmap", **words)], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    faults = done.phase("write").minor_faults
    assert faults is not None
    assert faults > 0
