# SPDX-License-Identifier: Apache-2.0
"""Odd cells and lines are found in noise, and noise is not found odd."""

import math
import random

import pytest

from ullage.analysis.findings.neighbours import drops, odd_cells, odd_lines, relative_noise

Cell = tuple[int, int]


def _surface(noise: float, seed: int, ranks: int = 6, blocks: int = 8) -> dict[Cell, float]:
    """A smooth bend in both directions with normal noise."""
    draw = random.Random(seed)
    return {
        (2**i, 131072 * 2**j): 0.5 * i - 0.04 * i * i + 0.3 * j - 0.03 * j * j + draw.gauss(0, noise)
        for i in range(ranks)
        for j in range(blocks)
    }


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.3])
def test_noise_is_estimated(noise: float) -> None:
    estimates = [relative_noise(_surface(noise, seed)) for seed in range(20)]
    known = sorted(estimate for estimate in estimates if estimate is not None)
    assert known[len(known) // 2] == pytest.approx(noise, rel=0.5)


def test_few_cells_have_no_known_noise() -> None:
    assert relative_noise({(1, 1): 0.0, (2, 1): 1.0}) is None
    assert odd_cells({(1, 1): 0.0, (2, 1): 9.0}) == {}
    assert odd_lines({}) == []
    assert drops({}) == []


@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_plain_noise_is_seldom_called_odd(noise: float) -> None:
    surfaces = [_surface(noise, seed) for seed in range(40)]
    assert sum(bool(odd_cells(surface)) for surface in surfaces) <= 2
    assert sum(bool(odd_lines(surface)) for surface in surfaces) <= 1


@pytest.mark.parametrize("cell", [(8, 1048576), (1, 131072), (32, 16777216), (4, 131072)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_far_cell_is_found_wherever_it_stands_and_no_other(cell: Cell, sign: int) -> None:
    surface = _surface(0.05, 3)
    surface[cell] += sign * math.log(5)
    found = odd_cells(surface)
    assert list(found) == [cell]
    assert all((residual.log > 0) == (sign > 0) for residual in found[cell])


@pytest.mark.parametrize("block", [131072, 1048576, 8388608])
def test_a_far_block_size_is_found_as_a_line(block: int) -> None:
    surface = _surface(0.1, 5)
    for cell in surface:
        if cell[1] == block:
            surface[cell] -= math.log(3)
    found = odd_lines(surface)
    assert (found[0].axis, found[0].value) == ("block_bytes", block)
    assert found[0].factor == pytest.approx(1 / 3, rel=0.4)
    assert len(found[0].cells) == 6


def test_a_drop_is_a_step_that_only_one_block_size_loses() -> None:
    surface = _surface(0.05, 7)
    surface[32, 131072] -= math.log(4)
    found = drops(surface)
    assert [(drop.cell, drop.before) for drop in found] == [((32, 131072), (16, 131072))]
    assert found[0].others / found[0].factor == pytest.approx(4, rel=0.3)


def test_a_step_that_all_block_sizes_lose_is_no_drop() -> None:
    surface = _surface(0.05, 9)
    for cell in surface:
        if cell[0] == 32:
            surface[cell] -= math.log(4)
    assert drops(surface) == []
