# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run network`` as people write them. Imported for every command: nothing heavy up here."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from ullage.suites.network.options import NetworkOptions, Protocol

# A run with less time than this has the cases of a first look.
_SMALL_S: Final = 60.0
_QUICK_REPETITIONS: Final = 3
_QUICK_SECONDS: Final = 0.25
_USUAL_SECONDS: Final = 1.0
_LEAST_SECONDS: Final = 0.05
# Of each repetition of a case: connecting, warming up, and what the engine does around.
_AROUND_SHARE: Final = 0.3
_AROUND_S: Final = 0.1
_CASES: Final = {True: 8, False: 30}


def network_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    protocols: Annotated[str, typer.Option(metavar="NAMES", help="tcp, udp.")] = "tcp,udp",
    block: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="Of a call or a datagram. Default: 1K,32K, with --quick 32K.", show_default=False
        ),
    ] = None,
    streams: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="At once, a thread each. Default: 1,2,4,8, with --quick 1,4.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=3600, help="Of each repetition. Default: 1, or what --time allows.", show_default=False
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Socket buffers of streams, both ways. Default: the kernel's.", show_default=False
        ),
    ] = None,
    interface: Annotated[
        str,
        typer.Option(metavar="NAME", help="Whose addresses to use. Default: by the route; the loopback on one node."),
    ] = "",
    ipv6: Annotated[bool, typer.Option("--ipv6", help="IPv6 in the place of IPv4.")] = False,
    both_ways: Annotated[bool, typer.Option("--both-ways", help="Streams in both directions at once.")] = False,
    bind: Annotated[
        bool, typer.Option("--bind", help="Ranks are bound to cores; else they run where the system puts them.")
    ] = False,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="For our own measurement. Default: as long as it takes.", show_default=False
        ),
    ] = None,
    machine: MachineOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look: fewer cases, in 10 s.")] = False,
    no_peer: Annotated[
        bool, typer.Option("--no-peer", help="Do not run iperf3, sockperf and ping beside, even where they are.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.options import CaseOptions
    from ullage.runs.kernels.words import typed
    from ullage.suites.network.cases import LINK
    from ullage.suites.network.options import NetworkOptions
    from ullage.suites.sweep.words import duration, rising_axis
    from ullage.units import parse_axis, parse_size

    time_s = None if time is None else duration("--time", time)
    small = quick or (time_s is not None and time_s < _SMALL_S)
    usual = _QUICK_REPETITIONS if quick else int(CaseOptions.model_fields["repetitions"].default)
    each = usual if repetitions is None else repetitions
    options = typed(
        NetworkOptions,
        repetitions=each,
        time_s=time_s,
        seed=seed,
        quick=quick,
        peer=not no_peer,
        machine=machine_option(machine),
        protocols=_protocols(protocols),
        blocks=rising_axis("--block", block or ("32K" if small else "1K,32K"), lambda t: parse_axis(t, parse_size)),
        streams=rising_axis("--streams", streams or ("1,4" if small else "1,2,4,8"), parse_axis),
        seconds=_seconds(time_s, each, quick=quick, small=small) if seconds is None else seconds,
        window=None if window is None else parse_size(window),
        interface=interface,
        ipv6=ipv6,
        both_ways=both_ways,
        bind=bind,
        small=small,
    )
    _check_blocks(options)
    return ParsedOptions([LINK], options.model_dump(mode="json"))


def _seconds(time_s: float | None, repetitions: int, *, quick: bool, small: bool) -> float:
    """Of a repetition, so that all fit into the time."""
    usual = _QUICK_SECONDS if quick else _USUAL_SECONDS
    if time_s is None:
        return usual
    share = time_s / repetitions / _CASES[small] - _AROUND_S
    return min(usual, max(_LEAST_SECONDS, round(share / (1 + _AROUND_SHARE), 3)))


def _protocols(text: str) -> "list[Protocol]":
    from ullage.parameters import known_word
    from ullage.suites.network.options import PROTOCOLS

    words = {known_word(word.strip(), PROTOCOLS, "--protocols") for word in text.split(",")}
    return [protocol for protocol in PROTOCOLS if protocol in words]


def _check_blocks(options: "NetworkOptions") -> None:
    from ullage.errors import UserError
    from ullage.suites.network.options import LARGEST_DATAGRAM, LEAST_DATAGRAM

    if "udp" not in options.protocols:
        return
    bad = next((size for size in options.blocks if not LEAST_DATAGRAM <= size <= LARGEST_DATAGRAM), None)
    if bad is not None:
        what = f"a datagram of a stream has {LEAST_DATAGRAM} to {LARGEST_DATAGRAM} bytes, not {bad}"
        raise UserError(what, "--block", "or leave udp out: --protocols tcp")
