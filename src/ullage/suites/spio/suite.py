# SPDX-License-Identifier: Apache-2.0
"""Suite ``spio``: its options, its cases (places, ranks, whose files are read), their volume, and its rows."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.grouping import grouped
from ullage.launch.base import fewest_nodes
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Limits, Parameters, Scalar, Target
from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.results.rows import RowContext, join
from ullage.runs.cells.backends import DIRECT, cache_and_verify, direct_of, storage_backend
from ullage.runs.cells.planning import Cell, Sizing, Way, make_cell, way_of
from ullage.runs.cells.prepared import Asked, Preparing, backend_text, inexact_volumes, layouts_of, plan_columns
from ullage.runs.cells.volume import LARGEST_BYTES, most_to_choose, share_bytes
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import MaybeVolume, StorageOptions, default_ranks
from ullage.runs.options.kinds import Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.reading import read_options
from ullage.runs.options.settings import VERIFY, Backend
from ullage.runs.room import Machine
from ullage.runs.session import Note
from ullage.runs.told import Launches, Source, cached_share, summarising, told_rows, usual
from ullage.suites.spio.findings import RATE, findings_of
from ullage.units import format_bytes, format_volume

Operation: TypeAlias = Literal["write", "read", "neighbour", "reread"]

OPERATIONS: Final[tuple[Operation, ...]] = ("write", "read", "neighbour", "reread")


class SpioOptions(StorageOptions):
    """The options of suite ``spio``. ``volume``: bytes of all files of a case; null: by the rule of ``cells``."""

    metrics = "bandwidth fastest_rank_time slowest_rank_time open_time sync_time"
    usual_ranks = staticmethod(default_ranks)
    changes = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="powers of 2 up to the number of cores, at least 1,2,4"),
        "time_s": Change(usual="4h", quick="30s"),
        "quick": Change("Take a first look in 30 s: a volume of 128M."),
    }

    operations: Annotated[
        list[Operation],
        Option(
            "Measure any of write, read (own files), neighbour (files of ranks on the next node) and reread.",
            name="--operation",
            usual="write,read,neighbour,reread",
        ),
    ]
    volume: Annotated[
        MaybeVolume,
        Option(
            "Give all files of a case together this size.",
            unsaid="the larger of 128GB and 3 times all memory, as far as there is room, or 4G with --cache direct",
            quick="128M",
            sets=("volume", "volume_bytes"),
        ),
    ] = None
    block: Annotated[
        int, Field(ge=8, multiple_of=8), Size(8), Option("Transfer blocks of this size.", sets=("block_bytes",))
    ] = 1 << 20
    cache: Annotated[
        Literal["none", "advise", "drop", "direct"],
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the data), drop "
            "(all caches, root only), or direct (O_DIRECT). Nothing is done before rereads."
        ),
    ] = "advise"
    verify: Annotated[Literal["none", "kept", "full"] | None, VERIFY] = None
    backend: Backend = "posix"

    @model_validator(mode="after")
    def _has_neighbours(self) -> Self:
        if self.operations == ["neighbour"] and self.ranks == [1]:
            raise OptionError("ranks", "a single rank has no neighbour", "write --ranks 2, or another --operation")
        return self


# The aggregate volume of SPIOBENCH as published. Later machines have more memory than that, so its share counts too.
PUBLISHED_BYTES: Final = 128_000_000_000
MEMORIES: Final = 3
OWN: Final = "own"
# The engine takes the next rank where there is one node, and the record says so.
NEIGHBOUR: Final = "other-node"


def usual_volume(options: SpioOptions, memory_bytes: int | None, nodes: int) -> int:
    """Return the bytes of all files by the rule: max(128 GB, 3 x memory of ``nodes``), or 4 GiB past the page cache.

    ``memory_bytes``: of one node; None where it is not known, which leaves 128 GB.
    """
    if options.cache == DIRECT:
        return LARGEST_BYTES
    return max(PUBLISHED_BYTES, MEMORIES * nodes * (memory_bytes or 0))


def fitted_volume(volume_bytes: int, options: SpioOptions, most_bytes: int) -> int:
    """Return ``volume_bytes`` or ``most_bytes``, whichever is less, in whole blocks of every number of ranks.

    It is rounded up where there is room for that, else down; one block for each rank is the least.
    """
    unit = math.lcm(*options.ranks) * options.block
    if unit > volume_bytes:
        unit = max(options.ranks) * options.block
    rounded = -(-volume_bytes // unit) * unit
    return rounded if rounded <= most_bytes else max(most_bytes // unit * unit, max(options.ranks) * options.block)


def make_cells(asked: Asked[SpioOptions]) -> list[Cell]:
    """Return every combination; raise ``UserError`` for what the engine would refuse."""
    options, volume = asked.options, cast("int", asked.options.volume)
    return [
        make_cell(way, layout, options.block, share_bytes(volume, layout.ranks, options.block))
        for layout in asked.layouts
        for target in asked.targets
        for way in _ways(options, target, layout.ranks, asked.description)
    ]


def _ways(options: SpioOptions, target: Target, ranks: int, description: Describe) -> Iterator[Way]:
    """Yield how a target is measured: a case that reads its own files, and one that reads those of neighbours.

    These are two cases, so that no rank reads as its neighbour's what its node has read before.
    """
    found = storage_backend(target, options.backend, description)
    chosen = found.name, direct_of(found, options.cache)
    own = [word for word in ("read", "reread") if word in options.operations]
    if own or "write" in options.operations:
        # A reread follows a read, also where only the reread is asked for.
        phases = ["write", "read", "reread"] if "reread" in own else ["write", *own]
        yield way_of(target, chosen, _workload(options, found, phases, OWN), description)
    if "neighbour" in options.operations and ranks > 1:
        yield way_of(target, chosen, _workload(options, found, ["write", "read"], NEIGHBOUR), description)


def _workload(options: SpioOptions, backend: Registered, phases: list[str], read_back: str) -> Parameters:
    return {
        "phases": [*phases],
        "file_mode": "per-process",
        "read_back": read_back,
        "sync": "close",
        **cache_and_verify(backend, options.cache, options.verify, "kept"),
    }


def is_of_neighbours(values: Values) -> bool:
    """Tell whether a case with these parameters reads the files of neighbours."""
    return values["read_back"] != OWN


_COLUMNS: Final = plan_columns(
    "target backend ranks reads_files_of phases a_rank data files",
    backend=backend_text,
    reads_files_of=lambda cell: "a neighbour" if is_of_neighbours(cell.values) else "its own",
    a_rank=lambda cell: format_volume(cell.dataset_bytes / cell.layout.ranks),
)


def _settle(options: SpioOptions, machine: Machine) -> tuple[SpioOptions, str]:
    """Find a volume by the rule, as far as there is room."""
    if options.cache == "drop" and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    if options.volume is not None:
        return options, f"volume {format_volume(options.volume)} for every number of ranks, as asked"
    layouts, limits = layouts_of(options, machine), Limits(space_bytes=options.space)
    wanted = usual_volume(options, machine.memory.total_bytes, max(layout.nodes or 1 for layout in layouts))
    most = most_to_choose(machine.places, limits, machine.memory, fewest_nodes(layouts))
    volume = fitted_volume(wanted, options, most)
    rule = "direct I/O" if options.cache == DIRECT else f"128 GB or {MEMORIES} x memory"
    rule += ", as far as there is room" if volume < wanted else ""
    text = f"volume {format_volume(volume)} for every number of ranks ({rule})"
    return options.model_copy(update={"volume": volume}), text


def _lines(asked: Asked[SpioOptions], cells: Sequence[Cell]) -> list[str]:
    options = asked.options
    lines = [f"Each rank has one file and transfers {format_bytes(options.block)} blocks of it in order."]
    if "write" in options.operations:
        lines.append("The time of a write includes an fsync of every file.")
    if "neighbour" in options.operations:
        lines.append("Ranks read the file of the same rank on the next node, or that of the next rank on one node.")
        lines.append("The case for this writes its files first. That write is not reported a second time.")
    if "neighbour" in options.operations and 1 in options.ranks:
        lines.append(
            "A single rank has no neighbour. Rates of neighbours' files are compared with its read of its own."
        )
    if 1 not in options.ranks:
        lines.append("Without 1 among --ranks, nothing is compared with 1 rank.")
    if "reread" in options.operations:
        lines.append("A reread follows the read at once. Caches may answer it, as its verdict then says.")
    if options.cache == "none" and {"read", "neighbour"} & {*options.operations}:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return [*lines, *inexact_volumes(cells, [cast("int", options.volume)] * len(cells))]


def _notes(asked: Asked[SpioOptions], cells: Sequence[Cell]) -> list[Note]:
    """Return a note where the memory of the nodes can hold what the files have."""
    machine, volume = asked.machine, cast("int", asked.options.volume)
    total, in_memory = machine.memory.total_bytes, all(place.is_memory for place in machine.places)
    # Only a batch system knows the nodes of a layout that states none.
    nodes = max(cell.layout.nodes or 1 for cell in cells)
    if asked.options.cache == DIRECT or in_memory or total is None or volume >= MEMORIES * nodes * total:
        return []
    text = f"the volume of {format_volume(volume)} is less than {MEMORIES} times the memory of {plural(nodes, 'node')}"
    text += f" ({format_volume(total)} each), so caches may hold a part of it"
    return [Note("volume-below-memory", text, "read the verdict of each row, or use --cache direct")]


prepare: Final = Preparing(
    SpioOptions,
    _settle,
    make_cells,
    Sizing("phases read_back", lambda values: values.count("transfer_bytes")),
    _COLUMNS,
    _lines,
    _notes,
    shares_less="leave neighbour out of --operation",
    fewer_files="fewer --ranks fit",
)


def spio_rows(launches: Launches, context: RowContext, operations: Iterable[str]) -> list[Row]:
    """Return the rows of ``operations``, those of the cached share after the rates and times of their phase.

    What only makes files for a read is left out: the write of a case that reads neighbours' files, and phases that were
    not asked for.
    """
    asked = {*operations}
    told = told_rows(launches, context, _tell)
    # Memory may have answered a reread, which the ceiling of the device does not bound.
    found = [
        with_ceiling(row, None) if row.access == "reread" and row.verdict != "cold" else row
        for row in told
        if row.params["operation"] in asked
    ]
    phases = grouped(((item.case.case, item.phase.phase), item.phase) for item in join(launches))
    rates = [row for row in found if row.metric == RATE]
    return [*found, *(share for row in rates for share in cached_share(row, phases[row.case, row.access], context))]


def _tell(row: Row, source: Source) -> Mapping[str, Scalar] | None:
    """Return the parameters of a row; None for a write that only makes what neighbours read."""
    values, access = source.values, row.access
    of_neighbours = is_of_neighbours(values)
    if of_neighbours and access != "read":
        return None
    return {
        "access": access,
        "operation": "neighbour" if of_neighbours else access,
        **usual(row, "ranks", "nodes"),
        "block_bytes": values.count("transfer_bytes"),
        "volume_bytes": row.ranks * values.count("block_bytes"),
        "backend": row.params["backend"],
        **({} if access == "write" else {"data_of": source.phases[-1].data_of}),
    }


summarise: Final = summarising(
    lambda launches, context, request: spio_rows(launches, context, read_options(SpioOptions, request).operations),
    findings_of,
)
