# SPDX-License-Identifier: Apache-2.0
"""What programs print about storage, by hand-written samples of each form and release."""

import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.importers import read
from ullage.model.summary import Row, Summary

MIB = 1 << 20

IOR_2 = """IOR-2.10.3: MPI Coordinated Test of Parallel I/O

Run began: Mon Apr 25 14:34:21 2011
Command line used: ./IOR -a POSIX -t 256k -b 1m
Machine: Linux n1

Summary:
\tapi                = POSIX
\ttest filename      = testFile
\taccess             = single-shared-file
\tclients            = 4 (2 per node)
\trepetitions        = 1
\txfersize           = 262144 bytes
\tblocksize          = 1 MiB
\taggregate filesize = 4 MiB

Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  Mean (OPs)   Std Dev  Mean (s)
---------  ---------  ---------  ----------   -------  ---------  ---------  ----------   -------  --------
write         200.00     200.00      200.00      0.00     800.00     800.00      800.00      0.00   0.02000  POSIX EXCEL
read          400.50     400.50      400.50      0.00    1602.00    1602.00     1602.00      0.00   0.00999  POSIX EXCEL

Max Write: 200.00 MiB/sec (209.72 MB/sec)
Max Read:  400.50 MiB/sec (419.95 MB/sec)

Run finished: Mon Apr 25 14:34:22 2011
"""

IOR_3 = """IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Began               : Tue Jul 14 13:32:19 2020
Command line        : ior -t 1m -b 16m -F -i 2
Machine             : Linux n1
TestID              : 0
StartTime           : Tue Jul 14 13:32:19 2020
Path                : /s/f
FS                  : 457.2 TiB   Used FS: 0.0%   Inodes: 3779.5 Mi   Used Inodes: 2.0%

Options:
api                 : MPIIO
apiVersion          : (3.1)
test filename       : /s/f
access              : file-per-process
type                : independent
segments            : 1
ordering in a file  : random
nodes               : 2
tasks               : 8
clients per node    : 4
repetitions         : 2
xfersize            : 1 MiB
blocksize           : 16 MiB
aggregate filesize  : 128 MiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     128.00     128.02     0.040890    16384      1024.00    0.080381   0.999800   0.089181   1.00       0
read      256.00     256.10     0.040890    16384      1024.00    0.080381   0.499900   0.089181   0.500000   0
write     160.00     160.02     0.040890    16384      1024.00    0.080381   0.799800   0.089181   0.800000   1
read      320.00     320.10     0.040890    16384      1024.00    0.080381   0.399900   0.089181   0.400000   1
Max Write: 160.00 MiB/sec (167.77 MB/sec)
Max Read:  320.00 MiB/sec (335.54 MB/sec)

Finished            : Tue Jul 14 13:38:32 2020
"""

MDTEST_3 = """-- started at 07/14/2020 13:38:33 --

mdtest-3.3.0 was launched with 4 total task(s) on 2 node(s)
Command line used: mdtest '-n' '100' '-F'
Path: /s

4 tasks, 400 files

SUMMARY rate: (of 3 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   File creation             :       2000.000       1000.000       1500.000        400.000
   File stat                 :       4000.000       4000.000       4000.000          0.000
   File removal              :          0.000          0.000          0.000          0.000
   File create (stonewall)   :             NA             NA        432.046             NA
   Tree creation             :          1.923          1.923          1.923          0.000

-- finished at 07/14/2020 13:51:43 --
"""

MDTEST_1 = """-- started at 11/08/2018 16:27:21 --

mdtest-1.9.3 was launched with 160 total task(s) on 10 node(s)
Command line used: mdtest "-T" "-F"

160 tasks, 280000000 files/directories

SUMMARY: (of 1 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation:       1100.500       1100.500       1100.500          0.000
   File stat         :    1807735.855    1807735.855    1807735.855          0.000

-- finished at 11/08/2018 16:27:26 --
"""


def of(tmp_path: Path, content: str | bytes, name: str = "x.log") -> Summary:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path)


def value(rows: list[Row], metric: str, **params: object) -> float:
    (row,) = [row for row in rows if row.metric == metric and params.items() <= row.params.items()]
    return row.median


def test_ior_of_the_second_release(tmp_path: Path) -> None:
    rows = of(tmp_path, IOR_2).rows
    assert value(rows, "bandwidth", access="write") == 200 * MIB
    assert value(rows, "bandwidth", access="read", ranks=4, nodes=2, block_bytes=262144) == 400.5 * MIB
    assert not [row for row in rows if row.has_flag("stated-twice")]


def test_ior_of_several_repetitions(tmp_path: Path) -> None:
    write, read_ = of(tmp_path, IOR_3).rows
    assert write.repetitions == [128 * MIB, 160 * MIB]
    assert read_.repetitions == [256 * MIB, 320 * MIB]
    expected = {"access": "write", "ranks": 8, "nodes": 2, "block_bytes": MIB, "backend": "mpiio"}
    assert write.params == {**expected, "file_mode": "per-process", "order": "random"}


def test_several_runs_and_programs_in_one_log(tmp_path: Path) -> None:
    rows = of(tmp_path, IOR_3 + "some words\n" + IOR_2 + MDTEST_3).rows
    assert [row.target for row in rows] == ["ior"] * 4 + ["mdtest"] * 4


@pytest.mark.parametrize(("right", "wrong"), [("160.00 MiB/sec", "960.00 MiB/sec"), ("(335.54", "(935.54")])
def test_ior_against_itself(tmp_path: Path, right: str, wrong: str) -> None:
    summary = of(tmp_path, IOR_3.replace(right, wrong))
    assert [row for row in summary.rows if row.has_flag("stated-twice")]
    assert [found for found in summary.findings if found.kind == "import-contradiction"]


def test_a_repetition_that_its_time_contradicts(tmp_path: Path) -> None:
    rows = of(tmp_path, IOR_3.replace("write     128.00", "write     118.00")).rows
    assert rows[0].has_flag("stated-twice")
    assert "line 30" in rows[0].reason_of("stated-twice")


def test_ior_that_was_cut_off(tmp_path: Path) -> None:
    summary = of(tmp_path, IOR_3[: IOR_3.index("read      320")])
    assert [len(row.repetitions) for row in summary.rows] == [2, 1]
    assert "1 of 2 repetitions of read" in " ".join(found.text for found in summary.findings)
    with pytest.raises(UserError, match="contains no result of ior"):
        of(tmp_path, IOR_3[: IOR_3.index("access    bw")])


def test_mdtest_with_iterations_and_a_wall(tmp_path: Path) -> None:
    rows = of(tmp_path, MDTEST_3).rows
    assert value(rows, "operation_rate", access="create", item="file", ranks=4, nodes=2) == 1500
    assert value(rows, "stonewall_operation_rate", access="create") == 432.046
    assert value(rows, "operation_rate", item="tree") == 1.923
    assert rows[0].has_flag("mean-of-repetitions:3")
    assert not [row for row in rows if row.access == "remove"]


def test_mdtest_of_the_first_release(tmp_path: Path) -> None:
    rows = of(tmp_path, MDTEST_1).rows
    assert value(rows, "operation_rate", item="directory", access="create") == 1100.5
    assert value(rows, "operation_rate", item="file", access="stat", ranks=160, nodes=10) == 1807735.855


def test_mdtest_against_itself(tmp_path: Path) -> None:
    assert of(tmp_path, MDTEST_3.replace(" 1500.000", " 7500.000")).rows[0].has_flag("stated-twice")


@pytest.mark.parametrize(
    "prefix", ["0: ", "[1,0]<stdout>:", "2026-01-02T03:04:05.678 ", "Nov  7 12:30:01 n12 job[417]: ", "[0] "]
)
def test_prefixes_of_launchers_and_logs(tmp_path: Path, prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in (IOR_3 + MDTEST_3).splitlines())
    plain = of(tmp_path, IOR_3 + MDTEST_3).rows
    assert [(row.params, row.repetitions) for row in of(tmp_path, text).rows] == [
        (row.params, row.repetitions) for row in plain
    ]


def _packed(text: str) -> dict[str, bytes]:
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        info = tarfile.TarInfo("run/ior.log")
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
    with zipfile.ZipFile(packed, "w") as zipped:
        zipped.writestr("run/ior.log", text)
    return {
        "x.log.gz": gzip.compress(text.encode()),
        "x.xz": lzma.compress(text.encode()),
        "x.tgz": tar.getvalue(),
        "x.zip": packed.getvalue(),
        "utf-16.log": text.encode("utf-16"),
        "big-endian.log": text.encode("utf-16-be"),
        "latin-1.log": text.replace("n1", "nœud né".replace("œ", "o")).encode("latin-1"),
        "dos.log": text.replace("\n", "\r\n").encode(),
        "mark.log": b"\xef\xbb\xbf" + text.encode(),
        "coloured.log": "".join(f"\x1b[32m{line}\x1b[0m\n" for line in text.splitlines()).encode(),
        "progress.log": text.replace("Results:", "10 %\r20 %\r100 %\nResults:").encode(),
    }


@pytest.mark.parametrize("name", list(_packed("")))
def test_packed_encoded_and_coloured(tmp_path: Path, name: str) -> None:
    found = of(tmp_path, _packed(IOR_3)[name], name).rows
    assert [row.repetitions for row in found] == [[128 * MIB, 160 * MIB], [256 * MIB, 320 * MIB]]


def test_a_damaged_archive_is_one_line(tmp_path: Path) -> None:
    for name, content in _packed(IOR_3).items():
        if name.endswith(("gz", "zip", "xz")):
            with pytest.raises(UserError, match=r"cannot be unpacked|Compressed file|Not a gzip"):
                of(tmp_path, content[: len(content) // 2], name)


def test_a_folder_of_many(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"run{number}").mkdir()
        (tmp_path / f"run{number}" / "out.txt").write_text(IOR_2)
    (tmp_path / "notes.txt").write_text("nothing")
    rows = read(tmp_path).rows
    assert [row.params["file"] for row in rows] == ["run1/out.txt"] * 2 + ["run2/out.txt"] * 2


def test_localised_numbers(tmp_path: Path) -> None:
    text = MDTEST_1.replace("1807735.855", "1807735,855").replace("1100.500", "1100,500").replace("0.000", "0,000")
    assert value(of(tmp_path, text).rows, "operation_rate", access="stat") == 1807735.855
    with pytest.raises(UserError, match="may have a decimal comma"):
        of(tmp_path, MDTEST_1.replace("1100.500", "1,500"))


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
                "clat_ns": {"mean": 190000.0, "percentile": {"50.000000": 180000, "99.900000": 900000}},
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
    "runs": {
        "run1": {"train_throughput_MB_per_second": 100.0},
        "run2": {"train_throughput_MB_per_second": 200.0},
    },
}


def test_fio_of_both_releases(tmp_path: Path) -> None:
    rows = of(tmp_path, "fio: a warning\n" + json.dumps(FIO_3)).rows
    expected = {"access": "read", "order": "random", "block_bytes": 4096, "queue_depth": 32, "threads": 2}
    assert value(rows, "bandwidth", **expected, backend="io_uring", cache="direct") == 40960000
    assert value(rows, "operation_rate") == 10000
    assert value(rows, "latency") == pytest.approx(200e-6)
    assert value(rows, "latency_p999") == pytest.approx(900e-6)
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
