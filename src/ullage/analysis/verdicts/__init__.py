# SPDX-License-Identifier: Apache-2.0
"""What was really measured, with reasons: where the bytes moved, and whether the numbers are possible at all."""

from ullage.analysis.verdicts.cache import NOTHING_BEHIND, Verdict, VerdictKind, cache_verdict, combine_verdicts
from ullage.analysis.verdicts.physics import (
    above_ceiling,
    buffers_in_turn,
    clock_stopped,
    littles_law,
    not_persistent,
    payload_in_time,
    removed_lately,
    stamped_in_groups,
    too_short,
    verification,
    verified_in_time,
)

__all__ = [
    "NOTHING_BEHIND",
    "Verdict",
    "VerdictKind",
    "above_ceiling",
    "buffers_in_turn",
    "cache_verdict",
    "clock_stopped",
    "combine_verdicts",
    "littles_law",
    "not_persistent",
    "payload_in_time",
    "removed_lately",
    "stamped_in_groups",
    "too_short",
    "verification",
    "verified_in_time",
]
