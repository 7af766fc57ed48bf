# SPDX-License-Identifier: Apache-2.0
"""What a whole report says of targets that are equal, and of one setting that is better: few reports, fixed seeds.

Before, nearly every report of equal targets said something false. docs/statistics.md has the large simulation.
"""

import random

import pytest

from support.make_records import make_row
from ullage.analysis.findings import find_all
from ullage.model.summary import Finding, Row

RANKS, BLOCKS = (1, 2, 4, 8, 16, 32), tuple(1 << step for step in range(17, 24))
REPORTS = 12
BEST = (4, 1 << 20)


def _rows(draw: random.Random, deviation: float, modes: float, best: float = 1.0) -> list[Row]:
    return [
        make_row(
            [
                1e9
                * (1 + draw.gauss(0, deviation) + draw.choice((-modes, modes)))
                * (best if (target, ranks, size) == ("a", *BEST) else 1)
                for _ in range(10)
            ],
            target=target,
            ranks=ranks,
            block=size,
        )
        for target in ("a", "b")
        for ranks in RANKS
        for size in BLOCKS
    ]


def _claims(findings: list[Finding]) -> list[str]:
    """Sentences that say of equal settings that they differ, or that something is gained by one of them."""
    return [finding.text for finding in findings if finding.gain is not None or _is_claim(finding)]


def _is_claim(finding: Finding) -> bool:
    numbers = finding.numbers
    match finding.kind:
        case "best":
            return f"{len(RANKS) * len(BLOCKS) - 1} other settings cannot be told apart" not in finding.text
        case "ratio":
            verdicts = numbers["verdict"]
            return any(word != "cannot tell" for word in (verdicts if isinstance(verdicts, list) else [verdicts]))
        case "crossover":
            return numbers["pattern"] != ["undecided"] * len(list(numbers["pattern"]))  # type: ignore[arg-type]
        case "scaling":
            return numbers["overall"] != "flat" or "they" in finding.text or "They are best" in finding.text
        case _:
            return finding.kind in ("drop", "edge", "outlier")


@pytest.mark.parametrize(("deviation", "modes"), [(0.02, 0.0), (0.1, 0.0), (0.01, 0.05)])
def test_of_equal_targets_nothing_false_is_said(deviation: float, modes: float) -> None:
    draw = random.Random(1)
    wrong = [claims for _ in range(REPORTS) if (claims := _claims(find_all(_rows(draw, deviation, modes))))]
    assert len(wrong) <= 2, wrong


def test_a_setting_15_percent_better_is_found() -> None:
    draw = random.Random(2)
    for _ in range(6):
        found = find_all(_rows(draw, 0.03, 0.0, best=1.15))
        best = next(one for one in found if one.kind == "best" and one.numbers["target"] == "a")
        assert (best.numbers["ranks"], best.numbers["block_bytes"]) == BEST
        assert "Each of the 41 other settings is slower beyond the noise." in best.text
        cells = next(one for one in found if one.kind == "ratio" and one.numbers["scope"] == "cells").numbers
        assert {cells["faster"], cells["slower"]} == {0, 1}


def test_where_nothing_is_told_no_rank_count_is_called_the_best() -> None:
    draw = random.Random(3)
    (scaling, _) = [one for one in find_all(_rows(draw, 0.05, 0.0)) if one.kind == "scaling"]
    assert "are not shown to change with ranks at all 7 block sizes" in scaling.text
    assert "best" not in scaling.text
    crossover = next(one for one in find_all(_rows(draw, 0.05, 0.0)) if one.kind == "crossover")
    assert "b and a cannot be told apart" in crossover.text
