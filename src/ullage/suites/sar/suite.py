# SPDX-License-Identifier: Apache-2.0
"""Suite ``sar``: its cases (places, backends, ranks and layouts of images), what a run does, its rows and sentences."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.statistics import level_of_each
from ullage.analysis.verdicts.grades import worst_grade
from ullage.grouping import grouped, nested
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, listing, plural, times
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, join
from ullage.runs.cells.backends import storage_backends
from ullage.runs.cells.caches import cache_and_verify
from ullage.runs.cells.costs import assumed_besides
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.runs.cells.prepared import DATA, FILES, PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.sar.options import SarOptions
from ullage.suites.sar.shape import KERNELS, PHASES, WORK, WORKLOAD, SarShape, scaled, shape_of
from ullage.units import format_bytes, format_rate, format_volume
from ullage.uri import target_path

# As often as the rule of the benchmark has it: what is below that, caches may hold.
_MEMORIES: Final = 3
PIPELINE: Final = "pipeline"
PIPELINE_RATE: Final = "pipeline_rate"


# -- cases -------------------------------------------------------------------------------------------------------------


def _shape(cell: Cell) -> SarShape:
    return shape_of(cell.parameters)


def _layout(parameters: Parameters) -> str:
    return "containers" if shape_of(parameters).in_containers else "files"


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of the images of a case; a directory takes an inode as a file does."""
    shape, ranks, parameters = _shape(cell), cell.layout.ranks or 1, cell.parameters
    return Sizes(
        kind=f"{cell.layout.ranks} ranks {_layout(parameters)}",
        block_bytes=shape.image_bytes,
        dataset_bytes=shape.bytes_kept(ranks),
        files=shape.files(ranks) + (0 if shape.in_containers else shape.locations),
        phases=PHASES,
        needs_one_folder=parameters.get("read_back") != "own",
    )


with_sizes: Final = sized(_sizes)


def make_cells(options: SarOptions, targets: Sequence[Target], description: Describe, cores: int | None) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    placed = [options.place(n, cores) for n in options.ranks]
    cells = [
        _cell(target, backend, layout, words, options, description)
        for layout, target in itertools.product(placed, targets)
        for backend in storage_backends(target, options.backends, description)
        for words in options.layouts
    ]
    return with_sizes(each_once(cells))


def _cell(
    target: Target, backend: Registered, layout: Layout, words: str, options: SarOptions, description: Describe
) -> Cell:
    has_path = target_path(target) is not None
    given: Parameters = {
        **options.of_engine(),
        **scaled(options.scale),
        "layout": words,
        "seed": options.seed,
        "sync": options.sync if "metadata" in backend.capabilities else "none",
        **cache_and_verify(backend, options.cache if has_path else "none", options.verify, "full"),
    }
    return cell_of(target, layout, (backend.name, {}), (WORKLOAD, given), description)


# -- what a run does ---------------------------------------------------------------------------------------------------

_COLUMNS: Final[Columns] = {
    **PLACE,
    "layout": lambda cell: _layout(cell.parameters),
    "images": lambda cell: f"{_shape(cell).images:,} of {format_volume(cell.block_bytes)}",
    **DATA,
    **FILES,
}


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(SarOptions, request)
    machine = checked_machine(request.targets)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    shape = _shape(cells[0])
    grid, each = f"{options.grid} x {options.grid} locations", format_volume(shape.image_bytes)
    return PreparedCells(
        request,
        options,
        machine,
        cells,
        with_sizes,
        f"{grid}, {options.depth} images of {each} each",
        _lines(options, shape),
        _notes(cells, machine),
        _COLUMNS,
        shares_less="use --read-back own",
        fewer_files="use --layout containers",
        costing=assumed_besides,
    ).checked()


def _lines(options: SarOptions, shape: SarShape) -> list[str]:
    pairs = shape.locations * (shape.depth - 1)
    run = format_bytes(shape.subimage_side * 4)
    whose = "its own files" if options.read_back == "own" else "files of another node's rank, or of the next rank"
    raws = f"{plural(shape.raw_files, 'raw file')} of {format_volume(shape.raw_bytes)}"
    of_whom = "for all ranks" if shape.raw_is_shared else "for each rank"
    found = f"{plural(shape.subimages, 'sub-image')} of each pair in rows of {run}"
    return [
        f"SDG makes {raws} {of_whom} and {plural(shape.templates, 'template')}.",
        "K1 reads a raw file for each image. K2 stores the images, by time and then in random order of location.",
        f"K3 reads {plural(pairs, 'pair')} of images whole, and {found}. It writes these to a file of detections.",
        "K4 reads them again, with all templates, and writes a record of 64 bytes for each sub-image.",
        f"In K1, K3 and K4, a rank reads {whose}.",
    ]


def _notes(cells: Sequence[Cell], machine: Machine) -> list[Note]:
    """Return a note where the memory of the nodes can hold what a case keeps."""
    total = machine.memory.total_bytes
    if total is None or all(place.is_memory for place in machine.places):
        return []
    nodes = max(cell.layout.nodes or 1 for cell in cells)
    most = max(cell.dataset_bytes for cell in cells)
    if most >= _MEMORIES * nodes * total:
        return []
    text = (
        f"a case keeps {format_volume(most)}, less than {_MEMORIES} times the memory of {plural(nodes, 'node')}, so "
        "caches may hold a part of it"
    )
    return [Note("volume-below-memory", text, "read the verdict of each row, or use a larger --grid or --depth")]


# -- rows --------------------------------------------------------------------------------------------------------------


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = launches_of(result)
    return summary_of(launches, context, sar_rows(launches, context), findings_of)


def sar_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows of all kernels with their sizes, and one of the pipeline behind those of each case."""
    records = [list(launch) for launch in launches]
    measured = join(records)
    cases = {item.case.case: item.case for item in measured}
    repetitions = grouped(((item.case.case, item.case.repetition), item.phase) for item in measured)
    of_case = grouped((case, phases) for (case, _), phases in repetitions.items())
    found: list[Row] = []
    for case, some in grouped((row.case, row) for row in told_rows(records, context, _tell)).items():
        found += [*some, *_pipeline(some, cases[case], of_case[case], context)]
    return found


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    shape = shape_of(source.workload)
    return {
        **usual(row, "access", "ranks", "nodes", "backend"),
        "layout": _layout(source.workload),
        "image_bytes": shape.image_bytes,
        "grid": shape.grid,
        "depth": shape.depth,
        "raw": str(source.workload.get("raw", "shared")),
        "sync": str(source.workload.get("sync", "close")),
    }


def _pipeline(
    rows: Sequence[Row], case: CaseRecord, repetitions: Iterable[Sequence[PhaseRecord]], context: RowContext
) -> list[Row]:
    """Return the row of the pipeline: images over the time of the slowest kernel, in each repetition."""
    kept = [phases for phases in repetitions if {phase.phase for phase in phases} >= {*KERNELS}]
    samples = [rate for phases in kept if (rate := pipeline_rate(phases, case)) is not None]
    if not samples:
        return []
    params = {**rows[0].params, "access": PIPELINE}
    grade = worst_grade(row.grade for row in rows)
    frame = RowFrame(PIPELINE_RATE, "image/s", rows[0].target, params, case.case, grade=grade)
    return [frame.row(samples, context.level, context.wanted_width)]


def pipeline_rate(phases: Iterable[PhaseRecord], case: CaseRecord) -> float | None:
    """Return the images a second that a pipeline of the kernels would reach; None where nothing took time.

    It is 1 / max over K1 to K4 of the time of a kernel for an image. All kernels would work at once, each at the rate
    that it reaches alone.
    """
    longest = max(phase.elapsed_ns for phase in phases if phase.phase in KERNELS)
    return shape_of(case.workload_parameters).images * 1e9 / longest if longest > 0 else None


# -- sentences ---------------------------------------------------------------------------------------------------------

_FAMILIES: Final = 2
_WALL: Final = "phase_time"
_RATE: Final = "bandwidth"
_PIPELINE: Final = "pipeline_rate"
_READERS: Final = ("k1", "k3", "k4")
_VERBS: Final[Mapping[str, str]] = {"k2": "stores images", "k3": "reads pairs of images"}
_LEGEND: Final = "K1 reads raw data, K2 stores images, K3 reads pairs of images and K4 reads sub-images."
Metrics = Mapping[str, Mapping[str, Row]]
"""The rows of a case by kernel and metric."""


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each of two families has its part of the error of a report."""
    usable = [row for row in rows if not row.is_invalid]
    rows_of = grouped((row.case, row) for row in usable)
    by_case = {case: nested((row.access, row.metric, row) for row in some) for case, some in rows_of.items()}
    own = level_of_part(level, _FAMILIES)
    timed = [some for some in by_case.values() if all(_WALL in some.get(kernel, {}) for kernel in KERNELS)]
    each = level_of_each(own, [len(KERNELS)] * len(timed))
    return [
        *(_slowest_kernel(some, each) for some in timed),
        *_layouts(usable, own),
        *(found for some in by_case.values() if (found := _rows(some)) is not None),
        *_cached(usable),
    ]


def who_of(row: Row) -> str:
    """Return where, by which backend, how and by how many ranks images were kept."""
    params = row.params
    return f"{row.target}, {params['backend']}, {params['layout']}, {plural(int(params['ranks']), 'rank')}"


# -- the pipeline ------------------------------------------------------------------------------------------------------


def _slowest_kernel(some: Metrics, level: float) -> Finding:
    """Name the kernels of which none is proved to take less time than the one with the highest median."""
    walls = [some[kernel][_WALL] for kernel in KERNELS]
    longest = max(walls, key=lambda row: row.median)
    slowest = [row for row in walls if row is longest or compare_rows(row, longest, level, None).verdict != "faster"]
    names = [row.access.upper() for row in slowest]
    images = longest.count("grid") ** 2 * longest.count("depth")
    each = {kernel: some[kernel][_WALL].median / images for kernel in KERNELS}
    rate = some.get("pipeline", {}).get(_PIPELINE)
    median = rate.median if rate is not None else 1 / max(each.values())
    told = listing([f"{kernel.upper()} {format_quantity(seconds, 's')}" for kernel, seconds in each.items()])
    alone = len(names) == 1
    bound = f"{names[0]} takes longest." if alone else f"Which of {listing(names)} takes longest cannot be told."
    text = (
        f"The pipeline reaches {format_quantity(median, 'image/s')} ({who_of(longest)}). {bound} "
        f"{_LEGEND} Times for an image: {told}."
    )
    bounded = f", bounded by {WORK[longest.access]}" if alone else ""
    title = f"The pipeline reaches {format_quantity(median, 'image/s')} on {longest.target}{bounded}"
    return finding(
        "sar-pipeline",
        title,
        text,
        case=longest.case,
        images_per_s=median,
        slowest=[row.access for row in slowest],
        kernels=list(each),
        seconds_an_image=list(each.values()),
    )


# -- files or containers -----------------------------------------------------------------------------------------------


_FASTER_LAYOUT: Final = Faster(
    "sar-layout",
    "layout",
    "--layout",
    title="{kernel} {verb} faster with {layout} on {target}",
    text="{kernel} {verb} in {value} with {layout} ({who}). With {other_layout} it takes {other_value}, {factor} as "
    "long.",
    numbers={"kernel": "access"},
)


def _layouts(rows: Iterable[Row], level: float) -> list[Finding]:
    """Compare both layouts of images in the kernels that open them.

    What a cache has answered tells nothing of a layout on storage.
    """
    walls = [row for row in rows if row.metric == _WALL and row.access in _VERBS and is_of_device(row)]

    def words(row: Row) -> Mapping[str, str]:
        return {"kernel": row.access.upper(), "verb": _VERBS[row.access], "who": who_of(row)}

    return _FASTER_LAYOUT.findings(walls, level, words)


# -- rows of sub-images ------------------------------------------------------------------------------------------------


def _rows(some: Metrics) -> Finding | None:
    """State what the sub-images of a pair take beside the pair as a whole."""
    found = some.get("k3", {})
    whole, parts, images = found.get("image_transfer"), found.get("subimage_read"), found.get("image_rate")
    if whole is None or parts is None or images is None or parts.median <= 0 or whole.median <= 0:
        return None
    bytes_ = 2 * whole.count("image_bytes")
    text = (
        f"In K3, the transfer of a pair takes {format_quantity(whole.median, 's')}, that is "
        f"{format_rate(bytes_ / whole.median)} on a rank ({who_of(whole)}). Its sub-images take "
        f"{format_quantity(parts.median, 's')} more, row by row. Both are medians."
    )
    ratio = parts.median / whole.median
    title = f"Sub-images take {times(ratio)} the time of their pair of images on {whole.target}"
    return finding("sar-rows", title, text, case=whole.case, pair_s=whole.median, subimages_s=parts.median)


# -- what the numbers are not ------------------------------------------------------------------------------------------


def _cached(rows: Iterable[Row]) -> list[Finding]:
    """State which kernels read from memory, once for each target."""
    served = [row for row in rows if row.metric == _RATE and row.access in _READERS and not is_of_device(row)]
    return [_answered(target, some) for target, some in grouped((row.target, row) for row in served).items()]


def _answered(target: str, rows: Sequence[Row]) -> Finding:
    kernels = sorted({row.access for row in rows})
    verdicts = [f"{kernel.upper()} {row.verdict}" for kernel in kernels for row in rows if row.access == kernel]
    names = listing([WORK[kernel] for kernel in kernels])
    text = (
        f"Memory served a part of the reads of {names} on {target}. Verdicts: {listing(list(dict.fromkeys(verdicts)))}."
    )
    if "k1" in kernels:
        text += " K1 reads the same raw files again. Use more --raw-files."
    if {"k3", "k4"} & {*kernels}:
        text += " Use --cache drop and images that together exceed the memory."
    title = f"Memory served a part of the reads of {listing([kernel.upper() for kernel in kernels])} on {target}"
    return finding("sar-cached", title, text, "warning", target=target, kernels=kernels)
