# SPDX-License-Identifier: Apache-2.0
"""Hints that the MPI library was given and did not use: counted by place, key and value, and said once."""

from ullage.analysis.findings.hints import not_used, refused_hints


def test_only_hints_that_were_once_not_in_use_as_given_are_kept() -> None:
    uses = [("a", "x", "1", "1"), ("a", "y", "2", ""), ("a", "y", "2", "2"), ("b", "x", "1", "7")]
    assert refused_hints(uses) == {("a", "y", "2"): ["", "2"], ("b", "x", "1"): ["7"]}


def test_what_was_used_instead_and_how_often_is_said() -> None:
    some = not_used("k", ("y", "2"), ["", "2"], "phase", " on a", target="a")
    assert some.text == "The MPI library was given the hint y = 2 on a and did not use it in 1 of 2 phases."
    assert some.numbers == {"target": "a", "key": "y", "given": "2", "granted": "", "phases": 1, "of": 2}
    other = not_used("k", ("x", "1"), ["7"], "pattern", label="b: ")
    assert other.text == "b: The MPI library was given the hint x = 1 and used 7 instead."
