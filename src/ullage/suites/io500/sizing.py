# SPDX-License-Identifier: Apache-2.0
"""How much work each writing phase needs so that it lasts longer than its stonewall.

The sizes are bounds, not volumes: the stonewall ends a phase, and what is not reached costs nothing. So they are many
times what the rates of a short probe ask for, and smaller only where the space is too small for that: bytes limit the
phases that write bytes, files those that make files. The probe works until a wall of a second in the way of each
writing phase, with all the ranks of the run, since that is what decides the rates. What it leaves lies in ``probe/`` of
the result, apart from what is measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from ullage.analysis.metrics.arithmetic import per_second, stage_span_ns
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Target
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.results.folder import PROBE
from ullage.results.records import AnyRecord
from ullage.runs.execution import LaunchSpec
from ullage.runs.room import Room
from ullage.runs.session import Ended, Session
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.planning import HARD_BYTES, SMALL_FILE_BYTES, WORKBENCH_SETS, Step, make_plan, make_steps
from ullage.units import format_operations, format_rate, format_volume

# Data is written at what a device takes, so a second tells much; names are made faster once a file system is warm.
SAFETY: Final = 4.0
SAFETY_OF_FILES: Final = 20.0
# The most items of a rank are no fewer than this, which the official tool takes when nothing is said.
FEWEST_ITEMS: Final = 1_000_000
# Where room is short a phase gets this much more than its rate asks for, before others get their whole safety.
_LEAST_MARGIN: Final = 1.25
# These are assumed before anything was measured: an ordinary node's storage, and creates of one rank.
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
    """Return the rates that are assumed before a probe."""
    creates = _ASSUMED_CREATES_PER_S * ranks
    writing = [phase for phase in phases_of("standard") if phase.needs_minimum_time]
    rates = {phase.name: _ASSUMED_BYTES_PER_S if phase.is_bandwidth else creates for phase in writing}
    return Rates(rates, "assumed, not measured: a probe of a few seconds would choose them")


@dataclass(frozen=True)
class _Wish:
    """Units of work of all ranks that last until the wall, and what a unit takes. ``given``: of a rank, by the user.

    ``most``: units beyond which nothing is gained.
    """

    phase: str
    units: float
    most: float
    bytes: int
    files: int
    given: int | None


def choose_sizes(options: Io500Options, rates: Rates, room: Room) -> Sizes:
    """Choose the sizes of one target; raise ``UserError`` (exit code 3) when not even one unit a rank fits."""
    config, ranks = options.config, options.ranks
    wishes = _wishes(options, rates, room)
    bytes_ = sum(ranks * (wish.given or 1) * wish.bytes for wish in wishes)
    files = sum(ranks * (wish.given or 1) * wish.files for wish in wishes)
    # The given sizes, and one unit a rank of each other phase, are more than the room.
    are_cut = any(wish.given for wish in wishes) and (bytes_ > room.bytes or files > room.files)
    if are_cut:
        # The wall ends a phase: sizes beyond the room are bounds that nobody means to reach.
        bounds = [wish.most if wish.given is None else float(wish.given * ranks) for wish in wishes]
        wishes = [replace(wish, given=None, most=most) for wish, most in zip(wishes, bounds, strict=True)]
    objects = _workbench_objects(options, rates, room)
    extra = ranks * WORKBENCH_SETS * objects if options.mode == "extended" else 0
    left = Room(room.bytes - extra * room.file_bytes, room.files - extra, room.file_bytes)
    units = _units(wishes, left, ranks)
    counts = {wish.phase: wish.given or max(1, int(units[wish.phase] / ranks)) for wish in wishes}
    # By these rates the phases last so long; a size is whole units of every rank.
    wall_s = options.stonewall_s
    lasts = {wish.phase: counts[wish.phase] * ranks / wish.units * wall_s for wish in wishes if wish.units > 0}
    short = {phase: s for phase, s in lasts.items() if s < 0.99 * wall_s and phase not in config.skipped}
    return Sizes(
        block_bytes=counts["ior-easy-write"] * config.transfer_bytes,
        segments=counts["ior-hard-write"],
        easy_items=min(counts["mdtest-easy-write"], _MOST_ITEMS),
        hard_items=min(counts["mdtest-hard-write"], _MOST_ITEMS),
        workbench_objects=objects,
        short=list(short),
        short_s=list(short.values()),
        basis=f"{rates.basis}; the sizes of {config.file} are cut to the room" if are_cut else rates.basis,
    )


def _wishes(options: Io500Options, rates: Rates, room: Room) -> list[_Wish]:
    config, ranks, blocks = options.config, options.ranks, None
    if config.block_bytes is not None:
        if config.block_bytes % config.transfer_bytes:
            what = f"blockSize {config.block_bytes:,} is not a multiple of transferSize {config.transfer_bytes:,}"
            raise UserError(what, f"{config.file} [ior-easy]", "make it one")
        blocks = config.block_bytes // config.transfer_bytes
    small = max(room.file_bytes, SMALL_FILE_BYTES)
    found: list[_Wish] = []
    # What a unit takes in bytes and files, how much of the rate, and the units that are given.
    for phase, bytes_, files, of_rate, given in (
        ("ior-easy-write", config.transfer_bytes, 0, config.transfer_bytes, blocks),
        ("ior-hard-write", HARD_BYTES, 0, HARD_BYTES, config.segments),
        ("mdtest-easy-write", 0, 1, 1, config.easy_items),
        ("mdtest-hard-write", small, 1, 1, config.hard_items),
    ):
        units = rates.by_phase[phase] * options.stonewall_s / of_rate
        most = max(SAFETY_OF_FILES * units, float(FEWEST_ITEMS * ranks)) if files else SAFETY * units
        found.append(_Wish(phase, units, most, bytes_, files, given))
    return found


def _units(wishes: list[_Wish], room: Room, ranks: int) -> dict[str, float]:
    """Return the units of all ranks by phase, for sizes not given; raise ``UserError`` when a phase gets none.

    Bytes are divided first: files for which there are no bytes are left to the phase whose files are empty.
    """
    wanted = [wish for wish in wishes if wish.given is None]
    kinds = (
        (room.bytes, {wish.phase: wish.bytes for wish in wishes}),
        (room.files, {wish.phase: wish.files for wish in wishes}),
    )
    found = {wish.phase: wish.most for wish in wanted}
    for most, amounts in kinds:
        left = most - sum(ranks * (wish.given or 0) * amounts[wish.phase] for wish in wishes)
        takers = [wish for wish in wanted if amounts[wish.phase]]
        if sum(ranks * amounts[wish.phase] for wish in takers) > left:
            may = f"{format_volume(room.bytes)} and {room.files:,} files may be taken"
            right = "another target, or fewer ranks"
            raise UserError(f"{may}, which is too little for any phase", "--space", right, EXIT_ENVIRONMENT)
        demands = {wish.phase: (min(wish.units, found[wish.phase]), found[wish.phase]) for wish in takers}
        found |= _shares(demands, amounts, left)
    return found


def _shares(demands: Mapping[str, tuple[float, float]], amounts: Mapping[str, int], room: float) -> dict[str, float]:
    """Divide ``room`` and return units by name.

    ``demands`` gives the units that are needed and those of which more are no use, ``amounts`` what a unit takes.

    All get what they need with a small margin, or where that does not fit the same part of it. What is then left goes
    to the least demands first: their whole safety costs little.
    """
    needed = sum(least * amounts[name] for name, (least, _) in demands.items()) * _LEAST_MARGIN
    factor = _LEAST_MARGIN * min(1.0, room / needed) if needed > 0 else 0.0
    found = {name: min(factor * least, most) for name, (least, most) in demands.items()}
    more = {name: (demands[name][1] - found[name]) * amounts[name] for name in demands}
    left = room - sum(found[name] * amounts[name] for name in found)
    names = sorted(more, key=lambda name: more[name])
    for index, name in enumerate(names):
        taken = min(more[name], max(0.0, left) / (len(names) - index))
        found[name] += taken / amounts[name]
        left -= taken
    return found


def _workbench_objects(options: Io500Options, rates: Rates, room: Room) -> int:
    """Return the objects in each set of each rank: as given, else a minute's worth.

    They are never so many that the phases of the score lack room.
    """
    if options.config.workbench_objects is not None:
        return options.config.workbench_objects
    seconds = min(_WORKBENCH_S, options.stonewall_s)
    wished = ceil(rates.by_phase["mdtest-easy-write"] * seconds)
    most = int(min(room.files, room.bytes // room.file_bytes) * _WORKBENCH_SHARE)
    return max(_FEWEST_OBJECTS, min(wished, most) // options.ranks // WORKBENCH_SETS)


_WALL_S: Final = 1.0
# A probe's share of the room, and the most it may write, which must not take long to sync: of all ranks together, or of
# each where there are many, so that none has too few transfers to tell a rate. Items likewise: they are removed before
# the run, and some file systems look past removed files for minutes.
_ROOM_SHARE: Final = 0.05
_PROBE_BYTES: Final = 1 << 30
_PROBE_BYTES_OF_A_RANK: Final = 64 << 20
_PROBE_ITEMS: Final = 20_000
_PROBE_ITEMS_OF_A_RANK: Final = 500
_PATIENCE_S: Final = 120.0


class CalibrationError(UserError):
    """The probe could not be made; ``ended`` says how it went."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message, "probe", "give blockSize, segmentCount and n in --config", ended.code)
        self.ended = ended


def probe_options(options: Io500Options) -> Io500Options:
    """Return options that run only what writes, until a near wall, and nothing that the file leaves out."""
    writing = {phase.name for phase in phases_of("standard") if phase.needs_minimum_time}
    skipped = [phase.name for phase in phases_of("standard") if phase.name not in writing]
    config = options.config.model_copy(update={"skipped": sorted({*skipped, *options.config.skipped})})
    wall_s = min(_WALL_S, options.stonewall_s)
    update = {"mode": "standard", "stonewall_s": wall_s, "repeat": 1, "time_s": None, "keep": False, "config": config}
    return options.model_copy(update={**update, "resumable": False})


def probe_sizes(options: Io500Options, room: Room) -> Sizes:
    """Return the sizes of a probe: enough to tell rates, but a small part of the room and few names."""
    ranks, config = options.ranks, options.config
    bytes_ = min(max(_PROBE_BYTES // ranks, _PROBE_BYTES_OF_A_RANK), int(room.bytes * _ROOM_SHARE) // ranks)
    items = max(_PROBE_ITEMS // ranks, _PROBE_ITEMS_OF_A_RANK)
    small = min(items, int(min(room.files, room.bytes // room.file_bytes) * _ROOM_SHARE) // ranks)
    empty = min(items, int(room.files * _ROOM_SHARE) // ranks)
    transfer = config.transfer_bytes
    return Sizes(
        block_bytes=max(1, min(bytes_, config.block_bytes or bytes_) // transfer) * transfer,
        segments=max(1, min(bytes_ // HARD_BYTES, config.segments or bytes_)),
        easy_items=max(1, min(empty, config.easy_items or empty)),
        hard_items=max(1, min(small, config.hard_items or small)),
    )


def read_rates(steps: Sequence[Step], records: Iterable[AnyRecord], ranks: int) -> Rates:
    """Return rates by phase from the records of a probe; a phase without any keeps what was assumed.

    The rate until the wall counts, or that of the transfers when they ran out of work before. What was synced after
    them is left out: data that memory takes now is written later, and sizes that are too large cost nothing.
    """
    phases = {step.case.id: step.phase for step in steps}
    rates = dict(assumed_rates(ranks).by_phase)
    said: list[str] = []
    for record in records:
        if not isinstance(record, PhaseRecord) or record.status != "ok":
            continue
        phase = phases.get(record.case)
        if phase is not None and record.phase == phase.scored_phase and (rate := _rate(record, phase)) > 0:
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
    session: Session,
    request: Request,
    options: Io500Options,
    target: Target,
    layout: Layout,
    room: Room,
    folders: Sequence[str] = (),
) -> Rates:
    """Measure what ``target`` writes and makes in a second; raise ``CalibrationError`` if the launch fails."""
    folder = session.result.path / PROBE / f"{request.targets.index(target) + 1:03}"
    reduced = probe_options(options)
    steps = probe_steps(reduced, target, layout, room, session.engine_context.description)
    if not steps:
        return assumed_rates(options.ranks)
    plan = make_plan(request, reduced, steps, layout, LaunchSpec(0, str(folder / "records.ndjson")), folders)
    plan = plan.model_copy(update={"run_id": f"{plan.run_id[:58]}-probe", "watchdog_s": _PATIENCE_S})
    ended, records = session.launch_apart(folder, plan)
    if not ended.may_go_on:
        raise CalibrationError(ended)
    # A phase that fails here fails in the run too, which says why.
    return read_rates(steps, records, options.ranks)


def probe_steps(options: Io500Options, target: Target, layout: Layout, room: Room, description: Describe) -> list[Step]:
    """Return the writing phases, with little to write; ``options`` are those of ``probe_options``."""
    return make_steps(options, target, probe_sizes(options, room), layout, description, options.stonewall_s)
