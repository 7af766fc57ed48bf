# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``sar``: a table for each kernel, the pipeline, and the time for an image by kernel."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import format_quantity, plural, rounded, scale_for
from ullage.report.answers import AnswerRule
from ullage.report.contents import Chart, Content, Figure, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, PhaseLine, grid_of, interval_text, metric_column, param_text, phase_lines
from ullage.report.headlines import Rule
from ullage.report.plots import COLORS, nominal, plot, quantity_axis
from ullage.report.vega import Spec, tooltip
from ullage.report.verdicts import headword
from ullage.suites.sar.shape import KERNELS, NOUNS, PHASES
from ullage.units import format_volume

_SUITE: Final = "sar"
_PIPELINE: Final = "pipeline"
_RATE: Final = "pipeline_rate"
_LAYOUTS: Final = ("files", "containers")


def _phase(line: PhaseLine) -> str:
    return str(line.first.params["access"])


def _place(line: PhaseLine) -> tuple[str, int, str, int]:
    """Return by what lines are ordered: cases were measured in a random order."""
    params = line.first.params
    return line.first.target, int(params["ranks"]), str(params["backend"]), _LAYOUTS.index(str(params["layout"]))


def _lines(data: ReportData) -> list[PhaseLine]:
    return sorted(phase_lines(data.rows_of(_SUITE)), key=_place)


def tables(data: ReportData) -> Content | None:
    """Return a table of the pipeline and one for each kernel, or None where nothing was measured."""
    lines = _lines(data)
    if not lines:
        return None
    grids = grid_of("Pipeline", _OF_PIPELINE, [line for line in lines if _phase(line) == _PIPELINE])
    for phase in PHASES:
        grids += grid_of(NOUNS[phase], _COLUMNS, [line for line in lines if _phase(line) == phase])
    params = lines[0].first.params
    images = int(params["grid"]) ** 2 * int(params["depth"])
    each, grid = format_volume(int(params["image_bytes"])), f"{params['grid']} x {params['grid']} locations"
    note = f"{plural(images, 'image')} of {each}: {grid} with {params['depth']} images each."
    return Content(notes=[note], grids=grids)


_WHERE: Final[Sequence[Column[PhaseLine]]] = (
    Column("target", lambda line: line.first.target, is_number=False),
    Column("backend", param_text("backend"), is_number=False),
    Column("ranks", param_text("ranks")),
    Column("layout", param_text("layout"), is_number=False),
    Column("sync", param_text("sync"), is_number=False),
)
_OF_PIPELINE: Final[Sequence[Column[PhaseLine]]] = (
    *_WHERE,
    metric_column("rate", _RATE),
    Column("interval", lambda line: interval_text(line.rows[_RATE])),
)
_COLUMNS: Final[Sequence[Column[PhaseLine]]] = (
    *_WHERE,
    metric_column("rate", "bandwidth"),
    metric_column("images", "image_rate"),
    metric_column("files", "file_rate"),
    metric_column("wall", "phase_time"),
    metric_column("p50", "latency_p50"),
    metric_column("p95", "latency_p95"),
    metric_column("p99", "latency_p99"),
    metric_column("max", "latency_max"),
    metric_column("open", "image_open"),
    metric_column("transfer", "image_transfer"),
    metric_column("sub-images", "subimage_read"),
    metric_column("write", "detection_write"),
    metric_column("close", "image_close"),
    metric_column("sync at the end", "sync_time"),
    Column("verdict", lambda line: headword(line.first), is_number=False),
)


# -- the chart ---------------------------------------------------------------------------------------------------------


def figures(data: ReportData) -> list[Figure]:
    """Return a figure for each target: the time of each kernel for an image, a bar for each layout."""
    walls = [row for row in data.rows_of(_SUITE) if row.metric == "phase_time" and row.params["access"] in KERNELS]
    places = grouped(((row.target, row.params["backend"], int(row.params["ranks"])), row) for row in walls)
    return [
        Figure(f"{target}, {backend}, {plural(ranks, 'rank')}", "", _spec(rows))
        for (target, backend, ranks), rows in sorted(places.items(), key=lambda item: str(item[0]))
    ]


def _seconds(row: Row) -> float:
    """Return the time of a kernel for an image."""
    return row.median / (int(row.params["grid"]) ** 2 * int(row.params["depth"]))


def _spec(rows: Sequence[Row]) -> Spec:
    scale = scale_for([_seconds(row) for row in rows], "s")
    values = [
        {
            "kernel": str(row.params["access"]).upper(),
            "layout": str(row.params["layout"]),
            "x": rounded(_seconds(row) / scale.factor),
            "text": format_quantity(_seconds(row), "s"),
            "verdict": row.verdict,
        }
        for row in sorted(rows, key=lambda row: (str(row.params["access"]), _LAYOUTS.index(str(row.params["layout"]))))
    ]
    names = [name for name in _LAYOUTS if any(value["layout"] == name for value in values)]
    kernels = [kernel.upper() for kernel in KERNELS]
    encoding = {
        "y": {"field": "kernel", "type": "nominal", "title": None, "sort": kernels},
        "yOffset": {"field": "layout", "type": "nominal", "sort": names},
        "x": quantity_axis("x", f"time for an image ({scale.unit})"),
        "color": nominal("layout", names, COLORS[: len(names)], {"title": None, "orient": "top"}),
        "tooltip": tooltip(
            ("kernel", "kernel"), ("layout", "layout"), ("text", "for an image"), ("verdict", "really measured")
        ),
    }
    return plot(470, 130, values, {"type": "bar"}, encoding)


def _is_of_storage(row: Row) -> bool:
    """Tell whether a row is of images that were stored or read, and no cache is known to have answered."""
    return "image_bytes" in row.params and row.params.get("access") in ("k2", "k3") and is_of_device(row)


def _headline(row: Row) -> str:
    done = "images stored" if row.params["access"] == "k2" else "pairs of images read"
    return f"{row.target}: {done}, {plural(int(row.params['ranks']), 'rank')}"


SECTIONS: Final = (
    Section(
        name="sar",
        title="Pipeline of radar images",
        doc="The rate of the pipeline is that of images if all kernels worked at once: one over the longest time of a "
        "kernel for an image. A rate is the bytes of all ranks over the time from the first open to the last close, "
        "with the sync. Percentiles are of an operation: a file in SDG, a raw file in K1, an image in K2, a pair in "
        "K3, a group of sub-images in K4.",
        order=2,
        part="disk",
        build=tables,
        suite=_SUITE,
    ),
)
CHARTS: Final = (
    Chart(
        name="sar_kernels",
        title="Time for an image by kernel",
        doc="The time of each kernel over the number of images. The longest bar bounds the pipeline.",
        order=3,
        part="disk",
        build=figures,
    ),
)
HEADLINES: Final = (Rule("disk", "bandwidth", _is_of_storage, lambda row: ("sar", row.params["access"]), _headline),)
ANSWERS: Final = (
    AnswerRule(
        _SUITE,
        "How many radar images a second does storage take?",
        ("sar-pipeline", "sar-layout", "sar-rows"),
        ("sar-cached",),
        {"sar-pipeline": "images_per_s"},
    ),
)
