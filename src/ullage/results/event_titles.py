# SPDX-License-Identifier: Apache-2.0
"""Headings of events, by their code; an event of another engine has its code as words."""

from typing import Final

_TITLES: Final = {
    "blocks-left-out": "Some block sizes were left out",
    "budget": "The time ended before the intervals were narrow enough",
    "caches-unknown": "The kernel does not state its caches",
    "case-failed": "A case failed",
    "clock-residual": "The clocks of the ranks are not well known",
    "clock-skew": "The clocks of the nodes differ",
    "cpu-quota": "A control group limits the CPU time",
    "cut-short": "A launch ended without its last record",
    "interrupted": "A launch was interrupted",
    "launch-ended": "A launch ended before its cases did",
    "left-behind": "Files were left at the target",
    "loopback": "Both ranks are on one node",
    "made-again": "A data set was made again",
    "no-blas": "No BLAS was found",
    "no-queue-depth": "Small requests come from threads, one in flight each",
    "one-thread": "Only one thread was used",
    "oversubscribed": "More ranks than cores",
    "page-cache": "The page cache takes part",
    "peer-failed": "Another tool failed",
    "peer-not-available": "Other tools cannot run beside this",
    "peer-other-mpi": "The other tool uses another MPI",
    "read-back-own": "Every rank reads its own data",
    "read-back-same-node": "Ranks read data of their own node",
    "size-aligned": "Sizes were changed for direct I/O",
    "sizes-left-out": "Some message sizes were left out",
    "small-sets": "Memory for large sets is lacking",
    "time-too-short": "The time was too short for all repetitions",
    "timeout": "A rank made no progress",
    "try-failed": "A trial failed",
    "unpinned": "Ranks are not bound to cores",
    "unreadable-record": "A record cannot be read",
    "verified-in-time": "Reads are verified within the measured time",
}


def title_of(code: str) -> str:
    """``More ranks than cores``."""
    return _TITLES.get(code) or code.replace("-", " ").capitalize()
