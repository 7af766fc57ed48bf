# SPDX-License-Identifier: Apache-2.0
"""The rows that stand for a part of the machine: of each kind of number the best valid one; a vessel a part. Pure.

The rules of a suite stand with it: its ``report`` sets ``HEADLINES``, a tuple of ``Rule``. ``USUAL`` are for rows of
any suite. All go by what rows say of themselves.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, is_of_device
from ullage.analysis.settings import phase_of
from ullage.analysis.verdicts.grades import is_sound
from ullage.discovery import gathered, suite_modules
from ullage.grouping import grouped
from ullage.model.summary import Headline, Row, Summary
from ullage.quantity import between, format_bounds, format_quantity, percent, plural
from ullage.report.verdicts import is_invalid
from ullage.units import format_bytes

Standing: TypeAlias = tuple[bool, bool, bool, bool]
_SETTINGS: Final = ("threads", "ranks", "streams", "block_bytes")
IN_MEMORY: Final = "file system in memory"
ACCELERATORS: Final = "accelerators"
_PARTS: Final = ("cores", "memory", "disk", "messages", "network", "noise", "metadata", ACCELERATORS)


@dataclass(frozen=True)
class Rule:
    """Rows of ``metric`` for which ``applies``. Of those with the same ``key`` the best stands on the front page."""

    part: str
    metric: str
    applies: Callable[[Row], bool]
    key: Callable[[Row], Hashable]
    what: Callable[[Row], str]


def headlines(rows: Sequence[Row], suites: Collection[str] | None = None, *, of_most: bool = False) -> list[Headline]:
    """Return headlines by part of the machine, then in the order of the rules; ``row`` counts within ``rows``.

    Those of a benchmark of named phases stand in the order of its rows. ``suites``: those that made the rows; None for
    any. ``of_most``: of rows with the most threads, ranks and streams and the largest blocks in order, however the
    others came out, so that every run shows the same settings.
    """
    rules = load_headline_rules(suites)
    places = {part: place for place, part in enumerate(_PARTS)}
    ordered = sorted(rules, key=lambda rule: places.get(rule.part, len(places)))
    by_metric = grouped((row.metric, index) for index, row in enumerate(rows) if not row.is_bound)
    chosen = [
        (rule, index)
        for rule in ordered
        for index in _by_rule(rule, rows, by_metric.get(rule.metric, []), of_most=of_most)
    ]
    found = [Headline(part=_part(rule, rows[index]), what=rule.what(rows[index]), row=index) for rule, index in chosen]
    is_of_phases = all(phase_of(rows[headline.row]) for headline in found)
    return sorted(found, key=lambda headline: headline.row) if is_of_phases else found


def headlines_of(summary: Summary) -> list[Headline]:
    """Return the headlines that the parts of a run have, else those of its rows."""
    found = [line for part in summary.parts for line in part.headlines]
    return found or headlines(summary.rows, summary.suites)


def load_headline_rules(suites: Collection[str] | None = None) -> list[Rule]:
    """Return the rules for rows of ``suites`` (None: of all)."""
    return [*gathered(suite_modules("report", suites), "HEADLINES"), *USUAL]


def _by_rule(rule: Rule, rows: Sequence[Row], of_metric: Sequence[int], *, of_most: bool) -> list[int]:
    applying = [index for index in of_metric if rule.applies(rows[index])]
    groups = grouped(((rows[index].target, rule.key(rows[index])), index) for index in applying)
    if of_most:
        most = {key: max(_settings(rows[index]) for index in indices) for key, indices in groups.items()}
        groups = {key: [one for one in found if _settings(rows[one]) == most[key]] for key, found in groups.items()}
    return [_best(indices, rows) for indices in groups.values()]


def _settings(row: Row) -> tuple[float, ...]:
    found = (row.params.get(name) for name in _SETTINGS)
    sizes = [float(size) if isinstance(size, (int, float)) else 0.0 for size in found]
    return float(row.params.get("order") != "random"), *sizes


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


_DEPTH: Final = "queue_depth"
_OF_NAMES: Final = {"create": "files made", "stat": "files queried", "unlink": "files removed"}


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


def _is_of_names(row: Row) -> bool:
    return word_of(row, "access") in _OF_NAMES and not {"phase", "block_bytes", _DEPTH} & row.params.keys()


USUAL: Final = (
    Rule("disk", "bandwidth", _is_transfer, lambda row: row.params["access"], _transfer),
    Rule(
        "disk",
        "operation_rate",
        _is_small,
        lambda row: row.params["access"],
        lambda row: f"{_transfer(row)}, depth {row.params[_DEPTH]}",
    ),
    Rule(
        "metadata",
        "operation_rate",
        _is_of_names,
        lambda row: row.params["access"],
        lambda row: f"{row.target}: {_OF_NAMES[word_of(row, 'access')]}, {plural(row.ranks, 'rank')}",
    ),
)


PART_ORDER: Final = (
    "cores", "memory", "disk writes", "disk reads", "metadata", "messages", "network", "noise",
)  # fmt: skip
# The option by which a suite is told what datasheets say; empty where it has none.
Declaring: TypeAlias = Literal["machine", "ceiling", ""]
HOW_TO_DECLARE: Final[Mapping[Declaring, str]] = {
    "machine": "`ullage machine --declare machine.toml` drafts the file. Complete it from the datasheets and run again "
    "with `--machine machine.toml`.",
    "ceiling": "`--ceiling TARGET:write=RATE --ceiling TARGET:read=RATE` in another run, with the datasheet's rates.",
    "": "",
}
_NONE: Final = "none can be declared: compare runs"
_TO_DECLARE: Final[Mapping[str, str]] = {
    "cores": "declare their clock and operations per cycle",
    "memory": "declare its bandwidth",
    "disk writes": "declare the write rate of the drive",
    "disk reads": "declare the read rate of the drive",
    "network": "run between two nodes, declare the rate of the link",
}
_TIME_LOST: Final = "of time"
_READING: Final = ("read", "epoch", "adjoint")
"""Words in the names of phases that read."""


@dataclass(frozen=True)
class Vessel:
    """A part of the machine on the first screen.

    ``row`` stands for ``part``; ``what`` says of what it is the number. ``declared_by``: see ``Declaring``.
    """

    part: str
    what: str
    row: Row
    declared_by: Declaring = "machine"

    @property
    def share(self) -> float | None:
        """What is filled of its ceiling; None without one. Of time lost to others: the time that was left."""
        return 1 - self.row.median if self.is_time_lost else self.row.share

    @property
    def value(self) -> str:
        """The number with its unit."""
        median = self.row.median
        return f"{percent(median, 1)} lost" if self.is_time_lost else format_quantity(median, self.row.unit)

    @property
    def interval(self) -> str:
        """``[1.19, 1.27]`` in the unit of the value, or a range; empty for a single sample."""
        row = self.row
        if row.low is None or row.high is None or not self.is_time_lost:
            return format_bounds(row)
        return between(percent(row.low, 1), percent(row.high, 1), is_range=row.has_range)

    @property
    def interval_kind(self) -> str:
        """What ``interval`` is: ``95 % interval``, ``range of 3``, ``one sample``, and whether others disturbed it."""
        row, disturbed = self.row, ", disturbed (grade C)" if self.is_disturbed else ""
        if row.low is None:
            return f"one sample{disturbed}"
        return f"{f'range of {len(row.repetitions)}' if row.has_range else '95 % interval'}{disturbed}"

    @property
    def title(self) -> str:
        """What the share is of: the part, or the time that others left."""
        return "free of noise" if self.is_time_lost else self.part

    @property
    def kind(self) -> str:
        """``detected ceiling 117 Gop/s``; empty without a ceiling that has a share."""
        if self.is_time_lost:
            return "ceiling: all of the time"
        ceiling = self.row.ceiling
        if self.share is None or ceiling is None:
            return ""
        return f"{ceiling.kind} ceiling {format_quantity(ceiling.value, self.row.unit)}"

    @property
    def advice(self) -> str:
        """Which ceiling to declare; empty where one is known. ``how_to_declare`` says how."""
        if self.share is not None:
            return ""
        if not self.row.unit.endswith("/s"):
            return _NONE  # what is declared is a rate, and bounds no time and no share
        if self.declared_by == "ceiling" and self.part.startswith("disk"):
            return "declare the rate of the drive"
        return _TO_DECLARE.get(self.part, _NONE) if self.declared_by == "machine" else _NONE

    @property
    def is_invalid(self) -> bool:
        """Whether the number is no speed at all."""
        return is_invalid(self.row)

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs disturbed what does not measure them."""
        return self.row.grade == "C" and not self.is_time_lost

    @property
    def is_time_lost(self) -> bool:
        """Whether the number is a share of time that others took: all of the time is then its ceiling."""
        return self.row.unit == _TIME_LOST and self.row.better == "less"


def how_to_declare(found: Sequence[Vessel]) -> str:
    """Say how to declare a ceiling; return an empty text where every ceiling is known, or none can be declared."""
    lacking = [vessel for vessel in found if "declare " in vessel.advice]
    return HOW_TO_DECLARE[lacking[0].declared_by] if lacking else ""


def vessels(summary: Summary, declared_by: Declaring = "machine") -> list[Vessel]:
    """Return a vessel for each part of the machine that was measured, in a fixed order, unknown parts last.

    A number with the better ``standing`` goes first, then the kind of number that people quote of the part, of these
    the best, then one with a share of a ceiling, of times lost the longest, then the first. A file system in memory is
    no part of a machine whose disk was measured.
    """
    chosen: dict[str, Vessel] = {}
    for vessel in _candidates(summary, declared_by):
        known = chosen.get(vessel.part)
        if known is None or _rank_of_vessel(vessel) < _rank_of_vessel(known):
            chosen[vessel.part] = vessel
    if any(part.startswith("disk") for part in chosen):
        chosen.pop(IN_MEMORY, None)
    names = list(dict.fromkeys([*PART_ORDER, *chosen]))
    return [chosen[name] for name in names if name in chosen]


def _candidates(summary: Summary, by: Declaring) -> Sequence[Vessel]:
    found = headlines_of(summary)
    rows = [summary.rows[line.row] for line in found]
    known = [Vessel(part_of_vessel(line.part, row), line.what, row, by) for line, row in zip(found, rows, strict=True)]
    first = {line.row for part in summary.parts if part.first for line in part.headlines}
    # A part that was measured first is shown by its usual number of that: by the same settings on every run.
    told: dict[str, int] = {}
    for vessel, line in zip(known, found, strict=True):
        if line.row in first:
            told[vessel.part] = min(_place(vessel), told.get(vessel.part, _place(vessel)))
    known = [
        one
        for one, line in zip(known, found, strict=True)
        if one.part not in told or (line.row in first and _place(one) == told[one.part])
    ]
    # People know the rates of a disk: nothing can be declared that a time or a share would fill.
    return [one for one in known if one.row.unit.endswith("/s") or not one.part.startswith("disk")]


def part_of_vessel(part: str, row: Row) -> str:
    """Return the part of the machine; writes and reads of a disk are two parts, and each device has its own."""
    if part == ACCELERATORS:
        return f"{row.target} {row.word('measure')}"
    if part != "disk":
        return part
    access = str(row.params.get("access", row.params.get("phase", "")))
    return "disk reads" if any(word in access for word in _READING) else "disk writes"


def _place(vessel: Vessel) -> int:
    """Return how usual the kind of number is, from 0."""
    usual = _USUAL.get(vessel.part, ())
    return next((index for index, is_it in enumerate(usual) if is_it(vessel.row)), len(usual))


def _rank_of_vessel(vessel: Vessel) -> tuple[list[bool], int, float, bool, float]:
    usual, place = _USUAL.get(vessel.part, ()), _place(vessel)
    lost = vessel.row.median if vessel.row.unit == _TIME_LOST else 0.0
    # Numbers of one kind have one unit; those of no usual kind may have others.
    best = -vessel.row.median if place < len(usual) else 0.0
    return [not known for known in standing(vessel.row)], place, best, vessel.share is None, -lost


def _has(metric: str, **params: object) -> Callable[[Row], bool]:
    """Return a test of whether a row is of ``metric`` and has these parameters, without those that are None."""
    return lambda row: row.metric == metric and all(row.params.get(key) == value for key, value in params.items())


# People quote these kinds of number of a part, the most usual first.
_USUAL: Final[Mapping[str, Sequence[Callable[[Row], bool]]]] = {
    "cores": (_has("compute_rate", type="fp64", operation="fma"), _has("compute_rate")),
    "memory": (
        _has("memory_bandwidth", kernel="triad"), _has("memory_bandwidth", kernel="copy"), _has("memory_bandwidth"),
    ),
    "disk writes": (_has("bandwidth", order="sequential", phase=None), _has("bandwidth", phase=None)),
    "disk reads": (_has("bandwidth", order="sequential", phase=None), _has("bandwidth", phase=None)),
    "metadata": (_has("operation_rate", access="create"), _has("operation_rate")),
    "messages": (_has("ring_bandwidth"), _has("b_eff")),
    "network": (_has("network_bandwidth", protocol="tcp"), _has("network_bandwidth")),
}  # fmt: skip
