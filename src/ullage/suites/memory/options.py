# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``memory``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field

from ullage.runs.kernels.options import MEMORY, KernelOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import EachNodeOptions, MachineOptions, PeerOptions
from ullage.runs.options.kinds import SizeAxis
from ullage.suites.memory.sizes import Cache

LARGEST_BLOCK: Final = 1 << 30
_EXAMPLE: Final = "4K, 1M or 10M"

Bytes = Annotated[int, Field(ge=512, lt=2**53)]


class MemoryOptions(EachNodeOptions, PeerOptions, MachineOptions, KernelOptions):
    """The options of suite ``memory``.

    Sizes in bytes. ``caches`` and ``most`` are what this machine allows, found once, when a run is prepared.

    ``working_sets``: of all threads together in curves of bandwidth, and of one thread in curves of access time; empty:
    4 KiB to four times the last cache.
    """

    at = (MEMORY,)
    changes: ClassVar[Mapping[str, Change]] = {
        "time_s": Change(usual="130s", quick="30s", unsaid=""),
        "quick": Change("Take a first look in 30 s: fewer sizes and threads."),
        "peer": Change("Do not run mbw, sysbench and STREAM for comparison, even if they are installed."),
    }

    blocks: Annotated[
        list[Annotated[int, Field(ge=64, le=LARGEST_BLOCK)]],
        SizeAxis(64, _EXAMPLE),
        Option("Copy blocks of these sizes in order and at random.", name="--block", usual="1K,1M,10M"),
    ]
    working_sets: Annotated[
        list[Bytes],
        SizeAxis(512, _EXAMPLE),
        Option(
            "Use working sets of these sizes, for example 4K:256M:x2.",
            name="--working-set",
            unsaid="4K to four times the last-level cache, doubling",
        ),
    ] = []
    caches: Annotated[list[Cache], Field(description="innermost first")] = []
    most: Annotated[
        int | None, Field(ge=1, description="bytes that all threads take together; null: not yet found")
    ] = None
    nodes: Annotated[list[Annotated[int, Field(ge=0)]], Field(description="NUMA nodes with memory")] = []
    node_threads: Annotated[dict[int, int], Field(description="usable cores of each NUMA node that has some")] = {}
    cpus: Annotated[list[int], Field(description="whose pairs pass a cache line to and fro")] = []
