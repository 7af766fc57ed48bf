# SPDX-License-Identifier: Apache-2.0
"""The formulas of b_eff_io against worked-out and published numbers."""

import json
from pathlib import Path

import pytest

from ullage.suites.b_eff_io.patterns import (
    TYPES,
    PatternType,
    TypeTotal,
    access_mean,
    b_eff_io,
    implied_write_side,
    memory_s,
    pattern_bandwidth,
    unit_weighted_mean,
    write_side,
)

FROST = json.loads((Path(__file__).parents[2] / "golden" / "b_eff_io_frost.json").read_text())
MIB = 1 << 20
MB = 1e6


def of(*values: float) -> dict[PatternType, float]:
    return dict(zip(TYPES, values, strict=True))


def test_the_vector_golden() -> None:
    """specs/beff.md 5.1, MB/s."""
    write, read = of(300, 400, 500, 450, 460), of(400, 500, 520, 480, 470)
    side, mean = write_side(write, 350), access_mean(read)
    assert access_mean(write) == pytest.approx(401.667, abs=1e-3)
    assert side == pytest.approx(410.000, abs=1e-3)
    assert mean == pytest.approx(461.667, abs=1e-3)
    assert side is not None
    assert mean is not None
    assert b_eff_io(side, mean) == pytest.approx(435.067, abs=1e-3)


def test_the_published_value_golden() -> None:
    """Three printed means and W' = 431.009 give the printed b_eff_io; the means of writes alone do not."""
    means, value = FROST["weighted_average_mb_s"], FROST["b_eff_io_mb_s"]
    assert implied_write_side(value, means["read"]) == pytest.approx(431.009, abs=1e-3)
    assert round(b_eff_io(431.009, means["read"]), 3) == value == 451.727
    naive = b_eff_io((means["write"] + means["rewrite"]) / 2, means["read"])
    assert naive == pytest.approx(422.539, abs=1e-3)
    # W' - B_write is a sixth of what the rewrite of scatter is faster than its first write.
    assert 6 * (431.009 - means["write"]) == pytest.approx(51.725, abs=5e-3)


def test_the_published_volume_and_memory_golden() -> None:
    """The memory is the machine's (524288 MBytes in the print), four times what the 64 processes have."""
    memory = 524288 * MIB
    assert memory == 4 * FROST["processes"] * FROST["mib_per_pe"] * MIB
    volume = FROST["data_volume_mbytes_per_access"] * MIB
    assert round(100 * volume / memory, 1) == FROST["percent_of_memory"] == 39.8
    # Printed was 19.3 min, MiB divided by MB/s.
    assert memory_s(memory, FROST["b_eff_io_mb_s"] * MB) / 60 == pytest.approx(20.3, abs=0.05)
    assert memory / MIB / FROST["b_eff_io_mb_s"] / 60 == pytest.approx(19.3, abs=0.05)


def test_the_rewrite_of_scatter_takes_the_second_weight() -> None:
    write = of(100, 100, 100, 100, 100)
    assert write_side(write, 700) == pytest.approx(200)
    assert write_side(write, 100) == access_mean(write) == pytest.approx(100)


@pytest.mark.parametrize("missing", TYPES)
def test_nothing_is_averaged_over_fewer_types(missing: PatternType) -> None:
    some = {kind: 1.0 for kind in TYPES if kind != missing}
    assert access_mean(some) is None
    assert write_side(some, 1.0) is None


def test_a_type_counts_bytes_over_all_its_time() -> None:
    total = TypeTotal(bytes=6000, open_s=0.5, patterns_s=2.0, close_s=0.5)
    assert total.bandwidth == 2000
    assert TypeTotal(0, 0.0, 0.0, 0.0).bandwidth == 0
    assert pattern_bandwidth(10, 0.0) is None


def test_units_weigh_in_the_mean_that_is_for_information() -> None:
    assert unit_weighted_mean([(100.0, 4), (40.0, 2), (1e9, 0)]) == pytest.approx(80)
    assert unit_weighted_mean([(1.0, 0)]) is None
