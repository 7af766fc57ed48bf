# SPDX-License-Identifier: Apache-2.0
"""An IO500 run that was checked against engine and machine, ready to be explained or run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.io500.explain import Scene, explain
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.planning import LaunchSpec, Step, make_layout, make_plan, make_steps, wear_out_limit_s
from ullage.suites.io500.room import Room, room_at
from ullage.suites.io500.sizing import Rates, assumed_rates, choose_sizes
from ullage.uri import target_path


@dataclass(frozen=True)
class Machine:
    """What of the machine counts in planning. ``cores``: usable ones of a node, None when not known."""

    cores: int | None
    places: Sequence[Place]
    memory: Memory


@dataclass(frozen=True)
class PreparedIo500:
    """See ``Prepared``."""

    request: Request
    options: Io500Options
    engine_context: EngineContext
    machine: Machine

    @property
    def layout(self) -> Layout:
        """Of every launch."""
        return make_layout(self.options, self.machine.cores)

    @property
    def limits(self) -> Limits:
        """As in the plans."""
        return Limits(space_bytes=self.options.space)

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        given = self.options.config.sizes_are_given
        return "" if given else "--config with blockSize, segmentCount and n of both mdtests"

    def room(self, target: Target) -> Room:
        """What may be taken of ``target``."""
        place = next(place for place in self.machine.places if place.target == target.name)
        return room_at(place, self.limits, self.machine.memory)

    def sizes(self, target: Target, rates: Rates | None = None) -> Sizes:
        """Those that are settled, else by ``rates``, else by what is assumed."""
        settled = self.options.sizes.get(target.name)
        if settled is not None and rates is None:
            return settled
        return choose_sizes(self.options, rates or assumed_rates(self.options.ranks), self.room(target))

    def with_sizes(self, sizes: Mapping[str, Sizes]) -> "PreparedIo500":
        """The same with sizes settled; request.json then says them."""
        options = self.options.model_copy(update={"sizes": {**self.options.sizes, **sizes}})
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request)

    def steps(self, target: Target) -> list[Step]:
        """Every phase on ``target``, in official order."""
        limit_s = wear_out_limit_s(self.options, len(self.request.targets))
        return make_steps(
            self.options, target, self.sizes(target), self.layout, self.engine_context.description, limit_s
        )

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        targets = self.request.targets
        steps = {target.name: self.steps(target) for target in targets}
        sizes = {target.name: self.sizes(target) for target in targets}
        rooms = {target.name: self.room(target) for target in targets}
        limit_s = wear_out_limit_s(self.options, len(targets))
        return explain(Scene(self.options, targets, steps, sizes, rooms, self.machine.places, limit_s))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        turns = [(number, target) for number in range(self.options.repeat) for target in self.request.targets]
        return [
            make_plan(
                self.request,
                self.options,
                self.steps(target),
                self.layout,
                LaunchSpec(number, str(result.records_path(launch)), self._share_s(len(turns))),
            )
            for launch, (number, target) in enumerate(turns, start=1)
        ]

    def _share_s(self, launches: int) -> float | None:
        return None if self.options.time_s is None else self.options.time_s / launches

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.suites.io500.execution import execute

        return execute(self, session)


def prepare_io500(request: Request, engine_context: EngineContext) -> PreparedIo500:
    """Check everything that can be checked without starting anything."""
    from ullage.launch.base import is_one_node
    from ullage.system.cpu import usable_cores
    from ullage.system.memory import read_memory
    from ullage.system.storage import read_places

    options = read_options(Io500Options, request)
    places = read_places(request.targets)
    check_targets(request.targets, places)
    if options.cache == "drop" and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    here = is_one_node(Layout(ranks=1, nodes=options.nodes))
    machine = Machine(usable_cores() if here else None, places, read_memory())
    prepared = PreparedIo500(request, options, engine_context, machine)
    check_hints(options)
    for target in request.targets:
        prepared.steps(target)
    return prepared


def check_targets(targets: Sequence[Target], places: Sequence[Place]) -> None:
    """``UserError`` for a target without files, or (exit code 3) one that is missing or not to be written to."""
    for target in targets:
        if target_path(target) is None:
            what = f"target '{target.name}' ({target.uri}) holds no files"
            raise UserError(what, "--target", "name a folder: --target NAME=PATH")
    for place in places:
        where, right = f"target '{place.target}' ({place.path})", "name a folder that you may write to"
        if not place.exists:
            raise UserError("does not exist", where, "make the folder, or correct the path", EXIT_ENVIRONMENT)
        if not Path(place.path).is_dir() or not os.access(place.path, os.W_OK | os.X_OK):
            raise UserError("is no folder that can be written to", where, right, EXIT_ENVIRONMENT)


def check_hints(options: Io500Options) -> None:
    """Hints for all MPI-IO phases need one."""
    has_mpiio = any(api.backend == "mpiio" for api in options.config.apis.values())
    if options.hints and not has_mpiio:
        raise UserError("MPI hints need API = MPIIO", "--hint", "set it in --config")
