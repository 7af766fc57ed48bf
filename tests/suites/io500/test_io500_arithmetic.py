# SPDX-License-Identifier: Apache-2.0
"""A table against its own arithmetic."""

from ullage.suites.io500.validity import arithmetic_findings, contradictions, doubted, score_reason

GIB = float(1 << 30)


def test_phases_that_handle_the_same_items_agree() -> None:
    whole = {"mdtest-easy-write": (1000.0, 300.0), "mdtest-easy-stat": (3000.0, 100.0), "find": (9e6, 1.0)}
    assert contradictions(whole) == []
    # What was cut by its time and completed afterwards is no contradiction.
    assert contradictions({**whole, "mdtest-easy-delete": (1000.0, 160.0)}) == []
    assert score_reason([]) == []


def test_what_does_not_agree_is_named_with_its_amounts() -> None:
    (found,) = contradictions({"ior-hard-write": (GIB, 300.0), "ior-hard-read": (GIB, 30.0)})
    assert (found.dataset, found.amounts["ior-hard-read"]) == ("ior-hard", 30 * GIB)
    assert doubted([found]) == {"ior-hard-write", "ior-hard-read"}
    (said,) = arithmetic_findings([found], "")
    assert said.text.startswith("the phases on ior-hard handle the same items, but their rate x time does not agree")
    assert "ior-hard-read 30.0 GiB" in said.text


def test_more_than_the_write_made_is_no_contradiction() -> None:
    """The times of SC23's submission-694 (IO500/submission-data): its delete holds the removal of the tree."""
    names = ("write", "stat", "read", "delete")
    times = (310.345, 98.370, 158.025, 1311.076)
    rates = (4570099.5, 14538068.8, 9002882.7, 8426188.2)
    hard = {f"mdtest-hard-{name}": (rate, s) for name, rate, s in zip(names, rates, times, strict=True)}
    assert contradictions(hard) == []
    # A stat of which 9 of 52 s are the stat (submission-728).
    assert contradictions({"mdtest-hard-write": (33e3, 323.0), "mdtest-hard-stat": (1154e3, 52.464)}) == []
    # Without a write nobody knows how many there were.
    assert contradictions({name: pair for name, pair in hard.items() if name != "mdtest-hard-write"}) == []


def test_the_second_that_phases_sleep_contradicts_nothing() -> None:
    """A short official run: 1 s of its write and delete each is sleep, the stat takes longer."""
    short = {"mdtest-easy-write": (30e3, 1.3), "mdtest-easy-stat": (3e3, 4.0), "mdtest-easy-delete": (30e3, 6.0)}
    assert contradictions(short) == []
