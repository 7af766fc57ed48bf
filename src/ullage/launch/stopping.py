# SPDX-License-Identifier: Apache-2.0
"""Signals that ask a run to end: Ctrl-C, a batch system's, and that of a terminal that is gone."""

import contextlib
import errno
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Generator
from typing import Final

# Batch systems warn by SIGTERM or, where people ask for it, by SIGUSR1.
_NUMBERS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


@contextlib.contextmanager
def stop_signals(act: Callable[[int], None], numbers: tuple[signal.Signals, ...] = _NUMBERS) -> Generator[None]:
    """Call ``act`` with each of ``numbers`` that arrives meanwhile. Outside the main thread they stay with that.

    SIGHUP stays ignored where it is (``nohup``), and is passed on once: a shell that ends sends it, and then the kernel
    does. What goes to a terminal that is gone goes nowhere from then on, instead of failing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hung_up = False

    def hear(number: int, _frame: object) -> None:
        nonlocal hung_up
        if number == signal.SIGHUP:
            leave_lost_terminals()
            if hung_up:
                return
            hung_up = True
        act(number)

    heard = [one for one in numbers if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN]
    before = [(number, signal.signal(number, hear)) for number in heard]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def outlive_warnings() -> contextlib.AbstractContextManager[None]:
    """Keep a lost terminal and a batch system's warning from ending what is short; Ctrl-C still ends it."""
    return stop_signals(lambda _number: None, (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1))


def leave_lost_terminals() -> None:
    """Let output and errors go nowhere where they went to a terminal that has hung up."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if _is_lost(stream.fileno()):
                nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _is_lost(descriptor: int) -> bool:
    """Tell whether this is a terminal that has hung up: it answers EIO; what is no terminal has another error."""
    try:
        termios.tcgetattr(descriptor)
    except termios.error as error:
        return error.args[0] == errno.EIO
    return False
