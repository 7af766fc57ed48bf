# SPDX-License-Identifier: Apache-2.0
"""What programs write about storage as JSON and CSV, and iozone -t, by hand-written samples of each form."""

import json
from pathlib import Path

import pytest

from importers.test_storage_texts import MIB, of, value
from ullage.errors import UserError

FIO_3 = {
    "fio version": "fio-3.33",
    "global options": {"ioengine": "io_uring", "direct": "1", "bs": "4k"},
    "jobs": [
        {
            "jobname": "rand",
            "error": 0,
            "job options": {"rw": "randread", "iodepth": "32", "numjobs": "2"},
            "read": {
                "io_bytes": 409600000,
                "bw_bytes": 40960000,
                "bw": 40000,
                "iops": 10000.0,
                "runtime": 10000,
                "total_ios": 100000,
                "lat_ns": {"min": 1000, "max": 5000000, "mean": 200000.0},
                "clat_ns": {
                    "mean": 190000.0,
                    "percentile": {
                        "1.000000": 1000,
                        "5.000000": 2000,
                        "10.000000": 9000,
                        "50.000000": 180000,
                        "99.900000": 900000,
                    },
                },
            },
            "write": {"io_bytes": 0, "bw": 0, "iops": 0.0},
        }
    ],
}

FIO_2 = {
    "fio version": "fio-2.16",
    "jobs": [
        {
            "jobname": "seq",
            "job options": {"rw": "write", "bs": "1M"},
            "write": {
                "io_bytes": 1048576,
                "bw": 104857,
                "iops": 102.4,
                "runtime": 10000,
                "clat": {"mean": 300.0, "percentile": {"99.000000": 700}},
                "lat": {"mean": 310.0},
            },
        }
    ],
}

ELBENCHO = (
    "ISO date,label,hosts,threads,block size,IO depth,random,direct IO,operation,time ms [first],time ms [last],"
    "entries/s [last],IOPS [last],MiB/s [first],MiB/s [last],MiB [last],IO lat us [avg],version\n"
    "2026-05-22,run,2,4,1048576,8,1,1,READ,900,1000,4,1024,1100,1024,1024,250,3.1\n"
    "2026-05-22,run,2,4,1048576,8,,,RMFILES,900,1000,4000,,,,,,3.1\n"
)

IOZONE_T = """        Each process writes a 2097152 kByte file in 128 kByte records

        Children see throughput for  2 initial writers  =  200000.00 kB/sec
        Parent sees throughput for  2 initial writers   =  190000.00 kB/sec
        Min throughput per process                      =   99000.00 kB/sec
        Max throughput per process                      =  101000.00 kB/sec
        Avg throughput per process                      =  100000.00 kB/sec
        Children see throughput for 2 random readers    =  5000.00 ops/sec
"""

DLIO = {
    "num_accelerators": 4,
    "num_hosts": 2,
    "num_files_train": 10,
    "num_samples_per_file": 1,
    "data_size_per_host_GB": 10 / 1024,
    "metric": {
        "train_au_percentage": [90.0, 92.0],
        "train_au_mean_percentage": 91.0,
        "train_throughput_samples_per_second": [10.0, 12.0],
        "train_throughput_mean_samples_per_second": 11.0,
        "train_io_mean_MB_per_second": 22.0,
    },
}
MLPERF = {
    "overall": {"model": "unet3d", "train_num_accelerators": "8", "train_throughput_mean_MB_per_second": 150.0},
    "runs": {"run1": {"train_throughput_MB_per_second": 100.0}, "run2": {"train_throughput_MB_per_second": 200.0}},
}


def test_fio_of_both_releases(tmp_path: Path) -> None:
    rows = of(tmp_path, "fio: a warning\n" + json.dumps(FIO_3)).rows
    expected = {"access": "read", "order": "random", "block_bytes": 4096, "queue_depth": 32, "threads": 2}
    assert value(rows, "bandwidth", **expected, backend="io_uring", cache="direct") == 40960000
    assert value(rows, "operation_rate") == 10000
    assert value(rows, "latency") == pytest.approx(200e-6)
    assert value(rows, "latency_p999") == pytest.approx(900e-6)
    assert value(rows, "latency_p05") == pytest.approx(2e-6)
    assert not [row for row in rows if row.has_flag("stated-twice")]
    swapped = of(tmp_path, json.dumps(FIO_3).replace('"5.000000": 2000', '"5.000000": 20000')).rows
    assert [row.metric for row in swapped if row.has_flag("stated-twice")] == ["latency_p05", "latency_p10"]
    rows = of(tmp_path, json.dumps(FIO_2)).rows
    assert value(rows, "bandwidth", access="write", block_bytes=MIB) == 104857 * 1024
    assert value(rows, "latency_p99") == pytest.approx(700e-6)
    for wrong in (json.dumps(FIO_3).replace("40000,", "90000,"), json.dumps(FIO_2).replace("104857,", "904857,")):
        assert of(tmp_path, wrong).rows[0].has_flag("stated-twice")
    with pytest.raises(UserError, match="is no whole JSON document"):
        of(tmp_path, json.dumps(FIO_3)[:-40])


def test_jobs_of_one_name_are_no_repetitions(tmp_path: Path) -> None:
    twice = {**FIO_2, "jobs": FIO_2["jobs"] * 2}
    rows = [row for row in of(tmp_path, json.dumps(twice)).rows if row.metric == "bandwidth"]
    assert [row.params["job_number"] for row in rows] == [0, 1]


def test_elbencho_in_both_forms(tmp_path: Path) -> None:
    head, *lines = ELBENCHO.splitlines()
    records = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    for text in (
        ELBENCHO,
        ELBENCHO + ELBENCHO,
        "".join(json.dumps(one) + "\n" for one in records),
        json.dumps(records),
    ):
        rows = of(tmp_path, text).rows
        assert value(rows, "bandwidth", access="read", threads=4, nodes=2, order="random") == 1024 * MIB
        assert value(rows, "first_done_bandwidth") == 1100 * MIB
        assert value(rows, "operation_rate", access="remove", item="file") == 4000
        assert value(rows, "latency") == pytest.approx(250e-6)
    assert of(tmp_path, ELBENCHO.replace("1100,1024,1024", "1100,1924,1024")).rows[0].has_flag("stated-twice")


def test_iozone_of_several_processes(tmp_path: Path) -> None:
    rows = of(tmp_path, IOZONE_T).rows
    assert value(rows, "bandwidth", access="write", threads=2, block_bytes=128 << 10) == 200000 * 1024
    assert value(rows, "operation_rate", access="read", order="random") == 5000
    assert of(tmp_path, IOZONE_T.replace("=  200000", "=  700000")).rows[0].has_flag("stated-twice")


def test_dlio_and_mlperf(tmp_path: Path) -> None:
    rows = of(tmp_path, json.dumps(DLIO)).rows
    assert value(rows, "accelerator_use", ranks=4, nodes=2) == pytest.approx(0.91)
    assert value(rows, "sample_rate") == 11
    assert value(rows, "bandwidth") == 22 * MIB
    assert not [row for row in rows if row.has_flag("stated-twice")]
    assert of(tmp_path, json.dumps(DLIO).replace("22.0", "32.0")).rows[-1].has_flag("stated-twice")
    (row,) = of(tmp_path, json.dumps(MLPERF)).rows
    assert (row.repetitions, row.params["model"]) == ([100 * MIB, 200 * MIB], "unet3d")
    assert of(tmp_path, json.dumps(MLPERF).replace("150.0", "190.0")).rows[0].has_flag("stated-twice")
