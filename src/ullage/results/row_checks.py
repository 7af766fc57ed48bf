# SPDX-License-Identifier: Apache-2.0
"""Everything a reader must know of a row besides its number, as stable flags with a reason each."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.message_steps import THROUGH_LOOPBACK
from ullage.analysis.statistics.dependence import INDEPENDENT, Dependence, autocorrelation, outliers
from ullage.analysis.statistics.intervals import Interval, relative_width
from ullage.analysis.verdicts import physics
from ullage.model import flags as codes
from ullage.model.flags import Flag, interval_below
from ullage.model.record import CaseRecord, PhaseRecord, RunRecord
from ullage.model.summary import Ceiling
from ullage.quantity import percent

_SKEW_NS: Final = 1_000_000
_SKEW_SHARE: Final = 0.001  # an error of the stamps below this share of a phase cannot matter
_DRIFT: Final = 0.5
_ENOUGH_FOR_DRIFT: Final = 10
_ENOUGH_FOR_OUTLIERS: Final = 5


_BY_TCP: Final = 0.5  # least share of the bytes
_VERIFIED: Final = re.compile(r"verified (\d+\.\d) % of the bytes read, not all of them")


def verified_note(phases: Sequence[PhaseRecord]) -> list[str]:
    """Say which share of what was read has been verified, where some and not all was: ``kept`` reads the end again."""
    looked_at = [phase for phase in phases if phase.access == "read" and 0 < phase.verified_bytes < phase.bytes]
    if not looked_at:
        return []
    share = sum(phase.verified_bytes for phase in looked_at) / sum(phase.bytes for phase in looked_at)
    return [f"verified {100 * share:.1f} % of the bytes read, not all of them"]


def loopback_note(phases: Sequence[PhaseRecord]) -> list[str]:
    """Say where most bytes of all phases passed the loopback device: messages within a node went by TCP."""
    shares = [
        (phase.contamination.loopback_bytes or 0) / phase.bytes
        for phase in phases
        if phase.contamination is not None and phase.bytes > 0
    ]
    return [THROUGH_LOOPBACK] if shares and min(shares) > _BY_TCP else []


def verified_share(notes: Iterable[str]) -> float | None:
    """Return the share in % that a note of ``verified_note`` tells; None without one."""
    return next((float(found[1]) for note in notes if (found := _VERIFIED.fullmatch(note))), None)


def check_phases(
    phases: Sequence[PhaseRecord], case: CaseRecord, run: RunRecord, *, simulated: bool = False
) -> list[Flag]:
    """Return what repetitions show, each flag once with their number. ``simulated``: idle ranks are no news."""
    seen: dict[str, list[Flag]] = {}
    for phase in phases:
        found = (
            physics.littles_law(phase, case.workload_parameters),
            physics.verification(phase),
            physics.payload_in_time(phase),
            physics.clock_stopped(phase),
            physics.verified_in_time(phase, case.workload_parameters),
            physics.buffers_in_turn(phase, case.workload_parameters),
            physics.stamped_in_groups(phase),
            physics.not_persistent(phase),
            physics.removed_lately(phase, case.workload_parameters),
            physics.too_short(phase, run.clock.read_cost_ns),
            _clocks(phase, run),
        )
        for flag in found:
            if flag is not None and not (simulated and flag.code == codes.IDLE_RANKS):
                seen.setdefault(flag.code, []).append(flag)
    return [Flag(code=code, reason=f"{flags[0].reason}{_of(len(flags), len(phases))}") for code, flags in seen.items()]


def _clocks(phase: PhaseRecord, run: RunRecord) -> Flag | None:
    """Flag stamps that are not known well for what the phase took, where the whole launch is not flagged for it."""
    clock = phase.clock
    if clock is None or run.clock.residual_ns > _SKEW_NS:
        return None
    if clock.residual_ns <= _SKEW_NS or clock.residual_ns <= _SKEW_SHARE * phase.elapsed_ns:
        return None
    reason = f"the offsets of the clocks are known to {clock.residual_ns / 1e6:.1f} ms"
    return Flag(code=codes.CLOCK_SKEW, reason=f"{reason}: one of them jumped" if clock.jumped else reason)


def _of(count: int, total: int) -> str:
    return "" if count == total else f" ({count} of {total} repetitions)"


def check_values(
    values: Sequence[float],
    interval: Interval,
    wanted_width: float | None,
    ceiling: Ceiling | None,
    dependence: Dependence = INDEPENDENT,
) -> list[Flag]:
    """Return the flags of a metric's samples, impossible ones first. ``wanted_width``: relative, of the stop rule."""
    above = None if ceiling is None else physics.above_ceiling(interval.median / ceiling.value, ceiling)
    flags = [above, *_interval(values, interval, wanted_width)]
    if (count := len(values)) > 1 and dependence.correlation > 0:
        found = f"repetitions depend on those before them (correlation {dependence.correlation:.2f} over all cells)"
        flags.append(Flag(code=codes.DEPENDENT, reason=f"{found}: {count} count as {dependence.effective(count):.1f}"))
    flags += _series(values)
    return [flag for flag in flags if flag is not None]


def _interval(values: Sequence[float], interval: Interval, wanted_width: float | None) -> list[Flag]:
    count = len(values)
    flags: list[Flag] = []
    if interval.below_level:
        flags.append(Flag(code=interval_below(interval.level), reason=_range(count, interval.level_reached)))
    width = relative_width(interval)
    if wanted_width is not None and width is not None and (count < 2 or width > wanted_width):
        what = "range" if interval.below_level else "interval"
        known = (
            f"the {what} is +-{percent(width, 1)} after {count} repetitions" if count > 1 else "there is one repetition"
        )
        flags.append(Flag(code=codes.NOT_CONVERGED, reason=f"{known}; +-{percent(wanted_width, 1)} was asked for"))
    return flags


def _range(count: int, reached: float) -> str:
    """Return what stands where an interval would; ``reached``: probability that the range covers the median."""
    if count == 1:
        return "a single repetition has no interval"
    middle = "the value is the mean of 2 repetitions; " if count == 2 else ""
    return f"{middle}the range of {count} repetitions covers the median with a probability of {percent(reached)}"


def _series(values: Sequence[float]) -> list[Flag]:
    count, flags = len(values), list[Flag]()
    if count >= _ENOUGH_FOR_OUTLIERS and (odd := outliers(values)):
        reason = f"{len(odd)} of {count} repetitions {'lies' if len(odd) == 1 else 'lie'} outside Tukey's fences"
        flags.append(Flag(code=f"{codes.OUTLIERS}:{len(odd)}", reason=reason))
    if count >= _ENOUGH_FOR_DRIFT and (autocorrelation(values) or 0.0) > _DRIFT:
        reason = "each repetition is close to the one before: the interval is too narrow"
        flags.append(Flag(code=codes.DRIFTING, reason=reason))
    return flags


def _unpinned(run: RunRecord) -> str:
    """Return why it is so, where the ranks have threads without cores; as the engine's event says it."""
    pinning, threads = run.pinning, run.layout.threads
    if pinning.most_ranks_on_a_node * threads <= pinning.cores_available:
        return f"{pinning.unpinned_ranks} ranks are not bound to a core"
    return "there are fewer cores than threads of the ranks, so the ranks are not bound"


def check_launch(run: RunRecord) -> list[Flag]:
    """Return the flags of the launch: more ranks than cores, ranks that may wander, clocks that are not well known."""
    pinning, clock = run.pinning, run.clock
    flags: list[Flag] = []
    if pinning.oversubscribed:
        cores = f"{pinning.most_ranks_on_a_node} ranks on a node share {pinning.cores_available} cores"
        flags.append(Flag(code=codes.OVERSUBSCRIBED, reason=cores))
    elif pinning.unpinned_ranks > 0 and run.layout.ranks > 1:
        flags.append(Flag(code=codes.UNPINNED, reason=_unpinned(run)))
    if clock.residual_ns > _SKEW_NS:
        flags.append(
            Flag(
                code=codes.CLOCK_SKEW, reason=f"the offsets of the clocks are known to {clock.residual_ns / 1e6:.1f} ms"
            )
        )
    return flags
