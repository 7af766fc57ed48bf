# SPDX-License-Identifier: Apache-2.0
"""What a network run shows, in sentences: where it was measured, which setting is best, what is lost. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.findings.words import finding
from ullage.analysis.statistics import compare, level_of_each
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, show, times
from ullage.report.answers import AnswerRule
from ullage.suites.network.ceilings import link_of
from ullage.units import format_bytes, format_time

ANSWER: Final = AnswerRule(
    "network",
    "How fast are TCP and UDP between the nodes?",
    ("streams", "loss", "round-trip"),
    remarks=("loopback", "not-available", "declared", "detected"),
)
_NOTABLE_LOSS: Final = 0.01
_NAMES: Final = {"tcp": "TCP", "udp": "UDP", "icmp": "ICMP"}


def findings_of(rows: Sequence[Row], phases: Mapping[str, PhaseRecord], level: float) -> list[Finding]:
    """``phases``: one of each case. ``level``: of comparisons."""
    if not phases:
        return []
    return [
        *_loopback(rows, phases),
        *_best_streams(rows, level),
        *_loss(rows),
        *_variant(rows, "no_delay", "TCP_NODELAY", level),
        *_variant(rows, "zero_copy", "MSG_ZEROCOPY", level),
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
    cores = "" if best is None or busy is None else f" ({busy:.1f} of them busy at {8 * best.median / 1e9:.3g} Gb/s)"
    text = (
        f"Both ends were on one node: bytes went through its kernel, not over a wire, so this is a test of its "
        f"cores{cores}, and no ceiling is known."
    )
    return [finding("loopback", text, cores=busy)]


def _best_streams(rows: Sequence[Row], level: float) -> list[Finding]:
    """The best number of streams against one, with the largest block of each protocol."""
    found: list[Finding] = []
    lines = {protocol: _largest_blocks(rows, protocol) for protocol in ("tcp", "udp")}
    own = level_of_each(level, map(len, lines.values()))
    for protocol, alike in lines.items():
        one, best = next((row for row in alike if row.params["streams"] == 1), None), _best(alike)
        if best is None:
            continue
        block = int(best.params["block_bytes"])
        count = int(best.params["streams"])
        what = "is fastest" if len(alike) > 1 else "was measured"
        text = (
            f"{_NAMES[protocol]} with blocks of {format_bytes(block)} {what} with {_streams(count)}: {_gigabits(best)}"
        )
        if one is not None and one is not best:
            text += _against(best, one, own)
        if best.ceiling is not None and best.share is not None:
            text += f", {best.share:.0%} of the link's rate"
        found.append(
            finding("streams", f"{text}.", protocol=protocol, block_bytes=block, streams=count, bandwidth=best.median)
        )
    return found


def _largest_blocks(rows: Sequence[Row], protocol: str) -> list[Row]:
    plain = [row for row in rows if _is_plain(row) and row.params["protocol"] == protocol]
    block = max((int(row.params["block_bytes"]) for row in plain), default=0)
    return [row for row in plain if row.params["block_bytes"] == block]


def _against(best: Row, one: Row, level: float) -> str:
    if one.median <= 0:
        return ", where one brings nothing"
    ratio = times(best.median / one.median)
    return f", {ratio} one" if _verdict(best, one, level) == "faster" else f", not clearly more than one ({ratio})"


def _verdict(first: Row, second: Row, level: float) -> str:
    """Also where nothing arrived in some repetition: that has no ratio."""
    if min(*first.repetitions, *second.repetitions) <= 0:
        return "cannot tell"
    return compare(first.repetitions, second.repetitions, level=level).verdict


def _loss(rows: Sequence[Row]) -> list[Finding]:
    lossy = [row for row in rows if row.metric == "loss_share" and row.median > _NOTABLE_LOSS]
    streams = [row for row in lossy if row.params["mode"] == "stream"]
    found: list[Finding] = []
    if streams:
        worst = max(streams, key=lambda row: row.median)
        where = f"{format_bytes(int(worst.params['block_bytes']))} blocks and {_streams(int(worst.params['streams']))}"
        text = (
            f"UDP lost up to {worst.median:.1%} of its datagrams ({where}; more than 1 % in {len(streams)} of its "
            "cases): senders are faster than receivers. Try larger socket "
            "buffers (--window; net.core.rmem_max is their limit), or let the application send at a rate."
        )
        found.append(finding("loss", text, "advice", loss=worst.median, cases=len(streams)))
    requests = [row for row in lossy if row.params["mode"] == "request"]
    if requests:
        worst = max(requests, key=lambda row: row.median)
        name = _NAMES[str(worst.params["protocol"])]
        text = f"{worst.median:.1%} of the {name} requests had no answer: a host or a switch drops packets."
        found.append(finding("loss", text, "warning", loss=worst.median))
    return found


def _variant(rows: Sequence[Row], name: str, word: str, level: float) -> list[Finding]:
    """The case that sets it, against the same without."""
    bandwidths = [row for row in rows if row.metric == "network_bandwidth"]
    found: list[Finding] = []
    for row in bandwidths:
        if row.params.get(name) is not True:
            continue
        same = {**row.params, name: False}
        plain = next((other for other in bandwidths if other.params == same), None)
        if plain is None or plain.median <= 0:
            continue
        verdict, ratio = _verdict(row, plain, level), row.median / plain.median
        what = {"faster": "is worth it", "slower": "costs throughput"}.get(verdict, "makes no clear difference")
        block = format_bytes(int(row.params["block_bytes"]))
        text = f"{word} {what} here with blocks of {block}: {times(ratio)} the rate without ({_gigabits(row)})."
        found.append(finding(name.replace("_", "-"), text, ratio=ratio))
    return found


def _latency(rows: Sequence[Row]) -> list[Finding]:
    """The latency of the smallest requests, one at a time."""
    medians = [row for row in rows if row.metric == "latency_p50" and row.params["streams"] == 1]
    sizes = [int(row.params["block_bytes"]) for row in medians if row.params["protocol"] != "icmp"]
    least = [row for row in medians if row.params["block_bytes"] == min(sizes, default=0)]
    if not least:
        return []
    parts: list[str] = []
    for row in least:
        p99 = next((o.median for o in rows if o.case == row.case and o.metric == "latency_p99"), None)
        tail = "" if p99 is None else f" (1 of 100 above {format_time(p99)})"
        parts.append(f"{format_time(row.median)} by {_NAMES[str(row.params['protocol'])]}{tail}")
    size = min(sizes)
    text = f"A message of {size} byte{'' if size == 1 else 's'} and its answer take {listing(parts)}, there and back."
    return [finding("round-trip", text, seconds=[row.median for row in least])]


def _unavailable(phases: Iterable[PhaseRecord]) -> list[Finding]:
    texts = dict.fromkeys(str(phase.facts["unavailable"]) for phase in phases if "unavailable" in phase.facts)
    return [finding("not-available", f"ICMP echo is {text}.") for text in texts]


def _is_plain(row: Row) -> bool:
    return row.metric == "network_bandwidth" and not (row.params["no_delay"] or row.params["zero_copy"])


def _best(rows: Iterable[Row]) -> Row | None:
    valid = [row for row in rows if not row.is_invalid]
    return max((row for row in valid if row.median > 0), key=lambda row: row.median, default=None)


def _gigabits(row: Row) -> str:
    return f"{show(row.median, 'B/s')} ({8 * row.median / 1e9:.3g} Gb/s)"


def _streams(count: int) -> str:
    return f"{count} stream{'' if count == 1 else 's'}"
