# SPDX-License-Identifier: Apache-2.0
"""What is said to Open MPI 5, and what PRRTE's messages mean. The messages are those of 5.0.10."""

import os
from pathlib import Path

import pytest

from ullage.launch.base import DeadRank
from ullage.launch.hosts import Hosts
from ullage.launch.open_mpi import OpenMpi5
from ullage.model.plan import Layout

ENGINE, PLAN = Path("/e"), Path("/p")
RUN = ["/e", "run", "/p"]
TWO = Hosts(("a", "b"), "/x/agent")


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("layout", "mapping", "binding"),
    [
        (Layout(ranks=1), "slot:OVERSUBSCRIBE", "none"),
        (Layout(ranks=4, binding="core"), "slot:OVERSUBSCRIBE", "core"),
        (Layout(ranks=5, binding="core"), "slot:OVERSUBSCRIBE", "none"),
        (Layout(ranks=4, nodes=1, ranks_per_node=4, binding="core"), "ppr:4:node:OVERSUBSCRIBE", "core"),
        (Layout(ranks=8, nodes=1, ranks_per_node=8, binding="core"), "ppr:8:node:OVERSUBSCRIBE", "none"),
        (Layout(ranks=2, threads=2, binding="core"), "slot:PE=2:OVERSUBSCRIBE", "core"),
        (
            Layout(ranks=2, nodes=1, ranks_per_node=2, threads=2, binding="core"),
            "ppr:2:node:PE=2:OVERSUBSCRIBE",
            "core",
        ),
        (
            Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core"),
            "ppr:4:node:OVERSUBSCRIBE",
            "core:overload-allowed",
        ),
    ],
)
def test_words_without_hosts(layout: Layout, mapping: str, binding: str) -> None:
    words = ["/m", "-n", str(layout.ranks), "--map-by", mapping, "--bind-to", binding]
    assert OpenMpi5(Path("/m"), cores=4).argv(ENGINE, PLAN, layout) == [*words, *RUN]


@pytest.mark.parametrize(
    ("layout", "slots", "mapping", "binding"),
    [
        (Layout(ranks=4), 2, "ppr:2:node:OVERSUBSCRIBE", "none"),
        (Layout(ranks=8, binding="core"), 4, "slot:OVERSUBSCRIBE", "core:overload-allowed"),
        (Layout(ranks=16, binding="core"), 8, "ppr:8:node:OVERSUBSCRIBE", "none"),
        (Layout(ranks=4, threads=2, binding="core"), 2, "slot:PE=2:OVERSUBSCRIBE", "core:overload-allowed"),
    ],
)
def test_words_for_two_hosts(layout: Layout, slots: int, mapping: str, binding: str) -> None:
    told = ["--prtemca", "plm_ssh_agent", "/x/agent", "--host", f"a:{slots},b:{slots}", "-n", str(layout.ranks)]
    words = ["/m", *told, "--map-by", mapping, "--bind-to", binding, *RUN]
    assert OpenMpi5(Path("/m"), 4, hosts=TWO).argv(ENGINE, PLAN, layout) == words
    without = OpenMpi5(Path("/m"), 4, hosts=Hosts(TWO.names)).argv(ENGINE, PLAN, layout)
    assert without == ["/m", *words[4:]]


def test_one_program_on_a_host() -> None:
    there = ["--prtemca", "plm_ssh_agent", "/x/agent", "--host", "b:1"]
    assert OpenMpi5(Path("/m"), hosts=TWO).on_host("b", ["tool", "-s"]) == [
        *["/m", *there, "-n", "1", "--bind-to", "none", "tool", "-s"]
    ]


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    bound = OpenMpi5(Path("/m"), 2).environment(Layout(ranks=2, nodes=1, binding="core"))
    assert bound == {"OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_btl_tcp_if_include": "lo"}
    crowded = OpenMpi5(Path("/m"), 2).environment(Layout(ranks=4, nodes=1, binding="core"))
    assert crowded == {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_tcp_if_include": "lo"}
    assert OpenMpi5(Path("/m"), 2, hosts=TWO).environment(Layout(ranks=4)) == {"OMPI_MCA_mpi_yield_when_idle": "1"}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert OpenMpi5(Path("/m"), 2).environment(Layout(ranks=2, nodes=1, binding="core")) == bound | allowed


def test_nodes_are_those_of_the_hosts() -> None:
    launcher = OpenMpi5(Path("/m"), hosts=TWO)
    assert (launcher.nodes, launcher.on_this_node().nodes) == (2, 1)
    left = launcher.without(["a"])
    assert left is not None
    assert left == OpenMpi5(Path("/m"), hosts=Hosts(("b",), "/x/agent"))
    assert launcher.without(["a", "b"]) is None


RULE = "-" * 74 + "\n"
KILLED = (
    f"{RULE}prterun noticed that process rank 3 with PID 4711 on node n17 exited on\n"
    f"signal 11 (Segmentation fault).\n{RULE}"
)
LEFT = (
    f"{RULE}prterun detected that one or more processes exited with non-zero status,\n"
    "thus causing the job to be terminated. The first process to do so was:\n\n"
    f"   Process name: [prterun-n16-4711@1,2]\n   Exit code:    77\n{RULE}"
)
NODE = (
    f"{RULE}PRTE has lost communication with a remote daemon.\n\n  HNP daemon   : [prterun-n16-4711@0,0] on node n16\n"
    "  Remote daemon: [prterun-n16-4711@0,1] on node n17\n\nThis is usually due to either a failure of the TCP "
    "network\nconnection to the node, or possibly an internal failure of\nthe daemon itself. We cannot recover from "
    f"this failure, and\ntherefore will terminate the job.\n{RULE}"
)


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("", []),
        ("fault: EIO at rank 3\n", []),
        (KILLED, [DeadRank(3, "n17", "signal 11 (Segmentation fault)")]),
        (LEFT, [DeadRank(2, "", "exit code 77")]),
        (NODE, [DeadRank(None, "n17", "its daemon is gone", with_node=True)]),
    ],
)
def test_what_it_says_of_dead_ranks(text: str, dead: list[DeadRank]) -> None:
    assert OpenMpi5(Path("/m")).dead_ranks(text) == dead


def test_its_mpiexec_is_known_by_the_version() -> None:
    assert OpenMpi5.VERSION_MARK.search("mpirun (Open MPI) 5.0.10\n\nReport bugs to ...")
    assert not OpenMpi5.VERSION_MARK.search("mpirun (Open MPI) 4.1.4")
