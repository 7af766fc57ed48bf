# SPDX-License-Identifier: Apache-2.0
"""Suite ``gpu``: its options, its cases, its rows, and what they say of each device."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Final

from pydantic import Field

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.phrasing import finding, gain_of, with_gain
from ullage.engine import devices_of
from ullage.errors import EXIT_ENVIRONMENT, NotInThisEngineError, UserError
from ullage.grouping import grouped
from ullage.model.describe import Device
from ullage.model.plan import Scalar, Target
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Finding, Row
from ullage.parameters import suggest
from ullage.quantity import format_param, format_quantity, listing, percent
from ullage.results.rows import RowContext
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import CaseOptions
from ullage.runs.kernels.prepared import PreparedKernels, kernel_case
from ullage.runs.options.declared import Option
from ullage.runs.options.kinds import Names, SizeAxis
from ullage.runs.options.reading import read_options
from ullage.runs.told import Launches, Source, summarising, told_rows, usual

STREAM, COMPUTE, COPY, LAUNCH = WORKLOADS = ("device-stream", "device-compute", "device-copy", "device-launch")
KERNELS: Final = ("read", "write", "copy", "triad")
METRICS: Final = ("device_bandwidth", "device_clock_bandwidth", "device_compute_rate", "device_launch_time")
HEADERS: Final = ("device", "workload", "parameters")
# By workload: what bounds it, by whom, and which parameters a row tells.
_CEILINGS: Final[Mapping[str, str]] = {
    STREAM: "driver: memory clock x bus width",
    COMPUTE: "driver: units x highest clock x operations a clock of this compute capability",
    COPY: "sysfs: generation x width of the PCIe link during the copies",
}
_TOLD: Final[Mapping[str, tuple[str, ...]]] = {
    STREAM: ("kernel", "working_set_bytes"),
    COMPUTE: ("type",),
    COPY: ("direction", "host_memory", "size_bytes"),
    LAUNCH: ("wait",),
}
_LEAST_BYTES: Final = 192 << 10  # a piece of each array of triad
_USUAL_BYTES: Final = 256 << 20
# A set so many times as large as the last cache is not in it.
_BEYOND: Final = 4
# Arrays are filled from the host and read back at about this rate; the rest is what windows take.
_FILLED_BYTES_PER_S: Final = 0.5e9
_WINDOWS_S: Final = 0.4
# A link below this share of what the device has is narrower, not only rounded.
_WHOLE_LINK: Final = 0.95
NARROW: Final = "the link runs at"


class GpuOptions(CaseOptions):
    """The options of suite ``gpu``.

    ``devices``: ids; empty: all but CPUs. ``working_sets``: empty: one that no cache holds.
    """

    metrics = " ".join(METRICS)

    devices: Annotated[
        list[str],
        Names(),
        Option("Measure these accelerators, for example opencl:0,opencl:1.", name="--device", unsaid="all but CPUs"),
    ] = []
    working_sets: Annotated[
        list[Annotated[int, Field(ge=_LEAST_BYTES)]],
        SizeAxis(64 << 10, "1M:1G:x4"),
        Option(
            "Use working sets of these sizes, for example 1M:1G:x4.",
            name="--working-set",
            sets=("working_set_bytes",),
            unsaid="four times the last-level cache, at least 256M",
        ),
    ] = []
    copies: Annotated[
        list[Annotated[int, Field(ge=1)]],
        SizeAxis(),
        Option(
            "Copy so many bytes at a time between host and device.",
            name="--copy",
            usual="64K,1M,64M",
            quick="64M",
            sets=("size_bytes",),
        ),
    ]


def prepare_gpu(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan the cases of each device; raise ``UserError`` where there is no such device."""
    options = read_options(GpuOptions, request)
    cases = [
        kernel_case(
            workload,
            {"device": device.id, **parameters},
            Target(name=device.id, uri="device:"),
            (device.id, workload, ", ".join(format_param(name, value) for name, value in parameters.items())),
            engine_context.description,
            seconds=_WINDOWS_S + filled / _FILLED_BYTES_PER_S,
            launch=device.id,
        )
        for device in _devices(options, engine_context)
        for workload, parameters, filled in _cases(device, options)
    ]
    return PreparedKernels(request, options, HEADERS, cases)


def _cases(device: Device, options: GpuOptions) -> Iterator[tuple[str, dict[str, Scalar], int]]:
    """Yield workload, parameters, and the bytes that are filled and checked outside of the windows."""
    for size, kernel in product(options.working_sets or [_usual_bytes(device)], KERNELS):
        if device.has_fp64 or kernel != "triad":
            yield STREAM, {"kernel": kernel, "working_set_bytes": size}, size
    for real in ("fp64", "fp32")[not device.has_fp64 :]:
        yield COMPUTE, {"type": real}, 0
    for size, direction, memory in product(options.copies, ("to-device", "to-host"), ("pinned", "pageable")):
        yield COPY, {"direction": direction, "host_memory": memory, "size_bytes": size}, 3 * size
    for wait in ("each", "last"):
        yield LAUNCH, {"wait": wait}, 0


def _devices(options: GpuOptions, engine_context: EngineContext) -> list[Device]:
    found = devices_of(engine_context.engine)
    known = {device.id: device for device in found.devices}
    for name in options.devices:
        if name not in known:
            raise UserError("there is no such accelerator", f"'{name}'", suggest(name, known), EXIT_ENVIRONMENT)
    chosen = [known[name] for name in options.devices] or found.accelerators
    if not chosen:
        raise NotInThisEngineError(found.why_none, code=EXIT_ENVIRONMENT)
    return chosen


def _usual_bytes(device: Device) -> int:
    """Return a set that no cache of ``device`` holds, and that takes at most a quarter of its memory."""
    return max(_LEAST_BYTES, min(max(_USUAL_BYTES, _BEYOND * device.cache_bytes), device.memory_bytes // 4))


def rows_of(launches: Launches, context: RowContext, _request: Request) -> list[Row]:
    """Return the rows of all devices, under what the memory of each allows where that is known."""
    own = context
    for name in {record.target for launch in launches for record in launch if isinstance(record, CaseRecord)}:
        own = own.without_storage(name, METRICS)
    return told_rows(launches, own, _told, _finished)


def _told(row: Row, source: Source) -> Mapping[str, Scalar]:
    told = source.values.some(*_TOLD[source.case.workload])
    measure = {STREAM: "memory", COPY: "link", LAUNCH: "launch"}.get(source.case.workload) or told["type"]
    device = source.phases[-1].hints_granted.get("name", "")
    return {**usual(row, "access"), "device": device, "measure": measure, **told}


def _finished(row: Row, source: Source) -> Row:
    """Add the ceiling that the device has for such a row, and a note where its link is narrower than the device's."""
    gauges = {name: gauge.most for name, gauge in source.phases[-1].gauges.items()}
    limit, workload = gauges["limit"], source.case.workload
    if limit <= 0 or (workload == STREAM and gauges["used_bytes"] < _BEYOND * gauges["cache_bytes"]):
        return row
    stated = f"{format_quantity(limit, 'B/s')} of {format_quantity(gauges.get('widest_link', 0.0), 'B/s')}"
    if workload == COPY and row.median > limit:
        # Virtual machines may make the link up.
        return row.model_copy(update={"notes": [*row.notes, f"sysfs states less than was copied: {stated}"]})
    if limit < _WHOLE_LINK * gauges.get("widest_link", 0.0):
        row = row.model_copy(update={"notes": [*row.notes, f"{NARROW} {stated}"]})
    return with_ceiling(row, Ceiling(value=limit, kind="detected", source=_CEILINGS[workload]))


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return for each device what it reaches, what pinned memory gains, and whether its link is narrow."""
    found: list[Finding] = []
    for target, own in grouped((row.target, row) for row in rows if row.metric != METRICS[1]).items():
        found += [*_reached(target, own), *_pageable(target, own, level), *_narrow(target, own)]
    return found


def _reached(target: str, rows: Sequence[Row]) -> list[Finding]:
    """Return the best of each measure that has a rate, in one finding."""
    rated = [row for row in rows if row.better == "more" and row.params.get("host_memory") != "pageable"]
    kept = [row for row in rated if row.params.get("kernel", "triad") == "triad"]
    best = [
        max(own, key=lambda row: row.median) for own in grouped((row.word("measure"), row) for row in kept).values()
    ]
    if not best:
        return []
    shares = [f" ({percent(row.share)} of its ceiling)" if row.share is not None else "" for row in best]
    texts = [
        f"{row.word('measure')} {format_quantity(row.median, row.unit)}{share}"
        for row, share in zip(best, shares, strict=True)
    ]
    title = f"{target}: {best[0].word('measure')} {format_quantity(best[0].median, best[0].unit)}"
    numbers = {row.word("measure"): row.median for row in best}
    return [finding("device", title, f"{target}, {best[0].params['device']}: {listing(texts, len(texts))}.", **numbers)]


def _pageable(target: str, rows: Sequence[Row], level: float) -> list[Finding]:
    """Return how much faster the largest copies are with pinned memory."""
    copies = [row for row in rows if row.params["measure"] == "link"]
    largest = max((row.count("size_bytes") for row in copies), default=0)
    pairs = grouped((row.word("direction"), row) for row in copies if row.count("size_bytes") == largest)
    found: list[Finding] = []
    for direction, own in pairs.items():
        by = {row.word("host_memory"): row for row in own}
        gain = gain_of(compare_rows(by["pinned"], by["pageable"], level)) if len(by) > 1 else None
        if gain is not None:
            slow, fast = (format_quantity(by[memory].median, "B/s") for memory in ("pageable", "pinned"))
            title = f"{target}: pageable memory slows copies {direction.replace('-', ' ')}"
            said = finding("pageable", title, f"{title}: {slow} from pageable, {fast} from pinned memory.", "advice")
            change = "Pin the memory of the host that is copied (cudaHostRegister, pin_memory=True)."
            found.append(with_gain(said, gain, change))
    return found


def _narrow(target: str, rows: Sequence[Row]) -> list[Finding]:
    notes = sorted({note for row in rows for note in row.notes if note.startswith(NARROW)})
    if not notes:
        return []
    text = f"{notes[-1]} that the device has. Look at LnkSta in `lspci -vv`; try another slot, and reseat the card."
    return [finding("link", f"{target}: the link is narrower than the device's", f"{target}: {text}", "warning")]


summarise: Final = summarising(rows_of, findings_of)
