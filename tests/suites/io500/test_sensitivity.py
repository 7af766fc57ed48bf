# SPDX-License-Identifier: Apache-2.0
"""What a phase does to the total, against the formula applied again; and what the sentences claim."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.data import some
from ullage.suites.io500.phases import GIB, scored_phases
from ullage.suites.io500.score import explain, families, movers, number, score, sensitivity, show
from ullage.suites.io500.summarise import change_finding, score_findings, void_findings
from ullage.suites.io500.validity import Validity

NAMES = [phase.name for phase in scored_phases("standard")]
VALUES = {name: (2.0 * GIB if name.startswith("ior") else 50_000.0) for name in NAMES}
any_values = st.lists(st.floats(1e-3, 1e12), min_size=12, max_size=12).map(lambda v: dict(zip(NAMES, v, strict=True)))


def _total(values: dict[str, float]) -> float:
    total = score(values).total
    assert total is not None
    return total


@given(any_values)
def test_gain_and_loss_are_what_the_formula_gives(values: dict[str, float]) -> None:
    total = _total(values)
    for influence in some(sensitivity(values)):
        assert _total(values | {influence.phase: influence.value * 1.1}) / total == pytest.approx(influence.gain)
        assert influence.others is not None
        assert _total(values | {influence.phase: influence.others}) / total == pytest.approx(influence.loss)


def test_ten_percent_moves_the_total_by_1_2_or_0_6_percent() -> None:
    gains = {influence.phase: influence.gain for influence in sensitivity(VALUES)}
    assert gains["ior-hard-write"] == pytest.approx(1.1 ** (1 / 8))
    assert gains["find"] == pytest.approx(1.1 ** (1 / 16))
    extended = VALUES | {"find-easy": 1.0, "find-hard": 1.0, "mdworkbench-bench": 1.0}
    assert {influence.phase: influence.power for influence in sensitivity(extended, "extended")}[
        "find"
    ] == pytest.approx(1 / 22)


def test_levers_stand_in_official_order_and_a_phase_that_did_not_run_has_none() -> None:
    assert [influence.phase for influence in sensitivity(VALUES)] == NAMES
    without = {name: value for name, value in VALUES.items() if name != "find"} | {"mdtest-easy-stat": 0.0}
    assert {influence.phase for influence in sensitivity(without)} == set(NAMES) - {"find", "mdtest-easy-stat"}
    assert sensitivity(without)[1].power == pytest.approx(1 / 12)


def test_a_lone_phase_has_no_others_to_be_compared_with() -> None:
    (influence,) = sensitivity({"ior-hard-read": 1.0 * GIB})
    assert (influence.others, influence.loss) == (None, None)


@given(any_values)
def test_a_family_at_the_mean_of_the_others_gives_what_it_says(values: dict[str, float]) -> None:
    for family in some(families(values)):
        factor = family.others / family.mean
        raised = values | {name: values[name] * factor for name in family.phases}
        assert _total(raised) / _total(values) == pytest.approx(family.loss)


@given(any_values, any_values)
def test_moves_multiply_to_the_ratio_of_the_totals(first: dict[str, float], second: dict[str, float]) -> None:
    found = movers(first, second)
    assert math.prod(one.factor for one in found) == pytest.approx(_total(second) / _total(first))


def test_the_family_that_holds_the_score_is_named_and_others_are_not() -> None:
    values = VALUES | {"ior-hard-write": 0.021 * GIB, "ior-hard-read": 0.3 * GIB}
    head, sentence = explain(values)
    assert head.endswith(". ior-hard lowers it most.")
    assert sentence.startswith("ior-hard-write reaches 0.02100 GiB/s; the geometric mean of ior-hard is ")
    assert "that of the other bandwidth phases 2.000 GiB/s" in sentence
    assert f"the total would be {number(_total(VALUES))}" in sentence


def test_two_families_that_lose_alike_are_both_named() -> None:
    values = VALUES | {name: VALUES[name] / 100 for name in NAMES if "hard" in name}
    assert ". ior-hard and mdtest-hard lower it most." in explain(values)[0]


def test_a_family_that_loses_half_as_much_as_the_first_is_named_however_little_that_is() -> None:
    values = VALUES | {name: VALUES[name] / 2.2 for name in NAMES if name.startswith("ior-hard")}
    values |= {name: VALUES[name] / 1.5 for name in NAMES if name.startswith("mdtest-hard")}
    head, first, second = explain(values)
    assert ". ior-hard and mdtest-hard lower it most." in head
    assert first.startswith("ior-hard-")
    assert second.startswith("mdtest-hard-")
    assert families(values)[1].loss < 1.2 < families(values)[0].loss


def test_find_is_a_family_of_its_own() -> None:
    head, sentence = explain(VALUES | {"find": 0.5})
    assert head.endswith(". find lowers it most.")
    assert "together" not in sentence


def test_even_phases_lose_nothing_and_no_phases_explain_nothing() -> None:
    (only,) = explain(VALUES)
    assert "No phase is far below" in only
    assert explain({}) == []
    assert explain({"find": 1.0}) == []


def test_a_change_is_told_by_the_phases_that_made_it() -> None:
    found = change_finding(VALUES, VALUES | {"ior-hard-write": 512.0 * GIB, "find": 25_000.0}, ("a", "b"))
    assert found.text == (
        "From a to b IO500 changes by 1.92 x: 2.00 x from ior-hard-write (its rate: 256 x) and 0.96 x from find "
        "(its rate: 0.50 x)."
    )
    assert change_finding(VALUES, VALUES, ("a", "b")).text.endswith("1.00 x: no part changed.")


def test_findings_hold_the_numbers_they_rest_on() -> None:
    values = VALUES | {"ior-hard-write": 0.021 * GIB}
    first = score_findings(values, target="scratch")[0]
    assert first.text.startswith("scratch: ")
    assert first.numbers["total"] == pytest.approx(_total(values))
    assert first.numbers["phase"] == NAMES
    change = change_finding(VALUES, values, ("a", "b"))
    assert change.text.startswith("From a to b IO500 changes by 0.57 x: 0.57 x from ior-hard-write (its rate: 0.011 x)")
    assert score_findings({}) == []


def test_void_phases_are_said_with_their_reach() -> None:
    found = [
        *void_findings(
            Validity(
                {"find": ("found nothing",), "find-easy": ("did not run",), "ior-rnd4K-easy-read": ("has a rate of 0",)}
            )
        )
    ]
    assert [finding.severity for finding in found] == ["warning"] * 3
    assert found[0].text == "find does not count: it found nothing."
    assert "Only the extended score is void" in found[1].text
    assert "the run is valid without it" in found[2].text


def test_numbers_have_four_digits_and_commas() -> None:
    assert [number(value) for value in (0.021, 3.5061, 284.7268, 13342.9, 0.0)] == [
        "0.02100",
        "3.506",
        "284.7",
        "13,343",
        "0.0",
    ]
    assert show("find", 21_780_030.0) == "21,780 kIOPS"
