# SPDX-License-Identifier: Apache-2.0
"""What a result has of HPC Challenge's numbers, by the names of its summary section, for scripts that read that.

Only numbers that are measured by the same definition stand here; what was not measured is left out, as hpcc leaves
nothing out but writes -1.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ullage.analysis.settings import select
from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.model.summary import Row
from ullage.peers.hpcc import MESSAGES, STREAM_KERNELS
from ullage.report.data import ReportData
from ullage.report.view import best_of
from ullage.suites.rings.findings import best_solve, find_row

_GIGA: Final = 1e-9
_TERA: Final = 1e-12
Pair = tuple[str, str]


def render(data: ReportData) -> str:
    """Write a summary section; raise ``UserError`` for a result without any of its numbers."""
    rows = data.summary.rows
    pairs = [*_solve(rows), *_products(rows), *_streams(rows), *_rings(rows)]
    if not pairs:
        what = "the result contains no number that HPC Challenge has too"
        raise UserError(what, "--format hpcc", "run the suites rings, cpu or memory; --format csv takes every result")
    lines = [f"{key}={value}" for key, value in pairs]
    return "\n".join(["Begin of Summary section.", *lines, "End of Summary section."]) + "\n"


def _rings(rows: Iterable[Row]) -> Iterator[Pair]:
    found = list(rows)
    known = [
        (key, row, unit) for key, metric, order, unit in MESSAGES if (row := find_row(found, metric, order)) is not None
    ]
    if known:
        yield "CommWorldProcs", str(known[0][1].params["ranks"])
    for key, row, unit in known:
        yield key, f"{row.median / unit:g}"


def _solve(rows: Iterable[Row]) -> Iterator[Pair]:
    """Yield HPL's rate and order, by ranks or by the threads of one process, whichever did better."""
    if (best := best_solve(rows)) is not None:
        yield "HPL_Tflops", f"{best.median * _TERA:g}"
        yield "HPL_N", str(best.params.get("n", -1))


def _products(rows: Iterable[Row]) -> Iterator[Pair]:
    """Yield the product on one core alone; hpcc's Star has a product for each core, ours has one for all."""
    best = best_of(select(rows, "compute_rate", operation="gemm", threads=1))
    if best is not None:
        yield "SingleDGEMM_Gflops", f"{best.median * _GIGA:g}"


def _streams(rows: Iterable[Row]) -> Iterator[Pair]:
    """Yield STREAM's rates for each thread: Star of all threads, Single of one alone.

    They are of ordinary stores over a set that no cache holds.
    """
    found = select(rows, "memory_bandwidth", stores="ordinary", level="DRAM", block_bytes=None, cpu_node=None)
    most = max((row.count("threads") for row in found), default=0)
    for mode, threads in (("Star", most), ("Single", 1)):
        for kernel in STREAM_KERNELS:
            best = best_of(select(found, "memory_bandwidth", threads=threads, kernel=kernel))
            if best is not None:
                yield f"{mode}STREAM_{kernel.title()}", f"{best.median / threads * _GIGA:g}"


EXPORTER: Final = Exporter("hpcc", "rings, ping-pong, STREAM and HPL under HPC Challenge's names", "", render)
