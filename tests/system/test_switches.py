# SPDX-License-Identifier: Apache-2.0
"""Switches as Slurm's topology/tree describes them.

TREE is what Slurm 22.05.8 said of a cluster of tests/places/slurm.py with a topology.conf. DEEP is CONSTRUCTED in the
same form.
"""

from pathlib import Path

import pytest

from ullage.model.system import Switch, SystemFacts
from ullage.system.switches import (
    leaf_of,
    leaves_of_hosts,
    meeting_of,
    merged,
    noun_of,
    parsed_address,
    parsed_topology,
    read_switches,
    switches_above,
)

TREE = """SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]
"""
DEEP = """SwitchName=core Level=2 LinkSpeed=1 Nodes=n[000-007] Switches=row[0-1]
SwitchName=row0 Level=1 LinkSpeed=1 Nodes=n[000-003] Switches=leaf[0-1]
SwitchName=row1 Level=1 LinkSpeed=1 Nodes=n[004-007] Switches=leaf[2-3]
SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[000-001]
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[002-003]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[004-005]
SwitchName=leaf3 Level=0 LinkSpeed=1 Nodes=n[006-007]
"""
# As its sources of 24.11 print topology/block (tests/launch/transcripts/README.md).
BLOCKS = (Path(__file__).parent.parent / "launch" / "transcripts" / "slurm-topology-blocks.txt").read_text()
# Slurm 22.05.8 set these for the task on n2.
ADDRESS = {"SLURM_TOPOLOGY_ADDR": "top.s1.n2", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "4", "SLURM_JOB_NODELIST": "n[0-3]"}


def test_the_tree_of_slurm_is_read() -> None:
    assert parsed_topology(TREE) == [
        Switch(name="s0", level=0, nodes=["n0", "n1"]),
        Switch(name="s1", level=0, nodes=["n2", "n3"]),
        Switch(name="top", level=1, switches=["s0", "s1"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "scontrol: error: No topology information available\n",
        "BlockName=b0 BlockIndex=0 Nodes=n[0- BlockSize=18\n",
        "BlockName= BlockIndex=0 Nodes=n0 BlockSize=18\n",
        "AggregatedBlock=b[0- BlockIndex=2 Nodes=n0 BlockSize=18\n",
        "SwitchName=s0 Level=x Nodes=n0\n",
        "SwitchName=s0 Level=0 Nodes=n[0-\n",
        "SwitchName= Level=0 Nodes=n0\n",
    ],
)
def test_what_is_no_switch_is_left_out(text: str) -> None:
    assert parsed_topology(text) == []


def test_blocks_of_nodes_are_read_and_blocks_of_these() -> None:
    found = switches_above(["n00", "n19", "n37"], parsed_topology(BLOCKS))
    assert [(one.kind, one.name, one.level, one.nodes, one.switches) for one in found] == [
        ("block", "b0", 0, ["n00"], []),
        ("block", "b1", 0, ["n19"], []),
        ("block", "b2", 0, ["n37"], []),
        ("block", "b[0-1]", 1, [], ["b0", "b1"]),
        ("block", "b[2-3]", 1, [], ["b2"]),
        ("block", "b[0-3]", 2, [], ["b0", "b1", "b2"]),
    ]
    assert meeting_of(found, "b0", "b1") == "b[0-1]"
    assert meeting_of(found, "b1", "b2") == "b[0-3]"
    assert (noun_of(found), noun_of([]), noun_of(parsed_topology(TREE))) == ("block", "switch", "switch")


def test_blocks_as_slurm_23_11_says_them_have_no_sizes() -> None:
    found = parsed_topology("BlockName=b0 BlockIndex=0 Nodes=n[0-1]\nBlockName=b1 BlockIndex=1 Nodes=n2\n")
    assert [(one.name, one.nodes) for one in found] == [("b0", ["n0", "n1"]), ("b1", ["n2"])]


def test_only_what_is_above_the_nodes_of_the_job_is_kept() -> None:
    found = switches_above(["n001", "n002", "n003"], parsed_topology(DEEP))
    assert [(one.name, one.level, one.nodes, one.switches) for one in found] == [
        ("leaf0", 0, ["n001"], []),
        ("leaf1", 0, ["n002", "n003"], []),
        ("row0", 1, [], ["leaf0", "leaf1"]),
        ("core", 2, [], ["row0"]),
    ]
    assert switches_above(["elsewhere"], parsed_topology(DEEP)) == []


def test_parts_of_a_tree_are_put_together() -> None:
    tree = parsed_topology(DEEP)
    first, second = (switches_above(nodes, tree) for nodes in (["n000", "n003"], ["n000", "n001", "n006"]))
    found = merged(first, second)
    assert found == switches_above(["n000", "n001", "n003", "n006"], tree)
    assert merged(found, found) == found
    assert merged([], first) == first


def test_leaves_meet_at_the_lowest_switch_above_both() -> None:
    tree = parsed_topology(DEEP)
    assert meeting_of(tree, "leaf0", "leaf1") == "row0"
    assert meeting_of(tree, "leaf0", "leaf3") == "core"
    assert meeting_of(tree, "leaf0", "leaf0") == "leaf0"
    assert meeting_of(tree, "leaf0", "unknown") == ""


def test_a_node_at_two_switches_has_no_leaf_of_its_own() -> None:
    tree = [Switch(name="a", nodes=["n0", "n1"]), Switch(name="b", nodes=["n1", "n2"])]
    assert leaf_of(tree) == {"n0": "a", "n2": "b"}


def test_hosts_may_have_longer_names_than_slurm_gives_them() -> None:
    assert leaves_of_hosts(parsed_topology(TREE), ["n0", "n3.cluster.example", "login"]) == ["s0", "s1", ""]


def test_the_address_of_a_task_is_read() -> None:
    assert parsed_address("b8.n3", "block.node") == [Switch(name="b8", kind="block", nodes=["n3"])]
    assert parsed_address(*ADDRESS.values()) == [
        Switch(name="s1", level=0, nodes=["n2"]),
        Switch(name="top", level=1, switches=["s1"]),
    ]
    both = parsed_address("core.row[0-1].leaf0.n000", "switch.switch.switch.node")
    assert [(one.name, one.level, one.switches) for one in both] == [
        ("leaf0", 0, []),
        ("row0", 1, ["leaf0"]),
        ("row1", 1, ["leaf0"]),
        ("core", 2, ["row0", "row1"]),
    ]


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        ("", ""),
        ("n2", "node"),
        ("s1.n2.cluster", "switch.node"),
        ("b1.n2.cluster", "block.node"),
        ("b0.s1.n2", "block.switch.node"),
        ("s[0-.n2", "switch.node"),
    ],
)
def test_an_address_that_names_no_switch_is_none(address: str, pattern: str) -> None:
    assert parsed_address(address, pattern) == []


def scontrol(folder: Path, script: str) -> str:
    """A PATH whose scontrol is ``script``."""
    program = folder / "scontrol"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_scontrol_is_asked_in_a_job_of_slurm_alone(tmp_path: Path) -> None:
    path = scontrol(tmp_path, f'echo "$@" >> {tmp_path}/asked\ncat << E\n{TREE}E')
    found = read_switches({**JOB, "PATH": path})
    assert found == parsed_topology(TREE)
    assert (tmp_path / "asked").read_text() == "show topology\n"
    two = read_switches({**JOB, "SLURM_JOB_NODELIST": "n[1,3]", "PATH": path})
    assert [one.nodes for one in two] == [["n1"], ["n3"], []]
    (tmp_path / "asked").unlink()
    assert read_switches({"PATH": path}) == []
    assert read_switches({"PBS_JOBID": "1", "PATH": path}) == []
    assert not (tmp_path / "asked").exists()


def test_without_an_answer_the_switches_of_this_node_are_known(tmp_path: Path) -> None:
    refused = {**JOB, **ADDRESS, "PATH": scontrol(tmp_path, "exit 1")}
    assert read_switches(refused) == parsed_address(*ADDRESS.values())
    nowhere = {**JOB, **ADDRESS, "PATH": str(tmp_path / "nothing")}
    assert read_switches(nowhere) == parsed_address(*ADDRESS.values())
    assert read_switches({**JOB, "PATH": scontrol(tmp_path, "exit 0")}) == []
    assert read_switches({**JOB, "SLURM_JOB_NODELIST": "n[", "PATH": scontrol(tmp_path, "exit 0")}) == []


def test_facts_without_switches_say_nothing_of_them() -> None:
    """So documents of machines without are what they were, and older ones are read."""
    facts = SystemFacts(taken="now")
    assert "switches" not in facts.model_dump(mode="json")
    assert "switches" not in facts.model_dump_json()
    assert SystemFacts.model_validate_json(facts.model_dump_json()) == facts
    known = facts.model_copy(update={"switches": parsed_topology(TREE)})
    assert SystemFacts.model_validate_json(known.model_dump_json()) == known
