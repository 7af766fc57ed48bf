# SPDX-License-Identifier: Apache-2.0
"""Options that every suite has that repeats cells on storage targets within a time, as they stand in request.json."""

from ullage.runs.options.groups import CeilingOptions, IntervalOptions, Seconds, SpaceOptions


class RunOptions(CeilingOptions, IntervalOptions, SpaceOptions):
    """Sizes in bytes, times in s. ``watchdog_s`` is an option of the suites that have it (``WatchdogOptions``)."""

    watchdog_s: Seconds | None = None
