# SPDX-License-Identifier: Apache-2.0
"""Carries out the steps of a test run: one after the other, and some aside with what those leave of the processors."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Literal

from steps.counts import Counts, failure
from steps.process import StepError, say

LEAST_URGENT = 19
# The end of a build is one long unit and a link, and some checks use one core: another step has what they leave.
ASIDE_AT_ONCE = 2


@dataclass(frozen=True)
class Step:
    """A part of a test run that is said and counted by itself.

    ``how``: ``alone`` while nothing else is at work, ``in turn``, or ``aside``, two at a time in the order of the list.
    The steps aside begin with the first one in turn, so those alone stand first. ``needs``: names of steps aside that
    have to be over before.
    """

    name: str
    run: Callable[[], Counts]
    how: Literal["alone", "in turn", "aside"] = "in turn"
    needs: tuple[str, ...] = ()


def carry_out(steps: Sequence[Step]) -> Counts:
    """Run every step, whatever became of the others, and return the sum."""
    total = Counts()
    aside: dict[str, Future[Counts]] = {}
    # On Linux niceness is of a thread, and the programs that it starts inherit it.
    with ThreadPoolExecutor(ASIDE_AT_ONCE, initializer=os.nice, initargs=(LEAST_URGENT,)) as pool:
        for step in (step for step in steps if step.how != "aside"):
            if step.how != "alone" and not aside:
                aside = {later.name: pool.submit(_counted, later) for later in steps if later.how == "aside"}
            wait([aside[name] for name in step.needs])
            say(f"{step.name} ...")
            total += _counted(step)
    return sum((future.result() for future in aside.values()), total)


def _counted(step: Step) -> Counts:
    started = time.monotonic()
    try:
        counted = step.run()
    except StepError as error:
        say(str(error))
        counted = failure(f"{step.name}: {error}")
    if counted != Counts():
        say(f"{step.name}: {counted} ({time.monotonic() - started:.1f} s)")
    return counted
