# SPDX-License-Identifier: Apache-2.0
"""The rows that stand for a part of the machine: of each kind of number the best valid one. Pure.

The rules of a suite stand with it: its ``report`` sets ``HEADLINES``, a tuple of ``Rule``. ``USUAL`` are for rows of
any suite. All go by what rows say of themselves.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, is_of_device
from ullage.analysis.settings import phase_of
from ullage.analysis.verdicts.grades import is_sound
from ullage.discovery import gathered, suite_modules
from ullage.grouping import grouped
from ullage.model.summary import Headline, Row, Summary
from ullage.quantity import plural
from ullage.units import format_bytes

Standing: TypeAlias = tuple[bool, bool, bool, bool]
IN_MEMORY: Final = "file system in memory"
_PARTS: Final = ("cores", "memory", "disk", "messages", "network", "noise", "metadata")


@dataclass(frozen=True)
class Rule:
    """Rows of ``metric`` for which ``applies``. Of those with the same ``key`` the best stands on the front page."""

    part: str
    metric: str
    applies: Callable[[Row], bool]
    key: Callable[[Row], Hashable]
    what: Callable[[Row], str]


def headlines(rows: Sequence[Row], suites: Collection[str] | None = None) -> list[Headline]:
    """Return headlines by part of the machine, then in the order of the rules; ``row`` counts within ``rows``.

    Those of a benchmark of named phases stand in the order of its rows. ``suites``: those that made the rows; None for
    any.
    """
    rules = load_headline_rules(suites)
    places = {part: place for place, part in enumerate(_PARTS)}
    ordered = sorted(rules, key=lambda rule: places.get(rule.part, len(places)))
    by_metric = grouped((row.metric, index) for index, row in enumerate(rows))
    found = [headline for rule in ordered for headline in _by_rule(rule, rows, by_metric.get(rule.metric, []))]
    is_of_phases = all(phase_of(rows[headline.row]) for headline in found)
    return sorted(found, key=lambda headline: headline.row) if is_of_phases else found


def headlines_of(summary: Summary) -> list[Headline]:
    """Return the headlines that the parts of a run have, else those of its rows."""
    found = [line for part in summary.parts for line in part.headlines]
    return found or headlines(summary.rows, summary.suites)


def load_headline_rules(suites: Collection[str] | None = None) -> list[Rule]:
    """Return the rules for rows of ``suites`` (None: of all)."""
    return [*gathered(suite_modules("report", suites), "HEADLINES"), *USUAL]


def _by_rule(rule: Rule, rows: Sequence[Row], of_metric: Sequence[int]) -> list[Headline]:
    groups = grouped(
        ((rows[index].target, rule.key(rows[index])), index) for index in of_metric if rule.applies(rows[index])
    )
    chosen = [_best(indices, rows) for indices in groups.values()]
    return [Headline(part=_part(rule, rows[index]), what=rule.what(rows[index]), row=index) for index in chosen]


def _best(indices: Sequence[int], rows: Sequence[Row]) -> int:
    """Return the index of the best row. See ``standing`` for rows that are taken only where all are so."""

    def rank(index: int) -> tuple[Standing, float]:
        row = rows[index]
        return standing(row), row.median if row.better == "more" else -row.median

    return max(indices, key=rank)


def standing(row: Row) -> Standing:
    """Return by what a row stands for a part before any other that has less: that it breaks no limit, that no cache
    answered, that it was not disturbed, and that it has samples enough to be compared."""
    return not row.is_invalid, is_of_device(row), is_sound(row), len(row.repetitions) >= FEWEST_SAMPLES


def _part(rule: Rule, row: Row) -> str:
    return IN_MEMORY if rule.part == "disk" and row.verdict.startswith("memory") else rule.part


# -- what rules are written with --------------------------------------------------------------------------------------


def word_of(row: Row, name: str) -> str:
    """Return a parameter as text; empty where the row has none of that name."""
    return str(row.params.get(name, ""))


def threads_text(row: Row) -> str:
    """Write ``2 threads``; ranks are counted where a row has no threads."""
    count = row.params.get("threads", row.params.get("ranks", 1))
    return f"{count} thread{'' if count == 1 else 's'}"


def ranks_key(row: Row) -> Hashable:
    """Return the key of rows of which each number of ranks has its own best."""
    return row.params.get("ranks")


_DONE: Final = {"write": "written", "read": "read"}


def storage_rule(
    what: str,
    *having: str,
    metric: str = "bandwidth",
    of: str = "access",
    done: Mapping[str, str] = _DONE,
    of_device: bool = False,
    words: Callable[[Row], Mapping[str, str]] = lambda _row: {},
) -> Rule:
    """Return the rule of a suite on storage, whose rows have the parameters ``having``: the best of each in ``done``.

    ``of``: the parameter whose values ``done`` has words for. ``what`` is a template of these, ``target``, ``ranks``
    (``8 ranks``), parameters, and ``words`` of the suite. ``of_device``: without rows that a cache is known to have
    answered.
    """

    def applies(row: Row) -> bool:
        is_of_suite = row.params.keys() >= {*having} and row.params.get(of) in done
        return is_of_suite and (not of_device or is_of_device(row))

    def said(row: Row) -> str:
        own = {"target": row.target, "done": done[row.word(of)], "ranks": plural(row.ranks, "rank")}
        return what.format_map({**row.params, **own, **words(row)})

    return Rule("disk", metric, applies, lambda row: row.params[of], said)


# -- rows of any suite that moves blocks ------------------------------------------------------------------------------

_DEPTH: Final = "queue_depth"


def _is_transfer(row: Row) -> bool:
    """Tell whether a row moves blocks, and has no rule of its suite."""
    of_others = {"phase", "interface", "operation", "accelerators", "tile", "pattern", "cells", _DEPTH}
    return word_of(row, "access") in ("read", "write") and not of_others & row.params.keys()


def _is_small(row: Row) -> bool:
    return word_of(row, "access") in ("read", "write") and _DEPTH in row.params


def _transfer(row: Row) -> str:
    order = f"{word_of(row, 'order')} " if "order" in row.params else ""
    size = row.params.get("block_bytes")
    block = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    who = threads_text(row) if "threads" in row.params else plural(int(row.params.get("ranks", 1)), "rank")
    return f"{row.target}: {order}{word_of(row, 'access')}s{block}, {who}"


def _small(row: Row) -> str:
    return f"{_transfer(row)}, depth {row.params[_DEPTH]}"


USUAL: Final = (
    Rule("disk", "bandwidth", _is_transfer, lambda row: row.params["access"], _transfer),
    Rule("disk", "operation_rate", _is_small, lambda row: row.params["access"], _small),
)
