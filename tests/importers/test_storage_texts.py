# SPDX-License-Identifier: Apache-2.0
"""What programs print about storage, by hand-written samples of each form and release."""

import gzip
import io
import lzma
import tarfile
import tracemalloc
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
    (tmp_path / "cut.txt").write_text(IOR_2[: IOR_2.index("Operation")])
    summary = read(tmp_path)
    assert [row.params["file"] for row in summary.rows] == ["run1/out.txt"] * 2 + ["run2/out.txt"] * 2
    assert "cut.txt is passed over: contains no result of ior" in " ".join(found.text for found in summary.findings)


def test_localised_numbers(tmp_path: Path) -> None:
    text = MDTEST_1.replace("1807735.855", "1807735,855").replace("1100.500", "1100,500").replace("0.000", "0,000")
    assert value(of(tmp_path, text).rows, "operation_rate", access="stat") == 1807735.855
    with pytest.raises(UserError, match="may have a decimal comma"):
        of(tmp_path, MDTEST_1.replace("1100.500", "1,500"))


def test_the_memory_for_a_long_log_is_that_of_its_numbers(tmp_path: Path) -> None:
    path, peaks = tmp_path / "x.log", list[int]()
    noise = "".join(f"[{number}] a line of another program, which is none of ours\n" for number in range(2000))
    for times in (1, 40):
        path.write_text((noise * times) + IOR_3)
        tracemalloc.start()
        assert len(read(path).rows) == 2
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 4 * MIB
    assert peaks[1] < peaks[0] + 8 * MIB
