# SPDX-License-Identifier: Apache-2.0
"""Which of many parameters the screening keeps, and that the search then leaves the others alone."""

import math
import random

import pytest
from benchmarks.simulated_responses import few_matter

from ullage.analysis.tuning.screening import FEWEST, MOST, conference, design, important, narrowed
from ullage.analysis.tuning.search import Search, Trial
from ullage.analysis.tuning.space import Dimension, Space
from ullage.analysis.tuning.surrogate import Trials, fit
from ullage.arrays import np


@pytest.mark.parametrize("count", [FEWEST, 8, 9, 12, 20, MOST])
def test_any_two_columns_of_a_conference_matrix_are_orthogonal(count: int) -> None:
    matrix = conference(count)
    assert matrix.shape[1] >= count
    assert np.array_equal(matrix.T @ matrix, (len(matrix) - 1) * np.eye(len(matrix)))
    assert set(np.diag(matrix).tolist()) == {0}


def test_a_design_has_each_ordered_parameter_at_both_ends_and_in_the_middle_equally_often() -> None:
    surface, _ = few_matter(8, 1)
    found = np.array([surface.space.default, *design(surface.space)])
    for place in range(7):
        values, counts = np.unique(found[:, place], return_counts=True)
        assert set(values.tolist()) == {0, 2, 4}
        assert counts[0] == pytest.approx(counts[2], abs=2)
    assert len(found) <= 19


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_parameters_that_matter_are_kept(noise: float) -> None:
    for seed in range(5):
        surface, matter = few_matter(8, seed)
        draw = random.Random(seed)
        settings = [surface.space.default, *design(surface.space)]
        logs = [math.log(surface.measured(setting, noise, draw)) for setting in settings]
        kept = important(fit(surface.space, Trials(settings, logs, [float(turn) for turn in range(len(settings))])))
        assert set(matter) <= set(kept)
        assert len(kept) < 8


def test_what_is_left_out_stays_at_its_default() -> None:
    surface, _ = few_matter(6, 1)
    found = narrowed(surface.space, (1, 5))
    assert len(found) == 25
    assert found[:, [0, 2, 3, 4]].max() == 0
    assert {tuple(row) for row in found[:, [1, 5]].tolist()} == {(a, b) for a in range(5) for b in range(5)}


def test_a_search_over_many_parameters_chooses_among_those_that_were_kept() -> None:
    """The noise is small and the response is monotone, so that the two that matter are certain.

    Of a space whose settings are all listed, none is left out.
    """
    space = Space(tuple(Dimension(f"p{i}", ("1", "2", "3")) for i in range(10)), (0,) * 10)
    assert not space.is_listed
    search, draw, done = Search(space, 1), random.Random(1), list[Trial]()
    while (ask := search.next(done, 50 - len(done))) is not None:
        log = 0.3 * ask.setting[1] + 0.2 * ask.setting[4] + draw.gauss(0, 0.01)
        done.append(Trial(ask.setting, ask.purpose, log))
    assert set(design(space)) <= {trial.setting for trial in done}
    listed = search.candidates(done)
    assert len(listed) == 81
    assert listed[:, [1, 4]].max(axis=0).tolist() == [2, 2]
    best = search.best(done)
    assert (best[1], best[4]) == (2, 2)
