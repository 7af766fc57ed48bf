# SPDX-License-Identifier: Apache-2.0
"""What to change first: the rule by which findings are ranked."""

from ullage.model.summary import Finding, Gain
from ullage.report.changes import change_first


def finding(text: str, gain: Gain | None, suite: str = "disk", kind: str = "") -> Finding:
    return Finding(kind=kind or text, text=text, gain=gain, suite=suite)


def test_the_gain_that_is_sure_ranks_first() -> None:
    lucky = finding("lucky", Gain(factor=9, low=1.05, high=80))
    sure = finding("sure", Gain(factor=2, low=1.9, high=2.1))
    alone = finding("alone", Gain(factor=5))
    nothing = finding("nothing", None)
    worse = finding("worse", Gain(factor=1.1, low=0.9, high=1.3))
    assert [found.text for found in change_first([lucky, nothing, alone, sure, worse])] == ["sure", "alone", "lucky"]
    assert [found.text for found in change_first([lucky, alone, sure], most=1)] == ["sure"]


def test_what_nobody_cares_for_weighs_a_tenth() -> None:
    disk, cpu = finding("disk", Gain(factor=1.2, low=1.1)), finding("cpu", Gain(factor=2, low=1.9), "cpu")
    assert [found.text for found in change_first([disk, cpu], care={"disk"})] == ["disk", "cpu"]
    assert [found.text for found in change_first([disk, cpu])] == ["cpu", "disk"]


def test_a_table_of_many_lines_leaves_room_for_others() -> None:
    lines = [finding(f"line {n}", Gain(factor=9, low=8 - n, high=10), kind="queue-depth") for n in range(4)]
    other = finding("other", Gain(factor=1.2, low=1.1, high=1.3))
    assert [found.text for found in change_first([*lines, other])] == ["line 0", "line 1", "other"]
    elsewhere = finding("elsewhere", Gain(factor=6, low=5, high=7), suite="nvme", kind="queue-depth")
    assert [found.text for found in change_first([*lines, elsewhere])][-1] == "elsewhere"


def test_the_same_change_is_advised_once() -> None:
    """The suite of a kernel and the run of all kernels advise the same, for several files."""
    some = [
        finding(f"line {n}", Gain(factor=9, low=8 - n, high=10)).model_copy(update={"change": "--format raw"})
        for n in range(3)
    ]
    other = finding("other", Gain(factor=1.2, low=1.1, high=1.3), kind="line 0")
    assert [found.text for found in change_first([*some, other])] == ["line 0", "other"]
