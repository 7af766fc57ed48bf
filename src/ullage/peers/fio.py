# SPDX-License-Identifier: Apache-2.0
"""fio beside a transfer: the same bytes in the same blocks and order by as many processes, each with its own file.

The same as ours: a write ends with one fsync, inside its time; a read through the page cache starts with the files'
pages dropped; a random order visits every block once; latencies run from hand-over to completion.
Not the same: fio takes each process's own time and reports the longest, in whole ms, and opens its files before it. Its
buffers are ordinary pages where ours are huge ones, so a large direct block that is one request of ours is split into
several of fio's by drives that take few segments at once. Both are left as they are: it is the number people know.
"""

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, cast

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.place import file_name
from ullage.peers.started import failure, find_installed, member, number, run_to_end
from ullage.reading import parse_json

Mode = Literal["write", "read", "randwrite", "randread"]
Engine = Literal["psync", "io_uring"]

_OLDEST_MAJOR: Final = 3
_VERSION: Final = re.compile(r"\Afio-(\d+\.\S+)\s*\Z")
installed: Final = partial(find_installed, "fio", "--version", _VERSION)
# Below this the whole milliseconds that fio counts are more than 10 % of its time.
_SHORTEST_MS: Final = 10
_PERCENTILES: Final = {
    "latency_p50": "50.000000",
    "latency_p95": "95.000000",
    "latency_p99": "99.000000",
    "latency_p999": "99.900000",
}


@dataclass(frozen=True, slots=True)
class FioJob:
    """Work for fio.

    ``volume_bytes`` is of all jobs together, each with a file and an equal share; ``depth`` is of each job.
    ``PeerError`` for a job that fio would not do as it stands here.
    """

    mode: Mode
    block_bytes: int
    volume_bytes: int
    jobs: int
    depth: int
    engine: Engine
    direct: bool

    def __post_init__(self) -> None:
        if min(self.block_bytes, self.volume_bytes, self.jobs, self.depth) < 1:
            raise PeerError("fio: block, volume, jobs and depth of a job are 1 or more")
        if self.volume_bytes % (self.jobs * self.block_bytes):
            raise PeerError(
                f"fio: {self.volume_bytes} bytes are no whole number of {self.block_bytes}-byte blocks "
                f"for each of {self.jobs} jobs"
            )
        if self.engine == "psync" and self.depth > 1:
            raise PeerError(f"fio: psync has one operation in flight, not {self.depth}; io_uring has more")

    @property
    def direction(self) -> Literal["write", "read"]:
        """The direction whose half of fio's answer counts."""
        return "write" if self.mode in ("write", "randwrite") else "read"


def fio_command(program: Installed, job: FioJob) -> list[str]:
    """Return the words that run ``job`` in the folder of its files. All names are relative, so none needs escaping."""
    shared = [
        f"--rw={job.mode}",
        f"--bs={job.block_bytes}",
        f"--size={job.volume_bytes // job.jobs}",
        f"--ioengine={job.engine}",
        f"--iodepth={job.depth}",
        f"--direct={int(job.direct)}",
        "--fallocate=none",
        "--group_reporting=1",
        "--clat_percentiles=0",
        "--lat_percentiles=1",
        "--percentile_list=50:95:99:99.9",
    ]
    if job.direction == "write":
        shared.append("--end_fsync=1")
    each = [word for index in range(job.jobs) for word in (f"--name=job{index}", f"--filename={file_name(index)}")]
    return [str(program.path), "--output-format=json", *shared, *each]


def run_fio(program: Installed, job: FioJob, file_folder: Path, *, limit_s: float = 600.0) -> dict[str, float]:
    """Do ``job`` in ``file_folder`` and return values by metric name, in the units of ``ullage.analysis.metrics``.

    A write makes its files anew; a read uses what a write of the same volume and jobs has left there, and else lays the
    files out first, untimed. Whatever ends this call ends fio too. Raise ``PeerError`` when fio is too old, fails,
    takes longer than ``limit_s``, moves another number of bytes or is done too soon to be timed.
    """
    major = re.match(r"\d+", program.version)
    if major is None or int(major.group()) < _OLDEST_MAJOR:
        raise PeerError(f"fio {program.version}: fio {_OLDEST_MAJOR} or newer is understood")
    if job.direction == "write":
        for index in range(job.jobs):
            (file_folder / file_name(index)).unlink(missing_ok=True)
    ended = run_to_end(fio_command(program, job), file_folder, {}, limit_s)
    # fio prints its notes before the document.
    start = re.search(r"^\{", ended.out, re.MULTILINE)
    try:
        document = parse_json(ended.out[start.start() :]) if start else None
    except ValueError:
        document = None
    jobs = member(document, "jobs")
    first = cast("list[object]", jobs)[0] if isinstance(jobs, list) and jobs else None
    error = member(first, "error")
    if ended.code != 0 or not isinstance(first, dict) or error != 0:
        reason = os.strerror(error) if isinstance(error, int) and error > 0 else f"exit code {ended.code}"
        raise failure("fio", reason, ended.err)
    return _values(cast("dict[str, object]", first), job)


def _values(first: dict[str, object], job: FioJob) -> dict[str, float]:
    side = first.get(job.direction)
    moved, runtime_ms = number("fio", side, "io_bytes"), number("fio", side, "runtime")
    if moved != job.volume_bytes:
        raise PeerError(f"fio moved {moved:.0f} of {job.volume_bytes} bytes")
    if runtime_ms < _SHORTEST_MS:
        raise PeerError(f"fio was done in {runtime_ms:.0f} ms: too short a time, of which it counts whole ms")
    latency = member(side, "lat_ns")
    percentiles = member(latency, "percentile")
    return {
        "bandwidth": number("fio", side, "bw_bytes"),
        "operation_rate": number("fio", side, "iops"),
        **{name: number("fio", percentiles, key) / 1e9 for name, key in _PERCENTILES.items()},
        "latency_max": number("fio", latency, "max") / 1e9,
    }


PEER = PeerTool(
    "fio",
    "flexible I/O tester",
    "transfers of blocks, sequential and random, a file each: bandwidth, operation rate, latency",
    installed,
)
