# SPDX-License-Identifier: Apache-2.0
"""HPC Challenge beside matrix products, linear solves, STREAM, random updates, rings and ping-pong, all in one run.

It has no words: all is in ``hpccinf.txt`` of the folder it runs in, and its parts cannot be had one by one. The sizes
of all others follow from HPL's N, and HPL comes last; so what a run takes grows with N squared (RandomAccess, whose
table is the largest power of two below the matrix) and N cubed (DGEMM, HPL). A small N is all there is for a short run;
``thrifty_order`` gives the N at which a table is used best.

Each rank is one process with one thread, also of its BLAS. The numbers are hpcc's own: HPL's rate counts
2/3 N^3 + 3/2 N^2 operations as ours does; its `Star` numbers, of all ranks at once, are means over the ranks and are
multiplied by their number here; `Single` ones are of one rank while the others wait.
"""

import math
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from ullage.errors import one_line
from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.started import failure, run_to_end
from ullage.reading import read_bytes

INPUT: Final = "hpccinf.txt"
OUTPUT: Final = "hpccoutf.txt"
STREAM_KERNELS: Final = ("copy", "scale", "add", "triad")
_MICRO: Final = 1e-6
_GIGA: Final = 1e9
# In the order of its summary: key, metric as ours, order of the processes, and what makes it s or bytes/s.
# Latencies are of 8 B, bandwidths of 2,000,000 B; those of rings are of each process.
MESSAGES: Final = (
    ("MaxPingPongLatency_usec", "ping_pong_most_latency", "ping-pong", _MICRO),
    ("RandomlyOrderedRingLatency_usec", "ring_latency", "random", _MICRO),
    ("MinPingPongBandwidth_GBytes", "ping_pong_least_bandwidth", "ping-pong", _GIGA),
    ("NaturallyOrderedRingBandwidth_GBytes", "ring_bandwidth", "natural", _GIGA),
    ("RandomlyOrderedRingBandwidth_GBytes", "ring_bandwidth", "random", _GIGA),
    ("MinPingPongLatency_usec", "ping_pong_least_latency", "ping-pong", _MICRO),
    ("AvgPingPongLatency_usec", "ping_pong_latency", "ping-pong", _MICRO),
    ("MaxPingPongBandwidth_GBytes", "ping_pong_most_bandwidth", "ping-pong", _GIGA),
    ("AvgPingPongBandwidth_GBytes", "ping_pong_bandwidth", "ping-pong", _GIGA),
    ("NaturallyOrderedRingLatency_usec", "ring_latency", "natural", _MICRO),
)
# hpcc states its version only in its results.
_VERSION: Final = "(version stated in its results)"
_MPIEXEC: Final = ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec")
_DOUBLE: Final = 8
_LEAST_ORDER: Final = 64
_SUMMARY: Final = re.compile(r"^Begin of Summary section\.$(.*?)^End of Summary section\.$", re.MULTILINE | re.DOTALL)
_RESIDUAL: Final = re.compile(r"^\|\|Ax-b\|\|_oo/\(.*\)=\s*\S+\s*\.+\s*(PASSED|FAILED)", re.MULTILINE)
# These are seconds on a core of 2022 at 3.7 GHz: of an update, with all six parts of RandomAccess; of an operation of
# HPL and the two DGEMMs, taken slow.
_UPDATES_S: Final = 1.6e-6
_OPERATION_S: Final = 1 / 2e10
_START_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class HpccJob:
    """HPL's ``order`` N, ``block`` NB and grid of processes.

    ``core``: a word of OPENBLAS_CORETYPE; empty: the library's own choice. ``settings``: further ones of the MPI, by
    environment variable. ``places``: words of its mpiexec that place the ranks on hosts, one of which is this; empty:
    all are here. ``PeerError`` for what HPL refuses.
    """

    order: int
    rows: int = 1
    columns: int = 1
    block: int = 192
    core: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.order < _LEAST_ORDER:
            raise PeerError(f"hpcc: an order of {self.order} is too small; {_LEAST_ORDER} or more")
        if min(self.rows, self.columns, self.block) < 1:
            raise PeerError("hpcc: rows, columns and block are 1 or more")

    @property
    def ranks(self) -> int:
        """Processes, one a core."""
        return self.rows * self.columns


@dataclass(frozen=True, slots=True)
class HpccAnswer:
    """The rates a second that hpcc printed, of all ranks together. ``alone``: of one while the others wait.

    ``updates`` are of a table over all ranks. ``messages``, by order and metric of ``MESSAGES``, are None for one rank
    or where one of them is missing.
    """

    version: str
    solve: float
    products: float
    product_alone: float
    stream: dict[str, float]
    stream_alone: dict[str, float]
    updates: float
    messages: Mapping[tuple[str, str], float] | None = None


def installed() -> Installed | None:
    """Return the hpcc of the PATH, or None when there is none."""
    path = shutil.which("hpcc")
    return None if path is None else Installed(Path(path), _VERSION)


def grid(ranks: int) -> tuple[int, int]:
    """Return rows and columns of processes, as square as can be and wider than high, as HPL's guide advises."""
    rows = next(count for count in range(math.isqrt(ranks), 0, -1) if ranks % count == 0)
    return rows, ranks // rows


def thrifty_order(most: int, ranks: int = 1) -> int:
    """Return the largest N at which a rank's share of the matrix makes half the table of updates of ``most``.

    A run at it takes half as long as one of a few more. Return ``most`` where this N is below three quarters of it.
    """
    share = most * most * _DOUBLE // ranks
    below = math.isqrt((1 << (share.bit_length() - 1)) * ranks // _DOUBLE - 1)
    return below if below >= 0.75 * most else most


def expected_s(job: HpccJob) -> float:
    """Estimate how many seconds a run takes; the estimate serves until a run was seen."""
    share = job.order * job.order * _DOUBLE // job.ranks
    table = 1 << (share.bit_length() - 1)
    operations = (2 / 3 + 4 / 3**1.5) * job.order**3 / job.ranks
    return _START_S + _UPDATES_S * (table // _DOUBLE) + _OPERATION_S * operations


def hpcc_input(job: HpccJob) -> str:
    """Write ``hpccinf.txt``: HPL's input as Debian's example has it, with the job's N, NB and grid."""
    form = resources.files("ullage.peers").joinpath(f"{INPUT}.in").read_text(encoding="ascii")
    return form.format(job=job)


def hpcc_command(program: Installed, job: HpccJob) -> list[str]:
    """Return the words that run ``job``; raise ``PeerError`` when several ranks have no mpiexec."""
    if job.ranks == 1:
        return [str(program.path)]
    mpiexec = next((found for name in _MPIEXEC if (found := shutil.which(name))), None)
    if mpiexec is None:
        raise PeerError(f"hpcc: no mpiexec for {job.ranks} ranks (looked for {', '.join(_MPIEXEC)})")
    return [mpiexec, *job.places, "-n", str(job.ranks), str(program.path)]


def hpcc_environment(job: HpccJob) -> dict[str, str]:
    """Return variables to set: one thread a rank, the BLAS's kernels, and what Open MPI asks of root."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
    core = {"OPENBLAS_CORETYPE": job.core} if job.core else {}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    # The caller decides whether there are more ranks than cores.
    return {**threads, **core, **root, "OMPI_MCA_rmaps_base_oversubscribe": "1", **dict(job.settings)}


def run_hpcc(program: Installed, job: HpccJob, *, limit_s: float = 600.0) -> HpccAnswer:
    """Do ``job`` in a temporary folder; raise ``PeerError`` when it fails, takes too long or gives no number."""
    with tempfile.TemporaryDirectory(prefix="ullage-hpcc-") as scratch:
        folder = Path(scratch)
        (folder / INPUT).write_text(hpcc_input(job), encoding="ascii")
        ended = run_to_end(hpcc_command(program, job), folder, hpcc_environment(job), limit_s)
        try:
            text = read_bytes(folder / OUTPUT).decode("utf-8", "replace")
        except OSError:
            text = ""
    if ended.code != 0 or _SUMMARY.search(text) is None:
        raise failure("hpcc", f"exit code {ended.code}", f"{ended.err}\n{ended.out}")
    return parse_answer(text, job)


def parse_answer(text: str, job: HpccJob) -> HpccAnswer:
    """Read ``hpccoutf.txt``; raise ``PeerError`` when it is of another job, has failed or lacks a number."""
    found = _SUMMARY.search(text)
    if found is None:
        raise PeerError("hpcc's answer has no summary")
    said = _Summary(dict(line.split("=", 1) for line in found.group(1).splitlines() if "=" in line))
    said.expect("CommWorldProcs", job.ranks, "its mpiexec is of another MPI")
    said.expect("HPL_N", job.order, "HPL did not run")
    said.expect("Success", 1, "a part of it failed")
    residual = _RESIDUAL.search(text)
    if residual is None or residual.group(1) != "PASSED":
        raise PeerError("hpcc's HPL failed its residual check")
    ranks = job.ranks
    return HpccAnswer(
        version=".".join(said.word(f"Version{part}") for part in ("Major", "Minor", "Micro")),
        solve=said.number("HPL_Tflops") * 1e12,
        products=said.number("StarDGEMM_Gflops") * 1e9 * ranks,
        product_alone=said.number("SingleDGEMM_Gflops") * 1e9,
        stream={name: said.number(f"StarSTREAM_{name.title()}") * 1e9 * ranks for name in STREAM_KERNELS},
        stream_alone={name: said.number(f"SingleSTREAM_{name.title()}") * 1e9 for name in STREAM_KERNELS},
        updates=said.number("MPIRandomAccess_GUPs") * 1e9,
        messages=_messages(said) if ranks > 1 else None,
    )


def _messages(said: "_Summary") -> dict[tuple[str, str], float] | None:
    if any(key not in said.fields for key, *_ in MESSAGES):
        return None
    return {(order, metric): said.number(key) * unit for key, metric, order, unit in MESSAGES}


@dataclass(frozen=True, slots=True)
class _Summary:
    fields: dict[str, str]

    def word(self, name: str) -> str:
        if name not in self.fields:
            raise PeerError(f"hpcc's summary has no '{name}'")
        return self.fields[name].strip()

    def number(self, name: str) -> float:
        """Return a positive and finite number, or raise ``PeerError``: hpcc writes -1 for what it has not measured."""
        try:
            value = float(self.word(name))
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise PeerError(f"hpcc's summary has '{name}={one_line(self.word(name), 40)}', which is no number of it")
        return value

    def expect(self, name: str, value: int, otherwise: str) -> None:
        if self.word(name) != str(value):
            raise PeerError(f"hpcc says {name}={one_line(self.word(name), 40)} and not {value}: {otherwise}")


PEER = PeerTool(
    "hpcc",
    "HPC Challenge: HPL, DGEMM, STREAM, RandomAccess, rings and others",
    "linear solves (HPL), matrix products, STREAM's kernels, random updates: rates of one core and of all; "
    "rings and ping-pong of as many processes",
    installed,
)
