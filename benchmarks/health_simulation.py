# SPDX-License-Identifier: Apache-2.0
"""How often `ullage health` names a node that is as usual, and finds one that is slower: tables of docs/statistics.md.

nice python -m benchmarks.health_simulation false [CHECKS]    share of checks of stable nodes that name one
nice python -m benchmarks.health_simulation found [CHECKS]    one of four numbers is 10 % slower: named
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import islice, product
from statistics import median

from benchmarks.history_simulation import KINDS
from benchmarks.simulated_noise import STRONG, Noise
from ullage.analysis.statistics.spread import Sampled, pooled_spread
from ullage.campaign import health
from ullage.campaign.check import MARGIN, Checked, Kept
from ullage.campaign.check import judge as judge_rows

_NUMBERS = 4
_SLOWER = 0.9
# Which part of the noise all launches of a check share, in variance.
_SHARED = (0.0, 0.5, 1.0)


def checks(noise: Noise, cv: float, shared: float, seed: str) -> Iterator[float]:
    """The numbers of checks one after the other, twice each: of the first launches, and of those that repeat them."""
    launches = noise.series(cv * (1 - shared) ** 0.5, f"{seed}/launches")
    days = noise.series(cv * shared**0.5, f"{seed}/days")
    while True:
        day = next(days)
        yield day * median(islice(launches, health.ROUNDS))
        yield day * median(islice(launches, health.ROUNDS))


def named(noise: Noise, cv: float, shared: float, before: int, seed: str, factor: float) -> bool:
    """Whether a node whose first number is ``factor`` times what it was is named."""
    series = [list(islice(checks(noise, cv, shared, f"{seed}/{row}"), 2 * before + 2)) for row in range(_NUMBERS)]
    pasts = {(str(row), ""): values[: 2 * before : 2] for row, values in enumerate(series)}
    spread = pooled_spread(map(Sampled, pasts.values()))

    def rows(at: int) -> list[Kept]:
        own = {"node": "", "better": "more", "sound": True}
        return [
            {
                **own,
                "id": str(row),
                "part": "",
                "what": "",
                "median": values[2 * before + at] * (1.0 if row else factor),
            }
            for row, values in enumerate(series)
        ]

    def compare(now: Sequence[Kept]) -> list[Checked]:
        return judge_rows(now, pasts, spread, MARGIN, health.LEVEL)

    left = iter((rows(0), rows(1)))
    return health.judge(lambda: next(left), compare).word == "worse"


def main() -> None:
    """Print one table."""
    factor = 1.0 if sys.argv[1] == "false" else _SLOWER
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    for noise, cv in product((*KINDS, STRONG), (0.01, 0.02, 0.03)):
        cells: list[str] = []
        for shared, before in product(_SHARED, (8, 20)):
            told = sum(named(noise, cv, shared, before, f"{before}/{one}", factor) for one in range(count))
            cells.append(f"{100 * told / count:.2f}")
        print(f"| {noise.name} | {cv:.0%} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
