# SPDX-License-Identifier: Apache-2.0
"""Results of network runs with known numbers, without an engine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from support.simulated_engine import ENGINE, with_workloads
from ullage.model.describe import Describe
from ullage.model.plan import Parameters
from ullage.model.record import Done, Gauge, Latency, PhaseRecord
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.records import parse_record
from ullage.runs.options.reading import parse_options
from ullage.suites.network.options import NetworkOptions

LOOPBACK = {"interface": "lo", "address": "127.0.0.1", "loopback": True, "speed_bits_per_s": 0}
ETHERNET = {"interface": "eth0", "address": "192.0.2.1", "loopback": False, "speed_bits_per_s": 10**10}
SLOWER = {"interface": "eth1", "address": "192.0.2.2", "loopback": False, "speed_bits_per_s": 10**9}


def network_describe() -> Describe:
    """An engine that has sockets."""
    return with_workloads("sockets")


@dataclass(frozen=True)
class Measured:
    """One case, the same in each repetition up to a percent. Rates in bytes/s; ``latency_ns``: the median."""

    name: str
    parameters: Parameters
    rate: float = 0.0
    cores: float = 1.5
    latency_ns: int = 0
    lost: int = 0
    expected: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def phase(self, repetition: int) -> PhaseRecord:
        """Its record."""
        noise = 1 + 0.002 * (0, 1, -1, 2, -2, 0)[repetition % 6]
        size = int(str(self.parameters.get("block_bytes", 32768)))
        trips = round(1e9 / self.latency_ns) if self.latency_ns else 0
        rate = trips * size if trips else self.rate * noise
        gauges = {
            "pairs": 1.0,
            "window_s": 1.0,
            "goodput_bytes_per_s": rate,
            "messages_per_s": rate / size,
            "cpu_cores": self.cores,
            "jitter_s": 2e-6 if self.parameters.get("protocol") == "udp" else 0.0,
        }
        done = Done(elapsed_ns=10**9, bytes=0, operations=0)
        facts = {"between": "ranks of one node", "mine": LOOPBACK, "theirs": LOOPBACK, "congestion_control": "cubic"}
        facts |= {"send_buffer_bytes": 1 << 20, "receive_buffer_bytes": 1 << 17}
        return PhaseRecord(
            case=self.name,
            repetition=repetition,
            phase="sockets",
            access="none",
            status="ok",
            grade="A",
            ranks=2,
            start_ns=0,
            elapsed_ns=12 * 10**8,
            bytes=int(rate),
            operations=int(rate / size),
            stages={},
            first_done=done,
            last_done=done,
            gauges={name: Gauge(sum=value, least=0, most=value) for name, value in gauges.items()},
            counters={"lost": self.lost, "expected": self.expected},
            facts={**facts, **self.facts},
            latency=self._latency(trips),
        )

    def _latency(self, trips: int) -> Latency | None:
        if not self.latency_ns:
            return None
        median = self.latency_ns
        return Latency(
            operations=trips,
            sum_ns=trips * median,
            min_ns=median // 2,
            p50_ns=median,
            p95_ns=2 * median,
            p99_ns=3 * median,
            p999_ns=10 * median,
            max_ns=100 * median,
        )


def stream(protocol: str, block: int, count: int, rate: float, **more: object) -> Measured:
    """A case of streams; ``more``: parameters, and members of ``Measured``."""
    members: dict[str, Any] = {name: more.pop(name) for name in ("cores", "lost", "expected", "facts") if name in more}
    own = cast("Parameters", more)
    parameters: Parameters = {"mode": "stream", "protocol": protocol, "block_bytes": block, "streams": count, **own}
    name = f"{protocol}-{block}-{count}" + "".join(f"-{key}" for key in more)
    return Measured(name, parameters, rate=rate, **members)


def request(protocol: str, size: int, count: int, latency_ns: int, **members: object) -> Measured:
    """A case of requests."""
    parameters: Parameters = {"mode": "request", "protocol": protocol, "block_bytes": size, "streams": count}
    return Measured(
        f"{protocol}-request-{size}-{count}", parameters, latency_ns=latency_ns, **cast("dict[str, Any]", members)
    )


def write_network(folder: Path, cases: Sequence[Measured], repetitions: int = 6) -> ResultFolder:
    """A result as a run leaves it."""
    asked = parse_options(NetworkOptions)
    made = Request(run_id="r1", suite="network", created="now", targets=asked.targets, options=asked.options)
    result = ResultFolder.create(folder, made)
    run = {
        "kind": "run",
        "schema": "ullage.record/1",
        "run_id": "r1",
        "suite": "network",
        "started": "now",
        "origin_ns": 0,
        "engine": ENGINE,
        "layout": {"ranks": 2, "nodes": 1},
        "clock": {
            "source": "x",
            "read_cost_ns": 30,
            "largest_offset_ns": 0,
            "largest_offset_rank": 0,
            "residual_ns": 0,
        },
        "pinning": {
            "pinned_ranks": 2,
            "unpinned_ranks": 0,
            "cores_available": 2,
            "most_ranks_on_a_node": 2,
            "oversubscribed": False,
        },
    }
    lines = [json.dumps(run)]
    for repetition in range(repetitions):
        for case in cases:
            lines.append(case.phase(repetition).model_dump_json())
            ending = {"kind": "case", "case": case.name, "repetition": repetition, "status": "ok", "elapsed_ns": 10**9}
            what = {"target": "network", "backend": "null", "workload": "sockets"}
            lines.append(json.dumps({**ending, **what, "workload_parameters": case.parameters}))
    assert all(hasattr(parse_record(line.encode()), "kind") for line in lines)
    result.records_path(1).parent.mkdir()
    result.records_path(1).write_text("\n".join(lines) + "\n")
    return result
