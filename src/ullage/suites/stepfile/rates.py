# SPDX-License-Identifier: Apache-2.0
"""Rates of the calls alone: what cases without computation took, in this result or in another one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, cast

from ullage.analysis.statistics import median
from ullage.analysis.verdicts.grades import is_sound
from ullage.errors import UserError
from ullage.model.record import CaseRecord
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import join
from ullage.runs.summary import row_context
from ullage.suites.stepfile.findings import Demand
from ullage.suites.stepfile.known import KnownRate
from ullage.suites.stepfile.summarise import demands_of, stepfile_rows

_DEPTHS: Final[Mapping[str, str]] = {"forward": "write_behind", "adjoint": "prefetch"}


def computes(case: CaseRecord) -> bool:
    """Tell whether the ranks of ``case`` computed, so that its phases are no rates of calls alone."""
    found = case.workload_parameters.get("compute_s", 0.0)
    return isinstance(found, (int, float)) and found > 0


def rates_of(launches: Sequence[Iterable[AnyRecord]], rows: Sequence[Row], run_id: str) -> list[KnownRate]:
    """Return the rates that cases without computation tell. ``rows``: made of the records ``launches``."""
    records = [list(launch) for launch in launches]
    cases = {item.case.case: item.case for item in join(records)}
    demands = demands_of(records)
    walls = [row for row in rows if row.metric == "phase_time" and not computes(cases[row.case])]
    return [
        _rate(row, cases[row.case], demands[row.case, str(row.params["access"])], run_id)
        for row in walls
        if (row.case, str(row.params["access"])) in demands
    ]


def _rate(row: Row, case: CaseRecord, demands: Sequence[Demand], run_id: str) -> KnownRate:
    phase = cast("Literal['forward', 'adjoint']", row.params["access"])
    return KnownRate(
        run_id=run_id,
        phase=phase,
        target=row.target,
        backend=str(row.params["backend"]),
        layout=str(row.params["layout"]),
        order=str(row.params["order"]),
        cache="drop" if case.workload_parameters.get("cache") == "drop" else "none",
        ranks=int(row.params["ranks"]),
        steps=int(row.params["steps"]),
        state_bytes=int(row.params["block_bytes"]),
        depth=count_of(case.workload_parameters, _DEPTHS[phase], 0),
        walls_s=list(row.repetitions),
        state_s=median(one.io_s for one in demands),
        sound=is_sound(row),
    )


def read_rates(path: Path) -> list[KnownRate]:
    """Return the rates in the result at ``path``; raise ``UserError`` where it has none."""
    result = ResultFolder.open(path)
    request = result.read_request()
    launches = [file.records for file in result.read_records()]
    context = replace(row_context(request, result.read_system()), metrics=("phase_time",), accesses=())
    found = rates_of(launches, stepfile_rows(launches, context), request.run_id)
    if not found:
        what = "has no states that were written and read without computation"
        raise UserError(what, f"{path}", "name a result of `ullage predict stepfile`, or of a run without --compute")
    return found
