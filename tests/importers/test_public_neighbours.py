# SPDX-License-Identifier: Apache-2.0
"""Every public file of other programs is read with every number right, or refused in one line.

It is judged by readers that share nothing with the importers: they look for the numbers by their words alone.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from support.public_data import unpacked
from ullage.errors import UserError
from ullage.importers import read
from ullage.model.summary import Summary

MIB = 2**20
# A bandwidth or mean is right within the rounding of the line that it is compared with.
ROUNDED = 2e-3
Judge = Callable[[str], dict[str, list[float]] | None]


def ior(text: str) -> dict[str, list[float]] | None:
    """Bandwidths of the lines of repetitions, by access."""
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        if match := re.match(r"(write|read) +([\d.]+) .*\d +(\d+) +$", line):
            found.setdefault(f"bandwidth {match[1]}", []).append(float(match[2]) * MIB)
    return found or None


def mdtest(text: str) -> dict[str, list[float]] | None:
    """Means of the first table, which has the rates, by operation on files."""
    names = {"creation": "create", "stat": "stat", "read": "read", "removal": "remove"}
    table = text.partition("SUMMARY")[2].partition("SUMMARY")[0]
    found: dict[str, list[float]] = {}
    for word, values in re.findall(r"File (creation|stat|read|removal)[ :]+(.*)", table):
        if float(values.split()[2]) > 0:
            found[f"operation_rate {names[word]}"] = [float(values.split()[2])]
    return found or None


def dlio(text: str) -> dict[str, list[float]] | None:
    loaded = json.loads(text)
    if "runs" in loaded:
        runs = loaded["runs"].values()
        return {
            "bandwidth read": [run["train_throughput_MB_per_second"] * MIB for run in runs],
            "sample_rate read": [run["train_throughput_samples_per_second"] for run in runs],
        }
    metric = loaded["metric"]
    return {
        "accelerator_use read": [value / 100 for value in metric["train_au_percentage"]],
        "sample_rate read": metric["train_throughput_samples_per_second"],
        "bandwidth read": [metric["train_io_mean_MB_per_second"] * MIB],
    }


def hpcc(text: str) -> dict[str, list[float]] | None:
    if "StarDGEMM_Gflops" not in text:
        return None
    return {
        "compute_rate solve": [float(said) * 1e12 for said in re.findall(r"HPL_Tflops=(\S+)", text)],
        "transpose_bandwidth transpose": [float(said) * 1e9 for said in re.findall(r"PTRANS_GBs=(\S+)", text)],
    }


def of_kind(path: PurePosixPath) -> Judge | None:
    """The reader of a file of a known kind, by its name; None: it is to be refused, or another test's."""
    if path.name.startswith("._"):
        return None
    if re.match(r"ior[-_].*\.txt", path.name):
        return ior
    if re.match(r"mdtest[-_].*\.txt", path.name):
        return mdtest
    if path.name in ("summary.json", "mlperf_storage_report.json"):
        return dlio
    return hpcc if path.name.startswith("hpccoutf") else None


def rows_of(summary: Summary) -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = {}
    for row in summary.rows:
        if row.params.get("item", "file") == "file":
            found.setdefault(f"{row.metric} {row.access}", []).append(row.repetitions)
    return found


def judged(path: Path, judge: Judge | None) -> bool:
    """Tell whether a file was read or refused rightly; anything but a summary or one line fails the test."""
    expected = judge(path.read_text(errors="replace")) if judge is not None else None
    try:
        found = rows_of(read(path))
    except UserError as error:
        said = str(error)
        return expected is None and "\n" not in said
    for name, values in (expected or {}).items():
        right = pytest.approx(values, rel=ROUNDED)
        if not any(
            one == right or sorted(one) == pytest.approx(sorted(values), rel=ROUNDED) for one in found.get(name, [])
        ):
            return False
    return judge is None or expected is not None


@pytest.mark.parametrize(
    "part", ["io500", "mlperf-storage-v1.0", "hpcc-hpl", "superbench", "cluster_analysis", "configurable"]
)
def test_public_files_are_read_or_refused_rightly(part: str, tmp_path: Path) -> None:
    wanted = re.compile(r"(?i).*(?:ior|mdtest)[^/]*\.txt") if part == "io500" else re.compile(".*")
    root = unpacked(part, tmp_path, lambda path: wanted.fullmatch(path) is not None)
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.stat().st_size < 1 << 20]
    wrong = [path.relative_to(root) for path in files if not judged(path, of_kind(PurePosixPath(path)))]
    assert len(files) > 2
    assert len(wrong) <= len(files) // 100, wrong[:10]


# The values of one line of each file, as it stands there, in SI units.
_OF_FILES = {
    "hpl_results.log": ("compute_rate", 8.1261e12),
    "streamResultZen.log": ("memory_bandwidth", 363208.7e6),
    "nccl_allgather.log": ("bus_bandwidth", 223.39e9),
    "nvbandwidth_results.log": ("copy_bandwidth", 369.36e9),
    "gpcnet_network_test.log": ("network_latency", 10000e-6),
}


@pytest.mark.parametrize("name", list(_OF_FILES))
def test_a_value_of_a_public_file(name: str, tmp_path: Path) -> None:
    root = unpacked("superbench", tmp_path, lambda path: path.endswith(f"/{name}"))
    files = list(root.rglob(name))
    if not files:
        pytest.skip(f"{name} is in another part of the public data")
    metric, value = _OF_FILES[name]
    summary = read(files[0])
    assert any(row.metric == metric and row.median == pytest.approx(value, rel=1e-9) for row in summary.rows)
    assert not [found for found in summary.findings if found.kind == "import-contradiction"]
