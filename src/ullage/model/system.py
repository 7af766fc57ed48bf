# SPDX-License-Identifier: Apache-2.0
"""system.json: facts of the machine under test, read without root. What cannot be read is null."""

from typing import Annotated, Literal

from pydantic import Field

from ullage.model.base import Tolerant, doc, doc_if_any
from ullage.model.describe import MpiBuild

SYSTEM_SCHEMA = "ullage.system/1"


class Cpu(Tolerant):
    """The processors of the node that the front end ran on. ``usable``: allowed by the affinity mask."""

    model: str | None = None
    vendor: str | None = None
    architecture: str | None = None
    sockets: int | None = None
    physical_cores: int | None = None
    logical_cpus: int | None = None
    usable_cpus: int | None = None
    usable_cores: int | None = None
    base_hz: Annotated[float | None, doc("as the kernel states it; null: not stated")] = None
    governor: str | None = None
    caches: Annotated[dict[str, int], doc("bytes of one cache by level and kind: L1d, L2, L3")] = {}
    flags: list[str] = []


class Memory(Tolerant):
    """The memory of the node that the front end ran on."""

    total_bytes: int | None = None
    # This is what the process may still take: that of the machine, or less where a control group gives less.
    available_bytes: int | None = None
    swap_total_bytes: int | None = None
    huge_page_bytes: int | None = None
    huge_pages_total: int | None = None
    transparent_huge_pages: str | None = None


class NumaNode(Tolerant):
    """CPUs and memory close to one another."""

    node: int
    cpus: str
    memory_bytes: int | None = None
    distances: list[int] = []


class DeviceLink(Tolerant):
    """The link of a drive as it was negotiated."""

    device: str
    transfers_per_s: Annotated[float, doc("of one lane, before line coding")]
    lanes: int
    kind: Annotated[Literal["pcie", "sata"], Field(exclude_if=lambda kind: kind == "pcie")] = "pcie"


class DriveLimit(Tolerant):
    """What a control group lets this process read from a drive, or write to it past the page cache."""

    access: Literal["read", "write"]
    unit: Annotated[Literal["bytes", "operations"], doc("that it counts a second")]
    value: float
    source: Annotated[str, doc("the file that states it, of the tightest group")]


class BlockDevice(Tolerant):
    """A drive as the kernel shows it.

    ``rotational`` is what the driver says, which virtual drives often get wrong.
    """

    name: str
    parents: Annotated[list[str], doc("devices beneath it: of a partition its disk, of a mapping its members")] = []
    size_bytes: int | None = None
    model: str | None = None
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    rotational: bool | None = None
    scheduler: str | None = None
    queue_requests: int | None = None
    read_ahead_bytes: int | None = None
    write_cache: str | None = None
    link: Annotated[DeviceLink | None, doc("of an NVMe or SATA drive; null: none that shows")] = None
    limits: Annotated[list[DriveLimit], doc_if_any("of control groups; not there: none that shows")] = []
    numa_node: Annotated[int | None, doc("to which it is attached; null: the kernel does not say")] = None


class Place(Tolerant):
    """Where a target lies."""

    target: str
    path: str
    exists: bool
    mount_point: str | None = None
    file_system: str | None = None
    options: list[str] = []
    source: Annotated[str | None, doc("device or server of the mount")] = None
    is_memory: Annotated[bool | None, doc("held in memory (tmpfs, ramfs ...): no storage")] = None
    is_remote: Annotated[bool | None, doc("a network file system by its type")] = None
    free_bytes: Annotated[int | None, doc("for this user")] = None
    total_bytes: int | None = None
    free_inodes: int | None = None
    block_bytes: int | None = None
    device: BlockDevice | None = None


class Kernel(Tolerant):
    """Operating system and its settings."""

    system: str | None = None
    release: str | None = None
    version: str | None = None
    distribution: str | None = None
    libc: str | None = None
    options: Annotated[list[str], doc("those of its command line that change timing")] = []
    dirty_ratio: int | None = None
    dirty_background_ratio: int | None = None
    swappiness: int | None = None


class Limits(Tolerant):
    """What holds this process back, by the tightest of its control groups; null: no limit or not known."""

    cgroup: Literal["v1", "v2", "hybrid", "none"] | None = None
    memory_bytes: int | None = None
    cpu_quota: Annotated[float | None, doc("CPUs worth of time")] = None
    cpus_allowed: str | None = None
    memory_nodes_allowed: str | None = None
    open_files: int | None = None
    locked_memory_bytes: int | None = None


class Environment(Tolerant):
    """What surrounds the process."""

    container: Annotated[str | None, doc("docker, podman, apptainer ... as far as it shows")] = None
    hypervisor: Annotated[str | None, doc("kvm, xen ...; null: none that shows")] = None
    scheduler: Annotated[str | None, doc("batch system whose allocation this is")] = None
    variables: Annotated[dict[str, str], doc("that change what MPI, threads or I/O do; allow-listed")] = {}


class NetworkInterface(Tolerant):
    """A network link as the kernel shows it."""

    name: str
    state: str | None = None
    speed_bits_per_s: int | None = None
    mtu_bytes: int | None = None
    driver: str | None = None
    kind: Literal["ethernet", "infiniband", "loopback", "other"] | None = None


class Switch(Tolerant):
    """A switch of the network as the batch system describes it, as far as nodes of the job are below it.

    Slurm's topology/block knows blocks of nodes in their place, and blocks of these.
    """

    name: str
    kind: Annotated[Literal["switch", "block"], Field(exclude_if=lambda kind: kind == "switch")] = "switch"
    level: Annotated[int, doc("0: nodes are attached to it")] = 0
    nodes: Annotated[list[str], doc("of the job, attached to this switch")] = []
    switches: Annotated[list[str], doc("of the next lower level, attached to this switch")] = []


class SystemFacts(Tolerant):
    """All groups of facts."""

    schema_: Annotated[Literal["ullage.system/1"], Field(alias="schema")] = SYSTEM_SCHEMA
    host: str | None = None
    taken: Annotated[str, doc("ISO 8601 UTC")]
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    numa: list[NumaNode] = []
    places: list[Place] = []
    kernel: Kernel = Kernel()
    limits: Limits = Limits()
    environment: Environment = Environment()
    network: list[NetworkInterface] = []
    # Most machines say nothing of switches, and their documents say nothing of the field.
    switches: Annotated[list[Switch], doc_if_any("above the nodes of the job, by the batch system")] = []
    mpi: MpiBuild | None = None
    versions: dict[str, str] = {}
