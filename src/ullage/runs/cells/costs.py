# SPDX-License-Identifier: Apache-2.0
"""How long things will take: first by assumption or by a short run on each target, then by what was measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median
from typing import Final

from ullage.errors import UserError
from ullage.model.plan import Limits, Named, Plan
from ullage.model.record import CaseRecord, EndRecord
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.results.folder import PROBE
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.planning import Cell, make_plan
from ullage.runs.execution import LaunchSpec
from ullage.runs.options.groups import RunOptions
from ullage.runs.session import Ended, Session
from ullage.units import format_rate

# Before anything was measured, one phase is assumed to run at the rate of a laptop's memory, or of an ordinary node's
# storage.
_ASSUMED_MEMORY: Final = 2e9
_ASSUMED_STORAGE: Final = 5e8
_ASSUMED_LAUNCH_S: Final = 1.0
_ASSUMED_FILE_S: Final = 1e-4
# Starting one more rank took 20 to 60 ms with three MPI libraries on an oversubscribed node.
_LAUNCH_A_RANK_S: Final = 0.03
_PROBE_REPETITIONS: Final = 2
_PROBE_SHARE_OF_TIME: Final = 0.1
_PROBE_LONGEST_S: Final = 15.0


@dataclass(frozen=True)
class PlaceCost:
    """A repetition takes ``fixed_s`` and ``s_per_byte`` of its dataset, for all its phases together."""

    fixed_s: float
    s_per_byte: float

    def seconds(self, dataset_bytes: int) -> float:
        """Return the time of one repetition."""
        return self.fixed_s + self.s_per_byte * dataset_bytes


@dataclass(frozen=True)
class Basis:
    """What estimates stand on. ``places``: by target and backend; ``text`` says it to people."""

    places: Mapping[tuple[str, str], PlaceCost]
    launch_s: float
    text: str


def assumed(cells: Iterable[Cell], places: Iterable[Place]) -> Basis:
    """Return the costs that are assumed before anything was measured."""
    memory = {place.target for place in places if place.is_memory}
    costs: dict[tuple[str, str], PlaceCost] = {}
    for cell in cells:
        rate = _ASSUMED_MEMORY if cell.target.name in memory else _ASSUMED_STORAGE
        costs[cell.place] = PlaceCost(0.01, len(cell.phases) / rate)
    text = f"assumed, not measured: {format_rate(_ASSUMED_STORAGE)} a phase, {format_rate(_ASSUMED_MEMORY)} in memory"
    return Basis(costs, _ASSUMED_LAUNCH_S, text)


def seconds_of_files(cell: Cell) -> float:
    """Return what it is assumed to take to make, open and close the files of a case."""
    return cell.files * _ASSUMED_FILE_S


def assumed_besides(
    cells: Sequence[Cell], places: Iterable[Place], fixed_s: Callable[[Cell], float] = seconds_of_files
) -> Basis:
    """Return what is ``assumed``, where a repetition takes ``fixed_s`` more, which does not grow with the bytes."""
    basis = assumed(cells, places)
    each = {cell.place: PlaceCost(0.01 + fixed_s(cell), basis.places[cell.place].s_per_byte) for cell in cells}
    return replace(basis, places=each)


def from_two_sizes(small: tuple[int, float], large: tuple[int, float]) -> PlaceCost:
    """Draw a line through two points (bytes, seconds); where noise makes that senseless, the larger is all transfer."""
    slope = (large[1] - small[1]) / max(1, large[0] - small[0])
    if slope <= 0:
        return PlaceCost(0.0, large[1] / large[0])
    return PlaceCost(max(0.0, small[1] - slope * small[0]), slope)


@dataclass
class Costs:
    """Estimates that learn from the progress of the run, and from its launches."""

    basis: Basis
    progress: RunProgress = field(default_factory=RunProgress)
    _launches: dict[int, float] = field(default_factory=dict[int, float])

    def saw_launch(self, ranks: int, overhead_s: float) -> None:
        """Keep ``overhead_s``, the wall time of a launch besides its repetitions."""
        self._launches[ranks] = max(0.0, overhead_s)

    def launch_s(self, ranks: int) -> float:
        """Return the time from starting a launcher to the first repetition, and from the last to its end.

        Without a launch of so many ranks it follows from the nearest known one and the ranks beyond it.
        """
        if ranks in self._launches:
            return self._launches[ranks]
        nearest = min(self._launches, key=lambda known: abs(known - ranks), default=None)
        known_s = self.basis.launch_s if nearest is None else self._launches[nearest]
        return known_s + _LAUNCH_A_RANK_S * max(0, ranks - (nearest or 1))

    def repetition_s(self, cell: Cell) -> float:
        """Return the time of one repetition of ``cell``, with all that is around it."""
        seen = self.progress.of(cell.case.id).seconds
        return median(seen) if seen else self.basis.places[cell.place].seconds(cell.dataset_bytes)

    def correct(self, cells: Iterable[Cell]) -> "Costs":
        """Return costs with what the measured cells of each target say of those that were not measured yet."""
        ratios: dict[tuple[str, str], list[float]] = {}
        for cell in cells:
            if seen := self.progress.of(cell.case.id).seconds:
                expected = self.basis.places[cell.place].seconds(cell.dataset_bytes)
                ratios.setdefault(cell.place, []).append(median(seen) / max(expected, 1e-9))
        places = {
            place: PlaceCost(cost.fixed_s * median(ratios[place]), cost.s_per_byte * median(ratios[place]))
            if place in ratios
            else cost
            for place, cost in self.basis.places.items()
        }
        return Costs(Basis(places, self.basis.launch_s, self.basis.text), self.progress, self._launches)


class ProbeError(UserError):
    """The probe could not be made; ``ended`` says how it went."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message, "probe", "", ended.code)
        self.ended = ended


def probe_plan(plan: Plan, options: RunOptions) -> Plan:
    """Make ``plan`` a probe: few repetitions, in a run folder of its own."""
    return plan.model_copy(
        update={
            "run_id": f"{plan.run_id[:58]}-probe",
            "stop_rule": Named(name="fixed", parameters={"count": _PROBE_REPETITIONS}),
            "time_budget_s": min(_PROBE_LONGEST_S, _PROBE_SHARE_OF_TIME * options.time_s),
            "keep": False,
            "limits": Limits(space_bytes=options.space),
        }
    )


def read_probe(cells: Sequence[Cell], records: Iterable[AnyRecord], wall_s: float, assumed: Basis) -> Basis:
    """Return costs by place from the records of a probe that took ``wall_s``.

    A place without records keeps what was assumed.
    """
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
    """Measure what ``cells`` (of ``probe_cells``) cost; raise ``ProbeError`` when the launch fails as a whole.

    What it leaves lies in ``probe/`` of the result, apart from what is measured.
    """
    folder = session.result.path / PROBE
    spec = LaunchSpec(0, str(folder / "records.ndjson"))
    plan = probe_plan(make_plan(request, options, cells, spec), options)
    ended, records = session.launch_apart(folder, plan)
    if not ended.may_go_on:
        raise ProbeError(ended)
    # A case that fails here fails in the run too, which says why.
    return read_probe(cells, records, ended.seconds, assumed)
