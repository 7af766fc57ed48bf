# SPDX-License-Identifier: Apache-2.0
"""What walking the packages finds."""

from ullage import discovery


def test_modules_come_in_order_without_private_ones() -> None:
    names = [module.__name__ for module in discovery.modules_in("ullage.peers")]
    assert names == sorted(names)
    assert "ullage.peers.fio" in names
    assert not any(name.rpartition(".")[2].startswith("_") for name in names)


def test_a_member_is_found_in_the_suites_that_have_it_and_in_no_other() -> None:
    found = {module.__name__ for module in discovery.suite_modules("options")}
    assert "ullage.suites.cpu.options" in found
    assert discovery.suite_modules("no_suite_has_this") == []


def test_what_modules_hold_is_gathered_in_their_order() -> None:
    first, second = (type(discovery)(name) for name in ("first", "second"))
    first.THINGS, second.OTHERS = (1, 2), (3,)  # pyright: ignore[reportAttributeAccessIssue]
    assert discovery.gathered([second, first], "THINGS") == [1, 2]
    second.THING = 0  # pyright: ignore[reportAttributeAccessIssue]
    assert discovery.gathered([second, first], "THINGS") == [0, 1, 2]
