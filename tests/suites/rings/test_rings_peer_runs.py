# SPDX-License-Identifier: Apache-2.0
"""hpcc in turn with rings: as many processes, in the same places, with the same settings."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from support.rings_world import MESSAGES, answer, rings_describe
from support.simulated_engine import Clock, SilentProgress, SimulatedEngine
from support.suite_words import request_of
from ullage.launch.base import Launcher
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import Mpich
from ullage.launch.open_mpi import OpenMpi
from ullage.model.plan import Layout
from ullage.model.request import Request
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import HpccAnswer, HpccJob
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.session import Session
from ullage.suites.rings.suite import RingsOptions, hpcc_in_turn, job_of, make_cases, not_available, prepare_rings

OPTIONS: dict[str, object] = {"ranks": 4}
HPCC = Installed(Path("/usr/bin/hpcc"), "")


def prepared(ranks: int = 2, **words: object) -> PreparedKernels:
    return prepare_rings(
        request_of("rings", RingsOptions, ranks=ranks, **words), EngineContext(Path("/engine"), rings_describe())
    )


@dataclass
class Scene:
    """A result, a simulated engine and a simulated hpcc; ``course`` is what ran, in order."""

    folder: Path
    launcher: Launcher = field(default_factory=lambda: OpenMpi(Path("/mpirun")))
    failures: int = 0
    course: list[str] = field(default_factory=list[str])
    jobs: list[HpccJob] = field(default_factory=list[HpccJob])

    def __post_init__(self) -> None:
        self.engine = SimulatedEngine(Clock(), lambda _case, _plan: 0.01)
        self.result = ResultFolder.create(
            self.folder, Request(run_id="r1", suite="rings", created="now", options=OPTIONS)
        )

    def hpcc(self, program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        assert program == HPCC
        assert limit_s >= 60
        self.course.append("hpcc")
        self.jobs.append(job)
        if len(self.jobs) <= self.failures:
            raise PeerError("no luck")
        return answer()

    def start(self, *words: object) -> object:
        self.course.append("ours")
        return self.engine.start(*words)  # type: ignore[arg-type]

    def run(self, ready: PreparedKernels, installed: Installed | None = HPCC) -> int:
        engine_context = EngineContext(Path("/engine"), rings_describe())
        session = Session(self.result, engine_context, self.launcher, SilentProgress(), None, self.start)  # type: ignore[arg-type]
        if ready.peers is not None:
            options = RingsOptions.model_validate(ready.request.options)
            layout = ready.cases[0].layout
            cases = make_cases(options, layout, engine_context.description)
            ready = replace(ready, peers=hpcc_in_turn(cases, layout, self.hpcc))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ullage.peers.hpcc.installed", lambda: installed)
            return ready.run(session, self.engine.clock.now)


@pytest.fixture
def mpiexec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One on the PATH, which only has to be there."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpirun.openmpi").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("mpiexec")
def test_ours_and_hpcc_take_turns_with_as_many_processes(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "r")
    assert scene.run(prepared(repetitions=3)) == 0
    assert scene.course == ["ours", "hpcc"] * 3
    assert {job.ranks for job in scene.jobs} == {2}
    peers = scene.result.read_peers()
    assert len(peers) == 6 * 3
    ids = [case.case.id for case in prepared(repetitions=3).cases]
    natural = [record.values for record in peers if record.case == ids[0]]
    assert natural == [{"ring_latency": MESSAGES["natural", "ring_latency"]}] * 3
    pairs = [record for record in peers if record.case == ids[5]]
    assert {record.phase for record in pairs} == {"pairs"}
    assert pairs[0].values == {
        "ping_pong_least_bandwidth": 6e9,
        "ping_pong_bandwidth": 12e9,
        "ping_pong_most_bandwidth": 20e9,
    }
    # Going on with a whole run starts nothing.
    assert scene.run(prepared(repetitions=3)) == 0
    assert scene.course == ["ours", "hpcc"] * 3


@pytest.mark.usefixtures("mpiexec")
def test_without_hpcc_there_is_one_launch(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "a")
    assert scene.run(prepared(repetitions=3), installed=None) == 0
    assert scene.course == ["ours"]
    unwanted = Scene(tmp_path / "b")
    assert unwanted.run(prepared(repetitions=3, no_peer=True)) == 0
    assert unwanted.course == ["ours"]


@pytest.mark.parametrize(
    ("nodes", "hosts", "why"),
    [
        (1, (), None),
        (2, ("here", "b"), None),
        (2, ("b", "here"), None),
        (2, (), "not available: hpcc between nodes without names"),
        (2, ("b", "c"), "not available: hpcc between nodes of which none is this one"),
    ],
)
def test_between_nodes_hpcc_needs_their_names_and_one_of_them_here(
    nodes: int, hosts: tuple[str, ...], why: str | None
) -> None:
    note = not_available(Layout(ranks=4, nodes=nodes), hosts, lambda name: name == "here")
    assert (note and note.text.startswith(why or "")) is (None if why is None else True)


def test_between_nodes_hpcc_is_placed_as_our_ranks_are() -> None:
    hosts = Hosts(("a", "b", "c"), "/x/agent")
    job = job_of(Layout(ranks=8, nodes=2, ranks_per_node=4), (), hosts)
    assert job.places == (*("--mca", "plm_rsh_agent", "/x/agent"), *("--host", "a:4,b:4", "--map-by", "ppr:4:node"))
    assert job_of(Layout(ranks=8, nodes=1), (), hosts).places == ()


@pytest.mark.usefixtures("mpiexec")
def test_settings_that_people_have_set_are_those_of_hpcc_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks of ours that yield beside ranks of hpcc that do not are no comparison."""
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    scene = Scene(tmp_path / "r")
    assert scene.run(prepared(repetitions=1)) == 0
    assert "OMPI_MCA_mpi_yield_when_idle" not in dict(scene.jobs[0].settings)


@pytest.mark.usefixtures("mpiexec")
def test_a_failing_hpcc_is_a_note_and_is_given_up(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "r", failures=9)
    assert scene.run(prepared(repetitions=4)) == 0
    assert scene.course == ["ours", "hpcc", "ours", "hpcc", "ours", "ours"]
    assert scene.result.read_peers() == []
    events = [event for file in scene.result.read_records() for event in file.events]
    assert [event.code for event in events] == ["peer-failed"]


@pytest.mark.usefixtures("mpiexec")
def test_another_mpi_is_said(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "r", launcher=Mpich(Path("/mpiexec")))
    scene.run(prepared(repetitions=2))
    events = [event.code for file in scene.result.read_records() for event in file.events]
    assert events == ["peer-other-mpi"]
    assert not any(name.startswith("MPIR") for name, _ in scene.jobs[0].settings)


def test_hpcc_is_bound_and_set_as_our_ranks_are() -> None:
    job = job_of(Layout(ranks=6, nodes=1, binding="core"), [("OMPI_MCA_mpi_yield_when_idle", "1")])
    assert (job.rows, job.columns, job.ranks) == (2, 3, 6)
    assert dict(job.settings) == {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "core"}
