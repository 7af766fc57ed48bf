# SPDX-License-Identifier: Apache-2.0
"""From the records of a network run to rows, what bounds them, and sentences: which setting is best, what is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.declared import find_network, network_ceiling
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.analysis.statistics.comparison import Comparison, level_of_each
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.flags import INVALID_LITTLES_LAW, INVALID_NOTHING_ARRIVED, Flag
from ullage.model.machine import MachineFile
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import BOUND, Ceiling, Finding, Row
from ullage.parameters import count_of
from ullage.quantity import listing, percent, plural, show, times
from ullage.reading import child
from ullage.report.view import best_of
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join, with_peers
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.network.options import LINK, LOCAL, TOLD, NetworkOptions
from ullage.system.hardware import states_no_speed
from ullage.units import format_bytes, format_time

STREAM_METRICS: Final = ("network_bandwidth", "network_cpu", "bandwidth_per_core")
DATAGRAM_METRICS: Final = ("loss_share", "jitter")
REQUEST_METRICS: Final = (
    "latency_p50",
    "latency_p95",
    "latency_p99",
    "latency_p999",
    "latency_max",
    "message_rate",
    "network_cpu",
)
_LITTLE: Final = 0.1


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(NetworkOptions, request)
    launches = launches_of(result)
    metrics = tuple(dict.fromkeys((*STREAM_METRICS, *DATAGRAM_METRICS, *REQUEST_METRICS)))
    own = context.without_storage(LINK.name, metrics)
    phases = grouped((item.case.case, item.phase) for item in join(launches))
    rows = with_peers(told_rows(launches, own, _params_of, _lawful), result.read_peers())
    last = {case: found[-1] for case, found in phases.items()}
    rows = with_ceilings(rows, last, options.machine)
    failed = [one for one in failed_cases(launches) if one.target == LINK.name]
    failures = find_all([], failed, context.level, context.settable)
    return SuiteSummary(rows, [*failures, *findings_of(sound_rows(rows), last, context.level, options.window)])


def _params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
    params = {**usual(row, "access", "ranks", "nodes"), **source.values.some(*TOLD)}
    if params["mode"] == "request":
        # Requests have the setting of their protocol; it is not varied.
        params["no_delay"] = False
    if params["protocol"] in LOCAL:
        params[BOUND] = True
    return params if _is_wanted(row.metric, params) else None


def _is_wanted(metric: str, params: Mapping[str, Scalar]) -> bool:
    if params["protocol"] in LOCAL:
        return metric == ("latency_p50" if params["mode"] == "request" else "network_bandwidth")
    if metric == "loss_share":
        return params["protocol"] != "tcp"
    if params["mode"] == "stream":
        return metric in STREAM_METRICS or (metric == "jitter" and params["protocol"] == "udp")
    return metric in REQUEST_METRICS


def _lawful(row: Row, source: Source) -> Row:
    """Flag a row that breaks Little's law, or whose streams of TCP were connected and delivered nothing."""
    flag = None
    if row.params["mode"] == "request":
        flag = _broken(row, source.phases)
    elif row.params["protocol"] == "tcp":
        flag = _silent(source.phases)
    return row if flag is None else row.model_copy(update={"flags": [*row.flags, flag]})


def _broken(row: Row, phases: Sequence[PhaseRecord]) -> Flag | None:
    """Flag latencies that add up to more time than there was: a stream of requests has one in flight at any time."""
    worst = max(_busy(phase, row.count("streams")) for phase in phases)
    if worst <= 1 + _LITTLE:
        return None
    return Flag(code=INVALID_LITTLES_LAW, reason=f"the round trips add up to {worst:.2f} times the time there was")


def _silent(phases: Sequence[PhaseRecord]) -> Flag | None:
    """Flag windows of TCP without a byte: datagrams may be lost, but a connection that delivers nothing has no rate."""
    rates = [phase.gauges.get("goodput_bytes_per_s") for phase in phases if "unavailable" not in phase.facts]
    silent = sum(rate is not None and rate.sum == 0 for rate in rates)
    if not silent:
        return None
    reason = f"no byte arrived in the measured time of {silent} of {len(phases)} repetitions; use a larger --seconds"
    return Flag(code=INVALID_NOTHING_ARRIVED, reason=reason)


def _busy(phase: PhaseRecord, streams: int) -> float:
    """Return the share of the time in which requests were under way.

    The last one of each stream may end after the time, however long it takes, so it is left out.
    """
    window, pairs = phase.gauges.get("window_s"), phase.gauges.get("pairs")
    if phase.latency is None or window is None or pairs is None or window.most <= 0 or pairs.sum <= 0:
        return 0.0
    slots = pairs.sum * streams
    spent_ns = max(0.0, phase.latency.sum_ns - slots * phase.latency.max_ns)
    return spent_ns / 1e9 / (window.most * slots)


_BITS: Final = 8


@dataclass(frozen=True)
class Link:
    """The pair of rank 0, as its record has it. ``speed``: in bits/s of the slower end; 0: nobody says.

    ``made_up``: why what an interface states is no speed; empty where it is one.
    """

    interface: str
    peer_interface: str
    address: str
    peer_address: str
    is_loopback: bool
    speed: int
    same_node: bool
    made_up: str = ""


def link_of(phase: PhaseRecord) -> Link | None:
    """Return the link of a phase, or None where the record does not state it."""
    mine, theirs = (child(phase.facts, name) for name in ("mine", "theirs"))
    if not mine or not theirs:
        return None
    speeds = [count_of(mine, "speed_bits_per_s"), count_of(theirs, "speed_bits_per_s")]
    made_up = _made_up(mine) or _made_up(theirs)
    return Link(
        interface=str(mine.get("interface", "")),
        peer_interface=str(theirs.get("interface", "")),
        address=str(mine.get("address", "")),
        peer_address=str(theirs.get("address", "")),
        is_loopback=mine.get("loopback") is True,
        speed=0 if made_up else min(speeds),
        same_node=phase.facts.get("between") != "nodes",
        made_up=made_up,
    )


def _made_up(end: Mapping[str, object]) -> str:
    driver, speed = str(end.get("driver", "")), count_of(end, "speed_bits_per_s")
    if not speed or not states_no_speed(driver):
        return ""
    return (
        f"no ceiling: {end.get('interface')} is virtual ({driver}), and the {speed / 1e9:g} Gb/s it states are made up"
    )


def with_ceilings(rows: Sequence[Row], phases: Mapping[str, PhaseRecord], machine: MachineFile | None) -> list[Row]:
    """Give each row the ceiling of its link; ``phases`` holds one phase of each case."""
    return [_bounded(row, phases.get(row.case), machine) for row in rows]


def _bounded(row: Row, phase: PhaseRecord | None, machine: MachineFile | None) -> Row:
    link = None if phase is None else link_of(phase)
    if phase is None or link is None or link.same_node:
        return row
    if row.metric == "network_bandwidth":
        ways = 2 if row.params.get("direction") == "both" else 1
        pairs = phase.gauges["pairs"].sum if "pairs" in phase.gauges else 1
        bounded = with_ceiling(row, _times(_link_rate(link, machine), ways * pairs))
        if bounded.ceiling is not None or not link.made_up:
            return bounded
        return bounded.model_copy(update={"notes": [*bounded.notes, link.made_up]})
    if row.metric == "latency_p50":
        return with_ceiling(row, _least_latency(link, machine))
    return row


def _link_rate(link: Link, machine: MachineFile | None) -> Ceiling | None:
    """Return the ceiling of one pair in one direction: the line's rate, of which headers take a few percent."""
    declared = network_ceiling(machine, link.interface) or network_ceiling(machine, link.peer_interface)
    if declared is not None or not link.speed:
        return declared
    source = f"{link.speed / 1e9:g} Gb/s by /sys/class/net/{link.interface}/speed, the slower end's"
    return Ceiling(value=link.speed / _BITS, kind="detected", source=source)


def _times(ceiling: Ceiling | None, count: float) -> Ceiling | None:
    if ceiling is None or count == 1:
        return ceiling
    return ceiling.model_copy(update={"value": ceiling.value * count, "source": f"{ceiling.source} x {count:g}"})


def _least_latency(link: Link, machine: MachineFile | None) -> Ceiling | None:
    """Return the least latency of a round trip: twice that of the link, where the machine file declares it."""
    declared = find_network(machine, link.interface)
    if declared is None or declared.latency_s is None:
        return None
    source = f"machine file: twice the latency of {link.interface}"
    return Ceiling(value=2 * declared.latency_s, kind="declared", source=source)


_NOTABLE_LOSS: Final = 0.01
# Three kinds of findings compare: streams and the two variants.
_COMPARING: Final = 3
_NAMES: Final = {"tcp": "TCP", "udp": "UDP", "icmp": "ICMP"}
_SOCKET_OPTIONS: Final = {"no_delay": "TCP_NODELAY=1", "zero_copy": "SO_ZEROCOPY=1, and `send()` with MSG_ZEROCOPY"}


def findings_of(
    rows: Sequence[Row], phases: Mapping[str, PhaseRecord], level: float, window: int | None = None
) -> list[Finding]:
    """Return all findings, or none without phases.

    ``phases``: one of each case. ``level``: of comparisons. ``window``: the socket buffers that were asked for.
    """
    if not phases:
        return []
    part = level_of_part(level, _COMPARING)
    unavailable = dict.fromkeys(
        str(phase.facts["unavailable"]) for phase in phases.values() if "unavailable" in phase.facts
    )
    on_one_node = _loopback(rows, phases)
    lines = {protocol: _largest_blocks(rows, protocol) for protocol in ("tcp", "udp")}
    own = level_of_each(part, map(len, lines.values()))
    bests = {protocol: best_of(row for row in alike if row.median > 0) for protocol, alike in lines.items()}
    found = [
        *[_streams_finding(best, lines[protocol], own) for protocol, best in bests.items() if best is not None],
        *_loss(rows, phases, window),
        *_variant(rows, "no_delay", "TCP_NODELAY", part),
        *_variant(rows, "zero_copy", "MSG_ZEROCOPY", part),
        *_latency(rows),
    ]
    # Nobody is told to change a network for what the loopback gained.
    if on_one_node:
        found = [one.model_copy(update={"gain": None, "change": ""}) for one in found]
    return [
        *on_one_node,
        *found,
        *(finding("not-available", "ICMP echo is not available", f"ICMP echo is {text}.") for text in unavailable),
    ]


def _loopback(rows: Sequence[Row], phases: Mapping[str, PhaseRecord]) -> list[Finding]:
    links = [link for phase in phases.values() if (link := link_of(phase)) is not None]
    if not links or not all(link.same_node for link in links):
        return []
    best = best_of(row for row in rows if row.metric == "network_bandwidth" and row.median > 0)
    busy = None
    if best is not None:
        busy = next((row.median for row in rows if row.case == best.case and row.metric == "network_cpu"), None)
    has_bound = any(phase.phase == "local" for phase in phases.values())
    bound = "The same without a network bounds them: AF_UNIX for streams, a pipe for requests."
    bound = bound if has_bound else "No ceiling is known."
    cores = "" if best is None or busy is None else f" ({busy:.1f} of them busy at {_gigabits(best.median)})"
    text = (
        "Both ends were on one node. The bytes went through its kernel and not over a network, so this tests its "
        f"cores{cores}. {bound}"
    )
    return [finding("loopback", "No network was tested: both ends were on one node", text, cores=busy)]


def _streams_finding(best: Row, alike: Sequence[Row], level: float) -> Finding:
    name, count = _NAMES[str(best.params["protocol"])], int(best.params["streams"])
    block = int(best.params["block_bytes"])
    one = next((row for row in alike if row.params["streams"] == 1), None)
    most = "its highest median, " if len(alike) > 1 else ""
    text = (
        f"{name} with blocks of {format_bytes(block)} reaches {most}{_rate_text(best)}, with {plural(count, 'stream')}."
    )
    found = None if one is None or one is best or one.median <= 0 else compare_rows(best, one, level)
    text += " With 1 stream nothing arrived." if one is not None and one.median <= 0 else ""
    if found is not None:
        is_told = found.verdict == "faster"
        text += (
            f" That is {times(found.ratio)} the rate of 1 stream." if is_told else " No gain over 1 stream can be told."
        )
    if best.ceiling is not None and best.share is not None:
        text += f" That is {percent(best.share)} of the link's rate."
    title = f"{name} reaches {_gigabits(best.median)} with {plural(count, 'stream')}"
    numbers = {"protocol": best.params["protocol"], "block_bytes": block, "streams": count, "bandwidth": best.median}
    return with_gain(
        finding("streams", title, text, **numbers), None if found is None else gain_of(found), f"--streams {count}"
    )


def _largest_blocks(rows: Sequence[Row], protocol: str) -> list[Row]:
    of_protocol = (row for row in rows if row.metric == "network_bandwidth" and row.params["protocol"] == protocol)
    plain = [row for row in of_protocol if not (row.params["no_delay"] or row.params["zero_copy"])]
    block = max((row.count("block_bytes") for row in plain), default=0)
    return [row for row in plain if row.params["block_bytes"] == block]


def _larger(phase: PhaseRecord | None, window: int | None) -> str:
    """Advise larger socket buffers, unless the kernel gave less than ``window``: it keeps twice of what it grants."""
    granted = None if phase is None else phase.facts.get("receive_buffer_bytes")
    if window is not None and isinstance(granted, int) and 0 < granted < 2 * window:
        return "Their buffers are as large as net.core.rmem_max lets them be: limit the sending rate, or raise it."
    return "Try larger socket buffers (--window, up to net.core.rmem_max), or limit the sending rate."


def _loss(rows: Sequence[Row], phases: Mapping[str, PhaseRecord], window: int | None) -> list[Finding]:
    lossy = [row for row in rows if row.metric == "loss_share" and row.median > _NOTABLE_LOSS]
    streams = [row for row in lossy if row.params["mode"] == "stream"]
    found: list[Finding] = []
    if streams:
        worst = max(streams, key=lambda row: row.median)
        count, block = worst.count("streams"), format_bytes(worst.count("block_bytes"))
        title = f"UDP loses up to {percent(worst.median, 1)} of its datagrams"
        cases = f"In {plural(len(streams), 'case')} more than {percent(_NOTABLE_LOSS)} were lost"
        advice = _larger(phases.get(worst.case), window)
        text = f"{title} ({block} blocks and {plural(count, 'stream')}). {cases}: the senders are faster than the "
        text += f"receivers. {advice}"
        found.append(finding("loss", title, text, "advice", loss=worst.median, cases=len(streams)))
    requests = [row for row in lossy if row.params["mode"] == "request"]
    if requests:
        worst = max(requests, key=lambda row: row.median)
        name = _NAMES[worst.word("protocol")]
        title = f"{percent(worst.median, 1)} of the {name} requests had no answer"
        text = f"{title}. A host or a switch drops packets."
        found.append(finding("loss", title, text, "warning", loss=worst.median))
    return found


def _variant(rows: Sequence[Row], name: str, word: str, level: float) -> list[Finding]:
    """Compare each case that sets the parameter ``name`` with the same case without it."""
    bandwidths = [row for row in rows if row.metric == "network_bandwidth"]
    pairs: list[tuple[Row, Row]] = []
    for row in bandwidths:
        if row.params.get(name) is True:
            same = {**row.params, name: False}
            plain = next((other for other in bandwidths if other.params == same), None)
            if plain is not None and plain.median > 0:
                pairs.append((row, plain))
    own = level_of_part(level, max(1, len(pairs)))
    return [_variant_finding(name, word, compare_rows(row, plain, own), row) for row, plain in pairs]


def _variant_finding(name: str, word: str, found: Comparison, row: Row) -> Finding:
    what = {"faster": "raises the rate", "slower": "lowers the rate"}.get(
        found.verdict, "is not shown to change the rate"
    )
    title = f"{word} {what} with blocks of {format_bytes(row.count('block_bytes'))}"
    text = f"{title}: {times(found.ratio)} the rate without it ({_rate_text(row)})."
    return with_gain(
        finding(name.replace("_", "-"), title, text, ratio=found.ratio), gain_of(found), _SOCKET_OPTIONS[name]
    )


def _latency(rows: Sequence[Row]) -> list[Finding]:
    medians = [row for row in rows if row.metric == "latency_p50" and row.params["streams"] == 1]
    sizes = [row.count("block_bytes") for row in medians if row.params["protocol"] != "icmp"]
    least = [row for row in medians if row.params["block_bytes"] == min(sizes, default=0)]
    if not least:
        return []
    parts: list[str] = []
    for row in least:
        p99 = next((o.median for o in rows if o.case == row.case and o.metric == "latency_p99"), None)
        tail = "" if p99 is None else f" (1 of 100 above {format_time(p99)})"
        parts.append(f"{format_time(row.median)} by {_NAMES[row.word('protocol')]}{tail}")
    size = plural(min(sizes), "byte")
    first = least[0]
    title = f"A round trip of {size} takes {format_time(first.median)} by {_NAMES[first.word('protocol')]}"
    text = f"A message of {size} and its answer take {listing(parts)}."
    return [finding("round-trip", title, text, seconds=[row.median for row in least])]


def _rate_text(row: Row) -> str:
    return f"{show(row.median, 'B/s')} ({_gigabits(row.median)})"


def _gigabits(bytes_per_s: float) -> str:
    return f"{8 * bytes_per_s / 1e9:.3g} Gb/s"
