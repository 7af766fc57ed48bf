# SPDX-License-Identifier: Apache-2.0
"""Every official rule, every hole that is closed, and how far each reaches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.flags import flags_of
from ullage.suites.io500.phases import PHASES, Mode, phases_of
from ullage.suites.io500.validity import Conditions, Outcome, Validity, files_to_find, judge_run, merge

GOOD = {
    phase.name: Outcome(1e9 if phase.scored_phase else None, elapsed_s=305.0, found=9 if "find" in phase.name else None)
    for phase in PHASES
}


def _judge(mode: Mode = "standard", conditions: Conditions | None = None, **outcomes: Outcome) -> Validity:
    changed = {name.replace("_", "-"): outcome for name, outcome in outcomes.items()}
    return judge_run({**GOOD, **changed}, conditions or Conditions(), mode)


def test_a_good_run_is_valid() -> None:
    for mode in ("standard", "extended"):
        found = _judge(mode)  # type: ignore[arg-type]
        assert found.phases == {}
        assert found.is_valid("standard")
        assert found.is_valid("extended")


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        (Conditions(stonewall_s=1), "the stonewall of 1 s is below the 300 s of the rules"),
        (Conditions(stonewall_s=301), "the stonewall of 301 s is above the 300 s of the rules"),
        (Conditions(stonewall_s=300, competition=True), "the stonewall of 300 s is above the 30 s of the rules"),
        (Conditions(dry_run=True), "dry run"),
        (Conditions(pause_folder="/tmp/p"), "pause-dir /tmp/p"),
        (Conditions(files_per_directory=10), "files-per-dir was set to 10"),
    ],
)
def test_what_was_asked_voids_the_run_and_no_phase(conditions: Conditions, words: str) -> None:
    found = _judge("extended", conditions)
    assert [words in reason for reason in found.run["standard"]] == [True]
    assert not found.is_valid("extended")
    assert found.phases == {}


def test_the_competition_has_its_own_wall() -> None:
    assert _judge(conditions=Conditions(stonewall_s=30, competition=True)).is_valid()


@pytest.mark.parametrize("name", ["ior_easy_write", "mdtest_easy_write", "ior_hard_write", "mdtest_hard_write"])
@pytest.mark.parametrize("outcome", [Outcome(1e9, elapsed_s=299.9), Outcome(1e9, elapsed_s=301.0, transfer_s=12.0)])
def test_a_write_phase_that_ends_before_the_wall_is_void(name: str, outcome: Outcome) -> None:
    found = _judge(**{name: outcome})
    assert not found.is_valid()
    assert "only, less than the stonewall of 300 s" in found.phases[name.replace("_", "-")][0]


@pytest.mark.parametrize("name", ["ior_hard_read", "mdtest_easy_stat", "find", "mdtest_hard_delete"])
def test_the_other_phases_may_be_as_short_as_they_like(name: str) -> None:
    assert _judge(**{name: Outcome(1e9, elapsed_s=0.01, found=1)}).is_valid()


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(None), "did not run"),
        (Outcome(None, why_not_run="run = FALSE"), "did not run: run = FALSE"),
        (Outcome(0.0), "has a rate of 0"),
        (Outcome(1e9, bad_blocks=1), "read 1 bad block"),
        (Outcome(1e9, failed_operations=256), "met 256 failed operations"),
        (
            Outcome(1e9, failed_operations=1, first_failure="stat x: gone"),
            "1 failed operation, the first: stat x: gone",
        ),
        (Outcome(1e9, wear_out_cut=True), "cut short in its wear-out"),
        (Outcome(1e9, flags=tuple(flags_of("INVALID:above-ceiling", "unpinned"))), "cannot be right: above ceiling"),
        (Outcome(1e9, further=("lost its dataset",)), "lost its dataset"),
    ],
)
def test_what_voids_any_phase_voids_the_run_with_the_reason(outcome: Outcome, words: str) -> None:
    found = _judge(mdtest_hard_read=outcome)
    (reason,) = found.phases["mdtest-hard-read"]
    assert words in reason
    assert found.run["standard"] == (f"mdtest-hard-read {reason}",)


@pytest.mark.parametrize(
    ("outcome", "reasons"),
    [
        (Outcome(1e6, found=0), ("found nothing",)),
        (Outcome(1e6, found=0, wanted=0), ("found nothing",)),
        (Outcome(1e6, found=99, wanted=100), ("found 99 of the 100 files that match",)),
        (Outcome(1e6, found=100, wanted=100), ()),
        (Outcome(1e6, found=101, wanted=100), ()),
        (Outcome(1e6), ()),
    ],
)
def test_find_must_find_all_that_matches(outcome: Outcome, reasons: tuple[str, ...]) -> None:
    assert _judge(find=outcome).phases.get("find", ()) == reasons


def test_the_pilot_voids_itself_only() -> None:
    for outcome in (Outcome(0.0), Outcome(None), Outcome(1.0, bad_blocks=3)):
        found = judge_run({**GOOD, "ior-rnd4K-easy-read": outcome}, Conditions())
        assert list(found.phases) == ["ior-rnd4K-easy-read"]
        assert found.is_valid()
    absent = {name: outcome for name, outcome in GOOD.items() if name != "ior-rnd4K-easy-read"}
    assert judge_run(absent, Conditions()).phases == {}


def test_a_phase_of_the_extended_mode_voids_the_extended_score_only() -> None:
    found = _judge("extended", mdworkbench_create=Outcome(None, failed_operations=1))
    assert found.is_valid("standard")
    assert not found.is_valid("extended")


def test_the_standard_mode_does_not_ask_for_extended_phases() -> None:
    outcomes = {phase.name: GOOD[phase.name] for phase in phases_of("standard")}
    found = judge_run(outcomes, Conditions())
    assert found.is_valid()
    assert list(found.run) == ["standard"]


def test_an_unscored_phase_voids_the_run_when_it_fails() -> None:
    assert not _judge(timestamp=Outcome(None, failed_operations=1)).is_valid()


def test_several_reasons_are_all_said() -> None:
    found = _judge(ior_hard_write=Outcome(1e6, elapsed_s=10, failed_operations=2, wear_out_cut=True))
    assert len(found.phases["ior-hard-write"]) == 3


def test_a_void_round_voids_all_rounds_and_each_reason_is_said_once() -> None:
    bad, good = _judge(find=Outcome(1.0, found=0)), _judge()
    found = merge([good, bad, bad])
    assert found.phases == {"find": ("found nothing",)}
    assert found.run["standard"] == ("find found nothing",)
    assert merge([good, good]).is_valid()


@settings(max_examples=30)
@given(st.integers(0, 130), st.integers(0, 12), st.integers(0, 11_500))
def test_files_to_find_counts_the_names_that_match(first: int, ranks: int, items: int) -> None:
    tried = range(first, first + (ranks if items < 1500 else min(ranks, 1)))
    names = (f"file.mdtest.{rank}.{item}" for rank in tried for item in range(items))
    assert files_to_find(tried.start, tried.stop, items) == sum("01" in name for name in names)


def test_files_to_find_of_a_million_items_on_many_ranks() -> None:
    ranks = sum("01" in str(rank) for rank in range(10_000))
    items = sum("01" in str(item) for item in range(1_000_000))
    assert files_to_find(0, 10_000, 1_000_000) == ranks * 1_000_000 + (10_000 - ranks) * items
