# SPDX-License-Identifier: Apache-2.0
"""Suite ``gpu``: its options, its cases, its rows, and what they say of each device."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Annotated, Final

from pydantic import Field

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.findings.phrasing import finding
from ullage.engine import devices_of
from ullage.errors import EXIT_ENVIRONMENT, NotInThisEngineError, UserError
from ullage.grouping import grouped
from ullage.model.describe import Device
from ullage.model.plan import Scalar, Target
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Finding, Row
from ullage.parameters import suggest
from ullage.quantity import format_quantity, percent
from ullage.results.rows import RowContext
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import CaseOptions
from ullage.runs.kernels.prepared import PreparedKernels, kernel_case
from ullage.runs.options.declared import Option
from ullage.runs.options.kinds import Names, SizeAxis
from ullage.runs.options.reading import read_options
from ullage.runs.told import Launches, Source, summarising, told_rows, usual
from ullage.units import format_bytes

WORKLOAD: Final = "device-stream"
KERNELS: Final = ("read", "write", "copy", "triad")
METRICS: Final = ("device_bandwidth", "device_clock_bandwidth")
HEADERS: Final = ("device", "kernel", "working set")
_LEAST_BYTES: Final = 192 << 10  # a piece of each array of triad
_USUAL_BYTES: Final = 256 << 20
# A set so many times as large as the last cache is not in it.
_BEYOND: Final = 4
# Arrays are filled from the host and read back at about this rate; the rest is what windows take.
_FILLED_BYTES_PER_S: Final = 0.5e9
_WINDOWS_S: Final = 0.4


class GpuOptions(CaseOptions):
    """The options of suite ``gpu``. ``devices``: ids; empty: all. ``working_sets``: empty: one that no cache holds."""

    metrics = " ".join(METRICS)

    devices: Annotated[
        list[str],
        Names(),
        Option("Measure these accelerators, for example opencl:0,opencl:1.", name="--device", unsaid="all"),
    ] = []
    working_sets: Annotated[
        list[Annotated[int, Field(ge=_LEAST_BYTES)]],
        SizeAxis(64 << 10, "1M:1G:x4"),
        Option(
            "Use working sets of these sizes, for example 1M:1G:x4.",
            name="--working-set",
            unsaid="four times the last-level cache, at least 256M",
        ),
    ] = []


def prepare_gpu(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan a case for each device, size and kernel; raise ``UserError`` where there is no such device."""
    options = read_options(GpuOptions, request)
    cases = [
        kernel_case(
            WORKLOAD,
            {"device": device.id, "kernel": kernel, "working_set_bytes": size},
            Target(name=device.id, uri="device:"),
            (device.id, kernel, format_bytes(size)),
            engine_context.description,
            seconds=_WINDOWS_S + size / _FILLED_BYTES_PER_S,
            launch=device.id,
        )
        for device in _devices(options, engine_context)
        for size, kernel in product(options.working_sets or [_usual_bytes(device)], KERNELS)
    ]
    return PreparedKernels(request, options, HEADERS, cases)


def _devices(options: GpuOptions, engine_context: EngineContext) -> list[Device]:
    found = devices_of(engine_context.engine)
    if not found.devices:
        raise NotInThisEngineError(f"no accelerator: {'; '.join(found.missing)}", code=EXIT_ENVIRONMENT)
    known = {device.id: device for device in found.devices}
    for name in options.devices:
        if name not in known:
            raise UserError("there is no such accelerator", f"'{name}'", suggest(name, known), EXIT_ENVIRONMENT)
    return [known[name] for name in options.devices or known]


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
    device = source.phases[-1].hints_granted.get("name", "")
    values = source.values
    return {**usual(row, "access"), "device": device, **values.some("kernel", "working_set_bytes")}


def _finished(row: Row, source: Source) -> Row:
    gauges = source.phases[-1].gauges
    limit, cache, used = (gauges[name].most for name in ("memory_rate_limit", "cache_bytes", "used_bytes"))
    if limit <= 0 or used < _BEYOND * cache:
        return row
    return with_ceiling(row, Ceiling(value=limit, kind="detected", source="driver: memory clock x bus width"))


def findings_of(rows: Sequence[Row], _level: float) -> list[Finding]:
    """Return for each device how fast its memory is."""
    rates = [row for row in rows if row.metric == METRICS[0] and row.params["kernel"] == "triad"]
    found: list[Finding] = []
    for target, own in grouped((row.target, row) for row in rates).items():
        best = max(own, key=lambda row: row.median)
        title = f"{target}: triad at {format_quantity(best.median, 'B/s')}"
        share = "" if best.share is None else f", {percent(best.share)} of what its memory allows"
        text = f"{best.params['device']}: triad moves {format_quantity(best.median, 'B/s')}{share}."
        found.append(finding("device", title, text, "info", device_bandwidth=best.median))
    return found


summarise: Final = summarising(rows_of, findings_of)
