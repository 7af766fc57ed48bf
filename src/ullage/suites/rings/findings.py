# SPDX-License-Identifier: Apache-2.0
"""From the records of a rings run to rows and sentences: what network it is, what order and company cost, hpcc.

The ratios of ping-pong, natural ring and random ring bandwidth are those that HPC Challenge's authors expect: a bus is
shared by all, a torus carries neighbours at half and strangers worse, a memory has two copies to make, a full crossbar
gives each process all.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.analysis.settings import select
from ullage.analysis.statistics.comparison import Contest, compare_all
from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.flags import OVERSUBSCRIBED, TOO_SHORT
from ullage.model.plan import Scalar
from ullage.model.record import PeerRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, times
from ullage.report.view import best_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, with_peers
from ullage.runs.kernels.bounds import bound_rows, not_available
from ullage.runs.kernels.message_pages import with_pages_of
from ullage.runs.kernels.options import MPI
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, launches_of, told_rows, usual
from ullage.suites.rings.suite import LARGE_BYTES, PING_PONG, RING, SMALL_BYTES
from ullage.units import format_rate, format_time

LATENCIES: Final = ("ring_latency", "ping_pong_least_latency", "ping_pong_latency", "ping_pong_most_latency")
BANDWIDTHS: Final = (
    *("ring_bandwidth", "ping_pong_least_bandwidth", "ping_pong_bandwidth", "ping_pong_most_bandwidth"),
)
_ORDERS: Final = ("natural", "random", PING_PONG)
_MESSAGES: Final = {**dict.fromkeys(LATENCIES, SMALL_BYTES), **dict.fromkeys(BANDWIDTHS, LARGE_BYTES)}


def rings_rows(launches: Launches, context: RowContext) -> list[Row]:
    """Return the rows in the order of the cases: natural and random ring, pairs; for each message."""
    own = context.without_storage(MPI.name, (*LATENCIES, *BANDWIDTHS))
    told = told_rows(launches, own, _params_of, with_pages_of)
    told.sort(key=lambda row: (row.count("message_bytes"), _ORDERS.index(row.word("order"))))
    # A phase is not too short: its loops are timed by themselves, and are as long as the clock requires.
    return [row.model_copy(update={"flags": [one for one in row.flags if one.code != TOO_SHORT]}) for row in told]


def _params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
    workload = source.case.workload
    if workload not in (RING, PING_PONG):
        return None
    order = source.values.some("order")["order"] if workload == RING else PING_PONG
    size = source.values.some("message_bytes")
    # A damaged record may have another word.
    if order not in _ORDERS or _MESSAGES[row.metric] != size["message_bytes"]:
        return None
    params = {**usual(row, "access"), "order": order, **size, **usual(row, "ranks", "nodes")}
    is_probed = source.workload.get("permutation") == "slot-probe" and order == "random"
    return {**params, "permutation": "slot-probe"} if is_probed else params


def find_row(rows: Iterable[Row], metric: str, order: str) -> Row | None:
    """Return the row of that metric and order with the most ranks, or None without one."""
    return max(select(rows, metric, order=order), key=lambda row: row.count("ranks"), default=None)


# A network is of no known kind if either ratio differs from each kind's by more than this factor.
_FARTHEST: Final = 2.0
# Kinds as near as this to the nearest cannot be told from it.
_ALIKE: Final = 1.15


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of network, by bandwidths of a process in both rings over that of a ping-pong."""

    name: str
    natural: float
    random: float
    ratio: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The kinds of network nearest to the ratios, and those as near within a little; none where all are far away."""

    natural: float
    random: float
    kinds: tuple[Kind, ...]


def kinds_of(ranks: int, nodes: int) -> list[Kind]:
    """Return the kinds of networks with the ratios expected of ``ranks`` processes on ``nodes`` nodes."""
    found = [
        Kind("a full crossbar", 1.0, 1.0, "1 : 1 : 1"),
        Kind("shared memory", 1 / 2, 1 / 2, "1 : 1/2 : 1/2"),
        Kind("a torus", 1 / 2, 1 / 5, "1 : 1/2 : 1/5"),
        Kind("a bus", 1 / ranks, 1 / ranks, f"1 : 1/{ranks} : 1/{ranks}"),
    ]
    on_a_node = -(-ranks // nodes)
    if nodes > 1 and on_a_node > 1:
        # In a natural ring only the two ends of a node's stretch leave it; in a random one nearly all messages do. That
        # it has half of a pair is what such machines were seen to have (ARCHER, 4 to 256 nodes of 24).
        name = "a network whose card the processes of a node share"
        found.append(Kind(name, 1 / 2, 1 / on_a_node, f"1 : 1/2 : 1/{on_a_node}"))
    return found


def diagnose(ping_pong: float, natural: float, random: float, ranks: int, nodes: int) -> Diagnosis:
    """Find the kind of network whose ratios are nearest, by the larger factor of both ratios.

    Bandwidths are in bytes/s, of a pair and of a process.
    """
    seen = natural / ping_pong, random / ping_pong

    def factor(kind: Kind) -> float:
        return max(math.exp(abs(math.log(seen[0] / kind.natural))), math.exp(abs(math.log(seen[1] / kind.random))))

    ordered = sorted(kinds_of(ranks, nodes), key=factor)
    nearest = factor(ordered[0])
    alike = tuple(kind for kind in ordered if factor(kind) <= nearest * _ALIKE) if nearest <= _FARTHEST else ()
    return Diagnosis(*seen, alike)


_NOTABLE: Final = 1.2
_SIDE_BY_SIDE: Final = "`mpiexec --map-by core` (Open MPI), `srun --distribution=block:block` (Slurm)"
# Three kinds of findings compare: the kind of network, the order of ranks, and hpcc.
_COMPARING: Final = 3
# hpcc allocates them and writes their first and last byte only: to the kernel all else is one page of zeros, which the
# copies then read out of the nearest cache (bench_lat_bw_1.5.2.c, cross_ping_pong_set).
UNWRITTEN: Final = frozenset({"ping_pong_least_bandwidth", "ping_pong_bandwidth", "ping_pong_most_bandwidth"})
UNWRITTEN_NOTE: Final = (
    "hpcc never writes its large ping-pong messages, so on one node they are copies of one cached page of zeros. Its "
    "ping-pong bandwidths are too high there and are left out of the comparison."
)
_WORDS: Final = {"ping-pong": "ping-pong", "natural": "natural ring", "random": "random rings"}


def findings_of(rows: Sequence[Row], peers: Sequence[PeerRecord], level: float) -> list[Finding]:
    """Return all findings on rings and pairs."""
    sound = sound_rows(rows)
    own = level_of_part(level, _COMPARING)
    return [*_oversubscribed(rows), *_kind(sound, own), *_latency(sound), *_peer(sound, peers, own)]


def _oversubscribed(rows: Sequence[Row]) -> list[Finding]:
    row = next((row for row in rows if row.has_flag(OVERSUBSCRIBED)), None)
    if row is None:
        return []
    text = (
        f"{row.params['ranks']} processes share fewer cores. The numbers measure the scheduler and not a network. "
        "Use fewer ranks (--ranks)."
    )
    return [finding("oversubscribed", "More processes than cores", text, "warning", ranks=row.params["ranks"])]


def _three_of(rows: Sequence[Row], what: str) -> tuple[Row, Row, Row] | None:
    """Return ``what`` of ping-pong, natural ring and random rings; None where one is missing."""
    pair = find_row(rows, f"ping_pong_{what}", "ping-pong")
    natural, random = (find_row(rows, f"ring_{what}", order) for order in ("natural", "random"))
    return None if pair is None or natural is None or random is None else (pair, natural, random)


def diagnosis_of(rows: Sequence[Row]) -> Diagnosis | None:
    """Diagnose the network by medians, or return None where one of the three bandwidths is missing."""
    found = _three_of(rows, "bandwidth")
    return None if found is None else _diagnosed(found, [row.median for row in found])


def _diagnosed(rows: Sequence[Row], values: Sequence[float]) -> Diagnosis:
    pair, natural, random = values
    return diagnose(pair, natural, random, int(rows[0].params["ranks"]), int(rows[0].params["nodes"]))


def _diagnoses(rows: tuple[Row, Row, Row], level: float) -> list[Diagnosis]:
    """Return the diagnoses at the ends of both ratios' intervals; none where these are not known."""
    pair, *rings = rows
    found = [compare_rows(ring, pair, level_of_part(level, len(rings))) for ring in rings]
    ends = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    return [_diagnosed(rows, (1.0, *at)) for at in product(*ends)] if len(ends) == len(rings) else []


def _kind(rows: Sequence[Row], level: float) -> list[Finding]:
    """Name the kind that is nearest to all ratios within their intervals, and say so where there are several."""
    bandwidths = _three_of(rows, "bandwidth")
    if bandwidths is None:
        return []
    pair, natural, random = (row.median for row in bandwidths)
    every = _diagnoses(bandwidths, level)
    kinds = list(dict.fromkeys(kind for one in every for kind in one.kinds))
    text = (
        f"The bandwidths of ping-pong, natural ring and random rings are 1 : {natural / pair:.2f} : "
        f"{random / pair:.2f}."
    )
    title = "The ratios of ping-pong and rings do not tell the kind of network"
    if kinds:
        text += f" Within their intervals that fits {' or '.join(f'{kind.name} ({kind.ratio})' for kind in kinds)}"
        text += "." if all(one.kinds for one in every) else ", or no known kind of network."
        if len(kinds) == 1 and all(one.kinds for one in every):
            title = f"The ratios of ping-pong and rings fit {kinds[0].name}"
    elif every:
        text += " No known kind of network has these ratios."
        title = "The ratios of ping-pong and rings fit no known network"
    numbers = {"natural": natural / pair, "random": random / pair, "kinds": [kind.name for kind in kinds]}
    return [finding("ring-ratio", title, text, **numbers), *_order(bandwidths, level)]


def _order(bandwidths: tuple[Row, Row, Row], level: float) -> list[Finding]:
    """Advise to place neighbours side by side where the natural ring is proved to be faster, and by enough."""
    _, natural, random = bandwidths
    found = compare_rows(natural, random, level)
    if found.verdict != "faster" or found.ratio < _NOTABLE:
        return []
    advice = (
        f"Random rings reach {times(1 / found.ratio)} the bandwidth of the natural ring. Place processes that "
        "communicate next to each other in rank order."
    )
    order = finding("ring-order", "Distance between ranks costs bandwidth", advice, "advice", ratio=1 / found.ratio)
    return [with_gain(order, gain_of(found), _SIDE_BY_SIDE)]


def _latency(rows: Sequence[Row]) -> list[Finding]:
    if (found := _three_of(rows, "latency")) is None:
        return []
    pair, natural, random = found
    text = (
        f"A message of 8 bytes takes {format_time(pair.median)} between two processes, {format_time(natural.median)} "
        f"in the natural ring and {format_time(random.median)} in random rings."
    )
    title = f"A message of 8 bytes takes {format_time(pair.median)} between two processes"
    return [
        finding("ring-latency", title, text, ping_pong_s=pair.median, natural_s=natural.median, random_s=random.median)
    ]


def _peer(rows: Sequence[Row], peers: Sequence[PeerRecord], level: float) -> list[Finding]:
    """Report for each number that can be compared whether we and hpcc differ by more than the noise of both."""
    beside: list[tuple[str, Contest]] = []
    for row in rows:
        theirs = [
            record.values[row.metric]
            for record in peers
            if record.case == row.case and record.values.get(row.metric, 0.0) > 0
        ]
        if theirs and row.metric not in UNWRITTEN and min(row.repetitions, default=0.0) > 0:
            beside.append((f"{_WORDS[row.word('order')]} {_what(row)}", Contest(row.repetitions, theirs, row.better)))
    if not beside:
        return []
    found = compare_all([contest for _, contest in beside], level)
    apart = {what: one.ratio for (what, _), one in zip(beside, found, strict=True) if one.verdict != "cannot tell"}
    same = sum(one.verdict == "cannot tell" for one in found)
    title = f"No difference from hpcc can be told in {same} of {plural(len(found), 'number')}"
    text = f"{title}, measured in turn."
    if apart:
        text += f" Our value over hpcc's is {listing([f'{times(ratio)} for {what}' for what, ratio in apart.items()])}."
    if any(row.metric in UNWRITTEN and row.peer is not None for row in rows):
        text += f" {UNWRITTEN_NOTE}"
    if any(row.params.get("pages") == "huge" for row in rows):
        text += " Our messages lay in huge pages, which hpcc does not ask for. Use --pages default to compare."
    said = [f"{what} {ratio:.2f}" for what, ratio in apart.items()]
    return [finding("ring-peer", title, text, same=same, apart=said, ratios=[one.ratio for one in found])]


def _what(row: Row) -> str:
    """Name a metric: ``latency``, ``bandwidth (least)``."""
    which, _, kind = row.metric.removeprefix("ping_pong_").removeprefix("ring_").rpartition("_")
    return f"{kind} ({which})" if which else kind


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    launches = launches_of(result)
    peers = result.read_peers()
    rows = with_peers(rings_rows(launches, context), peers)
    least = bound_rows(launches, context)
    return SuiteSummary(
        [*rows, *least],
        [*failures_of(launches, context.level), *findings_of(rows, peers, context.level), *not_available(launches)],
    )


_KILO: Final = 1e3
_SOLVES: Final = ("solve", "distributed-solve")


@dataclass(frozen=True, slots=True)
class Balance:
    """``value`` in ``unit``: the rate ``over`` of all processes or threads over that of the linear solve."""

    name: str
    value: float
    unit: str
    over: Row
    over_rate: float
    solve: Row


def balances(rows: Sequence[Row]) -> list[Balance]:
    """Return network and memory over arithmetic, each where both its numbers are there.

    Of memory it is the best triad over sets that no cache holds, with ordinary stores as EP-STREAM has them.
    """
    solve = best_solve(rows)
    if solve is None:
        return []
    found: list[Balance] = []
    ring = find_row(rows, "ring_bandwidth", "random")
    if ring is not None:
        rate = ring.ranks * ring.median
        found.append(Balance("network : compute", _KILO * rate / solve.median, "B/kflop", ring, rate, solve))
    plain = {"stores": "ordinary", "level": "DRAM", "block_bytes": None}
    triad = best_of(select(rows, "memory_bandwidth", kernel="triad", **plain))
    if triad is not None:
        found.append(Balance("memory : compute", triad.median / solve.median, "B/flop", triad, triad.median, solve))
    return found


def best_solve(rows: Iterable[Row]) -> Row | None:
    """Return the fastest linear solve, by threads of one process or by ranks, or None without one."""
    return best_of(row for row in rows if row.metric == "compute_rate" and row.params.get("operation") in _SOLVES)


def balance_findings(rows: Sequence[Row]) -> list[Finding]:
    """Return a finding for each balance."""
    found: list[Finding] = []
    for one in balances(rows):
        words = one.name.replace(" : ", " to ")
        text = (
            f"The balance of {words} is {one.value:.3g} {one.unit}: {format_rate(one.over_rate)} over "
            f"{one.solve.median / 1e9:.3g} Gflop/s of a linear solve."
        )
        numbers = {"ratio": one.value, "bytes_per_s": one.over_rate, "flops": one.solve.median}
        said = finding("balance", f"Balance of {words}: {one.value:.3g} {one.unit}", text, **numbers)
        found.append(said.model_copy(update={"suite": "rings"}))
    return found
