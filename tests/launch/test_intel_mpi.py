# SPDX-License-Identifier: Apache-2.0
"""What is said to Intel MPI, and what the messages of its Hydra mean. Those with signals are of 2021.19."""

from pathlib import Path

import pytest

from ullage.launch.base import DeadRank
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import IntelMpi
from ullage.model.plan import Layout

ENGINE, PLAN = Path("/e"), Path("/p")
RUN = ["/e", "run", "/p"]
TWO = Hosts(("a", "b"), "/x/agent")
FREE = ["-genv", "I_MPI_PIN", "off"]
RESPECT = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}


def bound(domain: str) -> list[str]:
    return ["-genv", "I_MPI_PIN", "on", "-genv", "I_MPI_PIN_DOMAIN", domain]


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(ranks=1), [*FREE, "-n", "1"]),
        (Layout(ranks=4, binding="core"), [*bound("core"), "-n", "4"]),
        (Layout(ranks=5, binding="core"), [*FREE, "-n", "5"]),
        (Layout(ranks=4, nodes=1, ranks_per_node=4, binding="core"), [*bound("core"), "-n", "4", "-ppn", "4"]),
        (Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"), [*bound("core"), "-n", "8", "-ppn", "4"]),
        (Layout(ranks=2, threads=2, binding="core"), [*bound("2:compact"), "-n", "2"]),
    ],
)
def test_words_without_hosts(layout: Layout, words: list[str]) -> None:
    assert IntelMpi(Path("/m"), cores=4).argv(ENGINE, PLAN, layout) == ["/m", *words, *RUN]


def test_a_domain_counts_hardware_threads() -> None:
    """Two cores of two threads each are a domain of four."""
    words = IntelMpi(Path("/m"), cores=4, smt=2).argv(ENGINE, PLAN, Layout(ranks=2, threads=2, binding="core"))
    assert words == ["/m", *bound("4:compact"), "-n", "2", *RUN]
    assert (
        bound("core") == IntelMpi(Path("/m"), cores=4, smt=2).argv(ENGINE, PLAN, Layout(ranks=4, binding="core"))[1:7]
    )


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(ranks=4), [*FREE, "-n", "4", "-ppn", "2"]),
        (Layout(ranks=8, binding="core"), [*bound("core"), "-n", "8", "-ppn", "4"]),
        (Layout(ranks=16, binding="core"), [*FREE, "-n", "16", "-ppn", "8"]),
    ],
)
def test_words_for_two_hosts(layout: Layout, words: list[str]) -> None:
    agent = ["-launcher", "rsh", "-launcher-exec", "/x/agent"]
    told = ["-hosts", "a,b", *words, *RUN]
    assert IntelMpi(Path("/m"), 4, hosts=TWO).argv(ENGINE, PLAN, layout) == ["/m", *agent, *told]
    assert IntelMpi(Path("/m"), 4, hosts=Hosts(TWO.names)).argv(ENGINE, PLAN, layout) == ["/m", *told]


def test_one_program_on_a_host() -> None:
    assert IntelMpi(Path("/m"), hosts=TWO).on_host("b", ["tool", "-s"]) == [
        *["/m", "-launcher", "rsh", "-launcher-exec", "/x/agent", "-hosts", "b", *FREE, "-n", "1", "tool", "-s"]
    ]


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    here = RESPECT | {"I_MPI_FABRICS": "shm"}
    assert IntelMpi(Path("/m"), 2).environment(Layout(ranks=2, nodes=1, binding="core")) == here
    assert IntelMpi(Path("/m"), 2).environment(Layout(ranks=4, nodes=1, binding="core")) == here
    assert IntelMpi(Path("/m"), 2, hosts=TWO).environment(Layout(ranks=4)) == RESPECT
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n16,n17")
    in_job = IntelMpi(Path("/m"), 2).environment(Layout(ranks=4, nodes=2))
    assert in_job == RESPECT | {"SLURM_MPI_TYPE": "none"}


def test_nodes_are_those_of_the_hosts() -> None:
    launcher = IntelMpi(Path("/m"), hosts=TWO, smt=2)
    assert (launcher.nodes, launcher.on_this_node().nodes) == (2, 1)
    assert launcher.without(["a"]) == IntelMpi(Path("/m"), hosts=Hosts(("b",), "/x/agent"), smt=2)
    assert launcher.without(["a", "b"]) is None


RULE = "=" * 83 + "\n"


def ended(rank: int, node: str, how: str) -> str:
    title = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
    return f"\n{RULE}{title}=   RANK {rank} PID 15143 RUNNING AT {node}\n=   {how}\n{RULE}"


FAULT = ended(2, "n17", "KILLED BY SIGNAL: 11 (Segmentation fault)")
KILLED = ended(1, "n16", "KILLED BY SIGNAL: 9 (Killed)")
LOST = (
    "[mpiexec@n16] wait_proxies_to_terminate (../../../../../src/pm/i_hydra/mpiexec/intel/i_mpiexec.c:558): "
    "downstream from host n17 was killed by signal 9 (Killed)\n"
)


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("", []),
        ("fault: EIO at rank 3\n", []),
        (KILLED, [DeadRank(1, "n16", "signal 9 (Killed)")]),
        (FAULT, [DeadRank(2, "n17", "signal 11 (Segmentation fault)")]),
        (KILLED + FAULT, [DeadRank(2, "n17", "signal 11 (Segmentation fault)")]),
        (LOST, [DeadRank(None, "n17", "its daemon is gone", with_node=True)]),
        (ended(3, "n17", "EXIT STATUS: 77"), [DeadRank(3, "n17", "exit code 77")]),
    ],
)
def test_what_it_says_of_dead_ranks(text: str, dead: list[DeadRank]) -> None:
    """Older versions also name the ranks that Hydra has killed because one died."""
    assert IntelMpi(Path("/m")).dead_ranks(text) == dead
