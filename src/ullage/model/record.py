# SPDX-License-Identifier: Apache-2.0
"""The records an engine run leaves behind, one JSON object a line (schema ``ullage.record/1``).

Integers throughout: ns, bytes, counts. Every ``*_ns`` stamp is on rank 0's CLOCK_MONOTONIC, counted from the
``origin_ns`` of the run record. A file without an ``end`` record is a truncated run and is still readable.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict, Tolerant, doc
from ullage.model.describe import EngineBuild
from ullage.model.plan import Layout, Parameters

Status: TypeAlias = Literal["ok", "failed", "timeout", "interrupted"]
Grade: TypeAlias = Literal["A", "B", "?", "C"]


class Clock(Tolerant):
    """Offsets between the ranks' clocks as calibrated, and how well they are known."""

    source: str
    read_cost_ns: int
    largest_offset_ns: int
    largest_offset_rank: int
    residual_ns: Annotated[int, doc("half the shortest round trip of the worst calibrated rank; 0: one clock")]


class Pinning(Tolerant):
    """Where the ranks may run."""

    pinned_ranks: int
    unpinned_ranks: int
    cores_available: Annotated[int, doc("cores the ranks of the fullest node may use, its affinity and cgroup counted")]
    most_ranks_on_a_node: int
    oversubscribed: bool


class RunRecord(Tolerant):
    """First line of a launch."""

    kind: Literal["run"] = "run"
    schema_: Annotated[Literal["ullage.record/1"], Field(alias="schema")]
    run_id: str
    suite: str
    plan: Annotated[str, doc("file the plan was read from")] = ""
    started: Annotated[str, doc("wall clock, ISO 8601 UTC")]
    origin_ns: int
    engine: EngineBuild
    mpi_io: Annotated[str, doc("MPI-IO component: ompio, romio ...; empty: not known")] = ""
    layout: Layout
    clock: Clock
    pinning: Pinning


class CaseRecord(Tolerant):
    """Written when a repetition of a case has ended."""

    kind: Literal["case"] = "case"
    case: str
    repetition: Annotated[int, Field(ge=0, description="0, 1, ... within this launch, warm-ups included")]
    warmup: bool = False
    status: Status
    grade: Grade = "A"
    stop: Annotated[
        str,
        doc(
            "why no further repetition follows: converged, count, budget, dirty-limit, failed ...; "
            "empty: another follows"
        ),
    ] = ""
    relative_width: Annotated[float, doc("of the median's confidence interval, worst phase; null: none yet")] | None = (
        None
    )
    target: str
    backend: str
    workload: str
    backend_parameters: Parameters = {}
    workload_parameters: Parameters = {}
    elapsed_ns: int


class Failure(Tolerant):
    """The first error a rank met; the record of a failed phase holds those of the lowest ranks, at most 8."""

    rank: int
    node: str
    operation: str
    path: str
    errno: int
    text: str
    offset_bytes: int | None = None
    expected: str | None = None
    found: str | None = None


class Stage(Tolerant):
    """A part of a phase: from the first rank's start to the last rank's stop, on the calibrated clock."""

    first_start_ns: int
    last_stop_ns: int
    longest_ns: Annotated[int, doc("longest time a single rank spent in it")]


class Done(Tolerant):
    """Work that was complete at an instant, over all ranks, and the time from the phase's start to it."""

    elapsed_ns: int
    bytes: int
    operations: int


class Stonewall(Tolerant):
    """What was done when the time of a phase was up, and how far the ranks were apart."""

    deadline_ns: int
    at_wall: Done
    wear_out: bool
    cut: Annotated[bool, doc("wear-out came to its limit before every rank had done as much")] = False
    least_operations: int
    most_operations: int


class Latency(Tolerant):
    """Log-linear histogram.

    Bucket ``i`` < 256 is ``i`` ns; else with ``e = i // 128 - 1`` and ``m = i % 128 + 128`` the bucket holds ``m << e``
    up to ``((m + 1) << e) - 1`` ns. Percentiles are bucket midpoints, at most 1/256 off; ``max_ns`` is exact.
    """

    operations: int
    sum_ns: int
    min_ns: int
    max_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    p999_ns: int
    buckets: list[tuple[int, int]] = []


class Series(Tolerant):
    """Completed work per interval, added over the ranks; the last interval may be cut short by the phase's end."""

    interval_ns: int
    bytes: list[int]
    operations: list[int]


class RankTime(Tolerant):
    """One rank's share of a phase."""

    rank: int
    node: str
    elapsed_ns: int
    bytes: int


class Ranks(Tolerant):
    """How unequal the ranks were."""

    fastest: RankTime
    slowest: Annotated[list[RankTime], doc("slowest first, at most 4")]
    mean_ns: Annotated[
        int | None, doc("mean time of all ranks, each from its open to its close; null: not recorded")
    ] = None
    least_bytes: int
    most_bytes: int


class Moved(Tolerant):
    """What left or reached the storage during the phase, by each counter that could be read; null: could not."""

    requested_bytes: int
    process_bytes: Annotated[int, doc("/proc/self/io read_bytes or write_bytes, added over ranks")] | None = None
    device_bytes: Annotated[int, doc("sectors of the target's block device, added over nodes")] | None = None
    client_bytes: Annotated[int, doc("wire bytes of an NFS or Lustre client, added over nodes")] | None = None


class Resident(Tolerant):
    """Pages of the dataset in the page cache, added over nodes; ``source``: cachestat, mincore or none."""

    source: str
    total_pages: int
    before_pages: int
    after_pages: int
    dirty_after_pages: int = 0


class Contamination(Tolerant):
    """How much somebody else used the machine: the worst node's shares in parts per million of all cores' time."""

    foreign_cpu_ppm: Annotated[int, doc("the counters' grain may make it negative, or more than all, in a short phase")]
    steal_ppm: int
    pressure_cpu_ppm: int | None = None
    pressure_io_ppm: int | None = None
    pressure_memory_ppm: int | None = None
    kernel_threads_ppm: (
        Annotated[int, doc("kernel threads that write back our data too; null: unknown, and counted as foreign")] | None
    ) = None
    uncertainty_ppm: (
        Annotated[int, doc("of foreign_cpu_ppm and steal_ppm together, from the grain of the counters")] | None
    ) = None
    run_delay_ppm: (
        Annotated[int, doc("ranks' time waiting for a core, by the thread of each that waited longest")] | None
    ) = None
    cores_per_rank: Annotated[float, doc("cores of a node to each of its ranks")] = 1.0
    oversubscribed: Annotated[bool, doc("ranks share cores, and wait for each other")] = False
    involuntary_switches: int
    clock_drift_ppm: int | None = None
    loopback_bytes: Annotated[int, doc("what the loopback device of rank 0's node sent, for anybody")] | None = None
    reasons: list[str] = []


class Gauge(Tolerant):
    """A measurement that is no count, over the ranks. Its name ends in its unit."""

    sum: float
    least: float
    most: float


class PhaseClock(Tolerant):
    """How well the stamps of a phase are known, by the worst of all ranks."""

    measured: Annotated[
        Literal["before", "around"], doc("around: after the phase too, and interpolated, because it was long")
    ]
    residual_ns: Annotated[int, doc("what the measurements leave, and drift x age of the nearest")]
    drift_ppm: Annotated[float, doc("of the offsets, as measured around the phase; before: the bound that was taken")]
    jumped: Annotated[bool, doc("an offset changed faster than clocks drift; all of its change is in residual_ns")] = (
        False
    )


class PhaseRecord(Tolerant):
    """One globally synchronised, separately timed stretch.

    ``elapsed_ns`` is the first rank's start to the last rank's stop: open, transfer, sync and close together.
    """

    kind: Literal["phase"] = "phase"
    case: str
    repetition: int
    warmup: bool = False
    phase: str
    access: Annotated[Literal["write", "read", "metadata", "none"], doc("direction of its bytes")]
    status: Status
    grade: Grade
    ranks: int
    start_ns: int
    elapsed_ns: int
    bytes: int
    operations: int
    stages: Annotated[dict[str, Stage], doc("open, transfer, sync, close")]
    first_done: Done
    last_done: Done
    stonewall: Stonewall | None = None
    prepare_ns: Annotated[int, doc("longest time a rank spent preparing names and payload between batches")] = 0
    clock_stops: Annotated[
        bool, doc("prepare_ns is in no other time, but as much of it as a sync took; else it is in elapsed_ns")
    ] = False
    cpu_ns: Annotated[int, doc("user and system time of all ranks from before open to after close")] = 0
    minor_faults: Annotated[
        int | None, doc("page faults of all ranks that needed no device, from before open to after close")
    ] = None
    major_faults: Annotated[
        int | None, doc("page faults of all ranks for which a device was read, in the same time")
    ] = None
    syncs: Annotated[int, doc("sync calls over all ranks")] = 0
    latency: Latency | None = None
    stamped_every: Annotated[
        float, doc("operations to each reading of the clock; above 1 a latency is the mean of so many")
    ] = 1.0
    latency_parts: Annotated[
        dict[str, Latency | None],
        # A factory, as most records leave this out, and pydantic copies any other default deeply.
        Field(
            default_factory=dict[str, Latency | None],
            description="of operations made of several calls; of one in 32, drawn at random, where they are short",
        ),
    ]
    counters: Annotated[dict[str, int], doc("counts of the workload's own, added over ranks")] = {}
    gauges: Annotated[dict[str, Gauge], doc("measurements of the workload's own")] = {}
    facts: Annotated[dict[str, object], doc("of the workload's own: who met whom, a matrix ...")] = {}
    series: Series | None = None
    by_rank: Ranks | None = None
    clock: Annotated[PhaseClock | None, doc("missing where all ranks read one clock")] = None
    moved: Moved | None = None
    resident: Resident | None = None
    contamination: Contamination | None = None
    cache_control: Annotated[str, doc("what was done before it: none, advise, drop, direct")] = "none"
    file_system: str = ""
    dax: Annotated[bool, doc("files are on persistent memory, past the page cache")] = False
    data_of: Annotated[str, doc("whose data a reading phase read: own, other-rank, other-node; empty for others")] = ""
    verified_bytes: int = 0
    bad_blocks: int = 0
    failures: list[Failure] = []
    hints_given: dict[str, str] = {}
    hints_granted: dict[str, str] = {}


class ProbeRecord(Tolerant):
    """Facts read apart from phases: ``probe`` names the reader, ``facts`` are its own."""

    kind: Literal["probe"] = "probe"
    probe: str
    node: str = ""
    facts: dict[str, object] = {}


class EventRecord(Tolerant):
    """Something a reader must know. ``code`` is stable, ``text`` and ``advice`` are for people."""

    kind: Literal["event"] = "event"
    severity: Literal["info", "warning", "error"]
    code: str
    text: str
    advice: str = ""
    case: str | None = None
    rank: int | None = None
    node: str | None = None


class EndRecord(Tolerant):
    """Last line of a launch that could still write one."""

    kind: Literal["end"] = "end"
    status: Literal["complete", "interrupted", "failed", "timeout"]
    cases_ok: int
    cases_failed: int
    repetitions: int
    elapsed_ns: int


Record: TypeAlias = Annotated[
    RunRecord | CaseRecord | PhaseRecord | ProbeRecord | EventRecord | EndRecord, Field(discriminator="kind")
]


class PeerRecord(Strict):
    """One run of a peer beside one phase of one case.

    ``values`` are by the names and in the units of ``ullage.analysis.metrics``: bytes/s, operations/s, s.
    """

    kind: Literal["peer"] = "peer"
    case: Annotated[str, Field(min_length=1, description="id of the case whose work it did")]
    phase: Annotated[str, Field(min_length=1, description="of the case, as the engine's records name it")]
    tool: Annotated[str, Field(min_length=1)]
    version: str
    repetition: Annotated[int, Field(ge=0, description="of the peer, counted for each case")]
    values: Annotated[dict[str, float], doc("by the name of the metric, in its unit")]
    command: Annotated[list[str], doc("as it was started")]
