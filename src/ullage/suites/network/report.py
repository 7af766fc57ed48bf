# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a network run: throughput and round trips of TCP and UDP, against link and other tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.grouping import grouped, nested
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.peers.network import LEAST_BYTES
from ullage.quantity import DASH, format_row, rounded, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Chart, Content, Figure, Section
from ullage.report.data import ReportData
from ullage.report.declared import columns
from ullage.report.grids import (
    Column,
    PhaseLine,
    ceiling_hint,
    grid_of,
    of,
    peer_hint,
    percent_text,
    value_hint,
)
from ullage.report.headlines import Rule
from ullage.report.plots import layer, layered, line_layers, quantity_axis, row_point
from ullage.report.switches import switch_notes
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, rank_axis, time_axis, tooltip
from ullage.suites.network.findings import Link, link_of
from ullage.units import format_bytes, format_volume

SUITE: Final = "network"
NAMES: Final = {"tcp": "TCP", "udp": "UDP", "icmp": "ICMP echo"}
_ORDER: Final = ("tcp", "udp", "icmp")


@dataclass(frozen=True)
class Line(PhaseLine):
    """One case."""

    @property
    def protocol(self) -> str:
        """``tcp``, ``udp`` or ``icmp``."""
        return str(self.first.params["protocol"])

    @property
    def size(self) -> int:
        """Bytes of its blocks or messages."""
        return int(self.first.params["block_bytes"])

    @property
    def streams(self) -> int:
        """The number of streams that run at once."""
        return int(self.first.params["streams"])

    @property
    def is_stream(self) -> bool:
        """Else it is of requests."""
        return self.first.params["mode"] == "stream"

    @property
    def how(self) -> str:
        """What it does besides; empty: nothing."""
        params = self.first.params
        words = {
            "TCP_NODELAY": params["no_delay"] is True,
            "MSG_ZEROCOPY": params["zero_copy"] is True,
            "both ways": params["direction"] == "both",
        }
        return ", ".join(word for word, applies in words.items() if applies)

    @property
    def series(self) -> str:
        """``TCP, 32K``."""
        return ", ".join(filter(None, (NAMES[self.protocol], format_bytes(self.size), self.how)))


def lines_of(rows: Sequence[Row]) -> list[Line]:
    """Group the rows of a case as a line, sorted by protocol, size and streams."""
    by_case = nested((row.case, row.metric, row) for row in rows)
    lines = [Line(found) for found in by_case.values()]
    return sorted(lines, key=lambda line: (_ORDER.index(line.protocol), line.how != "", line.size, line.streams))


def own_lines(data: ReportData) -> list[Line]:
    """Return the lines of this suite, whatever else the result holds."""
    return lines_of([row for row in data.rows_of(SUITE) if row.params.get("access") == "sockets"])


# -- tables ------------------------------------------------------------------------------------------------------------


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
    streams, requests = ([line for line in lines if line.is_stream is wanted] for wanted in (True, False))
    phases = [found[-1] for line in lines if (found := data.phases_of(line.first))]
    grids = [*grid_of("throughput", _STREAM_COLUMNS, streams), *grid_of("round trips", _REQUEST_COLUMNS, requests)]
    return Content(notes=[*switch_notes(data, SUITE), *_notes(data, lines, phases)], grids=grids)


def _rate(row: Row) -> str:
    return significant(row.median / _GIGABIT)


def _peer_rate(row: Row) -> str:
    return DASH if row.peer is None else significant(row.peer.median / _GIGABIT)


def _ceiling_rate(row: Row) -> str:
    return DASH if row.ceiling is None else significant(row.ceiling.value / _GIGABIT)


_PROTOCOL: Final = Column[Line]("protocol", lambda line: NAMES[line.protocol], is_number=False)
_HOW: Final = Column[Line]("how", lambda line: line.how, is_number=False)
_BANDWIDTH: Final = "network_bandwidth"
_STREAM_COLUMNS: Final = columns(
    _PROTOCOL,
    "streams block_bytes:bytes=block",
    _HOW,
    Column[Line]("Gb/s", of(_BANDWIDTH, _rate), hint=of(_BANDWIDTH, value_hint, "")),
    Column[Line]("peer Gb/s", of(_BANDWIDTH, _peer_rate), hint=of(_BANDWIDTH, peer_hint, "")),
    Column[Line]("ceiling Gb/s", of(_BANDWIDTH, _ceiling_rate), hint=of(_BANDWIDTH, ceiling_hint, "")),
    "network_bandwidth:share=efficiency network_bandwidth:peer_share network_bandwidth:ratio=ours_to_peer's",
    "network_cpu:plain=cores_busy",
    Column[Line](
        "peer's cores", of("network_cpu", lambda row: DASH if row.peer is None else significant(row.peer.median))
    ),
    Column[Line]("Gb/s a core", of("bandwidth_per_core", _rate)),
    Column[Line]("lost", of("loss_share", percent_text), hint=of("loss_share", value_hint, "")),
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


def _notes(data: ReportData, lines: Sequence[Line], phases: Sequence[PhaseRecord]) -> list[str]:
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


# -- headlines of the front page --------------------------------------------------------------------------------------


def _is_socket(row: Row) -> bool:
    is_whole = {"block_bytes", "streams"} <= row.params.keys()  # a damaged plan may lack one
    return is_whole and row.word("access") == "sockets" and row.word("protocol") in ("tcp", "udp")


def _is_one_request(row: Row) -> bool:
    return _is_socket(row) and row.params.get("streams") == 1


def _socket_stream(row: Row) -> str:
    size, count = format_bytes(row.count("block_bytes")), row.count("streams")
    return f"{row.word('protocol').upper()}, blocks of {size}, {count} stream{'' if count == 1 else 's'}"


def _socket_request(row: Row) -> str:
    size = row.count("block_bytes")
    return f"{row.word('protocol').upper()}, {size} byte{'' if size == 1 else 's'} there and back"


HEADLINES: Final = (
    Rule("network", "network_bandwidth", _is_socket, lambda row: row.params["protocol"], _socket_stream),
    Rule("network", "latency_p50", _is_one_request, lambda row: row.params["protocol"], _socket_request),
)

_CHART_SIZE: Final = (410, 250)
_RATE_TOOLTIP: Final = tooltip(
    ("series", "what"), ("x", "streams"), ("text", "throughput"), ("peer", "peer"), ("flags", "flags")
)
# A ceiling above this is left to the table, because it would press the measured lines flat.
_HIGHEST_CEILING: Final = 3.0


def rate_figures(data: ReportData) -> list[Figure]:
    """Draw one figure of the rates over streams; none where there is one number of streams only."""
    lines = [line for line in own_lines(data) if line.is_stream and _BANDWIDTH in line.rows]
    by_series = grouped((line.series, line) for line in lines)
    curves = {name: found for name, found in by_series.items() if len(found) > 1}
    if not curves:
        return []
    has_peer = any(line.rows[_BANDWIDTH].peer is not None for found in curves.values() for line in found)
    caption = "Bars: interval of the median." + (" Crosses: the peer's median." if has_peer else "")
    return [Figure("throughput over streams", caption, _rate_spec(curves))]


def _rate_spec(curves: dict[str, list[Line]]) -> Spec:
    values = [_rate_point(line, name) for name, found in curves.items() for line in found]
    names = list(curves)
    streams = sorted({line.streams for found in curves.values() for line in found})
    x = rank_axis(streams, "x", "streams")
    y = quantity_axis("y", "throughput (Gb/s)")
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {"x": x, "y": y, "color": ordinal("series", names, "", scale=colors)}
    rule = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    cross = {"type": "point", "shape": "cross", "size": 40}
    layers: list[Spec] = [
        layer({"type": "rule", "opacity": 0.5}, rule),
        *line_layers(encoding, _RATE_TOOLTIP, 36),
    ]
    if any(value["beside"] is not None for value in values):
        beside = {**encoding, "y": {**y, "field": "beside"}}
        layers.append(layer(cross, beside, shown="datum.beside != null"))
    ceiling = _ceiling(curves, max(value["y"] for value in values))
    if ceiling is not None:
        line = {"type": "rule", "strokeDash": [6, 4], "color": INK, "strokeWidth": 1.2}
        layers.append(layer(line, {"y": y}, [{"y": ceiling}]))
    return layered(*_CHART_SIZE, layers, values)


def _ceiling(curves: dict[str, list[Line]], highest: float) -> float | None:
    values = [
        row.ceiling.value / _GIGABIT
        for found in curves.values()
        for line in found
        if (row := line.rows[_BANDWIDTH]).ceiling is not None
    ]
    return values[0] if values and values[0] <= _HIGHEST_CEILING * highest else None


def _rate_point(line: Line, name: str) -> Spec:
    row = line.rows[_BANDWIDTH]
    low = row.median if row.low is None else row.low
    high = row.median if row.high is None else row.high
    return {
        "x": line.streams,
        "y": rounded(row.median / _GIGABIT),
        "low": rounded(low / _GIGABIT),
        "high": rounded(high / _GIGABIT),
        "beside": None if row.peer is None else rounded(row.peer.median / _GIGABIT),
        "series": name,
        "text": format_row(row),
        "peer": "" if row.peer is None else f"{row.peer.tool} {row.peer.version}",
        "flags": ", ".join(row.flag_codes),
    }


# -- percentiles of the round trip -------------------------------------------------------------------------------------


_PERCENTILES: Final = {
    "latency_p50": "50 %",
    "latency_p95": "95 %",
    "latency_p99": "99 %",
    "latency_p999": "99.9 %",
    "latency_max": "all",
}
_LATENCY_TOOLTIP: Final = tooltip(
    ("series", "what"), ("x", "of the round trips"), ("text", "stay below"), ("flags", "flags")
)


def latency_figures(data: ReportData) -> list[Figure]:
    """Draw one figure of one request at a time; none without such rows."""
    lines = [
        line for line in own_lines(data) if not line.is_stream and line.streams == 1 and "latency_p50" in line.rows
    ]
    if not lines:
        return []
    caption = "One request at a time; each point is the median over the repetitions."
    return [Figure("round trips", caption, _latency_spec(lines))]


def _latency_spec(lines: list[Line]) -> Spec:
    values = [
        row_point(line.rows[metric], word, series=line.series)
        for line in lines
        for metric, word in _PERCENTILES.items()
        if metric in line.rows
    ]
    names = list(dict.fromkeys(line.series for line in lines))
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {
        "x": ordinal("x", list(_PERCENTILES.values()), "of the round trips", axis={"labelAngle": 0, "grid": False}),
        "y": time_axis([value["y"] for value in values], "y", "stay below"),
        "color": ordinal("series", names, "", scale=colors),
    }
    return layered(*_CHART_SIZE, line_layers(encoding, _LATENCY_TOOLTIP, 36), values)


SECTIONS: Final = (
    Section(
        name="network",
        title="Network",
        doc="Throughput is payload that arrived, after a warm-up, in 10^9 bits/s. A round trip goes there and back on "
        "one clock. Busy cores are those of both ends together, including the kernel's work for them.",
        order=7,
        part="network",
        build=tables,
        suite=SUITE,
    ),
)
ANSWERS: Final = (
    AnswerRule(
        "network",
        "How fast are TCP and UDP between the nodes?",
        ("streams", "loss", "round-trip"),
        remarks=("loopback", "not-available", "declared", "detected"),
        best={"streams": "bandwidth"},
    ),
)
CHARTS: Final = (
    Chart(
        name="network_rates",
        title="Network: streams",
        doc="The lines show what arrives when several streams share the link. On the loopback the cores limit it.",
        order=7,
        part="network",
        build=rate_figures,
    ),
    Chart(
        name="network_latency",
        title="Network: round trips",
        doc="Times go there and back on one clock, from the median to the slowest. A rise at the right end is jitter.",
        order=7,
        part="network",
        build=latency_figures,
    ),
)
