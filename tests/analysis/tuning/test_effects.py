# SPDX-License-Identifier: Apache-2.0
"""Shares of the variance, fronts and sentences on what was traded for what."""

import math
import random

import pytest
from benchmarks.simulated_responses import few_matter

from support.data import some
from ullage.analysis.tuning.confirmation import changes, front, proved_changes, sentence
from ullage.analysis.tuning.effects import (
    FEWEST_SCREENED,
    MOST_SCREENED,
    conference,
    design,
    effects,
    important,
    narrowed,
    response,
    told,
)
from ullage.analysis.tuning.search import Search, Trial
from ullage.analysis.tuning.space import Dimension, Setting, Space
from ullage.analysis.tuning.surrogate import Trials, fit
from ullage.arrays import np

SPACE = Space(tuple(Dimension(name, ("1", "2", "4", "8")) for name in "abc"), (0, 0, 0))


def surrogate_of(log: object) -> object:
    assert callable(log)
    settings: list[Setting] = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    random.Random(1).shuffle(settings)
    return fit(SPACE, Trials(settings, [log(one) for one in settings], [float(i) for i in range(len(settings))]))


def test_a_parameter_has_the_share_of_the_variance_that_it_makes() -> None:
    """Two independent linear effects of 2 to 1 have shares of 4 to 1."""
    found = effects(surrogate_of(lambda s: 0.2 * s[0] + 0.1 * s[1]))  # type: ignore[arg-type]
    assert found.alone[0] == pytest.approx(0.8, abs=0.04)
    assert found.alone[1] == pytest.approx(0.2, abs=0.04)
    assert found.alone[2] < 0.02
    assert all(share < 0.02 for share in found.together.values())


def test_what_two_parameters_do_only_together_is_an_interaction() -> None:
    found = effects(surrogate_of(lambda s: 0.2 * (s[0] - 1.5) * (s[1] - 1.5)))  # type: ignore[arg-type]
    assert found.together[(0, 1)] > 0.9
    assert max(found.alone) < 0.05


def test_a_response_has_an_interval_around_what_is_true() -> None:
    line = response(surrogate_of(lambda s: 0.2 * s[0] + 0.1 * s[1]), (3, 3, 0), 0)  # type: ignore[arg-type]
    for place, (low, middle, high) in enumerate(some(line)):
        assert low <= middle <= high
        assert middle == pytest.approx(0.2 * place + 0.3, abs=0.05)


def test_a_front_has_what_no_other_is_better_than_in_everything() -> None:
    assert front([(1, 3), (2, 2), (3, 1), (1, 1), (2, 2)]) == [0, 1, 2, 4]


def test_small_changes_are_not_named_and_the_largest_stands_first() -> None:
    found = changes({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 1.05, "b": 2.0, "c": 0.1})
    assert [one.name for one in found] == ["c", "b"]
    assert sentence("ppn=2", "ppn=16", found) == "ppn=2 (before: ppn=16) changes c to 0.10 x, b to 2.00 x."
    assert sentence("ppn=2", "ppn=16", []) == ""


def test_pairs_have_to_prove_a_change() -> None:
    draw = random.Random(2)
    before = [{"same": math.exp(draw.gauss(0, 0.3)), "more": math.exp(draw.gauss(0, 0.02))} for _ in range(6)]
    after = [{"same": math.exp(draw.gauss(0, 0.3)), "more": 2 * math.exp(draw.gauss(0, 0.02))} for _ in range(6)]
    assert [one.name for one in proved_changes(before, after)] == ["more"]


def trials(effect: float, correlation: float, seed: int, count: int = 30) -> tuple[list[tuple[int, int]], list[float]]:
    """Settings in random order, with autoregressive noise of 0.1."""
    draw = random.Random(seed)
    settings = [(draw.randrange(4), draw.randrange(2)) for _ in range(count)]
    noise, logs = draw.gauss(0, 1), list[float]()
    for setting in settings:
        noise = correlation * noise + (1 - correlation**2) ** 0.5 * draw.gauss(0, 1)
        logs.append(effect * setting[0] + 0.1 * noise)
    return settings, logs


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_noise_is_told_from_an_effect(correlation: float) -> None:
    falsely = sum(any(told(*trials(0.0, correlation, seed))) for seed in range(100))
    assert falsely <= 5
    assert all(told(*trials(0.2, correlation, seed)) == [True, False] for seed in range(20))


def test_few_or_equal_trials_tell_nothing() -> None:
    assert told([(0, 0), (1, 1)] * 2, [0.0, 1.0, 0.0, 1.0]) == [False, False]
    assert told([(0, 0), (1, 1)] * 5, [1.0] * 10) == [False, False]


@pytest.mark.parametrize("count", [FEWEST_SCREENED, 8, 9, 12, 20, MOST_SCREENED])
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
