# SPDX-License-Identifier: Apache-2.0
"""What the suites of particle files share: their cases, their rows and their sentences.

A case is a place, a format, a way to transfer, ranks, a layout and what is read. Sentences are on layouts, HDF5 against
a plain file, collective calls, and OBSERVED against RAW.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import finding, level_of_part, noun
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.describe import Describe, Registered
from ullage.model.flags import IDLE_RANKS
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, listing, percent
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.backends import hdf5_left_out, ways_of_formats
from ullage.runs.cells.planning import Cell, Sizing, cell_of, each_once
from ullage.runs.cells.prepared import PreparedCells, plan_columns
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import StorageOptions
from ullage.runs.room import checked_machine
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.units import format_volume

LAYOUTS: Final[Mapping[str, tuple[str, str]]] = {
    "CC": ("contiguous", "contiguous"),
    "CI": ("contiguous", "interleaved"),
    "IC": ("interleaved", "contiguous"),
    "II": ("interleaved", "interleaved"),
}
"""Order in memory and in the file, by the names of h5bench."""
PARTICLE_BYTES: Final = 32


class ParticleOptions(StorageOptions):
    """``particles``: of a rank."""

    workload = "vpic"
    metrics = (
        "observed_bandwidth raw_bandwidth phase_time raw_time open_time sync_time close_time latency_p50 latency_max"
    )
    changes = {
        "targets": Change("Keep the file at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: 65,536 particles of each rank, 3 steps."),
    }

    particles: Annotated[int, OfEngine(quick="65536", sets=("volume",))] = 8 << 20
    steps: Annotated[int, OfEngine(quick="3")] = 5
    layouts: Annotated[
        list[Literal["CC", "CI", "IC", "II"]],
        Option(
            "Use these layouts: CC, CI, IC, II. The first letter is the order in memory, the second that in the file. "
            "C keeps each variable contiguous, I interleaves the variables of a particle.",
            name="--layout",
            usual="CC,CI,IC,II",
        ),
    ]
    formats: Annotated[
        list[Literal["raw", "hdf5"]],
        Option(
            "Use these formats: raw (values behind a header of Ullage, by MPI-IO), hdf5.", name="--format", usual="raw"
        ),
    ]
    transfers: Annotated[
        list[Literal["independent", "collective"]],
        Option(
            "Transfer the particles in these ways.",
            name="--access",
            usual="independent,collective",
            sets=("transfers",),
        ),
    ]
    compute_s: Annotated[float, OfEngine(name="--compute", usual="100ms", quick="10ms")]
    cache: Annotated[str, OfEngine()] = "none"


WORKLOAD: Final = "vpic"
_FULL: Final[Mapping[str, Parameters]] = {"full": {}}
_ORDERS: Final[Mapping[str, str]] = {"C": "contiguous", "I": "interleaved"}
_READS: Final[Mapping[str, str]] = {
    "full": "all particles",
    "partial": "the first particles of each rank",
    "strided": "runs of particles",
}


def layout_name(values: Values) -> str:
    """Return CC, CI, IC or II of a workload's parameters."""
    orders = values.word("memory"), values.word("file")
    return next(name for name, known in LAYOUTS.items() if known == orders)


def access_of(cell: Cell) -> str:
    """Tell whether transfers are ``collective`` or ``independent``."""
    return "collective" if cell.is_collective else "independent"


# The least that a rank moves is its part of a step.
SIZING: Final = Sizing("memory file read", lambda values: values.count("particles") * PARTICLE_BYTES)


def make_cells(
    options: ParticleOptions,
    given: Parameters,
    targets: Sequence[Target],
    description: Describe,
    cores: int | None,
    reads: Mapping[str, Parameters] = _FULL,
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse.

    ``given``: what a suite asks of the workload besides the options of both; ``reads``: words with their parameters.
    """
    layouts = [options.place(n, cores) for n in options.ranks]
    cells = [
        _cell((target, layout), way, options, {**given, **what}, description)
        for layout in layouts
        for target in targets
        for way in ways_of_formats(target, options.formats, options.transfers, description)
        for what in _combinations(options.layouts, reads, way[0])
    ]
    if not cells:
        what = "only backends mpiio and hdf5 convert between the orders of memory and file"
        raise UserError(what, "--layout", "add CC or II, or use a target with a path")
    return each_once(cells)


def _combinations(names: Iterable[str], reads: Mapping[str, Parameters], backend: Registered) -> Iterable[Parameters]:
    converts = bool({"scattered", "arrays"} & {*backend.capabilities})
    for name, (read, sizes) in itertools.product(names, reads.items()):
        memory, file = LAYOUTS[name]
        if memory == file or converts:
            yield {"memory": memory, "file": file, "read": read, **sizes}


def _cell(
    place: tuple[Target, Layout],
    way: tuple[Registered, bool],
    options: ParticleOptions,
    what: Parameters,
    description: Describe,
) -> Cell:
    (target, layout), (backend, collective) = place, way
    holds_data = "data" in backend.capabilities
    given: Parameters = {
        "particles": options.particles,
        "steps": options.steps,
        "compute_s": options.compute_s,
        "format": "arrays" if "arrays" in backend.capabilities else "raw",
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
        **what,
    }
    own: Parameters = {"collective": True} if collective else {}
    return cell_of(target, layout, (backend.name, own), (WORKLOAD, given), description)


_COLUMNS: Final = plan_columns(
    "target backend access ranks layout read particles_a_rank steps bytes",
    access=access_of,
    layout=lambda cell: layout_name(cell.values),
    read=lambda cell: cell.values.word("read") if "read" in cell.phases else "-",
    particles_a_rank=lambda cell: cell.values.word("particles"),
    bytes=lambda cell: format_volume(cell.dataset_bytes),
)


def prepare_particles(
    request: Request,
    engine_context: EngineContext,
    options: ParticleOptions,
    lines: Sequence[str],
    given: Parameters,
    reads: Mapping[str, Parameters] = _FULL,
) -> PreparedCells:
    """Check everything that can be checked without starting anything.

    ``lines``: what else the plan does; for ``given`` and ``reads`` see ``make_cells``.
    """
    machine = checked_machine(request.targets)
    kinds = SIZING.by(engine_context.engine)
    cells = kinds(make_cells(options, given, request.targets, engine_context.description, machine.cores, reads))
    text = f"{options.particles} particles of 32 bytes a rank, {options.steps} steps"
    notes = hdf5_left_out(options.formats, engine_context.description)
    return PreparedCells(
        request,
        options,
        machine,
        cells,
        kinds,
        text,
        lines,
        notes,
        _COLUMNS,
        fewer_files="remove files there, or name another target",
    ).checked()


def summarise_particles(result: ResultFolder, request: Request, context: RowContext, access: str) -> SuiteSummary:
    """Summarise phase ``access`` of the suite of ``request``; what only makes the file is left out."""
    launches = launches_of(result)
    rows = told_rows(launches, context, lambda row, source: _tell(row, source) if row.access == access else None)
    return summary_of(
        launches, context, list(map(_as_asked, rows)), lambda sound, level: findings_of(sound, request.suite, level)
    )


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    values = source.values
    params: dict[str, Scalar] = {
        **usual(row, "access", "ranks", "nodes", "backend"),
        **values.some("particles", "steps"),
        "layout": layout_name(values),
        "format": "raw" if values["format"] == "raw" else row.word("backend"),
        "transfers": "collective" if source.case.backend_parameters.get("collective") else "independent",
        "compute_s": values.number("compute_s"),
    }
    if row.access == "read":
        params |= {**values.some("read"), "data_of": source.phases[-1].data_of}
    return params


def _as_asked(row: Row) -> Row:
    """Drop the flag of ranks that have nothing to move between steps, as was asked for, and a ceiling that is none.

    The calls of a write end before the sync, and memory may answer a read: a device's ceiling does not bound them.
    """
    flags = [flag for flag in row.flags if flag.code != IDLE_RANKS or not row.params["compute_s"]]
    told = row.model_copy(update={"flags": flags})
    return with_ceiling(told, None) if row.metric == RAW and row.verdict != "cold" else told


def orders_of(layout: str) -> tuple[str, str]:
    """Return the order in memory and in the file of a layout as it is typed: ``CI``."""
    memory, file = layout
    return _ORDERS[memory], _ORDERS[file]


def layout_text(row: Row) -> str:
    """Write ``contiguous``; where memory and file have different orders ``contiguous to interleaved``.

    A write goes from memory to the file, a read from the file to memory.
    """
    memory, file = orders_of(row.word("layout"))
    if memory == file:
        return memory
    return f"{file} to {memory}" if row.access == "read" else f"{memory} to {file}"


def particles_read(row: Row) -> str:
    """Name the particles that a row reads; return ``particles`` for a row that writes them."""
    return _READS.get(row.word("read"), "particles")


RAW: Final = "raw_bandwidth"
OBSERVED: Final = "observed_bandwidth"
_GAINED: Final = "{Way} reaches {factor} the rate of {other_way}."
_OF_LAYOUT: Final = "{Way} is {memory} in memory and {file} in the file."


def findings_of(rows: Iterable[Row], suite: str, level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each question has its part of the error of a report."""
    known = [row for row in rows if not row.is_invalid]
    rates = [row for row in known if row.metric == OBSERVED]
    questions = [
        Faster(
            f"{suite}-{option.removeprefix('--')}",
            param,
            option,
            title="{target}: {who} are faster with {way}",
            text="With {ranks} on {target}, {who} reach these OBSERVED rates: {each}.",
            way=way,
            gained=gained,
            untold=("{target}: no gain of {way} is shown ({who})", "{which} is faster cannot be told."),
            goes_with=goes_with,
            numbers={"access": "access"},
        )
        for option, param, way, gained, goes_with in (
            ("--layout", "layout", "layout {layout}", f"{_GAINED} {_OF_LAYOUT}", ()),
            ("--format", "format", "format {format}", _GAINED, ("backend",)),
            ("--access", "transfers", "{transfers} transfers", "{Way} reach {factor} the rate of {other_way}.", ()),
        )
    ]
    own = level_of_part(level, len(questions))
    compared = [found for one in questions for found in one.findings(rates, own, partial(_words, param=one.param))]
    return [*compared, *_observed(known, suite)]


def _words(row: Row, param: str) -> Mapping[str, str]:
    """Return the words of templates; who: what is the same in all rows, ``independent raw reads of particles``."""
    others = [row.word(name) for name in ("transfers", "format") if name != param]
    layout = "" if param == "layout" else f" in layout {row.params['layout']}"
    memory, file = orders_of(row.word("layout"))
    return {"who": f"{' '.join([*others, _what(row)])}{layout}", "memory": memory, "file": file}


def _what(row: Row) -> str:
    read = particles_read(row).removeprefix("all ")
    return f"{noun(row.access)} of {read}"


def _observed(rows: Sequence[Row], suite: str) -> list[Finding]:
    """Say for each place and read what is between both rates, in the setting with the best OBSERVED rate."""
    by_case = grouped((row.case, row) for row in rows)
    places = grouped(
        ((row.target, row.params["format"], row.params.get("read", "full")), row)
        for row in rows
        if row.metric == OBSERVED
    )
    best = (max(some, key=lambda row: row.median) for some in places.values())
    found = (_between(row, {one.metric: one for one in by_case[row.case]}, suite) for row in best)
    return [one for one in found if one is not None]


def _between(observed: Row, rows: Mapping[str, Row], suite: str) -> Finding | None:
    raw = rows.get(RAW)
    if raw is None or raw.median <= 0:
        return None
    share = observed.median / raw.median
    parts = {"open": "opening", "sync": "sync", "close": "closing"}
    known = [(said, rows[f"{part}_time"].median) for part, said in parts.items() if f"{part}_time" in rows]
    took = listing([f"{said} {format_quantity(value, 's')}" for said, value in known])
    way = f"{observed.params['layout']}, {observed.params['format']}, {observed.params['transfers']}"
    text = (
        f"The {_what(observed)} on {observed.target} ({way}) reach {format_quantity(raw.median, 'B/s')} in the calls "
        f"alone (RAW). Without the emulated computation they reach {format_quantity(observed.median, 'B/s')} "
        f"(OBSERVED), {percent(share, 1)} of that."
    )
    text += f" The slowest rank's other times are: {took}." if known else ""
    title = f"{observed.target}: the OBSERVED rate of {_what(observed)} is {percent(share)} of the RAW rate"
    return finding(
        f"{suite}-observed", title, text, case=observed.case, raw=raw.median, observed=observed.median, share=share
    )
