# SPDX-License-Identifier: Apache-2.0
"""Peers in turn with ours: which job stands beside which case, and how often."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.network_world import LOOPBACK, network_describe, stream, write_network
from support.simulated_engine import Clock, SilentProgress, SimulatedEngine
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import Mpich
from ullage.launch.open_mpi import OpenMpi
from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.peers import Installed, PeerError
from ullage.peers.network import Iperf3Job, PingJob, SockperfJob
from ullage.peers.served import HostCommands
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.suites.network.options import NetworkOptions
from ullage.suites.network.prepare import (
    Job,
    cases_of,
    job_of,
    notes_on_peers,
    peers_for,
    prepare_network,
    roads_between,
)

GROUND = EngineContext(Path("/engine"), network_describe())
PROGRAM = Installed(Path("/usr/bin/tool"), "7")
ALL = {"iperf3": PROGRAM, "sockperf": PROGRAM, "ping": PROGRAM}


def options_of(**words: object) -> NetworkOptions:
    return NetworkOptions.model_validate(parse_options(NetworkOptions, **words).options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, Iperf3Job("tcp", 1, 32768, 1)),
        ({"protocol": "udp", "block_bytes": 1024, "streams": 4}, Iperf3Job("udp", 4, 1024, 1)),
        ({"no_delay": True}, Iperf3Job("tcp", 1, 32768, 1, no_delay=True)),
        ({"zero_copy": True}, None),
        ({"direction": "both"}, None),
        ({"block_bytes": 1 << 21}, None),
        ({"mode": "request", "block_bytes": 14, "protocol": "udp"}, SockperfJob("udp", 14, 1)),
        ({"mode": "request", "block_bytes": 1}, None),
        ({"mode": "request", "block_bytes": 14, "streams": 2}, None),
        ({"mode": "request", "protocol": "icmp", "block_bytes": 56}, PingJob(100, 56)),
    ],
)
def test_a_peer_stands_beside_what_does_the_same_work(parameters: Parameters, expected: Job | None) -> None:
    assert job_of(parameters, options_of()) == expected


def test_seconds_are_whole_and_addresses_of_the_same_version() -> None:
    job = job_of({}, options_of(seconds=2.4, ipv6=True, window="64K"))
    assert job == Iperf3Job("tcp", 1, 32768, 2, window_bytes=65536, address="::1")
    assert job_of({}, options_of(seconds=0.2)) == Iperf3Job("tcp", 1, 32768, 1)
    assert job is not None
    assert "::1" in job.command(PROGRAM, 0)


def test_peers_are_of_the_loopback_and_of_who_wants_them() -> None:
    def planned(installed: dict[str, Installed | None], **words: object) -> tuple[str, ...] | None:
        options = options_of(quick=True, **words)
        peers = peers_for(options, cases_of(options, GROUND.description, 2), (), installed)
        return None if peers is None else peers.lines

    assert planned(dict(ALL)) == (
        "iperf3 runs beside 4 cases, once, after ours.",
        "sockperf runs beside 2 cases, once, after ours.",
        "ping runs beside 1 cases, once, after ours.",
    )
    assert planned({"ping": PROGRAM, "iperf3": None}) == ("ping runs beside 1 cases, once, after ours.",)
    assert planned({}) is None
    assert planned(dict(ALL), no_peer=True) is None


@pytest.mark.parametrize(
    ("nodes", "hosts", "interface", "why"),
    [
        (1, (), "", None),
        (1, (), "eth0", "not available: iperf3 and ping with --interface on one node"),
        (2, ("a", "b"), "ib0", None),
        (2, (), "", "not available: iperf3 and ping between nodes without names"),
        (4, ("a", "b", "c", "d"), "", "not available: iperf3 and ping beside 4 nodes"),
    ],
)
def test_between_nodes_they_need_one_pair_of_named_hosts(
    nodes: int, hosts: tuple[str, ...], interface: str, why: str | None
) -> None:
    """Never a number of one node, or of one pair, beside one of several."""
    options = options_of(interface=interface).model_copy(update={"nodes": nodes})
    installed: dict[str, Installed | None] = {"iperf3": PROGRAM, "sockperf": None, "ping": PROGRAM}
    peers = peers_for(options, cases_of(options, GROUND.description, 2), hosts, installed)
    notes = notes_on_peers(options, hosts, installed)
    assert (peers is None) == bool(notes) == (why is not None)
    for note in notes:
        assert why is not None
        assert note.text.startswith(why)
        assert note.advice
    assert notes_on_peers(options, hosts, {}) == ()


def test_between_nodes_they_use_the_addresses_that_our_ranks_had(tmp_path: Path) -> None:
    options = options_of(block="32K", streams="1", protocols="tcp").model_copy(update={"nodes": 2})
    (case,) = [one for one in cases_of(options, GROUND.description, 2) if one.words[0] == "stream" and not one.words[4]]
    mine, theirs = ({**LOOPBACK, "address": address} for address in ("192.0.2.1", "192.0.2.2"))
    facts = {"between": "nodes", "mine": mine, "theirs": theirs}
    measured = replace(stream("tcp", 32768, 1, 1e9, facts=facts), name=case.case.id)
    launcher = OpenMpi(Path("/mpirun"), hosts=Hosts(("a", "b")))
    result = write_network(tmp_path / "r", [measured])
    session = Session(result, GROUND, launcher, SilentProgress())
    seen: list[tuple[Job, HostCommands]] = []

    def do(_program: Installed, job: Job, hosts: HostCommands, _limit_s: float) -> dict[str, float]:
        seen.append((job, hosts))
        return {"network_bandwidth": 1e9}

    peers = peers_for(options, [case], ("a", "b"), ALL, do)
    assert peers is not None
    (job,) = peers.jobs(session)
    (numbers,) = job.run(None)
    assert seen[0][0] == Iperf3Job("tcp", 1, 32768, 1, address="192.0.2.2", source="192.0.2.1")
    assert " ".join(numbers.command).startswith("/usr/bin/tool -c 192.0.2.2 -p 0 -J -B 192.0.2.1")
    assert seen[0][1].host == "b"


def test_the_server_is_where_rank_1_is() -> None:
    """A launcher on the second host begins with it: rank 0 is there, and the server on the first one."""
    launcher = OpenMpi(Path("/mpirun"), hosts=Hosts(("a", "b", "c")))

    def hosts(own: str, *here: str) -> tuple[bool, str]:
        found = roads_between(launcher, own, lambda name: name in here)
        assert found.server is not None
        assert f"{found.host}:1" in found.server(["x"])
        return found.client is None, found.host

    assert hosts("192.0.2.1", "192.0.2.1", "a") == (True, "b")
    assert hosts("192.0.2.2", "192.0.2.2", "b") == (True, "a")
    # Rank 0 is on the other one, or nothing of it is here.
    assert hosts("192.0.2.1", "192.0.2.2", "b") == (False, "b")
    assert hosts("192.0.2.1", "192.0.2.9") == (False, "b")


class Room:
    """A result, a simulated engine, and programs that only count."""

    def __init__(self, path: Path, **words: object) -> None:
        asked = parse_options(NetworkOptions, **words)  # type: ignore[arg-type]
        request = Request(run_id="r1", suite="network", created="now", targets=asked.targets, options=asked.options)
        self.engine = SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1)
        self.result = ResultFolder.create(path / "result", request)
        self.session = Session(self.result, GROUND, Mpich(Path("/mpiexec")), SilentProgress(), None, self.engine.start)
        self.jobs: list[Job] = []
        self.fails = False
        prepared = prepare_network(request, GROUND, {}, cores=2)
        options = NetworkOptions.model_validate(prepared.request.options)
        self.prepared = replace(prepared, peers=peers_for(options, prepared.cases, (), ALL, self._do))

    def _do(self, _program: Installed, job: Job, _roads: HostCommands, _limit_s: float) -> dict[str, float]:
        self.jobs.append(job)
        if self.fails:
            raise PeerError("it is broken")
        return {"network_bandwidth": 1e9}


def test_they_run_in_turn_with_ours(tmp_path: Path) -> None:
    room = Room(tmp_path, block="32K", streams="1", protocols="tcp", repetitions=3)
    assert room.prepared.run(room.session) == 0
    assert len(room.engine.plans) == 3
    assert len(room.jobs) == 3 * 4
    records = room.result.read_peers()
    assert sorted({record.repetition for record in records}) == [0, 1, 2]
    assert {record.phase for record in records} == {"sockets"}
    assert any("in turn, repetition by repetition" in line for line in room.prepared.explain().tail)
    # Gone on with: nothing is lacking.
    assert room.prepared.run(room.session) == 0
    assert len(room.jobs) == 3 * 4


def test_a_quick_run_has_them_once(tmp_path: Path) -> None:
    room = Room(tmp_path, quick=True)
    assert room.prepared.run(room.session) == 0
    assert len(room.jobs) == 7


def test_a_peer_that_fails_is_noted_and_given_up(tmp_path: Path) -> None:
    room = Room(tmp_path, quick=True)
    room.fails = True
    assert room.prepared.run(room.session) == 0
    assert len(room.jobs) == 2 + 2 + 1
    events = [event.text for file in room.result.read_records() for event in file.events]
    assert "iperf3 gave no number: it is broken" in events


def test_an_interrupted_run_starts_no_peer(tmp_path: Path) -> None:
    room = Room(tmp_path, quick=True)
    room.engine.ends = {1: "die"}
    assert room.prepared.run(room.session) == 5
    assert room.jobs == []
