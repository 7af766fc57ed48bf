# SPDX-License-Identifier: Apache-2.0
"""A short launch that writes a little in the way of each writing phase, to choose sizes that last until the wall.

It runs with all the ranks of the run, since that is what decides the rates. What it leaves lies in ``probe/`` of the
result, apart from what is measured.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.metrics.arithmetic import per_second, stage_span_ns
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Target
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.results.records import AnyRecord
from ullage.runs.session import Ended, Session
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.planning import HARD_BYTES, LaunchSpec, Step, make_plan, make_steps
from ullage.suites.io500.room import Room
from ullage.suites.io500.sizing import Rates, assumed_rates
from ullage.units import format_operations, format_rate

_WALL_S: Final = 1.0
# Of the room, and at most: a probe must not take long to sync and to remove.
_ROOM_SHARE: Final = 0.05
_MOST_BYTES: Final = 1 << 30
_MOST_ITEMS: Final = 50_000
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
    bytes_ = min(_MOST_BYTES, int(room.bytes * _ROOM_SHARE)) // options.ranks
    items = min(_MOST_ITEMS, int(room.files * _ROOM_SHARE), int(room.bytes * _ROOM_SHARE) // room.file_bytes)
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
