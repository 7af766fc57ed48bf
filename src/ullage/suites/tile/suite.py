# SPDX-License-Identifier: Apache-2.0
"""Suite ``tile``: its cases (places, ranks, calls and sets of hints), what a run does, its rows and sentences."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.alike import best_of_alike, differing_in
from ullage.analysis.findings.hints import not_used, refused_hints
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, noun, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_quantity, plural, times
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join
from ullage.runs.cells.planning import Cell, Sizing, cell_of, each_once
from ullage.runs.cells.prepared import Columns, PreparedCells, plan_columns
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.runs.room import checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, launches_of, summary_of, told_rows, usual
from ullage.suites.tile.options import DEFAULT, Calls, TileHints, TileOptions, text_of, tiling_of
from ullage.units import format_bytes, format_rate, format_volume
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "tile"


_SIZING: Final = Sizing("calls", lambda values: tiling_of(values).tile_bytes)


def make_cells(options: TileOptions, targets: Sequence[Target], description: Describe, cores: int | None) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    every = itertools.product(layouts, targets, options.calls, options.hint_sets)
    backends = {
        target.name: find_registered(description, "backend", _backend_of(target, options)) for target in targets
    }
    names = {backend.name for backend in backends.values()}
    taken = [("hints", "--hints"), ("collective", "--calls")]
    check_settings(options.parameters, names, {f"{name}.{key}": option for name in names for key, option in taken})
    cells = [
        _cell(target, layout, options, calls, hints, description)
        for layout, target, calls, hints in every
        if not hints.hints or backends[target.name].takes("hints")
    ]
    if not cells:
        raise UserError("hints are for backends mpiio and hdf5", "--hints", "add the set default")
    return each_once(cells)


def _backend_of(target: Target, options: TileOptions) -> str:
    return options.backend if target_path(target) is not None else target_scheme(target)


def _cell(
    target: Target, layout: Layout, options: TileOptions, calls: Calls, hints: TileHints, description: Describe
) -> Cell:
    name = _backend_of(target, options)
    found = find_registered(description, "backend", name)
    sees = "views" in found.capabilities
    if not sees and "arrays" not in found.capabilities:
        raise UserError(f"backend '{name}' has neither views of files nor arrays", "--backend", "use mpiio or hdf5")
    if not sees and options.header_bytes:
        raise UserError(f"backend '{name}' places the data itself", "--header", "use --header 0")
    holds_data = "data" in found.capabilities
    tiling = options.tiling(layout.ranks or 1)
    given: Parameters = {
        **options.of_engine(),
        **tiling.parameters,
        "calls": calls,
        "phases": list(options.access),
        "cache": options.cache if holds_data else "none",
        "verify": options.verify if holds_data else "none",
    }
    own = parameters_for(options.parameters, found)
    if hints.hints:
        own["hints"] = dict(hints.hints)
    if not sees:
        own["collective"] = calls == "collective"
    return cell_of(target, layout, (name, own), (WORKLOAD, given), description)


def name_of_hints(sets: Sequence[TileHints], backend: Parameters) -> str:
    """Return which of ``sets`` a backend with these parameters is given."""
    given = backend.get("hints")
    hints = {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    return next((one.name for one in sets if one.hints == hints), "other" if hints else DEFAULT)


def _columns(sets: Sequence[TileHints]) -> Columns:
    return plan_columns(
        "target backend ranks tiles tile calls hints file",
        tiles=lambda cell: text_of(tiling_of(cell.values).tiles),
        tile=lambda cell: f"{text_of(tiling_of(cell.values).tile)} x {tiling_of(cell.values).element_bytes} B",
        hints=lambda cell: name_of_hints(sets, cell.case.backend.parameters),
        file=lambda cell: format_volume(tiling_of(cell.values).file_bytes),
    )


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(TileOptions, request)
    machine = checked_machine(request.targets)
    kinds = _SIZING.by(engine_context.engine)
    cells = kinds(make_cells(options, request.targets, engine_context.description, machine.cores))
    text = f"{plural(options.frames, 'frame')}, a tile of {format_bytes(cells[0].block_bytes)} a rank and frame"
    lines, notes = _lines(options, cells), _notes(cells)
    return PreparedCells(
        request, options, machine, cells, kinds, text, lines, notes, _columns(options.hint_sets)
    ).checked()


def _lines(options: TileOptions, cells: Sequence[Cell]) -> list[str]:
    lines = [
        f"{text_of(tiling.tiles)} tiles with overlap {text_of(tiling.overlap)} make a data set of "
        f"{text_of(tiling.data_set)} elements. A frame has "
        f"{tiling.frame_bytes:,} bytes, the file {tiling.file_bytes:,}."
        for tiling in dict.fromkeys(tiling_of(cell.values) for cell in cells)
    ]
    if any(cell.case.backend.name == "hdf5" for cell in cells):
        lines.append("HDF5 adds its own data to those bytes; the file is checked to have that many at least.")
    if options.sync and "write" in options.access:
        lines.append("The sync after the last frame is in the time of a write.")
    return lines


def _notes(cells: Sequence[Cell]) -> list[Note]:
    notes: list[Note] = []
    for ranks, count in dict.fromkeys((cell.layout.ranks or 1, tiling_of(cell.values).count) for cell in cells):
        which = f"ranks {count} to {ranks - 1} of {ranks} have no tile and wait"
        if ranks == count + 1:
            which = f"rank {count} of {ranks} has no tile and waits"
        if ranks > count:
            right = f"start {plural(count, 'rank')} for {plural(count, 'tile')}"
            notes.append(Note("surplus-ranks", which, right))
    return notes


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    sets, launches = read_options(TileOptions, request).hint_sets, launches_of(result)
    rows, uses = told_rows(launches, context, partial(_tell, sets=sets)), _hint_uses(launches, sets)
    return summary_of(launches, context, rows, lambda sound, level: findings_of(sound, uses, level))


def _tell(row: Row, source: Source, sets: Sequence[TileHints]) -> Mapping[str, Scalar]:
    tiling = tiling_of(source.values)
    return {
        **usual(row, "access", "ranks", "nodes"),
        "block_bytes": tiling.tile_bytes,
        "backend": row.params["backend"],
        "tiles": text_of(tiling.tiles),
        "tile": text_of(tiling.tile),
        "overlap": text_of(tiling.overlap),
        "element_bytes": tiling.element_bytes,
        "header_bytes": tiling.header_bytes,
        "frames": tiling.frames,
        "calls": source.values.word("calls"),
        "hint_set": name_of_hints(sets, source.case.backend_parameters),
    }


HintUses: TypeAlias = Iterable[tuple[tuple[str, str], str, str, str]]
"""Target and set of hints, key, value as given, and that in use as far as can be known; empty for none."""


def _hint_uses(launches: Launches, sets: Sequence[TileHints]) -> HintUses:
    places = grouped(
        ((item.case.target, name_of_hints(sets, item.case.backend_parameters)), item) for item in join(launches)
    )
    return [
        (place, key, value, value_in_use(key, item.phase.hints_granted, item.run.mpi_io))
        for place, items in places.items()
        for item in items
        for key, value in item.phase.hints_given.items()
    ]


def value_in_use(key: str, granted: Mapping[str, str], component: str) -> str:
    """Return what the MPI library said afterwards that it uses; empty where the hint is not of its kind.

    ``component``: what serves its files, as ``ompio``, which repeats whatever it is given; empty: not known.
    """
    is_foreign = key.startswith("romio_") and bool(component) and not component.startswith("romio")
    return "" if is_foreign else granted.get(key, "")


_FAMILIES: Final = 2


def findings_of(rows: Sequence[Row], hints: HintUses, level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    rates = [row for row in rows if row.metric == "bandwidth" and not row.is_invalid]
    own = level_of_part(level, _FAMILIES)
    found = [(some, _better_calls(some, gain)) for some, gain in best_of_alike(rates, own, "calls")]
    title = "Collective and independent calls cannot be told apart"
    text = "Whether collective or independent calls are faster cannot be told"
    return [
        *_with_undecided(found, "tile-calls", title, text, "access, ranks and hints"),
        *_hint_sets(rates, own),
        *_ignored(hints),
        *_frames([row for row in rows if row.metric == "frame_rate" and not row.is_invalid]),
    ]


def _who(row: Row) -> str:
    return f"{row.target}, {row.params['tiles']} tiles of {row.params['tile']}"


def _frames(rows: Sequence[Row]) -> list[Finding]:
    """State the highest median of each access on each target; which setting is best is not said."""
    found: list[Finding] = []
    for (target, access), some in grouped(((row.target, row.access), row) for row in rows).items():
        row = max(some, key=lambda row: row.median)
        rate = format_quantity(row.median, "frame/s")
        text = (
            f"With {row.params['calls']} calls and hints {row.params['hint_set']}, {noun(access)} ({_who(row)}) reach "
            f"{rate}, the highest median of all settings."
        )
        title = f"{target} {noun(access)} up to {rate}"
        found.append(finding("tile-frames", title, text, case=row.case, access=access, frame_rate=row.median))
    return found


def _better_calls(pair: Sequence[Row], gain: Gain | None) -> Finding | None:
    top, other = pair
    if gain is None:
        return None
    collective, independent = pair if top.params["calls"] == "collective" else (other, top)
    access, best = top.access, top.word("calls")
    where = f"{_who(top)}, {plural(top.ranks, 'rank')}, hints {top.params['hint_set']}"
    text = (
        f"For {noun(access)} ({where}), collective calls reach {format_rate(collective.median)} and independent calls "
        f"{format_rate(independent.median)}. {best.capitalize()} calls are faster, {times(gain.factor)}. "
        f"Use --calls {best}."
    )
    title = f"{best.capitalize()} {noun(access)} are faster on {top.target}"
    ratio = collective.median / independent.median
    told = finding("tile-calls", title, text, "advice", case=top.case, other=other.case, ratio=ratio)
    return with_gain(told, gain, f"--calls {best}")


def _with_undecided(
    found: Sequence[tuple[Sequence[Row], Finding | None]], kind: str, title: str, text: str, axes: str
) -> list[Finding]:
    """Return the findings, and once for each target in how many settings of ``axes`` nothing is told."""
    by_target = grouped((rows[0].target, one is None) for rows, one in found)
    undecided = [
        finding(
            kind,
            f"{title} on {target}",
            f"{text} on {target} in {sum(open_)} of {plural(len(open_), 'setting')} of {axes}.",
            target=target,
            undecided=sum(open_),
            of=len(open_),
        )
        for target, open_ in by_target.items()
        if any(open_)
    ]
    return [*(one for _, one in found if one is not None), *undecided]


def _hint_sets(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare the set with the highest median with the set of no hints, or else the first one."""
    # Where no set is the default one, the first one that was asked for is what others are compared with.
    several = [sorted(some, key=rows.index) for some in differing_in(rows, "hint_set")]
    own = level_of_each(level, map(len, several))
    found = [(some, _best_set(some, own)) for some in several]
    base = str(_base_of(several[0]).params["hint_set"]) if several else DEFAULT
    title, text = "Gains from hints are not shown everywhere", f"That a set of hints is faster than {base} is not shown"
    return _with_undecided(found, "tile-hints", title, text, "access, ranks and calls")


def _base_of(rows: Sequence[Row]) -> Row:
    return next((row for row in rows if row.params["hint_set"] == DEFAULT), rows[0])


def _best_set(rows: Sequence[Row], level: float) -> Finding | None:
    base = _base_of(rows)
    top = max(rows, key=lambda row: row.median)
    gain = None if top is base else gain_of(compare_rows(top, base, level, None))
    if gain is None:
        return None
    access, name, first = top.access, top.word("hint_set"), base.word("hint_set")
    where = f"{_who(top)}, {plural(top.ranks, 'rank')}, {top.params['calls']}"
    listed = ", ".join(f"{row.params['hint_set']} {format_rate(row.median)}" for row in rows)
    text = (
        f"Sets of hints for {noun(access)} ({where}) reach: {listed}. Set {name} is faster than {first}, "
        f"{times(gain.factor)}. Use --hints {name}."
    )
    title = f"Hints {name} are faster for {top.params['calls']} {noun(access)}"
    ratio = top.median / base.median
    told = finding("tile-hints", title, text, "advice", case=top.case, base=base.case, hint_set=name, ratio=ratio)
    return with_gain(told, gain, f"--hints {name}")


def _ignored(hints: HintUses) -> list[Finding]:
    return [
        not_used(
            "tile-hints-ignored",
            (key, value),
            used,
            "phase",
            f" (set {hint_set}) on {target}",
            target=target,
            hint_set=hint_set,
        )
        for ((target, hint_set), key, value), used in refused_hints(hints).items()
    ]
