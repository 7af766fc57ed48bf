# SPDX-License-Identifier: Apache-2.0
"""What kind of network this is, by the ratio of ping-pong, natural ring and random ring bandwidth. Pure.

The ratios are those that HPC Challenge's authors expect: a bus is shared by all, a torus carries neighbours at half
and strangers worse, a memory has two copies to make, a full crossbar gives each process all.
"""

import math
from dataclasses import dataclass
from typing import Final

# A kind further away than this factor, in either ratio, is none that is known.
_FARTHEST: Final = 2.0
# Kinds as near as this to the nearest cannot be told from it.
_ALIKE: Final = 1.15


@dataclass(frozen=True, slots=True)
class Kind:
    """``natural`` and ``random``: bandwidth of a process over that of a ping-pong."""

    name: str
    natural: float
    random: float
    ratio: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """``kinds``: the nearest, and those that cannot be told from it; none where all are far away."""

    natural: float
    random: float
    kinds: tuple[Kind, ...]
    factor: float


def kinds_of(ranks: int, nodes: int) -> list[Kind]:
    """What is expected of ``ranks`` processes on ``nodes`` nodes."""
    found = [
        Kind("a full crossbar", 1.0, 1.0, "1 : 1 : 1"),
        Kind("shared memory", 1 / 2, 1 / 2, "1 : 1/2 : 1/2"),
        Kind("a torus", 1 / 2, 1 / 5, "1 : 1/2 : 1/5"),
        Kind("a bus", 1 / ranks, 1 / ranks, f"1 : 1/{ranks} : 1/{ranks}"),
    ]
    on_a_node = -(-ranks // nodes)
    if nodes > 1 and on_a_node > 1:
        # In a natural ring only the two ends of a node's stretch leave it; in a random one nearly all messages do. That
        # it has half of a pair is what such machines were seen to have (ARCHER, 4 to 256 nodes of 24).
        name = "a network whose card the processes of a node share"
        found.append(Kind(name, 1 / 2, 1 / on_a_node, f"1 : 1/2 : 1/{on_a_node}"))
    return found


def diagnose(ping_pong: float, natural: float, random: float, ranks: int, nodes: int) -> Diagnosis:
    """Bandwidths in bytes/s, of a pair and of a process. The nearest kind by the larger of both ratios' factors."""
    seen = natural / ping_pong, random / ping_pong

    def factor(kind: Kind) -> float:
        return max(math.exp(abs(math.log(seen[0] / kind.natural))), math.exp(abs(math.log(seen[1] / kind.random))))

    ordered = sorted(kinds_of(ranks, nodes), key=factor)
    nearest = factor(ordered[0])
    alike = tuple(kind for kind in ordered if factor(kind) <= nearest * _ALIKE) if nearest <= _FARTHEST else ()
    return Diagnosis(seen[0], seen[1], alike, nearest)
