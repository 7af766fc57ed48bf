# SPDX-License-Identifier: Apache-2.0
"""Which signals end a run, and which do not end the writing of its report."""

import os
import signal

import pytest

from ullage.launch.stopping import outlive_warnings
from ullage.runs.session import terminable

WARNINGS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)


@pytest.mark.parametrize("number", [*WARNINGS, signal.SIGINT])
def test_every_request_to_end_interrupts_a_run(number: signal.Signals) -> None:
    with outlive_warnings(), pytest.raises(KeyboardInterrupt), terminable():
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", WARNINGS)
def test_a_warning_does_not_end_what_follows_the_run(number: signal.Signals) -> None:
    arrived: list[int] = []
    before = signal.signal(number, lambda caught, _frame: arrived.append(caught))  # so that a failure ends no process
    try:
        with outlive_warnings():
            with terminable():
                pass
            os.kill(os.getpid(), number)
    finally:
        signal.signal(number, before)
    assert arrived == []


def test_ctrl_c_ends_what_follows_the_run() -> None:
    with outlive_warnings(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
