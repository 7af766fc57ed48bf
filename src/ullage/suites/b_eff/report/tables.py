# SPDX-License-Identifier: Apache-2.0
"""The tables of a b_eff run: summary, methods, sizes, patterns, repetitions, self-check, and what was resolved."""

from collections.abc import Callable, Sequence
from statistics import geometric_mean
from typing import Final

from ullage.quantity import DASH, format_quantity, significant
from ullage.report.contents import Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of
from ullage.runs.composite.headlines import Rule, ranks_key
from ullage.suites.b_eff.findings import winners
from ullage.suites.b_eff.formula import Values, each_alone, latency_s, ping_pongs, self_check
from ullage.suites.b_eff.measured import METHODS, BEffRun
from ullage.suites.b_eff.report.charts import MEGA, SUITE, TITLES, runs_of
from ullage.units import format_bytes, format_time

_DIGITS: Final = 4
_MIDDLE: Final = 12
Line = tuple[str, ...]
RESOLVED: Final = (
    "Against b_eff 3.6 these are resolved: D1 messages are counted on every process, not on rank 0 only, which told "
    "rings of 2 and 3 wrong; D2 the latency of the rings has the factor of the processes, as the original's table has "
    "it; D3 random rings are uniform permutations of a recorded seed (--faithful: the original's slot probing, which "
    "is not uniform); D4 the median over the repetitions and its interval stand beside the maximum; D5 patterns that "
    "coincide are kept and marked degenerate; D6 who is where is in the records, and no rank is renumbered; D7 the "
    "memory of a process, of which Lmax is 1/128, is found at run time and recorded."
)


def tables(data: ReportData) -> Content | None:
    """None for other suites, and where no repetition came to its end."""
    runs = runs_of(data)
    if not runs:
        return None
    notes: list[str] = []
    grids: list[Grid] = []
    for run in runs:
        notes += _notes(run)
        grids += [*_summary(run), *_methods(run), *_sizes(run), *_patterns(run), *_repetitions(run), *_check(run)]
    return Content(notes=[*notes, RESOLVED], grids=grids)


def _mega(value: float | None) -> str:
    return DASH if value is None else significant(value / MEGA, _DIGITS)


def _columns(*heads: str, words: int = 1) -> list[Column[Line]]:
    """``words``: so many columns on the left are no numbers."""

    def text(index: int) -> Callable[[Line], str]:
        return lambda line: line[index]

    return [Column(head, text(index), is_number=index >= words) for index, head in enumerate(heads)]


def _summary(run: BEffRun) -> list[Grid]:
    """The original's table: accumulated, and of each process."""
    values, last = Values(run), len(run.sizes) - 1
    one_byte, rings_byte = values.b_eff_at(0), values.rings_at(0)
    first, large = ping_pongs(run, 0), ping_pongs(run, last)
    pair_s = min((loop.one_way_s for loop in first), default=None)
    pair_rate = max((loop.message_bytes / loop.one_way_s for loop in large), default=None)
    lines = [
        ("all", *map(_mega, (values.b_eff, values.b_eff_at(last), values.rings_at(last))), "", "", "", ""),
        (
            "each process",
            *(
                _mega(v / run.ranks if v else None)
                for v in (values.b_eff, values.b_eff_at(last), values.rings_at(last))
            ),
            *(_time(latency_s(run.ranks, value) if value else None) for value in (one_byte, rings_byte)),
            _time(pair_s),
            _mega(pair_rate),
        ),
    ]
    size = format_bytes(run.sizes[-1])
    heads = (
        *("of", "b_eff MB/s", f"at Lmax {size}", "at Lmax, rings only", "latency", "latency, rings only"),
        *("ping-pong latency", "ping-pong at Lmax"),
    )
    return grid_of(f"{run.ranks} processes, Lmax {size}", _columns(*heads), lines)


def _time(seconds: float | None) -> str:
    return DASH if seconds is None else format_quantity(seconds, "s")


def _methods(run: BEffRun) -> list[Grid]:
    """The same formula with one method alone: information, not b_eff."""
    lines: list[Line] = []
    for method in METHODS:
        values = Values(run, methods=[method])
        found = (values.b_eff, values.b_eff_at(0), values.b_eff_at(_MIDDLE), values.b_eff_at(len(run.sizes) - 1))
        lines.append((TITLES[method], *map(_mega, found)))
    heads = ("method alone", "b_eff MB/s", "at 1 B", "at 4K", "at Lmax")
    return grid_of("By method, all processes", _columns(*heads), lines)


def _sizes(run: BEffRun) -> list[Grid]:
    values, best = Values(run), winners(run)
    by_method = [Values(run, methods=[method]) for method in METHODS]
    lines = [
        (
            format_bytes(bytes_),
            *map(_mega, (values.b_eff_at(size), values.rings_at(size), values.random_at(size))),
            *(_mega(one.b_eff_at(size)) for one in by_method),
            TITLES.get(best[size][0], DASH),
        )
        for size, bytes_ in enumerate(run.sizes)
    ]
    methods = [TITLES[method] for method in METHODS]
    heads = ("message", "rings and random MB/s", "rings", "random", *methods, "best method by medians")
    columns = _columns(*heads)
    columns[-1] = Column(columns[-1].heading, columns[-1].text, is_number=False)
    return grid_of("By message size, all processes", columns, lines)


def _patterns(run: BEffRun) -> list[Grid]:
    """Every pattern, the random rings as worst, mean and best."""
    values = Values(run)
    lines = [_pattern(run, values, name) for name in run.rings]
    spread: tuple[tuple[str, Callable[[Sequence[float]], float]], ...] = (
        ("worst", min),
        ("mean", geometric_mean),
        ("best", max),
    )
    for word, choose in spread:
        lines.append(
            (
                f"{len(run.random)} random rings, {word}",
                f"1 of {run.ranks}",
                str(max((run.messages[name] for name in run.random), default=0)),
                *(_mega(_chosen(choose, found)) for found in _of_random(run, values)),
                "",
            )
        )
    lines += [_pattern(run, values, name) for name in run.additional]
    heads = ("pattern", "what", "messages", "average MB/s", "at 1 B", "at 4K", "at Lmax", "")
    columns = _columns(*heads, words=2)
    columns[-1] = Column("", columns[-1].text, is_number=False)
    return grid_of("Patterns, all processes (every size of each is in tables/rows.csv)", columns, lines)


def _of_random(run: BEffRun, values: Values) -> list[list[float]]:
    sizes = (0, _MIDDLE, len(run.sizes) - 1)
    return [values.patterns(run.random), *(values.at_all(run.random, size) for size in sizes)]


def _chosen(choose: Callable[[Sequence[float]], float], found: Sequence[float]) -> float | None:
    return choose(found) if found else None


def _pattern(run: BEffRun, values: Values, name: str) -> Line:
    facts = run.patterns[name]
    sizes = (0, _MIDDLE, len(run.sizes) - 1)
    return (
        name,
        _what(facts.rings) or " x ".join(map(str, facts.dims)),
        str(run.messages[name]),
        _mega(values.pattern(name)),
        *(_mega(values.at(name, size)) for size in sizes),
        "degenerate" if facts.degenerate else "",
    )


def _what(rings: Sequence[int]) -> str:
    """``6 of 2, 1 of 3``."""
    return ", ".join(f"{rings.count(size)} of {size}" for size in dict.fromkeys(rings))


def _repetitions(run: BEffRun) -> list[Grid]:
    lines = [
        (str(number), _mega(value), format_time(repetition.elapsed_s), repetition.grade)
        for number, (value, repetition) in enumerate(zip(each_alone(run), run.repetitions, strict=True), start=1)
    ]
    columns = _columns("repetition", "b_eff by it alone MB/s", "took", "grade")
    columns[-1] = Column("grade", columns[-1].text, is_number=False)
    return grid_of("By repetition", columns, lines)


def _check(run: BEffRun) -> list[Grid]:
    check = self_check(run)
    lines = [
        ("passed in the timed stretches", format_time(check.elapsed), ""),
        ("accounted for by loops and what warms them up", format_time(check.accounted), f"{-check.unaccounted:.1%}"),
        ("were every loop as fast as its fastest", format_time(check.fastest), f"{1 / (1 + check.slower) - 1:.1%}"),
    ]
    return grid_of("Self-check: all three are the same on a machine of one's own", _columns("time", "", "less"), lines)


def _notes(run: BEffRun) -> list[str]:
    given = run.case.workload_parameters
    order = "by slot probing, as the original" if given.get("permutation") == "slot-probe" else "uniform"
    check = "within the timed loops, as in the original" if given.get("timed_check") else "outside the timed loops"
    told = (
        f"Random rings: {order}, seed {given.get('seed', 1)}. Data was checked {check}. Lmax is "
        f"{format_bytes(run.sizes[-1])}: values of b_eff with different Lmax are not comparable."
    )
    notes = [told]
    if any(len(Values(run, methods=[method]).patterns(run.rings)) < len(run.rings) for method in METHODS):
        notes.append(
            "The two largest sizes would have taken long, so only the method that was best before was used there: no "
            "value by one method alone exists (--no-short-last-two measures it)."
        )
    return notes


SECTION: Final = Section(
    name="b_eff",
    title="b_eff",
    doc="b_eff is the square root of two geometric means, over six sets of rings and over thirty random rings, of the "
    "bandwidth averaged over 21 message sizes, the best of methods and repetitions. MB is 10^6 bytes; every message "
    "counts once, at its sender.",
    order=4,
    build=tables,
    suite=SUITE,
)

# -- headlines of the front page --------------------------------------------------------------------------------------

HEADLINES: Final = (
    Rule(
        "messages",
        "b_eff",
        lambda row: "method" not in row.params,
        ranks_key,
        lambda row: f"b_eff of {row.params['ranks']} processes",
    ),
)
