# SPDX-License-Identifier: Apache-2.0
"""The machine in two lines: processor, cores, clock and memory; file systems of the targets, and MPI."""

from collections.abc import Iterator
from typing import Final, cast

from ullage.model.summary import Summary
from ullage.quantity import format_quantity, plural
from ullage.report.screen.lines import WIDTH, Line, cut
from ullage.units import format_volume

_UNKNOWN: Final = "machine unknown"


def machine_lines(summary: Summary) -> list[Line]:
    """Return two lines; of a result that came without facts, as an imported one does, one that says so."""
    system = summary.system
    if not system:
        return [Line(f"{_UNKNOWN}: this result came without facts of a machine", "dim")]
    nodes, memory = _nodes(_of(system, "measured_on")), _memory(_of(system, "memory"))
    first = ", ".join([*nodes, *_processor(_of(system, "cpu"), summary), *memory])
    second = "; ".join([*_places(system), *_mpi(summary)])
    return [Line(cut(text, WIDTH)) for text in (first or _UNKNOWN, second) if text]


def _of(facts: dict[str, object], key: str) -> dict[str, object]:
    found = facts.get(key)
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _text(facts: dict[str, object], key: str) -> str:
    found = facts.get(key)
    return found if isinstance(found, str) else ""


def _number(facts: dict[str, object], key: str) -> float | None:
    found = facts.get(key)
    return float(found) if isinstance(found, (int, float)) else None


def _nodes(measured_on: dict[str, object]) -> Iterator[str]:
    if (nodes := _number(measured_on, "nodes")) is not None:
        yield f"{plural(int(nodes), 'node')} with {plural(int(_number(measured_on, 'ranks') or 0), 'rank')}"


def _processor(cpu: dict[str, object], summary: Summary) -> Iterator[str]:
    if model := _text(cpu, "model"):
        yield model
    cores = _number(cpu, "usable_cores") or _number(cpu, "physical_cores")
    if cores is not None:
        yield plural(int(cores), "core")
    measured = [row.median for row in summary.rows if row.metric == "clock" and row.unit == "Hz"]
    base = _number(cpu, "base_hz")
    if measured:
        yield f"{format_quantity(max(measured), 'Hz')} measured"
    elif base:
        yield format_quantity(base, "Hz")
    else:
        yield "clock unknown"


def _memory(memory: dict[str, object]) -> Iterator[str]:
    if (size := _number(memory, "total_bytes")) is not None:
        yield f"{format_volume(int(size))} of memory"


def _places(system: dict[str, object]) -> Iterator[str]:
    places = system.get("places")
    for place in cast("list[object]", places) if isinstance(places, list) else []:
        if isinstance(place, dict):
            yield _place(cast("dict[str, object]", place))


def _place(place: dict[str, object]) -> str:
    """Write ``disk: ext4 on vda``, with the device where there is one."""
    device = _of(place, "device")
    on = _text(device, "model") or _text(device, "name") or _text(place, "source")
    kind = _text(place, "file_system") or "file system unknown"
    return f"{_text(place, 'target')}: {kind}{f' on {on}' if on and on != kind else ''}"


def _mpi(summary: Summary) -> Iterator[str]:
    if library := summary.versions.get("mpi") or _text(_of(summary.system, "mpi"), "library"):
        yield library.partition(",")[0]
