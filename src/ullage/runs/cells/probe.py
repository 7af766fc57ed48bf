# SPDX-License-Identifier: Apache-2.0
"""A short run on each target, to choose a volume with which a run fits into its time."""

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Final

from ullage.errors import UserError
from ullage.model.plan import Limits, Named, Plan
from ullage.model.record import CaseRecord, EndRecord
from ullage.model.request import Request
from ullage.results.records import AnyRecord
from ullage.runs.cells.costs import Basis, PlaceCost, from_two_sizes
from ullage.runs.cells.options import RunOptions
from ullage.runs.cells.planning import Cell, make_plan
from ullage.runs.launch_spec import LaunchSpec
from ullage.runs.session import Ended, Session
from ullage.units import format_rate

_REPETITIONS: Final = 2
_SHARE_OF_TIME: Final = 0.1
_LONGEST_S: Final = 15.0


class ProbeError(UserError):
    """The probe could not be made; ``ended`` says how it went."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message, "probe", "", ended.code)
        self.ended = ended


def probe_plan(plan: Plan, options: RunOptions) -> Plan:
    """``plan`` as a probe: few repetitions, in a run folder of its own."""
    return plan.model_copy(
        update={
            "run_id": f"{plan.run_id[:58]}-probe",
            "stop_rule": Named(name="fixed", parameters={"count": _REPETITIONS}),
            "time_budget_s": min(_LONGEST_S, _SHARE_OF_TIME * options.time_s),
            "dirty_retries": 0,
            "keep": False,
            "limits": Limits(space_bytes=options.space),
        }
    )


def read_probe(cells: Sequence[Cell], records: Iterable[AnyRecord], wall_s: float, assumed: Basis) -> Basis:
    """Costs by place from the records of a probe that took ``wall_s``; a place without them keeps what was assumed."""
    seconds: dict[str, list[float]] = {}
    engine_s = 0.0
    for record in records:
        if isinstance(record, CaseRecord) and record.status == "ok":
            seconds.setdefault(record.case, []).append(record.elapsed_ns / 1e9)
        elif isinstance(record, EndRecord):
            engine_s = record.elapsed_ns / 1e9
    costs = dict(assumed.places)
    said: list[str] = []
    for place in dict.fromkeys(cell.place for cell in cells):
        points = [
            (c.dataset_bytes, mean(seconds[c.case.id])) for c in cells if c.place == place and c.case.id in seconds
        ]
        if points:
            costs[place] = _cost(points)
            phases = next(len(cell.phases) for cell in cells if cell.place == place)
            said.append(f"{place[0]} through {place[1]} {format_rate(phases / costs[place].s_per_byte)}")
    text = f"probed with 1 rank: {', '.join(said)}" if said else assumed.text
    return Basis(costs, max(0.05, wall_s - engine_s), text)


def _cost(points: Sequence[tuple[int, float]]) -> PlaceCost:
    ordered = sorted(points)
    if len(ordered) == 1:
        return PlaceCost(0.0, max(1e-12, ordered[0][1] / ordered[0][0]))
    return from_two_sizes(ordered[0], ordered[-1])


def run_probe(session: Session, request: Request, options: RunOptions, cells: Sequence[Cell], assumed: Basis) -> Basis:
    """What ``cells`` (of ``probe_cells``) cost. ``ProbeError`` when the launch fails as a whole.

    What it leaves lies in ``probe/`` of the result, apart from what is measured.
    """
    folder = session.result.path / "probe"
    spec = LaunchSpec(0, str(folder / "records.ndjson"))
    plan = probe_plan(make_plan(request, options, cells, spec), options)
    ended, records = session.launch_apart(folder, plan)
    if not ended.may_go_on:
        raise ProbeError(ended)
    # A case that fails here fails in the run too, which says why.
    return read_probe(cells, records, ended.seconds, assumed)
