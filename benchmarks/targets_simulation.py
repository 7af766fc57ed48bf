# SPDX-License-Identifier: Apache-2.0
"""How often the sentence on which target is better, best against best, is false of equal targets; fixed seeds.

nice python -m benchmarks.targets_simulation equal [REPORTS]     equal targets: reports that call one better
nice python -m benchmarks.targets_simulation power [REPORTS]     one of two targets is better: is it told
"""

import math
import random
import sys
from collections.abc import Sequence
from itertools import islice, product
from statistics import median

from benchmarks.simulated_noise import NOISES, Noise
from ullage.analysis.findings.targets import find_better_targets
from ullage.model.summary import Row

_LEVEL = 0.95
_ACCESSES = ("write", "read")
_CV = 0.05
_NOISES = NOISES[1:4]


def rows_of(
    noise: Noise, cells: Sequence[int], samples: int, deviation: float, drift: float, seed: str, gain: float = 1.0
) -> list[Row]:
    """Return rows of as many targets as ``cells`` has numbers, in which the true medians of all settings are equal.

    The logarithms of the cells' CVs scatter by ``deviation``. Each setting has three launches, which the targets share;
    they differ by ``drift`` times the CV. ``gain``: of the first target.
    """
    draw = random.Random(seed)
    found: list[Row] = []
    for access, (target, count) in product(_ACCESSES, enumerate(cells)):
        for setting in range(count):
            cv = min(_CV * math.exp(draw.gauss(0, deviation)), 0.3)
            series = noise.series(cv, f"{seed}/{access}/{target}/{setting}")
            launches = [3 * setting + index * 3 // samples for index in range(samples)]
            shifts = [math.exp(random.Random(f"{seed}/{one}").gauss(0, drift * _CV)) for one in launches]
            scale = (1e9 if target else gain * 1e9) / noise.median(cv)
            values = [scale * shift * value for shift, value in zip(shifts, islice(series, samples), strict=True)]
            found.append(
                Row(
                    metric="bandwidth",
                    unit="B/s",
                    better="more",
                    target=f"t{target}",
                    params={"access": access, "block_bytes": 4096 << setting, "ranks": 1},
                    median=median(values),
                    low=min(values),
                    high=max(values),
                    repetitions=values,
                    launches=launches,
                    verdict="synced",
                    grade="A",
                )
            )
    return found


def verdicts(rows: Sequence[Row]) -> list[str]:
    """Return the verdict of each sentence on which target is better."""
    targets = {row.target for row in rows}
    return [str(one.numbers["verdict"]) for one in find_better_targets(rows, [], targets, _LEVEL)]


def false_of(reports: int, noise: Noise, cells: Sequence[int], samples: int, deviation: float, drift: float) -> float:
    """Return the share of reports on equal targets that call one better."""
    made = (rows_of(noise, cells, samples, deviation, drift, f"equal/{seed}") for seed in range(reports))
    return sum(any(one != "cannot tell" for one in verdicts(rows)) for rows in made) / reports


def told_of(reports: int, cells: Sequence[int], samples: int, gain: float) -> float:
    """Return the share of sentences that call the better target better."""
    made = (verdicts(rows_of(NOISES[1], cells, samples, 0.3, 0.5, f"power/{seed}", gain)) for seed in range(reports))
    return sum(one == "faster" for each in made for one in each) / reports / len(_ACCESSES)


def main() -> None:
    """Print one table."""
    what, reports = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    if what == "equal":
        for noise, cells in product(_NOISES, ((1, 1), (3, 3), (12, 12), (12, 2), (12, 12, 12, 12))):
            shares = [
                f"{false_of(reports, noise, cells, samples, deviation, drift):.1%}"
                for samples in (3, 6)
                for deviation, drift in ((0.0, 0.0), (0.7, 0.0), (0.3, 1.0))
            ]
            print(f"{noise.name} | {cells} cells | {' | '.join(shares)}", flush=True)
    else:
        for cells, samples in product(((1, 1), (12, 12)), (3, 6)):
            shares = [f"{told_of(reports, cells, samples, gain):.0%}" for gain in (1.15, 1.3, 2.0)]
            print(f"{cells} cells | {samples} samples | {' | '.join(shares)}", flush=True)


if __name__ == "__main__":
    main()
