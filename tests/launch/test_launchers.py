# SPDX-License-Identifier: Apache-2.0
"""What is said to each MPI, and what its messages mean."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ullage.engine import describe
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch import choose_launcher
from ullage.launch.base import DeadRank, bound_cores, choose_binding, is_one_node
from ullage.launch.mpich import WRAPPER, Mpich
from ullage.launch.open_mpi import OpenMpi
from ullage.model.describe import Describe
from ullage.model.plan import Layout

ENGINE, PLAN = Path("/opt/it's here/engine"), Path("/r s/plan.json")
RUN = [str(ENGINE), "run", str(PLAN)]


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(ranks=1), ["-n", "1", "--oversubscribe", "--bind-to", "none"]),
        (Layout(ranks=4, binding="core"), ["-n", "4", "--oversubscribe", "--bind-to", "core"]),
        (Layout(ranks=5, binding="core"), ["-n", "5", "--oversubscribe", "--bind-to", "none"]),
        (
            Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"),
            ["-n", "8", "--oversubscribe", "--map-by", "ppr:4:node", "--bind-to", "core:overload-allowed"],
        ),
        (
            Layout(ranks=2, threads=2, binding="core"),
            ["-n", "2", "--oversubscribe", "--map-by", "slot:PE=2", "--bind-to", "core"],
        ),
        (
            Layout(ranks=2, nodes=1, ranks_per_node=2, threads=2, binding="core"),
            ["-n", "2", "--oversubscribe", "--map-by", "ppr:2:node:PE=2", "--bind-to", "core"],
        ),
    ],
)
def test_open_mpi_words(layout: Layout, words: list[str]) -> None:
    assert OpenMpi(Path("/x/mpirun"), cores=4).argv(ENGINE, PLAN, layout) == ["/x/mpirun", *words, *RUN]


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(ranks=1), ["-n", "1", "-bind-to", "none"]),
        (Layout(ranks=4, binding="core"), ["-n", "4", "-bind-to", "core"]),
        (Layout(ranks=5, binding="core"), ["-n", "5", "-bind-to", "none"]),
        (Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"), ["-n", "8", "-ppn", "4", "-bind-to", "core"]),
        (Layout(ranks=2, threads=2, binding="core"), ["-n", "2", "-bind-to", "core:2"]),
    ],
)
def test_mpich_words(layout: Layout, words: list[str]) -> None:
    assert Mpich(Path("/x/mpiexec"), cores=4).argv(ENGINE, PLAN, layout) == ["/x/mpiexec", *words, *WRAPPER, *RUN]


def test_ranks_are_bound_only_when_each_thread_gets_a_core() -> None:
    assert [choose_binding(ranks, 1, 4) for ranks in (1, 4, 5)] == ["core", "core", "none"]
    assert choose_binding(2, 3, 4) == "none"
    assert bound_cores(Layout(ranks=64, nodes=32, binding="core"), 2) == 1  # elsewhere: this node's cores say nothing
    assert bound_cores(Layout(ranks=2, binding="core"), None) == 1
    assert bound_cores(Layout(ranks=2), 64) is None


def test_one_node_is_stated_or_follows_from_no_allocation() -> None:
    assert is_one_node(Layout(ranks=2), {})
    assert not is_one_node(Layout(ranks=2), {"SLURM_JOB_ID": "7"})
    assert is_one_node(Layout(ranks=2, nodes=1), {"SLURM_JOB_ID": "7"})
    assert not is_one_node(Layout(ranks=2, nodes=2), {})


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_open_mpi_settings(monkeypatch: pytest.MonkeyPatch, user: int, allowed: bool) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    here = OpenMpi(Path("/x")).environment(Layout(ranks=2, nodes=1))
    assert here["OMPI_MCA_mpi_yield_when_idle"] == "1"
    bound = OpenMpi(Path("/x"), 2).environment(Layout(ranks=2, nodes=1, binding="core"))
    assert bound["OMPI_MCA_mpi_yield_when_idle"] == "0"
    assert here["OMPI_MCA_btl_tcp_if_include"] == "lo"
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in here) is allowed
    assert "OMPI_MCA_btl_tcp_if_include" not in OpenMpi(Path("/x")).environment(Layout(ranks=4, nodes=2))


def test_mpich_settings() -> None:
    here = Mpich(Path("/x")).environment(Layout(ranks=2, nodes=1))
    assert here["MPIR_CVAR_POLLS_BEFORE_YIELD"] == "10"
    bound = Mpich(Path("/x"), 2).environment(Layout(ranks=2, nodes=1, binding="core"))
    assert not any(name.startswith("MPIR_") for name in bound)
    assert "UCX_NET_DEVICES" not in Mpich(Path("/x")).environment(Layout(ranks=4, nodes=2))


RULE = "-" * 74 + "\n"
OPEN_MPI_4_KILLED = (
    f"{RULE}Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the "
    f"job has been aborted.\n{RULE}{RULE}mpirun noticed that process rank 3 with PID 0 on node n17 exited on signal 9 "
    f"(Killed).\n{RULE}"
)
OPEN_MPI_EXIT = (
    f"{RULE}mpirun.openmpi detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n\n"
    f"  Process name: [[23321,1],2]\n  Exit code:    77\n{RULE}"
)
OPEN_MPI_NODE = (
    f"{RULE}ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[50046,0],0] on node n0\n"
    "  Remote daemon: [[50046,0],1] on node n17\n\nThis is usually due to either a failure of the TCP network\n"
    f"connection to the node, or possibly an internal failure of\nthe daemon itself.\n{RULE}"
)
MPICH_KILLED = (
    "\n"
    + "=" * 83
    + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 15143 RUNNING AT n17\n=   EXIT CODE: 9\n"
    "=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + "=" * 83 + "\n"
)
MPICH_STRING = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n"


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("", []),
        ("fault: EIO at rank 3\n", []),
        (OPEN_MPI_4_KILLED, [DeadRank(3, "n17", "signal 9 (Killed)")]),
        (OPEN_MPI_EXIT, [DeadRank(2, "", "exit code 77")]),
        (OPEN_MPI_NODE, [DeadRank(None, "n17", "its daemon is gone", with_node=True)]),
    ],
)
def test_what_open_mpi_says_of_dead_ranks(text: str, dead: list[DeadRank]) -> None:
    assert OpenMpi(Path("/x")).dead_ranks(text) == dead


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("", []),
        (MPICH_KILLED, [DeadRank(None, "n17", "exit code 9")]),
        (
            "Killed\nullage: rank 1 on n16 ended by signal 9\n" + MPICH_KILLED + MPICH_STRING,
            [DeadRank(1, "n16", "signal 9 (Killed)")],
        ),
        (MPICH_KILLED + MPICH_STRING, [DeadRank(None, "n17", "signal 11 (Segmentation fault)")]),
    ],
)
def test_what_mpich_says_of_dead_ranks(text: str, dead: list[DeadRank]) -> None:
    assert Mpich(Path("/x")).dead_ranks(text) == dead


def with_mpi(description: Describe, family: str, mpiexec: str, library: str = "fake") -> Describe:
    document = description.model_dump(mode="json")
    document["engine"]["mpi"] |= {"family": family, "mpiexec": mpiexec, "library": library}
    return Describe.model_validate(document)


@pytest.fixture
def description(fake_engine: Path) -> Describe:
    return describe(fake_engine)


@pytest.fixture
def path_with(description: Describe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Makes a program of a name that answers --version with a text, in a folder that is all of PATH."""
    del description  # the fake engine needs the PATH that was
    monkeypatch.setenv("PATH", f"{tmp_path}")

    def make(name: str, version: str) -> Path:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{version}'\n")
        program.chmod(0o755)
        return program

    return make


def test_the_launcher_that_fits_the_engine_is_chosen(
    description: Describe, path_with: Callable[[str, str], Path]
) -> None:
    ours = path_with("mpirun", "mpirun (Open MPI) 4.1.4")
    path_with("mpiexec", "HYDRA build details")
    assert choose_launcher(with_mpi(description, "mpich", str(ours))) == choose_launcher(description, "mpich", ours)
    assert choose_launcher(with_mpi(description, "openmpi", "/gone/mpirun")).argv(ENGINE, PLAN, Layout(ranks=1))[
        0
    ] == str(ours)


def test_an_mpiexec_of_another_family_on_path_is_passed_over(
    description: Describe, path_with: Callable[[str, str], Path]
) -> None:
    path_with("mpirun", "HYDRA build details")
    path_with("mpiexec", "something else")
    with pytest.raises(UserError, match="no mpiexec of open-mpi found") as caught:
        choose_launcher(with_mpi(description, "openmpi", ""))
    assert caught.value.code == EXIT_ENVIRONMENT


@pytest.mark.parametrize(
    ("family", "library", "name"),
    [
        ("openmpi", "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "open-mpi"),
        ("openmpi", "Open MPI v5.0.10, package: Open MPI root@x, ident: 5.0.10", "open-mpi-5"),
        ("openmpi", "Open MPI v10.0.0", "open-mpi-5"),
        ("mpich", "MPICH Version:      5.0.2", "mpich"),
        ("mpich", "Intel(R) MPI Library 2021.11 for Linux* OS", "intel-mpi"),
        ("other", "Intel(R) MPI Library 2021.19 for Linux* OS", "intel-mpi"),
    ],
)
def test_the_library_in_use_decides(
    description: Describe, path_with: Callable[[str, str], Path], family: str, library: str, name: str
) -> None:
    path_with("mpirun.openmpi", "mpirun (Open MPI) 4.1.4")
    path_with("mpirun", "mpirun (Open MPI) 5.0.10" if "v5" in library else "mpirun (Open MPI) 10.0.0")
    path_with("mpiexec.mpich", "HYDRA build details")
    path_with("mpiexec.hydra", "Intel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 20260929")
    assert choose_launcher(with_mpi(description, family, "", library)).name == name


def test_an_engine_on_another_library_than_it_was_built_with_gets_its_mpiexec(
    description: Describe, path_with: Callable[[str, str], Path]
) -> None:
    """Intel MPI and MPICH have the same ABI; the mpiexec that the engine names is that of its build."""
    built_with = path_with("mpiexec", "HYDRA build details")
    found = path_with("mpiexec.hydra", "Intel(R) MPI Library for Linux* OS, Version 2021.19.0")
    on_intel = with_mpi(description, "mpich", str(built_with), "Intel(R) MPI Library 2021.19 for Linux* OS")
    assert choose_launcher(on_intel).argv(ENGINE, PLAN, Layout(ranks=1))[0] == str(found)
    stated = with_mpi(description, "mpich", str(found), "Intel(R) MPI Library 2021.19 for Linux* OS")
    assert choose_launcher(stated).argv(ENGINE, PLAN, Layout(ranks=1))[0] == str(found)


def test_an_unknown_mpi_needs_a_named_launcher(description: Describe) -> None:
    description = with_mpi(description, "other", "/x/mpiexec")
    with pytest.raises(UserError, match="name one with --launcher: intel-mpi, mpich, open-mpi, open-mpi-5"):
        choose_launcher(description)
    assert choose_launcher(description, "mpich", Path("/x/mpiexec")).name == "mpich"
    for job in ("pbs", "script", "script:flux"):
        with pytest.raises(UserError, match=f"{job} makes jobs of `ullage run`"):
            choose_launcher(description, job)
    with pytest.raises(UserError, match="did you mean 'mpich'"):
        choose_launcher(description, "mpch")
