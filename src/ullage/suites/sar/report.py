# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``sar``: a table for each kernel, the pipeline, and the time for an image by kernel."""

from collections.abc import Sequence
from typing import Final

from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import format_quantity, plural, rounded, scale_for
from ullage.report.answers import AnswerRule
from ullage.report.contents import Figure
from ullage.report.data import ReportData
from ullage.report.declared import Table, columns, storage_chart, storage_section, tables_of
from ullage.report.grids import metric_column
from ullage.report.headlines import storage_rule
from ullage.report.plots import COLORS, nominal, plot, quantity_axis
from ullage.report.vega import Spec, tooltip
from ullage.suites.sar.suite import KERNELS, NOUNS, PHASES, PIPELINE, images_of
from ullage.units import format_volume

_SUITE: Final = "sar"
_TABLES: Final = (PIPELINE, *PHASES)
_LAYOUTS: Final = ("files", "containers")


def _place(row: Row) -> tuple[int, str, int, str, int]:
    return _TABLES.index(row.access), row.target, row.ranks, row.word("backend"), _LAYOUTS.index(row.word("layout"))


def _notes(rows: Sequence[Row]) -> list[str]:
    first = rows[0]
    each, grid = format_volume(first.count("image_bytes")), f"{first.params['grid']} x {first.params['grid']} locations"
    return [f"{plural(images_of(first), 'image')} of {each}: {grid} with {first.params['depth']} images each."]


_WHERE: Final = "target backend ranks layout sync"
tables: Final = tables_of(
    _SUITE,
    [
        Table(
            columns(_WHERE, metric_column("rate", "pipeline_rate"), "pipeline_rate:interval"),
            lambda row: "Pipeline" if row.access == PIPELINE else None,
        ),
        Table(
            columns(
                _WHERE,
                "bandwidth=rate image_rate=images file_rate=files phase_time=wall latency_p50=p50 latency_p95=p95",
                "latency_p99=p99 latency_max=max image_open=open image_transfer=transfer subimage_read=sub-images",
                "detection_write=write image_close=close sync_time=sync_at_the_end verdict",
            ),
            lambda row: NOUNS.get(row.access),
        ),
    ],
    _place,
    _notes,
)


def figures(data: ReportData) -> list[Figure]:
    """Return a figure for each target: the time of each kernel for an image, a bar for each layout."""
    walls = [row for row in data.rows_of(_SUITE) if row.metric == "phase_time" and row.access in KERNELS]
    places = grouped(((row.target, row.params["backend"], row.ranks), row) for row in walls)
    return [
        Figure(f"{target}, {backend}, {plural(ranks, 'rank')}", "", _spec(rows))
        for (target, backend, ranks), rows in sorted(places.items(), key=lambda item: str(item[0]))
    ]


def _seconds(row: Row) -> float:
    return row.median / images_of(row)


def _spec(rows: Sequence[Row]) -> Spec:
    scale = scale_for([_seconds(row) for row in rows], "s")
    values = [
        {
            "kernel": row.access.upper(),
            "layout": row.word("layout"),
            "x": rounded(_seconds(row) / scale.factor),
            "text": format_quantity(_seconds(row), "s"),
            "verdict": row.verdict,
        }
        for row in sorted(rows, key=lambda row: (row.access, _LAYOUTS.index(row.word("layout"))))
    ]
    names = [name for name in _LAYOUTS if any(value["layout"] == name for value in values)]
    kernels = [kernel.upper() for kernel in KERNELS]
    encoding = {
        "y": {"field": "kernel", "type": "nominal", "title": None, "sort": kernels},
        "yOffset": {"field": "layout", "type": "nominal", "sort": names},
        "x": quantity_axis("x", f"time for an image ({scale.unit})"),
        "color": nominal("layout", names, COLORS[: len(names)], {"title": None, "orient": "top"}),
        "tooltip": tooltip("kernel layout text=for_an_image verdict"),
    }
    return plot(470, 130, values, {"type": "bar"}, encoding)


SECTION: Final = storage_section(
    _SUITE,
    "Pipeline of radar images",
    "The rate of the pipeline is that of images if all kernels worked at once: one over the longest time of a "
    "kernel for an image. A rate is the bytes of all ranks over the time from the first open to the last close, "
    "with the sync. Percentiles are of an operation: a file in SDG, a raw file in K1, an image in K2, a pair in "
    "K3, a group of sub-images in K4.",
    tables,
)
CHART: Final = storage_chart(
    "sar_kernels",
    "Time for an image by kernel",
    "The time of each kernel over the number of images. The longest bar bounds the pipeline.",
    figures,
)
_DONE: Final = {"k2": "images stored", "k3": "pairs of images read"}
HEADLINE: Final = storage_rule("{target}: {done}, {ranks}", "image_bytes", done=_DONE, of_device=True)
ANSWER: Final = AnswerRule(
    _SUITE,
    "How many radar images a second does storage take?",
    "sar-pipeline sar-layout sar-rows",
    "sar-cached",
    {"sar-pipeline": "images_per_s"},
)
