# SPDX-License-Identifier: Apache-2.0
"""Rows of a default sweep of two targets whose truth is known, and which of a report's sentences are false of them."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.simulated_noise import Noise
from benchmarks.simulated_rules import Rule
from ullage.analysis.compare import Sample, compare_samples
from ullage.analysis.findings import find_all
from ullage.model.summary import Finding, Row

RANKS = (1, 2, 4, 8, 16, 32)
BLOCKS = tuple((128 << 10) << step for step in range(7))
ACCESSES = ("write", "read")
TARGETS = ("a", "b")
BEST_CELL = ("a", 4, 1 << 20)
BETTER = 1.15
LAUNCHES = 3
Place = tuple[str, int, int]


class _Case:
    """A case of two phases: a sample is a pair, and the worse phase decides when to stop.

    ``shifts``: of the launches of its rank count, one after the other.
    """

    def __init__(self, noise: Noise, cv: float, seed: str, factor: float, shifts: Sequence[float]) -> None:
        self.phases = [noise.series(cv, f"{seed}/{access}") for access in ACCESSES]
        self.factor, self.shifts = factor, shifts
        self.taken: list[list[float]] = [[], []]

    def take(self, rule: Rule, correlation: float = 0.0) -> None:
        while len(self.taken[0]) < 15 and not all(rule.is_narrow(phase, correlation) for phase in self.taken):
            shift = self.shifts[launch_of(len(self.taken[0]))]
            for phase, source in zip(self.taken, self.phases, strict=True):
                phase.append(self.factor * shift * next(source))


def launch_of(repetition: int) -> int:
    """The minimum of 6 is that of ``LAUNCHES`` launches; each look of the stop rule after it has one of its own."""
    if repetition < 6:
        return repetition * LAUNCHES // 6
    return LAUNCHES + (repetition >= 10)


def sweep_rows(
    noise: Noise,
    cv: float,
    rule: Rule,
    seed: str,
    better: Place | Mapping[Place, float] | None = None,
    drift: float = 0.0,
) -> list[Row]:
    """Both targets equal, but for the cell ``better``, which is 15 % faster, or cells with factors.

    ``drift``: the deviation of launches over that of repetitions.
    """
    places = [(target, ranks, block) for target in TARGETS for ranks in RANKS for block in BLOCKS]
    factors = better if isinstance(better, Mapping) else {better: BETTER}
    draw = random.Random(f"launches/{seed}")
    shifts = {ranks: [math.exp(draw.gauss(0, drift * cv)) for _ in range(LAUNCHES + 2)] for ranks in RANKS}
    cases = {place: _Case(noise, cv, f"{seed}/{place}", factors.get(place, 1.0), shifts[place[1]]) for place in places}
    for case in cases.values():
        case.take(rule)
    if rule.uses_dependence:
        known = rule.dependence([phase for case in cases.values() for phase in case.taken])
        for case in cases.values():
            case.take(rule, known)
    correlation = rule.dependence([phase for case in cases.values() for phase in case.taken])
    return list(_rows(cases, rule, correlation))


def _rows(cases: dict[Place, _Case], rule: Rule, correlation: float) -> Iterator[Row]:
    for (target, ranks, block), case in cases.items():
        for access, samples in zip(ACCESSES, case.taken, strict=True):
            values = [1e9 * value for value in samples]
            interval = rule.interval(values, correlation)
            yield Row(
                metric="bandwidth",
                unit="B/s",
                better="more",
                target=target,
                params={"access": access, "ranks": ranks, "block_bytes": block},
                case=f"{target}-{ranks}-{block}",
                median=interval.median,
                low=interval.low,
                high=interval.high,
                repetitions=values,
                launches=[100 * ranks + launch_of(index) for index in range(len(values))],
                verdict="cold" if access == "read" else "synced",
                grade="A",
            )


def false_statements(rows: Sequence[Row]) -> set[str]:
    """Kinds of sentences about equal targets that say of anything that it differs, or that something is gained."""
    return {finding.kind for finding in find_all(rows) if finding.gain is not None or _is_false(finding)}


def _is_false(finding: Finding) -> bool:
    numbers = finding.numbers
    match finding.kind:
        case "best":
            rivals = numbers["rival_ranks"]
            return isinstance(rivals, list) and len(rivals) < len(RANKS) * len(BLOCKS) - 1
        case "ratio":
            verdicts = numbers["verdict"]
            return any(word != "cannot tell" for word in (verdicts if isinstance(verdicts, list) else [verdicts]))
        case "crossover":
            patterns = numbers["pattern"]
            return isinstance(patterns, list) and any(word != "undecided" for word in patterns)
        case "scaling":
            is_said = "They are best" in finding.text or "they" in finding.text
            return numbers["overall"] != "unknown" and (numbers["overall"] != "flat" or is_said)
        case "drop" | "edge" | "outlier":
            return True
        case _:
            return False


def false_cells(rows: Sequence[Row], cells: int) -> int:
    """Count the cells of two equal targets of which `ullage compare` says that one is faster."""
    samples = [Sample(row, "") for row in rows if row.params["access"] == "write"]
    chosen = samples[:cells] + samples[len(RANKS) * len(BLOCKS) :][:cells]
    return sum(cell.outcome != "cannot tell" for cell in compare_samples(chosen, "target").cells)


def false_reruns(first: Sequence[Row], second: Sequence[Row]) -> int:
    """Count the cells of a run and its own rerun of which `ullage compare` says that one is faster."""
    samples = [Sample(row, name) for name, rows in (("first", first), ("second", second)) for row in rows]
    return sum(cell.outcome != "cannot tell" for cell in compare_samples(samples, "result").cells)


def told_of_ranks(rows: Sequence[Row]) -> dict[str, int]:
    """Whether the report says of target a that writes rise with ranks, or that they do anything else."""
    found = next(
        one.numbers["overall"]
        for one in find_all(rows)
        if one.kind == "scaling" and (one.numbers["target"], one.numbers["access"]) == ("a", "write")
    )
    return {"rise": int(found == "rises"), "fall": int(found in ("falls", "peaks", "dips"))}


def find_in(rows: Sequence[Row]) -> dict[str, int]:
    """Whether the better setting is named as the best of its target's writes, how many others may be as good, and
    whether the comparison of the targets says faster of that cell and of no other."""
    _, ranks, block = BEST_CELL
    best = next(
        finding
        for finding in find_all(rows)
        if finding.kind == "best" and (finding.numbers["target"], finding.numbers["access"]) == ("a", "write")
    )
    rivals = best.numbers["rival_ranks"]
    samples = [Sample(row, "") for row in rows if row.params["access"] == "write"]
    cells = compare_samples(samples, "target", base="b").cells
    told = [cell for cell in cells if cell.outcome != "cannot tell"]
    mine = [cell for cell in told if dict(cell.setting) | {"ranks": ranks, "block_bytes": block} == dict(cell.setting)]
    return {
        "named the best": int((best.numbers["ranks"], best.numbers["block_bytes"]) == (ranks, block)),
        "no other as good": int(isinstance(rivals, list) and not rivals),
        "compare tells it": int(len(mine) == 1),
        "compare tells another": int(len(told) > len(mine)),
    }
