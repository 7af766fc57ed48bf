# SPDX-License-Identifier: Apache-2.0
"""Times of many pairs, which the engine writes into a file beside its records: how they are found and read.

The file has two parts of rows, little-endian: of each end its rank, its node (both of 4 bytes) and its host (64 bytes,
padded with zeros); then of each pair the numbers of the sender and of the receiver (4 bytes each) and the seconds of a
message one way (8 bytes).
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ullage.arrays import np
from ullage.harmless import harmless
from ullage.reading import read_bytes

if TYPE_CHECKING:
    from ullage.arrays import NDArray

TABLE: Final = "table"
"""The fact that names such a file: ``name``, ``ends`` and ``pairs``, and ``path`` once it was found."""
_END_BYTES: Final = 72
_PAIR_BYTES: Final = 16
_KEPT_IN_MEMORY: Final = 8


@dataclass(frozen=True, eq=False)
class PairTable:
    """The rows of a table: names and hosts of the ends; sender, receiver and seconds of each pair."""

    ends: tuple[str, ...]
    hosts: tuple[str, ...]
    senders: "NDArray[np.int32]"
    receivers: "NDArray[np.int32]"
    seconds: "NDArray[np.float64]"


def locate_table(facts: MutableMapping[str, object], folder: Path) -> str:
    """Add the path of the table to the fact that names it; return what is wrong with the file, or nothing.

    ``folder``: of the records. A table that is missing or has not the size it must have gets no path.
    """
    told = facts.get(TABLE)
    if not isinstance(told, dict):
        return ""
    table = cast("dict[str, object]", told)
    table.pop("path", None)
    name, size = table.get("name"), _size(table)
    if not isinstance(name, str) or Path(name).name != name or size is None:
        return "the table of its pairs has no name of a file, or no numbers of ends and pairs"
    path = folder / name
    try:
        found = path.lstat().st_size
    except OSError:
        return f"the table of its pairs, {name}, is not there"
    if found != size or not path.is_file():
        return f"the table of its pairs, {name}, has {found} bytes instead of {size}"
    table["path"] = str(path)
    return ""


def _size(table: Mapping[str, object]) -> int | None:
    ends, pairs = table.get("ends"), table.get("pairs")
    if not isinstance(ends, int) or not isinstance(pairs, int) or min(ends, pairs) < 0:
        return None
    return ends * _END_BYTES + pairs * _PAIR_BYTES


def pair_table(facts: Mapping[str, object]) -> PairTable | None:
    """Read the table that ``facts`` names; None where it names none, or it cannot be read."""
    told = facts.get(TABLE)
    if not isinstance(told, dict):
        return None
    table = cast("dict[str, object]", told)
    path, ends, pairs = table.get("path"), table.get("ends"), table.get("pairs")
    if not isinstance(path, str) or not isinstance(ends, int) or not isinstance(pairs, int):
        return None
    return _read(path, ends, pairs)


@lru_cache(maxsize=_KEPT_IN_MEMORY)
def _read(path: str, ends: int, pairs: int) -> PairTable | None:
    try:
        data = read_bytes(Path(path), ends * _END_BYTES + pairs * _PAIR_BYTES)
    except OSError:
        return None
    if len(data) != ends * _END_BYTES + pairs * _PAIR_BYTES:
        return None
    end = np.dtype([("rank", "<i4"), ("node", "<i4"), ("host", "S64")])
    pair = np.dtype([("sender", "<i4"), ("receiver", "<i4"), ("seconds", "<f8")])
    places = np.frombuffer(data, end, count=ends)
    times = np.frombuffer(data, pair, count=pairs, offset=ends * _END_BYTES)
    return PairTable(
        ends=tuple(f"node{one['node']}:rank{one['rank']}" for one in places),
        hosts=tuple(harmless(bytes(one["host"]).decode("utf-8", "replace")) for one in places),
        senders=times["sender"],
        receivers=times["receiver"],
        seconds=times["seconds"],
    )
