# SPDX-License-Identifier: Apache-2.0
"""How often sentences on several equal pairs tell any of them apart: two tables of docs/statistics.md, fixed seeds.

nice python -m benchmarks.pairs_simulation pairs [SENTENCES]     pairs of cells, whose noise is estimated together
nice python -m benchmarks.pairs_simulation power [SENTENCES]     one of 64 pairs differs by 1.3 x: is it told
nice python -m benchmarks.pairs_simulation ratios [SENTENCES]    ratios of what was measured side by side
"""

import math
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product

from benchmarks.simulated_noise import NOISES, Noise
from ullage.analysis.contests import compare_ratios
from ullage.analysis.statistics.comparison import Contest, compare_all
from ullage.analysis.statistics.spread import pooled_spread

_CV = 0.05
_CV_OF_RATIOS = 0.10


def told_of_pairs(noise: Noise, pairs: int, samples: int, deviation: float, seed: int, gain: float = 1.0) -> list[bool]:
    """One sentence: is each pair told apart. The logarithms of the pairs' CVs have this ``deviation``.

    ``gain``: of the first pair's first side.
    """
    draw = random.Random(seed)
    cvs = [_CV * math.exp(draw.gauss(0, deviation)) for _ in range(pairs)]
    sides = [
        [list(islice(noise.series(min(cv, 0.3), f"{seed}/{pair}/{side}"), samples)) for side in range(2)]
        for pair, cv in enumerate(cvs)
    ]
    sides[0][0] = [gain * value for value in sides[0][0]]
    spread = pooled_spread([cell for pair in sides for cell in pair])
    found = compare_all([Contest(first, second, spread=spread) for first, second in sides])
    return [one.verdict != "cannot tell" for one in found]


def tells_any(noise: Noise, pairs: int, samples: int, deviation: float, seed: int) -> bool:
    """Whether a sentence on equal pairs says anything."""
    return any(told_of_pairs(noise, pairs, samples, deviation, seed))


def tells_first(samples: int, deviation: float, seed: int) -> bool:
    """Whether a sentence on 64 pairs finds the one that differs."""
    return told_of_pairs(NOISES[1], 64, samples, deviation, seed, 1.3)[0]


def tells_ratios(noise: Noise, series: int, samples: int, seed: int) -> bool:
    """One sentence on pairs of equal values, each with the noise."""

    def values(side: str, which: int) -> Iterator[float]:
        return noise.series(_CV_OF_RATIOS, f"{seed}/{side}/{which}")

    ratios = [
        list(islice((one / other for one, other in zip(values("a", which), values("b", which), strict=False)), samples))
        for which in range(series)
    ]
    return any(one.verdict != "cannot tell" for one in compare_ratios(ratios, 0.95))


def _share(sentences: int, tells: Callable[[int], bool]) -> str:
    return f"{sum(map(tells, range(sentences))) / sentences:.1%}"


def main() -> None:
    """Print one table."""
    what, sentences = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    if what == "pairs":
        for noise, pairs, samples, deviation in product(NOISES, (4, 16, 64), (3, 6), (0, 0.3, 0.7)):
            share = _share(sentences, partial(tells_any, noise, pairs, samples, deviation))
            print(f"{noise.name} | {pairs} pairs | {samples} samples | deviation {deviation} | {share}", flush=True)
    elif what == "power":
        for samples, deviation in product((3, 6), (0, 0.3, 0.7)):
            share = _share(sentences, partial(tells_first, samples, deviation))
            print(f"{samples} samples | deviation {deviation} | {share}", flush=True)
    else:
        for noise, samples, series in product(NOISES, (3, 6, 12), (1, 8)):
            share = _share(sentences, partial(tells_ratios, noise, series, samples))
            print(f"{noise.name} | {samples} ratios | {series} series | {share}", flush=True)


if __name__ == "__main__":
    main()
