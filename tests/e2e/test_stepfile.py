# SPDX-License-Identifier: Apache-2.0
"""A stepfile on real files with the real engine: both phases, what is wrong with them, and a kill in the adjoint."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command, finish, run, start
from tests.e2e.control_groups import inside, memory_group
from tests.e2e.test_fault_resume import kill_a_rank

from ullage.analysis.stepmodel import Calls, Computation, predict
from ullage.analysis.verdicts.grades import sound_rows
from ullage.cleaning import find_run_folders
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.runs.summary import row_context
from ullage.suites.stepfile.suite import recomputations
from ullage.suites.stepfile.summarise import expected_share, measured_shares

STEPS = 20


def rows_of(result: Path, metric: str) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == metric]


def test_layouts_and_orders_are_measured_and_nothing_is_left(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    sizes = ["--ranks", "2", "--steps", str(STEPS), "--bytes", "64K", "--compute", "1ms", "--time", "60s"]
    repeated = ["--max-repetitions", "1"]
    words = ["--layout", "dir-per-rank,log", "--order", "reverse,revolve:5", *sizes, *repeated]
    run_words = ["run", "stepfile", "--target", f"here={target}", *words]
    code, out, err = run(command(engine, *run_words, "--all", "--result", str(result)))
    assert code == 0, err
    phases = {
        (row.params["access"], row.params["layout"], row.params["order"]) for row in rows_of(result, "phase_time")
    }
    assert phases == {
        (phase, layout, order)
        for phase in ("forward", "adjoint")
        for layout, order in (("dir-per-rank", "reverse"), ("log", "reverse"), ("dir-per-rank", "revolve:5"))
    }
    walls = {(row.case, row.params["access"]): row.median for row in rows_of(result, "phase_time")}
    for row in rows_of(result, "exposed_io"):
        assert 0 <= row.median < walls[row.case, row.params["access"]]
    assert all(wall >= STEPS * 1e-3 for wall in walls.values())
    again = {
        phase.counters["steps_recomputed"]
        for file in ResultFolder.open(result).read_records()
        for phase in file.phases
        if phase.phase == "adjoint"
    }
    assert again == {0, 2 * recomputations(STEPS, 5)}
    assert "States of a simulation" in out
    assert [path.name for path in target.iterdir()] == ["precious"]


def files_at(target: Path) -> int:
    while True:
        with contextlib.suppress(FileNotFoundError):  # a folder was removed while it was looked into
            return sum(1 for path in target.glob("ullage-*/*/r.*/s.*"))


@pytest.mark.long
@pytest.mark.fault(
    "SIGKILL of a rank in the adjoint phase, with files removed as they are read, and resume",
    "every case complete, states of the killed repetition removed",
)
def test_a_kill_in_the_adjoint_is_gone_on_with(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    sizes = ["--ranks", "2", "--steps", "80", "--bytes", "4K", "--compute", "8ms", "--delete", "--time", "100s"]
    repeated = ["--min-repetitions", "2", "--max-repetitions", "2", "--layout", "dir-per-rank"]
    words = ["run", "stepfile", "--target", f"here={target}", *sizes, *repeated, "--result", str(result)]
    process = start(command(engine, *words))
    deadline, most = time.monotonic() + TIMEOUT_S / 2, 0
    while not (most > 120 and files_at(target) < most - 20):
        most = max(most, files_at(target))
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no adjoint in time"
        time.sleep(0.01)
    kill_a_rank(process, result, engine)
    code, _, _ = finish(process)
    assert code != 0
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    assert {len(row.repetitions) for row in rows_of(result, "phase_time")} == {2}
    run(command(engine, "clean", str(target), "--yes"))
    assert find_run_folders(target) == []
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_any_number_of_ranks_takes_part(engine: Path, target: Path, tmp_path: Path) -> None:
    sizes = ["--steps", "4", "--bytes", "4K", "--layout", "dir-per-rank,dir-per-step", "--time", "60s"]
    words = ["run", "stepfile", "--target", f"here={target}", "--ranks", "1,2,3,4,6", *sizes, "--max-repetitions", "1"]
    code, _, err = run(command(engine, *words, "--quiet", "--result", str(tmp_path / "result")))
    assert code == 0, err
    moved = {
        (run_.layout.ranks, phase.phase, phase.counters["states"], phase.bad_blocks)
        for file in ResultFolder.open(tmp_path / "result").read_records()
        for phase in file.phases
        if (run_ := file.run) is not None
    }
    ranks = (1, 2, 3, 4, 6)
    assert moved == {(count, phase, 4 * count, 0) for count in ranks for phase in ("forward", "adjoint")}
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder in memory: many files are made there soon, however slow the disk is."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_a_rank_keeps_100000_files(engine: Path, in_memory: Path, tmp_path: Path) -> None:
    sizes = ["--ranks", "1", "--steps", "100000", "--bytes", "8", "--layout", "hashed:2", "--delete"]
    words = ["run", "stepfile", "--target", f"here={in_memory}", *sizes, "--time", "100s", "--max-repetitions", "1"]
    code, _, err = run(command(engine, *words, "--quiet", "--result", str(tmp_path / "result")))
    assert code == 0, err
    (file,) = ResultFolder.open(tmp_path / "result").read_records()
    assert [phase.counters["states"] for phase in file.phases] == [100_000, 100_000]
    assert file.phases[1].counters["files_removed"] == 100_000
    assert list(in_memory.iterdir()) == []


def test_states_go_on_to_the_next_target(engine: Path, target: Path, tmp_path: Path) -> None:
    second, result = tmp_path / "second", tmp_path / "result"
    second.mkdir()
    places = ["--target", f"a={target}", "--target", f"b={second}", "--spill", "--space", "640K"]
    sizes = ["--ranks", "2", "--steps", "8", "--bytes", "64K", "--layout", "dir-per-rank", "--time", "60s"]
    run_words = ["run", "stepfile", *places, *sizes, "--max-repetitions", "1", "--result", str(result)]
    code, out, err = run(command(engine, *run_words, "--all"))
    assert code == 0, err
    (file,) = ResultFolder.open(result).read_records()
    assert [phase.facts["tiers"] for phase in file.phases] == [
        [{"target": "a", "states": 10}, {"target": "b", "states": 6}]
    ] * 2
    assert file.phases[1].bad_blocks == 0
    (said,) = [one for one in ResultFolder.open(result).read_summary().findings if one.kind == "stepfile-spill"]
    assert said.title == "6 of 16 states found no room on a"
    assert {row.verdict for row in rows_of(result, "phase_time")} == {"unknown"}
    assert "a 10, b 6" in out
    assert [path.name for path in target.iterdir()] == ["precious"]
    assert list(second.iterdir()) == []


def test_a_small_cache_serves_a_part_of_the_reads(engine: Path, target: Path, tmp_path: Path) -> None:
    """All of Ullage has 256 MiB, its page cache included. The states take 320 MiB.

    They are synced before they are read: pages that a busy disk has yet to write are kept whatever their age.
    """
    result, states = tmp_path / "result", ["--ranks", "1", "--steps", "80", "--bytes", "4M", "--layout", "dir-per-rank"]
    orders = ["--order", "reverse,forward", "--sync", "close", "--max-repetitions", "1", "--time", "60s"]
    words = ["run", "stepfile", "--target", f"here={target}", *states, *orders, "--quiet", "--result", str(result)]
    with memory_group(256 << 20) as group:
        code, _, err = run([*inside(group), *command(engine, *words)])
    assert code == 0, err
    opened = ResultFolder.open(result)
    system, launches = opened.read_system(), [list(file.records) for file in opened.read_records()]
    measured = measured_shares(launches, row_context(opened.read_request(), system))
    if not measured:
        pytest.skip("not available: a folder for tests on a file system whose reads are counted")
    assert system is not None
    held = system.memory.available_bytes
    assert held is not None
    assert held < 256 << 20
    adjoint = [row for row in rows_of(result, "phase_time") if row.params["access"] == "adjoint"]
    shares = {
        str(row.params["order"]): (expected_share(row, held, removes=False), measured[row.case]) for row in adjoint
    }
    assert 0.1 < shares["reverse"][1] < 256 / 320, f"no cache is larger than the memory: {shares}"
    assert 0.1 < (shares["reverse"][0] or 0) < 256 / 320, shares
    assert shares["forward"][0] == 0
    assert shares["forward"][1] < 256 / 320, "the kernel keeps some older pages too"
    # No finding rests on a row that other programs disturbed.
    told = {
        (one.numbers["predicted"], one.numbers["measured"])
        for one in opened.read_summary().findings
        if one.kind == "stepfile-cache"
    }
    assert told == {shares[str(row.params["order"])] for row in sound_rows(adjoint)}


DEVICE = ("--target", "dev=model:", "--ranks", "1", "--steps", "30", "--bytes", "1M", "--layout", "dir-per-rank")


def walls(result: Path, use: str, phase: str) -> list[float]:
    return [
        wall
        for row in rows_of(result, "phase_time")
        if (row.params.get("use", use), row.params["access"], row.params["ranks"]) == (use, phase, 1)
        for wall in row.repetitions
    ]


@pytest.mark.undisturbed
@pytest.mark.parametrize("depth", [0, 2])
def test_a_prediction_for_a_simulated_device_is_right(engine: Path, tmp_path: Path, depth: int) -> None:
    """The shortest of some repetitions are those of the device: 8M take 8.4 ms. Threads cost far less than 20 ms."""
    result, step_s, steps = tmp_path / "result", 0.020, 15
    sizes = [
        "--target",
        "dev=model:",
        "--ranks",
        "1",
        "--steps",
        str(steps),
        "--bytes",
        "8M",
        "--layout",
        "dir-per-rank",
    ]
    ahead = ["--write-behind", str(depth), "--prefetch", str(depth), "--compute", "20ms"]
    repeated = ["--time", "60s", "--min-repetitions", "8", "--max-repetitions", "8"]
    words = ["predict", "stepfile", *sizes, *ahead, *repeated, "--quiet", "--result", str(result)]
    code, _, err = run(command(engine, *words))
    assert code == 0, err
    kinds = {one.kind for one in ResultFolder.open(result).read_summary().findings}
    assert {"predicted-phase", "predicted-requirement", "predicted-depth", "predicted-revolve"} <= kinds
    comes_first = os.sched_getscheduler(0) == os.SCHED_FIFO
    if not comes_first and any(row.grade == "C" for row in rows_of(result, "phase_time")):
        pytest.skip("other programs took the cores, so that the rows are no measurement of the device")
    for phase in ("forward", "adjoint"):
        shortest, best = min(walls(result, "rates", phase)), min(walls(result, "run", phase))
        found = predict(Computation(1, steps, step_s), [Calls(1.0, [shortest], shortest / steps)], depth)
        assert found.seconds == pytest.approx(best, rel=0.02)
        hidden = max(steps * step_s, shortest)
        assert depth == 0 or best <= 1.05 * hidden, "the I/O overlaps with the computation"


def test_rates_of_a_result_predict_without_a_measurement(engine: Path, tmp_path: Path) -> None:
    result, short = tmp_path / "result", ["--time", "20s", "--max-repetitions", "2", "--quiet"]
    code, _, err = run(command(engine, "run", "stepfile", *DEVICE, *short, "--result", str(result)))
    assert code == 0, err
    asked = ["predict", "stepfile", *DEVICE, "--compute", "50ms", "--rates", str(result), "--no-run"]
    code, out, err = run(command(engine, *asked))
    assert code == 0, err
    assert "With 1 rank, the forward phase (dev, dir-per-rank, reverse) takes" in out
    assert "Writes overlap with the computation at 21.0 MB/s or more" in out
    code, _, err = run(command(engine, *asked, "--prefetch", "2"))
    assert code == 2
    assert "has no adjoint rates of dev" in err
