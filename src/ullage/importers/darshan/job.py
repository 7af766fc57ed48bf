# SPDX-License-Identifier: Apache-2.0
"""What a job did, added up over the records of its log.

Files that all ranks share have one record each, with the rank -1. They are added up apart from the files of single
ranks.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, cast

from ullage.arrays import np
from ullage.importers.darshan.log import BOUNDS, SIZES, Job, Log, Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ullage.arrays import NDArray

_BACKENDS: Final = {
    "POSIX": "posix",
    "STDIO": "stdio",
    "DFS": "dfs",
    "DAOS": "daos",
    "MPI-IO": "mpiio",
    "H5D": "hdf5",
    "PNETCDF_VAR": "pnetcdf",
}
_LOWEST: Final = frozenset({"posix", "stdio", "dfs", "daos"})
ACCESSES: Final = ("write", "read")
SMALL: Final = BOUNDS[3]
"""Operations of at most this many bytes are small: the largest range of Darshan's below a MiB ends there."""
_NOT_SUMMED: Final = re.compile(
    r"MODE|(MEM|FILE)_ALIGNMENT|RENAMED_FROM|MAX_.*|.*_(START|END)|(SIZE|COUNT|STRIDE|STRIDE_COUNT|ACCESS|SHAPE)\d+"
    r"|FASTEST_.*|SLOWEST_RANK(_BYTES)?"
)
# The counters of calls that read or write.
_CALLS: Final = {"mpiio": "INDEP_ COLL_ SPLIT_ NB_", "pnetcdf": "INDEP_ COLL_ NB_"}
_NAME_CALLS: Final = [
    "OPENS",
    "INDEP_OPENS",
    "COLL_OPENS",
    "STATS",
    "SEEKS",
    "FSYNCS",
    "FDSYNCS",
    "SYNCS",
    "FLUSHES",
    "LOOKUPS",
    "REMOVES",
]


@dataclass
class Group:
    """What ranks did by one interface (``backend``), to files that all share or to those of single ranks.

    ``sums``: counters and times by Darshan's names. ``sizes`` and ``strides``: the most common ones, with their counts.
    ``files``: bytes read and the extent of each. ``ranks``: bytes and seconds of each rank, of its own files.
    """

    backend: str
    is_shared: bool
    sums: Counter[str] = field(default_factory=Counter[str])
    sizes: Counter[int] = field(default_factory=Counter[int])
    strides: Counter[int] = field(default_factory=Counter[int])
    files: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    ranks: dict[int, tuple[int, float]] = field(default_factory=dict[int, tuple[int, float]])
    alignment: int = 0

    @property
    def file_mode(self) -> str:
        """Whose its files are, in the word of our kernels."""
        return "shared" if self.is_shared else "per-process"

    @property
    def is_synced(self) -> bool:
        """Whether some of its files were synced."""
        return self.sums["FSYNCS"] + self.sums["FDSYNCS"] > 0

    def operations(self, access: str = "") -> int:
        """Return the calls that write or read, or both."""
        parts = _CALLS[self.backend].split(" ") if self.backend in _CALLS else [""]
        extra = ["X"] if self.backend == "dfs" else []
        names = [f"{part}{one.upper()}" for one in _which(access) for part in parts]
        return int(sum(self.sums[f"{name}{end}S"] for name in names for end in ("", *extra)))

    def moved(self, access: str = "") -> int:
        """Return the bytes written or read, or both."""
        return int(sum(self.sums["BYTES_WRITTEN" if one == "write" else "BYTES_READ"] for one in _which(access)))

    def seconds(self, access: str = "") -> float:
        """Return the time in calls that write or read, or both, added up over the ranks."""
        return float(sum(self.sums[f"{one.upper()}_TIME"] for one in _which(access)))

    @property
    def all_seconds(self) -> float:
        """The time in all calls, added up over the ranks."""
        return self.seconds() + float(self.sums["META_TIME"])

    def histogram(self, access: str) -> list[int]:
        """Return the operations in each range of ``SIZES``."""
        return [int(self.sums[f"SIZE_{access.upper()}_{size}"]) for size in SIZES]

    def small(self, access: str = "") -> int:
        """Return the operations of at most ``SMALL`` bytes."""
        ranges = BOUNDS.index(SMALL) + 1
        return sum(sum(self.histogram(one)[:ranges]) for one in _which(access))

    def share(self, name: str, access: str = "") -> float:
        """Return the share of the operations that Darshan counts as ``SEQ`` (further on) or ``CONSEC`` (the next)."""
        operations = self.operations(access)
        found = sum(self.sums[f"{name}_{one.upper()}S"] for one in _which(access))
        return min(1.0, float(found) / operations) if operations else 0.0

    @property
    def names(self) -> int:
        """The operations on names and open files that move no data."""
        return int(sum(self.sums[name] for name in _NAME_CALLS))

    @property
    def redundant(self) -> int:
        """The bytes read beyond the extents of the files."""
        return sum(max(0, read - extent) for read, extent in self.files.values())

    def add(self, some: Records, chosen: "NDArray[np.bool_]") -> None:
        """Add the ``chosen`` ones of some records."""
        numbers = {name: values[chosen] for name, values in some.numbers.items()}
        for name, values in numbers.items():
            if _NOT_SUMMED.fullmatch(name) is None:
                self.sums[name] += np.maximum(values, 0).sum().item()
        for found, value, count in ((self.sizes, "SIZE", "COUNT"), (self.strides, "STRIDE", "STRIDE_COUNT")):
            for index in range(1, 5) if f"{value}1" in numbers else ():
                pairs = zip(numbers[f"{value}{index}"].tolist(), numbers[f"{count}{index}"].tolist(), strict=True)
                for size, times in pairs:
                    if times > 0:
                        found[int(size)] += int(times)
        self.alignment = max(self.alignment, int(numbers.get("FILE_ALIGNMENT", np.zeros(1)).max(initial=0)))
        self._add_files(some.files[chosen].tolist(), some.ranks[chosen].tolist(), numbers)

    def _add_files(
        self, files: list[int], ranks: list[int], numbers: "dict[str, NDArray[np.int64] | NDArray[np.float64]]"
    ) -> None:
        nothing = np.zeros(len(files), np.int64)
        read, written = numbers["BYTES_READ"], numbers["BYTES_WRITTEN"]
        ends = np.maximum(numbers.get("MAX_BYTE_READ", read - 1), numbers.get("MAX_BYTE_WRITTEN", nothing)) + 1
        times = sum((numbers[f"{name}_TIME"] for name in ("READ", "WRITE", "META")), np.zeros(len(files)))
        rows = zip(files, ranks, read.tolist(), (read + written).tolist(), ends.tolist(), times.tolist(), strict=True)
        for file, rank, got, moved, end, seconds in cast("Iterator[tuple[int, int, int, int, int, float]]", rows):
            before, extent = self.files.get(file, (0, 0))
            self.files[file] = (before + max(0, got), max(extent, end))
            if rank >= 0:
                of_rank = self.ranks.get(rank, (0, 0.0))
                self.ranks[rank] = (of_rank[0] + moved, of_rank[1] + seconds)


def _which(access: str) -> tuple[str, ...]:
    return (access,) if access else ACCESSES


@dataclass
class Facts:
    """What a log says. ``partial``: modules that lack records. ``unread``: such whose numbers are not read.

    ``traced``: the writes and reads of which it has each.
    """

    job: Job
    partial: list[str]
    unread: list[str]
    groups: list[Group]
    traced: Counter[str] = field(default_factory=Counter[str])

    @property
    def lowest(self) -> list[Group]:
        """The groups whose bytes count."""
        return [group for group in self.groups if group.backend in _LOWEST]

    @property
    def waited(self) -> float:
        """The seconds of I/O of the rank that had most, as Darshan's own tools have it."""
        shared = sum(float(group.sums["SLOWEST_RANK_TIME"]) for group in self.lowest if group.is_shared)
        return shared + max((seconds for _, seconds in self.of_ranks.values()), default=0.0)

    @property
    def of_ranks(self) -> dict[int, tuple[int, float]]:
        """The bytes and seconds of each rank in files of its own."""
        found: dict[int, tuple[int, float]] = {}
        for group in self.lowest:
            for rank, (moved, seconds) in group.ranks.items():
                before = found.get(rank, (0, 0.0))
                found[rank] = (before[0] + moved, before[1] + seconds)
        return found

    def ranks_of(self, group: Group) -> int:
        """Return how many ranks a group's files were used by."""
        return self.job.ranks if group.is_shared else len(group.ranks)

    @property
    def mean_wait(self) -> float:
        """The seconds of I/O of a rank, on average."""
        return sum(group.all_seconds for group in self.lowest) / self.job.ranks


def read_facts(stream: IO[bytes]) -> Facts:
    """Read a whole log; raise ``RefusedError`` for what cannot be."""
    log = Log.read(stream)
    groups: dict[tuple[str, bool], Group] = {}
    for module, backend in _BACKENDS.items():
        for some in log.records(module):
            for is_shared in (False, True):
                chosen = (some.ranks < 0) == is_shared
                if chosen.any():
                    groups.setdefault((backend, is_shared), Group(backend, is_shared)).add(some, chosen)
    traced = Counter[str]()
    for one in log.traces():
        traced[one.access] += len(one.offsets)
    return Facts(log.job, log.partial, log.unread, list(groups.values()), traced)
