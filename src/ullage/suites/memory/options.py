# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``memory`` in their own types, as they stand in request.json."""

from typing import Annotated, Final

from pydantic import Field

from ullage.runs.kernels.options import KernelOptions
from ullage.suites.memory.caches import Cache

QUICK_REPETITIONS: Final = 3
QUICK_S: Final = 30.0
USUAL_S: Final = 130.0
LARGEST_BLOCK: Final = 1 << 30

Bytes = Annotated[int, Field(ge=512, lt=2**53)]


class MemoryOptions(KernelOptions):
    """Sizes in bytes. ``caches`` and ``most`` are what this machine allows, found once, when a run is prepared.

    ``working_sets``: of all threads together in curves of bandwidth, and of one thread in curves of access time; empty:
    4 KiB to four times the last cache.
    """

    blocks: Annotated[list[Annotated[int, Field(ge=64, le=LARGEST_BLOCK)]], Field(min_length=1)]
    working_sets: list[Bytes] = []
    caches: Annotated[list[Cache], Field(description="innermost first")] = []
    most: Annotated[
        int | None, Field(ge=1, description="bytes that all threads take together; null: not yet found")
    ] = None
    nodes: Annotated[list[Annotated[int, Field(ge=0)]], Field(description="NUMA nodes with memory")] = []
    node_threads: Annotated[dict[int, int], Field(description="usable cores of each NUMA node that has some")] = {}
    cpus: Annotated[list[int], Field(description="whose pairs pass a cache line to and fro")] = []
