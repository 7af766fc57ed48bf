# SPDX-License-Identifier: Apache-2.0
"""Suite ``pio``: its cases (places, backends, ranks, patterns, requests, calls), what a run does, and its rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.ceilings import with_ceilings
from ullage.runs.cells.backends import storage_backends
from ullage.runs.cells.planning import Cell, Sizing, cell_of
from ullage.runs.cells.prepared import Asked, Preparing, plan_columns
from ullage.runs.options.engine import Values
from ullage.runs.options.reading import read_options
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.pio.findings import findings_of, ignored_hints
from ullage.suites.pio.options import OPERATIONS, OWNERS, Calls, PioOptions, Spatial
from ullage.units import format_bytes, format_volume
from ullage.uri import target_scheme

WORKLOAD: Final = "pio"
_SHARED: Final = "sequential-shared"


def pattern_of(cell: Cell) -> str:
    """Return the word of a case's pattern."""
    return cell.values.word("pattern")


def calls_of(cell: Cell) -> str:
    """Tell whether the calls of a case are ``collective`` or ``independent``."""
    return "collective" if is_collective(cell.parameters, cell.case.backend.parameters) else "independent"


def is_collective(workload: Mapping[str, object], backend: Mapping[str, object]) -> bool:
    """Tell whether calls are collective: through views by the workload, else by the backend."""
    return bool(workload.get("collective") if workload.get("through") == "view" else backend.get("collective"))


def make_cells(asked: Asked[PioOptions]) -> list[Cell]:
    """Return every combination that means something; raise ``UserError`` for what the engine would refuse.

    Collective calls need views of files or HDF5, and a file that several ranks share. Views need vertices in the order
    of the file.
    """
    options, description = asked.options, asked.description
    backends = {target.name: _backends_of(target, options, description) for target in asked.targets}
    names = sorted({name for some in backends.values() for name in some})
    taken = [("hints", "--hint"), ("collective", "--calls")]
    check_settings(options.parameters, names, {f"{name}.{key}": option for name in names for key, option in taken})
    cells = [
        _cell(target, backend, layout, options, spatial, way, description)
        for layout, target in product(asked.layouts, asked.targets)
        for backend in backends[target.name]
        for spatial in options.spatials
        for way in _ways(spatial, find_registered(description, "backend", backend))
    ]
    if not cells:
        raise UserError(
            "no case is left", "--calls", "collective calls need --backend mpiio or hdf5, and a shared file"
        )
    return cells


def _backends_of(target: Target, options: PioOptions, description: Describe) -> list[str]:
    usual = ["mpiio"] if target_scheme(target) == "posix" else []
    return [found.name for found in storage_backends(target, options.backends or usual, description)]


@dataclass(frozen=True)
class _Way:
    request: int
    calls: Calls
    base: int
    sees: bool


def _ways(spatial: Spatial, backend: Registered) -> Iterator[_Way]:
    through = "views" in backend.capabilities and not spatial.unsorted
    can_collect = through or "arrays" in backend.capabilities
    for request, calls, base in product(spatial.request or [], spatial.calls or [], spatial.base or []):
        if calls == "independent" or (can_collect and spatial.name != "sequential-own"):
            yield _Way(request, calls, base, through)


def _requests(spatial: Spatial, way: _Way, options: PioOptions, ranks: int) -> int:
    """Return the requests of a rank that move the volume: of whole frames, one frame at least."""
    frame = 1
    if spatial.name == "nested-strided":
        frame = (spatial.inner or 1) ** ((spatial.levels or 1) - 1)
    elif spatial.name == "flash":
        frame = spatial.variables or 1
    return max(1, options.volume // (ranks * way.request * frame)) * frame


def _cell(
    target: Target,
    backend: str,
    layout: Layout,
    options: PioOptions,
    spatial: Spatial,
    way: _Way,
    description: Describe,
) -> Cell:
    found = find_registered(description, "backend", backend)
    holds_data = "data" in found.capabilities
    possible = ("write", "read", "reread") if spatial.name == _SHARED else OPERATIONS
    done = [word for word in possible if word == "write" or word in (spatial.operation or [])]
    given: Parameters = {
        "pattern": spatial.name,
        "phases": list(done),
        "request_bytes": way.request,
        "requests": _requests(spatial, way, options, layout.ranks),
        "base_bytes": way.base,
        "through": "view" if way.sees else "offsets",
        "collective": way.sees and way.calls == "collective",
        "requests_a_call": options.requests_a_call if way.sees else 1,
        "cache": options.cache if holds_data else "none",
        "verify": options.verify if holds_data else "none",
        **_own_parameters(spatial, layout.ranks),
    }
    own = parameters_for(options.parameters, found)
    if options.hints:
        if not found.takes("hints"):
            raise UserError(f"backend '{backend}' takes no hints", "--hint", "use --backend mpiio")
        own["hints"] = dict(options.hints)
    if not way.sees and way.calls == "collective":
        own["collective"] = True
    return cell_of(target, layout, (backend, own), (WORKLOAD, given), description)


_OF_ENGINE: Final[Mapping[str, str]] = {
    "levels": "levels",
    "inner": "inner_requests",
    "gap": "gap_requests",
    "variables": "variables",
    "record": "record_bytes",
}


def _own_parameters(spatial: Spatial, ranks: int) -> Parameters:
    own: Parameters = {
        of_engine: getattr(spatial, name) for name, of_engine in _OF_ENGINE.items() if OWNERS[name] == spatial.name
    }
    if spatial.name == "mesh":
        own["sorted"] = not spatial.unsorted
    if spatial.name == "tiled":
        if spatial.tiles_x is not None and ranks % spatial.tiles_x:
            raise UserError(f"{ranks} ranks are no multiple of {spatial.tiles_x} tiles", "--tiles-x", "leave it out")
        own["tiles_x"] = spatial.tiles_x or 0
    return own


_COLUMNS: Final = plan_columns(
    "target backend ranks pattern request calls base data phases",
    request=lambda cell: format_bytes(cell.block_bytes),
    calls=calls_of,
    base=lambda cell: format_bytes(cell.values.count("base_bytes")),
)


def _lines(asked: Asked[PioOptions], cells: Sequence[Cell]) -> list[str]:
    spatials = asked.options.spatials
    lines = ["Each case writes its file first; what writes is synced within the time."]
    wanted = {one.name for one in spatials if "collective" in (one.calls or [])}
    measured = {pattern_of(cell) for cell in cells if calls_of(cell) == "collective"}
    left_out = [name for name in sorted(wanted) if name not in measured]
    if left_out:
        lines.append(
            f"Not available: collective calls of {', '.join(left_out)}. They need one file of all ranks and "
            "backend hdf5, or mpiio and vertices in the order of the file."
        )
    if any(one.name == "sequential-shared" for one in spatials):
        lines.append("Pattern sequential-shared is only read: all ranks own all its bytes.")
    return lines


prepare: Final = Preparing(
    PioOptions,
    lambda options, _machine: (
        options,
        f"about {format_volume(options.volume)} in an operation, in whole requests of each rank",
    ),
    make_cells,
    Sizing("pattern through collective request_bytes", lambda values: values.count("request_bytes")),
    _COLUMNS,
    _lines,
    lambda _asked, _cells: [],
    shares_less="use --pattern sequential-own",
)


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    spatials, launches = read_options(PioOptions, request).spatials, launches_of(result)
    rows = with_ceilings(told_rows(launches, context, partial(_tell, spatials=spatials)), request.targets, None)
    return summary_of(
        launches, context, rows, lambda sound, level: [*findings_of(sound, level), *ignored_hints(launches)]
    )


def _tell(row: Row, source: Source, spatials: Sequence[Spatial]) -> Mapping[str, Scalar] | None:
    """Return None for operations that were not asked for: what only made a file is left out."""
    values, access = source.values, row.access
    spatial = next((one for one in spatials if is_of(one, values)), None)
    is_unasked = spatial is not None and spatial.operation is not None and access not in spatial.operation
    name = values.word("pattern")
    if is_unasked or (name == _SHARED and access == "write"):
        return None
    collective = is_collective(values, source.case.backend_parameters)
    return {
        "access": access,
        "pattern": name if spatial is None else spatial.title,
        "block_bytes": values.count("request_bytes"),
        "calls": "collective" if collective else "independent",
        "base_bytes": values.count("base_bytes"),
        **usual(row, "ranks", "nodes", "backend"),
    }


def is_of(spatial: Spatial, values: Values) -> bool:
    """Tell whether a case with these parameters of the workload is of ``spatial``."""
    wanted = {of_engine: getattr(spatial, name) for name, of_engine in _OF_ENGINE.items()}
    wanted |= {"pattern": spatial.name, "tiles_x": spatial.tiles_x or 0}
    if spatial.unsorted is not None:
        wanted["sorted"] = not spatial.unsorted
    return all(value is None or values[name] == value for name, value in wanted.items())
