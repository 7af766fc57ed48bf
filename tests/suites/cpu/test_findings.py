# SPDX-License-Identifier: Apache-2.0
"""What ratios of a cpu run say: nothing that their intervals do not prove."""

import pytest

from support.make_records import plain_row
from ullage.model.summary import Finding
from ullage.suites.cpu.findings import findings_of
from ullage.suites.cpu.ratios import CLOCK_RATIO, RATE_RATIO


def said(metric: str, low: float | None, high: float | None) -> list[Finding]:
    params: dict[str, str | int] = {"threads": 2, "type": "int8", "isa": "avx512", "over": "avx2/fp32/fma"}
    own = {"metric": metric, "unit": "x", "target": "cores", "verdict": "none", "case": ""}
    row = plain_row(0.9, params, low=low, high=high, **own)
    return findings_of([], [row], {}, 0.95)


@pytest.mark.parametrize(
    ("low", "high", "title"),
    [
        (0.88, 0.92, "AVX-512 lowers the clock by 10 %"),
        (0.7, 1.05, "Whether AVX-512 lowers the clock cannot be told"),
        (None, None, "Whether AVX-512 lowers the clock cannot be told"),
        (0.99, 1.01, "AVX-512 does not lower the clock"),
    ],
)
def test_a_lower_clock_is_told_where_its_interval_proves_it(low: float | None, high: float | None, title: str) -> None:
    (found,) = said(CLOCK_RATIO, low, high)
    assert found.title == title
    assert (found.severity == "advice") == title.startswith("AVX-512 lowers")


@pytest.mark.parametrize(("low", "high", "count"), [(0.88, 0.92, 1), (0.7, 1.05, 0), (None, None, 0)])
def test_a_unit_is_compared_where_its_interval_tells(low: float | None, high: float | None, count: int) -> None:
    assert len(said(RATE_RATIO, low, high)) == count
