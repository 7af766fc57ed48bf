# SPDX-License-Identifier: Apache-2.0
import threading

from steps.ahead import BuildsAhead
from steps.process import StepError


def test_presets_are_built_in_order_while_others_work() -> None:
    may_go_on = threading.Event()
    built: list[str] = []

    def build(preset: str) -> None:
        assert may_go_on.wait(10)
        built.append(preset)

    with BuildsAhead(["mpich", "asan"], build) as ahead:
        ahead.start()
        assert not built
        may_go_on.set()
        ahead.wait_for("asan")
        assert built == ["mpich", "asan"]
        ahead.start()
        ahead.wait_for("asan")
    assert built == ["mpich", "asan"]


def test_what_was_never_begun_or_is_not_to_be_built_is_not_waited_for() -> None:
    built: list[str] = []
    with BuildsAhead(["asan"], built.append) as ahead:
        ahead.wait_for("asan")
        ahead.wait_for("openmpi")
    assert not built


def test_a_build_that_fails_is_left_to_whoever_needs_it() -> None:
    tried: list[str] = []

    def build(preset: str) -> None:
        tried.append(preset)
        if preset == "mpich":
            raise StepError(preset)

    with BuildsAhead(["mpich", "asan"], build) as ahead:
        ahead.start()
        ahead.wait_for("mpich")
        ahead.wait_for("asan")
    assert tried == ["mpich", "asan"]
