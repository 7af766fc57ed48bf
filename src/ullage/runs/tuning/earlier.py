# SPDX-License-Identifier: Apache-2.0
"""What earlier searches in the same folder have measured on this machine: no setting need be searched again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ullage.errors import UserError
from ullage.model.system import SystemFacts
from ullage.model.tuning import TuneTrial
from ullage.results.folder import ResultFolder, is_result
from ullage.runs.tuning.journal import JOURNAL, read_trials


@dataclass(frozen=True)
class Known:
    """The last ``trial`` of a setting in an earlier search, and the mean values of that search's ``default``."""

    trial: TuneTrial
    default: Mapping[str, float]
    result: str


def earlier_settings(result: ResultFolder, names: Sequence[str]) -> dict[str, Known]:
    """Return what other results beside ``result`` say, by key of the setting.

    ``names``: values that have to be there. Only results of the same machine and mounts count, as their system facts
    say. What cannot be read is left out.
    """
    own, found = _identity(result), dict[str, Known]()
    if own is None:
        return found
    for path in sorted(result.path.parent.glob(f"*/{JOURNAL}")):
        if path.parent == result.path or not is_result(path.parent):
            continue
        other = ResultFolder(path.parent)
        if _identity(other) == own:
            found |= _settings(other, names)
    return found


def _settings(result: ResultFolder, names: Sequence[str]) -> dict[str, Known]:
    known = [one for one in read_trials(result) if one.key and not one.is_proxy]
    good = [one for one in known if not one.reason and set(names) <= set(one.values)]
    default = next((one.setting for one in good if one.purpose == "default"), None)
    if default is None:
        return {}
    of_default = _means([one for one in good if one.setting == default], names)
    own = [one for one in good if one.setting != default and not one.default_there]
    return {one.key: Known(one, of_default, str(result.path / one.result)) for one in own}


def _means(trials: Sequence[TuneTrial], names: Sequence[str]) -> dict[str, float]:
    return {name: sum(one.values[name] for one in trials) / len(trials) for name in names}


def _identity(result: ResultFolder) -> tuple[object, ...] | None:
    """Return what has to be alike: processor, kernel, and the place of each target; None where facts are missing."""
    try:
        facts = result.read_system()
    except UserError:
        return None
    return None if facts is None else _of(facts)


def _of(facts: SystemFacts) -> tuple[object, ...]:
    places = sorted((place.path, place.mount_point or "", place.source or "") for place in facts.places)
    return facts.host, facts.cpu.model, facts.cpu.usable_cpus, facts.kernel.release, tuple(places)


def known_trial(number: int, turn: int, setting: dict[str, str], known: Known) -> TuneTrial:
    """Return a setting that is ``known`` as a trial that took nothing, with the values that were measured."""
    there = known.trial
    return TuneTrial(
        number=number,
        turn=turn,
        purpose="search",
        setting=setting,
        values=there.values,
        seconds=0.0,
        bytes=0,
        result=known.result,
        key=there.key,
        verdict=there.verdict,
        grade=there.grade,
        work=there.work,
        default_there=dict(known.default),
    )
