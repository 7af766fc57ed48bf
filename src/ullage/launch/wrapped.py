# SPDX-License-Identifier: Apache-2.0
"""A shell around each rank, which says how the rank has ended where its launcher does not say which one it was."""

import re
import signal
from typing import Final

from ullage.launch.base import DeadRank

_ENDED: Final = re.compile(
    r"^.*?ullage: rank (?P<rank>\d+) on (?P<node>\S+) ended by signal (?P<signal>\d+)$", re.MULTILINE
)


def wrapper(rank: str) -> tuple[str, ...]:
    """Return the words before a rank's own. ``rank``: its number, as a word of the shell: ``$PMI_RANK``.

    The parent of a rank knows how it has ended before its launcher does. It then ends by the same signal itself,
    without a second core dump.
    """
    script = (
        '"$@"; code=$?; [ $code -gt 128 ] || exit $code; ulimit -c 0; '
        f'echo "ullage: rank {rank} on $(uname -n) ended by signal $((code - 128))" >&2; kill -$((code - 128)) $$'
    )
    return ("/bin/sh", "-c", script, "rank")


def ended_ranks(stderr: str) -> list[DeadRank]:
    """Return the ranks that their shells report, in the order of the reports."""
    return [
        DeadRank(int(told["rank"]), told["node"], f"signal {told['signal']} ({signal.strsignal(int(told['signal']))})")
        for told in _ENDED.finditer(stderr)
    ]


def first_ended(stderr: str) -> list[DeadRank]:
    """Return the rank that ended first by a signal which launchers do not send to those that are left."""
    found = ended_ranks(stderr)
    own = [one for one in found if not one.cause.startswith((f"signal {signal.SIGTERM} ", f"signal {signal.SIGHUP} "))]
    return (own or found)[:1]
