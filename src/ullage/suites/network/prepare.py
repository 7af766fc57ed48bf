# SPDX-License-Identifier: Apache-2.0
"""From the options to the cases of a network run, checked against engine and machine.

Cases are streams by protocol, block and number; requests; echoes.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ullage.errors import UserError
from ullage.launch.base import choose_binding
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.peers.network import LEAST_BYTES
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.suites.network.options import LINK, WORKLOAD, NetworkOptions
from ullage.suites.network.peer_runs import notes_on_peers, peers_for
from ullage.system.allocation import nodes_of_job
from ullage.system.hardware import usable_cores
from ullage.units import format_bytes

HEADERS: Final = ("what", "protocol", "size", "streams", "how")
ECHO_BYTES: Final = 56
REQUEST_BYTES: Final = 1
_WARM_UP: Final = 0.25
_LONGEST_WARM_UP_S: Final = 0.5
_AROUND_S: Final = 0.1


@dataclass(frozen=True)
class Work:
    """Parameters of one case, and the words that tell it from others."""

    parameters: Parameters
    words: tuple[str, ...]


def cases_of(options: NetworkOptions, description: Describe, cores: int | None) -> list[KernelCase]:
    """Return the cases of all works; raise ``UserError`` for what the engine would refuse.

    ``cores``: usable ones of a node, None when not known.
    """
    layout = layout_of(options, cores)
    shared = _shared(options)
    seconds = options.seconds + warm_up_s(options.seconds) + _AROUND_S
    made = [
        kernel_case(
            WORKLOAD, {**work.parameters, **shared}, LINK, work.words, description, seconds=seconds, layout=layout
        )
        for work in works(options)
    ]
    return [replace(case, is_windowed=True) for case in made]


def layout_of(options: NetworkOptions, cores: int | None) -> Layout:
    """Place one rank on each of several nodes, or two on one."""
    nodes = options.nodes or 1
    on_a_node = 1 if nodes > 1 else 2
    is_bound = options.bind and cores is not None
    binding = choose_binding(on_a_node, 1, cores or 1) if is_bound else "none"
    return Layout(ranks=nodes * on_a_node, nodes=nodes, ranks_per_node=on_a_node, binding=binding)


def warm_up_s(seconds: float) -> float:
    """Return the warm-up of a case that measures for ``seconds``."""
    return round(min(_LONGEST_WARM_UP_S, _WARM_UP * seconds), 4)


def _shared(options: NetworkOptions) -> Parameters:
    shared: Parameters = {"seconds": options.seconds, "warm_up_s": warm_up_s(options.seconds)}
    if options.interface:
        shared["interface"] = options.interface
    if options.ipv6:
        shared["ip"] = "6"
    return shared


def _buffers(options: NetworkOptions) -> Parameters:
    if options.window is None:
        return {}
    return {"send_buffer_bytes": options.window, "receive_buffer_bytes": options.window}


def works(options: NetworkOptions) -> list[Work]:
    """Return all works, each once; streams come first, as in the table."""
    return [*_streams(options), *_variants(options), *_requests(options), _echo()]


def _streams(options: NetworkOptions) -> Iterator[Work]:
    both: Parameters = {**({"direction": "both"} if options.both_ways else {}), **_buffers(options)}
    for protocol in options.protocols:
        for block in options.blocks:
            for count in options.streams:
                yield _stream(protocol, block, count, both, "both ways" if options.both_ways else "")


def _stream(protocol: str, block: int, count: int, more: Parameters, how: str) -> Work:
    parameters: Parameters = {"mode": "stream", "protocol": protocol, "block_bytes": block, "streams": count, **more}
    return Work(parameters, ("stream", protocol, format_bytes(block), str(count), how))


def _variants(options: NetworkOptions) -> Iterator[Work]:
    """Yield what an application might set: no waiting for small blocks, no copies of large ones."""
    if options.small or "tcp" not in options.protocols:
        return
    buffers = _buffers(options)
    yield _stream("tcp", options.blocks[0], 1, {"no_delay": True, **buffers}, "TCP_NODELAY")
    yield _stream("tcp", options.blocks[-1], 1, {"zero_copy": True, **buffers}, "MSG_ZEROCOPY")


def _requests(options: NetworkOptions) -> Iterator[Work]:
    for protocol in options.protocols:
        for count in options.streams if not options.small else options.streams[:1]:
            yield _request(protocol, REQUEST_BYTES, count)
        if options.peer or not options.small:
            yield _request(protocol, LEAST_BYTES, 1)


def _request(protocol: str, size: int, count: int) -> Work:
    own: Parameters = {"no_delay": True} if protocol == "tcp" else {}
    parameters: Parameters = {"mode": "request", "protocol": protocol, "block_bytes": size, "streams": count, **own}
    return Work(parameters, ("request", protocol, format_bytes(size), str(count), ""))


def _echo() -> Work:
    parameters: Parameters = {"mode": "request", "protocol": "icmp", "block_bytes": ECHO_BYTES, "streams": 1}
    return Work(parameters, ("echo", "icmp", format_bytes(ECHO_BYTES), "1", ""))


# -- the run -----------------------------------------------------------------------------------------------------------


def prepare_network(
    request: Request,
    engine_context: EngineContext,
    environment: Mapping[str, str] = os.environ,
    cores: int | None = None,
) -> PreparedKernels:
    """Plan the cases and their peers; raise ``UserError`` where engine or nodes cannot do it.

    ``cores``: usable ones of this node; None: they are counted.
    """
    options = read_options(NetworkOptions, request)
    if options.nodes is None:
        options = options.model_copy(update={"nodes": len(request.hosts) or nodes_of_job(environment)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    _check_nodes(options.nodes or 1, len(request.hosts))
    cases = cases_of(options, engine_context.description, usable_cores() if cores is None else cores)
    notes = (*_notes(options), *notes_on_peers(options, request.hosts))
    return PreparedKernels(request, options, HEADERS, cases, peers_for(options, cases, request.hosts), notes)


def _check_nodes(nodes: int, hosts: int) -> None:
    """Raise ``UserError`` for an odd number above 1."""
    if nodes % 2 and nodes > 1:
        option, right = ("--hosts", "name an even number of them") if hosts else ("--nodes", "use an even number")
        raise UserError(f"{nodes} nodes, and they work in pairs", option, right)


def _notes(options: NetworkOptions) -> tuple[Note, ...]:
    if (options.nodes or 1) > 1:
        return ()
    text = "both ranks are on this node: packets never leave its kernel, and its cores are what is measured"
    return (Note("loopback", text, "name two nodes (--hosts a,b) to measure a network"),)
