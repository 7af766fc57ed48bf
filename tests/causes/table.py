# SPDX-License-Identifier: Apache-2.0
"""The causes that are planted: what is run where each is, and the rung that has to be the largest."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.causes import plants
from tests.causes.judge import Expected
from tests.causes.plants import Plant


@dataclass(frozen=True)
class Cause:
    """``suite``: words of ``ullage run``, with ``{here}`` for the place of files.

    ``lines``: command lines of other tools after these words.
    """

    name: str
    plant: Callable[[Path], AbstractContextManager[Plant]]
    suite: str
    expected: Expected
    lines: tuple[str, ...] = ()

    def words(self, folder: Path) -> list[str]:
        """Return the words for files in ``folder``."""
        return [*self.suite.format(here=folder).split(), *self.lines]


# Only the headline of the suite cpu, and what is left of the time: its matrix products take minutes by themselves.
_OTHERS: Final = "disk,from-mdtest,memory,network,noise,rings,b_eff_io,collectives,io500,pairs,sweep"
_CORES: Final = f"overview --target t={{here}} --time 20s --without {_OTHERS}"
_MEMORY: Final = "memory --quick --no-peer --threads 1 --block 1M --working-set 4M --repetitions 6 --time 320s"
_DISK: Final = "disk --target t={here} --no-peer --threads 1 --depth 1,64 --small 4K --time 40s"
_BLOCKS: Final = f"{_DISK} --block 8M --volume 32M --small-volume 1M"
# The kernel grants a limit by slices of time: short transfers exceed it.
_LONGER: Final = f"{_DISK} --block 8M --volume 96M --small-volume 4M"
_SWEEP: Final = "sweep --target t={here} --ranks 1 --block 4K,8M --volume 96M --time 20s"
_METADATA: Final = "from-mdtest --target t={here} --ranks 2"
_RINGS: Final = "rings --ranks 2 --no-peer --repetitions 6 --time 40s"
_MDTEST: Final = ("mdtest -F -u -n 1000 -W 1 -i 6 -C -T -r",)
_IOR: Final = tuple(f"ior -w -t 1m -b 32m -F -i 8 -o x {sync}" for sync in ("-Y", "-e"))

# What a CPU does for others; two threads of ours on one CPU are others to each other.
_TAKEN: Final = "waited|stolen"

CAUSES: Final = (
    Cause("quota of half a CPU", plants.half_a_cpu, _CORES, Expected("cores", _TAKEN)),
    Cause("busy process on one core", plants.busy_core, _CORES, Expected("cores", _TAKEN)),
    Cause("two ranks bound to one CPU", plants.one_cpu_for_two, _RINGS,
          Expected("messages", f"one cpu|oversub|{_TAKEN}")),
    Cause("CPUs that share a core", plants.shared_core, _CORES, Expected("cores", f"shared|{_TAKEN}")),
    Cause("small pages only", plants.small_pages, _MEMORY,
          Expected("memory", "page", {"metric": "access_time", "pages": "default", "level": "DRAM"})),
    Cause("drive throttled by a control group", plants.throttled_disk, _LONGER,
          Expected("disk writes", "limit|throttl|control group")),
    Cause("slow file system in user space", plants.slow_file_system, _BLOCKS,
          Expected("disk writes", "file system|fuse|user space")),
    Cause("file system mounted sync", plants.mounted_sync, _METADATA, Expected("metadata", "sync|journal|file system"),
          lines=_MDTEST),
    Cause("every write synced", plants.synced_writes, "from-ior --target t={here}",
          Expected("disk writes", "sync", {"access": "write", "sync": "every", "metric": "bandwidth"}),
          lines=_IOR),
    Cause("one request in flight", plants.one_in_flight, f"{_DISK} --block 8K --volume 8M --small-volume 4M",
          Expected("disk reads", "depth|in flight", {"access": "read", "queue_depth": 1, "metric": "bandwidth"})),
    Cause("4 KiB blocks", plants.small_blocks, _SWEEP,
          Expected("disk writes", "block", {"access": "write", "block_bytes": 4096, "metric": "bandwidth"})),
    Cause("MPI over TCP", plants.over_tcp, _RINGS, Expected("messages", "tcp")),
    Cause("single-copy switched off", plants.no_single_copy, _RINGS, Expected("messages", "cop(y|ies)|protocol")),
    Cause("shaped link between hosts", plants.shaped_link, "network --quick --no-peer --protocols tcp",
          Expected("network", "link")),
    Cause("slow member of four hosts", plants.slow_member, "pairs --quick --repetitions 6",
          Expected("messages", "host|node|member|slow")),
    Cause("memory of another NUMA node", plants.remote_numa, _MEMORY, Expected("memory", "numa|node")),
)  # fmt: skip
