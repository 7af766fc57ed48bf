# SPDX-License-Identifier: Apache-2.0
"""What iperf3, sockperf and netperf print, and the JSON of iperf3.

Bits of iperf3 and netperf have decimal prefixes, their bytes binary ones. sockperf's MB are 2^20 bytes. Its latency is
half a round trip, unless it says that it is a whole one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    MIB,
    MS,
    US,
    Form,
    Found,
    Measured,
    Rule,
    amount,
    as_printed,
    at_line,
    by_rules,
    child,
    disagree,
    number,
    whole,
    word,
)
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_BITS: Final = 8
_SLACK: Final = 0.02


def _rate(value: float, prefix: str, unit: str) -> float:
    """Return bytes/s of a rate with a prefix, of ``bits`` or ``Bytes``."""
    power = _POWERS[prefix.upper()]
    return value * 1000.0**power / _BITS if unit.lower().startswith("bit") else value * 1024.0**power


# -- iperf3 ------------------------------------------------------------------------------------------------------------


@dataclass
class _Iperf:
    """One run: its last lines by stream, and what the sums of streams say."""

    facts: "dict[str, Scalar]" = field(default_factory=dict[str, "Scalar"])
    found: dict[tuple[str, str, str], Measured] = field(default_factory=dict[tuple[str, str, str], Measured])


def _connecting(state: _Iperf, *_: object) -> Iterator[Found]:
    yield from _of_run(state)
    state.__init__()


def _reverse(state: _Iperf, *_: object) -> None:
    state.facts["direction"] = "reverse"


def _total(state: _Iperf, line: Line, match: re.Match[str]) -> None:
    stream, role, begin, end, moved, moved_prefix, rate, prefix, unit, rest, side = match.groups()
    number(moved, line)
    number(rate, line)
    seconds = number(end, line) - number(begin, line)
    shown, volume = as_printed(rate), as_printed(moved)
    doubt = ""
    if seconds > 0:
        factor = _rate(1.0, prefix, unit)
        again = Printed(
            *(_rate(each, moved_prefix, "Bytes") / seconds / factor for each in (volume.value, volume.low, volume.high))
        )
        doubt = at_line(line, disagree(shown, again, "the rate", _SLACK))
    params: dict[str, Scalar] = {"protocol": "udp" if "%" in rest else "tcp", **state.facts, "end": side}
    params |= {"role": role} if role else {}
    found = Measured("network_bandwidth", "B/s", _rate(shown.value, prefix, unit), params, doubt)
    state.found[stream, role or "", side] = found


def _of_run(state: _Iperf) -> Iterator[Found]:
    sums = {key: found for key, found in state.found.items() if key[0] == "SUM"}
    streams = len({key[0] for key in state.found} - {"SUM"})
    for found in (sums or state.found).values():
        yield Measured(found.metric, found.unit, found.value, {**found.params, "streams": max(streams, 1)}, found.doubt)


_IPERF_RULES: Final[tuple[Rule[_Iperf], ...]] = (
    (re.compile(r"Connecting to host "), _connecting),
    (re.compile(r"Reverse mode, "), _reverse),
    (
        re.compile(
            r"\[ *(\d+|SUM)\](?:\[([TR]X-[CS])\])?\s+(\d+\.\d+)-(\d+\.\d+)\s+sec\s+(\S+) ([KMGT]?)Bytes\s+(\S+) "
            r"([KMGT]?)(bits|Bytes)/sec(.*?)\s+(sender|receiver)\s*$"
        ),
        _total,
    ),
)


def read_iperf_json(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield what was sent and received in all; of UDP also jitter and the share that was lost."""
    start, end = child(document, "start", "test_start"), child(document, "end")
    params: dict[str, Scalar] = {"protocol": word(start, "protocol", "tcp").lower()}
    if count := amount(start, "num_streams"):
        params["streams"] = int(count)
    if count := amount(start, "blksize"):
        params["message_bytes"] = int(count)
    if amount(start, "reverse"):
        params["direction"] = "reverse"
    sums = {"sender": child(end, "sum_sent"), "receiver": child(end, "sum_received")}
    if not any(sums.values()):
        sums = {"receiver": child(end, "sum")}
    for side, of_side in sums.items():
        bits = amount(of_side, "bits_per_second")
        if bits is None:
            continue
        moved, seconds = amount(of_side, "bytes"), amount(of_side, "seconds")
        again = known_to(moved * _BITS / seconds) if moved is not None and seconds else None
        doubt = "" if again is None else disagree(known_to(bits), again, f"bits_per_second of the {side}", 1e-3)
        yield Measured("network_bandwidth", "B/s", bits / _BITS, {**params, "end": side}, doubt)
    last = child(end, "sum") or sums["receiver"]
    if (jitter := amount(last, "jitter_ms")) is not None:
        yield Measured("jitter", "s", jitter * MS, params)
    if (lost := amount(last, "lost_percent")) is not None:
        yield Measured("loss_share", "of messages", lost / 100, params)


# -- sockperf ----------------------------------------------------------------------------------------------------------


@dataclass
class _Sockperf:
    """One run: whether its times are whole round trips, and its mean before the summary repeats it."""

    is_whole: bool = False
    mean: tuple[Line, Printed] | None = None


def _sockperf(state: _Sockperf, *_: object) -> None:
    state.__init__()


def _mean(state: _Sockperf, line: Line, match: re.Match[str]) -> None:
    number(match[1], line)
    state.mean = line, as_printed(match[1])


def _summary(state: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    state.is_whole = match[1] == "Round trip"
    number(match[2], line)
    shown = as_printed(match[2])
    doubt = "" if state.mean is None else at_line(line, disagree(shown, state.mean[1], "the mean time in us"))
    yield Measured(_time_name(state), "s", shown.value * US, {"access": "ping-pong"}, doubt)


def _time_name(state: _Sockperf) -> str:
    return "round_trip" if state.is_whole else "network_latency"


def _percentile(state: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    part = match[1].rstrip("0").rstrip(".").replace(".", "")
    yield Measured(f"{_time_name(state)}_p{part}", "s", number(match[2], line) * US, {"access": "ping-pong"})


def _extreme(state: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    name = f"{_time_name(state)}_{match[1].lower()}"
    yield Measured(name, "s", number(match[2], line) * US, {"access": "ping-pong"})


def _message_rate(_: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield Measured("message_rate", "op/s", number(match[1], line), {"access": "send"})


def _bandwidth(_: _Sockperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    number(match[1], line)
    number(match[2], line)
    shown, mega_bits = as_printed(match[1]), as_printed(match[2])
    again = Printed(mega_bits.value / _BITS, mega_bits.low / _BITS, mega_bits.high / _BITS)
    doubt = at_line(line, disagree(shown, again, "the bandwidth in MBps"))
    yield Measured("network_bandwidth", "B/s", shown.value * MIB, {"access": "send"}, doubt)


_SOCKPERF_RULES: Final[tuple[Rule[_Sockperf], ...]] = (
    (re.compile(r"sockperf: == version"), _sockperf),
    (re.compile(r"sockperf: =+> avg-(?:latency|lat|rtt)=\s*(\S+)"), _mean),
    (re.compile(r"sockperf: Summary: (Latency|Round trip) is (\S+) usec"), _summary),
    (re.compile(r"sockperf: -+> percentile (\d+\.\d+)\s*=\s*(\S+)"), _percentile),
    (re.compile(r"sockperf: -+> <(MAX|MIN)> observation\s*=\s*(\S+)"), _extreme),
    (re.compile(r"sockperf: Summary: Message Rate is (\S+) \[msg/sec\]"), _message_rate),
    (re.compile(r"sockperf: Summary: BandWidth is (\S+) MBps \((\S+) Mbps\)"), _bandwidth),
)


# -- netperf -----------------------------------------------------------------------------------------------------------


@dataclass
class _Netperf:
    """One test: its name, the unit of its rates, and whether its line of numbers is still to come."""

    protocol: str = ""
    test: str = ""
    factor: float = 1e6 / _BITS
    lines: int = 0
    message_bytes: int = 0


def _netperf(state: _Netperf, _: Line, match: re.Match[str]) -> None:
    state.__init__(protocol=match[1].lower(), test=match[2])


def _unit(state: _Netperf, _: Line, match: re.Match[str]) -> None:
    state.factor = {
        "10^3bits": 1e3 / 8,
        "10^6bits": 1e6 / 8,
        "10^9bits": 1e9 / 8,
        "KBytes": 1024.0,
        "MBytes": float(MIB),
        "GBytes": 1024.0**3,
    }[match[1]]


def _numbers(state: _Netperf, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    params: dict[str, Scalar] = {"protocol": state.protocol}
    state.lines += 1
    if state.test.startswith("REQUEST") and len(words) >= 6 and state.lines == 1:
        params |= {"access": "request", "request_bytes": whole(words[2], line), "response_bytes": whole(words[3], line)}
        yield Measured("message_rate", "op/s", number(words[5], line), params)
    elif state.protocol == "udp" and state.test.startswith("STREAM"):
        yield from _udp(state, line, words, params)
    elif state.test and len(words) >= 5 and state.lines == 1:
        params |= {
            "message_bytes": whole(words[2], line),
            "direction": "reverse" if state.test.startswith("MAERTS") else "send",
        }
        yield Measured("network_bandwidth", "B/s", number(words[4], line) * state.factor, params)


def _udp(state: _Netperf, line: Line, words: list[str], params: "dict[str, Scalar]") -> Iterator[Found]:
    is_sent = state.lines == 1
    if len(words) < (6 if is_sent else 4) or state.lines > 2:
        return
    if is_sent:
        state.message_bytes = whole(words[1], line)
    seconds, messages, rate = (words[2], words[3], words[5]) if is_sent else (words[1], words[2], words[3])
    shown, doubt = as_printed(rate), ""
    if number(seconds, line) > 0:
        again = number(messages, line) * state.message_bytes / number(seconds, line) / state.factor
        doubt = at_line(line, disagree(shown, known_to(again), "the rate", _SLACK))
    params |= {"message_bytes": state.message_bytes, "end": "sender" if is_sent else "receiver"}
    yield Measured("network_bandwidth", "B/s", shown.value * state.factor, params, doubt)


_NETPERF_RULES: Final[tuple[Rule[_Netperf], ...]] = (
    (re.compile(r"(?:MIGRATED )?(TCP|UDP|SCTP) (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST"), _netperf),
    (re.compile(r".*\b(10\^[369]bits|[KMG]Bytes)/s"), _unit),
    (re.compile(r"\s*\d[\d.,]*(?:\s+-?\d[\d.,]*)+\s*$"), _numbers),
)

FORMS: Final = (
    Form("iperf3", "what iperf3 prints", "messages", ("Connecting to host ",), by_rules(_Iperf, _IPERF_RULES, _of_run)),
    Form(
        "iperf3_json",
        "what iperf3 -J prints",
        "messages",
        ('"sum_sent"', '"sum_received"', '"test_start"'),
        read_document=read_iperf_json,
        begin=r"\{?\s*\"",
    ),
    Form("sockperf", "what sockperf prints", "messages", ("sockperf: ",), by_rules(_Sockperf, _SOCKPERF_RULES)),
    Form(
        "netperf",
        "what netperf prints of STREAM, MAERTS, SENDFILE and RR",
        "messages",
        ("P STREAM TEST", "P MAERTS TEST", "P SENDFILE TEST", "P REQUEST/RESPONSE TEST"),
        by_rules(_Netperf, _NETPERF_RULES),
        begin=r"(?:MIGRATED )?(?:TCP|UDP|SCTP) ",
    ),
)
