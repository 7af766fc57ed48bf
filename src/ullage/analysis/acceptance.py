# SPDX-License-Identifier: Apache-2.0
"""Floors: reading them (``--require``), and judging rows by them with the confidence that each asks for.

The bound of a median is that of its distribution-free interval, on one side: at confidence c the interval at 2c - 1.
Nothing passes that is not shown: few repetitions, or a ceiling that nobody states, are "cannot tell". A disturbed row
may pass, since other work only slows, and does not fail.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from pydantic import ValidationError

from ullage.analysis.metrics import Metric, load_metrics
from ullage.analysis.settings import sort_key
from ullage.analysis.statistics.intervals import fewest_samples, median_interval
from ullage.analysis.verdicts.grades import is_sound
from ullage.errors import UserError
from ullage.model.acceptance import MOST_OF, Floor, Judged, Judgement
from ullage.model.base import first_mistake
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.parameters import suggest
from ullage.quantity import format_quantity, format_row, significant
from ullage.reading import read_toml
from ullage.units import parse_duration, parse_rate, parse_share


@dataclass(frozen=True, slots=True)
class NodeRows:
    """The rows of a node that was measured by itself; ``name`` is empty where there is only one."""

    name: str
    rows: Sequence[Row]


def judge(floors: Sequence[Floor], nodes: Sequence[NodeRows], suite: str) -> list[Judged]:
    """Judge all ``nodes`` by all ``floors``. ``suite``: of rows that name none."""
    return [
        judged
        for number, floor in enumerate(floors)
        for node in nodes
        for judged in _judge_node(number, floor, node, suite)
    ]


def _judge_node(number: int, floor: Floor, node: NodeRows, suite: str) -> list[Judged]:
    rows = _matching(floor, node.rows, suite)
    if not rows:
        return [
            Judged(
                floor=number,
                metric=floor.metric,
                suite=floor.suite,
                node=node.name,
                target=floor.target,
                params=floor.where,
                needed=floor.bound,
                confidence=floor.confidence,
                verdict="cannot tell",
                reason="no row of that kind was measured",
            )
        ]
    return [_judge_row(number, floor, node.name, row, suite) for row in rows]


def _matching(floor: Floor, rows: Iterable[Row], suite: str) -> list[Row]:
    """Return the rows that a floor is for; ``most`` is the largest value among those that fit the rest of it."""
    fixed = {key: value for key, value in floor.where.items() if value != MOST_OF}
    found = [row for row in rows if row.metric == floor.metric and _fits(floor, fixed, row, suite)]
    for key in floor.where.keys() - fixed.keys():
        known = [row.params[key] for row in found if key in row.params]
        largest = max(known, key=sort_key, default=None)
        found = [row for row in found if key in row.params and row.params[key] == largest]
    return found


def _fits(floor: Floor, fixed: dict[str, bool | int | float | str], row: Row, suite: str) -> bool:
    is_place = floor.target in ("", row.target) and floor.suite in ("", row.suite or suite)
    return is_place and all(key in row.params and row.params[key] == value for key, value in fixed.items())


def _judge_row(number: int, floor: Floor, node: str, row: Row, suite: str) -> Judged:
    needed = _needed(floor, row)
    shown, verdict, reason = _verdict(floor, row, needed)
    return Judged(
        floor=number,
        metric=row.metric,
        unit=row.unit,
        better=row.better,
        suite=row.suite or suite,
        node=node,
        target=row.target,
        params=row.params,
        median=row.median,
        shown=shown,
        needed=needed,
        share=row.share,
        confidence=floor.confidence,
        verdict=verdict,
        reason=reason,
    )


def _needed(floor: Floor, row: Row) -> float | None:
    """Return what the row has to reach; None where it has no ceiling of which a share could be asked."""
    if floor.share is None:
        return floor.bound
    if row.ceiling is None or row.is_beside_best:
        return None
    return row.ceiling.value * floor.share if row.better == "more" else row.ceiling.value / floor.share


def _verdict(floor: Floor, row: Row, needed: float | None) -> tuple[float | None, Judgement, str]:
    """Return what the row shows, the verdict, and why it cannot be told where it cannot."""
    if needed is None or row.is_invalid:
        none = "the row has no ceiling; declare one with --machine or --ceiling"
        return None, "cannot tell", none if needed is None else "the row is INVALID; measure again"
    level = 2 * floor.confidence - 1
    interval = median_interval(row.repetitions, level)
    least, most = (interval.low, interval.high) if row.better == "more" else (-interval.high, -interval.low)
    aim = needed if row.better == "more" else -needed
    if interval.below_level:
        count = len(row.repetitions)
        return None, "cannot tell", f"{count} repetitions show too little; {fewest_samples(level)} are needed"
    # Other work only slows: what is reached in spite of it is reached.
    if least >= aim:
        return abs(least), "pass", ""
    if not is_sound(row):
        return None, "cannot tell", "other work disturbed the row (grade C); measure again on an idle node"
    if most < aim:
        return abs(most), "fail", ""
    return abs(least), "cannot tell", "the interval holds the bound; repeat more often"


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
    name = said.get("metric")
    known = load_metrics()
    if not isinstance(name, str) or name not in known:
        what = "names no metric" if name is None else f"no such metric '{name}'"
        raise UserError(what, where, suggest(str(name), known))
    metric = known[name]
    values = {key: value for key, value in said.items() if key not in ("least", "most", "share", _CONFIDENCE)}
    values |= _bound(said, metric, where)
    if _CONFIDENCE in said:
        values[_CONFIDENCE] = _share(said[_CONFIDENCE], f"{where}: {_CONFIDENCE}")
    try:
        return Floor.model_validate(values)
    except ValidationError as error:
        place, why = first_mistake(error)
        raise UserError(why, f"{where}: {place}", "see docs/howto/acceptance.md") from error


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


_ROOM: Final = 0.1
_COUNTS: Final = ("threads", "ranks", "nodes")
_DRAFT_HEAD: Final = (
    "# Floors for `--require`: each bound is 10 % worse than what was measured.",
    "# Write what was promised in its place, and remove the tables that you do not need.",
    f'{_CONFIDENCE} = "95%"',
)


def draft_floors(chosen: Iterable[Row], rows: Sequence[Row]) -> str:
    """Write a file of floors for the ``chosen`` of ``rows``, with no more words than tell each from the others."""
    metrics = load_metrics()
    blocks = [_drafted(row, metrics[row.metric], rows) for row in chosen if row.metric in metrics]
    return "\n\n".join("\n".join(block) for block in (_DRAFT_HEAD, *blocks)) + "\n"


def _drafted(row: Row, metric: Metric, rows: Sequence[Row]) -> list[str]:
    word = _BOUNDS[metric.better]
    bound = row.median * (1 - _ROOM if metric.better == "more" else 1 + _ROOM)
    places = {key: value for key, value in (("suite", row.suite), ("target", row.target)) if value}
    where = _telling(Floor(metric=row.metric, suite=row.suite, target=row.target, where=row.params), row, rows)
    return [
        f"[[{_TABLE}]]  # measured: {format_row(row)}",
        *(f"{key} = {json.dumps(value)}" for key, value in {"metric": row.metric, **places}.items()),
        *(
            [f"where = {{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in where.items())} }}"]
            if where
            else []
        ),
        f"{word} = {_bound_text(bound, metric)}",
    ]


def _telling(floor: Floor, row: Row, rows: Sequence[Row]) -> dict[str, Scalar]:
    """Return as few of the parameters of ``row`` as leave it alone; the largest count of threads is ``most``."""
    where = dict(floor.where)
    fewest = len(_matching(floor, rows, row.suite))
    # Words say more to people, and on another machine, than sizes do.
    for key in sorted(row.params, key=lambda one: (one in _COUNTS, isinstance(row.params[one], str))):
        left = {name: value for name, value in where.items() if name != key}
        if len(_matching(floor.model_copy(update={"where": left}), rows, row.suite)) == fewest:
            where = left
    for key in where.keys() & set(_COUNTS):
        most: dict[str, Scalar] = {**where, key: MOST_OF}
        if row in _matching(floor.model_copy(update={"where": most}), rows, row.suite):
            where = most
    return where


def _bound_text(bound: float, metric: Metric) -> str:
    """Write a bound with its unit where that is read again, and else the plain number."""
    text = format_quantity(bound, metric.unit)
    try:
        _parser(metric.unit)(text)
    except (UserError, ValueError):
        return significant(bound)
    return json.dumps(text)
