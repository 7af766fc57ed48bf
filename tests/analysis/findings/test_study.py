# SPDX-License-Identifier: Apache-2.0
"""What advice may name: the options of the suite that a finding is of."""

from ullage.analysis.findings.study import NOTHING_SETTABLE, Settable

DISK = Settable(frozenset({"--threads", "--block"}), {"ranks": "--threads", "block_bytes": "--block"})


def test_a_change_is_made_by_options_alone() -> None:
    assert DISK.change({"ranks": 2, "block_bytes": 1 << 20}) == "--threads 2 --block 1M"
    assert DISK.can_set({"ranks": 2, "block_bytes": 1 << 20})


def test_another_kind_of_work_is_no_change() -> None:
    """The order of accesses is what is compared: nobody can change to random ones."""
    assert not DISK.can_set({"ranks": 2, "order": "random"})


def test_of_an_import_nobody_knows_the_options() -> None:
    assert NOTHING_SETTABLE.can_set({"ranks": 2, "order": "random"})
