# SPDX-License-Identifier: Apache-2.0
"""How often changes are told of stable series, and how often planted ones are found: tables of docs/statistics.md.

nice python -m benchmarks.history_simulation stable [REPORTS]    share of reports that tell any change
nice python -m benchmarks.history_simulation shift [REPORTS]     one of the series changes: found, and at which run
nice python -m benchmarks.history_simulation check [REPORTS]     checks: false verdicts on equals, and a slow row found
nice python -m benchmarks.history_simulation public FOLDER       the repetitions of each file of IOR's JSON below FOLDER
"""

import json
import math
import random
import sys
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

from benchmarks.simulated_noise import NOISES, Noise
from ullage.analysis.statistics.changes import find_changes
from ullage.analysis.statistics.spread import Sampled, pooled_spread
from ullage.campaign.check import judge

_CV = 0.03
_SHIFT = 0.9


def _heavy(draw: random.Random, cv: float) -> Iterator[float]:
    """Student's t of 2 degrees of freedom, in logarithms: it has no variance, and ``cv`` scales its middle half."""
    while True:
        yield math.exp(cv * draw.gauss(0, 1) / math.sqrt(draw.expovariate(1)))


KINDS = (*NOISES, Noise("heavy tails (t, 2 degrees)", _heavy, lambda _: 1.0))


def report(noise: Noise, rows: int, runs: int, seed: str) -> list[list[float]]:
    """The series of one report."""
    return [list(islice(noise.series(_CV, f"{seed}/{row}"), runs)) for row in range(rows)]


def stable(noise: Noise, rows: int, runs: int, reports: int) -> float:
    """The share of reports on stable series that tell a change."""
    told = sum(any(find_changes(report(noise, rows, runs, f"{runs}/{one}"))) for one in range(reports))
    return told / reports


def shifted(noise: Noise, rows: int, before: int, after: int, reports: int) -> tuple[float, float, float, float]:
    """Shares of reports: the change is found, within one run of its place, its interval holds it; others are told."""
    found = placed = covered = others = 0
    for one in range(reports):
        series = report(noise, rows, before + after, f"shift/{before}/{after}/{one}")
        series[0][before:] = [_SHIFT * value for value in series[0][before:]]
        changes = find_changes(series)
        others += any(changes[1:])
        if changes[0]:
            nearest = min(changes[0], key=lambda change: abs(change.at - before))
            found += nearest.ratio < 1
            placed += abs(nearest.at - before) <= 1
            covered += nearest.low <= _SHIFT <= nearest.high
    return found / reports, placed / reports, covered / max(found, 1), others / reports


def checked(noise: Noise, rows: int, runs: int, reports: int) -> tuple[float, float, float]:
    """Shares of checks: any equal row is told to differ; the one that is 10 % slower is worse; rows are the same."""
    false = found = same = 0
    for one in range(reports):
        series = report(noise, rows, runs + 1, f"check/{runs}/{one}")
        pasts = {(str(row), ""): values[:-1] for row, values in enumerate(series)}
        for factor in (1.0, _SHIFT):
            now = [
                {"id": str(row), "node": "", "better": "more", "sound": True, "median": values[-1]}
                for row, values in enumerate(series)
            ]
            now[0]["median"] = factor * series[0][-1]
            words = [verdict.word for verdict in judge(now, pasts, pooled_spread(map(Sampled, pasts.values())), 0.05)]
            if factor == 1.0:
                false += any(word in ("better", "worse") for word in words)
                same += sum(word == "same" for word in words)
            else:
                found += words[0] == "worse"
    return false / reports, found / reports, same / reports / rows


def _public(folder: Path) -> None:
    series: list[list[float]] = []
    for path in sorted(folder.rglob("*.json")):
        try:
            results = [one for test in json.loads(path.read_bytes())["tests"] for one in test["Results"]]
        except (ValueError, KeyError, TypeError):
            continue
        flat = [one for item in results for one in (item if isinstance(item, list) else [item])]
        for access in ("write", "read"):
            values = [one["bwMiB"] for one in flat if one.get("access") == access and one["bwMiB"] > 0]
            if len(values) > 1:
                series.append(values)
    lengths = sorted({len(values) for values in series})
    alone = sum(bool(find_changes([values])[0]) for values in series)
    print(f"{len(series)} series of {lengths[0]} to {lengths[-1]} repetitions")
    print(f"each by itself: a change is told of {alone} ({alone / len(series):.1%})")
    print(f"all in one report: of {sum(map(bool, find_changes(series)))}")


def main() -> None:
    """Print one table."""
    what = sys.argv[1]
    if what == "public":
        _public(Path(sys.argv[2]))
        return
    reports = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    if what == "stable":
        for noise, rows, runs in product(KINDS, (1, 10, 40), (12, 30, 100)):
            print(f"{noise.name} | {rows} rows | {runs} runs | {stable(noise, rows, runs, reports):.1%}", flush=True)
    elif what == "shift":
        for noise, rows, after in product(KINDS, (1, 40), (5, 10)):
            shares = " | ".join(f"{one:.1%}" for one in shifted(noise, rows, 20, after, reports))
            print(f"{noise.name} | {rows} rows | {after} after | {shares}", flush=True)
    else:
        for noise, rows, runs in product(KINDS, (1, 40), (6, 20)):
            shares = " | ".join(f"{one:.1%}" for one in checked(noise, rows, runs, reports))
            print(f"{noise.name} | {rows} rows | {runs} runs before | {shares}", flush=True)


if __name__ == "__main__":
    main()
