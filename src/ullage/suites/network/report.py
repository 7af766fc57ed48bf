# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a network run: throughput and round trips of TCP and UDP, against link and other tools."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.analysis.ceilings.measured import Bound
from ullage.analysis.ladders import LadderRule, Picks, Step, alike_but
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.peers.network import LEAST_BYTES
from ullage.quantity import DASH, format_row, plural, rounded, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport, columns
from ullage.report.grids import (
    Column,
    PhaseLine,
    ceiling_hint,
    grid_of,
    of,
    peer_hint,
    percent_text,
    phase_lines,
    value_hint,
)
from ullage.report.headlines import Rule
from ullage.report.plots import layer, layered, line_layers, quantity_axis, row_point
from ullage.report.switches import switch_notes
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, rank_axis, time_axis, tooltip
from ullage.suites.network.findings import Link, link_of
from ullage.suites.network.options import LOCAL
from ullage.units import format_bytes, format_volume

SUITE: Final = "network"
NAMES: Final = {"tcp": "TCP", "udp": "UDP", "icmp": "ICMP echo"}
_ORDER: Final = ("tcp", "udp", "icmp")
_BESIDES: Final = (
    ("no_delay", True, "TCP_NODELAY"),
    ("zero_copy", True, "MSG_ZEROCOPY"),
    ("direction", "both", "both ways"),
)


def _how(line: PhaseLine) -> str:
    return ", ".join(word for name, value, word in _BESIDES if line.first.params[name] == value)


def _series(line: PhaseLine) -> str:
    """Name a line of a chart: ``TCP, 32K``."""
    row = line.first
    return ", ".join(filter(None, (NAMES[row.word("protocol")], format_bytes(row.count("block_bytes")), _how(line))))


def _place(line: PhaseLine) -> tuple[int, bool, int, int]:
    row = line.first
    return _ORDER.index(row.word("protocol")), _how(line) != "", row.count("block_bytes"), row.count("streams")


def own_lines(data: ReportData, mode: str = "") -> list[PhaseLine]:
    """Return a line for each case of this suite, whatever else the result holds, or for those of one mode."""
    rows = (row for row in data.rows_of(SUITE) if row.access == "sockets" and mode in ("", row.word("mode")))
    return sorted(phase_lines(rows), key=_place)


_GIGABIT: Final = 1e9 / 8
_KINDS: Final = frozenset({"loopback", "not-available"})
_OF_PEERS: Final = {
    "sockperf": (
        f"sockperf sends messages of {LEAST_BYTES} bytes at least, so it is compared only with "
        "Ullage's messages of that size."
    ),
    "iperf3": (
        "iperf3 sends each UDP block with a call of its own. Ullage hands the kernel as many at once as it takes."
    ),
}


def tables(data: ReportData) -> Content | None:
    """Return the tables, or None for results without sockets."""
    lines = own_lines(data)
    if not lines:
        return None
    streams, requests = (own_lines(data, mode) for mode in ("stream", "request"))
    phases = [found[-1] for line in lines if (found := data.phases_of(line.first))]
    grids = [*grid_of("throughput", _STREAM_COLUMNS, streams), *grid_of("round trips", _REQUEST_COLUMNS, requests)]
    return Content(notes=[*switch_notes(data, SUITE), *_notes(data, lines, phases)], grids=grids)


def _gigabits(bytes_per_s: float | None) -> str:
    return DASH if bytes_per_s is None else significant(bytes_per_s / _GIGABIT)


_PROTOCOL: Final = Column[PhaseLine]("protocol", lambda line: NAMES[line.first.word("protocol")], is_number=False)
_HOW: Final = Column[PhaseLine]("how", _how, is_number=False)
_BANDWIDTH: Final = "network_bandwidth"
_STREAM_COLUMNS: Final = columns(
    _PROTOCOL,
    "streams block_bytes:bytes=block",
    _HOW,
    Column[PhaseLine]("Gb/s", of(_BANDWIDTH, lambda row: _gigabits(row.median)), hint=of(_BANDWIDTH, value_hint, "")),
    Column[PhaseLine](
        "peer Gb/s",
        of(_BANDWIDTH, lambda row: _gigabits(row.peer and row.peer.median)),
        hint=of(_BANDWIDTH, peer_hint, ""),
    ),
    Column[PhaseLine](
        "ceiling Gb/s",
        of(_BANDWIDTH, lambda row: _gigabits(row.ceiling and row.ceiling.value)),
        hint=of(_BANDWIDTH, ceiling_hint, ""),
    ),
    "network_bandwidth:share=efficiency network_bandwidth:peer_share network_bandwidth:ratio=ours_to_peer's",
    "network_cpu:plain=cores_busy",
    Column[PhaseLine](
        "peer's cores", of("network_cpu", lambda row: DASH if row.peer is None else significant(row.peer.median))
    ),
    Column[PhaseLine]("Gb/s a core", of("bandwidth_per_core", lambda row: _gigabits(row.median))),
    Column[PhaseLine]("lost", of("loss_share", percent_text), hint=of("loss_share", value_hint, "")),
    "jitter:value=jitter",
)
_REQUEST_COLUMNS: Final = columns(
    _PROTOCOL,
    "streams block_bytes:bytes=message",
    _HOW,
    "latency_p50=median latency_p95=p95 latency_p99=p99 latency_p999=p99.9 latency_max=longest latency_p50:peer",
    "latency_p99:peer=peer_p99 latency_p50:ratio=to_peer message_rate=messages/s network_cpu:plain=cores_busy",
    "loss_share:percent=lost",
)


def _notes(data: ReportData, lines: Sequence[PhaseLine], phases: Sequence[PhaseRecord]) -> list[str]:
    notes = [_where(link) for phase in phases[:1] if (link := link_of(phase)) is not None]
    notes += [finding.text for finding in data.summary.findings if finding.kind in _KINDS]
    sockets = next((text for phase in phases if (text := _sockets(phase))), "")
    notes += [sockets] if sockets else []
    peers = {row.peer.tool for line in lines for row in line.rows.values() if row.peer is not None}
    return [*notes, *(text for peer, text in _OF_PEERS.items() if peer in peers)]


def _where(link: Link) -> str:
    if link.is_loopback:
        return f"The ranks are on one node and use its loopback ({link.interface}, {link.address})."
    ends = link.interface if link.interface == link.peer_interface else f"{link.interface} and {link.peer_interface}"
    speed = f", {link.speed / 1e9:g} Gb/s by the kernel" if link.speed else ", whose speed the kernel does not say"
    return f"Between {'two ranks of one node' if link.same_node else 'nodes'}, over {ends} ({link.address}{speed})."


_SOCKET_FACTS: Final = ("congestion_control", "send_buffer_bytes", "receive_buffer_bytes")


def _sockets(phase: PhaseRecord) -> str:
    facts = phase.facts
    control, sent, received = (facts.get(name) for name in _SOCKET_FACTS)
    if not control or not isinstance(sent, int) or not isinstance(received, int):
        return ""
    buffers = f"{format_volume(sent)} to send and {format_volume(received)} to receive"
    return f"TCP uses congestion control {control}. At the end its socket buffers hold {buffers}."


def _is_socket(row: Row) -> bool:
    is_whole = {"block_bytes", "streams"} <= row.params.keys()  # a damaged plan may lack one
    return is_whole and row.access == "sockets" and row.word("protocol") in ("tcp", "udp")


def _is_local(row: Row) -> bool:
    return row.is_bound and row.word("protocol") in LOCAL


def _is_on_one_node(row: Row) -> bool:
    return _is_socket(row) and row.count("nodes", 1) == 1


def _larger(name: str) -> Picks:
    """Pick the same work with more of what the parameter ``name`` counts."""
    return lambda row, other: alike_but(row, other, name) and other.count(name) > row.count(name)


def _at_largest_block(line: Row, row: Row) -> bool:
    same = row is line or alike_but(line, row, "block_bytes")
    return same and row.count("block_bytes") >= line.count("block_bytes")


def _block(applies: Callable[[Row], bool], *, may_rank: bool) -> Step:
    return Step(
        "block",
        lambda above, below: f"Blocks of {_block_of(below)} instead of {_block_of(above)}",
        lambda row, other: applies(row) and _larger("block_bytes")(row, other),
        advice="Hand more bytes to each call that sends.",
        command=lambda above, _below: f"send() with {_block_of(above)} a call",
        may_rank=may_rank,
    )


def _block_of(row: Row) -> str:
    return format_bytes(row.count("block_bytes"))


BOUNDS: Final = (
    Bound(
        "network_bandwidth",
        _is_on_one_node,
        lambda row: _is_local(row) and row.word("mode") == "stream",
        lambda row: (row.params.get("streams"), row.params.get("direction")),
        lambda row: (
            f"{plural(row.count('streams'), 'stream')} over AF_UNIX, blocks of {format_bytes(row.count('block_bytes'))}"
        ),
        "On one node TCP and UDP do all that AF_UNIX sockets do, which copy each byte twice, and a protocol besides.",
    ),
    Bound(
        "latency_p50",
        lambda row: _is_on_one_node(row) and row.word("mode") == "request" and row.count("streams") == 1,
        lambda row: _is_local(row) and row.word("mode") == "request",
        lambda row: row.count("nodes", 1),
        lambda row: f"{plural(row.count('block_bytes'), 'byte')} there and back through pipes",
        "A request and its answer wake a process twice, and a byte in a pipe is the cheapest way to wake one.",
    ),
)
LADDER: Final = LadderRule(
    "network",
    (
        Step(
            "protocol",
            "TCP or UDP itself, against the kernel's own sockets with the same streams",
            lambda row, other: _is_local(other) and other.params.get("streams") == row.params.get("streams"),
            _at_largest_block,
            advice="Let processes of one node talk through AF_UNIX sockets or shared memory, without a network.",
        ),
        Step(
            "streams",
            lambda above, below: f"{plural(below.count('streams'), 'stream')} instead of {above.count('streams')}",
            lambda row, other: row.count("nodes", 1) > 1 and _larger("streams")(row, other),
            advice="Use as many connections as the better row has.",
            command=lambda above, _below: f"--streams {above.count('streams')}",
        ),
        # What is sent over the loopback says nothing about a network, so its rungs never rank.
        _block(lambda row: row.count("nodes", 1) == 1, may_rank=False),
        _block(lambda row: row.count("nodes", 1) > 1, may_rank=True),
    ),
    lambda row: row.metric == "network_bandwidth",
)


def _stream(row: Row) -> str:
    size, streams = format_bytes(row.count("block_bytes")), plural(row.count("streams"), "stream")
    return f"{row.word('protocol').upper()}, blocks of {size}, {streams}"


HEADLINES: Final = (
    Rule("network", "network_bandwidth", _is_socket, lambda row: row.params["protocol"], _stream),
    Rule(
        "network",
        "latency_p50",
        lambda row: _is_socket(row) and row.params["streams"] == 1,
        lambda row: row.params["protocol"],
        lambda row: f"{row.word('protocol').upper()}, {plural(row.count('block_bytes'), 'byte')} there and back",
    ),
)


_CHART_SIZE: Final = (410, 250)
_RATE_TOOLTIP: Final = tooltip("series=what x=streams text=throughput peer flags")
# A ceiling above this is left to the table, because it would press the measured lines flat.
_HIGHEST_CEILING: Final = 3.0


def rate_figures(data: ReportData) -> list[Figure]:
    """Draw one figure of the rates over streams; none where there is one number of streams only."""
    lines = [(_series(line), row) for line in own_lines(data, "stream") if (row := line.rows.get(_BANDWIDTH))]
    curves = {name: found for name, found in grouped(lines).items() if len(found) > 1}
    if not curves:
        return []
    has_peer = any(row.peer is not None for found in curves.values() for row in found)
    caption = "Bars: interval of the median." + (" Crosses: the peer's median." if has_peer else "")
    values = [_rate_point(row, name) for name, found in curves.items() for row in found]
    x, y = rank_axis(sorted({value["x"] for value in values}), "x", "streams"), quantity_axis("y", "throughput (Gb/s)")
    encoding = {"x": x, "y": y, "color": _color(list(curves))}
    rule = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers = [layer({"type": "rule", "opacity": 0.5}, rule), *line_layers(encoding, _RATE_TOOLTIP, 36)]
    if any(value["beside"] is not None for value in values):
        cross, beside = {"type": "point", "shape": "cross", "size": 40}, {**encoding, "y": {**y, "field": "beside"}}
        layers.append(layer(cross, beside, shown="datum.beside != null"))
    ceilings = [row.ceiling.value / _GIGABIT for found in curves.values() for row in found if row.ceiling is not None]
    if ceilings and ceilings[0] <= _HIGHEST_CEILING * max(value["y"] for value in values):
        line = {"type": "rule", "strokeDash": [6, 4], "color": INK, "strokeWidth": 1.2}
        layers.append(layer(line, {"y": y}, [{"y": ceilings[0]}]))
    return [Figure("throughput over streams", caption, layered(*_CHART_SIZE, layers, values))]


def _color(names: Sequence[str]) -> Spec:
    return ordinal("series", names, "", scale={"domain": list(names), "range": ordered_colors(len(names))})


def _rate_point(row: Row, name: str) -> Spec:
    low, high = (row.median if bound is None else bound for bound in (row.low, row.high))
    return {
        "x": row.count("streams"),
        "y": rounded(row.median / _GIGABIT),
        "low": rounded(low / _GIGABIT),
        "high": rounded(high / _GIGABIT),
        "beside": None if row.peer is None else rounded(row.peer.median / _GIGABIT),
        "series": name,
        "text": format_row(row),
        "peer": peer_hint(row),
        "flags": ", ".join(row.flag_codes),
    }


_PERCENTILES: Final = {
    "latency_p50": "50 %",
    "latency_p95": "95 %",
    "latency_p99": "99 %",
    "latency_p999": "99.9 %",
    "latency_max": "all",
}
_LATENCY_TOOLTIP: Final = tooltip("series=what x=of_the_round_trips text=stay_below flags")


def latency_figures(data: ReportData) -> list[Figure]:
    """Draw one figure of one request at a time; none without such rows."""
    alone = (line for line in own_lines(data, "request") if line.first.count("streams") == 1)
    lines = {_series(line): line.rows for line in alone if "latency_p50" in line.rows}
    if not lines:
        return []
    values = [
        row_point(rows[metric], word, series=name)
        for name, rows in lines.items()
        for metric, word in _PERCENTILES.items()
        if metric in rows
    ]
    encoding = {
        "x": ordinal("x", list(_PERCENTILES.values()), "of the round trips", axis={"labelAngle": 0, "grid": False}),
        "y": time_axis([value["y"] for value in values], "y", "stay below"),
        "color": _color(list(lines)),
    }
    caption = "One request at a time; each point is the median over the repetitions."
    return [Figure("round trips", caption, layered(*_CHART_SIZE, line_layers(encoding, _LATENCY_TOOLTIP, 36), values))]


_REPORT: Final = PartOfReport(SUITE, "network", 7)
SECTION: Final = _REPORT.section(
    "Network",
    "Throughput is payload that arrived, after a warm-up, in 10^9 bits/s. A round trip goes there and back on "
    "one clock. Busy cores are those of both ends together, including the kernel's work for them.",
    tables,
)
ANSWER: Final = AnswerRule(
    "network",
    "How fast are TCP and UDP between the nodes?",
    "streams loss round-trip",
    remarks="loopback not-available declared detected",
    best={"streams": "bandwidth"},
)
CHARTS: Final = (
    _REPORT.chart(
        "network_rates",
        "Network: streams",
        "The lines show what arrives when several streams share the link. On the loopback the cores limit it.",
        rate_figures,
    ),
    _REPORT.chart(
        "network_latency",
        "Network: round trips",
        "Times go there and back on one clock, from the median to the slowest. A rise at the right end is jitter.",
        latency_figures,
    ),
)
