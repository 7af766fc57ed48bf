# SPDX-License-Identifier: Apache-2.0
"""Suite ``overlap`` on real files with the real engine: all methods, a device of known answers, faults and mistakes."""

from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import check_refusal, command, run, run_here
from tests.e2e.launching import Document, plan, untouched

from ullage.analysis.metrics.programs import share_that_overlaps
from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.results.folder import ResultFolder

KIB = 1 << 10
AREAS = 2 + 3  # of one round


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overlap") / "here"
    folder.mkdir()
    (folder / "precious").write_text("not ours")
    return folder


@pytest.fixture(scope="module")
def measured(engine: Path, here: Path) -> ResultFolder:
    """All methods on 2 ranks, once, and a backend that has none."""
    result = here.parent / "result"
    words = ["run", "overlap", "--target", f"here={here}", "--ranks", "2", "--size", "16K,64K", "--depth", "1,2"]
    words += ["--bytes", "128K", "--rounds", "1", "--tests", "2", "--cache", "advise", "--max-repetitions", "1"]
    words += ["--backend", "posix,mpiio,uring,hdf5", "--time", "60s", "--result", str(result)]
    code, _, err = run(command(engine, *words))
    assert code == 0, err
    return ResultFolder.open(result)


def test_every_method_moves_and_verifies_every_byte(measured: ResultFolder, here: Path, engine: Path) -> None:
    known = {item.name for item in describe(engine).backends if item.available} & {"posix", "mpiio", "uring"}
    shares = [row for row in measured.read_summary().rows if row.metric == "overlap_share"]
    found = {
        (row.params["backend"], row.params["block_bytes"], row.params["depth"], row.params["access"]) for row in shares
    }
    assert found == {
        (name, size, depth, access)
        for name in known
        for size in (16 * KIB, 64 * KIB)
        for depth in (1, 2)
        for access in ("write", "read")
    }
    assert all(0 <= row.median <= 1 for row in shares)
    for file in measured.read_records():
        for phase in file.phases:
            assert (phase.status, phase.bytes, phase.bad_blocks) == ("ok", 2 * AREAS * 128 * KIB, 0)
            assert phase.verified_bytes == (phase.bytes if phase.phase == "read" else 0)
    assert [path.name for path in here.iterdir()] == ["precious"]


def test_what_is_not_available_is_said_with_its_reason(measured: ResultFolder) -> None:
    events = [event for file in measured.read_records() for event in file.events if event.code == "not-available"]
    assert any("backend 'hdf5'" in event.text for event in events)


def test_a_report_has_the_table_and_a_map_for_each_method(measured: ResultFolder) -> None:
    page = measured.path.parent / "page.html"
    code, _, err = run_here("report", str(measured.path), "--format", "html", "--output", str(page))
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    for words in ("I/O beside computation", "Overlap of I/O with computation", "posix helper threads"):
        assert words in text


def case(backend: str, parameters: Document, **workload: object) -> Document:
    words: Document = {"method": "nonblocking", "transfer_bytes": 16 * KIB, "depth": 2, "rounds": 1, **workload}
    return {
        "id": "00000000000000a1",
        "target": "t",
        "backend": {"name": backend, "parameters": parameters},
        "workload": {"name": "overlap", "parameters": words},
    }


def test_a_simulated_device_works_beside_the_computation(engine: Path, tmp_path: Path) -> None:
    """Each batch takes 2 x 5 ms, however long the rank computes: the best repetition overlaps most of it."""
    model = case("model", {"latency_s": 0.005, "bandwidth": 1e12}, verify="none", read=False)
    stop = {"name": "fixed", "parameters": {"count": 5}}
    done = launching.run(engine, tmp_path, plan(tmp_path, [model], "model:", ranks=1, stop_rule=stop))
    assert done.code == 0, done.stderr
    gauges = [phase.gauges for phase in done.of("phase")]
    assert all(found["io_s"].least >= 4 * 0.01 for found in gauges)
    times = [[found[name].sum for name in ("io_s", "compute_s", "both_s")] for found in gauges]
    assert max(share_that_overlaps(*some) for some in times) > 0.5


@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_any_number_of_ranks_verifies_what_it_moved(engine: Path, tmp_path: Path, target: Path, ranks: int) -> None:
    ways = [("posix", "threads"), ("mpiio", "nonblocking")]
    cases = [case(backend, {}, method=method) | {"id": f"{i:016x}"} for i, (backend, method) in enumerate(ways)]
    done = launching.run(engine, tmp_path, plan(tmp_path, cases, f"posix:{target}", ranks))
    assert done.code == 0, done.stderr
    reads = [phase for phase in done.of("phase") if phase.phase == "read"]
    assert {phase.case for phase in reads} == {one["id"] for one in cases}
    assert all(phase.verified_bytes == phase.bytes > 0 for phase in reads)
    assert all(phase.bytes % ranks == 0 for phase in reads)
    assert untouched(target)


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.fault("a begun transfer that never ends", "end status timeout; clean empties the target")
def test_a_transfer_that_never_ends_is_found_by_the_watchdog(engine: Path, tmp_path: Path, target: Path) -> None:
    bad = case("fault", {"inner": "mpiio", "kind": "hang", "operation": "write", "rank": 1, "after": 9})
    done = launching.run(engine, tmp_path, plan(tmp_path, [bad], f"posix:{target}", watchdog_s=2))
    assert done.code == 5, done.stderr
    assert done.of("end")[0].status == "timeout"
    for folder in find_run_folders(target):
        assert launching.cleaned(engine, folder.path)
    assert untouched(target)


@pytest.mark.fault("ENOSPC in a begun transfer", "the case failed with errno 28 on its rank, the next one runs")
def test_a_full_target_ends_the_case_and_not_the_run(engine: Path, tmp_path: Path, target: Path) -> None:
    full = case("fault", {"inner": "mpiio", "kind": "enospc", "operation": "write", "rank": 1, "after": 9})
    good = launching.case()
    done = launching.run(engine, tmp_path, plan(tmp_path, [full, good], f"posix:{target}", order="listed"))
    assert done.code == 4, done.stderr
    failures = [one for record in done.of("phase") for one in record.failures]
    assert {(one.errno, one.rank) for one in failures if one.errno} == {(28, 1)}
    assert {record.status for record in done.of("case") if record.case == good["id"]} == {"ok"}
    assert untouched(target)


@pytest.mark.fault("a flipped bit in a begun transfer", "exit 4; file, offset, expected and found in the record")
def test_a_flipped_bit_is_found_when_the_data_is_read(engine: Path, tmp_path: Path, target: Path) -> None:
    bad = case(
        "fault", {"inner": "mpiio", "kind": "flip", "operation": "write", "rank": 1, "after": 3, "flip_bit": 800}
    )
    done = launching.run(engine, tmp_path, plan(tmp_path, [bad], f"posix:{target}"))
    assert done.code == 4, done.stderr
    (failure,) = [one for record in done.of("phase") for one in record.failures]
    assert (failure.offset_bytes, failure.rank) == (3 * 16 * KIB + 100, 1)
    assert untouched(target)


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--backend", "hdf5"], "nothing can be measured"),
        (["--backend", "posix", "--method", "nonblocking"], "no call that only begins a transfer"),
        (["--method", "luck"], "unknown word 'luck'"),
        (["--access", "read"], "what is read has to be written first"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_touched(
    engine: Path, tmp_path: Path, words: list[str], expected: str
) -> None:
    check_refusal(engine, tmp_path, ["run", "overlap", "--target", "t={here}", *words], 2, expected)


def test_want_of_room_is_one_line(engine: Path, tmp_path: Path) -> None:
    words = ["--backend", "posix", "--ranks", "2", "--size", "64K", "--bytes", "64M", "--space", "100M"]
    check_refusal(engine, tmp_path, ["run", "overlap", "--target", "t={here}", *words], 3, "a smaller --bytes fits")


@pytest.mark.fault("a target that fills up while transfers are begun", "the case failed, nothing of ours is left")
@pytest.mark.parametrize("method", ["threads", "nonblocking"])
def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path, method: str) -> None:
    backend = "posix" if method == "threads" else "uring"
    if not any(one.name == backend and one.available for one in describe(engine).backends):
        pytest.skip(f"not available: backend {backend}")
    slow = {"inner": backend, "kind": "delay", "operation": "write", "count": 0, "delay_s": 0.1}
    areas_of_a_mebibyte = {"batches": 16, "depth": 1} if method == "threads" else {"batches": 8, "depth": 2}
    bad = case("fault", slow, method=method, transfer_bytes=64 * KIB, **areas_of_a_mebibyte)
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = plan(tmp_path, [bad], f"posix:{small}", limits=limits)
    done = launching.run_while_filling(engine, tmp_path, document, small, 16 * launching.MIB)
    assert done.code == 4, done.stderr
    assert 28 in {one.errno for record in done.of("phase") for one in record.failures}
    assert find_run_folders(small) == []
