# SPDX-License-Identifier: Apache-2.0
"""What others take of the time of threads that do fixed work, by quanta of work and by looks at the clock.

Method: fixed work quanta (Sottile and Minnich 2004) and selfish detours (Beckman et al. 2006). The clock's own changes
are taken out of the first, and told by themselves: a slower clock is no noise.
"""

from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import time_each
from ullage.model.record import PhaseRecord

_SHARE: Final = "of time"


def _most(phase: PhaseRecord, name: str) -> float | None:
    gauge = phase.gauges.get(name)
    return None if gauge is None else gauge.most


def _detour_share(phase: PhaseRecord) -> float | None:
    return time_each(phase, "detour_s", "watched_s")


METRICS = (
    Metric(
        "noise_share",
        _SHARE,
        "less",
        "time of fixed work beyond that of its shortest quantum at the same clock, over all of it",
        lambda phase: _most(phase, "noise_share"),
    ),
    Metric(
        "worst_noise_share",
        _SHARE,
        "less",
        "the same of the thread that lost most",
        lambda phase: _most(phase, "worst_noise_share"),
    ),
    Metric(
        "turbo_share",
        _SHARE,
        "less",
        "time of fixed work beyond that of its shortest quantum whatever the clock: noise and the clock's changes",
        lambda phase: _most(phase, "turbo_share"),
    ),
    Metric("detour_share", _SHARE, "less", "time in detours over the time watched, of all threads", _detour_share),
    Metric(
        "longest_detour",
        "s",
        "less",
        "longest time in which a thread that did nothing else could not look at the clock",
        lambda phase: _most(phase, "longest_detour_s"),
    ),
)
