# SPDX-License-Identifier: Apache-2.0
"""Logs of Darshan 3.0 to 3.5, of machines of either byte order: records of each module, a piece at a time.

Our own reader, because libdarshan-util refuses logs with room behind their header, and a damaged one would end us.
"""

import bz2
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from ullage.arrays import np
from ullage.importers.rows import RefusedError

if TYPE_CHECKING:
    from ullage.arrays import NDArray

_MAGIC: Final = 6567223
_NEWER: Final = {"H5D": "3.20", "PNETCDF_VAR": "3.41"}
_KNOWN: Final = ("3.00", "3.10", "3.20", "3.21", "3.41")
_PLAIN: Final = 2
_ZLIB: Final = type(zlib.decompressobj())
_CHUNK: Final = 1 << 18
_AT_ONCE: Final = 2048
_OF_STACKS: Final = 16
_LARGEST: Final = 1e40
_MOST_AT_ONCE: Final = 1 << 28
TRACES: Final = ("DXT_POSIX", "DXT_MPIIO")
_SEGMENT: Final = (("offset", "i8"), ("length", "i8"), ("begin", "f8"), ("end", "f8"))
# What these say, the records of other modules say too.
_SAID_ELSEWHERE: Final = ("LUSTRE", "HEATMAP", "H5F", "PNETCDF_FILE")
_WHOLE: Final = "give the whole log, as Darshan has written it"


def _names(text: str) -> tuple[str, ...]:
    """Return names of counters: ``@`` stands for ranges of sizes, ``NAME*4`` for four or another number of them."""
    found: list[str] = []
    for word in text.split():
        name, _, count = word.partition("*")
        if name.startswith("@"):
            found += [f"SIZE_{access}_{size}" for access in ("READ", "WRITE") for size in SIZES]
        else:
            found += [f"{name}{index + 1}" for index in range(int(count))] if count else [name]
    return tuple(found)


_MODULES: Final = _names(
    "NULL POSIX MPI-IO H5F H5D PNETCDF_FILE PNETCDF_VAR BG/Q LUSTRE STDIO DXT_POSIX DXT_MPIIO MDHIM APXC APMPI HEATMAP"
    " DFS DAOS"
)
SIZES: Final = _names("0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS")
BOUNDS: Final = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
"""The most bytes of an operation in each range of sizes but the last."""


_RANKS: Final = "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES"
_COMMON: Final = f"MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE @ {{}}SIZE*4 COUNT*4 {{}}{_RANKS}"
_TIMES: Final = (
    "OPEN_START READ_START WRITE_START CLOSE_START OPEN_END READ_END WRITE_END CLOSE_END READ_TIME WRITE_TIME META_TIME"
    " MAX_READ_TIME MAX_WRITE_TIME FASTEST_RANK_TIME SLOWEST_RANK_TIME VARIANCE_RANK_TIME VARIANCE_RANK_BYTES"
)
_SHORT_TIMES: Final = " ".join(_TIMES.split()[:-2])


class _Form(NamedTuple):
    """Of one module: the latest version, names of whole numbers and of times, bytes before and behind them.

    ``lacking``: names that versions up to a number do not have. ``older``: such that these alone have, behind a name.
    """

    version: int
    counters: str
    times: str = _TIMES
    before: int = 0
    behind: int = 0
    lacking: tuple[tuple[int, str], ...] = ()
    older: tuple[int, str, str] = (0, "", "")


_FORMS: Final = {
    "POSIX": _Form(
        4,
        "OPENS FILENOS DUPS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS RENAME_SOURCES RENAME_TARGETS RENAMED_FROM"
        " MODE BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES"
        " RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT "
        + _COMMON.format("STRIDE*4 STRIDE_COUNT*4 ", ""),
        lacking=((3, "FILENOS DUPS RENAME_SOURCES RENAME_TARGETS RENAMED_FROM"), (2, "CLOSE_START OPEN_END")),
        older=(1, "MMAPS", "STDIO*4"),
    ),
    "MPI-IO": _Form(
        3,
        "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES NB_READS"
        " NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN RW_SWITCHES " + _COMMON.format("", ""),
        lacking=((2, "CLOSE_START OPEN_END"),),
    ),
    "STDIO": _Form(
        2,
        "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN " + _RANKS,
        "META_TIME WRITE_TIME READ_TIME OPEN_START CLOSE_START WRITE_START READ_START OPEN_END CLOSE_END WRITE_END"
        " READ_END FASTEST_RANK_TIME SLOWEST_RANK_TIME VARIANCE_RANK_TIME VARIANCE_RANK_BYTES",
        lacking=((1, "FDOPENS"),),
    ),
    "H5D": _Form(
        2,
        "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES SELECTS*3 MAX_READ_TIME_SIZE"
        f" MAX_WRITE_TIME_SIZE @ ACCESS*44 COUNT*4 SHAPE*8 COLLECTIVE DEPRECATED {_RANKS}",
        before=8,
    ),
    "PNETCDF_VAR": _Form(
        1,
        "OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES BYTES_READ BYTES_WRITTEN RW_SWITCHES"
        f" CALLS*32 MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE @ ACCESS*44 COUNT*4 SHAPE*4 {_RANKS}",
        before=8,
    ),
    "DFS": _Form(
        1,
        "OPENS GLOBAL_OPENS LOOKUPS DUPS READS READXS WRITES WRITEXS NB_READS NB_WRITES GET_SIZES PUNCHES REMOVES STATS"
        " BYTES_READ BYTES_WRITTEN RW_SWITCHES " + _COMMON.format("", "CHUNK_SIZE "),
        _SHORT_TIMES,
        behind=32,
    ),
    "DAOS": _Form(
        1,
        "OBJECTS*9 OPENS READS WRITES ARRAYS*5 KEYS*6 NB_OPS BYTES_READ BYTES_WRITTEN RW_SWITCHES "
        + _COMMON.format("", "OBJECT*3 "),
        _SHORT_TIMES,
        behind=48,
    ),
}


@dataclass(frozen=True)
class Records:
    """Some records of one module: the file and rank of each (-1: all ranks), and its numbers by name."""

    files: "NDArray[np.uint64]"
    ranks: "NDArray[np.int64]"
    numbers: "dict[str, NDArray[np.int64] | NDArray[np.float64]]"


@dataclass(frozen=True, slots=True)
class Traced:
    """Transfers of one rank on one file, in the order in which they began."""

    file: int
    rank: int
    access: str
    offsets: "NDArray[np.int64]"
    lengths: "NDArray[np.int64]"


@dataclass(frozen=True, slots=True)
class _Region:
    offset: int
    length: int
    version: int


@dataclass(frozen=True, slots=True)
class Job:
    """What a log says of the job."""

    ranks: int
    seconds: float
    program: str


@dataclass
class Log:
    """An open log, made by ``read``. All methods raise ``RefusedError`` for a file that is no log, or a damaged one."""

    stream: IO[bytes]
    version: str
    order: str
    packing: int
    partial: list[str]
    regions: dict[str, _Region]
    job: Job = field(default_factory=lambda: Job(0, 0.0, ""))

    @staticmethod
    def read(stream: IO[bytes]) -> "Log":
        """Read the header and what the log says of the job."""
        head = stream.read(16)
        version = head[:4].decode("latin-1")
        if version not in _KNOWN:
            right = f"one of the formats {', '.join(_KNOWN)}: darshan-convert makes such"
            raise RefusedError(f"has the format {version!r} of Darshan, which is not read", right=right)
        order = next((sign for sign in "<>" if head[8:] == struct.pack(f"{sign}q", _MAGIC)), "")
        places, flags = (64, "Q") if version >= "3.41" else (16, "I")
        form = struct.Struct(f"{order}B{7 if flags == 'Q' else 3}x{flags}{2 + 2 * places}Q{places}I")
        rest = stream.read(form.size)
        if not order or len(rest) < form.size:
            raise RefusedError("is damaged: its header is no Darshan's", right=_WHOLE)
        packing, partial, *numbers = form.unpack(rest)
        names = [name for name in _MODULES if version >= _NEWER.get(name, "")]
        versions = numbers[2 + 2 * places :]
        regions = {
            name: _Region(numbers[2 + 2 * index], numbers[3 + 2 * index], versions[index])
            for index, name in enumerate(names[:places])
            if numbers[3 + 2 * index]
        }
        cut = [name for index, name in enumerate(names[:places]) if partial >> index & 1]
        log = Log(stream, version, order, packing, cut, regions)
        ends = [offset for offset in (numbers[0], *(one.offset for one in regions.values())) if offset]
        begin = 16 + form.size
        log.job = log._read_job(begin, min(ends, default=_CHUNK + begin))
        return log

    def _read_job(self, begin: int, end: int) -> Job:
        # Some runtimes leave room behind the header.
        self.stream.seek(begin)
        packed = self.stream.read(min(end - begin, _CHUNK) if end > begin else 0)
        gap = len(packed) - len(packed.lstrip(b"\0")) if self.packing != _PLAIN else 0
        text = b"".join(self._unpacked(_Region(begin + gap, len(packed) - gap, 0)))
        fine = self.version >= "3.41"
        form = struct.Struct(f"{self.order}{7 if fine else 5}q1024x")
        if len(text) < form.size:
            raise RefusedError("is damaged: it says nothing of the job", right=_WHOLE)
        numbers = form.unpack_from(text)
        if fine:
            _, begun, begun_ns, ended, ended_ns, ranks, _ = numbers
            seconds = ended - begun + (ended_ns - begun_ns) / 1e9
        else:
            _, begun, ended, ranks, _ = numbers
            seconds = ended - begun + 1.0
        if ranks < 1 or not 0 <= seconds < 1e9:
            raise RefusedError(f"is damaged: a job of {ranks} ranks that took {seconds:g} s", right=_WHOLE)
        program = text[form.size :].partition(b"\n")[0].rstrip(b"\0").decode("utf-8", "replace")
        return Job(ranks, seconds, program.strip())

    @property
    def unread(self) -> list[str]:
        """The modules of the log whose numbers are not read here."""
        return [name for name in self.regions if name not in (*_FORMS, *_SAID_ELSEWHERE, *TRACES)]

    def traces(self) -> Iterator[Traced]:
        """Yield what extended tracing (DXT) has kept of the lowest interface that it has traced."""
        region = next((self.regions[name] for name in TRACES if name in self.regions), None)
        if region is None:
            return
        form = struct.Struct(f"{self.order}Qqq64x2q")
        segment = np.dtype([(name, f"{self.order}{kind}") for name, kind in _SEGMENT])
        content = _Content(self._unpacked(region))
        while head := content.take(form.size, may_end=True):
            file, rank, _, *counts = form.unpack(head)
            if min(counts) < 0 or not 0 <= rank < self.job.ranks:
                raise RefusedError("is damaged: it has a trace that cannot be", right=_WHOLE)
            for access, count in zip(("write", "read"), counts, strict=True):
                found = np.frombuffer(content.take(count * segment.itemsize), segment)
                order = np.argsort(found["begin"], kind="stable")
                offsets, lengths = (found[name].astype(np.int64)[order] for name in ("offset", "length"))
                if count:
                    yield Traced(file, rank, access, offsets, lengths)

    def _unpacked(self, region: _Region) -> Iterator[bytes]:
        """Yield the content of a region, which may be packed in several pieces, one behind the other."""
        self.stream.seek(region.offset)
        left, packed, is_full = region.length, b"", False
        piece: bz2.BZ2Decompressor | zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]
        while True:
            if not packed and not is_full:
                packed = self.stream.read(max(0, min(left, _CHUNK)))
                left -= len(packed)
                if not packed:
                    break
            if self.packing == _PLAIN:
                yield packed
                packed = b""
                continue
            piece = piece or (zlib.decompressobj() if self.packing == 0 else bz2.BZ2Decompressor())
            try:
                content = piece.decompress(packed, _CHUNK)
            except (OSError, EOFError, ValueError, zlib.error) as error:
                raise RefusedError(f"is damaged: {error}", right=_WHOLE) from error
            yield content
            is_full = len(content) == _CHUNK and not piece.eof
            packed = piece.unconsumed_tail if isinstance(piece, _ZLIB) else b""
            if piece.eof:
                packed, piece = piece.unused_data.lstrip(b"\0"), None
        if piece is not None or left > 0:
            raise RefusedError("is damaged: it is cut off", right=_WHOLE)

    def records(self, module: str) -> Iterator[Records]:
        """Yield the records of a module that ``_FORMS`` knows, some at a time; none where the log has none."""
        region = self.regions.get(module)
        if region is None:
            return
        form = _FORMS[module]
        if not 1 <= region.version <= form.version:
            raise RefusedError(f"has version {region.version} of {module}, which is not read", right=_WHOLE)
        counters, times = columns_of(module, region.version)
        before = form.before if module != "H5D" or region.version > 1 else 0
        sign = self.order
        size = 16 + before + 8 * (len(counters) + len(times)) + form.behind
        length = sum(map(len, self._unpacked(region)))
        # Runtimes that keep stacks, too, have written more behind each record.
        more = next((more for more in (0, _OF_STACKS) if length % (size + more) == 0), None)
        if more is None:
            raise RefusedError(f"is damaged: its records of {module} are cut off", right=_WHOLE)
        of_record = np.dtype(
            [
                ("file", f"{sign}u8"),
                ("rank", f"{sign}i8"),
                ("before", f"V{before}"),
                ("counters", f"{sign}i8", (len(counters),)),
                ("times", f"{sign}f8", (len(times),)),
                ("behind", f"V{form.behind + more}"),
            ]
        )
        content = _Content(self._unpacked(region))
        while some := content.some(of_record.itemsize):
            found = np.frombuffer(some, of_record)
            numbers = found["counters"].astype(np.int64)
            seconds = found["times"].astype(np.float64)
            ranks = found["rank"].astype(np.int64)
            is_sound = np.isfinite(seconds).all() and np.abs(seconds).max(initial=0) < _LARGEST
            if not is_sound or ranks.min() < -1 or ranks.max() >= self.job.ranks:
                raise RefusedError(f"is damaged: it has numbers of {module} that cannot be", right=_WHOLE)
            by_name = {name: numbers[:, index] for index, name in enumerate(counters)}
            by_time = {name: seconds[:, index] for index, name in enumerate(times)}
            yield Records(found["file"].astype(np.uint64), ranks, {**by_name, **by_time})


class _Content:
    """What pieces are together, to be taken in parts."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest, self._at = pieces, b"", 0

    def _fill(self, length: int) -> bool:
        if len(self._rest) - self._at >= length:
            return True
        if not 0 <= length <= _MOST_AT_ONCE:
            raise RefusedError("is damaged: a record of it is too long", right=_WHOLE)
        found = [self._rest[self._at :]]
        have = len(found[0])
        while have < length and (piece := next(self._pieces, None)) is not None:
            found.append(piece)
            have += len(piece)
        self._rest, self._at = b"".join(found), 0
        return have >= length

    def take(self, length: int, *, may_end: bool = False) -> bytes:
        """Return the next ``length`` bytes; none at the end of all, where that ``may_end`` here."""
        if not self._fill(length):
            if may_end and not self._rest:
                return b""
            raise RefusedError("is damaged: its last record is cut off", right=_WHOLE)
        self._at += length
        return self._rest[self._at - length : self._at]

    def some(self, size: int) -> bytes:
        """Return some records of ``size`` bytes; none at the end."""
        self._fill(size * _AT_ONCE)
        whole = (len(self._rest) - self._at) // size
        return self.take(min(whole, _AT_ONCE) * size) if whole else self.take(size, may_end=True)


def columns_of(module: str, version: int) -> tuple[list[str], list[str]]:
    """Return the names of the whole numbers and of the times in a record, in their order."""
    form = _FORMS[module]
    missing = {name for up_to, names in form.lacking if version <= up_to for name in names.split()}
    counters = [name for name in _names(form.counters) if name not in missing]
    up_to, behind, names = form.older
    if version <= up_to:
        place = counters.index(behind) + 1
        counters[place:place] = _names(names)
    return counters, [name for name in form.times.split() if name not in missing]
