# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``pmem``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.runs.options import groups
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.kinds import Size

Interface: TypeAlias = Literal["posix", "mmap", "pmem", "direct"]
INTERFACES: Final[tuple[Interface, ...]] = ("posix", "mmap", "pmem", "direct")
NumaPath: TypeAlias = Literal["local", "remote", "interleave", "as-is"]
NUMA_PATHS: Final[tuple[NumaPath, ...]] = ("local", "remote", "interleave", "as-is")
# A rank makes at most so many transfers, so that small ones do not take all the time.
MOST_TRANSFERS: Final = 1 << 18


class PmemOptions(groups.QuickOnCommandLine, groups.RankAxisOptions, groups.RunOptions):
    """Sizes in bytes. ``volume`` is of a rank; ``interfaces``: empty, those that suit each target."""

    metrics = "bandwidth transfer_bandwidth latency_p50 page_faults"
    changes = {
        "targets": Change(
            "Measure this folder: on persistent memory (DAX), in memory or on a drive. Repeat the option to measure "
            "several folders."
        ),
        "ranks": Change(unsaid="powers of 2 up to the number of cores, at least 1,2,4"),
        "time_s": Change(usual="10m", quick="60s"),
        "quick": Change("Take a first look in 60 s: fewer transfer sizes and regions, 16M for each rank."),
    }

    transfers: Annotated[
        groups.Blocks,
        Option(
            "Transfer blocks of these sizes with one rank.",
            name="--transfer",
            usual="64:16M:x4",
            quick="64,256,4K,64K,1M",
            sets=("block_bytes",),
        ),
    ]
    regions: Annotated[
        groups.Blocks,
        Option(
            "Visit regions (IOR's blocks) of these sizes with one rank.",
            name="--region",
            usual="1M:256M:x4",
            quick="1M,16M",
            sets=("region_bytes",),
        ),
    ]
    block: Annotated[
        int, Field(ge=8), Size(8, "256, 4K or 1M"), Option("Transfer this size where ranks or regions vary.")
    ] = 256 << 10
    volume: Annotated[
        groups.Volume,
        Option("Transfer this many bytes with each rank, but at most 262144 transfers.", usual="64M", quick="16M"),
    ]
    interfaces: Annotated[
        list[Interface],
        Field(description="empty: those that suit each target"),
        Option(
            "Use these interfaces: posix, mmap, pmem (libpmem), direct (posix with O_DIRECT).",
            name="--interface",
            unsaid="posix, mmap and pmem in memory, posix, mmap and direct on drives",
        ),
    ] = []
    numa_paths: Annotated[
        list[NumaPath],
        Field(description="empty: local and remote where there are several NUMA nodes and that of the device is known"),
        Option(
            "Bind ranks to cores of the device's NUMA node (local), of other nodes (remote), or of all in turn "
            "(interleave). as-is only records where ranks run.",
            name="--numa-path",
            unsaid="local and remote, if the machine has several NUMA nodes and states that of the device",
        ),
    ] = []

    @property
    def sized_by(self) -> str:
        """See ``RunOptions``: regions are visited by one rank, and are no part of the volume."""
        return "region_bytes" if max(self.regions) >= self.volume * max(self.ranks) else "volume"

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks by the cores of this machine."""
        return super().settle({"ranks": groups.default_ranks(groups.cores_of_nodes(said)), **said})


def region_of(block: int, volume: int) -> int:
    """Return the bytes of a rank that makes transfers of ``block``: whole ones, at least one, at most 262144."""
    return block * max(1, min(volume // block, MOST_TRANSFERS))
