# SPDX-License-Identifier: Apache-2.0
"""Parts of suite ``cpu`` by themselves: kernels of a description, issue rates, libraries, sizes, hpcc beside."""

from pathlib import Path

import pytest

from suites.cpu.conftest import HPCC, SITE, World, row_of
from support.cpu_world import describe_cpu
from ullage.errors import UserError
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import HpccAnswer, HpccJob, grid
from ullage.runs.peer_runs import Hpcc
from ullage.suites.cpu.libraries import (
    BlasPlanner,
    Kernel,
    Library,
    best_of_types,
    cores_to_try,
    find_libraries,
    find_scalapack,
    kernels_of,
    missing_of,
)
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.rows import rounded_rate

ZEN4 = ["avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni"]


def test_a_description_says_what_runs_and_what_does_not() -> None:
    kernels = {kernel.name: kernel for kernel in kernels_of(describe_cpu())}
    assert kernels["avx512/fp64/fma"] == Kernel("avx512", "fp64", "fma", lanes=8, operations=16)
    assert {(one.isa, one.type, one.reason) for one in missing_of(describe_cpu())} == {
        ("amx", "int8", "the CPU has no AMX"),
        ("amx", "bf16", "the CPU has no AMX"),
        ("avx512fp16", "fp16", "too old"),
    }


def test_an_engine_without_kernels_is_one_line() -> None:
    with pytest.raises(UserError, match="unknown workload 'compute'"):
        kernels_of(describe_cpu().model_copy(update={"workloads": []}))


def test_the_best_of_a_type_does_most_with_an_instruction() -> None:
    add, dot = Kernel("avx512", "int8", "add", 64, 64), Kernel("avx512vnni", "int8", "dot", 64, 128)
    multiply, wide = Kernel("avx2", "int64", "multiply", 4, 4), Kernel("avx2", "int64", "add", 4, 4)
    assert best_of_types([add, dot, multiply, wide]) == [dot, wide]


@pytest.mark.parametrize(
    ("seen", "rate"),
    [(1.97, 2), (2.04, 2), (2.2, 2.5), (0.98, 1), (1.45, 1.5), (0.81, 1), (0.66, 2 / 3), (0.49, 0.5), (0.51, 0.5)],
)
def test_rates_are_rounded_to_what_ports_can_do(seen: float, rate: float) -> None:
    assert rounded_rate(seen) == pytest.approx(rate)


def test_a_matrix_unit_starts_one_in_sixteen_cycles() -> None:
    assert rounded_rate(0.0621) == pytest.approx(1 / 16)


def test_a_rate_never_lies_clearly_above_its_rounding() -> None:
    assert all(step / 100 <= 1.05 * rounded_rate(step / 100) for step in range(2, 400))


def test_the_kernels_to_try_are_those_the_cpu_can_run() -> None:
    assert cores_to_try(ZEN4, "AuthenticAMD") == ["Cooperlake", "SkylakeX", "Zen", "Haswell"]
    assert cores_to_try(["avx2", "fma"], "GenuineIntel") == ["Haswell"]
    assert cores_to_try(["asimd"], None) == ["neoversen1"]
    assert cores_to_try([], None) == []


def test_a_library_that_was_named_is_the_only_one() -> None:
    assert find_libraries("/opt/x/libblis.so") == [Library("libblis.so", "/opt/x/libblis.so")]


def test_the_sites_library_is_what_the_loader_finds(tmp_path: Path) -> None:
    for folder in ("module", "system"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libopenblas.so.0").touch()
    cached = [("libopenblas.so.0", str(tmp_path / "system/libopenblas.so.0"))]
    by_cache = find_libraries(None, {}, cached)
    assert by_cache[0] == Library("site", str(tmp_path / "system/libopenblas.so.0"))
    by_module = find_libraries(None, {"LD_LIBRARY_PATH": f"/no/such:{tmp_path}/module"}, cached)
    assert by_module[0] == Library("site", str(tmp_path / "module/libopenblas.so.0"))


def test_a_library_is_known_behind_its_links(tmp_path: Path) -> None:
    (tmp_path / "libopenblasp.so").touch()
    (tmp_path / "libblas.so.3").symlink_to(tmp_path / "libopenblasp.so")
    (tmp_path / "libother.so").touch()
    assert Library("site", str(tmp_path / "libblas.so.3")).is_openblas
    assert not Library("site", str(tmp_path / "libother.so")).is_openblas


def test_a_library_that_is_both_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libopenblas.so.0").touch()
    path = str(tmp_path / "libopenblas.so.0")
    monkeypatch.setattr("ullage.suites.cpu.libraries._wheel", lambda: path)
    assert find_libraries(None, {}, [("libopenblas.so.0", path)]) == [Library("site", path)]


def test_scalapack_is_the_one_of_our_mpi(tmp_path: Path) -> None:
    for name in ("libscalapack-openmpi.so.2.2", "libscalapack.so"):
        (tmp_path / name).touch()
    cached = [(name, str(tmp_path / name)) for name in ("libscalapack-openmpi.so.2.2", "libscalapack.so")]
    assert find_scalapack("openmpi", {}, cached) == str(tmp_path / "libscalapack-openmpi.so.2.2")
    assert find_scalapack("mpich", {}, cached) == str(tmp_path / "libscalapack.so")
    assert find_scalapack("mpich", {}, cached[:1]) is None


def planner(memory_bytes: int = 1 << 40, **fields: object) -> BlasPlanner:
    options = CpuOptions.model_validate({"threads": [1, 4], **fields})
    return BlasPlanner(options, describe_cpu(), memory_bytes)


def test_sizes_follow_time_and_memory() -> None:
    assert planner().size("gemm", 4) > planner().size("gemm", 1)
    assert planner(quick=True).size("solve", 1) < planner().size("solve", 1)
    small = planner(memory_bytes=3 * 8 * 512 * 512)
    assert small.size("gemm", 4) == 512
    assert planner(size=1000).size("solve", 4) == 1000


def test_a_product_has_1_thread_and_all() -> None:
    cases = planner().cases(Library("site", SITE))
    assert [case.words[0::2] for case in cases] == [("gemm", "1"), ("gemm", "4"), ("solve", "1"), ("solve", "4")]
    assert {case.launch for case in cases} == {"BLAS site"}
    tried = planner().cases(Library("site", SITE), "Zen", ("gemm",))
    assert [case.words[0] for case in tried] == ["gemm", "gemm"]
    assert {case.launch for case in tried} == {"BLAS site as Zen"}
    assert {case.case.workload.parameters["core"] for case in tried} == {"Zen"}


def answer(job: HpccJob) -> HpccAnswer:
    return HpccAnswer(
        version="1.5.0",
        solve=1e9 * job.ranks,
        products=5e9 * job.ranks,
        product_alone=4e9,
        stream={},
        stream_alone={},
        updates=1.0,
    )


class SimulatedHpcc:
    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.jobs: list[HpccJob] = []

    def __call__(self, program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        assert program == HPCC
        assert limit_s >= 60
        self.jobs.append(job)
        if self.fails:
            raise PeerError("hpcc failed")
        return answer(job)


def run_with(world: World, hpcc: SimulatedHpcc, monkeypatch: pytest.MonkeyPatch, **words: object) -> None:
    monkeypatch.setattr("ullage.peers.hpcc.installed", lambda: HPCC)
    monkeypatch.setattr("ullage.runs.peer_runs.hpcc_command", lambda program, _job: [str(program.path)])
    monkeypatch.setattr("ullage.suites.cpu.prepare.Hpcc", lambda program: Hpcc(program, hpcc))
    assert world.run(world.prepare(**words))[0] == 0


def test_hpcc_solves_at_our_size_with_a_rank_a_thread(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hpcc = SimulatedHpcc()
    run_with(world, hpcc, monkeypatch)
    summary = world.summary()
    orders = [int(row_of(summary, operation="solve", library="site", threads=count).params["n"]) for count in (1, 4)]
    assert hpcc.jobs == [HpccJob(orders[0]), HpccJob(orders[1], 2, 2)]
    for library in ("site", "ours"):
        peer = row_of(summary, operation="solve", library=library, threads=4).peer
        assert peer is not None
        assert (peer.tool, peer.version, peer.median) == ("hpcc", "1.5.0", 4e9)
    product = row_of(summary, operation="gemm", library="site", threads=1).peer
    assert product is not None
    assert product.median == 4e9
    assert row_of(summary, "clock", operation="solve", library="site", threads=4).peer is None
    assert any("hpcc reaches 4.00 Gop/s" in finding.text for finding in summary.findings)


def test_a_solve_over_ranks_stands_beside_the_same_hpl(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.find_scalapack", lambda _family: "/site/libscalapack.so")
    hpcc = SimulatedHpcc()
    run_with(world, hpcc, monkeypatch)
    (plan,) = [one for one in world.engine.plans if one.layout.ranks == 4]
    assert [case.workload.name for case in plan.cases] == ["distributed-solve"]
    summary = world.summary()
    over_ranks = row_of(summary, operation="distributed-solve")
    alone = row_of(summary, operation="solve", library="site", threads=4)
    assert {name: over_ranks.params[name] for name in ("threads", "n", "library")} == {
        "threads": 4,
        "n": alone.params["n"],
        "library": "ScaLAPACK",
    }
    assert over_ranks.peer is not None
    assert over_ranks.peer.median == 4e9
    assert len(hpcc.jobs) == 2


def test_a_first_look_solves_on_no_ranks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.find_scalapack", lambda _family: "/site/libscalapack.so")
    world.run(world.prepare(quick=True))
    assert {plan.layout.ranks for plan in world.engine.plans} == {1}


def test_hpcc_takes_the_kernels_that_did_best(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.cores_to_try", lambda _flags, _vendor: ["SkylakeX", "Haswell"])
    world.engine.blas = {"": 0.3, "SkylakeX": 0.5, "Haswell": 0.8}
    hpcc = SimulatedHpcc()
    run_with(world, hpcc, monkeypatch)
    assert {job.core for job in hpcc.jobs} == {"Haswell"}


def test_a_first_look_runs_hpcc_once_and_a_second_run_never(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hpcc = SimulatedHpcc()
    run_with(world, hpcc, monkeypatch, quick=True)
    assert [job.ranks for job in hpcc.jobs] == [4]
    world.resume()
    assert len(hpcc.jobs) == 1


def test_without_a_number_of_hpcc_the_run_is_still_well(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run_with(world, SimulatedHpcc(fails=True), monkeypatch)
    summary = world.summary()
    assert all(row.peer is None for row in summary.rows)
    assert any(event.kind == "peer-failed" for event in summary.events)


def test_no_peer_is_run_when_none_is_wanted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hpcc = SimulatedHpcc()
    run_with(world, hpcc, monkeypatch, no_peer=True)
    assert hpcc.jobs == []


@pytest.mark.parametrize(("ranks", "expected"), [(1, (1, 1)), (2, (1, 2)), (6, (2, 3)), (7, (1, 7)), (64, (8, 8))])
def test_a_grid_is_as_square_as_it_can_be(ranks: int, expected: tuple[int, int]) -> None:
    assert grid(ranks) == expected
