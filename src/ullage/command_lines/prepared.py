# SPDX-License-Identifier: Apache-2.0
"""Command lines that were checked against engine and machine, ready to be explained or run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.command_lines.explain import explain, total_seconds
from ullage.command_lines.options import LineOptions
from ullage.command_lines.planning import Work, bind, fit, make_layout, make_plan
from ullage.errors import EXIT_OK
from ullage.launch.base import is_one_node
from ullage.model.plan import Layout, Limits, Plan
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.options.reading import read_options
from ullage.runs.room import NO_LIMIT, check_places, most_bytes
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation

_STAGE: Final = "command lines"


@dataclass(frozen=True)
class PreparedLines:
    """See ``Prepared``. ``rooms``: bytes that may be taken of each target where that is known."""

    work: Work
    places: Sequence[Place]
    rooms: Mapping[str, int]

    @property
    def request(self) -> Request:
        """See ``Prepared``."""
        return self.work.request

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plan."""
        return ""

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        return explain(self.work, self.places, self.rooms)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        return [make_plan(self.work, str(result.records_path(1)), {})]

    def run(self, session: Session) -> int:
        """See ``Prepared``. A result to go on with gets the rounds it lacks: a round is made whole or again."""
        tally = RunProgress(file.records for file in session.result.read_records())
        prior, rounds = self._whole_rounds(tally)
        if rounds >= self.work.translation.repetitions:
            return EXIT_OK
        missing = (self.work.translation.repetitions - rounds) * len(self.work.bound)
        session.progress.stage(_STAGE, missing, self.work.translation.time_s or total_seconds(self.work))
        number = session.result.next_launch()
        plan = make_plan(self.work, str(session.result.records_path(number)), prior)
        return session.launch(number, plan, _hear_nothing).code

    def _whole_rounds(self, tally: RunProgress) -> tuple[dict[str, dict[str, list[int]]], int]:
        """Elapsed times of the rounds in which every case went well, and how many those are.

        A case uses what another one of its round has made, so a round that lacks one case is made again.
        """
        samples = {item.case.id: tally.of(item.case.id).samples for item in self.work.bound}
        rounds = min(map(len, samples.values()))
        prior: dict[str, dict[str, list[int]]] = {identity: {} for identity in samples}
        for identity, whole in samples.items():
            for sample in whole[:rounds]:
                for phase, elapsed_ns in sample.elapsed_ns.items():
                    prior[identity].setdefault(phase, []).append(elapsed_ns)
        return prior, rounds


def _hear_nothing(record: AnyRecord) -> None:
    del record


def prepare_lines(request: Request, engine_context: EngineContext, model: type[LineOptions]) -> PreparedLines:
    """Check everything that can be checked without starting anything."""
    from ullage.system.cpu import usable_cores
    from ullage.system.memory import read_memory
    from ullage.system.storage import read_places

    options = read_options(model, request)
    translation = options.translation()
    places = read_places(request.targets)
    check_places(places)
    if options.rooms is None:
        options = options.model_copy(update={"rooms": _rooms(places, read_memory(), options.space)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    rooms = options.rooms or {}
    by_place = {place: rooms[name] for place, name in options.places.items() if name in rooms}
    fitted, cuts = fit(translation, by_place)
    here = is_one_node(Layout(ranks=1, nodes=translation.nodes))
    layout = make_layout(fitted, usable_cores() if here else None)
    bound = bind(fitted, layout, options, request.targets, engine_context.description)
    return PreparedLines(Work(request, options, fitted, layout, bound, [*translation.notes, *cuts]), places, rooms)


def _rooms(places: Sequence[Place], memory: Memory, space: int | None) -> dict[str, int]:
    """Bytes that may be taken of each target where that is known."""
    limits = Limits(space_bytes=space)
    known = {place.target: most_bytes(place, limits, memory) for place in places}
    return {name: room for name, room in known.items() if room < NO_LIMIT}
