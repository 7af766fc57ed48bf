# SPDX-License-Identifier: Apache-2.0
"""A memory run without an engine: what such an engine says of itself, and records as it would write them."""

from collections.abc import Sequence

import pytest

from support.make_records import make_case, make_launch, make_phase
from support.simulated_engine import DESCRIBE, as_of_engine
from ullage.model.describe import Describe
from ullage.model.plan import Parameters
from ullage.results.records import AnyRecord
from ullage.suites.memory.options import Cache, MemoryOptions

KIB, MIB = 1 << 10, 1 << 20
CACHES = [
    Cache(level=1, bytes=32 * KIB, cores=1),
    Cache(level=2, bytes=MIB, cores=1),
    Cache(level=3, bytes=32 * MIB, cores=8),
]
_WORKLOADS = ("stream", "chase", "core-to-core", "loaded-latency", "updates")


def memory_describe(*, non_temporal: bool = True) -> Describe:
    """An engine with the workloads of memory."""
    capabilities = ["no-storage", *(["non-temporal"] if non_temporal else [])]
    found = [as_of_engine(name, *capabilities) for name in _WORKLOADS]
    return DESCRIBE.model_copy(update={"workloads": found})


def memory_options(**members: object) -> MemoryOptions:
    """Return the facts of a machine with two cores, one node and the caches above."""
    usual: dict[str, object] = {
        "threads": [1, 2],
        "blocks": [KIB, MIB, 10 * MIB],
        "caches": CACHES,
        "most": 1 << 30,
        "nodes": [0],
        "node_threads": {0: 2},
        "cpus": [0, 1],
    }
    return MemoryOptions.model_validate({**usual, **members})


def repetition(
    case: str, workload: str, parameters: Parameters, gauges: dict[str, float], index: int = 0, target: str = "memory"
) -> list[AnyRecord]:
    """One repetition with these gauges, all of one rank."""
    phase = make_phase(
        case,
        index,
        phase=workload,
        access="none",
        bytes_=0,
        gauges={name: {"sum": value, "least": value, "most": value} for name, value in gauges.items()},
    )
    ended = make_case(case, index, target=target, backend="null", workload=workload, workload_parameters=parameters)
    return [phase, ended]


def stream(
    kernel: str,
    size: int,
    rate: float,
    *,
    threads: int = 1,
    stores: str = "ordinary",
    bus: float | None = None,
    **more: int | str,
) -> list[AnyRecord]:
    """Three repetitions of a stream at ``rate`` bytes/s of an application; ``bus``: the other way of counting."""
    parameters: Parameters = {
        "kernel": kernel,
        "working_set_bytes": size,
        "threads": threads,
        "stores": stores,
        "order": "sequential",
        "block_bytes": 0,
        "pages": "default",
        "cpu_node": -1,
        "memory_node": -1,
        **more,
    }
    case = "-".join(map(str, ("stream", *parameters.values())))
    gauges = {"application_bytes": rate / 10, "bus_bytes": (rate if bus is None else bus) / 10, "kernel_s": 0.1}
    return [record for index in range(3) for record in repetition(case, "stream", parameters, gauges, index)]


def chase(size: int, seconds: float, **more: int | str) -> list[AnyRecord]:
    """Three repetitions of a chase whose loads take ``seconds`` each; all in huge pages where those are asked for."""
    parameters: Parameters = {
        "working_set_bytes": size,
        "threads": 1,
        "stride_bytes": 64,
        "locality_bytes": 0,
        "chains": 1,
        "pages": "huge",
        "cpu_node": -1,
        "memory_node": -1,
        **more,
    }
    case = "-".join(map(str, ("chase", *parameters.values())))
    huge = float(size) if parameters["pages"] == "huge" else 0.0
    gauges = {"accesses": 1000.0, "thread_s": 1000 * seconds, "kernel_s": 1000 * seconds, "huge_bytes": huge}
    return [record for index in range(3) for record in repetition(case, "chase", parameters, gauges, index)]


def loaded(injection: str, delay: int, rate: float, seconds: float) -> list[AnyRecord]:
    """Three repetitions of a chase beside one thread that moves ``rate`` bytes/s."""
    parameters: Parameters = {"injection": injection, "delay": delay, "injectors": 1, "working_set_bytes": 256 * MIB}
    gauges = {"accesses": 1e3, "chase_s": 1e3 * seconds, "kernel_s": 0.1, "injected_bytes": rate / 10}
    case = f"loaded-{injection}-{delay}"
    return [record for index in range(3) for record in repetition(case, "loaded-latency", parameters, gauges, index)]


def launch(*cases: Sequence[AnyRecord]) -> list[AnyRecord]:
    """All of them in one launch."""
    return make_launch(*cases)


@pytest.fixture
def description() -> Describe:
    return memory_describe()
