# SPDX-License-Identifier: Apache-2.0
"""Sentences on a pipeline of images: which kernel takes longest, files against containers, rows, and caches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.alike import best_of_alike
from ullage.analysis.findings.phrasing import finding, level_of_part, with_gain
from ullage.analysis.statistics import level_of_each
from ullage.grouping import grouped, nested
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_quantity, listing, plural, times
from ullage.suites.sar.shape import KERNELS, WORK
from ullage.units import format_rate

_FAMILIES: Final = 2
_WALL: Final = "phase_time"
_RATE: Final = "bandwidth"
_PIPELINE: Final = "pipeline_rate"
_READERS: Final = ("k1", "k3", "k4")
_LAYOUT_KERNELS: Final = ("k2", "k3")
_VERBS: Final[Mapping[str, str]] = {"k2": "stores images", "k3": "reads pairs of images"}
_LEGEND: Final = "K1 reads raw data, K2 stores images, K3 reads pairs of images and K4 reads sub-images."
Metrics = Mapping[str, Mapping[str, Row]]
"""The rows of a case by kernel and metric."""


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each of two families has its part of the error of a report."""
    usable = [row for row in rows if not row.is_invalid]
    by_case = {case: _by_kernel(some) for case, some in grouped((row.case, row) for row in usable).items()}
    own = level_of_part(level, _FAMILIES)
    timed = [some for some in by_case.values() if all(_WALL in some.get(kernel, {}) for kernel in KERNELS)]
    each = level_of_each(own, [len(KERNELS)] * len(timed))
    return [
        *(_pipeline(some, each) for some in timed),
        *_layouts(usable, own),
        *(found for some in by_case.values() if (found := _rows(some)) is not None),
        *_cached(usable),
    ]


def _by_kernel(rows: Iterable[Row]) -> Metrics:
    return nested((str(row.params["access"]), row.metric, row) for row in rows)


def who_of(row: Row) -> str:
    """Return where, by which backend, how and by how many ranks images were kept."""
    params = row.params
    return f"{row.target}, {params['backend']}, {params['layout']}, {plural(int(params['ranks']), 'rank')}"


# -- the pipeline ------------------------------------------------------------------------------------------------------


def _pipeline(some: Metrics, level: float) -> Finding:
    """Name the kernels of which none is proved to take less time than the one with the highest median."""
    walls = [some[kernel][_WALL] for kernel in KERNELS]
    longest = max(walls, key=lambda row: row.median)
    slowest = [row for row in walls if row is longest or compare_rows(row, longest, level, None).verdict != "faster"]
    names = [str(row.params["access"]).upper() for row in slowest]
    images = int(longest.params["grid"]) ** 2 * int(longest.params["depth"])
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
    bounded = f", bounded by {WORK[str(longest.params['access'])]}" if alone else ""
    title = f"The pipeline reaches {format_quantity(median, 'image/s')} on {longest.target}{bounded}"
    return finding(
        "sar-pipeline",
        title,
        text,
        case=longest.case,
        images_per_s=median,
        slowest=[str(row.params["access"]) for row in slowest],
        kernels=list(each),
        seconds_an_image=list(each.values()),
    )


# -- files or containers -----------------------------------------------------------------------------------------------


def _layouts(rows: Iterable[Row], level: float) -> list[Finding]:
    """Compare both layouts of images wherever nothing else differs, in the kernels that open them.

    What a cache has answered tells nothing of a layout on storage.
    """
    walls = [
        row for row in rows if row.metric == _WALL and row.params["access"] in _LAYOUT_KERNELS and is_of_device(row)
    ]
    alike = best_of_alike(walls, level, "layout")
    return [_faster_layout(best, other, gain) for (best, other, *_), gain in alike if gain is not None]


def _faster_layout(best: Row, other: Row, gain: Gain) -> Finding:
    kernel, layout = str(best.params["access"]), str(best.params["layout"])
    verb = _VERBS[kernel]
    text = (
        f"{kernel.upper()} {verb} in {format_quantity(best.median, 's')} with {layout} ({who_of(best)}). With "
        f"{other.params['layout']} it takes {format_quantity(other.median, 's')}, {times(gain.factor)} as long."
    )
    title = f"{kernel.upper()} {verb} faster with {layout} on {best.target}"
    found = finding("sar-layout", title, text, "advice", case=best.case, other=other.case, kernel=kernel)
    return with_gain(found, gain, f"--layout {layout}")


# -- rows of sub-images ------------------------------------------------------------------------------------------------


def _rows(some: Metrics) -> Finding | None:
    """State what the sub-images of a pair take beside the pair as a whole."""
    found = some.get("k3", {})
    whole, parts, images = found.get("image_transfer"), found.get("subimage_read"), found.get("image_rate")
    if whole is None or parts is None or images is None or parts.median <= 0 or whole.median <= 0:
        return None
    bytes_ = 2 * int(whole.params["image_bytes"])
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
    served = [row for row in rows if row.metric == _RATE and row.params["access"] in _READERS and not is_of_device(row)]
    return [_answered(target, some) for target, some in grouped((row.target, row) for row in served).items()]


def _answered(target: str, rows: Sequence[Row]) -> Finding:
    kernels = sorted({str(row.params["access"]) for row in rows})
    verdicts = [
        f"{kernel.upper()} {row.verdict}" for kernel in kernels for row in rows if row.params["access"] == kernel
    ]
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
