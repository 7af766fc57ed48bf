# SPDX-License-Identifier: Apache-2.0
"""Nodes that are worse than the others: who is named, who is not, and how often by chance."""

import math
import random
from collections.abc import Sequence

import pytest

from ullage.analysis.statistics.comparison import Better
from ullage.analysis.statistics.outlying import Measure, NodeSamples, margin_of, standings


def measure(values: Sequence[float | None], *, better: Better = "less", noise: float = 0.01, seed: int = 1) -> Measure:
    draw = random.Random(seed)

    def node(value: float) -> NodeSamples:
        return NodeSamples(tuple(value * math.exp(noise * draw.gauss(0, 1)) for _ in range(6)))

    return Measure([None if value is None else node(value) for value in values], better)


def named(measures: Sequence[Measure]) -> list[list[int]]:
    return [
        [index for index, one in enumerate(found) if one is not None and one.is_named] for found in standings(measures)
    ]


def test_one_slow_node_of_four_is_named_in_the_measure_in_which_it_is_slow() -> None:
    slow = measure([1.0, 1.01, 2.0, 0.99])
    assert named([slow, measure([1.0] * 4, seed=2)]) == [[2], []]


def test_of_a_rate_less_is_worse_and_faster_nodes_are_not_named() -> None:
    assert named([measure([1.0, 1.01, 0.3, 0.99], better="more")]) == [[2]]
    assert named([measure([1.0, 1.01, 3.0, 0.99], better="more")]) == [[]]


def test_two_slow_nodes_of_eight_do_not_hide_each_other() -> None:
    assert named([measure([1.0, 1.01, 0.99, 1.0, 1.02, 1.5, 1.5, 1.0])]) == [[5, 6]]


def test_nodes_that_all_differ_have_no_outlier() -> None:
    assert named([measure([1.0, 1.3, 1.7, 2.2, 2.9, 3.7, 4.8, 6.3])]) == [[]]


def test_a_difference_below_the_margin_is_not_named_however_sure_it_is() -> None:
    assert margin_of(8) < margin_of(4)
    assert named([measure([1.0] * 7 + [1.04], noise=1e-4)]) == [[]]
    assert named([measure([1.0] * 7 + [1.07], noise=1e-4)]) == [[7]]
    assert named([measure([1.0] * 3 + [1.2], noise=1e-4)]) == [[]]


def test_repetitions_that_scatter_widely_prove_nothing() -> None:
    calm = measure([1.0] * 7, noise=0.001)
    wild = NodeSamples((0.2, 5.0, 0.5, 2.0, 8.0, 1.4))
    assert named([Measure([*calm.nodes, wild], "less")]) == [[]]


def test_a_node_that_must_not_be_named_counts_among_the_others() -> None:
    found = measure([1.0, 1.01, 2.0, 0.99])
    nodes = [
        one if index != 2 or one is None else NodeSamples(one.samples, may_be_named=False)
        for index, one in enumerate(found.nodes)
    ]
    assert named([Measure(nodes, "less")]) == [[]]


def test_how_a_node_stands_is_a_factor_against_the_middle_of_the_others() -> None:
    (found,) = standings([measure([1.0, 1.0, 2.0, None, 1.0], noise=0.0)])
    assert found[3] is None
    assert [None if one is None else one.worse for one in found] == [1.0, 1.0, pytest.approx(2.0), None, 1.0]


def test_three_nodes_are_too_few_to_name_one_and_a_single_one_stands_alone() -> None:
    assert named([measure([1.0, 1.0, 9.0])]) == [[]]
    assert standings([measure([1.0, None])]) == [[None, None]]
    assert standings([]) == []


def test_values_that_have_no_logarithm_are_left_out() -> None:
    (found,) = standings([Measure([NodeSamples((0.0, 1.0)), NodeSamples((1.0, 1.0)), NodeSamples((1.0, 1.0))], "less")])
    assert [one is None for one in found] == [True, False, False]


@pytest.mark.parametrize(
    ("nodes", "noise", "spread"), [(4, 0.05, 0.0), (4, 0.02, 0.04), (16, 0.05, 0.0), (16, 0.02, 0.03)]
)
def test_of_equal_nodes_hardly_any_report_names_one(nodes: int, noise: float, spread: float) -> None:
    """The full simulation is benchmarks/nodes_simulation.py; these are 60 reports of 10 measures each."""
    draw = random.Random(f"{nodes}/{noise}/{spread}")
    reports = 0
    for seed in range(60):
        own = [math.exp(spread * draw.gauss(0, 1)) for _ in range(nodes)]
        reports += any(named([measure(own, noise=noise, seed=100 * seed + index) for index in range(10)]))
    assert reports <= 7  # of 60 at 5 %, more than that happen in 1 of 100 tries
