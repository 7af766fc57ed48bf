# SPDX-License-Identifier: Apache-2.0
"""Tools beside loops over memory: mbw for copies by one thread, sysbench for reads and writes. Both count MiB."""

import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from ullage.peers import Installed, PeerError, PeerTool, ToolJob
from ullage.peers.started import VERSION_S, answer, find_installed

MIB: Final = 1 << 20
Method = Literal["loop", "blocks"]
_METHODS: Final[dict[Method, tuple[str, str]]] = {"loop": ("-t1", "DUMB"), "blocks": ("-t2", "MCBLOCK")}
_BOTH_WAYS: Final = 2
# mbw does not state its version.
_NO_VERSION: Final = "(version not stated)"
_AVERAGE: Final = re.compile(r"^AVG\s+Method: (\S+)\s.*Copy: (\d+(?:\.\d+)?) MiB/s", re.MULTILINE)


def find_mbw() -> Installed | None:
    """Return the mbw of the PATH, or None when there is none or it does not know our words."""
    path = shutil.which("mbw")
    if path is None:
        return None
    try:
        usage = answer([path, "-h"], VERSION_S)
    except PeerError as error:
        # Some versions end their help with an error.
        usage = str(error)
    return Installed(Path(path), _NO_VERSION) if "array_size_in_MiB" in usage else None


MBW: Final = PeerTool(
    "mbw",
    "memory bandwidth by copies of arrays",
    "copies by one thread, in one stretch and in blocks: bandwidth",
    find_mbw,
)


@dataclass(frozen=True, slots=True)
class MbwJob(ToolJob):
    """One thread copies an array to another, by a loop over longs or by memcpy of blocks.

    It counts each byte once, where STREAM counts it read and written: its numbers are turned into bytes/s of the
    latter. Its arrays are of ordinary pages, touched once before the time. ``array_bytes``: of each of the two arrays.
    ``block_bytes``: of a memcpy, with ``blocks``. ``PeerError`` for arrays that are no whole MiB, which is all that mbw
    takes.
    """

    tool = MBW
    method: Method
    array_bytes: int
    block_bytes: int = 0
    runs: int = 5

    def __post_init__(self) -> None:
        if self.array_bytes < MIB or self.array_bytes % MIB:
            raise PeerError(f"mbw: {self.array_bytes} bytes are no whole number of MiB")
        if self.method == "blocks" and not 0 < self.block_bytes <= self.array_bytes:
            raise PeerError(f"mbw: blocks of {self.block_bytes} bytes do not fit an array of {self.array_bytes}")

    def command(self, program: Installed, _port: int, /) -> list[str]:
        blocks = ["-b", str(self.block_bytes)] if self.method == "blocks" else []
        size = str(self.array_bytes // MIB)
        return [str(program.path), "-q", "-n", str(self.runs), _METHODS[self.method][0], *blocks, size]

    def values(self, out: str) -> dict[str, float]:
        """Read mbw's average over its runs."""
        found = {match[1]: float(match[2]) for match in _AVERAGE.finditer(out)}
        one_way = found.get(_METHODS[self.method][1])
        if one_way is None or one_way <= 0:
            raise PeerError(f"mbw's answer has no average of {_METHODS[self.method][1]}")
        return {"memory_bandwidth": _BOTH_WAYS * one_way * MIB}


_SECONDS: Final = 1
# No memory moves as much in that time, so the time ends the test.
_TOTAL: Final = "100T"
_RATE: Final = re.compile(r"MiB transferred \((\d+(?:\.\d+)?) MiB/sec\)")
SYSBENCH: Final = PeerTool(
    "sysbench",
    "scriptable benchmark of a system; here its test 'memory'",
    "sequential reads and writes of memory by threads: bandwidth",
    partial(find_installed, "sysbench", "--version", re.compile(r"^sysbench (\d+\.\S+)")),
)


@dataclass(frozen=True, slots=True)
class SysbenchJob(ToolJob):
    """Each thread goes through a buffer of its own, again and again.

    Its reads and writes are of one machine word each, so it is slower than what memory gives. ``buffer_bytes``: of each
    thread. ``PeerError`` for a size that is no power of two, which sysbench refuses.
    """

    tool = SYSBENCH
    operation: Literal["read", "write"]
    buffer_bytes: int
    threads: int

    def __post_init__(self) -> None:
        if self.buffer_bytes < 8 or self.buffer_bytes & (self.buffer_bytes - 1):
            raise PeerError(f"sysbench: a buffer of {self.buffer_bytes} bytes is no power of two")
        if self.threads < 1:
            raise PeerError("sysbench: 1 thread or more")

    def command(self, program: Installed, _port: int, /) -> list[str]:
        sizes = [f"--memory-block-size={self.buffer_bytes}", f"--memory-total-size={_TOTAL}"]
        how = ["--memory-scope=local", f"--memory-oper={self.operation}", "--memory-access-mode=seq"]
        return [str(program.path), "memory", f"--threads={self.threads}", f"--time={_SECONDS}", *sizes, *how, "run"]

    def values(self, out: str) -> dict[str, float]:
        """Read the rate of its transfers."""
        found = _RATE.search(out)
        if found is None or float(found.group(1)) <= 0:
            raise PeerError("sysbench's answer has no rate of its transfers")
        return {"memory_bandwidth": float(found.group(1)) * MIB}


PEERS: Final = (MBW, SYSBENCH)
