# SPDX-License-Identifier: Apache-2.0
"""How a host that has failed is known, where neither the launcher nor a batch system names it."""

from pathlib import Path

import pytest

from ullage.launch.base import DeadRank
from ullage.launch.hosts import Hosts
from ullage.launch.process import LaunchOutcome
from ullage.launch.running import Member

ENGINE = Path("/e/ullage-engine")
HOSTS = frozenset({"h0", "h1"})


@pytest.mark.parametrize(
    ("rank", "words", "host"),
    [
        (None, ("/usr/bin/ssh", "-x", "h1", "orted", "-mca", "orte_node_regex", "h[1:0-1]@0(2)"), "h1"),
        (None, ("/bin/sh", "/x/agent", "h0", "/m/hydra_pmi_proxy", "--control-port", "h0:36785"), "h0"),
        # The launcher itself, with one host; a word that only begins with the name; a helper with two of them.
        (None, ("mpiexec", "-hosts", "h1", "-n", "1", str(ENGINE), "run", "/p"), ""),
        (None, ("/usr/bin/orted", "-H", "h1:1"), ""),
        (None, ("ssh", "h0", "ssh", "h1", "orted"), ""),
        (1, ("h1",), ""),
    ],
)
def test_a_connection_has_the_name_of_its_host_among_its_words(
    rank: int | None, words: tuple[str, ...], host: str
) -> None:
    assert Member(7, rank, words).connects_to(HOSTS, ENGINE) == host


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("n1", ("n2.cluster", "n10")),
        ("n1.cluster", ("n2.cluster", "n10")),
        ("n2", ("n1", "n10")),
        ("n2.cluster", ("n1", "n10")),
        ("n", ("n1", "n2.cluster", "n10")),
    ],
)
def test_a_host_is_known_by_its_longer_and_by_its_shorter_name(gone: str, left: tuple[str, ...]) -> None:
    assert Hosts(("n1", "n2.cluster", "n10")).without([gone]).names == left


def outcome(dead: list[DeadRank], silent: str = "") -> LaunchOutcome:
    return LaunchOutcome(1, None, Path("/r"), None, "", dead_ranks=dead, silent_node=silent)


def test_nodes_are_lost_by_the_words_of_the_launcher_or_those_of_the_engine() -> None:
    assert outcome([DeadRank(0, "h1", "signal 9 (Killed)")]).lost_nodes == ()
    assert outcome([DeadRank(None, "h1", "its daemon is gone", with_node=True)]).lost_nodes == ("h1",)
    assert outcome([], "h2").lost_nodes == ("h2",)
