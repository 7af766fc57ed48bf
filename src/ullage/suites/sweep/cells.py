# SPDX-License-Identifier: Apache-2.0
"""The options of a sweep and its cells: backends of each target and their parameters, by ranks and blocks. Pure.

Cells come later too: beyond a rim at which the best was still growing, and what looks like an outlier.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Target
from ullage.model.summary import Finding
from ullage.parameters import count_of, parse_parameter
from ullage.runs.cells.backends import cache_and_verify, direct_of, storage_backends
from ullage.runs.cells.planning import WORKLOAD, Cell, Way, each_once, make_cell, way_of
from ullage.runs.cells.volume import share_bytes
from ullage.runs.options import groups, settings
from ullage.runs.options.declared import CEILINGS, REPETITIONS, Change, OfEngine, Option
from ullage.runs.options.kinds import ConvertedList, Names, Size, SizeAxis

Access: TypeAlias = Literal["write", "rewrite", "read", "reread"]
Axis: TypeAlias = Literal["ranks", "block"]
CacheControl: TypeAlias = Literal["none", "advise", "drop", "direct"]

ACCESS_ORDER: Final[tuple[Access, ...]] = ("write", "rewrite", "read", "reread")
COLD_BUFFERS: Final = 16 << 20


class SweepOptions(settings.BackendParameterOptions, groups.BindOptions, groups.RankAxisOptions, groups.RunOptions):
    """The options of suite ``sweep``.

    ``volume`` is of a case, of each rank when ``weak``; null: chosen by a probe.
    """

    workload = "transfer"
    changes = {
        "targets": Change(
            "Measure this place, also NAME=model: or NAME=null:. Repeat the option to measure several places."
        ),
        "ranks": Change(unsaid="powers of 2 up to the number of cores, at least 1,2,4"),
        "time_s": Change(help="Limit the time of all measurements. The limit is kept within 10 %."),
        "parameters": Change(
            "Set a parameter of a backend or of workload transfer. `ullage describe NAME` lists them."
        ),
    }

    blocks: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(),
        Option(
            "Transfer blocks of these sizes, for example 128K,1M or 128K:16M:x2.",
            name="--block",
            usual="128K:8M:x4",
            sets=("block_bytes",),
        ),
    ]
    access: Annotated[list[Access], Option("Measure any of write,rewrite,read,reread.", usual="write,read")]
    backends: Annotated[
        list[str],
        Field(description="empty: that of each target's scheme"),
        Names(),
        Option("Use these backends, for example posix,mpiio.", name="--backend", unsaid="the target's own backend"),
    ] = []
    volume: Annotated[
        groups.MaybeVolume, Option("Transfer this many bytes in every case.", unsaid="a probe chooses")
    ] = None
    weak: Annotated[bool, Option("Take the volume as that of each rank, not of the case.")] = False
    file_mode: Annotated[str, OfEngine(name="--file")] = "per-process"
    order: Annotated[str, OfEngine()] = "sequential"
    cache: Annotated[
        CacheControl,
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the data), drop "
            "(all caches, root only), or direct (O_DIRECT)."
        ),
    ] = "advise"
    verify: Annotated[str | None, Field(description="null: kept where the backend holds data"), settings.VERIFY] = None
    buffers: Annotated[
        int | None,
        Field(ge=1, description="bytes; null: a buffer for each operation in flight"),
        Size(names=(("cold", COLD_BUFFERS),), metavar="cold|SIZE"),
        Option(
            "Use this much buffer memory for the transfers of a rank. cold means 16M, more than "
            "the caches of a core hold.",
            unsaid="one buffer for each operation in flight",
        ),
    ] = None
    vary: Annotated[
        list[settings.Setting],
        ConvertedList(settings.read_axes, metavar="THING.KEY=A,B"),
        Option("Vary a parameter as a further axis. Separate values that contain commas by a semicolon."),
    ] = []
    extend: Annotated[
        list[Axis],
        Names(("ranks", "block"), sorted_=False, metavar="AXES"),
        Option("Extend the axis ranks, block or both while the best value lies at its end.", order=REPETITIONS),
    ] = []
    recheck: Annotated[bool, Option("Repeat cells that look like outliers.", order=CEILINGS - 1)] = False

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks by the cores of this machine."""
        return super().settle({"ranks": groups.default_ranks(groups.cores_of_nodes(said)), **said})

    @property
    def phases(self) -> tuple[Access, ...]:
        """What a case does, in this order: one that reads has to write first, its data lives no longer than it."""
        return tuple(word for word in ACCESS_ORDER if word == "write" or word in self.access)

    @property
    def reserved_share(self) -> float:
        """The share of the time kept back from narrowing intervals for what only the first results can ask for."""
        return (0.25 if self.extend else 0.0) + (0.1 if self.recheck else 0.0)


# Options of the sweep set these parameters, so --param must not set them again.
_OWN_OPTIONS: Final[Mapping[str, str]] = {
    "phases": "--access",
    "transfer_bytes": "--block",
    "block_bytes": "--volume",
    "file_mode": "--file",
    "order": "--order",
    "cache": "--cache",
    "verify": "--verify",
    "buffers": "--buffers",
}
# A backend states how many of these it serves, but not one around another (of this parameter).
_AT_ONCE: Final = ("queue_depth", "threads")
# Sizes of the two cases that a probe makes of each place.
_PROBE_SIZES: Final = (8 << 20, 32 << 20)


def ways(options: SweepOptions, targets: list[Target], description: Describe) -> list[Way]:
    """Return every target with each of its backends and each combination of varied parameters.

    Raise ``UserError`` for what the engine would refuse.
    """
    by_target = {target.name: storage_backends(target, options.backends, description) for target in targets}
    names = sorted({backend.name for backends in by_target.values() for backend in backends})
    taken = {f"{WORKLOAD}.{key}": option for key, option in _OWN_OPTIONS.items()}
    settings.check_settings([*options.parameters, *options.vary], [*names, WORKLOAD], taken)
    return [
        way_of(
            target,
            (backend.name, {**own, **direct_of(backend, options.cache)}),
            _workload_parameters(options, backend, workload),
            description,
        )
        for target in targets
        for backend in by_target[target.name]
        for own, workload in _combinations(options, backend, description)
    ]


def _combinations(
    options: SweepOptions, backend: Registered, description: Describe
) -> Iterator[tuple[Parameters, Parameters]]:
    """Yield the parameters of backend and workload for each combination of the varied ones that concern them."""
    workload = find_registered(description, "workload", WORKLOAD)
    things = {backend.name: backend, WORKLOAD: workload}
    fixed = [setting for setting in options.parameters if setting.thing in things]
    varied = [setting for setting in options.vary if setting.thing in things]
    for chosen in itertools.product(*(setting.values for setting in varied)):
        given: dict[str, Parameters] = {backend.name: {}, WORKLOAD: {}}
        for setting, text in [(s, s.values[0]) for s in fixed] + list(zip(varied, chosen, strict=True)):
            parameter = settings.parameter_of(things[setting.thing], setting)
            given[setting.thing][setting.key] = parse_parameter(parameter, text)
        yield given[backend.name], given[WORKLOAD]


def _workload_parameters(options: SweepOptions, backend: Registered, given: Parameters) -> Parameters:
    """Return all parameters but the sizes."""
    whole: Parameters = {
        **given,
        "phases": [*options.phases],
        "file_mode": options.file_mode,
        "order": options.order,
        **cache_and_verify(backend, options.cache, options.verify, "kept"),
        **({} if options.buffers is None else {"buffers": options.buffers}),
    }
    for name in () if backend.takes("inner") else _AT_ONCE:
        if count_of(whole, name, 1) > backend.most(name):
            what = f"backend '{backend.name}' serves a {name} of at most {backend.most(name)}"
            raise UserError(what, f"{WORKLOAD}.{name}", "use a smaller value, or another --backend", EXIT_BAD_INPUT)
    return whole


def make_cells(
    options: SweepOptions, targets: list[Target], description: Describe, volume_bytes: int, cores: int | None
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(ranks, cores) for ranks in options.ranks]
    all_ways = ways(options, targets, description)
    cells = [
        make_cell(
            way, layout, block, share_bytes(volume_bytes, layout.ranks, block, segments_of(way), weak=options.weak)
        )
        for layout in layouts
        for way in all_ways
        for block in options.blocks
    ]
    return each_once(cells)


def segments_of(way: Way) -> int:
    """Return the number of segments of a case with the parameters of ``way``."""
    return count_of(way.workload, "segments", 1)


def _resized(cell: Cell, options: SweepOptions, layout: Layout, block_bytes: int, volume_bytes: int) -> Cell:
    """Return a cell measured in the same way with other ranks or blocks."""
    fixed = {k: v for k, v in cell.case.workload.parameters.items() if k not in ("transfer_bytes", "block_bytes")}
    way = Way(cell.target, cell.case.backend, fixed)
    share = share_bytes(volume_bytes, layout.ranks, block_bytes, segments_of(way), weak=options.weak)
    return make_cell(way, layout, block_bytes, share)


def probe_cells(options: SweepOptions, cells: Iterable[Cell], cores: int | None, most_bytes: int) -> list[Cell]:
    """Return two small cases of one rank for each target and backend: middle block, first of the varied parameters."""
    block = sorted(options.blocks)[len(options.blocks) // 2]
    layout = options.model_copy(update={"nodes": None, "ranks_per_node": None, "hosts": 0}).place(1, cores)
    alone = options.model_copy(update={"weak": False})
    first: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        first.setdefault(cell.place, cell)
    small, large = (max(block, min(size, most_bytes // 8 * (1 + i))) for i, size in enumerate(_PROBE_SIZES))
    large = max(large, 2 * small)
    return [_resized(cell, alone, layout, block, size) for cell in first.values() for size in (small, large)]


MOST_RANKS_A_CORE: Final = 8
_AXES: Final[Mapping[Axis, str]] = {"ranks": "ranks", "block": "block_bytes"}


def beyond_the_rim(
    findings: Iterable[Finding], cells: Sequence[Cell], options: SweepOptions, volume_bytes: int, cores: int | None
) -> list[Cell]:
    """Return the best cells that an ``edge`` finding names, with their value on an axis of ``--extend`` doubled.

    Cells that exist already are left out.
    """
    known = {cell.case.id: cell for cell in cells}
    edges = [one.numbers for one in findings if one.kind == "edge" and one.numbers.get("side") == "upper"]
    named = [(best, one.get("axis")) for one in edges if (best := known.get(str(one.get("case")))) is not None]
    new = (
        doubled(best, axis, options, volume_bytes, cores)
        for best, at in named
        for axis in options.extend
        if at == _AXES[axis]
    )
    return each_once(cell for cell in new if cell is not None and cell.case.id not in known)


def doubled(best: Cell, axis: Axis, options: SweepOptions, volume_bytes: int, cores: int | None) -> Cell | None:
    """Return ``best`` with the doubled value, or None beyond 8 ranks a core or without a block for every rank."""
    ranks = best.layout.ranks * (2 if axis == "ranks" else 1)
    block = best.block_bytes * (2 if axis == "block" else 1)
    nodes, on_a_node = options.nodes, options.ranks_per_node
    if nodes is not None and on_a_node is not None and ranks > nodes * on_a_node:
        return None
    used = nodes or options.hosts or -(-ranks // (on_a_node or ranks))
    if axis == "ranks" and cores is not None and ranks > MOST_RANKS_A_CORE * cores * used:
        return None
    if block > (volume_bytes if options.weak else volume_bytes // ranks):
        return None
    return _resized(best, options, options.place(ranks, cores), block, volume_bytes)


def odd_cells(findings: Iterable[Finding], cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that ``outlier`` findings name, in the order of ``cells``."""
    odd: set[str] = set()
    for finding in findings:
        if finding.kind == "outlier":
            cases = finding.numbers.get("case")
            odd.update(str(case) for case in (cases if isinstance(cases, list) else [cases]))
    return [cell for cell in cells if cell.case.id in odd]
