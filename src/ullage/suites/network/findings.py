# SPDX-License-Identifier: Apache-2.0
"""What a network run shows, in sentences: where it was measured, which setting is best, what is lost. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.analysis.statistics import Comparison, level_of_each
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, show, times
from ullage.report.view import best_of
from ullage.suites.network.ceilings import link_of
from ullage.units import format_bytes, format_time

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
    return [
        *_loopback(rows, phases),
        *_best_streams(rows, part),
        *_loss(rows, phases, window),
        *_variant(rows, "no_delay", "TCP_NODELAY", part),
        *_variant(rows, "zero_copy", "MSG_ZEROCOPY", part),
        *_latency(rows),
        *_unavailable(phases.values()),
    ]


def _loopback(rows: Sequence[Row], phases: Mapping[str, PhaseRecord]) -> list[Finding]:
    links = [link for phase in phases.values() if (link := link_of(phase)) is not None]
    if not links or not all(link.same_node for link in links):
        return []
    best = _best(row for row in rows if row.metric == "network_bandwidth")
    busy = None
    if best is not None:
        busy = next((row.median for row in rows if row.case == best.case and row.metric == "network_cpu"), None)
    cores = "" if best is None or busy is None else f" ({busy:.1f} of them busy at {_gigabits(best.median)})"
    text = (
        "Both ends were on one node. The bytes went through its kernel and not over a network, so this tests its "
        f"cores{cores}. No ceiling is known."
    )
    return [finding("loopback", "No network was tested: both ends were on one node", text, cores=busy)]


def _best_streams(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare the best number of streams with one, with the largest block of each protocol."""
    lines = {protocol: _largest_blocks(rows, protocol) for protocol in ("tcp", "udp")}
    own = level_of_each(level, map(len, lines.values()))
    bests = {protocol: _best(alike) for protocol, alike in lines.items()}
    return [_streams_finding(best, lines[protocol], own) for protocol, best in bests.items() if best is not None]


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
    plain = [row for row in rows if _is_plain(row) and row.params["protocol"] == protocol]
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
    """Report the latency of the smallest requests, one at a time."""
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


def _unavailable(phases: Iterable[PhaseRecord]) -> list[Finding]:
    texts = dict.fromkeys(str(phase.facts["unavailable"]) for phase in phases if "unavailable" in phase.facts)
    return [finding("not-available", "ICMP echo is not available", f"ICMP echo is {text}.") for text in texts]


def _is_plain(row: Row) -> bool:
    return row.metric == "network_bandwidth" and not (row.params["no_delay"] or row.params["zero_copy"])


def _best(rows: Iterable[Row]) -> Row | None:
    return best_of(row for row in rows if row.median > 0)


def _rate_text(row: Row) -> str:
    return f"{show(row.median, 'B/s')} ({_gigabits(row.median)})"


def _gigabits(bytes_per_s: float) -> str:
    return f"{8 * bytes_per_s / 1e9:.3g} Gb/s"
