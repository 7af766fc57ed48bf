# SPDX-License-Identifier: Apache-2.0
"""Read a file of floors (``--require``): TOML with the units people write. Each mistake is one line with its place."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from pydantic import ValidationError

from ullage.analysis.metrics import Metric, load_metrics
from ullage.errors import UserError
from ullage.model.acceptance import Floor
from ullage.model.base import first_mistake
from ullage.parameters import suggest
from ullage.reading import read_toml
from ullage.units import parse_duration, parse_rate, parse_share

_TABLE: Final = "require"
_CONFIDENCE: Final = "confidence"
_OF_FLOOR: Final = ("metric", "suite", "target", "where", "least", "most", "share", _CONFIDENCE)
_PREFIXES: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BOUNDS: Final = {"more": "least", "less": "most"}


def read_floors(path: Path) -> list[Floor]:
    """Read the floors in ``path``; raise ``UserError`` that says file, place and what would be right."""
    return parse_floors(read_toml(path, f"name a TOML file of floors, KEY = VALUE below [[{_TABLE}]]"), str(path))


def parse_floors(table: Mapping[str, object], name: str) -> list[Floor]:
    """Make floors of the TOML ``table``; mistakes raise ``UserError`` that names the file, ``name``."""
    for key in table:
        if key not in (_TABLE, _CONFIDENCE):
            raise UserError(f"unknown key '{key}'", name, suggest(key, (_TABLE, _CONFIDENCE)))
    items = table.get(_TABLE)
    if not isinstance(items, list) or not items:
        raise UserError("declares no floor", name, f"write [[{_TABLE}]] above each")
    usual = {_CONFIDENCE: table[_CONFIDENCE]} if _CONFIDENCE in table else {}
    listed = enumerate(cast("list[object]", items), start=1)
    return [_floor(item, usual, f"{name}: {_TABLE} {index}") for index, item in listed]


def _floor(item: object, usual: Mapping[str, object], where: str) -> Floor:
    if not isinstance(item, dict):
        raise UserError("is not a table", where, f"write [[{_TABLE}]] and KEY = VALUE below it")
    said = {**usual, **cast("dict[str, object]", item)}
    for key in said:
        if key not in _OF_FLOOR:
            raise UserError(f"unknown key '{key}'", where, suggest(key, _OF_FLOOR))
    metric = _metric(said.get("metric"), where)
    values = {key: value for key, value in said.items() if key not in ("least", "most", "share", _CONFIDENCE)}
    values |= _bound(said, metric, where)
    if _CONFIDENCE in said:
        values[_CONFIDENCE] = _share(said[_CONFIDENCE], f"{where}: {_CONFIDENCE}")
    try:
        return Floor.model_validate(values)
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(why, f"{where}: {place}", "see docs/howto/acceptance.md") from error


def _metric(name: object, where: str) -> Metric:
    known = load_metrics()
    if not isinstance(name, str) or name not in known:
        what = "names no metric" if name is None else f"no such metric '{name}'"
        raise UserError(what, where, suggest(str(name), known))
    return known[name]


def _bound(said: Mapping[str, object], metric: Metric, where: str) -> dict[str, float]:
    """Return the one bound of a floor, as a value in the unit of ``metric`` or as a share."""
    word = _BOUNDS[metric.better]
    other = next(one for one in _BOUNDS.values() if one != word)
    if other in said:
        what = f"of {metric.name} {metric.better} is better, so it has a bound '{word}'"
        raise UserError(what, f"{where}: {other}", f"write {word} = ...")
    given = [key for key in (word, "share") if key in said]
    if len(given) != 1:
        what = "has no bound" if not given else "has two bounds"
        raise UserError(what, where, f'give one of {word} = "... {metric.unit}" and share = "80%"')
    if given == ["share"]:
        return {"share": _share(said["share"], f"{where}: share")}
    return {"bound": _value(said[word], metric, f"{where}: {word}")}


def _share(value: object, where: str) -> float:
    try:
        return parse_share(str(value).replace(" %", "%"))
    except UserError as error:
        raise UserError(error.what, f"{where}: '{value}'", 'write 0.8 or "80%"') from error


def _value(value: object, metric: Metric, where: str) -> float:
    """Read a value with its unit; a bare number is in the SI unit of ``metric``."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    try:
        return _parser(metric.unit)(text)
    except (UserError, ValueError) as error:
        right = f"write a number with its unit ({metric.unit})"
        raise UserError(f"'{text}' is no value of {metric.name}", where, right) from error


def _parser(unit: str) -> Callable[[str], float]:
    if unit == "B/s":
        return lambda text: parse_rate(text.replace(" ", ""))
    if unit == "s":
        return lambda text: parse_duration(text.replace(" ", ""))
    if unit == "of time":
        return lambda text: parse_share(text.replace(" %", "%"))
    return lambda text: _prefixed(text, unit)


def _prefixed(text: str, unit: str) -> float:
    """Read ``1.5 Top/s``, ``2.1GHz`` or ``93k``; raise ValueError for anything else."""
    match = re.fullmatch(rf"(\d+(?:\.\d+)?(?:[eE][+-]?\d{{1,2}})?)\s*([kKMGTP]?)(?:{re.escape(unit)})?", text, re.ASCII)
    if match is None:
        raise ValueError(text)
    return float(match[1]) * _PREFIXES[match[2]]
