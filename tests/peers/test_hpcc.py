# SPDX-License-Identifier: Apache-2.0
"""hpcc's input and its answer, against programs that only pretend, and the real one where it is installed."""

from pathlib import Path

import pytest

from ullage.peers import Installed, PeerError, load_peers
from ullage.peers.hpcc import (
    INPUT,
    HpccJob,
    expected_s,
    hpcc_command,
    hpcc_environment,
    hpcc_input,
    installed,
    parse_answer,
    run_hpcc,
    thrifty_order,
)

SUMMARY = {
    "VersionMajor": "1",
    "VersionMinor": "5",
    "VersionMicro": "0",
    "Success": "1",
    "CommWorldProcs": "2",
    "HPL_Tflops": "0.0460688",
    "HPL_N": "6000",
    "DGEMM_N": "3463",
    "StarDGEMM_Gflops": "26",
    "SingleDGEMM_Gflops": "28.5",
    "MPIRandomAccess_GUPs": "0.0123",
    "StarRandomAccess_GUPs": "0.03",
    "SingleRandomAccess_GUPs": "0.04",
    "STREAM_VectorSize": "12000000",
    **{f"StarSTREAM_{name}": str(10 + i) for i, name in enumerate(("Copy", "Scale", "Add", "Triad"))},
    **{f"SingleSTREAM_{name}": str(20 + i) for i, name in enumerate(("Copy", "Scale", "Add", "Triad"))},
    "AvgPingPongLatency_usec": "0.4",
}
PASSED = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0039285 ...... PASSED\n"
JOB = HpccJob(6000, 1, 2)


def output(residual: str = PASSED, **changed: str | None) -> str:
    """hpccoutf.txt of hpcc 1.5.0 as far as it is looked at; a field that is None is missing."""
    fields = {name: value for name, value in {**SUMMARY, **changed}.items() if value is not None}
    lines = "".join(f"{name}={value}\n" for name, value in fields.items())
    return f"HPLinpack\n{residual}Begin of Summary section.\n{lines}End of Summary section.\n"


def program(folder: Path, body: str) -> Installed:
    """An hpcc that is a shell script."""
    path = folder / "hpcc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return Installed(path, "1.5.0")


def test_the_numbers_are_of_all_ranks_together_in_units_of_one() -> None:
    answer = parse_answer(output(), JOB)
    assert answer.version == "1.5.0"
    assert answer.solve == pytest.approx(46.0688e9)
    assert (answer.products, answer.product_alone) == (52e9, 28.5e9)
    assert answer.stream == {"copy": 20e9, "scale": 22e9, "add": 24e9, "triad": 26e9}
    assert answer.stream_alone == {"copy": 20e9, "scale": 21e9, "add": 22e9, "triad": 23e9}
    assert answer.updates == pytest.approx(12.3e6)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no summary"),
        (output().replace("End of Summary", "End of"), "no summary"),
        (output(CommWorldProcs="1"), "CommWorldProcs=1 and not 2: its mpiexec is of another MPI"),
        (output(HPL_N="-1"), "HPL did not run"),
        (output(Success="0"), "a part of it failed"),
        (output(residual=""), "residual check"),
        (output(residual=PASSED.replace("PASSED", "FAILED")), "residual check"),
        (output(HPL_Tflops=None), "no 'HPL_Tflops'"),
        (output(HPL_Tflops="-1"), "HPL_Tflops=-1"),
        (output(StarSTREAM_Triad="inf"), "StarSTREAM_Triad=inf"),
        (output(MPIRandomAccess_GUPs="many"), "MPIRandomAccess_GUPs=many"),
    ],
)
def test_an_answer_that_says_nothing_is_one_line(text: str, what: str) -> None:
    with pytest.raises(PeerError, match=what) as caught:
        parse_answer(text, JOB)
    assert "\n" not in str(caught.value)


def test_the_input_says_the_whole_job() -> None:
    lines = [line.split()[0] for line in hpcc_input(HpccJob(5792, 2, 3, block=128)).splitlines()]
    assert len(lines) == 36
    assert (lines[4], lines[5], lines[6], lines[7]) == ("1", "5792", "1", "128")
    assert (lines[9], lines[10], lines[11]) == ("1", "2", "3")
    assert (lines[32], lines[34]) == ("0", "0")  # no further sizes for PTRANS


def test_it_runs_in_a_folder_of_its_own_with_a_thread_a_rank(tmp_path: Path) -> None:
    job = HpccJob(6000, core="Haswell")
    (tmp_path / "answer").write_text(output(CommWorldProcs="1"))
    seen = tmp_path / "seen"
    body = f'cp {INPUT} {seen}; echo "$OPENBLAS_NUM_THREADS $OPENBLAS_CORETYPE" >> {seen}; pwd >> {seen}; '
    answer = run_hpcc(program(tmp_path, body + f"cp {tmp_path}/answer hpccoutf.txt"), job)
    assert answer.solve == pytest.approx(46.0688e9)
    *given, environment, folder = seen.read_text().splitlines()
    assert "\n".join(given) + "\n" == hpcc_input(job)
    assert environment == "1 Haswell"
    assert not Path(folder).exists()
    assert "OPENBLAS_CORETYPE" not in hpcc_environment(HpccJob(6000))


def test_several_ranks_are_started_by_an_mpiexec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hpcc = Installed(Path("/usr/bin/hpcc"), "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hpcc_command(hpcc, HpccJob(6000)) == ["/usr/bin/hpcc"]
    with pytest.raises(PeerError, match="no mpiexec for 4 ranks"):
        hpcc_command(hpcc, HpccJob(6000, 2, 2))
    mpiexec = tmp_path / "mpiexec"
    mpiexec.touch(mode=0o755)
    assert hpcc_command(hpcc, HpccJob(6000, 2, 2)) == [str(mpiexec), "-n", "4", "/usr/bin/hpcc"]


def test_a_failure_carries_its_first_line(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=r"^hpcc failed \(exit code 1\): HPL ERROR: no memory$"):
        run_hpcc(program(tmp_path, "echo 'HPL ERROR: no memory' >&2; echo more >&2; exit 1"), HpccJob(6000))
    with pytest.raises(PeerError, match=r"^hpcc failed \(exit code 0\)$"):
        run_hpcc(program(tmp_path, "exit 0"), HpccJob(6000))


@pytest.mark.parametrize("job", [(0, 1, 1), (63, 1, 1), (6000, 0, 1), (6000, 1, -1), (6000, 1, 1, 0)])
def test_a_job_that_hpl_would_refuse_is_refused(job: tuple[int, ...]) -> None:
    with pytest.raises(PeerError, match=r"^hpcc: "):
        HpccJob(*job)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_thrifty_order_just_fails_to_make_a_larger_table(ranks: int) -> None:
    def table(order: int) -> int:
        return 1 << (order * order * 8 // ranks).bit_length() - 1

    for most in range(200, 20_000, 137):
        order = thrifty_order(most, ranks)
        assert 0.75 * most <= order <= most
        if order < most:
            assert table(order + 1) == 2 * table(order)
            assert table(order + 1) == table(most)


def test_what_takes_longer_is_expected_to() -> None:
    assert expected_s(HpccJob(5792)) < 0.7 * expected_s(HpccJob(6000))
    assert expected_s(HpccJob(5792, 1, 2)) < expected_s(HpccJob(5792)) < expected_s(HpccJob(12000))


def test_it_is_listed_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hpcc" in load_peers()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed() is None
    (tmp_path / "hpcc").touch(mode=0o755)
    found = installed()
    assert found is not None
    assert found.path == tmp_path / "hpcc"


def test_the_real_one_is_understood() -> None:
    found = installed()
    if found is None:
        pytest.skip("hpcc is not installed")
    answer = run_hpcc(found, HpccJob(256, block=64), limit_s=120)
    assert answer.solve > 0


MESSAGES = {
    "MinPingPongLatency_usec": "0.3",
    "MaxPingPongLatency_usec": "0.5",
    "MinPingPongBandwidth_GBytes": "12",
    "AvgPingPongBandwidth_GBytes": "15",
    "MaxPingPongBandwidth_GBytes": "18",
    "NaturallyOrderedRingLatency_usec": "0.31",
    "NaturallyOrderedRingBandwidth_GBytes": "12.5",
    "RandomlyOrderedRingLatency_usec": "0.32",
    "RandomlyOrderedRingBandwidth_GBytes": "12.6",
}


def test_rings_and_ping_pongs_are_in_units_of_one() -> None:
    found = parse_answer(output(**MESSAGES), JOB).messages
    assert found is not None
    assert found["natural", "ring_latency"] == pytest.approx(0.31e-6)
    assert found["natural", "ring_bandwidth"] == pytest.approx(12.5e9)
    assert found["random", "ring_latency"] == pytest.approx(0.32e-6)
    assert found["random", "ring_bandwidth"] == pytest.approx(12.6e9)
    pairs = [found["ping-pong", f"ping_pong_{what}"] for what in ("least_latency", "latency", "most_latency")]
    assert pairs == pytest.approx([0.3e-6, 0.4e-6, 0.5e-6])
    pairs = [found["ping-pong", f"ping_pong_{what}"] for what in ("least_bandwidth", "bandwidth", "most_bandwidth")]
    assert pairs == pytest.approx([12e9, 15e9, 18e9])


def test_one_rank_and_a_summary_that_lacks_some_have_no_messages() -> None:
    assert parse_answer(output(**MESSAGES, CommWorldProcs="1"), HpccJob(6000)).messages is None
    assert parse_answer(output(), JOB).messages is None
    with pytest.raises(PeerError, match="NaturallyOrderedRingLatency_usec=-1"):
        parse_answer(output(**MESSAGES | {"NaturallyOrderedRingLatency_usec": "-1"}), JOB)


def test_settings_of_the_mpi_are_passed_on() -> None:
    job = HpccJob(6000, settings=(("OMPI_MCA_btl", "self,vader"),))
    assert hpcc_environment(job)["OMPI_MCA_btl"] == "self,vader"
