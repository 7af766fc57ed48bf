# SPDX-License-Identifier: Apache-2.0
"""How often reports on equal things name a cause, and how often a rung's interval holds a planted cost: simulations.

nice python -m benchmarks.ladder_simulation [REPORTS]   docs/statistics.md has the table of 400
"""

import math
import random
import sys

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.ladders import LadderRule, Step, ladders_of
from ullage.model.summary import Ceiling, Ladder, Row

PARTS, RUNGS = 8, 5
OWN, SHARED = 0.02, 0.05
PLANTED = 0.8
NOISES = ("normal", "skewed", "single values far off", "two modes", "autoregressive", "drift")
CEILING = Ceiling(value=1e6, kind="declared", source="simulated")


def noise(kind: str, count: int, size: float, made: random.Random) -> list[float]:
    """Return logs of so many values."""
    plain = [made.gauss(0, size) for _ in range(count)]
    match kind:
        case "skewed":
            return [size - made.expovariate(1 / size) for _ in range(count)]
        case "single values far off":
            return [one - (10 * size * made.random() if made.random() < 0.1 else 0) for one in plain]
        case "two modes":
            return [one / 2 - (4 * size if made.random() < 0.3 else 0) for one in plain]
        case "autoregressive":
            for index in range(1, count):
                plain[index] = 0.5 * plain[index - 1] + math.sqrt(0.75) * plain[index]
    return plain


def row(part: str, place: int, logs: list[float], launches: list[int]) -> Row:
    """Return the row of one side of a rung; the first of a part has the ceiling."""
    values = [1000 * math.exp(one) for one in logs]
    middle = sorted(values)[len(values) // 2]
    made = Row(
        metric="rate", unit="B/s", better="more", target=part, params={"place": place}, median=middle, low=None,
        high=None, repetitions=values, launches=launches, verdict="none", grade="A",
    )  # fmt: skip
    return with_ceiling(made, CEILING) if place == 0 else made


def report(kind: str, count: int, planted: float, made: random.Random, *, is_one_launch: bool) -> list[Ladder]:
    """Return the ladders of one report, each rung of which costs what is planted."""
    rows: list[Row] = []
    for part in map(str, range(PARTS)):
        rounds = noise(kind, count, SHARED, made)
        if kind == "drift":
            rounds = [sum(rounds[: index + 1]) for index in range(count)]
        for place in range(RUNGS + 1):
            launches = [1] * count if is_one_launch else [10 * place + index % 3 for index in range(count)]
            shifts = {launch: made.gauss(0, SHARED) for launch in sorted(set(launches))}
            shared = rounds if is_one_launch else [shifts[launch] for launch in launches]
            own = noise(kind, count, OWN, made)
            logs = [one + two - place * math.log(planted) for one, two in zip(shared, own, strict=True)]
            rows.append(row(part, place, logs, launches))
    lines = [(str(part), part * (RUNGS + 1)) for part in range(PARTS)]
    rules = [LadderRule(part, [step(place) for place in range(RUNGS)]) for part, _ in lines]
    return ladders_of(rows, lines, rules)


def step(place: int) -> Step:
    """Return the step between two places of a part."""
    return Step(
        kind=str(place),
        what="One thing was changed.",
        below=lambda line, row: row.target == line.target and row.params["place"] == place,
        above=lambda low, row: row.target == low.target and row.params["place"] == place + 1,
    )


def main(reports: int) -> None:
    """Print a line for each noise, number of samples and kind of launches."""
    made = random.Random(7)
    for is_one_launch in (True, False):
        for kind in NOISES:
            for count in (6, 15):
                equal = [report(kind, count, 1.0, made, is_one_launch=is_one_launch) for _ in range(reports)]
                named = sum(any(rung.is_sure for ladder in one for rung in ladder.rungs) for one in equal)
                planted = [report(kind, count, PLANTED, made, is_one_launch=is_one_launch) for _ in range(reports // 5)]
                rungs = [rung for one in planted for ladder in one for rung in ladder.rungs]
                found = sum(rung.is_sure for rung in rungs)
                known = [(rung.low or 0.0, rung.high or math.inf) for rung in rungs]
                covered = sum(low <= PLANTED <= high for low, high in known)
                shares = (100 * named / reports, 100 * found / len(rungs), 100 * covered / len(rungs))
                where = "one launch" if is_one_launch else "three launches a row"
                print(f"{where}, {kind}, {count}: named %.1f, found %.1f, covered %.1f" % shares, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
