# SPDX-License-Identifier: Apache-2.0
"""What earlier searches in the same folder have measured on this machine: no setting need be searched again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.errors import UserError
from ullage.model.system import SystemFacts
from ullage.model.tuning import TuneTrial
from ullage.results.folder import ResultFolder, is_result
from ullage.runs.tuning.journal import JOURNAL, read_trials


@dataclass(frozen=True)
class Known:
    """The mean values of a setting in an earlier search, as shares of its default's. ``result``: its last trial's."""

    shares: Mapping[str, float]
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
    by_key: dict[str, list[TuneTrial]] = {}
    for one in good:
        if one.setting != default:
            by_key.setdefault(one.key, []).append(one)
    return {
        key: Known(
            {name: value / of_default[name] for name, value in _means(trials, names).items()},
            str(result.path / trials[-1].result),
        )
        for key, trials in by_key.items()
    }


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


def known_trial(
    number: int, turn: int, setting: dict[str, str], key: str, known: Known, default: Mapping[str, float]
) -> TuneTrial:
    """Return a setting that is ``known`` as a trial that took nothing.

    ``default``: mean values of the default setting in this search, of which the known ones are shares.
    """
    return TuneTrial(
        number=number,
        turn=turn,
        purpose="search",
        setting=setting,
        values={name: share * default[name] for name, share in known.shares.items()},
        seconds=0.0,
        bytes=0,
        result=str(Path(known.result)),
        key=key,
    )
