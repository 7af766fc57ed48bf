# SPDX-License-Identifier: Apache-2.0
"""Peers beside a memory run: which case each stands beside, and that none of them is needed."""

from dataclasses import replace
from pathlib import Path

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, memory_describe, memory_options
from support.simulated_engine import Clock, SilentProgress, SimulatedEngine
from ullage.launch.mpich import Mpich
from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.peers import Installed, PeerError, ToolJob, load_peers
from ullage.peers.hpcc import HpccAnswer, HpccJob
from ullage.peers.memory import PEERS, MbwJob, SysbenchJob
from ullage.results.folder import ResultFolder, write_atomically
from ullage.runs.inputs import EngineContext
from ullage.runs.peer_runs import Hpcc, PeerRuns
from ullage.runs.session import Session
from ullage.suites.memory.options import choose_sizes
from ullage.suites.memory.peer_runs import PeerScope, job_for, job_of, peer_jobs, stream_job
from ullage.suites.memory.prepare import Planner

GROUND = EngineContext(Path("/engine"), memory_describe())
PROGRAM = Installed(Path("/usr/bin/tool"), "7")
PLAIN: Parameters = {
    "kernel": "copy",
    "working_set_bytes": 128 * MIB,
    "threads": 1,
    "stores": "ordinary",
    "pages": "default",
    "order": "sequential",
    "block_bytes": 0,
    "cpu_node": -1,
    "memory_node": -1,
}


def scene(*, quick: bool = True, **members: object) -> PeerScope:
    options = memory_options(quick=quick, **members)
    sizes = choose_sizes(CACHES, options.threads[-1], 1 << 30, quick=quick)
    cases = Planner(options, sizes, GROUND.description).cases()
    return PeerScope(cases, GROUND.description, CACHES, sizes.beyond, options.threads[-1], quick)


def session(path: Path) -> Session:
    result = ResultFolder.create(path / "result", Request(run_id="r1", suite="memory", created="now"))
    start = SimulatedEngine(Clock(), cost=lambda *_: 0.1).start
    return Session(result, GROUND, Mpich(Path("/mpiexec")), SilentProgress(), None, start)


@pytest.mark.parametrize(
    ("name", "changed", "expected"),
    [
        ("mbw", {}, MbwJob("loop", 64 * MIB)),
        ("mbw", {"block_bytes": KIB}, MbwJob("blocks", 64 * MIB, KIB)),
        ("mbw", {"block_bytes": KIB, "order": "random"}, None),
        ("mbw", {"threads": 2}, None),
        ("mbw", {"kernel": "scale"}, None),
        ("mbw", {"stores": "non-temporal"}, None),
        ("mbw", {"working_set_bytes": 4 * MIB}, None),
        ("sysbench", {}, None),
        ("sysbench", {"kernel": "read", "threads": 2}, SysbenchJob("read", 64 * MIB, 2)),
        ("sysbench", {"kernel": "write"}, SysbenchJob("write", 128 * MIB, 1)),
        ("sysbench", {"kernel": "write", "working_set_bytes": 130 * MIB}, SysbenchJob("write", 256 * MIB, 1)),
        ("sysbench", {"kernel": "read", "pages": "huge"}, None),
        ("sysbench", {"kernel": "read", "cpu_node": 0, "memory_node": 0}, None),
    ],
)
def test_a_peer_stands_beside_what_does_the_same_work(name: str, changed: Parameters, expected: ToolJob | None) -> None:
    assert job_of(name, {**PLAIN, **changed}, 100 * MIB) == expected


def test_each_case_has_a_number_once_however_often_a_run_is_gone_on_with(tmp_path: Path) -> None:
    where, jobs = session(tmp_path), list[ToolJob]()

    def run(_program: Installed, job: ToolJob, *, limit_s: float) -> dict[str, float]:
        assert limit_s == 60
        jobs.append(job)
        return {"memory_bandwidth": 5e9}

    for _ in range(2):
        PeerRuns(where).measure(peer_jobs(scene(), {"sysbench": PROGRAM, "mbw": None}, run), rounds=1)
    assert jobs == [SysbenchJob(operation, 128 * MIB // threads, threads) for operation, threads in _quick_jobs()]
    records = where.result.read_peers()
    assert len(records) == len(jobs)
    assert {(record.phase, record.tool, record.version) for record in records} == {("stream", "sysbench", "7")}


def _quick_jobs() -> list[tuple[str, int]]:
    """What a first look with two cores has of plain reads and writes beyond the caches."""
    return [("read", 2), ("write", 2), ("read", 1)]


def test_a_tool_that_never_works_is_given_up_and_the_run_goes_on(tmp_path: Path) -> None:
    where, tried = session(tmp_path), list[ToolJob]()

    def run(_program: Installed, job: ToolJob, *, limit_s: float) -> dict[str, float]:
        assert 0 < limit_s <= 60
        tried.append(job)
        raise PeerError("no such thing")

    # hpcc, where it is installed, would run for a minute beside cases that are not quick.
    many = replace(scene(threads=[1, 2, 4, 8], quick=False), quick=True)
    PeerRuns(where).measure(peer_jobs(many, {"sysbench": PROGRAM}, run), rounds=1)
    assert len(tried) == 3
    assert where.result.read_peers() == []


def test_known_tools_are_those_of_the_package() -> None:
    assert [one.name for one in PEERS] == ["mbw", "sysbench"]
    assert {one.name for one in PEERS} < set(load_peers())


def answer(**rates: float) -> HpccAnswer:
    kernels = {"copy": 1e9, "scale": 2e9, "add": 3e9, "triad": 4e9}
    return HpccAnswer(
        version="1.5.0",
        solve=1.0,
        products=1.0,
        product_alone=1.0,
        stream={kernel: 2 * rate for kernel, rate in kernels.items()},
        stream_alone={**kernels, **rates},
        updates=1.0,
    )


def test_one_run_of_hpcc_tells_all_kernels_of_one_rank_and_of_all(tmp_path: Path) -> None:
    where, jobs = session(tmp_path), list[HpccJob]()

    def run(_program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        assert limit_s > 0
        jobs.append(job)
        return answer()

    kernels = scene(quick=False).kernels()
    assert set(kernels) == {(kernel, n) for kernel in ("copy", "scale", "add", "triad") for n in (1, 2)}
    job = HpccJob(order=1000, rows=1, columns=2)
    for _ in range(2):
        PeerRuns(where).measure([stream_job(Hpcc(PROGRAM, run), job, kernels)], rounds=1)
    assert jobs == [job]
    rates = {record.case: record.values["memory_bandwidth"] for record in where.result.read_peers()}
    assert rates[kernels["triad", 1].id] == 4e9
    assert rates[kernels["triad", 2].id] == 8e9
    assert len(rates) == 8


def test_a_hpcc_that_fails_leaves_a_note_and_one_that_is_not_there_nothing(tmp_path: Path) -> None:
    where = session(tmp_path)
    write_atomically(where.result.plan_path(1), b"{}")

    def run(_program: Installed, _job: HpccJob, *, limit_s: float) -> HpccAnswer:
        raise PeerError(f"not done after {limit_s:g} s")

    wanted = scene(quick=False)
    assert [job.tool for job in peer_jobs(wanted, {})] == []
    (job,) = peer_jobs(wanted, {}, hpcc=Hpcc(PROGRAM, run))
    PeerRuns(where).measure([job], rounds=1)
    (event,) = [event for file in where.result.read_records() for event in file.events]
    assert (event.code, event.severity) == ("peer-failed", "warning")
    assert event.text.startswith("hpcc gave no number: not done after")
    assert where.result.read_peers() == []


@pytest.mark.parametrize(("ranks", "grid"), [(1, (1, 1)), (2, (1, 2)), (6, (2, 3)), (16, (4, 4)), (7, (1, 7))])
def test_the_matrix_of_hpcc_is_beyond_the_caches_of_every_rank(ranks: int, grid: tuple[int, int]) -> None:
    job = job_for(CACHES, ranks, 128 * MIB)
    assert (job.rows, job.columns) == grid
    assert job.order**2 * 8 / ranks == pytest.approx(128 * MIB, rel=0.01)
