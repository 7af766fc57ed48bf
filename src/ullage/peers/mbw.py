# SPDX-License-Identifier: Apache-2.0
"""mbw beside copies: one thread copies an array to another, by a loop over longs or by memcpy of blocks.

It counts MiB, and each byte once, where STREAM counts it read and written: its numbers are turned into bytes/s of the
latter. Its arrays are of ordinary pages, touched once before the time.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.started import VERSION_S, answer

MIB: Final = 1 << 20
Method = Literal["loop", "blocks"]
_METHODS: Final[dict[Method, tuple[str, str]]] = {"loop": ("-t1", "DUMB"), "blocks": ("-t2", "MCBLOCK")}
_BOTH_WAYS: Final = 2
# mbw does not state its version.
_VERSION: Final = "(version not stated)"
_AVERAGE: Final = re.compile(r"^AVG\s+Method: (\S+)\s.*Copy: (\d+(?:\.\d+)?) MiB/s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MbwJob:
    """Work for mbw.

    ``array_bytes``: of each of the two arrays. ``block_bytes``: of a memcpy, with ``blocks``.

    ``PeerError`` for arrays that are no whole MiB, which is all that mbw takes.
    """

    method: Method
    array_bytes: int
    block_bytes: int = 0
    runs: int = 5

    def __post_init__(self) -> None:
        if self.array_bytes < MIB or self.array_bytes % MIB:
            raise PeerError(f"mbw: {self.array_bytes} bytes are no whole number of MiB")
        if self.method == "blocks" and not 0 < self.block_bytes <= self.array_bytes:
            raise PeerError(f"mbw: blocks of {self.block_bytes} bytes do not fit an array of {self.array_bytes}")


def installed() -> Installed | None:
    """Return the mbw of the PATH, or None when there is none or it does not know our words."""
    path = shutil.which("mbw")
    if path is None:
        return None
    try:
        usage = answer([path, "-h"], VERSION_S)
    except PeerError as error:
        # Some versions end their help with an error.
        usage = str(error)
    return Installed(Path(path), _VERSION) if "array_size_in_MiB" in usage else None


def mbw_command(program: Installed, job: MbwJob) -> list[str]:
    """Return the words that run ``job``."""
    blocks = ["-b", str(job.block_bytes)] if job.method == "blocks" else []
    return [
        str(program.path),
        "-q",
        "-n",
        str(job.runs),
        _METHODS[job.method][0],
        *blocks,
        str(job.array_bytes // MIB),
    ]


def run_mbw(program: Installed, job: MbwJob, *, limit_s: float = 60.0) -> dict[str, float]:
    """Return values by metric name, of mbw's average over its runs; raise ``PeerError`` when it gives none."""
    out = answer(mbw_command(program, job), limit_s)
    found = {match[1]: float(match[2]) for match in _AVERAGE.finditer(out)}
    one_way = found.get(_METHODS[job.method][1])
    if one_way is None or one_way <= 0:
        raise PeerError(f"mbw's answer has no average of {_METHODS[job.method][1]}")
    return {"memory_bandwidth": _BOTH_WAYS * one_way * MIB}


PEER = PeerTool(
    name="mbw",
    doc="memory bandwidth by copies of arrays",
    compared_on="copies by one thread, in one stretch and in blocks: bandwidth",
    installed=installed,
)
