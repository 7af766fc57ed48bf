# SPDX-License-Identifier: Apache-2.0
"""What the search measures next, how close it comes to a known best, and how often it claims what is not so."""

import math
import random
from itertools import islice

import pytest
from benchmarks.simulated_responses import cliff, flat, hill_somewhere, make_space, smooth, two_optima
from benchmarks.tuning_simulation import ENOUGH, SHARE, tune

from support.data import some
from ullage.analysis.tuning.confirmation import judge, looks, of_pair
from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import FEWEST_TRIALS, Search, Trial, pairs_kept, to_retry
from ullage.analysis.tuning.space import Dimension, Space, middle, opening, setting_with, spread, start_settings
from ullage.analysis.tuning.surrogate import Posterior, Trials, fit
from ullage.arrays import np

SMALL = Space((Dimension("n", ("1", "2", "4", "8", "16")), Dimension("kind", ("a", "b", "c"), ordered=False)), (0, 0))


def searched(space: Space, most: int, noise: float = 0.0, method: str = "model") -> list[Trial]:
    """A search over values that rise with the first parameter, for which the kind 'b' is best."""
    search, draw, done = make_search(method, space, 1), random.Random(1), list[Trial]()
    while (ask := search.next(done, most - len(done))) is not None:
        log = 0.2 * ask.setting[0] + (0.5 if ask.setting[1] == 1 else 0.0) + draw.gauss(0, noise)
        done.append(Trial(ask.setting, ask.purpose, log))
    return done


def test_the_default_is_measured_first_and_again_between_the_others() -> None:
    done = searched(make_space(), 60, 0.1)
    assert done[0].setting == make_space().default
    assert [trial.purpose for trial in done].count("default") >= 3


def test_no_search_takes_more_trials_than_it_has() -> None:
    for most in (FEWEST_TRIALS, 9, 17, 40):
        assert len(searched(make_space(), most, 0.3)) <= most


def test_trials_that_no_pairs_need_are_searched_with() -> None:
    for most in (FEWEST_TRIALS, 9):
        done = searched(Space(SMALL.dimensions, (4, 1)), most)
        assert len(done) == most
        assert all(trial.purpose != "confirm" for trial in done)


def test_what_was_searched_is_not_searched_again() -> None:
    tried = [trial.setting for trial in searched(make_space(), 60, 0.1) if trial.purpose in ("start", "search")]
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize("method", ["model", "random", "grid"])
def test_every_method_finds_the_best_of_a_small_space_and_confirms_it(method: str) -> None:
    done = searched(SMALL, 60, 0.01, method)
    search = Search(SMALL)
    assert search.best(done) == (4, 1)
    said = search.confirmation(done)
    assert said is not None
    assert said.answer == "better"
    assert said.low < math.exp(0.2 * 4 + 0.5) < said.high


def test_where_the_default_is_best_nothing_is_confirmed() -> None:
    space = Space(SMALL.dimensions, (4, 1))
    done = searched(space, 60, 0.01)
    assert Search(space).best(done) == space.default
    assert all(trial.purpose != "confirm" for trial in done)


def test_a_lucky_trial_does_not_stay_the_choice_where_its_pairs_fall_behind() -> None:
    """One setting gains 10 % in three trials, another 40 % in one; the pairs show that the latter gains nothing."""
    default, steady, lucky = (0, 0), (2, 1), (4, 2)
    others = [(place, kind) for place in range(5) for kind in range(3) if (place, kind) not in (default, steady, lucky)]
    logs = [(default, 0.0), (steady, 0.1), (default, 0.02), (steady, 0.09), (lucky, 0.35), (default, -0.02)]
    done = [Trial(at, "default" if at == default else "search", log) for at, log in logs]
    done += [Trial(at, "search", -0.4 - 0.02 * place) for place, at in enumerate(others)] + [
        Trial(steady, "race", 0.11),
        Trial(default, "default", 0.01),
    ]
    search = Search(SMALL)
    assert search.chosen(done) == lucky
    pairs = [Trial(*((lucky, "confirm", -0.05) if of_pair(turn) else (default, "confirm", 0.0))) for turn in range(12)]
    assert search.chosen([*done, *pairs]) in (default, steady)


def test_the_pairs_alternate_and_take_the_second_half_of_a_small_budget() -> None:
    pairs = [trial.setting != SMALL.default for trial in searched(SMALL, 20, 0.2) if trial.purpose == "confirm"]
    assert len(pairs) >= 6
    assert pairs == [of_pair(turn) for turn in range(len(pairs))]


def test_a_failed_trial_is_a_data_point_and_never_the_best() -> None:
    search, done = Search(SMALL), list[Trial]()
    while (ask := search.next(done, 50 - len(done))) is not None:
        fails = ask.setting[1] == 1
        done.append(Trial(ask.setting, ask.purpose, None if fails else 0.2 * ask.setting[0]))
    assert any(trial.log is None for trial in done)
    assert search.best(done)[1] != 1


def test_a_pair_that_fails_is_measured_again() -> None:
    search, done, failed = Search(SMALL), list[Trial](), False
    while (ask := search.next(done, 30 - len(done))) is not None:
        fails = not failed and ask.purpose == "confirm" and ask.setting != SMALL.default
        failed = failed or fails
        done.append(Trial(ask.setting, ask.purpose, None if fails else 0.2 * ask.setting[0]))
    said = search.confirmation(done)
    assert failed
    assert said is not None
    assert said.answer == "better"


def test_a_setting_that_fails_once_is_measured_a_second_time_and_may_be_the_best() -> None:
    search, done, failures = Search(SMALL), list[Trial](), 0
    while (ask := search.next(done, 50 - len(done))) is not None:
        fails = ask.setting == (4, 1) and failures == 0
        failures += fails
        effect = 0.2 * ask.setting[0] + (0.5 if ask.setting[1] == 1 else 0.0)
        done.append(Trial(ask.setting, ask.purpose, None if fails else effect))
    assert [trial.setting for trial in done if trial.log is None] == [(4, 1)]
    assert search.best(done) == (4, 1)


def test_settings_that_always_fail_are_measured_twice_a_few_times_only() -> None:
    search, done = Search(make_space()), list[Trial]()
    while (ask := search.next(done, 60 - len(done))) is not None and len(done) < 40:
        done.append(Trial(ask.setting, ask.purpose, None if ask.setting[0] != 0 else 0.1 * ask.setting[1]))
    assert to_retry([*done[:1], Trial((1, 1, 1, 1), "start", None)]) == (1, 1, 1, 1)
    assert to_retry([*done[:1], *(Trial((1, 1, 1, 1), "start", None) for _ in range(2))]) is None
    failed = [trial.setting for trial in done if trial.log is None]
    assert len(failed) - len(set(failed)) <= 3


def test_a_setting_that_breaks_a_rule_is_not_measured_again_for_it() -> None:
    search = Search(SMALL)
    done = [Trial((0, 0), "default", 0.0), Trial((2, 0), "start", None, breaks=True)]
    ask = search.next(done, 40)
    assert ask is not None
    assert ask.setting != (2, 0)


def test_what_is_known_is_where_a_search_begins() -> None:
    space = make_space()
    begin = setting_with(space, {"n1": "128"})
    assert begin == (0, 3, 7, 2)
    assert opening(space, 9, begin) == [begin, (1, 3, 7, 2), (2, 3, 7, 2), middle(space)]
    first = Search(space, begin=begin).next([Trial(space.default, "default", 0.0)], 40)
    assert first is not None
    assert first.setting == begin


def test_a_posterior_that_grows_is_that_of_all_trials() -> None:
    """Also where a trial is added whose setting was measured before, and where a value changes later on."""
    draw, space = random.Random(3), make_space()
    settings = [(draw.randrange(3), draw.randrange(7), draw.randrange(8), draw.randrange(6)) for _ in range(12)]
    settings.append(settings[0])
    logs = [draw.gauss(0, 1) for _ in settings]
    trials = Trials(settings, logs, [float(turn) for turn in range(len(settings))])
    whole = fit(space, trials)
    grown = Posterior(space, space.candidates, whole.scales, trials.first(4))
    grown.tell(trials)
    mean, deviation = whole.predict(space.candidates)
    assert np.allclose(grown.mean, mean, atol=1e-6)
    assert np.allclose(grown.deviation, deviation, atol=1e-6)
    places = grown.places([(0, 0, 0, 0), (2, 6, 7, 5)])
    at_once = Posterior(space, space.candidates, whole.scales, trials)
    assert np.allclose(grown.joint(places)[1], at_once.joint(places)[1], atol=1e-6)


def test_a_cliff_is_found_as_a_step_of_its_parameter() -> None:
    draw, space = random.Random(4), Space((Dimension("n", tuple("12345678")), Dimension("m", tuple("12345"))), (0, 0))
    settings = [(draw.randrange(8), draw.randrange(5)) for _ in range(60)]
    logs = [0.05 * at - (1.4 if at >= 5 else 0.0) + draw.gauss(0, 0.1) for at, _ in settings]
    scales = fit(space, Trials(settings, logs, [float(turn) for turn in range(60)])).scales
    assert (0, 5) in scales.steps
    flat_logs = [draw.gauss(0, 0.1) for _ in settings]
    assert not fit(space, Trials(settings, flat_logs, [float(turn) for turn in range(60)])).scales.steps


def test_a_drift_of_the_machine_is_not_taken_for_an_effect() -> None:
    """The machine becomes slower by a third over the search, more than the last step of the best parameter brings."""
    good = 0
    for seed in range(10):
        search, draw, done = Search(SMALL, seed), random.Random(seed), list[Trial]()
        while (ask := search.next(done, 70 - len(done))) is not None:
            effect = 0.05 * ask.setting[0] + (0.1 if ask.setting[1] == 1 else 0.0)
            done.append(Trial(ask.setting, ask.purpose, effect - 0.01 * len(done) + draw.gauss(0, 0.01)))
        good += search.best(done) == (4, 1)
    assert good >= 9


def test_the_start_has_each_value_of_a_parameter_about_equally_often() -> None:
    for setting in some(start_settings(make_space(), 3)):
        assert all(0 <= place < len(one.values) for place, one in zip(setting, make_space().dimensions, strict=True))
    kinds = [setting[0] for setting in start_settings(make_space(), 3)]
    assert all(kinds.count(kind) == 3 for kind in range(3))


def test_a_search_begins_in_the_middle_with_every_value_that_has_no_order() -> None:
    assert middle(SMALL) == (2, 0)
    assert opening(SMALL, 3) == [(2, 0), (2, 1), (2, 2)]
    assert middle(make_space()) not in opening(Space(make_space().dimensions, middle(make_space())), 4)


def test_settings_spread_over_the_space_take_each_value_equally_often() -> None:
    found = list(islice(spread(make_space(), 1), 168))
    for place, one in enumerate(some(make_space().dimensions)):
        counts = [[setting[place] for setting in found].count(value) for value in range(len(one.values))]
        assert max(counts) <= 1.5 * min(counts)


@pytest.mark.parametrize(("apart", "pairs"), [(None, 15), (2.0, 15), (2.7, 10), (3.5, 6)])
def test_fewer_pairs_are_kept_where_best_and_default_are_further_apart(apart: float | None, pairs: int) -> None:
    assert pairs_kept(200, apart) == pairs


def test_a_small_search_keeps_no_more_pairs_than_a_sixth_of_its_trials() -> None:
    assert pairs_kept(30, None) == 5
    assert pairs_kept(8, 5.0) == 3


def test_pairs_are_judged_at_fixed_counts_only() -> None:
    assert looks(2) == ()
    assert looks(4) == (4,)
    assert looks(12) == (6, 10)
    assert judge([0.0] * 5, [1.0] * 5, 15) is None


def test_an_interval_covers_the_true_ratio() -> None:
    draw, covered = random.Random(5), 0
    for _ in range(400):
        defaults = [draw.gauss(0, 0.2) for _ in range(6)]
        said = judge(defaults, [draw.gauss(0.3, 0.2) for _ in range(6)], 6)
        assert said is not None
        covered += said.low <= math.exp(0.3) <= said.high
    assert covered / 400 > 0.93


@pytest.mark.parametrize("make", [smooth, two_optima, cliff])
def test_nearly_the_best_is_found_at_a_fifth_of_the_cost_of_all_settings(make: object) -> None:
    """More seeds, larger spaces and other noises are in benchmarks/tuning_simulation.py."""
    assert callable(make)
    surface = make(make_space())
    tuned = [tune(surface, 0.1, seed, int(SHARE * surface.space.size)) for seed in range(2)]
    assert all(one.cost <= SHARE and one.share >= ENOUGH for one in tuned)


def test_eight_trials_come_within_a_tenth_of_the_best_of_half_of_all_hills() -> None:
    good = 0
    for seed in range(20):
        surface, search, done = hill_somewhere(make_space(), seed), Search(make_space(), seed), list[Trial]()
        while len(done) < 8 and (ask := search.next(done, 100)) is not None:
            done.append(Trial(ask.setting, ask.purpose, math.log(surface.value(ask.setting))))
        good += surface.value(search.best(done)) >= 0.9 * surface.best()
    assert good >= 10


def test_equal_settings_are_called_better_in_at_most_one_of_twenty_searches() -> None:
    surface = flat(make_space((2, 3, 3, 2)))
    assert sum(tune(surface, 0.1, seed, 40).improved for seed in range(40)) <= 2


def test_places_of_values_are_equally_far_apart_and_those_without_order_are_not_scaled() -> None:
    found = SMALL.coordinates(np.array([[0, 0], [2, 1], [4, 2]]))
    assert found.tolist() == [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]]
