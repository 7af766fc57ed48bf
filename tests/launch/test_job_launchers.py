# SPDX-License-Identifier: Apache-2.0
"""What is said to the launchers of batch systems, and what their messages mean."""

import os
from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.engine import describe
from ullage.errors import UserError
from ullage.launch import choose_launcher
from ullage.launch.base import DeadRank, own_name, wrapper
from ullage.launch.flux import FluxRun
from ullage.launch.lsf import Jsrun
from ullage.launch.slurm import Srun
from ullage.model.describe import Describe
from ullage.model.plan import Layout
from ullage.system.allocation import allocation

HERE = Path(__file__).parent
ENGINE, PLAN = Path("/opt/it's here/engine"), Path("/r s/plan.json")


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (
            Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"),
            ["--nodes=2", "--ntasks=8", "--cores-per-task=1", "-o", "cpu-affinity=per-task"],
        ),
        (
            Layout(ranks=2, nodes=1, threads=2, binding="core"),
            ["--nodes=1", "--ntasks=2", "--cores-per-task=2", "-o", "cpu-affinity=per-task"],
        ),
        (Layout(ranks=16, nodes=2), ["--nodes=2", "--tasks-per-node=8", "-o", "cpu-affinity=off"]),
    ],
)
def test_words_of_flux_run(layout: Layout, words: list[str]) -> None:
    said = FluxRun(Path("/x/flux"), 4).argv(ENGINE, PLAN, layout)
    head = ["/x/flux", "run", "--unbuffered", f"--job-name={own_name()}", "-o", "exit-on-error"]
    assert said == [*head, *words, *wrapper("$FLUX_TASK_RANK"), str(ENGINE), "run", str(PLAN)]


def test_ranks_that_do_not_divide_by_the_nodes_are_refused_where_flux_cannot_place_them() -> None:
    with pytest.raises(UserError, match="6 do not divide by 4 nodes"):
        FluxRun(Path("/x"), cores=1).argv(ENGINE, PLAN, Layout(ranks=6, nodes=4))


PACKED = "--launch_distribution=packed"


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (
            Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"),
            ["--nrs=8", "--tasks_per_rs=1", "--cpu_per_rs=1", "--rs_per_host=4", PACKED, "--bind=packed:1"],
        ),
        (
            Layout(ranks=2, threads=2, binding="core"),
            ["--nrs=2", "--tasks_per_rs=1", "--cpu_per_rs=2", PACKED, "--bind=packed:2"],
        ),
        (
            Layout(ranks=16, nodes=2),
            ["--nrs=2", "--tasks_per_rs=8", "--cpu_per_rs=ALL_CPUS", "--rs_per_host=1", PACKED, "--bind=none"],
        ),
    ],
)
def test_words_of_jsrun(layout: Layout, words: list[str]) -> None:
    said = Jsrun(Path("/x/jsrun"), 4).argv(ENGINE, PLAN, layout)
    rank = wrapper("$JSM_NAMESPACE_RANK")
    assert said == ["/x/jsrun", "--exit_on_error", "1", *words, *rank, str(ENGINE), "run", str(PLAN)]


def test_what_jsrun_cannot_do_is_refused() -> None:
    with pytest.raises(UserError, match="6 do not divide by 4 nodes"):
        Jsrun(Path("/x"), 1).argv(ENGINE, PLAN, Layout(ranks=6, nodes=4))
    with pytest.raises(UserError, match="by its name"):
        Jsrun(Path("/x")).on_host("n1", ["iperf3"])


@pytest.mark.parametrize("own", ["open-mpi", "open-mpi-5", "mpich", "intel-mpi"])
def test_where_the_ranks_would_not_meet_the_launcher_of_their_mpi_is_named(
    own: str, fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUX_JOB_ID", "f7")
    nothing = fake_program("srun", "echo 'MPI plugin types are...'\necho '\tnone'")
    for refuse in (
        lambda: Srun.in_job(nothing, "openmpi", 2, own),
        lambda: Jsrun.in_job(Path("/x"), "mpich", 2, own),
        lambda: FluxRun.in_job(Path("/x"), "openmpi", 2, own),
        lambda: Jsrun(Path("/x"), own=own).on_host("n1", ["iperf3"]),
    ):
        with pytest.raises(UserError, match=f"start by the MPI's own mpiexec: --launcher {own}$"):
            refuse()
    with pytest.raises(UserError, match="build the engine with an MPI that this batch system starts"):
        Srun.in_job(nothing, "other", 2, "")


@pytest.mark.parametrize(
    ("library", "own"), [("Open MPI v5.0.8", "open-mpi-5"), ("Open MPI v4.1.4", "open-mpi"), ("odd", "open-mpi")]
)
def test_the_launcher_that_is_named_is_that_of_the_library(
    library: str, own: str, fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch, fake_engine: Path
) -> None:
    path = os.environ["PATH"]
    monkeypatch.undo()
    document = describe(fake_engine).model_dump(mode="json")
    document["engine"]["mpi"] |= {"family": "openmpi", "library": library}
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    fake_program("srun", "exit 1")
    with pytest.raises(UserError, match=f"--launcher {own}$"):
        choose_launcher(Describe.model_validate(document), "srun")


def test_the_rank_that_died_first_is_told_from_those_that_were_ended() -> None:
    text = (HERE / "transcripts" / "flux-run.txt").read_text()
    assert FluxRun(Path("/x")).dead_ranks(text) == [DeadRank(3, "n1", "signal 9 (Killed)")]
    assert FluxRun(Path("/x")).dead_ranks("flux-job: task(s) exited with exit code 1\n") == []


def test_a_task_without_an_instance_of_its_own_queues_no_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUX_JOB_ID", "f7")
    with pytest.raises(UserError, match="without an instance"):
        FluxRun.in_job(Path("/x"), "openmpi", 2, "open-mpi")


def test_jobs_of_a_killed_flux_run_are_cancelled(fake_program: FakeProgram, tmp_path: Path) -> None:
    log = tmp_path / "log"
    ours = f"fAbc {own_name()}"
    program = fake_program("flux", f'[ "$1" = jobs ] && echo "{ours}\nfXyz other"\necho "$@" >> "{log}"')
    FluxRun(program).end_elsewhere()
    assert log.read_text().splitlines()[1:] == ["cancel fAbc"]


def test_the_job_that_we_are_in_is_found_by_its_variables(fake_program: FakeProgram, tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("n0\nn0\nn1\nn1\n")
    found = allocation({"PBS_JOBID": "7.pbs1", "PBS_NODEFILE": str(nodes)})
    assert found is not None
    assert (found.scheduler, found.job, found.nodes) == ("pbs", "7.pbs1", 2)
    gone = allocation({"PBS_JOBID": "7.pbs1", "PBS_NODEFILE": str(tmp_path / "none")})
    assert gone is not None
    assert gone.nodes == 1
    nodes.write_text("batch2\nh1\nh1\nh2\nh2\n")
    lsf = allocation({"LSB_JOBID": "7", "LSB_DJOB_HOSTFILE": str(nodes)})
    assert lsf is not None
    assert (lsf.scheduler, lsf.nodes, lsf.cpus, lsf.threads_per_core) == ("lsf", 2, 2, 1)
    fake_program("flux", '[ "$2" = size ] && echo 3')
    batch = allocation({"FLUX_ENCLOSING_ID": "f7", "FLUX_URI": "local:///one"})
    assert batch is not None
    assert (batch.scheduler, batch.job, batch.nodes) == ("flux", "f7", 3)
    # The instance of a whole system is no job.
    fake_program("flux", "exit 1")
    assert allocation({"FLUX_URI": "local:///system"}) is None
