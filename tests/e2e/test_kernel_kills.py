# SPDX-License-Identifier: Apache-2.0
"""Kernels of programs: a rank that is killed, a full target, and folders that differ where ranks share files."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import command, run, run_here
from tests.e2e.test_fault_resume import killed_and_resumed

from ullage.cleaning import find_run_folders
from ullage.results.folder import ResultFolder

PARTICLES = ["--particles", "20000", "--steps", "2", "--compute", "50ms", "--layout", "CC,IC", "--format", "raw"]


@pytest.mark.fault("SIGKILL of a rank of a kernel, then resume", "each repetition once; nothing of ours is left")
@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("vpic", PARTICLES),
        ("bdcats", PARTICLES),
        ("overlap", ["--size", "64K", "--depth", "1,4", "--bytes", "1M", "--rounds", "2", "--backend", "posix"]),
        ("checkpoint", ["--scale", "0.0001", "--tensors", "9", "--seed", "3"]),
        ("spio", ["--block", "64K", "--volume", "8M", "--operation", "write,neighbour", "--seed", "3"]),
        ("sar", ["--scale", "0.1", "--grid", "3", "--depth", "3", "--layout", "files"]),
    ],
)
def test_a_killed_run_goes_on(engine: Path, tmp_path: Path, target: Path, suite: str, words: list[str]) -> None:
    result = tmp_path / "result"
    asked = ["run", suite, "--target", f"here={target}", "--ranks", "2", *words, "--time", "90s"]
    asked += ["--min-repetitions", "3", "--max-repetitions", "3"]
    killed_and_resumed(engine, target, asked, result)


@pytest.mark.parametrize("verb", ["run", "plan"])
@pytest.mark.parametrize(
    "words",
    [
        ["vpic", *PARTICLES],
        ["bdcats", *PARTICLES],
        ["tile", "--element", "1"],
        ["flash", "--format", "raw"],
        ["pio", "--pattern", "segmented"],
        ["spio", "--operation", "write,neighbour", "--space", "64M"],
        ["sar", "--scale", "0.1"],
        ["checkpoint", "--scale", "0.0001", "--layout", "shared"],
        ["loader", "--samples", "60", "--sample", "8K", "--batch", "4"],
        ["sweep", "--volume", "1M", "--file", "shared"],
        ["b_eff_io"],
        ["io500", "--stonewall", "1s"],
    ],
    ids=lambda words: words[0],
)
def test_folders_that_differ_are_refused_before_anything_starts(
    engine: Path, tmp_path: Path, verb: str, words: list[str]
) -> None:
    here = folders(tmp_path)
    asked = [verb, *words, "--target", f"here={here}/{{rank}}", "--ranks", "2", "--time", "20s"]
    result = tmp_path / "result"
    kept = ["--result", str(result)] if verb == "run" else []
    code, out, err = run_here(*asked, *kept, "--engine", str(engine))
    assert (code, out) == (2, ""), err
    assert len(err.splitlines()) == 1
    assert "has a folder for each rank or node, but the ranks share files" in err
    assert not result.exists()
    assert is_empty(here)


@pytest.mark.fault("folders that differ between ranks that share files", "exit 3 and one line; nothing of ours is left")
@pytest.mark.parametrize(
    ("workload", "backend"),
    [
        ({"name": "sar", "parameters": {"grid": 2, "depth": 2}}, "posix"),
        ({"name": "loader", "parameters": {"samples": 8, "data": "make", "epochs": 0}}, "posix"),
        ({"name": "tile", "parameters": {"tiles_x": 2}}, "mpiio"),
        ({"name": "b-eff-io", "parameters": {"type": "shared"}}, "mpiio"),
        ({"name": "metadata", "parameters": {"items": 10}}, "posix"),
        ({"name": "mixed-metadata", "parameters": {"sets": 1, "stride": 1}}, "posix"),
        ({"name": "find", "parameters": {}}, "posix"),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else "",
)
def test_the_engine_refuses_them_too(engine: Path, tmp_path: Path, workload: dict[str, object], backend: str) -> None:
    """Where sockets or nodes decide, the engine alone knows."""
    here = folders(tmp_path)
    case = launching.case(backend) | {"workload": workload}
    done = launching.run(engine, tmp_path, launching.plan(tmp_path, [case], f"posix:{here}/{{rank}}"))
    assert done.code == 3, done.stderr
    assert "is not one folder for all ranks, whose files workload" in done.stderr
    assert is_empty(here)


def folders(tmp_path: Path) -> Path:
    """A folder with one for each of two ranks."""
    here = tmp_path / "here"
    for rank in range(2):
        (here / str(rank)).mkdir(parents=True)
    return here


def is_empty(here: Path) -> bool:
    """Whether none of the folders holds anything."""
    return [path for path in here.rglob("*") if path.parent != here] == []


# 8 MiB of two ranks, in calls that take long enough for somebody else to take the space meanwhile.
_SLOW = {"kind": "delay", "operation": "write", "count": 0, "delay_s": 0.1}
_VPIC = {"particles": 8192, "steps": 16, "memory": "contiguous", "file": "contiguous", "format": "raw"}
_LOADER = {
    "samples": 64,
    "sample_bytes": 128 << 10,
    "transfer_bytes": 64 << 10,
    "data": "make",
    "epochs": 1,
    "threads": 1,
}


@pytest.mark.fault("a target that fills up while a kernel writes", "the case failed, nothing of ours is left")
@pytest.mark.parametrize(
    ("inner", "workload"),
    [
        ("mpiio", {"name": "vpic", "parameters": {**_VPIC, "phases": ["write"]}}),
        ("mpiio", {"name": "vpic", "parameters": {**_VPIC, "phases": ["write", "read"]}}),
        ("posix", {"name": "loader", "parameters": _LOADER}),
    ],
    ids=["vpic", "bdcats", "loader"],
)
def test_a_target_that_fills_up_meanwhile_ends_the_case(
    engine: Path, tmp_path: Path, small: Path, inner: str, workload: launching.Document
) -> None:
    slow = launching.case("fault", {"inner": inner, **_SLOW}) | {"workload": workload}
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = launching.plan(tmp_path, [slow], f"posix:{small}", limits=limits, watchdog_s=20)
    done = launching.run_while_filling(engine, tmp_path, document, small, 16 << 20)
    assert done.code == 4, done.stderr
    failures = [one for record in done.of("phase") for one in record.failures]
    assert failures
    if inner == "posix":
        assert 28 in {one.errno for one in failures}
    assert find_run_folders(small) == []


@pytest.mark.parametrize("suite", ["vpic", "bdcats"])
def test_a_target_without_inodes_is_refused(engine: Path, tmp_path: Path, suite: str) -> None:
    with tiny(tmp_path, "size=4g,nr_inodes=4") as place:
        for number in range(3):
            (place / str(number)).touch()
        words = ["run", suite, "--target", f"here={place}", "--ranks", "2", "--particles", "100"]
        result = tmp_path / "result"
        code, out, err = run_here(*words, "--result", str(result), "--engine", str(engine))
    assert (code, out) == (3, "")
    assert "needs 1 file, but only 0 may be made" in err
    assert len(err.splitlines()) == 1
    assert not result.exists()


@pytest.mark.parametrize("dataset", ["", "samples"], ids=["of a case", "of a launch"])
def test_a_hundred_thousand_files_are_removed(engine: Path, tmp_path: Path, dataset: str) -> None:
    """Four ranks remove their parts at the end of the case, or those of a named dataset at the end of the launch."""
    sizes = {"samples": 100_000, "sample_bytes": 8, "deviation_bytes": 0, "samples_per_file": 1}
    workload = {"name": "loader", "parameters": {**sizes, "data": "make", "epochs": 0}}
    with tiny(tmp_path, "size=600m") as place:
        case = launching.case() | {"workload": workload, "dataset": dataset}
        limits = {"space_fraction": 1.0, "reserve_bytes": 0}
        document = launching.plan(tmp_path, [case], f"posix:{place}", ranks=4, limits=limits)
        done = launching.run(engine, tmp_path, document)
        assert done.code == 0, done.stderr
        (made,) = done.of("phase")
        assert made.operations == 100_000
        assert list(place.iterdir()) == []


@contextlib.contextmanager
def tiny(tmp_path: Path, options: str) -> Iterator[Path]:
    """A memory file system with these options of mount."""
    place = tmp_path / "tiny"
    place.mkdir()
    if launching.code_of(["mount", "-t", "tmpfs", "-o", options, "none", str(place)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    try:
        yield place
    finally:
        launching.code_of(["umount", "-l", str(place)])


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (["checkpoint", "--scale", "0.00002", "--tensors", "5", "--verify", "full"], {"rank", "tensor"}),
        (["overlap", "--size", "16K", "--depth", "2", "--bytes", "64K", "--rounds", "1", "--backend", "posix"], None),
        (["sar", "--scale", "0.1", "--grid", "2", "--read-back", "own", "--layout", "files"], {"files"}),
    ],
    ids=["checkpoint", "overlap", "sar"],
)
def test_a_folder_for_each_rank_serves_ranks_that_share_nothing(
    engine: Path, tmp_path: Path, words: list[str], kinds: set[str] | None
) -> None:
    host = socket.gethostname()
    here = tmp_path / "here"
    for rank in range(2):
        (here / f"{host}-0-{rank}" / str(rank)).mkdir(parents=True)
    target = f"here={here}/{{host}}-{{node}}-{{local_rank}}/{{rank}}"
    result = tmp_path / "result"
    asked = ["run", *words, "--target", target, "--ranks", "2", "--max-repetitions", "1", "--time", "60s"]
    code, _, err = run(command(engine, *asked, "--result", str(result)))
    assert code == 0, err
    folder = ResultFolder.open(result)
    phases = [phase for file in folder.read_records() for phase in file.phases]
    assert {(phase.status, phase.bad_blocks) for phase in phases} == {("ok", 0)}
    assert all(phase.verified_bytes > 0 for phase in phases if phase.access == "read")
    if kinds is not None:
        assert {row.params["layout"] for row in folder.read_summary().rows} == kinds
    events = {event.code for file in folder.read_records() for event in file.events}
    assert ("layout-left-out" in events) == (words[0] == "checkpoint")
    assert not [path for path in here.rglob("*") if path.is_file()]
    assert find_run_folders(here / f"{host}-0-0" / "0") == []
