# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``tile`` to its rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.tile.findings import HintUse, findings_of
from ullage.suites.tile.hints import DEFAULT, TileHints
from ullage.suites.tile.options import TileOptions
from ullage.suites.tile.shape import text_of, tiling_of

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_UNNAMED: Final = "other"


@dataclass(frozen=True)
class HintNames:
    """What the sets of a request are called."""

    sets: Sequence[TileHints]

    def of(self, case: CaseRecord) -> str:
        """Return the name of the set that a case was given; without a request its hints."""
        given = case.backend_parameters.get("hints")
        hints = {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}
        if not hints:
            return next((one.name for one in self.sets if not one.hints), DEFAULT)
        return next((one.name for one in self.sets if one.hints == hints), _UNNAMED)


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(TileOptions, request)
    launches = [file.records for file in result.read_records()]
    names = HintNames(options.hint_sets)
    rows = tile_rows(launches, context, names)
    found = findings_of(sound_rows(rows), hints_of(launches, names), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def tile_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, names: HintNames) -> list[Row]:
    """Return the rows of both phases, with their tiles, calls and sets of hints."""
    records = [list(launch) for launch in launches]
    cases = {item.case.case: item.case for item in join(records)}
    return [_told(row, cases[row.case], names) for row in build_rows(records, context) if row.case in cases]


def _told(row: Row, case: CaseRecord, names: HintNames) -> Row:
    tiling = tiling_of(case.workload_parameters)
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "block_bytes": tiling.tile_bytes,
        "backend": row.params["backend"],
        "tiles": text_of(tiling.tiles),
        "tile": text_of(tiling.tile),
        "overlap": text_of(tiling.overlap),
        "element_bytes": tiling.element_bytes,
        "header_bytes": tiling.header_bytes,
        "frames": tiling.frames,
        "calls": str(case.workload_parameters.get("calls", "independent")),
        "hint_set": names.of(case),
    }
    return row.model_copy(update={"params": params})


def hints_of(launches: Iterable[Iterable[AnyRecord]], names: HintNames) -> dict[tuple[str, str], list[HintUse]]:
    """Return the hints that were given and granted, for each target and set, of all phases."""
    found: dict[tuple[str, str], list[HintUse]] = {}
    for item in join([list(launch) for launch in launches]):
        given: Mapping[str, str] = item.phase.hints_given
        if given:
            key = item.case.target, names.of(item.case)
            found.setdefault(key, []).append(HintUse(given, item.phase.hints_granted, item.run.mpi_io))
    return found
