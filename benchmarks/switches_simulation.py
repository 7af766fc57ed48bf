# SPDX-License-Identifier: Apache-2.0
"""How often suite ``pairs`` says anything of equal switches, and how often it finds slow links between them: the
tables of docs/statistics.md, with fixed seeds.

    python -m benchmarks.switches_simulation equal [REPORTS]     reports on equal switches that say anything of them
    python -m benchmarks.switches_simulation power [REPORTS]     reports that say that links between switches are slow
"""

import sys
from collections.abc import Callable, Sequence

from ullage.arrays import NDArray, np
from ullage.model.summary import Finding
from ullage.suites.pairs.effects import PairMatrix
from ullage.suites.pairs.summarise import matrix_findings
from ullage.suites.pairs.switches import slow_passages

ABOUT_SWITCHES = {"slow-switch", "between-switches", "switch-links"}
SIZES = ((2, 2), (4, 4), (3, 3, 3), (2, 2, 2, 2), (6, 2), (4, 4, 4, 4))
FACTORS = (1.2, 1.3, 1.5, 2.0)
NOISE = 0.03
Random = np.random.Generator
Logs = NDArray[np.float64]
Draw = Callable[[Random, Sequence[int]], Logs]


def made(sizes: Sequence[int], logs: Logs, noise: float = 0.02, repetitions: int = 6, seed: int = 1) -> PairMatrix:
    """A matrix between nodes of switches of so many each: 1 ms times the exponential of ``logs``, with noise."""
    leaves = tuple(f"s{switch}" for switch, size in enumerate(sizes) for _ in range(size))
    names = tuple(f"n{end}" for end in range(len(leaves)))
    random = np.random.default_rng(seed)
    times = 1e-3 * np.exp(logs + noise * random.standard_normal((repetitions, len(names), len(names))))
    times[:, range(len(names)), range(len(names))] = np.nan
    return PairMatrix(
        case="c",
        message_bytes=1 << 20,
        is_latency=False,
        at_once=True,
        of_nodes=True,
        names=names,
        times=times,
        hosts=names,
        leaves=leaves,
    )


def plain(sizes: Sequence[int]) -> Logs:
    """All links alike."""
    return np.zeros((sum(sizes), sum(sizes)))


def between(sizes: Sequence[int], factor: float, one: int | None = None, other: int | None = None) -> Logs:
    """Links between switches that take longer: all, those at switch ``one``, or those between two."""
    leaf = np.repeat(np.arange(len(sizes)), sizes)
    cells = leaf[:, None] != leaf[None, :]
    for switch in (one, other):
        if switch is not None:
            cells &= (leaf[:, None] == switch) | (leaf[None, :] == switch)
    return np.where(cells, np.log(factor), 0.0)


def said_of(*matrices: PairMatrix) -> list[Finding]:
    """All findings of a report of these matrices."""
    passages = slow_passages(matrices)
    return [one for matrix, slow in zip(matrices, passages, strict=True) for one in matrix_findings(matrix, slow)]


def about_switches(*matrices: PairMatrix) -> list[Finding]:
    """Those that say something of a switch."""
    return [one for one in said_of(*matrices) if one.kind in ABOUT_SWITCHES]


def noise_alone(_random: Random, sizes: Sequence[int]) -> Logs:
    """All links alike."""
    return plain(sizes)


def unequal_links(random: Random, sizes: Sequence[int]) -> Logs:
    """Each link differs by 10 %."""
    return 0.1 * random.standard_normal((sum(sizes), sum(sizes)))


def two_modes(random: Random, sizes: Sequence[int]) -> Logs:
    """Half of the links share a path with others, as routes by a hash do."""
    return np.log(1.6) * random.integers(0, 2, (sum(sizes), sum(sizes)))


def heavy_tails(random: Random, sizes: Sequence[int]) -> Logs:
    """A link now and then is off by far."""
    return 0.1 * random.standard_t(3, (sum(sizes), sum(sizes)))


def unequal_nodes(random: Random, sizes: Sequence[int]) -> Logs:
    """Each node differs by 15 %, in sending and in receiving."""
    sends, receives = 0.15 * random.standard_normal((2, sum(sizes)))
    return sends[:, None] + receives[None, :]


def slow_nodes(random: Random, sizes: Sequence[int]) -> Logs:
    """A quarter of the nodes takes 3 times as long."""
    ends = sum(sizes)
    logs = unequal_links(random, sizes) / 3
    slow = random.choice(ends, max(1, ends // 4), replace=False)
    logs[slow, :] += np.log(3)
    logs[:, slow] += np.log(3)
    return logs


def slow_cables(random: Random, sizes: Sequence[int]) -> Logs:
    """As many pairs as there are nodes take twice as long, in both directions."""
    ends = sum(sizes)
    logs = unequal_links(random, sizes) / 3
    for _ in range(ends):
        one, other = random.choice(ends, 2, replace=False)
        logs[one, other] = logs[other, one] = np.log(2)
    return logs


EQUAL: Sequence[Draw] = (
    noise_alone, unequal_links, two_modes, heavy_tails, unequal_nodes, slow_nodes, slow_cables,
)  # fmt: skip


def false_reports(draw: Draw, sizes: Sequence[int], reports: int) -> int:
    """How many reports of two matrices say anything of equal switches."""
    random = np.random.default_rng([7, len(sizes), *sizes])
    said = 0
    for report in range(reports):
        matrices = [made(sizes, draw(random, sizes), NOISE, seed=1000 + 2 * report + size) for size in (0, 1)]
        said += bool(about_switches(*matrices))
    return said


def true_reports(sizes: Sequence[int], spread: float, factor: float, reports: int) -> int:
    """How many reports of one matrix say that messages between switches are slow, where all of these are."""
    random = np.random.default_rng(5)
    said = 0
    for report in range(reports):
        logs = between(sizes, factor) + spread * random.standard_normal((sum(sizes), sum(sizes)))
        (slow,) = slow_passages([made(sizes, logs, NOISE, seed=report)])
        said += any(not one.switch for one in slow)
    return said


def main(what: str, reports: int) -> None:
    """Print one of the tables."""
    if what == "equal":
        print("| nodes at each switch |", " | ".join(draw.__name__ for draw in EQUAL), "|")
        for sizes in SIZES:
            print(f"| {sizes} |", " | ".join(str(false_reports(draw, sizes, reports)) for draw in EQUAL), "|")
        return
    print("| nodes at each switch | links differ by |", " | ".join(f"{factor} x" for factor in FACTORS), "|")
    for sizes in ((3, 3), (4, 4), (2, 2, 2, 2), (4, 4, 4, 4)):
        for spread in (0.03, 0.1):
            found = [str(true_reports(sizes, spread, factor, reports)) for factor in FACTORS]
            print(f"| {sizes} | {spread:.0%} |", " | ".join(found), "|")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
