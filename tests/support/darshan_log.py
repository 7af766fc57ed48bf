# SPDX-License-Identifier: Apache-2.0
"""Small logs of Darshan 3.41, made by hand: a header, the job, names, and records of modules."""

import struct
import zlib
from collections.abc import Mapping, Sequence

from ullage.importers.darshan import log

_PLACES = 64
_MODULES = {"POSIX": (1, 4), "MPI-IO": (2, 3), "STDIO": (9, 2), "DXT_POSIX": (10, 1)}
Record = Mapping[str, float]
Segment = tuple[int, int, float]


def record(module: str, file: int, rank: int, numbers: Record, sign: str = "<") -> bytes:
    """Return a record of the latest version; what is not in ``numbers`` is 0."""
    counters, times = log.columns_of(module, _MODULES[module][1])
    whole = [int(numbers.get(name, 0)) for name in counters]
    seconds = [float(numbers.get(name, 0)) for name in times]
    return struct.pack(f"{sign}Qq{len(whole)}q{len(seconds)}d", file, rank, *whole, *seconds)


def trace(file: int, rank: int, writes: Sequence[Segment], reads: Sequence[Segment] = (), sign: str = "<") -> bytes:
    """Return a record of DXT with these transfers: place, length, when it began."""
    found = [struct.pack(f"{sign}2q2d", *one, one[2] + 0.5) for one in (*writes, *reads)]
    return struct.pack(f"{sign}Qqq64x2q", file, rank, 0, len(writes), len(reads)) + b"".join(found)


def made(
    records: Mapping[str, Sequence[bytes]],
    *,
    ranks: int = 4,
    seconds: int = 100,
    sign: str = "<",
    gap: int = 0,
    names: Mapping[int, str] | None = None,
) -> bytes:
    """Return a log. ``gap``: room behind the header, as some runtimes leave it."""
    job = struct.pack(f"{sign}7q1024x", 1, 1000, 0, 1000 + seconds, 0, ranks, 7)
    job += b"/opt/app --now\nlustre\t/scratch\next4\t/\n"
    paths = b"".join(struct.pack(f"{sign}Q", file) + path.encode() + b"\0" for file, path in (names or {}).items())
    parts = [zlib.compress(job), zlib.compress(paths)]
    head = 8 + 8 + 8 + 8 + 16 * (1 + _PLACES) + 4 * _PLACES
    place = head + gap + len(parts[0])
    where, versions = [(place, len(parts[1]))] + [(0, 0)] * _PLACES, [0] * _PLACES
    place += len(parts[1])
    for module, found in records.items():
        index, version = _MODULES[module]
        # Each rank packs its own, so a region is several pieces.
        packed = b"".join(zlib.compress(one) for one in found)
        where[1 + index], versions[index] = (place, len(packed)), version
        parts.append(packed)
        place += len(packed)
    header = b"3.41\0\0\0\0" + struct.pack(f"{sign}qB7xQ", 6567223, 0, 0)
    header += b"".join(struct.pack(f"{sign}2Q", *one) for one in where) + struct.pack(f"{sign}{_PLACES}I", *versions)
    return header + bytes(gap) + b"".join(parts)


def transfers(access: str, count: int, size: int, *, seconds: float = 1.0, **more: float) -> dict[str, float]:
    """Return the counters of ``count`` calls of ``size`` bytes, one behind the other."""
    moved = {"write": "BYTES_WRITTEN", "read": "BYTES_READ"}[access]
    furthest = {"write": "MAX_BYTE_WRITTEN", "read": "MAX_BYTE_READ"}[access]
    place = sum(size > bound for bound in log.BOUNDS)
    name = access.upper()
    found: dict[str, float] = {
        "OPENS": 1,
        f"{name}S": count,
        moved: count * size,
        furthest: count * size - 1,
        f"SEQ_{name}S": count - 1,
        f"CONSEC_{name}S": count - 1,
        f"SIZE_{name}_{log.SIZES[place]}": count,
        "SIZE1": size,
        "COUNT1": count,
        "FILE_ALIGNMENT": 4096,
        f"{name}_START": 1.0,
        f"{name}_END": 1.0 + seconds,
        f"{name}_TIME": seconds,
        "META_TIME": 0.01,
    }
    return found | more
