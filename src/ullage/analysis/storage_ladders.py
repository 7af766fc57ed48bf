# SPDX-License-Identifier: Apache-2.0
"""The ladders of storage: which change of a transfer costs how much, from the best of the target down to a row. Pure.

The rows are of any suite that moves bytes. A parameter that a run varied is a step of its ladders, if another value of
it alone was faster.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.ceilings.storage import describe_transfer, direction_of
from ullage.analysis.ladders import LadderRule, Picks, Step, Words, itself, the_ceiling
from ullage.model.summary import Row
from ullage.quantity import format_param

_DEPTH: Final = "queue_depth"
# These follow from others.
_FOLLOWING: Final = frozenset({"nodes"})


@dataclass(frozen=True)
class _Change:
    """A parameter whose value costs something.

    ``what`` and ``advice`` are templates of both values, ``below`` and ``above``. ``with_it``: parameters that change
    with it. ``of_program``: it is the user's program or machine, and no option of our test alone.
    """

    kind: str
    name: str
    what: str
    advice: str = ""
    with_it: tuple[str, ...] = ()
    of_program: bool = True

    def step(self) -> Step:
        """Return the step of a ladder."""
        return Step(
            self.kind, self._said(self.what), self._picks(), advice=self._said(self.advice), may_rank=self.of_program,
            follows=True,
        )  # fmt: skip

    def _picks(self) -> Picks:
        free = _FOLLOWING.union(self.with_it, {self.name})

        def picks(below: Row, row: Row) -> bool:
            differs = self.name in below.params and row.params.get(self.name) != below.params[self.name]
            return differs and _is_better(below, row) and _kept(below, free) == _kept(row, free)

        return picks

    def _said(self, template: str) -> Words:
        def said(above: Row, below: Row) -> str:
            values = {
                side: format_param(self.name, row.params.get(self.name, ""))
                for side, row in (("above", above), ("below", below))
            }
            return template.format_map(values)

        return said


def _kept(row: Row, free: frozenset[str]) -> object:
    return row.suite, row.target, row.metric, {name: value for name, value in row.params.items() if name not in free}


def _is_better(below: Row, row: Row) -> bool:
    """Tell whether ``row`` of the device is the faster one: what is slower explains no gap."""
    return is_of_device(row) and row.metric == below.metric and row.median > below.median


_CHANGES: Final = (
    _Change(
        "order", "order", "The order is {below} instead of {above}.",
        "Let the program transfer in {above} order, or sort its requests before it sends them.", of_program=False,
    ),
    _Change("pattern", "pattern", "The pattern is {below} instead of {above}.",
            "Let the program write what lies together in one call: data sieving, collective calls, or another layout.",
            of_program=False),
    _Change("layout", "layout", "The layout is {below} instead of {above}.", "Use layout {above} in the program."),
    _Change("alignment", "base_bytes", "The data begins at byte {below} of the file instead of {above}.",
            "Align headers and records to 4K."),
    _Change("direct", "direct", "Direct I/O: {below} instead of {above}.", "Set direct I/O (O_DIRECT) to {above}."),
    _Change("sync", "sync", "The sync is {below} instead of {above}.",
            "Sync once at the end where the program allows it. Look whether the target is mounted with option sync."),
    _Change("library", "backend", "The transfers go through {below} instead of {above}.",
            "Use {above}, or tune {below} by its hints.", with_it=("format",)),
    _Change("calls", "calls", "The calls are {below} instead of {above}.", "Use {above} calls in the program."),
    _Change("calls", "transfers", "The transfers are {below} instead of {above}.",
            "Use {above} transfers in the program."),
    _Change("hints", "hint_set", "The MPI-IO hints are {below} instead of {above}.", "Set the MPI-IO hints {above}."),
    _Change("file", "file_mode", "The files are {below} instead of {above}.",
            "Let the ranks use {above} files, or stripe the shared file over more servers."),
    _Change("threads", "threads", "The threads at work are {below} instead of {above}.",
            "Let {above} threads do the I/O."),
    _Change("ranks", "ranks", "The ranks at work are {below} instead of {above}.", "Let {above} ranks do the I/O."),
)  # fmt: skip


def _is_deeper(below: Row, row: Row) -> bool:
    free = _FOLLOWING | {_DEPTH, "ranks", "threads"}
    is_deeper = _DEPTH in below.params and row.count(_DEPTH) > below.count(_DEPTH)
    return is_deeper and _is_better(below, row) and _kept(below, free) == _kept(row, free)


def _has_other_block(below: Row, row: Row) -> bool:
    """Tell whether ``row`` has other blocks; requests of a depth are compared with larger blocks of any depth."""
    free = _FOLLOWING | {"block_bytes"}
    block, other = below.count("block_bytes"), row.count("block_bytes")
    if not block or not other or block == other or not _is_better(below, row):
        return False
    if _DEPTH in below.params and _DEPTH not in row.params:
        free |= {_DEPTH, "backend", "file_mode", "ranks", "threads"}
        return other > block and _kept(below, free) == _kept(row, free)
    return _kept(below, free) == _kept(row, free)


def _of(name: str, template: str) -> Words:
    return lambda above, below: template.format(
        above=format_param(name, above.params.get(name, 1)), below=format_param(name, below.params.get(name, 1))
    )


_BLOCK: Final = Step(
    "block",
    _of("block_bytes", "The blocks are {below} instead of {above}."),
    _has_other_block,
    advice=_of("block_bytes", "Let the program transfer blocks of {above}, or let it buffer up to that size."),
    may_rank=True,
    follows=True,
)
_IN_FLIGHT: Final = Step(
    "depth",
    _of(_DEPTH, "The requests in flight are {below} instead of {above}."),
    _is_deeper,
    advice=_of(_DEPTH, "Keep {above} requests in flight: io_uring, libaio, or more threads of the program."),
    may_rank=True,
    follows=True,
)


def _is_below_link(line: Row, row: Row) -> bool:
    return itself(line, row) and row.ceiling is not None and row.ceiling.kind in ("declared", "detected")


def _limit(row: Row) -> str:
    """Return what a control group allows, as a note of the row says it; nothing without one."""
    return next((note for note in row.notes if note.startswith("a control group limits")), "")


def _drive_text(_above: Row, best: Row) -> str:
    source = "" if best.ceiling is None else f" ({best.ceiling.source})"
    return f"The best settings of this run ({describe_transfer(best)}) stay below the ceiling{source}."


_SYNC: Final = "mounted sync: each change waits until it is on the drive"
MOUNTED_SYNC: Final = f"the file system is {_SYNC}"
IN_USER_SPACE: Final = "the file system is in user space"


def mount_notes(file_system: str | None, options: Iterable[str]) -> list[str]:
    """Return what a mount says of the times of its files; ``file_system`` is its type."""
    notes = [MOUNTED_SYNC] if {"sync", "dirsync"} & set(options) else []
    return [*notes, IN_USER_SPACE] if (file_system or "").startswith("fuse.") else notes


_DRIVE: Final = (
    Step(
        "limit",
        lambda _above, best: f"A{_limit(best)[1:]}.",
        the_ceiling,
        lambda line, row: _is_below_link(line, row) and bool(_limit(row)),
        advice="Raise the limit of the control group (io.max, blkio.throttle), or ask who runs the machine.",
        may_rank=True,
        follows=True,
    ),
    Step(
        "file system",
        lambda _above, best: (
            f"The file system of {best.target} is in user space, and does not reach what the drive can do."
        ),
        the_ceiling,
        lambda line, row: _is_below_link(line, row) and not _limit(row) and IN_USER_SPACE in row.notes,
        advice="Give the program a folder of this drive outside this file system, or mount it by a kernel driver.",
        follows=True,
    ),
    Step(
        "drive",
        _drive_text,
        the_ceiling,
        lambda line, row: _is_below_link(line, row) and not _limit(row) and IN_USER_SPACE not in row.notes,
        advice="Try more ranks, larger blocks and more depth. If nothing helps, compare the drive with others.",
        follows=True,
    ),
)

_TRANSFER_STEPS: Final[Sequence[Step]] = (*_DRIVE, _BLOCK, _IN_FLIGHT, *(change.step() for change in _CHANGES))


def _moves_bytes(row: Row) -> bool:
    return row.unit == "B/s" and bool(direction_of(row))


UNSYNCED: Final = "unsynced_operation_rate"
_SYNCED: Final = "operation_rate"


def _same_case(metric: str) -> Callable[[Row, Row], bool]:
    return lambda line, row: row.metric == metric and (row.case, row.params) == (line.case, line.params)


def _has_own_directories(below: Row, row: Row) -> bool:
    """Tell whether ``row`` is the same work with a directory for each rank."""
    free = frozenset({"unique_directory"})
    is_faster = row.metric == below.metric and row.median > below.median
    own = [one.params.get("unique_directory") for one in (below, row)]
    return own == [False, True] and is_faster and _kept(below, free) == _kept(row, free)


def _file_system_text(_above: Row, below: Row) -> str:
    found = f"The file system of {below.target} makes and finds names more slowly than tmpfs does"
    return f"{found}, and it is {_SYNC}." if MOUNTED_SYNC in below.notes else f"{found}."


def _file_system_advice(_above: Row, below: Row) -> str:
    if MOUNTED_SYNC in below.notes:
        return "Mount it with async (mount -o remount,async DIR), and let programs sync what must not be lost."
    return "Mount with noatime, make fewer and larger files, or keep names that live for a job in /dev/shm."


METADATA_STEPS: Final = (
    Step(
        "file system",
        _file_system_text,
        the_ceiling,
        lambda line, row: _same_case(UNSYNCED)(line, row) or (itself(line, row) and line.metric == _SYNCED),
        advice=_file_system_advice,
        follows=True,
    ),
    Step(
        "journal",
        "The sync at the end, with the journal of the file system, is part of the time.",
        _same_case(UNSYNCED),
        advice="Sync less often, or put the journal on a faster device (mke2fs -O journal_dev, mkfs.xfs -l logdev).",
        may_rank=True,
        follows=True,
    ),
    Step(
        "directory",
        "All ranks work in one directory instead of a directory each.",
        _has_own_directories,
        advice="Give each rank of the program a directory of its own.",
        may_rank=True,
        follows=True,
    ),
)

LADDERS: Final = (
    *(LadderRule(part, _TRANSFER_STEPS, _moves_bytes) for part in ("disk writes", "disk reads")),
    LadderRule("metadata", METADATA_STEPS, lambda row: row.metric == _SYNCED),
)
"""Rules for rows of any suite."""
