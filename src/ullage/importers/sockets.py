# SPDX-License-Identifier: Apache-2.0
"""What iperf3, sockperf and netperf print, and the JSON of iperf3.

Bits of iperf3 and netperf have decimal prefixes, their bytes binary ones. sockperf's MB are 2^20 bytes. Its latency is
half a round trip, unless it says that it is a whole one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import MIB, US, Form, Found, Measured, Rule, amount, as_printed, disagree, number, whole
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line
from ullage.reading import child

_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_BITS: Final = 8
_SLACK: Final = 0.02


@dataclass
class _Iperf:
    """One run: its last lines by stream, and what the sums of streams say."""

    direction: str = ""
    found: dict[tuple[str, str, str], Measured] = field(default_factory=dict[tuple[str, str, str], Measured])


def _unit(prefix: str, unit: str) -> float:
    """Return the bytes of a ``bits`` or ``Bytes`` with a prefix."""
    power = _POWERS[prefix.upper()]
    return 1000.0**power / _BITS if unit.lower().startswith("bit") else 1024.0**power


def _total(state: _Iperf, line: Line, match: re.Match[str]) -> None:
    stream, role, begin, end, moved, moved_prefix, rate, prefix, unit, rest, side = match.groups()
    seconds, volume, shown = number(end, line) - number(begin, line), as_printed(moved, line), as_printed(rate, line)
    factor = _unit(prefix, unit)
    again = volume.times(_unit(moved_prefix, "Bytes") / seconds / factor) if seconds > 0 else None
    doubt = disagree(shown, again, "the rate", _SLACK, line)
    params: forms.Params = {"protocol": "udp" if "%" in rest else "tcp"}
    params |= {**forms.given(direction=state.direction), "end": side, **forms.given(role=role)}
    found = Measured("network_bandwidth", "B/s", shown.value * factor, params, doubt)
    state.found[stream, role or "", side] = found


def _of_run(state: _Iperf) -> Iterator[Found]:
    sums = {key: found for key, found in state.found.items() if key[0] == "SUM"}
    for (_, role, _), found in (sums or state.found).items():
        streams = {stream for stream, of_role, _ in state.found if of_role == role} - {"SUM"}
        yield replace(found, params={**found.params, "streams": max(len(streams), 1)})


_IPERF_TOTAL: Final = (
    r"\[ *(\d+|SUM)\](?:\[([TR]X-[CS])\])?\s+(\d+\.\d+)-(\d+\.\d+)\s+sec\s+(\S+) ([KMGT]?)Bytes\s+(\S+) "
    r"([KMGT]?)(bits|Bytes)/sec(.*?)\s+(sender|receiver)\s*$"
)
_IPERF_RULES: Final[tuple[Rule[_Iperf], ...]] = (
    (r"Connecting to host ", forms.anew(_of_run)),
    (r"(Reverse) mode, ", forms.keep(direction=forms.lower)),
    (_IPERF_TOTAL, _total),
)


def read_iperf_json(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield what was sent and received in all; of UDP also jitter and the share that was lost."""
    start, end = child(document, "start", "test_start"), child(document, "end")
    streams, block = (int(amount(start, name) or 0) for name in ("num_streams", "blksize"))
    direction = "reverse" if amount(start, "reverse") else ""
    params = forms.given(
        protocol=forms.word(start, "protocol", "tcp").lower(), streams=streams, message_bytes=block, direction=direction
    )
    yield from _of_way(end, params, "")
    yield from _of_way(end, {**params, "direction": "reverse"}, "_bidir_reverse")


def _of_way(end: Mapping[str, object], params: forms.Params, way: str) -> Iterator[Found]:
    """Yield the sums of one way; ``way``: how their names end, which is empty but for the second way of ``--bidir``."""
    sums = {"sender": child(end, f"sum_sent{way}"), "receiver": child(end, f"sum_received{way}")}
    if not any(sums.values()):
        sums = {"receiver": child(end, f"sum{way}")}
    for side, of_side in sums.items():
        bits = amount(of_side, "bits_per_second")
        if bits is None:
            continue
        moved, seconds = amount(of_side, "bytes"), amount(of_side, "seconds")
        again = known_to(moved * _BITS / seconds) if moved is not None and seconds else None
        doubt = disagree(known_to(bits), again, f"bits_per_second of the {side}", 1e-3)
        yield Measured("network_bandwidth", "B/s", bits / _BITS, {**params, "end": side}, doubt)
    last = child(end, f"sum{way}") or sums["receiver"]
    for theirs, metric, unit, factor in (
        ("jitter_ms", "jitter", "s", forms.MS),
        ("lost_percent", "loss_share", "of messages", 1 / 100),
    ):
        if (value := amount(last, theirs)) is not None:
            yield Measured(metric, unit, value * factor, params)


@dataclass
class _Sockperf:
    """One run: what its times are, and its mean before the summary repeats it."""

    time_name: str = "network_latency"
    mean: Printed | None = None


def _summary(state: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    state.time_name = "round_trip" if match[1] == "Round trip" else "network_latency"
    shown = as_printed(match[2], line)
    doubt = disagree(shown, state.mean, "the mean time in us", line=line)
    yield Measured(state.time_name, "s", shown.value * US, {"access": "ping-pong"}, doubt)


def _quantile(state: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    which = forms.quantile(match[1]) if match[1] else match[2].lower()
    yield Measured(f"{state.time_name}_{which}", "s", number(match[3], line) * US, {"access": "ping-pong"})


def _message_rate(_: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield Measured("message_rate", "op/s", number(match[1], line), {"access": "send"})


def _bandwidth(_: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    shown, mega_bits = as_printed(match[1], line), as_printed(match[2], line)
    doubt = disagree(shown, mega_bits.times(1 / _BITS), "the bandwidth in MBps", line=line)
    yield Measured("network_bandwidth", "B/s", shown.value * MIB, {"access": "send"}, doubt)


_SOCKPERF_RULES: Final[tuple[Rule[_Sockperf], ...]] = (
    (r"sockperf: == version", forms.anew()),
    (r"sockperf: =+> avg-(?:latency|lat|rtt)=\s*(\S+)", forms.keep(mean=as_printed)),
    (r"sockperf: Summary: (Latency|Round trip) is (\S+) usec", _summary),
    (r"sockperf: -+> (?:percentile (\d+\.\d+)|<(MAX|MIN)> observation)\s*=\s*(\S+)", _quantile),
    (r"sockperf: Summary: Message Rate is (\S+) \[msg/sec\]", _message_rate),
    (r"sockperf: Summary: BandWidth is (\S+) MBps \((\S+) Mbps\)", _bandwidth),
)


_UNITS: Final = {
    **{f"10^{power}bits": 10.0**power / _BITS for power in (3, 6, 9)},
    **{f"{prefix}Bytes": 1024.0 ** _POWERS[prefix] for prefix in "KMG"},
}


@dataclass
class _Netperf:
    """One test: its name, the unit of its rates, and whether its line of numbers is still to come."""

    protocol: str = ""
    test: str = ""
    factor: float = 1e6 / _BITS
    lines: int = 0
    message_bytes: int = 0


def _numbers(state: _Netperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    params: forms.Params = {"protocol": state.protocol}
    state.lines += 1
    if state.test.startswith("REQUEST") and len(words) >= 6 and state.lines == 1:
        params |= {"access": "request", "request_bytes": whole(words[2], line), "response_bytes": whole(words[3], line)}
        yield Measured("message_rate", "op/s", number(words[5], line), params)
    elif state.protocol == "udp" and state.test.startswith("STREAM"):
        yield from _udp(state, line, words, params)
    elif state.test and len(words) >= 5 and state.lines == 1:
        direction = "reverse" if state.test.startswith("MAERTS") else "send"
        params |= {"message_bytes": whole(words[2], line), "direction": direction}
        yield Measured("network_bandwidth", "B/s", number(words[4], line) * state.factor, params)


def _udp(state: _Netperf, line: Line, words: list[str], params: forms.Params) -> Iterator[Found]:
    is_sent = state.lines == 1
    if len(words) < (6 if is_sent else 4) or state.lines > 2:
        return
    if is_sent:
        state.message_bytes = whole(words[1], line)
    time, messages, rate = (words[2], words[3], words[5]) if is_sent else (words[1], words[2], words[3])
    shown, seconds, again = as_printed(rate, line), number(time, line), None
    if seconds > 0:
        again = known_to(number(messages, line) * state.message_bytes / seconds / state.factor)
    doubt = disagree(shown, again, "the rate", _SLACK, line)
    params |= {"message_bytes": state.message_bytes, "end": "sender" if is_sent else "receiver"}
    yield Measured("network_bandwidth", "B/s", shown.value * state.factor, params, doubt)


_NETPERF_RULES: Final[tuple[Rule[_Netperf], ...]] = (
    (
        r"(?:MIGRATED )?(TCP|UDP|SCTP) (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST",
        forms.anew(protocol=forms.lower, test=forms.text),
    ),
    (r".*\b(10\^[369]bits|[KMG]Bytes)/s", forms.keep(factor=lambda unit, _: _UNITS[unit])),
    (r"\s*\d[\d.,]*(?:\s+-?\d[\d.,]*)+\s*$", _numbers),
)

FORMS: Final = (
    Form(
        "iperf3",
        "what iperf3 prints",
        "messages",
        ("Connecting to host ",),
        forms.by_rules(_Iperf, _IPERF_RULES, _of_run),
    ),
    Form(
        "iperf3_json",
        "what iperf3 -J prints",
        "messages",
        ('"sum_sent"', '"sum_received"', '"test_start"'),
        read_document=read_iperf_json,
    ),
    Form("sockperf", "what sockperf prints", "messages", ("sockperf: ",), forms.by_rules(_Sockperf, _SOCKPERF_RULES)),
    Form(
        "netperf",
        "what netperf prints of STREAM, MAERTS, SENDFILE and RR",
        "messages",
        ("P STREAM TEST", "P MAERTS TEST", "P SENDFILE TEST", "P REQUEST/RESPONSE TEST"),
        forms.by_rules(_Netperf, _NETPERF_RULES),
        begin=r"(?:MIGRATED )?(?:TCP|UDP|SCTP) ",
    ),
)
