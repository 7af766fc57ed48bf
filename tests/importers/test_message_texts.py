# SPDX-License-Identifier: Apache-2.0
"""What programs print about messages, processors, memory and accelerators, by hand-written samples."""

import json
from pathlib import Path

import pytest

from importers.test_storage_texts import of, value
from ullage.errors import UserError

OSU = """# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
0                       1.00
8                       1.50
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1024                 1893.21
# OSU MPI Multiple Bandwidth / Message Rate Test v5.9
# [ pairs: 2 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
8                      16.00        2000000.00
# OSU MPI Allreduce Latency Test v7.1
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.00              1.50              3.00        1000
# OSU MPI Barrier Latency Test v7.1
# Avg Latency(us)
             4.91
# OSU MPI Non-blocking Allreduce Latency Test v5.9
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       9.00              5.00              6.00             33.33
"""

IMB = """# Intel(R) MPI Benchmarks 2021.3, MPI-1 part
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
      4194304           10      1000.00      4194.30
# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         3.00         2.00
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         4.00         6.00         5.00
"""

IPERF = """Connecting to host n1, port 5201
[  5] local 10.0.0.2 port 58910 connected to 10.0.0.1 port 5201
[  7] local 10.0.0.2 port 58911 connected to 10.0.0.1 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec                  receiver
[  7]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec    0             sender
[  7]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec                  receiver
[SUM]   0.00-10.00  sec  2.00 GBytes  1.72 Gbits/sec    0             sender
[SUM]   0.00-10.00  sec  2.00 GBytes  1.72 Gbits/sec                  receiver

iperf Done.
"""

IPERF_JSON = {
    "start": {"test_start": {"protocol": "TCP", "num_streams": 2, "blksize": 131072, "reverse": 0}},
    "end": {
        "sum_sent": {"seconds": 10, "bytes": 12500000000, "bits_per_second": 1e10},
        "sum_received": {"seconds": 10, "bytes": 11250000000, "bits_per_second": 9e9},
    },
}

SOCKPERF = """sockperf: == version #3.7-no.git ==
sockperf: ====> avg-latency=21.323 (std-dev=14.741)
sockperf: Summary: Latency is 21.323 usec
sockperf: ---> <MAX> observation = 4943.790
sockperf: ---> percentile 99.900 =  110.538
sockperf: ---> percentile 50.000 =   19.867
sockperf: == version #3.7-no.git ==
sockperf: Summary: Message Rate is 600000 [msg/sec]
sockperf: Summary: BandWidth is 8.000 MBps (64.000 Mbps)
"""

NETPERF = """MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n1 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.00    8000.00
MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n1 () port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992   65507   10.00       18212      0     954.41
212992           10.00       18212            954.41
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n1 () port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  87380  1        1       10.00    5595.35
16384  87380
"""

NCCL = """# nThread 1 nGpus 2 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#   Rank  0 Group  0 Pid  11 on n1 device  0 [0x00] NVIDIA A100
#   Rank  1 Group  0 Pid  11 on n1 device  1 [0x00] NVIDIA A100
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     2000000        500000     float     sum      -1    20.00  100.00  150.00      0    40.00   50.00   75.00      3
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 112.5
"""

NVBANDWIDTH = """nvbandwidth Version: v0.6
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0    300.25    200.50

SUM host_to_device_memcpy_ce 500.75

Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0
 0    772.58

SUM host_device_latency_sm 772.58
"""

GPCNET = """Network Tests v1.3
  Test with 8 MPI ranks (2 nodes)
+------------------------------------------------------------------------------+
|                            Isolated Network Tests                            |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Avg |          99% |        Units |
|          RR Two-sided Lat (8 B) |          1.5 |          2.5 |         usec |
| RR Two-sided BW+Sync (131072 B) |       1000.0 |        900.0 |   MiB/s/rank |
+------------------------------------------------------------------------------+
|     Network Tests running with Congestion Tests ( RR Two-sided Lat Network Test)    |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Min |          Avg |          99% |        Units |
|          RR Two-sided Lat (8 B) |          1.0 |          4.5 |          9.5 |         usec |
+------------------------------------------------------------------------------+
|          Network Tests running with Congestion Tests - Key Results           |
|                            Name |   Congestion Impact Factor |
|          RR Two-sided Lat (8 B) |      3.0X |      3.8X |
"""

HPL = """HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR00L2L2        1000   100     2     2               1.00             6.6817e-01
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.12139792e-03 ...... PASSED
================================================================================
WR00L2R2        1000   100     2     2               2.00             3.3408e-01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.12139792e+03 ...... FAILED
================================================================================
"""

HPCC = """This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012
Begin of SingleSTREAM section.
Single STREAM Copy GB/s 19.508391
End of SingleSTREAM section.
Begin of StarDGEMM section.
Average Gflop/s 1.078296
Begin of Summary section.
VersionMajor=1
CommWorldProcs=8
HPL_Tflops=0.00812499
StarDGEMM_Gflops=1.0783
SingleSTREAM_Copy=19.5084
MPIRandomAccess_GUPs=0.0931568
AvgPingPongLatency_usec=0.21516
MPIFFT_Gflops=-1
End of Summary section.
"""

STREAM = """STREAM version $Revision: 5.10 $
This system uses 8 bytes per array element.
Array size = 10000000 (elements), Offset = 0 (elements)
Number of Threads requested = 4
Number of Threads counted = 4
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           16000.0     0.010200     0.010000     0.010400
Triad:          24000.0     0.010200     0.010000     0.010400
"""

MBW = """0\tMethod: MEMCPY\tElapsed: 0.01000\tMiB: 64.00000\tCopy: 6400.000 MiB/s
1\tMethod: MEMCPY\tElapsed: 0.00800\tMiB: 64.00000\tCopy: 8000.000 MiB/s
AVG\tMethod: MEMCPY\tElapsed: 0.00889\tMiB: 64.00000\tCopy: 7199.100 MiB/s
AVG\tMethod: DUMB\tElapsed: 0.01600\tMiB: 64.00000\tCopy: 4000.000 MiB/s
"""

SYSBENCH = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Running memory speed test with the following options:
  block size: 1KiB
  total size: 102400MiB
  operation: write
Total operations: 1000000 (500000.00 per second)

976.56 MiB transferred (488.28 MiB/sec)

General statistics:
    total time:                          2.0000s
    total number of events:              1000000

Latency (ms):
         avg:                                    0.50
         95th percentile:                        1.25
"""


def flagged(tmp_path: Path, text: str, right: str, wrong: str) -> bool:
    """Tell whether a number that the text states twice is doubted after one of them was changed."""
    assert right in text
    assert not [row for row in of(tmp_path, text).rows if row.has_flag("stated-twice")]
    return any(row.has_flag("stated-twice") for row in of(tmp_path, text.replace(right, wrong)).rows)


def test_osu(tmp_path: Path) -> None:
    rows = of(tmp_path, OSU).rows
    assert value(rows, "ping_pong_latency", message_bytes=8) == pytest.approx(1.5e-6)
    assert value(rows, "message_bandwidth", message_bytes=1024) == pytest.approx(1893.21e6)
    assert value(rows, "message_rate", message_bytes=8, pairs=2) == 2e6
    assert value(rows, "collective_latency", access="allreduce latency", of="slowest") == pytest.approx(3e-6)
    assert value(rows, "collective_latency", access="barrier latency") == pytest.approx(4.91e-6)
    assert value(rows, "overlap", message_bytes=4) == pytest.approx(0.3333)
    assert flagged(tmp_path, OSU, "16.00        2000000", "16.00        8000000")


def test_imb_of_either_release(tmp_path: Path) -> None:
    rows = of(tmp_path, IMB).rows
    assert value(rows, "message_bandwidth", message_bytes=4194304) == pytest.approx(4194.3e6)
    assert value(rows, "ping_pong_latency", message_bytes=0) == pytest.approx(0.5e-6)
    assert value(rows, "collective_latency", access="barrier", ranks=4, of="slowest") == pytest.approx(6e-6)
    old = IMB.replace("Intel(R) MPI Benchmarks 2021.3", "Intel (R) MPI Benchmark Suite V3.2").replace(
        "4194.30", "4000.00"
    )
    assert value(of(tmp_path, old).rows, "message_bandwidth", access="pingpong") == pytest.approx(4000 * 2**20)
    assert flagged(tmp_path, IMB, "4194.30", "5194.30")


def test_iperf3(tmp_path: Path) -> None:
    rows = of(tmp_path, IPERF).rows
    assert [row.median for row in rows] == [1.72e9 / 8] * 2
    assert {row.params["streams"] for row in rows} == {2}
    assert flagged(tmp_path, IPERF, "2.00 GBytes  1.72 Gbits/sec    0", "2.00 GBytes  1.92 Gbits/sec    0")
    found = of(tmp_path, f"words\n{json.dumps(IPERF_JSON)}\n").rows
    assert value(found, "network_bandwidth", end="receiver", streams=2) == 9e9 / 8
    assert flagged(tmp_path, json.dumps(IPERF_JSON), "9000000000.0", "8000000000.0")


def test_iperf3_of_both_ways_at_once(tmp_path: Path) -> None:
    half = {"seconds": 10, "bytes": 6250000000, "bits_per_second": 5e9}
    reverse = {"sum_sent_bidir_reverse": half, "sum_received_bidir_reverse": half}
    rows = of(tmp_path, json.dumps({**IPERF_JSON, "end": {**IPERF_JSON["end"], **reverse}})).rows
    assert [(row.params.get("direction"), row.params["end"], row.median) for row in rows] == [
        (None, "sender", 1e10 / 8),
        (None, "receiver", 9e9 / 8),
        ("reverse", "sender", 5e9 / 8),
        ("reverse", "receiver", 5e9 / 8),
    ]
    text = IPERF.replace("[  5]   ", "[  5][TX-C]   ").replace("[  7]   ", "[  7][RX-C]   ")
    rows = of(tmp_path, "\n".join(line for line in text.splitlines() if "SUM" not in line)).rows
    assert {(row.params["role"], row.params["streams"]) for row in rows} == {("TX-C", 1), ("RX-C", 1)}


def test_sockperf_and_netperf(tmp_path: Path) -> None:
    rows = of(tmp_path, SOCKPERF).rows
    assert value(rows, "network_latency") == pytest.approx(21.323e-6)
    assert value(rows, "network_latency_p999") == pytest.approx(110.538e-6)
    assert value(rows, "network_bandwidth") == 8 * 2**20
    assert flagged(tmp_path, SOCKPERF, "Latency is 21.323", "Latency is 11.323")
    rows = of(tmp_path, NETPERF).rows
    assert value(rows, "network_bandwidth", protocol="tcp") == 1e9
    assert value(rows, "network_bandwidth", protocol="udp", end="receiver") == pytest.approx(954.41e6 / 8)
    assert value(rows, "message_rate", request_bytes=1) == 5595.35
    assert flagged(tmp_path, NETPERF, "18212            954.41", "18212            354.41")


def test_nccl_tests(tmp_path: Path) -> None:
    rows = of(tmp_path, NCCL).rows
    assert value(rows, "bus_bandwidth", place="out-of-place", ranks=2, message_bytes=2000000) == 150e9
    assert value(rows, "collective_latency", place="in-place") == pytest.approx(40e-6)
    assert all(row.is_invalid == (row.params.get("place") == "in-place") for row in rows)
    assert flagged(tmp_path, NCCL, "20.00  100.00", "20.00  700.00")
    assert flagged(tmp_path, NCCL, ": 112.5", ": 912.5")


def test_nvbandwidth_and_gpcnet(tmp_path: Path) -> None:
    rows = of(tmp_path, NVBANDWIDTH).rows
    assert value(rows, "copy_bandwidth", column="1") == 200.5e9
    assert value(rows, "access_time") == pytest.approx(772.58e-9)
    assert flagged(tmp_path, NVBANDWIDTH, "200.50", "900.50")
    case = {"name": "x", "bandwidth_description": "GB/s", "bandwidth_matrix": [["1.50", "N/A"]], "sum": 1.5}
    assert value(of(tmp_path, json.dumps({"nvbandwidth": {"testcases": [case]}})).rows, "copy_bandwidth") == 1.5e9
    rows = of(tmp_path, GPCNET).rows
    isolated, congested = (row for row in rows if row.metric == "network_latency_p99")
    assert (isolated.params["load"], isolated.params["message_bytes"]) == ("isolated network tests", 8)
    assert (isolated.median, congested.median) == (pytest.approx(2.5e-6), pytest.approx(9.5e-6))
    assert value(rows, "network_bandwidth", each="rank") == 1000 * 2**20


def test_hpl_and_hpcc(tmp_path: Path) -> None:
    passed, failed = of(tmp_path, HPL).rows
    assert (passed.median, passed.params["ranks"], passed.is_invalid) == (0.66817e9, 4, False)
    assert failed.has_flag("INVALID:verification-failed")
    assert flagged(tmp_path, HPL, "6.6817e-01", "6.6817e+00")
    rows = of(tmp_path, HPCC).rows
    assert value(rows, "compute_rate", access="solve", ranks=8) == pytest.approx(8.12499e9)
    assert value(rows, "memory_bandwidth", scope="one", access="copy") == pytest.approx(19.5084e9)
    assert value(rows, "update_rate") == pytest.approx(0.0931568e9)
    assert value(rows, "ping_pong_latency", of_pairs="mean") == pytest.approx(0.21516e-6)
    assert flagged(tmp_path, HPCC, "SingleSTREAM_Copy=19", "SingleSTREAM_Copy=39")
    cut = of(tmp_path, HPCC[: HPCC.index("HPL_Tflops")])
    assert "ends before HPCC" in cut.findings[0].text
    assert value(cut.rows, "memory_bandwidth") == pytest.approx(19.508391e9)


def test_stream_mbw_and_sysbench(tmp_path: Path) -> None:
    rows = of(tmp_path, STREAM).rows
    assert value(rows, "memory_bandwidth", access="triad", threads=4) == 24e9
    assert rows[0].verdict == "none"
    assert flagged(tmp_path, STREAM, "24000.0", "34000.0")
    rows = of(tmp_path, MBW).rows
    assert next(row for row in rows if row.metric == "copy_bandwidth").repetitions == [6400 * 2**20, 8000 * 2**20]
    assert value(rows, "memory_bandwidth", method="dumb") == 2 * 4000 * 2**20
    assert flagged(tmp_path, MBW, "8000.000", "3000.000")
    rows = of(tmp_path, SYSBENCH).rows
    assert value(rows, "memory_bandwidth", access="write", threads=2, block_bytes=1024) == 488.28 * 2**20
    assert value(rows, "operation_rate") == 500000
    assert value(rows, "latency_p95") == pytest.approx(1.25e-3)
    assert flagged(tmp_path, SYSBENCH, "500000.00 per", "900000.00 per")


def test_a_declared_machine_gives_ceilings(tmp_path: Path) -> None:
    from ullage.analysis.ceilings.machine_file import parse_machine
    from ullage.importers import read

    path = tmp_path / "x.log"
    path.write_text(STREAM)
    machine = parse_machine({"memory": {"bandwidth": "20GB/s"}, "network": [{"name": "osu", "rate": "2GB/s"}]}, "m")
    copy, triad = read(path, machine=machine).rows
    assert copy.share == pytest.approx(0.8)
    assert triad.has_flag("INVALID:above-ceiling")
    path.write_text(OSU)
    assert [row.share for row in read(path, machine=machine).rows if row.params.get("message_bytes") == 1024] == [
        pytest.approx(0.946605)
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stress-ng: info: [1] x\n", "stress-ng, .*what is read of processors: hpcc, hpl"),
        ("", "it is empty"),
        ('{"a": 1}', "JSON with none of the names"),
        ("[global]\nbs=4k\n[ior-easy]\nx=1\n", "file of settings"),
        ("hello\nworld\n", "begins with 'hello'"),
    ],
)
def test_what_is_refused_says_what_was_seen(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        of(tmp_path, text)
