# SPDX-License-Identifier: Apache-2.0
"""The trials of a tune, one line each, on the disk as soon as they end: what a crash cannot take away.

Earlier searches in the same folder have journals too: no setting that was measured on this machine need be again."""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from pydantic import ValidationError

from ullage.analysis.tuning.search import Trial
from ullage.analysis.tuning.space import Space
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.harmless import harmless_json
from ullage.model.plan import Target
from ullage.model.tuning import TuneObjective, TuneTrial
from ullage.reading import read_bytes
from ullage.results.folder import ResultFolder, append_line, is_result
from ullage.runs.tuning.objective import toward_more
from ullage.uri import target_path

JOURNAL: Final = "trials.ndjson"


def read_trials(result: ResultFolder) -> list[TuneTrial]:
    """Return the trials that ended, in their order, without lines that a crash cut short."""
    path = result.path / JOURNAL
    lines = read_bytes(path).splitlines() if path.is_file() else []
    found: list[TuneTrial] = []
    for line in lines:
        with contextlib.suppress(ValidationError):
            found.append(TuneTrial.model_validate_json(harmless_json(line)))
    return found


def add_trial(result: ResultFolder, trial: TuneTrial) -> None:
    """Add ``trial`` to the journal, which is on the disk when this returns."""
    append_line(result.path / JOURNAL, trial.model_dump_json().encode())


def as_searched(
    trials: Sequence[TuneTrial], space: Space, objectives: Sequence[TuneObjective], turn: int
) -> list[Trial]:
    """Return the trials for the search, with the mean logarithm of all objectives.

    Pairs of turns before ``turn`` are repetitions only. A setting that breaks a rule counts as one that fails, but not
    in the pairs, which have to be complete to be compared.
    """
    names = [one.name for one in space.dimensions]
    found: list[Trial] = []
    for trial in trials:
        purpose = "race" if trial.purpose == "confirm" and trial.turn < turn else trial.purpose
        log = None if trial.breaks and purpose != "confirm" else log_of(trial, objectives)
        setting = space.setting([trial.setting[name] for name in names])
        found.append(Trial(setting, purpose, log, breaks=bool(trial.breaks)))
    return found


def log_of(trial: TuneTrial, objectives: Sequence[TuneObjective]) -> float | None:
    """Return the mean logarithm of all objectives; None of a trial that failed."""
    if trial.reason or not objectives:
        return None
    logs = [toward_more(trial.values[one.name], one.better) for one in objectives]
    return sum(logs) / len(logs)


def next_folder(result: ResultFolder, number: int) -> str:
    """Return the name of a part that does not exist: a trial that was cut short leaves its own behind."""
    name, again = f"trial-{number:03}", 1
    while (result.part(name).path).exists():
        again += 1
        name = f"trial-{number:03}-{again}"
    return name


@contextlib.contextmanager
def targets_alone(targets: Iterable[Target]) -> Generator[None]:
    """Hold the folders of ``targets``: two tunes at one place would measure each other.

    Raise ``UserError`` (exit code 3) while another tune holds one. Where a file system has no locks there is none.
    """
    handles: list[int] = []
    try:
        for target in targets:
            path = target_path(target)
            if path is not None:
                handles.append(_held(target.name, path))
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _held(name: str, path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UserError(error.strerror or "cannot be read", str(path), "", EXIT_ENVIRONMENT) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        where = f"target '{name}' ({path})"
        raise UserError("another tune measures there", where, "wait for it, or end it", EXIT_ENVIRONMENT) from error
    except OSError:
        return handle
    return handle


def earlier_settings(result: ResultFolder, names: Sequence[str]) -> dict[str, TuneTrial]:
    """Return the last trials of settings in results beside ``result``, by their keys, as trials that took nothing.

    ``names``: values that have to be there. Only results of the same machine and mounts count, as their system facts
    say. What cannot be read is left out.
    """
    own, found = _identity(result), dict[str, TuneTrial]()
    if own is None:
        return found
    for path in sorted(result.path.parent.glob(f"*/{JOURNAL}")):
        if path.parent == result.path or not is_result(path.parent):
            continue
        other = ResultFolder(path.parent)
        if _identity(other) == own:
            found |= _settings(other, names)
    return found


def _settings(result: ResultFolder, names: Sequence[str]) -> dict[str, TuneTrial]:
    known = [one for one in read_trials(result) if one.key and not one.is_proxy]
    good = [one for one in known if not one.reason and set(names) <= set(one.values)]
    default = next((one.setting for one in good if one.purpose == "default"), None)
    of_default = [one for one in good if one.setting == default]
    means = {name: fmean(one.values[name] for one in of_default) for name in names if of_default}
    free: dict[str, object] = {"seconds": 0.0, "bytes": 0, "commands": [], "is_short": False, "purpose": "search"}
    return {
        one.key: one.model_copy(update={**free, "result": str(result.path / one.result), "default_there": means})
        for one in good
        if means and one.setting != default and not one.default_there
    }


def _identity(result: ResultFolder) -> tuple[object, ...] | None:
    """Return what has to be alike: processor, kernel, and the place of each target; None where facts are missing."""
    try:
        facts = result.read_system()
    except UserError:
        return None
    if facts is None:
        return None
    places = sorted((place.path, place.mount_point or "", place.source or "") for place in facts.places)
    return facts.host, facts.cpu.model, facts.cpu.usable_cpus, facts.kernel.release, tuple(places)
