# SPDX-License-Identifier: Apache-2.0
"""Words of the command line, and the cases they become."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.network_world import network_describe
from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import load_suites
from ullage.suites.network import SUITE
from ullage.suites.network.options import NetworkOptions
from ullage.suites.network.prepare import prepare_network


def options_of(**words: object) -> NetworkOptions:
    return NetworkOptions.model_validate(parse_options(NetworkOptions, **words).options)  # type: ignore[arg-type]


def prepare(
    hosts: tuple[str, ...] = (), environment: Mapping[str, str] | None = None, **words: object
) -> PreparedKernels:
    asked = parse_options(NetworkOptions, no_peer=True, **words)  # type: ignore[arg-type]
    request = Request(
        run_id="r1", suite="network", created="now", targets=asked.targets, options=asked.options, hosts=list(hosts)
    )
    return prepare_network(request, EngineContext(Path("/engine"), network_describe()), environment or {}, cores=2)


def test_the_seeds_table_is_what_is_measured_by_default() -> None:
    cases = [case.words for case in prepare().cases]
    streams = [(word[1], word[2], word[3]) for word in cases if word[0] == "stream" and not word[4]]
    assert streams == [
        (protocol, block, str(count))
        for protocol in ("tcp", "udp")
        for block in ("1K", "32K")
        for count in (1, 2, 4, 8)
    ]
    requests = {(word[1], word[2], word[3]) for word in cases if word[0] == "request"}
    assert {(protocol, "1", str(count)) for protocol in ("tcp", "udp") for count in (1, 2, 4, 8)} <= requests
    assert {word[4] for word in cases} == {"", "TCP_NODELAY", "MSG_ZEROCOPY"}
    assert ("echo", "icmp", "56", "1", "") in cases
    ids = [case.case.id for case in prepare().cases]
    assert len(set(ids)) == len(ids)


def test_words_reach_every_stream() -> None:
    prepared = prepare(
        block="4K", streams="3", interface="eth0", ipv6=True, both_ways=True, window="64K", seconds=2, protocols="tcp"
    )
    first = prepared.cases[0].case.workload.parameters
    assert first == {
        "block_bytes": 4096,
        "streams": 3,
        "direction": "both",
        "seconds": 2.0,
        "warm_up_s": 0.5,
        "interface": "eth0",
        "ip": "6",
        "send_buffer_bytes": 65536,
        "receive_buffer_bytes": 65536,
    } | {name: first[name] for name in ("mode", "protocol") if name in first}
    assert not any(case.words[1] == "udp" for case in prepared.cases)


def test_two_ranks_here_and_one_on_each_of_several_nodes() -> None:
    (here,) = prepare().plans(ResultFolder(Path("/nowhere")))
    assert (here.layout.ranks, here.layout.nodes, here.layout.ranks_per_node, here.layout.binding) == (2, 1, 2, "none")
    assert prepare(bind=True).cases[0].layout.binding == "core"
    assert [note.code for note in prepare().notes] == ["loopback"]
    far = prepare(("a", "b"))
    assert (far.cases[0].layout.ranks, far.cases[0].layout.nodes) == (2, 2)
    assert far.notes == ()
    assert far.request.options["nodes"] == 2
    assert prepare(environment={"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "4"}).cases[0].layout.ranks == 4
    with pytest.raises(UserError, match="work in pairs"):
        prepare(("a", "b", "c"))


def test_a_quick_run_and_a_short_one_have_fewer_cases() -> None:
    quick = options_of(quick=True)
    assert (quick.blocks, quick.streams, quick.repetitions, quick.seconds) == ([32768], [1, 4], 3, 0.25)
    short = options_of(time="27s")
    assert (short.small, short.repetitions) == (True, 6)
    lasts = [float(str(case.case.workload.parameters["seconds"])) for case in prepare(time="27s").cases]
    assert 6 * sum(1.3 * seconds + 0.1 for seconds in lasts) <= 27
    assert short.seconds in lasts
    assert options_of(time="1h").seconds == 1.0
    assert options_of(time="1s").seconds == 0.05
    assert len(prepare(quick=True).cases) < len(prepare().cases)


def test_the_overview_has_a_quick_form_without_peers() -> None:
    asked = SUITE.quick([])
    assert asked is not None
    assert NetworkOptions.model_validate(asked.options).peer is False
    assert load_suites()["network"].name == "network"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"protocols": "tcp,sctp"}, "sctp"),
        ({"block": "64K"}, "65507"),
        ({"block": "8"}, "16 to"),
        ({"streams": "0"}, "--streams"),
        ({"window": "1"}, "--window"),
        ({"time": "0s"}, "is not above 0"),
    ],
)
def test_bad_words_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_options(NetworkOptions, **words)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_without_udp_blocks_may_be_larger() -> None:
    assert options_of(block="1M", protocols="tcp").blocks == [1 << 20]


def test_an_engine_without_sockets_is_refused() -> None:
    asked = parse_options(NetworkOptions)
    request = Request(run_id="r1", suite="network", created="now", targets=asked.targets, options=asked.options)
    with pytest.raises(UserError, match="sockets"):
        prepare_network(request, EngineContext(Path("/engine"), DESCRIBE), {})


def test_what_it_would_do_is_explained() -> None:
    explained = prepare(quick=True).explain()
    assert explained.rows[0][:5] == ["stream", "tcp", "32K", "1", ""]
    assert "never leave its kernel" in " ".join(explained.head)
