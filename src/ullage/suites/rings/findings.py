# SPDX-License-Identifier: Apache-2.0
"""From the records of a rings run to rows and sentences: what network it is, what order and company cost, hpcc."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.analysis.findings.words import columns
from ullage.analysis.statistics import compare
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.peer import PeerRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, times
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.peer_rows import with_peers
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.suites.rings.diagnosis import Diagnosis, diagnose
from ullage.suites.rings.rows import find_row, rings_rows
from ullage.units import format_time

_NOTABLE: Final = 1.2
# hpcc allocates them and writes their first and last byte only: to the kernel all else is one page of zeros, which the
# copies then read out of the nearest cache (bench_lat_bw_1.5.2.c, cross_ping_pong_set).
UNWRITTEN: Final = frozenset({"ping_pong_least_bandwidth", "ping_pong_bandwidth", "ping_pong_most_bandwidth"})
UNWRITTEN_NOTE: Final = (
    "hpcc's large ping-pong messages are memory that was never written, so that on one node they are copied out of one "
    "cached page of zeros: its ping-pong bandwidths are too high there, and are not held against ours."
)
_WORDS: Final = {"ping-pong": "ping-pong", "natural": "natural ring", "random": "random rings"}


def findings_of(rows: Sequence[Row], peers: Sequence[PeerRecord], level: float) -> list[Finding]:
    """All of them."""
    return [*_oversubscribed(rows), *_kind(rows), *_latency(rows), *_peer(rows, peers, level)]


def _oversubscribed(rows: Sequence[Row]) -> list[Finding]:
    row = next((row for row in rows if row.has_flag(OVERSUBSCRIBED)), None)
    if row is None:
        return []
    text = (
        f"{row.params['ranks']} processes share fewer cores: these are numbers of the scheduler, and of no network. "
        "Take fewer --ranks."
    )
    return [Finding(kind="oversubscribed", text=text, severity="warning", numbers=columns(ranks=row.params["ranks"]))]


def diagnosis_of(rows: Sequence[Row]) -> Diagnosis | None:
    """None where one of the three bandwidths is missing."""
    pair = find_row(rows, "ping_pong_bandwidth", "ping-pong")
    natural, random = (find_row(rows, "ring_bandwidth", order) for order in ("natural", "random"))
    if pair is None or natural is None or random is None:
        return None
    nodes = int(pair.params["nodes"])
    return diagnose(pair.median, natural.median, random.median, int(pair.params["ranks"]), nodes)


def _kind(rows: Sequence[Row]) -> list[Finding]:
    found = diagnosis_of(rows)
    if found is None:
        return []
    text = f"Ping-pong : natural ring : random rings = 1 : {found.natural:.2f} : {found.random:.2f}, as "
    if found.kinds:
        text += " or ".join(f"{kind.name} has it ({kind.ratio})" for kind in found.kinds)
    else:
        text += "none of the networks has it that are known"
    text += f" (within a factor of {found.factor:.2f})." if found.kinds else "."
    numbers = columns(natural=found.natural, random=found.random, kinds=[kind.name for kind in found.kinds])
    findings = [Finding(kind="ring-ratio", text=text, numbers=numbers)]
    if found.random * _NOTABLE < found.natural:
        advice = (
            f"Random rings carry {times(found.random / found.natural)} what the natural one does: place processes that "
            "talk to each other next to each other in rank order."
        )
        numbers = columns(ratio=found.random / found.natural)
        findings.append(Finding(kind="ring-order", text=advice, severity="advice", numbers=numbers))
    return findings


def _latency(rows: Sequence[Row]) -> list[Finding]:
    pair = find_row(rows, "ping_pong_latency", "ping-pong")
    natural, random = (find_row(rows, "ring_latency", order) for order in ("natural", "random"))
    if pair is None or natural is None or random is None:
        return []
    text = (
        f"8 bytes take {format_time(pair.median)} between two processes, {format_time(natural.median)} in the natural "
        f"ring and {format_time(random.median)} in random ones"
    )
    text += "; both directions at once make a ring's message cheaper." if natural.median < pair.median else "."
    numbers = columns(ping_pong_s=pair.median, natural_s=natural.median, random_s=random.median)
    return [Finding(kind="ring-latency", text=text, numbers=numbers)]


def _peer(rows: Sequence[Row], peers: Sequence[PeerRecord], level: float) -> list[Finding]:
    """For each number that can be compared, whether we and hpcc differ by more than the noise of both."""
    told: list[str] = []
    apart: list[str] = []
    ratios: list[float] = []
    for row in rows:
        theirs = [
            record.values[row.metric] for record in peers if record.case == row.case and row.metric in record.values
        ]
        if not theirs or row.metric in UNWRITTEN:
            continue
        found = compare(row.repetitions, theirs, better=row.better, level=level)
        what = f"{_WORDS[str(row.params['order'])]} {_what(row)} {found.ratio:.2f}"
        ratios.append(found.ratio)
        (told if found.verdict == "cannot tell" else apart).append(what)
    if not ratios:
        return []
    text = f"Against hpcc, run in turn with us: {len(told)} of {len(ratios)} numbers are the same within the noise"
    text += f"; apart are (ours over hpcc's) {listing(apart)}." if apart else "."
    if any(row.metric in UNWRITTEN and row.peer is not None for row in rows):
        text += f" {UNWRITTEN_NOTE}"
    return [Finding(kind="ring-peer", text=text, numbers=columns(same=len(told), apart=apart, ratios=ratios))]


def _what(row: Row) -> str:
    words = row.metric.removeprefix("ping_pong_").removeprefix("ring_").split("_")
    kind, which = words[-1], "" if len(words) == 1 else f" ({words[0]})"
    return f"{kind}{which}"


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    peers = result.read_peers()
    rows = with_peers(rings_rows(launches, context), peers)
    failures = find_failures(make_study([], failed_cases(launches), context.level))
    return SuiteSummary(rows, [*failures, *findings_of(rows, peers, context.level)])
