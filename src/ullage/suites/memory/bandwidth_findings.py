# SPDX-License-Identifier: Apache-2.0
"""Sentences on bandwidth: what kinds of stores cost, where threads stop helping, what order costs. Pure over rows."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.contests import carries, compare_pairs, compare_rows
from ullage.analysis.findings.enough import enough_of
from ullage.analysis.findings.phrasing import finding, gain_of, with_gain
from ullage.analysis.settings import select
from ullage.analysis.statistics.comparison import level_of_each
from ullage.grouping import nested
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, times
from ullage.report.view import best_of
from ullage.suites.memory.options import MEMORY_LEVEL
from ullage.units import format_bytes, format_rate, format_time

# Bytes on the bus over bytes as STREAM counts them, with ordinary stores: each line that is stored to is fetched first.
WRITE_ALLOCATE: Final = {"write": 2.0, "copy": 3 / 2, "scale": 3 / 2, "add": 4 / 3, "triad": 4 / 3}
# The two may differ by so much before the account of bytes is doubted (specs: acceptance test 5).
_WITHIN: Final = 0.3
# Stores past the caches are advised where they bring more than this.
_ENOUGH: Final = 0.95
_PLURALS: Final = {"read": "Reads", "copy": "Copies"}
_STREAMING_STORES: Final = "`-qopt-streaming-stores=always` (Intel compilers), `_mm_stream_pd()` in the source"


def bandwidth_findings(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings on bandwidth in the rows of one run; ``level`` is that of each kind of comparison."""
    known = [row for row in memory_streams(rows) if carries(row)]
    streams = [row for row in known if "block_bytes" not in row.params]
    lines = [
        [row for count in _thread_counts(streams) if (row := find_stream(streams, kernel, stores, count)) is not None]
        for kernel, stores in (("read", None), ("copy", "ordinary"), ("copy", "non-temporal"))
    ]
    own = level_of_each(level, map(len, lines))
    return [
        *_best(streams),
        *_write_allocate(streams, level),
        *_non_temporal(streams, level),
        *[_scaling(line, own) for line in lines if len(line) > 1],
        *_blocks(known, level),
        *_updates(rows),
    ]


def memory_streams(rows: Iterable[Row]) -> list[Row]:
    """Return the valid bandwidths on sets that no cache holds, without those of another NUMA node's memory."""
    found = select(rows, "memory_bandwidth", level=MEMORY_LEVEL, pages=None)
    return [r for r in found if r.params.get("cpu_node") == r.params.get("memory_node") and not r.is_invalid]


def find_stream(rows: Iterable[Row], kernel: str, stores: str | None, threads: int) -> Row | None:
    """Return the row of the largest set with that kernel, stores (None: those of a read) and threads, or None."""
    found = select(rows, "memory_bandwidth", kernel=kernel, stores=stores, threads=threads)
    return max(found, key=lambda row: row.count("working_set_bytes"), default=None)


def _thread_counts(rows: Iterable[Row]) -> list[int]:
    return sorted({row.count("threads") for row in rows})


def _best(rows: Sequence[Row]) -> list[Finding]:
    best = max(rows, key=lambda row: row.median, default=None)
    if best is None:
        return []
    stores = f" with {best.params['stores']} stores" if "stores" in best.params else ""
    text = (
        f"The highest median of memory is {format_rate(best.median)}: {best.params['kernel']}{stores}, "
        f"{_threads_of(best)}, a set of {format_bytes(best.count('working_set_bytes'))}"
    )
    if best.ceiling is not None and best.ceiling.kind == "declared":
        share = percent(best.median / best.ceiling.value)
        text += f". That is {share} of the declared {format_rate(best.ceiling.value)}"
    numbers = {"kernel": best.params["kernel"], "threads": best.count("threads"), "bytes_per_s": best.median}
    return [finding("memory-bandwidth", f"Memory reaches {format_rate(best.median)}", f"{text}.", **numbers)]


def _by_stores(rows: Sequence[Row], kernel: str, threads: int) -> tuple[Row, Row] | None:
    """Return the rows with non-temporal and with ordinary stores, or None without one of them."""
    streaming, ordinary = (find_stream(rows, kernel, stores, threads) for stores in ("non-temporal", "ordinary"))
    return None if streaming is None or ordinary is None else (streaming, ordinary)


def _write_allocate(rows: Sequence[Row], level: float) -> list[Finding]:
    """Tell whether write-allocate explains the rates of stores: it does not where the whole interval is far from it.

    Twice the bytes of an ordinary write cross the bus; a non-temporal one moves each once.
    """
    found: list[Finding] = []
    for count in _thread_counts(rows):
        if (pair := _by_stores(rows, "write", count)) is None:
            continue
        streaming, ordinary = pair
        ratio, threads = streaming.median / (2 * ordinary.median), plural(count, "thread")
        compared = compare_rows(streaming, ordinary, level, None)
        low, high = ((bound or 0.0) / 2 for bound in (compared.low, compared.high))
        holds = low >= 1 - _WITHIN and high <= 1 + _WITHIN
        fails = compared.low is not None and (low > 1 + _WITHIN or high < 1 - _WITHIN)
        text = (
            f"Writes by {threads} move {format_rate(streaming.median)} with non-temporal stores and "
            f"{format_rate(ordinary.median)} with ordinary ones. Ordinary stores fetch each line first: "
            f"{format_rate(2 * ordinary.median)} on the bus."
        )
        text += f" Non-temporal ones reach {times(ratio)} of that." if fails else ""
        verb = "explains" if holds else "does not explain" if fails else "may explain"
        title, severity = f"Write-allocate {verb} the rates of stores with {threads}", "warning" if fails else "info"
        rates = {"ordinary_bytes_per_s": ordinary.median, "non_temporal_bytes_per_s": streaming.median}
        found.append(finding("write-allocate", title, text, severity, threads=count, **rates, ratio=ratio))
    return found


def _non_temporal(rows: Sequence[Row], level: float) -> list[Finding]:
    """Tell what a program gains that stores past the caches; advise it for the kernels that clearly gain."""
    threads = max(_thread_counts(rows), default=0)
    pairs = {kernel: pair for kernel in WRITE_ALLOCATE if (pair := _by_stores(rows, kernel, threads)) is not None}
    if not pairs:
        return []
    found = compare_pairs(list(pairs.values()), level)
    gains = {kernel: gain_of(one) for kernel, one in zip(pairs, found, strict=True)}
    told = {kernel: gain for kernel, gain in gains.items() if gain is not None and gain.factor * _ENOUGH > 1}
    ratios = {kernel: streaming.median / ordinary.median for kernel, (streaming, ordinary) in pairs.items()}
    said = ", ".join(
        f"{kernel} {times(ratio)} (saving the fetch: {times(WRITE_ALLOCATE[kernel])})"
        for kernel, ratio in ratios.items()
    )
    text = f"Non-temporal stores over ordinary ones, with {plural(threads, 'thread')}: {said}."
    more = [kernel for kernel, gain in told.items() if gain.low is not None and gain.low > WRITE_ALLOCATE[kernel]]
    if more:
        text += f" Saving the fetch of each stored line does not explain all of it for {listing(more)}."
    title, names = "No gain of non-temporal stores is shown", listing(list(told))
    if told:
        title = f"Non-temporal stores raise the rate of {names}"
        text += f" They are faster for {names}. Use them for results that are not read again soon."
    said = finding("non-temporal", title, text, "advice" if told else "info", threads=threads, **ratios)
    kernel = max(told, key=lambda name: told[name].low or 1.0, default="")
    return [with_gain(said, told.get(kernel), _STREAMING_STORES)]


def _scaling(line: Sequence[Row], level: float) -> Finding:
    found, last = enough_of(line, level), line[-1]
    stores = f" with {last.params['stores']} stores" if "stores" in last.params else ""
    what = f"{_PLURALS[str(last.params['kernel'])]}{stores} from memory"
    title = found.title(what, _threads_of(found.row), has_more=False)
    said = finding(
        "memory-threads",
        title,
        found.text(what, _threads_of, format_rate, ""),
        kernel=last.params["kernel"],
        threads=[row.count("threads") for row in line],
        bytes_per_s=[row.median for row in line],
        enough=None if found.is_open else found.row.count("threads"),
    )
    # This is what a program gains that takes fewer threads than it may.
    gain = gain_of(compare_rows(found.best, last, level, None))
    return with_gain(said, gain, f"OMP_NUM_THREADS={found.best.params['threads']}")


def _threads_of(row: Row) -> str:
    return plural(row.count("threads"), "thread")


def _blocks(rows: Sequence[Row], level: float) -> list[Finding]:
    """Tell what a random order of blocks costs at each size where that is proved, with the most threads."""
    copies = [row for row in rows if "block_bytes" in row.params]
    threads = max(_thread_counts(copies), default=0)
    by_block = nested(
        (row.count("block_bytes"), row.word("order"), row) for row in copies if row.params["threads"] == threads
    )
    pairs = {
        block: (orders["random"], orders["sequential"])
        for block, orders in sorted(by_block.items())
        if {"random", "sequential"} <= orders.keys()
    }
    judged = zip(pairs.items(), compare_pairs(list(pairs.values()), level), strict=True)
    told = {block: a.median / b.median for (block, (a, b)), found in judged if found.verdict != "cannot tell"}
    if not told:
        return []
    said = ", ".join(f"{format_bytes(block)} {percent(ratio)}" for block, ratio in told.items())
    text = f"Copies of blocks in random order reach, of the rate in order: {said} ({plural(threads, 'thread')})."
    block, ratio = next(iter(told.items()))
    title = f"Copies of {format_bytes(block)} blocks in random order reach {percent(ratio)} of the rate in order"
    return [finding("block-order", title, text, threads=threads, blocks=list(told), ratios=list(told.values()))]


def _updates(rows: Sequence[Row]) -> list[Finding]:
    best = best_of(row for row in rows if row.metric == "update_rate")
    if best is None:
        return []
    threads, rate = best.count("threads"), f"{best.median / 1e9:.3g} GUPS"
    text = (
        f"Random updates of a table of {format_bytes(best.count('table_bytes'))} reach {rate} with "
        f"{_threads_of(best)}. Each thread does one in {format_time(threads / best.median)}."
    )
    numbers = {"threads": threads, "updates_per_s": best.median}
    return [finding("random-updates", f"Random updates reach {rate}", text, **numbers)]
