# SPDX-License-Identifier: Apache-2.0
"""Suite ``sar``: its options, its cases, what ``ullage plan`` says of a run, its rows and sentences."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.statistics.comparison import level_of_each
from ullage.analysis.verdicts.grades import worst_grade
from ullage.grouping import grouped, nested
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, listing, plural, times
from ullage.results.rows import RowContext, RowFrame, join
from ullage.runs.cells.backends import cache_and_verify, storage_backends
from ullage.runs.cells.costs import assumed_besides
from ullage.runs.cells.planning import Cell, Sizing, cell_of
from ullage.runs.cells.prepared import Asked, Preparing, plan_columns
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import StorageOptions
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backends
from ullage.runs.room import Machine
from ullage.runs.session import Note
from ullage.runs.told import Launches, Source, summarising, told_rows, usual
from ullage.units import format_bytes, format_rate, format_volume
from ullage.uri import target_path

SDG: Final = "sdg"
KERNELS: Final = ("k1", "k2", "k3", "k4")
PHASES: Final = (SDG, *KERNELS)
# What the kernels do, as nouns of sentences and tables.
NOUNS: Final[Mapping[str, str]] = {
    SDG: "SDG, make the input",
    "k1": "K1, read raw data",
    "k2": "K2, store images",
    "k3": "K3, read pairs of images",
    "k4": "K4, read sub-images",
}
# The sides at scale 1 are those of the public VSIPL++ sample of kernel 1.
_SIDES: Final[Mapping[str, int]] = {"rows": 1144, "columns": 756, "raw_columns": 1072}
# As often as the rule of the benchmark has it: what is below that, caches may hold.
_MEMORIES: Final = 3
PIPELINE: Final = "pipeline"
_RATE_OF_ALL: Final = "pipeline_rate"


def scaled(scale: float) -> Mapping[str, int]:
    """Return the sides of images and raw data at ``scale``: each is multiplied, so that bytes grow with its square."""
    return {name: max(1, round(side * scale)) for name, side in _SIDES.items()}


def image_bytes(values: Values) -> int:
    """Return the bytes of an image of 4-byte pixels."""
    return values.count("rows") * values.count("columns") * 4


def images_of(row: Row) -> int:
    """Return how many images the case of a row has."""
    return row.count("grid") ** 2 * row.count("depth")


class SarOptions(StorageOptions):
    """``scale`` multiplies the sides of images and raw data."""

    workload = "sar"
    shrinks_blocks = True
    metrics = (
        "bandwidth image_rate file_rate phase_time latency_p50 latency_p95 latency_p99 latency_max image_open "
        "image_transfer subimage_read detection_write image_close sync_time cpu_time"
    )
    changes = {
        "targets": Change("Keep the images at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: scale 0.25, 3 x 3 locations with 2 images each."),
    }

    scale: Annotated[
        float,
        Field(gt=0, le=14),
        Option(
            "Multiply the sides of images (1144 x 756 pixels) and raw data (1144 x 1072 samples) by this.",
            quick="0.25",
            sets=("scale", "image_bytes", "volume"),
        ),
    ] = 1.0
    grid: Annotated[int, OfEngine(quick="3")] = 4
    depth: Annotated[int, OfEngine(quick="2")] = 4
    layouts: Annotated[list[str], OfEngine("layout", usual="files,containers")]
    raw: Annotated[str, OfEngine()] = "shared"
    raw_files: Annotated[int, OfEngine()] = 1
    templates: Annotated[int, OfEngine()] = 40
    subimages: Annotated[int, OfEngine()] = 8
    side: Annotated[int, OfEngine("subimage_side")] = 64
    sync: Annotated[str, OfEngine()] = "close"
    read_back: Annotated[
        Literal["other-node", "own"],
        OfEngine(
            help="In K1, K3 and K4, read what ranks of another node wrote, or the next rank on one node (other-node), "
            "or own files (own)."
        ),
    ] = "other-node"
    cache: Annotated[str, OfEngine()] = "drop"
    verify: Annotated[str | None, OfEngine(unsaid="full, if the backend holds data")] = None
    backends: Backends = []

    @model_validator(mode="after")
    def _holds_subimages(self) -> Self:
        least = scaled(self.scale)["columns"]
        if self.side > least:
            what = f"an image of {least} columns has no room for sub-images of {self.side} pixels"
            raise OptionError("scale", what, "choose a larger --scale or a smaller --subimage-side")
        return self


def make_cells(asked: Asked[SarOptions]) -> list[Cell]:
    """Return every combination; raise ``UserError`` for what the engine would refuse."""
    options, description = asked.options, asked.description
    return [
        cell_of(
            target,
            layout,
            (backend.name, {}),
            (
                "sar",
                {
                    **options.of_engine(),
                    **scaled(options.scale),
                    "layout": words,
                    "seed": options.seed,
                    "sync": options.sync if "metadata" in backend.capabilities else "none",
                    **cache_and_verify(
                        backend, options.cache if target_path(target) is not None else "none", options.verify, "full"
                    ),
                },
            ),
            description,
        )
        for layout, target in itertools.product(asked.layouts, asked.targets)
        for backend in storage_backends(target, options.backends, description)
        for words in options.layouts
    ]


_COLUMNS: Final = plan_columns(
    "target backend ranks layout images data files",
    images=lambda cell: (
        f"{cell.values.count('grid') ** 2 * cell.values.count('depth'):,} of {format_volume(cell.block_bytes)}"
    ),
)


def _settle(options: SarOptions, _machine: Machine) -> tuple[SarOptions, str]:
    sides = scaled(options.scale)
    each = format_volume(sides["rows"] * sides["columns"] * 4)
    return options, f"{options.grid} x {options.grid} locations, {options.depth} images of {each} each"


def _lines(asked: Asked[SarOptions], cells: Sequence[Cell]) -> list[str]:
    options, values = asked.options, cells[0].values
    raw_bytes = values.count("rows") * values.count("raw_columns") * 8
    raws = f"{plural(options.raw_files, 'raw file')} of {format_volume(raw_bytes)}"
    of_whom = "for all ranks" if options.raw == "shared" else "for each rank"
    whose = "its own files" if options.read_back == "own" else "files of another node's rank, or of the next rank"
    pairs = plural(options.grid**2 * (options.depth - 1), "pair")
    parts = f"{plural(options.subimages, 'sub-image')} of each pair in rows of {format_bytes(options.side * 4)}"
    return [
        f"SDG makes {raws} {of_whom} and {plural(options.templates, 'template')}.",
        "K1 reads a raw file for each image. K2 stores the images, by time and then in random order of location.",
        f"K3 reads {pairs} of images whole, and {parts}. It writes these to a file of detections.",
        "K4 reads them again, with all templates, and writes a record of 64 bytes for each sub-image.",
        f"In K1, K3 and K4, a rank reads {whose}.",
    ]


def _notes(asked: Asked[SarOptions], cells: Sequence[Cell]) -> list[Note]:
    """Return a note where the memory of the nodes can hold what a case keeps."""
    total = asked.machine.memory.total_bytes
    nodes = max(cell.layout.nodes or 1 for cell in cells)
    most = max(cell.dataset_bytes for cell in cells)
    in_memory = all(place.is_memory for place in asked.machine.places)
    if total is None or in_memory or most >= _MEMORIES * nodes * total:
        return []
    text = (
        f"a case keeps {format_volume(most)}, less than {_MEMORIES} times the memory of {plural(nodes, 'node')}, so "
        "caches may hold a part of it"
    )
    return [Note("volume-below-memory", text, "read the verdict of each row, or use a larger --grid or --depth")]


prepare: Final = Preparing(
    SarOptions,
    _settle,
    make_cells,
    Sizing("layout", image_bytes, lambda _values: PHASES),
    _COLUMNS,
    _lines,
    _notes,
    shares_less="use --read-back own",
    fewer_files="use --layout containers",
    costing=assumed_besides,
)


def sar_rows(launches: Launches, context: RowContext) -> list[Row]:
    """Return the rows of all kernels with their sizes, and one of the pipeline behind those of each case."""
    repetitions = grouped(((item.case.case, item.case.repetition), item.phase) for item in join(launches))
    of_case = grouped((case, phases) for (case, _), phases in repetitions.items())
    rows = grouped((row.case, row) for row in told_rows(launches, context, _tell))
    return [row for case, some in rows.items() for row in (*some, *_pipeline(some, of_case[case], context))]


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    return {
        **usual(row, "access", "ranks", "nodes", "backend"),
        **source.values.some("layout"),
        "image_bytes": image_bytes(source.values),
        **source.values.some("grid", "depth", "raw", "sync"),
    }


def _pipeline(rows: Sequence[Row], repetitions: Iterable[Sequence[PhaseRecord]], context: RowContext) -> list[Row]:
    """Return the row of the pipeline: images a second if all kernels worked at once, each at the rate it reaches alone.

    That is 1 / max over K1 to K4 of the time of a kernel for an image, in each repetition.
    """
    kernels = [[phase for phase in phases if phase.phase in KERNELS] for phases in repetitions]
    longest = [max(one.elapsed_ns for one in some) for some in kernels if {one.phase for one in some} == {*KERNELS}]
    samples = [images_of(rows[0]) * 1e9 / elapsed_ns for elapsed_ns in longest if elapsed_ns > 0]
    if not samples:
        return []
    params, grade = {**rows[0].params, "access": PIPELINE}, worst_grade(row.grade for row in rows)
    frame = RowFrame(_RATE_OF_ALL, "image/s", rows[0].target, params, rows[0].case, grade=grade)
    return [frame.row(samples, context.level, context.wanted_width)]


_FAMILIES: Final = 2  # the slowest kernel, and the layouts
_WALL: Final = "phase_time"
_VERBS: Final[Mapping[str, str]] = {"k2": "stores images", "k3": "reads pairs of images"}
_LEGEND: Final = "K1 reads raw data, K2 stores images, K3 reads pairs of images and K4 reads sub-images."
Metrics = Mapping[str, Mapping[str, Row]]
"""The rows of a case by kernel and metric."""


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each of two families has its part of the error of a report."""
    usable = [row for row in rows if not row.is_invalid]
    by_case = grouped((row.case, (row.access, row.metric, row)) for row in usable)
    cases = [nested(some) for some in by_case.values()]
    own = level_of_part(level, _FAMILIES)
    walls = [row for row in usable if row.metric == _WALL and row.access in _VERBS]
    reads = [row for row in usable if row.metric == "bandwidth" and row.access in ("k1", "k3", "k4")]
    served = [row for row in reads if not is_of_device(row)]
    timed = [case for case in cases if all(_WALL in case.get(kernel, {}) for kernel in KERNELS)]
    each = level_of_each(own, [len(KERNELS)] * len(timed))
    return [
        *(_slowest_kernel(case, each) for case in timed),
        # What a cache has answered tells nothing of a layout on storage.
        *_FASTER_LAYOUT.findings(filter(is_of_device, walls), own, _words),
        *(found for case in cases for found in _parts_of_pairs(case.get("k3", {}))),
        *(_served(target, some) for target, some in grouped((row.target, row) for row in served).items()),
    ]


def _who(row: Row) -> str:
    return f"{row.target}, {row.params['backend']}, {row.params['layout']}, {plural(row.ranks, 'rank')}"


def _work(kernel: str) -> str:
    """Return what stands of a kernel in a sentence: ``K2 (store images)``."""
    return NOUNS[kernel].replace(", ", " (") + ")"


def _slowest_kernel(case: Metrics, level: float) -> Finding:
    """Name the kernels of which none is proved to take less time than the one with the highest median."""
    walls = {kernel: case[kernel][_WALL] for kernel in KERNELS}
    longest = max(walls.values(), key=lambda row: row.median)
    slowest = [
        kernel
        for kernel, row in walls.items()
        if row is longest or compare_rows(row, longest, level, None).verdict != "faster"
    ]
    each = {kernel: row.median / images_of(row) for kernel, row in walls.items()}
    of_all = case.get(PIPELINE, {}).get(_RATE_OF_ALL)
    rate = 1 / max(each.values()) if of_all is None else of_all.median
    reached = f"The pipeline reaches {format_quantity(rate, 'image/s')}"
    names = [kernel.upper() for kernel in slowest]
    alone = len(names) == 1
    bound = f"{names[0]} takes longest." if alone else f"Which of {listing(names)} takes longest cannot be told."
    told = listing([f"{kernel.upper()} {format_quantity(seconds, 's')}" for kernel, seconds in each.items()])
    return finding(
        "sar-pipeline",
        f"{reached} on {longest.target}{f', bounded by {_work(longest.access)}' if alone else ''}",
        f"{reached} ({_who(longest)}). {bound} {_LEGEND} Times for an image: {told}.",
        case=longest.case,
        images_per_s=rate,
        slowest=slowest,
        kernels=list(each),
        seconds_an_image=list(each.values()),
    )


_FASTER_LAYOUT: Final = Faster(
    "sar-layout",
    "layout",
    "--layout",
    title="{kernel} {verb} faster with {layout} on {target}",
    text="{kernel} {verb} in {value} with {layout} ({who}). With {other_layout} it takes {other_value}, {factor} as "
    "long.",
    numbers={"kernel": "access"},
)


def _words(row: Row) -> Mapping[str, str]:
    return {"kernel": row.access.upper(), "verb": _VERBS[row.access], "who": _who(row)}


def _parts_of_pairs(metrics: Mapping[str, Row]) -> list[Finding]:
    whole, parts = metrics.get("image_transfer"), metrics.get("subimage_read")
    if whole is None or parts is None or "image_rate" not in metrics or parts.median <= 0 or whole.median <= 0:
        return []
    title = f"Sub-images take {times(parts.median / whole.median)} the time of their pair of images on {whole.target}"
    text = (
        f"In K3, the transfer of a pair takes {format_quantity(whole.median, 's')}, that is "
        f"{format_rate(2 * whole.count('image_bytes') / whole.median)} on a rank ({_who(whole)}). Its sub-images take "
        f"{format_quantity(parts.median, 's')} more, row by row. Both are medians."
    )
    return [finding("sar-rows", title, text, case=whole.case, pair_s=whole.median, subimages_s=parts.median)]


def _served(target: str, rows: Sequence[Row]) -> Finding:
    rows = sorted(rows, key=lambda row: row.access)
    kernels = list(dict.fromkeys(row.access for row in rows))
    verdicts = dict.fromkeys(f"{row.access.upper()} {row.verdict}" for row in rows)
    works = listing([*map(_work, kernels)])
    text = f"Memory served a part of the reads of {works} on {target}. Verdicts: {listing([*verdicts])}."
    if "k1" in kernels:
        text += " K1 reads the same raw files again. Use more --raw-files."
    if {"k3", "k4"} & {*kernels}:
        text += " Use --cache drop and images that together exceed the memory."
    title = f"Memory served a part of the reads of {listing([kernel.upper() for kernel in kernels])} on {target}"
    return finding("sar-cached", title, text, "warning", target=target, kernels=kernels)


summarise: Final = summarising(lambda launches, context, _request: sar_rows(launches, context), findings_of)
