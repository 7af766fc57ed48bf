# SPDX-License-Identifier: Apache-2.0
"""Sentences on bandwidth: what kinds of stores cost, where threads stop helping, what order costs. Pure over rows."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.findings.study import compare_rows
from ullage.analysis.findings.words import columns
from ullage.analysis.statistics import level_of_each
from ullage.model.summary import Finding, Row
from ullage.quantity import plural, times
from ullage.suites.memory.sizes import MEMORY_LEVEL
from ullage.units import format_bytes, format_rate, format_time

# Bytes on the bus over bytes as STREAM counts them, with ordinary stores: each line that is stored to is fetched first.
WRITE_ALLOCATE: Final = {"write": 2.0, "copy": 3 / 2, "scale": 3 / 2, "add": 4 / 3, "triad": 4 / 3}
# The two may differ by so much before the account of bytes is doubted (specs: acceptance test 5).
_WITHIN: Final = 0.3
# Fewer threads that come so near the best are enough.
_ENOUGH: Final = 0.95


def bandwidth_findings(rows: Sequence[Row], level: float) -> list[Finding]:
    """All of them, of the rows of one run."""
    streams = [row for row in memory_streams(rows) if "block_bytes" not in row.params]
    return [
        *_best(streams),
        *_write_allocate(streams),
        *_non_temporal(streams),
        *_threads(streams, level),
        *_blocks(rows),
        *_updates(rows),
    ]


def memory_streams(rows: Iterable[Row]) -> list[Row]:
    """Bandwidths of kernels on sets that no cache holds, from wherever, without those that cannot be."""
    return [
        row
        for row in rows
        if row.metric == "memory_bandwidth"
        and row.params.get("level") == MEMORY_LEVEL
        and row.params.get("cpu_node") == row.params.get("memory_node")
        and not row.is_invalid
    ]


def find_stream(rows: Iterable[Row], kernel: str, stores: str | None, threads: int) -> Row | None:
    """The row of the largest set with that kernel, those stores (None: those of a read) and threads."""
    found = [
        row
        for row in rows
        if row.params.get("kernel") == kernel
        and row.params.get("stores") == stores
        and row.params.get("threads") == threads
    ]
    return max(found, key=lambda row: int(row.params["working_set_bytes"]), default=None)


def _thread_counts(rows: Iterable[Row]) -> list[int]:
    return sorted({int(row.params["threads"]) for row in rows})


def _best(rows: Sequence[Row]) -> list[Finding]:
    best = max(rows, key=lambda row: row.median, default=None)
    if best is None:
        return []
    threads = int(best.params["threads"])
    stores = f" with {best.params['stores']} stores" if "stores" in best.params else ""
    text = (
        f"Memory gives {format_rate(best.median)} at most, to {best.params['kernel']}{stores} by "
        f"{plural(threads, 'thread')} over {format_bytes(int(best.params['working_set_bytes']))}"
    )
    if best.ceiling is not None and best.ceiling.kind == "declared":
        text += f": {best.median / best.ceiling.value:.0%} of the {format_rate(best.ceiling.value)} that is declared"
    numbers = columns(kernel=best.params["kernel"], threads=threads, bytes_per_s=best.median)
    return [Finding(kind="memory-bandwidth", text=f"{text}.", numbers=numbers)]


def _write_allocate(rows: Sequence[Row]) -> list[Finding]:
    """Twice the bytes of an ordinary write cross the bus; a non-temporal one moves each once."""
    found: list[Finding] = []
    for threads in _thread_counts(rows):
        ordinary = find_stream(rows, "write", "ordinary", threads)
        streaming = find_stream(rows, "write", "non-temporal", threads)
        if ordinary is None or streaming is None:
            continue
        ratio = streaming.median / (2 * ordinary.median)
        holds = abs(ratio - 1) <= _WITHIN
        text = (
            f"Writes by {plural(threads, 'thread')}: non-temporal stores move {format_rate(streaming.median)}, "
            f"ordinary ones {format_rate(ordinary.median)}, which is {format_rate(2 * ordinary.median)} on the bus "
            f"with the lines they fetch first: "
        )
        text += (
            "write-allocate explains the difference."
            if holds
            else f"{times(ratio)} apart, so write-allocate alone does not explain it ({_why(ratio)})."
        )
        numbers = columns(
            threads=threads,
            ordinary_bytes_per_s=ordinary.median,
            non_temporal_bytes_per_s=streaming.median,
            ratio=ratio,
        )
        found.append(
            Finding(kind="write-allocate", text=text, severity="info" if holds else "warning", numbers=numbers)
        )
    return found


def _why(ratio: float) -> str:
    if ratio < 1:
        return (
            "the CPU may spare itself the fetch of lines that are overwritten whole, or a thread may have too few "
            "buffers for such stores"
        )
    return "ordinary stores are held back by something else: too few lines under way, or page faults"


def _non_temporal(rows: Sequence[Row]) -> list[Finding]:
    """What a program gains that stores past the caches."""
    threads = max(_thread_counts(rows), default=0)
    gains: dict[str, float] = {}
    for kernel in WRITE_ALLOCATE:
        ordinary = find_stream(rows, kernel, "ordinary", threads)
        streaming = find_stream(rows, kernel, "non-temporal", threads)
        if ordinary is not None and streaming is not None:
            gains[kernel] = streaming.median / ordinary.median
    if not gains:
        return []
    said = ", ".join(f"{kernel} {times(gain)} ({times(WRITE_ALLOCATE[kernel])})" for kernel, gain in gains.items())
    text = (
        f"Non-temporal stores against ordinary ones, {plural(threads, 'thread')}: {said}. In brackets what sparing the "
        "fetch of each line that is stored to can give."
    )
    worth = max(gains.values()) > 1 + (1 - _ENOUGH)
    if worth:
        text += " Use them for results that are not read again soon."
    numbers = columns(threads=threads, **gains)
    return [Finding(kind="non-temporal", text=text, severity="advice" if worth else "info", numbers=numbers)]


def _threads(rows: Sequence[Row], level: float) -> list[Finding]:
    """From how many threads on more give no more."""
    lines = [
        [row for count in _thread_counts(rows) if (row := find_stream(rows, kernel, stores, count)) is not None]
        for kernel, stores in (("read", None), ("copy", "ordinary"), ("copy", "non-temporal"))
    ]
    own = level_of_each(level, map(len, lines))
    return [_scaling(line, own) for line in lines if len(line) > 1]


def _scaling(line: Sequence[Row], level: float) -> Finding:
    first, last = line[0], line[-1]
    best = max(line, key=lambda row: row.median)
    enough = next(row for row in line if row.median >= _ENOUGH * best.median)
    counts = [int(row.params["threads"]) for row in line]
    stores = f" with {first.params['stores']} stores" if "stores" in first.params else ""
    what = f"{str(first.params['kernel']).capitalize()}{stores} from memory"
    gain = (
        f"{format_rate(enough.median)}, {times(enough.median / first.median)} what {plural(counts[0], 'thread')} gives"
    )
    if enough is first:
        text = f"{what} gains nothing from more than {plural(counts[0], 'thread')}: {format_rate(first.median)}."
    elif enough is last:
        text = f"{what} still gains at {plural(counts[-1], 'thread')}: {gain}."
    else:
        text = f"{what} stops gaining at {plural(int(enough.params['threads']), 'thread')}: {gain}."
    if compare_rows(best, last, level, None).verdict == "faster":
        text += f" {plural(counts[-1], 'thread')} give less again: {format_rate(last.median)}."
    numbers = columns(
        kernel=first.params["kernel"],
        threads=counts,
        bytes_per_s=[row.median for row in line],
        enough=int(enough.params["threads"]),
    )
    return Finding(kind="memory-threads", text=text, numbers=numbers)


def _blocks(rows: Sequence[Row]) -> list[Finding]:
    """What a random order of the smallest and the largest blocks costs, by all threads."""
    copies = [row for row in memory_streams(rows) if "block_bytes" in row.params]
    if not copies:
        return []
    threads = max(_thread_counts(copies))
    by_place = {
        (row.params["order"], int(row.params["block_bytes"])): row for row in copies if row.params["threads"] == threads
    }
    blocks = sorted({block for _, block in by_place})
    said: list[str] = []
    ratios: list[float] = []
    for block in blocks:
        ordered, random = by_place.get(("sequential", block)), by_place.get(("random", block))
        if ordered is not None and random is not None:
            ratios.append(random.median / ordered.median)
            said.append(f"{format_bytes(block)} {ratios[-1]:.0%}")
    if not said:
        return []
    text = f"Blocks copied at random reach, of their rate in order, by {plural(threads, 'thread')}: {', '.join(said)}."
    return [Finding(kind="block-order", text=text, numbers=columns(threads=threads, blocks=blocks, ratios=ratios))]


def _updates(rows: Sequence[Row]) -> list[Finding]:
    found = [row for row in rows if row.metric == "update_rate" and not row.is_invalid]
    if not found:
        return []
    best = max(found, key=lambda row: row.median)
    threads, table = int(best.params["threads"]), int(best.params["table_bytes"])
    text = (
        f"Random updates of a table of {format_bytes(table)}: {best.median / 1e9:.3g} GUPS by "
        f"{plural(threads, 'thread')}, one in {format_time(threads / best.median)} by each."
    )
    return [Finding(kind="random-updates", text=text, numbers=columns(threads=threads, updates_per_s=best.median))]
