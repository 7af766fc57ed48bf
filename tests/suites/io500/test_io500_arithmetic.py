# SPDX-License-Identifier: Apache-2.0
"""A table against its own arithmetic."""

from ullage.suites.io500.arithmetic import arithmetic_findings, contradictions, doubted, score_reason

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
