# SPDX-License-Identifier: Apache-2.0
"""Who may go on when: all together, and nobody waits for those who are gone or take too long."""

from ullage.runs.members.prepared import Stages

NODES = ("n0", "n1", "n2")


def test_nobody_goes_on_before_all_are_there() -> None:
    stages = Stages(NODES, 60)
    stages.arrive("n0", "start", 0)
    stages.arrive("n1", "start", 1)
    assert stages.released(2) == []
    stages.arrive("n2", "start", 3)
    assert sorted(stages.released(3)) == [(node, "start") for node in NODES]
    assert stages.released(4) == []


def test_a_node_that_has_left_is_not_waited_for() -> None:
    stages = Stages(NODES, 60)
    for node in ("n0", "n1"):
        stages.arrive(node, "start", 0)
    stages.leave("n2")
    assert len(stages.released(1)) == 2


def test_a_node_that_is_further_on_is_not_waited_for() -> None:
    stages = Stages(("n0", "n1"), 60)
    stages.arrive("n0", "disk", 0)
    stages.arrive("n1", "network", 0)
    # n0 may begin with the disk, since n1 is beyond it; n1 waits until n0 is there.
    assert stages.released(1) == [("n0", "disk")]
    stages.arrive("n0", "network", 2)
    assert sorted(stages.released(2)) == [("n0", "network"), ("n1", "network")]


def test_patience_ends() -> None:
    stages = Stages(NODES, 60)
    stages.arrive("n0", "start", 100)
    assert stages.released(159) == []
    assert stages.released(160) == [("n0", "start")]
    stages.arrive("n1", "start", 170)
    assert stages.released(170) == [("n1", "start")]
