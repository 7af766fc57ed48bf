# SPDX-License-Identifier: Apache-2.0
"""Did the bytes of a phase come from, or reach, the storage, or did memory of this machine stand in for it?

Which counter is used: the process's own (/proc/self/io) before the block device's, which also counts what others
do; for writes only the device's, since the kernel counts a process's writes when pages become dirty and not when
they leave; the wire bytes of a network client before both, and they prove the client only. Pages that were resident
before the phase decide where process and device disagree.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from ullage.model.record import Moved, PhaseRecord, Resident
from ullage.quantity import percent
from ullage.units import format_volume

VerdictKind: TypeAlias = Literal["none", "memory", "cold", "direct", "synced", "mixed", "cached", "warm", "unknown"]

# A share from here on counts as all, one up to its complement as nothing: counters include a little of other work.
WHOLE: Final = 0.95
# The kinds are in order: from what promises most of the storage to what promises least.
_ORDER: Final[tuple[VerdictKind, ...]] = (
    "none",
    "cold",
    "direct",
    "synced",
    "memory",
    "mixed",
    "cached",
    "warm",
    "unknown",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says what was really measured.

    ``text`` stands beside the number; ``share``: of the bytes asked for that moved on the storage, if known.
    """

    text: str
    kind: VerdictKind
    share: float | None = None
    reasons: tuple[str, ...] = ()


NOTHING_BEHIND: Final = Verdict("none", "none")


def read_verdict(share: float, reasons: Sequence[str]) -> Verdict:
    """Return ``cold``, ``mixed 37 %`` (the share that came from the storage) or ``warm``."""
    if share >= WHOLE:
        return Verdict("cold", "cold", share, tuple(reasons))
    if share <= 1 - WHOLE:
        return Verdict("warm", "warm", share, tuple(reasons))
    return Verdict(f"mixed {percent(share)}", "mixed", share, tuple(reasons))


def combine_verdicts(verdicts: Sequence[Verdict], *, are_repetitions: bool = True) -> Verdict:
    """Make one verdict of the repetitions behind a row: the median share where all know one, else the weakest.

    Where repetitions differ the first reason says how often each was met. ``are_repetitions``: false where it may be
    something else that differs, of which no reason tells. Raise ValueError without verdicts.
    """
    if not verdicts:
        raise ValueError("no verdicts")
    kinds = Counter(verdict.kind for verdict in verdicts)
    weakest = max(verdicts, key=lambda verdict: _ORDER.index(verdict.kind))
    reasons = list(dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons))
    if len(kinds) > 1:
        met = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        reasons = [f"repetitions differ: {met}", *reasons] if are_repetitions else reasons
    else:
        # Counters of each repetition would fill the page; the one nearest the median stands for them.
        reasons = list(_typical(verdicts).reasons)
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    if kinds.keys() <= frozenset({"cold", "mixed", "warm"}) and len(shares) == len(verdicts):
        return read_verdict(median(shares), reasons)
    chosen = weakest if len(kinds) > 1 else _typical(verdicts)
    return Verdict(chosen.text, chosen.kind, chosen.share, tuple(reasons))


def _typical(verdicts: Sequence[Verdict]) -> Verdict:
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    if not shares:
        return verdicts[0]
    middle = median(shares)
    return min((v for v in verdicts if v.share is not None), key=lambda v: abs((v.share or 0.0) - middle))


_MEMORY_FILE_SYSTEMS: Final = frozenset({"memory", "tmpfs", "ramfs", "hugetlbfs"})
_AGREE: Final = 0.2
NO_STORAGE: Final = Verdict("none", "none", None, ("no storage is behind this target",))
DAX: Final = Verdict(
    "direct (dax)",
    "direct",
    None,
    ("the files are on persistent memory (DAX): no page cache stands before it, so nothing is cold or warm",),
)
# These phases change no name.
_LOOKING: Final = frozenset({"stat", "read", "readdir", "find", "open", "access"})


def cache_verdict(
    phase: PhaseRecord, *, memory_target: bool = False, remote_target: bool = False, holds_data: bool = True
) -> Verdict:
    """Return the verdict of one phase.

    ``memory_target``: the target is held in memory, like a tmpfs. ``remote_target``: a network file system.
    ``holds_data``: false for targets without a place, whose bytes nobody keeps.
    """
    if phase.access == "none" or not holds_data:
        return NOTHING_BEHIND if phase.access == "none" else NO_STORAGE
    if memory_target or phase.file_system in _MEMORY_FILE_SYSTEMS:
        return Verdict("memory", "memory", None, ("the target is held in memory: no storage was measured",))
    if phase.access == "metadata":
        return _names(phase, remote=remote_target)
    return DAX if phase.dax else _bytes(phase, remote_target=remote_target)


def _bytes(phase: PhaseRecord, *, remote_target: bool) -> Verdict:
    """Return the verdict of bytes that a page cache may stand before, by counters."""
    moved = phase.moved
    if moved is None or moved.requested_bytes <= 0:
        return Verdict("unknown", "unknown", None, ("no counter of moved bytes was recorded",))
    if remote_target or moved.client_bytes is not None:
        return _remote(phase, moved)
    return _read(phase, moved) if phase.access == "read" else _write(phase, moved)


def _names(phase: PhaseRecord, *, remote: bool) -> Verdict:
    """Return the verdict of work on names.

    No counter tells where an inode came from; the phase, and what was dropped before it, do.
    """
    if remote:
        return Verdict("unknown(server)", "unknown", None, ("what the server had in memory cannot be seen from here",))
    if phase.phase in _LOOKING and phase.cache_control == "drop":
        return Verdict("cold", "cold", None, ("inodes and directories were dropped from memory before",))
    if phase.phase in _LOOKING:
        reason = "names that were made just before: inodes and directories were in memory, and nothing dropped them"
        return Verdict("warm", "warm", None, (reason,))
    if phase.syncs > 0:
        return Verdict("synced", "synced", None, (f"{phase.syncs} syncs stand in its time",))
    return Verdict("cached", "cached", None, ("no sync, so changes may still be in memory",))


def _read(phase: PhaseRecord, moved: Moved) -> Verdict:
    requested = moved.requested_bytes
    process, device = moved.process_bytes, moved.device_bytes
    if process is None and device is None:
        return _without_counters(phase.resident)
    if device is None and process is not None and process < WHOLE * requested:
        # File systems without a block device may fetch bytes without charging them to the process.
        return _without_counters(phase.resident, f"the process was charged with {format_volume(process)} only")
    reasons: list[str] = []
    bytes_ = _believed(phase, moved, reasons)
    share = bytes_ / requested
    reasons.insert(0, f"{format_volume(bytes_)} of {format_volume(requested)} came from the device")
    reasons.extend(_more_than_asked(share, "read", "read-ahead or smallest unit of the device"))
    reasons.extend(_resident_reasons(phase))
    if phase.cache_control == "direct" and share < WHOLE:
        reasons.append("read past the page cache, yet not from the device: holes, or a cache below the file system")
    return read_verdict(min(share, 1.0), reasons)


def _more_than_asked(share: float, done: str, causes: str) -> list[str]:
    """Say what a share that stands at 100 % leaves out."""
    return [f"{share:.1f} times what was asked was {done}: {causes}"] if share > 1 + (1 - WHOLE) else []


def _believed(phase: PhaseRecord, moved: Moved, reasons: list[str]) -> int:
    """Return the bytes by the counter that is trusted; a disagreement is appended to ``reasons``."""
    process, device = moved.process_bytes, moved.device_bytes
    if process is None or device is None:
        return process if process is not None else device or 0
    a, b = min(process / moved.requested_bytes, 1.0), min(device / moved.requested_bytes, 1.0)
    if abs(a - b) <= 1 - WHOLE:
        return process
    both = f"the process was charged with {format_volume(process)}, the device moved {format_volume(device)}"
    absent = None if phase.cache_control == "direct" else _absent_share(phase.resident)
    if absent is not None and abs(absent - b) <= _AGREE < abs(absent - a):
        reasons.append(
            f"{both}: the count of the device is used, {percent(absent)} of the pages were not in memory before"
        )
        return device
    reasons.append(f"{both}: others may use it, so the process's own count is used")
    return process


def _absent_share(resident: Resident | None) -> float | None:
    if resident is None or resident.source == "none" or resident.total_pages <= 0:
        return None
    return 1 - min(resident.before_pages / resident.total_pages, 1.0)


def _resident_reasons(phase: PhaseRecord) -> list[str]:
    absent = _absent_share(phase.resident)
    if absent is None or phase.cache_control == "direct" or absent >= WHOLE:
        return []
    return [f"{percent(1 - absent)} of the data was in the page cache before"]


def _without_counters(resident: Resident | None, why: str = "no counter of this file system could be read") -> Verdict:
    """Judge by resident pages alone: they prove that memory answered, never that storage did."""
    absent = _absent_share(resident)
    if absent is not None and absent <= 1 - WHOLE:
        return Verdict("warm", "warm", None, (f"{percent(1 - absent)} of the data was in the page cache before",))
    return Verdict("unknown", "unknown", None, (why,))


def _remote(phase: PhaseRecord, moved: Moved) -> Verdict:
    requested = moved.requested_bytes
    wire = moved.client_bytes if moved.client_bytes is not None else moved.process_bytes
    direction = "came over" if phase.access == "read" else "went over"
    if wire is None:
        return Verdict("unknown(server)", "unknown", None, ("no client counter could be read",))
    share = min(wire / requested, 1.0)
    said = f"{format_volume(wire)} of {format_volume(requested)} {direction} the wire"
    if share >= WHOLE:
        state = "client cold, server unknown" if phase.access == "read" else "sent to the server, its disks unknown"
        more = _more_than_asked(wire / requested, "moved", "read-ahead, calls sent again, or others of this client")
        return Verdict("unknown(server)", "unknown", share, (f"{state}: {said}", *more))
    if moved.client_bytes is None:
        return Verdict("unknown(server)", "unknown", None, (f"no client counter could be read; {said} by the process",))
    if phase.access == "read":
        return read_verdict(share, (f"this client's memory answered the rest: {said}",))
    return Verdict("cached", "cached", share, (f"the rest stayed in this client's memory: {said}",))


def _write(phase: PhaseRecord, moved: Moved) -> Verdict:
    share, said, more = None, "no counter of the device could be read", list[str]()
    if moved.device_bytes is not None:
        written = moved.device_bytes / moved.requested_bytes
        share = min(written, 1.0)
        said = f"{format_volume(moved.device_bytes)} of {format_volume(moved.requested_bytes)} reached the device"
        more = _more_than_asked(written, "written", "others wrote too, or journal and smallest unit of the file system")
    if phase.syncs > 0 or _syncs_each_file(phase):
        return _synced(share, said, more)
    if phase.cache_control == "direct":
        return Verdict("direct", "direct", share, (f"past the page cache, without a sync: {said}", *more))
    dirty = phase.resident.dirty_after_pages if phase.resident is not None else 0
    left = (f"{dirty} pages were not yet written afterwards",) if dirty else ()
    return Verdict("cached", "cached", share, (f"no sync, so bytes may still be in memory: {said}", *more, *left))


def _syncs_each_file(phase: PhaseRecord) -> bool:
    """Tell whether a sync stands in the time of every file: some workloads sync each file before they close it."""
    counters = phase.counters
    synced, files = phase.latency_parts.get("sync"), counters.get("states", counters.get("files", 0))
    return synced is not None and 0 < files <= synced.operations


def _synced(share: float | None, said: str, more: Sequence[str]) -> Verdict:
    if share is None or share >= WHOLE:
        return Verdict("synced", "synced", share, (said, *more))
    reason = f"synced, yet {said}: compressed, deduplicated, or written by a lower device than the one counted"
    return Verdict(f"partly synced {percent(share)}", "mixed", share, (reason,))
