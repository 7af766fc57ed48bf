# SPDX-License-Identifier: Apache-2.0
"""What a reader must know of a row besides its number: flags, and the codes that more than one part makes or asks for.

A code that a single suite or importer makes is declared there.
"""

from collections.abc import Iterable
from typing import Annotated, Final

from ullage.model.base import Strict, doc

# A number with a flag of this kind is no speed at all.
INVALID: Final = "INVALID"
INVALID_ABOVE_CEILING: Final = f"{INVALID}:above-ceiling"
INVALID_LITTLES_LAW: Final = f"{INVALID}:littles-law"
INVALID_VERIFICATION: Final = f"{INVALID}:verification-failed"
INVALID_NOTHING_ARRIVED: Final = f"{INVALID}:nothing-arrived"

# These flags tell how the work went.
IDLE_RANKS: Final = "idle-ranks"
PAYLOAD_IN_TIME: Final = "payload-in-time"
PREPARATION_IN_TIME: Final = "preparation-in-time"
CLOCK_STOPPED: Final = "clock-stopped"
VERIFIED_IN_TIME: Final = "verified-in-time"
BUFFERS_IN_TURN: Final = "buffers-in-turn"
TOO_SHORT: Final = "too-short"
STAMPED_IN_GROUPS: Final = "stamped-in-groups"
NOT_PERSISTENT: Final = "not-persistent"
REMOVED_LATELY: Final = "removed-lately"
NO_HUGE_PAGES: Final = "no-huge-pages"

# The rate is more than its number of threads times what one thread does. Caches may explain it, noise usually does.
ABOVE_THREADS: Final = "above-threads"

# These flags tell what the launch was like.
CLOCK_SKEW: Final = "clock-skew"
OVERSUBSCRIBED: Final = "oversubscribed"
UNPINNED: Final = "unpinned"

# These flags tell what the repetitions are worth. After the colon of the first two stands how many it is about.
DIRTY_USED: Final = "dirty-used"
OUTLIERS: Final = "outliers"
DRIFTING: Final = "drifting"
DEPENDENT: Final = "dependent"
NOT_CONVERGED: Final = "not-converged"
_INTERVAL_BELOW: Final = "interval-below-"
_OF_REPETITIONS: Final = frozenset({DIRTY_USED, OUTLIERS, DRIFTING, DEPENDENT})


def interval_below(level: float = 0.95) -> str:
    """Return the code of an interval that covers the median with less than ``level``: ``interval-below-95``."""
    return f"{_INTERVAL_BELOW}{round(level * 100)}"


class Flag(Strict):
    """Something to know of a row besides its number, and why it is said of this row."""

    code: Annotated[str, doc("stable: a kind, with a colon and a detail where it has one")]
    reason: Annotated[str, doc("empty where the verdict's reasons say it")] = ""

    @property
    def kind(self) -> str:
        """The code without its detail."""
        return self.code.partition(":")[0]

    @property
    def detail(self) -> str:
        """What follows the colon; empty without one."""
        return self.code.partition(":")[2]

    @property
    def is_invalid(self) -> bool:
        """Whether the number is no speed at all."""
        return self.kind == INVALID

    @property
    def is_below_level(self) -> bool:
        """Whether it says that what stands for the interval is the range of too few repetitions."""
        return self.code.startswith(_INTERVAL_BELOW)

    @property
    def is_of_repetitions(self) -> bool:
        """Whether it tells of the repetitions as samples, and not of how they were taken."""
        return self.kind in _OF_REPETITIONS or self.is_below_level


def each_once(flags: Iterable[Flag]) -> list[Flag]:
    """Keep one flag of each code: the place is the first one's, the reason the last one's."""
    return list({flag.code: flag for flag in flags}.values())
