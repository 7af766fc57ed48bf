# SPDX-License-Identifier: Apache-2.0
"""How much work each writing phase needs so that it lasts longer than its stonewall.

The sizes are bounds, not volumes: the stonewall ends a phase. So they are several times what the rates of a short probe
ask for, and smaller only where the space is too small for that. The probe writes a little in the way of each writing
phase, with all the ranks of the run, since that is what decides the rates. What it leaves lies in ``probe/`` of the
result, apart from what is measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from ullage.analysis.metrics.arithmetic import per_second, stage_span_ns
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Target
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.results.records import AnyRecord
from ullage.runs.execution import LaunchSpec
from ullage.runs.room import Room
from ullage.runs.session import Ended, Session
from ullage.suites.io500.config import OfficialConfig
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.planning import HARD_BYTES, SMALL_FILE_BYTES, WORKBENCH_SETS, Step, make_plan, make_steps
from ullage.units import format_operations, format_rate, format_volume

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
    """Objects in each set of each rank: a minute's worth, and never so many that the phases of the score lack room."""
    if options.config.workbench_objects is not None:
        return options.config.workbench_objects
    seconds = min(_WORKBENCH_S, options.stonewall_s)
    wished = ceil(rates.by_phase["mdtest-easy-write"] * seconds)
    most = int(min(room.files, room.bytes // room.file_bytes) * _WORKBENCH_SHARE)
    return max(_FEWEST_OBJECTS, min(wished, most) // options.ranks // WORKBENCH_SETS)


_WALL_S: Final = 1.0
# A probe's share of the room, and the most it may make: it must not take long to sync and to remove.
_ROOM_SHARE: Final = 0.05
_PROBE_BYTES: Final = 1 << 30
_PROBE_ITEMS: Final = 50_000
_PATIENCE_S: Final = 120.0


class CalibrationError(UserError):
    """The probe could not be made; ``ended`` says how it went."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message, "probe", "give blockSize, segmentCount and n in --config", ended.code)
        self.ended = ended


def probe_options(options: Io500Options) -> Io500Options:
    """Only what writes, until a wall that is near, and never what the file lets nobody run."""
    writing = {phase.name for phase in phases_of("standard") if phase.needs_minimum_time}
    skipped = [phase.name for phase in phases_of("standard") if phase.name not in writing]
    config = options.config.model_copy(update={"skipped": sorted({*skipped, *options.config.skipped})})
    wall_s = min(_WALL_S, options.stonewall_s)
    update = {"mode": "standard", "stonewall_s": wall_s, "repeat": 1, "time_s": None, "keep": False, "config": config}
    return options.model_copy(update={**update, "resumable": False})


def probe_sizes(options: Io500Options, room: Room) -> Sizes:
    """Enough for a second of most machines, and little enough for any."""
    bytes_ = min(_PROBE_BYTES, int(room.bytes * _ROOM_SHARE)) // options.ranks
    items = min(_PROBE_ITEMS, int(room.files * _ROOM_SHARE), int(room.bytes * _ROOM_SHARE) // room.file_bytes)
    transfer = options.config.transfer_bytes
    return Sizes(
        block_bytes=max(1, bytes_ // transfer) * transfer,
        segments=max(1, bytes_ // HARD_BYTES),
        easy_items=max(1, items // options.ranks),
        hard_items=max(1, items // options.ranks),
    )


def read_rates(steps: Sequence[Step], records: Iterable[AnyRecord], ranks: int) -> Rates:
    """Rates by phase from the records of a probe; a phase without any keeps what was assumed.

    The rate until the wall counts, or that of the transfers when they ran out of work before, without what was synced
    after them: data that memory takes now is written later, and sizes that are too large cost nothing.
    """
    phases = {step.case.id: step.phase for step in steps}
    rates = dict(assumed_rates(ranks).by_phase)
    said: list[str] = []
    for record in records:
        phase = phases.get(record.case) if isinstance(record, PhaseRecord) else None
        if phase is None or not isinstance(record, PhaseRecord) or record.phase != phase.scored_phase:
            continue
        rate = _rate(record, phase)
        if record.status == "ok" and rate > 0:
            rates[phase.name] = rate
            shown = format_rate(rate) if phase.is_bandwidth else format_operations(rate)
            said.append(f"{phase.name} {shown}")
    return Rates(rates, f"probed: {', '.join(said)}" if said else assumed_rates(ranks).basis)


def _rate(record: PhaseRecord, phase: OfficialPhase) -> float:
    whole = record.bytes if phase.is_bandwidth else record.operations
    spans = [(whole, record.elapsed_ns), (whole, stage_span_ns(record.stages.get("transfer")))]
    if record.stonewall is not None:
        wall = record.stonewall.at_wall
        spans.append((wall.bytes if phase.is_bandwidth else wall.operations, wall.elapsed_ns))
    return max((per_second(amount, elapsed_ns) or 0.0) for amount, elapsed_ns in spans)


def run_probe(
    session: Session, request: Request, options: Io500Options, target: Target, layout: Layout, room: Room
) -> Rates:
    """What ``target`` writes and makes in a second. ``CalibrationError`` when the launch fails as a whole."""
    folder = session.result.path / "probe" / f"{request.targets.index(target) + 1:03}"
    reduced = probe_options(options)
    steps = probe_steps(reduced, target, layout, room, session.engine_context.description)
    if not steps:
        return assumed_rates(options.ranks)
    plan = make_plan(request, reduced, steps, layout, LaunchSpec(0, str(folder / "records.ndjson")))
    plan = plan.model_copy(update={"run_id": f"{plan.run_id[:58]}-probe", "watchdog_s": _PATIENCE_S})
    ended, records = session.launch_apart(folder, plan)
    if not ended.may_go_on:
        raise CalibrationError(ended)
    # A phase that fails here fails in the run too, which says why.
    return read_rates(steps, records, options.ranks)


def probe_steps(options: Io500Options, target: Target, layout: Layout, room: Room, description: Describe) -> list[Step]:
    """The writing phases, with little to write; ``options`` as of ``probe_options``."""
    return make_steps(options, target, probe_sizes(options, room), layout, description, options.stonewall_s)
