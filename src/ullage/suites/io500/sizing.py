# SPDX-License-Identifier: Apache-2.0
"""How much work each writing phase needs so that it lasts longer than its stonewall. Pure.

The sizes are bounds, not volumes: the stonewall ends a phase. So they are several times what the rates of a short probe
ask for, and smaller only where the space is too small for that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.suites.io500.official_config import OfficialConfig
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.planning import HARD_BYTES, SMALL_FILE_BYTES, WORKBENCH_SETS
from ullage.suites.io500.room import Room
from ullage.units import format_volume

SAFETY: Final = 4.0
# Before anything was measured: an ordinary node's storage, and creates of one rank.
_ASSUMED_BYTES_PER_S: Final = 1e9
_ASSUMED_CREATES_PER_S: Final = 20e3
# md-workbench works on what mdtest-easy makes in a minute.
_WORKBENCH_S: Final = 60.0
_WORKBENCH_SHARE: Final = 0.1
# A set that turns over holds one object more than are deleted at a time.
_FEWEST_OBJECTS: Final = 2
_MOST_ITEMS: Final = 10**9


@dataclass(frozen=True)
class Rates:
    """What all ranks together write and make in a second, by official phase; ``basis`` says it to people."""

    by_phase: Mapping[str, float]
    basis: str


def assumed_rates(ranks: int) -> Rates:
    """Before a probe."""
    creates = _ASSUMED_CREATES_PER_S * ranks
    return Rates(
        {
            "ior-easy-write": _ASSUMED_BYTES_PER_S,
            "ior-hard-write": _ASSUMED_BYTES_PER_S,
            "mdtest-easy-write": creates,
            "mdtest-hard-write": creates,
        },
        "assumed, not measured: a probe of a few seconds would choose them",
    )


@dataclass(frozen=True)
class _Wish:
    """Units of work of all ranks that last until the wall, and what a unit takes. ``given``: by the user."""

    phase: str
    units: float
    bytes: int
    files: int
    given: int | None


def choose_sizes(options: Io500Options, rates: Rates, room: Room) -> Sizes:
    """The sizes of one target. ``UserError`` (exit code 3) when not even one unit a rank fits."""
    config, ranks = options.config, options.ranks
    wishes = _wishes(options, rates, room)
    _check_given(wishes, config, room, ranks)
    objects = _workbench_objects(options, rates, room)
    extra = ranks * WORKBENCH_SETS * objects if options.mode == "extended" else 0
    factor = _factor(wishes, Room(room.bytes - extra * room.file_bytes, room.files - extra, room.file_bytes), ranks)
    if factor <= 0:
        what = f"{format_volume(room.bytes)} and {room.files:,} files may be taken, which is too little for any phase"
        raise UserError(what, "--space", "another target, or fewer ranks", EXIT_ENVIRONMENT)
    counts = {wish.phase: wish.given or max(1, int(factor * wish.units / ranks)) for wish in wishes}
    short = [wish.phase for wish in wishes if wish.given is None and factor < 1]
    return Sizes(
        block_bytes=counts["ior-easy-write"] * config.transfer_bytes,
        segments=counts["ior-hard-write"],
        easy_items=min(counts["mdtest-easy-write"], _MOST_ITEMS),
        hard_items=min(counts["mdtest-hard-write"], _MOST_ITEMS),
        workbench_objects=objects,
        short=short,
        basis=rates.basis,
    )


def _wishes(options: Io500Options, rates: Rates, room: Room) -> list[_Wish]:
    config, wall_s = options.config, options.stonewall_s
    blocks = None if config.block_bytes is None else _whole_transfers(config)
    small = max(room.file_bytes, SMALL_FILE_BYTES)
    kinds = (
        ("ior-easy-write", config.transfer_bytes, 0, config.transfer_bytes, blocks),
        ("ior-hard-write", HARD_BYTES, 0, HARD_BYTES, config.segments),
        ("mdtest-easy-write", 0, 1, 1, config.easy_items),
        ("mdtest-hard-write", small, 1, 1, config.hard_items),
    )
    return [
        _Wish(phase, rates.by_phase[phase] * wall_s / of_rate, bytes_, files, given)
        for phase, bytes_, files, of_rate, given in kinds
    ]


def _check_given(wishes: list[_Wish], config: OfficialConfig, room: Room, ranks: int) -> None:
    bytes_ = sum(ranks * (wish.given or 0) * wish.bytes for wish in wishes)
    files = sum(ranks * (wish.given or 0) * wish.files for wish in wishes)
    if bytes_ > room.bytes or files > room.files:
        what = (
            f"its sizes need {format_volume(bytes_)} and {files:,} files for {ranks} ranks, and "
            f"{format_volume(room.bytes)} and {room.files:,} files may be taken"
        )
        right = "smaller ones fit; without blockSize, segmentCount and n a probe chooses"
        raise UserError(what, config.file, right, EXIT_ENVIRONMENT)


def _whole_transfers(config: OfficialConfig) -> int:
    block = config.block_bytes or 0
    if block % config.transfer_bytes:
        what = f"blockSize {block:,} is no multiple of transferSize {config.transfer_bytes:,}"
        raise UserError(what, f"{config.file} [ior-easy]", "make it one")
    return block // config.transfer_bytes


def _factor(wishes: list[_Wish], room: Room, ranks: int) -> float:
    """By how much the wishes are multiplied, at most the safety; below 1 phases end before their wall."""
    factor = SAFETY
    for most, amounts in (
        (room.bytes, [(wish, wish.bytes) for wish in wishes]),
        (room.files, [(wish, wish.files) for wish in wishes]),
    ):
        taken = sum(ranks * (wish.given or 0) * amount for wish, amount in amounts)
        wished = sum(wish.units * amount for wish, amount in amounts if wish.given is None)
        least = sum(ranks * amount for wish, amount in amounts if wish.given is None)
        if wished > 0:
            left = most - taken
            factor = 0.0 if left < least else min(factor, left / wished)
    return factor


def _workbench_objects(options: Io500Options, rates: Rates, room: Room) -> int:
    """Of each set of each rank: a minute's worth, and never so many that the phases of the score lack room."""
    if options.config.workbench_objects is not None:
        return options.config.workbench_objects
    seconds = min(_WORKBENCH_S, options.stonewall_s)
    wished = ceil(rates.by_phase["mdtest-easy-write"] * seconds)
    most = int(min(room.files, room.bytes // room.file_bytes) * _WORKBENCH_SHARE)
    return max(_FEWEST_OBJECTS, min(wished, most) // options.ranks // WORKBENCH_SETS)
