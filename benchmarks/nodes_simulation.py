# SPDX-License-Identifier: Apache-2.0
"""How often nodes are named that are no worse than the others, and how often one that is: the tables of
docs/statistics.md, with fixed seeds.

    python -m benchmarks.nodes_simulation equal [REPORTS]     reports on equal nodes that name any
    python -m benchmarks.nodes_simulation power [REPORTS]     reports that name one slow node, and any other
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.statistics_simulation import spread_over
from ullage.analysis.statistics.outlying import Measure, NodeSamples, standings

REPETITIONS = 6
MEASURES = 40
# Half of the variance between nodes is the node's own in all measures: a slower clock slows everything.
_SHARED = math.sqrt(0.5)
NODES = (4, 6, 8, 16, 64, 256)
NOISES = (0.01, 0.05, 0.15)
SPREADS = (0.0, 0.01, 0.04)


def draw_heavy(draw: random.Random) -> float:
    """Student's t with 4 degrees of freedom, at variance 1: a node now and then is off by far."""
    return draw.gauss(0, 1) / math.sqrt(draw.gammavariate(2, 0.5)) / math.sqrt(2)


def report(
    seed: int,
    nodes: int,
    noise: float,
    spread: float,
    *,
    heavy: bool = False,
    slow: float = 1.0,
    slow_measures: int = 0,
) -> list[set[int]]:
    """Return the nodes named in each measure.

    ``noise``: standard deviation of the log of a repetition; ``spread``: of a node's true value. The last node is
    ``slow`` times worse in the first ``slow_measures``.
    """
    draw = random.Random(f"{seed}/{nodes}/{noise}/{spread}/{heavy}/{slow}")
    effect = draw_heavy if heavy else lambda one: one.gauss(0, 1)
    own = [effect(draw) for _ in range(nodes)]
    measures = [
        _measure(draw, own, noise, spread, effect, slow if index < slow_measures else 1.0) for index in range(MEASURES)
    ]
    return [
        {node for node, standing in enumerate(found) if standing is not None and standing.is_named}
        for found in standings(measures)
    ]


def _measure(
    draw: random.Random,
    own: Sequence[float],
    noise: float,
    spread: float,
    effect: Callable[[random.Random], float],
    slow: float,
) -> Measure:
    found: list[NodeSamples | None] = []
    for node, shared in enumerate(own):
        true = spread * _SHARED * (shared + effect(draw)) + (math.log(slow) if node == len(own) - 1 else 0.0)
        found.append(NodeSamples(tuple(math.exp(true + noise * draw.gauss(0, 1)) for _ in range(REPETITIONS))))
    return Measure(found, "less")


def study(
    seed: int, nodes: int, noise: float, spread: float, *, heavy: bool, slow: float, slow_measures: int
) -> Counter[str]:
    """Count one report: whether it names anybody, the slow node, and others."""
    named = set[int]().union(*report(seed, nodes, noise, spread, heavy=heavy, slow=slow, slow_measures=slow_measures))
    return Counter(reports=1, any=bool(named), found=nodes - 1 in named, others=bool(named - {nodes - 1}))


def equal(reports: int) -> None:
    """Print the share of reports on equal nodes that name any."""
    print("| nodes | noise of a repetition | spread of nodes | normal | heavy tails |\n|---|---|---|---|---|")
    for nodes in NODES:
        for noise in NOISES:
            for spread in SPREADS:
                shares: list[str] = []
                for heavy in (False, True):
                    found = spread_over(
                        partial(study, nodes=nodes, noise=noise, spread=spread, heavy=heavy, slow=1.0, slow_measures=0),
                        reports if nodes < 64 else reports // 3,
                    )
                    shares.append(f"{found['any'] / found['reports']:.1%}")
                print(f"| {nodes} | {noise:.0%} | {spread:.0%} | {shares[0]} | {shares[1]} |", flush=True)


def power(reports: int) -> None:
    """Print how often one slow node is named: slow in one of the measures, or in all."""
    print(
        "| nodes | spread of nodes | slower by | in one measure | in all | another named |\n|---|---|---|---|---|---|"
    )
    for nodes in (4, 8, 16, 64):
        for spread in (0.01, 0.04):
            for slow in (1.1, 1.3, 2.0, 10.0):
                one, whole = (
                    spread_over(
                        partial(
                            study, nodes=nodes, noise=0.03, spread=spread, heavy=False, slow=slow, slow_measures=count
                        ),
                        reports,
                    )
                    for count in (1, MEASURES)
                )
                shares = (one["found"], whole["found"], whole["others"])
                line = " | ".join(f"{share / reports:.0%}" for share in shares)
                print(f"| {nodes} | {spread:.0%} | {slow:g} x | {line} |", flush=True)


if __name__ == "__main__":
    chosen = {"equal": equal, "power": power}[sys.argv[1]]
    chosen(int(sys.argv[2]) if len(sys.argv) > 2 else 400)
