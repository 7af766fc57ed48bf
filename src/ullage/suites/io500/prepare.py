# SPDX-License-Identifier: Apache-2.0
"""An IO500 run that was checked against engine and machine, ready to be explained or run.

It runs a probe for the sizes, then a launch for each round on each target, until no phase is lacking.

Folders may be prepared at a target as for the official tool: stripes, a pool or a quota are set on them. The directory
of that dataset is made inside the prepared folder, so that it inherits what new directories there get, and is then
moved into the run's own folder. The prepared folder keeps nothing of a run and is never removed.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ullage.cleaning import PREFIX
from ullage.errors import EXIT_BAD_INPUT, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.model.plan import Plan, Target
from ullage.model.record import CaseRecord, EndRecord
from ullage.model.request import Request
from ullage.results.folder import ResultFolder, write_atomically
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.planning import check_all_of
from ullage.runs.execution import Execution, LaunchSpec
from ullage.runs.inputs import EngineContext
from ullage.runs.listed import datasets_there
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Session
from ullage.runs.suite import Explanation
from ullage.suites.io500.config import check_result_folder
from ullage.suites.io500.explain import Explained, explain, too_short
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.planning import make_plan
from ullage.suites.io500.rounds import Rest, Round, read_rounds, rest_of
from ullage.suites.io500.sizing import CalibrationError, assumed_rates, run_probe
from ullage.suites.io500.summarise import measure_bound
from ullage.uri import target_path


@dataclass(frozen=True)
class PreparedIo500(Explained):
    """See ``Prepared``."""

    @property
    def unsettled(self) -> str:
        given = self.options.config.sizes_are_given
        return "" if given else "--config with blockSize, segmentCount and n of both mdtests"

    def with_sizes(self, sizes: Mapping[str, Sizes]) -> "PreparedIo500":
        """Return the same with sizes settled; request.json then says them."""
        options = self.options.model_copy(update={"sizes": {**self.options.sizes, **sizes}})
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request)

    def explain(self) -> Explanation:
        return explain(self)

    def plans(self, result: ResultFolder) -> list[Plan]:
        rounds = [(number, target) for number in range(self.options.repeat) for target in self.request.targets]
        share_s = None if self.options.time_s is None else self.options.time_s / len(rounds)
        return [
            make_plan(
                self.request,
                self.options,
                self.steps(target),
                self.layout,
                LaunchSpec(number, str(result.records_path(launch)), share_s),
                self.folders.get(target.name, ()),
            )
            for launch, (number, target) in enumerate(rounds, start=1)
        ]

    def run(self, session: Session) -> int:
        """See ``Prepared``. The official texts lie in the result then, however it ended, unless a probe failed."""
        try:
            settled = settle(self, session)
        except CalibrationError as error:
            session.messages.append(error.ended.message)
            return error.ended.code
        try:
            code = _Rounds(session, RunProgress(), settled).follow()
        finally:
            is_wrong = conclude(settled, session)
        return EXIT_CASE_FAILED if is_wrong and code == EXIT_OK else code


def prepare_io500(request: Request, engine_context: EngineContext) -> PreparedIo500:
    """Check everything that can be checked without starting anything."""
    options = read_options(Io500Options, request)
    machine = this_machine(request.targets)
    for target in request.targets:
        if target_path(target) is None:
            what = f"target '{target.name}' ({target.uri}) cannot hold files"
            raise UserError(what, "--target", "name a folder: --target NAME=PATH")
    check_places(machine.places)
    check_cache(options)
    check_result_folder(options.config)
    folders = {target.name: prepared_folders(target, request.run_id) for target in request.targets}
    prepared = PreparedIo500(request, options, engine_context, machine, folders)
    check_all_of(request.targets, [prepared.layout])
    if options.hints and all(api.backend != "mpiio" for api in options.config.apis.values()):
        raise UserError("MPI hints need API = MPIIO", "--hint", "set it in --config")
    for target in request.targets:
        prepared.steps(target)
    return prepared


def check_cache(options: Io500Options) -> None:
    """Raise ``UserError`` where all caches of a node are to be dropped by another user than root."""
    if options.cache == "drop" and os.geteuid() != 0:
        where, right = "--cache drop", "use --cache advise"
        if options.config.drop_caches:
            where = f"{options.config.file} [global] drop-caches"
            right = "write FALSE: the data is dropped from caches before reads"
        raise UserError("only root may drop all caches", where, right, EXIT_BAD_INPUT)


# When a run goes on after its time was over, what it still lacks is finished, with some room for surprises.
_GENEROUS: Final = 3.0
_SHORTEST_S: Final = 60.0


# A run with a shorter wall is a look: how long given sizes last need not be known before.
_LONG_WALL_S: Final = 30.0


def settle(prepared: PreparedIo500, session: Session) -> PreparedIo500:
    """Settle the sizes of every target, by a probe where they are not known from an earlier launch.

    Sizes that are given are used as they are; before a long run the probe tells how long they last. What will be too
    short is said here, before the first phase.
    """
    found, options = dict(prepared.options.sizes), prepared.options
    for target in (target for target in prepared.request.targets if target.name not in found):
        if options.config.sizes_are_given and options.stonewall_s < _LONG_WALL_S:
            found[target.name] = prepared.sizes(target, replace(assumed_rates(options.ranks), basis="as given"))
            continue
        session.progress.stage(f"probe of {target.name}", 0, _SHORTEST_S)
        room, folders = prepared.room(target), prepared.folders.get(target.name, ())
        rates = run_probe(session, prepared.request, options, target, prepared.layout, room, folders)
        found[target.name] = prepared.sizes(target, rates)
        session.progress.say(f"sizes on {target.name} ({rates.basis})")
        for sentence in too_short(found[target.name], options):
            session.progress.say(f"warning: {target.name}: {sentence}")
    settled = prepared.with_sizes(found)
    session.result.write_request(settled.request)
    return settled


@dataclass
class _Rounds(Execution):
    """A run under way: a launch for each round on each target, until no phase is lacking."""

    prepared: PreparedIo500
    _known: dict[tuple[str, int], Round] = field(default_factory=dict[tuple[str, int], Round], init=False)
    _used_s: float = field(default=0.0, init=False)

    def follow(self) -> int:
        self._known = {(found.target.name, found.number): found for found in read_rounds(self.session.result)}
        self._used_s = _used_s(self.session)
        for number in range(self.prepared.options.repeat):
            for target in self.prepared.request.targets:
                self._round(target, number)
                if not self.may_go_on:
                    return self.code
        return self.code

    def _round(self, target: Target, number: int) -> None:
        options, steps = self.prepared.options, self.prepared.steps(target)
        known = self._known.get((target.name, number), Round(target, number))
        there = datasets_there(target, self.prepared.request.run_id) if known.done else set[str]()
        rest = rest_of(steps, known.done, there)
        if not rest.steps:
            return
        launch = self.session.result.next_launch()
        walls = sum(step.phase.has_wall for step in rest.steps)
        # What earlier launches have left of the time, but always enough for a first round of what lacks.
        least_s = _GENEROUS * walls * options.stonewall_s + _SHORTEST_S if self._known else 1.0
        seconds = self.seconds_left(options.time_s, least_s, self._used_s)
        spec = LaunchSpec(number, str(self.session.result.records_path(launch)), seconds, continues=bool(there))
        folders = self.prepared.folders.get(target.name, ())
        plan = make_plan(self.prepared.request, options, rest.steps, self.prepared.layout, spec, folders)
        rounds = f"round {number + 1} of {options.repeat}, " if options.repeat > 1 else ""
        text = f"{rounds}{target.name}: {len(rest.steps)} phases"
        expected_s = walls * 2 * options.stonewall_s if seconds is None else seconds
        self.session.progress.stage(text, len(rest.steps), expected_s)
        if rest.again:
            self.session.progress.say(_again(rest))
        ended = self.launch(launch, plan, self._hear)
        if rest.again and ended.may_go_on:
            self.session.note(launch, "info", "made-again", _again(rest))
        stopped = measure_bound(self.prepared, self.session, target, ended.seconds) if ended.may_go_on else None
        if stopped is not None:
            self.take(stopped)

    def _hear(self, record: AnyRecord) -> None:
        if isinstance(record, EndRecord):
            self._used_s += record.elapsed_ns / 1e9


def _again(rest: Rest) -> str:
    return (
        f"{', '.join(rest.again)} {'is' if len(rest.again) == 1 else 'are'} run again, for the data that later phases "
        "need and that is gone; the first value counts"
    )


def _used_s(session: Session) -> float:
    """Return the seconds of earlier launches; one that wrote no end took as long as its cases."""
    total = 0.0
    for file in session.result.read_records():
        ends = [record.elapsed_ns for record in file.records if isinstance(record, EndRecord)]
        cases = [record.elapsed_ns for record in file.records if isinstance(record, CaseRecord)]
        total += (sum(ends) or sum(cases)) / 1e9
    return total


def conclude(prepared: PreparedIo500, session: Session) -> bool:
    """Write what the official tool would, for people's scripts; tell whether anything measured went wrong."""
    from ullage.suites.io500.official_folder import official_folders, read_digests

    result = session.result
    digests = read_digests(result)
    for folder, files in official_folders(digests, prepared.options, result.path).items():
        for name, text in files.items():
            write_atomically(folder / name, text)
    return any(found.is_wrong for found in digests)


# The only folders that the list's rules allow to make before a run.
FOLDERS: Final = ("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard")
_EMPTY: Final = "empty it, or give it another name: the rules allow no files made before the run"


def prepared_folders(target: Target, run_id: str = "") -> list[str]:
    """Return those of ``FOLDERS`` at ``target``; raise ``UserError`` for one that is no empty, writable folder.

    What launches of the run ``run_id`` may have left in one, when they were killed, is no obstacle.
    """
    place = target_path(target)
    if place is None:
        return []
    found = [name for name in FOLDERS if os.path.lexists(place / name)]
    for name in found:
        _check(place, place / name, run_id)
    return found


def _check(place: Path, folder: Path, run_id: str) -> None:
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UserError("is a symbolic link, which is not followed", str(folder), "make it a folder, or remove it")
    if not stat.S_ISDIR(status.st_mode):
        right = "the run would use a folder of this name; give the file another one"
        raise UserError("is not a folder", str(folder), right)
    if status.st_dev != place.stat().st_dev:
        right = "make it a folder of the target's own file system"
        raise UserError("is on another file system than the target", str(folder), right, EXIT_ENVIRONMENT)
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only
    except OSError as error:
        what = error.strerror or "cannot be read"
        raise UserError(what, str(folder), "make it readable and writable", EXIT_ENVIRONMENT) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError("is not writable for this user", str(folder), "make it writable", EXIT_ENVIRONMENT)
    strangers = sorted(name for name in names if not run_id or not name.startswith(PREFIX + run_id))
    if strangers:
        is_a_runs = all(name.startswith(PREFIX) for name in strangers)
        right = f"`ullage clean {folder}` removes what a killed run left" if is_a_runs else _EMPTY
        raise UserError(f"is not empty: it holds {strangers[0]}", str(folder), right, EXIT_ENVIRONMENT)
