# SPDX-License-Identifier: Apache-2.0
"""A whole cpu run on a machine of known answers: rows, ceilings, findings, launches."""

from pathlib import Path

import pytest

from suites.cpu.conftest import OURS, SITE, World, row_of
from support.cpu_world import CLOCK_HZ, KERNELS
from support.data import some
from ullage.model.plan import Case
from ullage.results.folder import ResultFolder
from ullage.results.records import read_records


def test_every_kernel_has_its_rate_clock_and_ceiling_at_each_thread_count(world: World) -> None:
    summary = world.summary()
    for name, (operations, rate) in some(KERNELS.items()):
        isa, type_, operation = name.split("/")
        for threads in (1, 4):
            place = {"isa": isa, "type": type_, "operation": operation, "threads": threads}
            row = row_of(summary, **place)
            assert row.params == place
            assert row.median == pytest.approx(0.98 * threads * CLOCK_HZ * rate * operations)
            assert len(row.repetitions) == 6
            assert row.ceiling is not None
            assert row.ceiling.kind == "detected"
            assert row.ceiling.value == pytest.approx(threads * CLOCK_HZ * rate * operations)
            assert row.share == pytest.approx(0.98)
            assert row.flag_codes == []
            assert row_of(summary, "clock", **place).median == CLOCK_HZ
            assert row_of(summary, "instructions_per_cycle", **place).median == pytest.approx(0.98 * rate)


def test_a_ceiling_says_its_factors(world: World) -> None:
    summary = world.summary()
    row = row_of(summary, isa="avx512", type="fp64", operation="fma", threads=4)
    assert row.ceiling is not None
    assert row.ceiling.source == "4 cores x 4.00 GHz measured x 1 instruction a cycle x 16 operations"
    slow = row_of(summary, type="int64", threads=1)
    assert slow.ceiling is not None
    assert "2 instructions in 3 cycles" in slow.ceiling.source


def test_products_and_solves_stand_under_our_own_roof(world: World) -> None:
    summary = world.summary()
    for operation in ("gemm", "solve"):
        for library in ("site", "ours"):
            row = row_of(summary, operation=operation, library=library, threads=4)
            assert row.params["core"] == "chosen"
            assert row.ceiling is not None
            assert row.ceiling.kind == "empirical"
            assert row.ceiling.source.startswith("fastest of our own kernels in double precision")
            assert row.share == pytest.approx(0.9 / 0.98)


def test_libraries_have_launches_of_their_own(world: World) -> None:
    world.summary()
    libraries = [
        {str(case.workload.parameters.get("library", "")) for case in plan.cases} for plan in world.engine.plans
    ]
    assert libraries == [{""}, {SITE}, {OURS}] * (len(libraries) // 3)
    assert all(plan.layout.ranks == 1 and plan.layout.binding == "none" for plan in world.engine.plans)


def test_wrong_kernels_of_a_library_are_found_and_others_tried(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.cores_to_try", lambda _flags, _vendor: ["SkylakeX", "Haswell"])
    world.engine.blas = {"": 0.3, "SkylakeX": 0.8, "Haswell": 0.45}
    summary = world.summary()
    flagged = row_of(summary, operation="gemm", library="site", core="chosen", threads=4)
    assert "blas-kernel-mismatch" in flagged.flag_codes
    assert any("Prescott" in reason for reason in flagged.reasons)
    best = row_of(summary, operation="gemm", library="site", core="SkylakeX", threads=4)
    assert best.flag_codes == []
    said = [finding for finding in summary.findings if finding.kind == "blas-kernel-mismatch"]
    assert len(said) == 2
    assert "Prescott" in said[0].text
    assert "OPENBLAS_CORETYPE=SkylakeX" in said[0].text
    assert said[0].numbers["best_core"] == "SkylakeX"
    assert said[0].severity == "warning"
    solves = {row.params["core"] for row in summary.rows if row.params.get("operation") == "solve"}
    assert solves == {"chosen", "SkylakeX"}


def test_a_library_near_the_roof_is_left_alone(world: World) -> None:
    world.engine.blas = {"": 0.62}
    summary = world.summary()
    assert not any(finding.kind == "blas-kernel-mismatch" for finding in summary.findings)
    cases = {case.id for plan in world.engine.plans[:3] for case in plan.cases}
    assert {case.id for plan in world.engine.plans for case in plan.cases} == cases


def test_kernels_that_a_library_does_not_have_are_no_failure(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.cores_to_try", lambda _flags, _vendor: ["SkylakeX"])
    world.engine.blas = {"": 0.3}
    world.engine.fails = lambda case: case.workload.parameters.get("core") == "SkylakeX"
    assert world.run(world.prepare())[0] == 0
    summary = world.summary()
    assert not any(finding.kind == "failure" for finding in summary.findings)
    assert any("SkylakeX was tried in vain" in event.text for event in summary.events)


def test_a_kernel_with_a_wrong_result_fails_the_run_and_has_no_row(world: World) -> None:
    def is_bad(case: Case) -> bool:
        return case.workload.name == "compute" and "isa" not in case.workload.parameters  # scalar, the default

    world.engine.fails = is_bad
    assert world.run(world.prepare())[0] == 4
    summary = world.summary()
    assert any(finding.kind == "failure" for finding in summary.findings)
    assert not any(row.params.get("isa") == "scalar" for row in summary.rows)


def test_a_rate_that_no_core_can_have_is_invalid(world: World) -> None:
    def merged(case: Case, gauges: dict[str, float]) -> dict[str, float]:
        if case.workload.parameters.get("type", "fp64") != "fp64" or case.workload.parameters.get("operation") != "fma":
            return gauges
        # As if the compiler had merged chains: three FMAs a cycle.
        return {**gauges, "operations": 3 * gauges["operations"], "instructions": 3 * gauges["instructions"]}

    world.engine.changed = merged
    row = row_of(world.summary(), isa="avx512", type="fp64", operation="fma", threads=1)
    assert "INVALID:above-ceiling" in row.flag_codes
    assert row.share == pytest.approx(0.98 * 3 / 2)


def test_chains_that_disagree_are_flagged(world: World) -> None:
    world.engine.changed = lambda _case, gauges: {**gauges, "clock_disagreement": 0.03, "unpinned_threads": 1.0}
    row = row_of(world.summary(), isa="avx2", threads=1)
    assert row.flag_codes == ["clock-disagrees", "unpinned"]


def test_threads_without_a_law_of_little_are_not_flagged_idle(world: World) -> None:
    flags = {flag for row in world.summary().rows for flag in row.flag_codes}
    assert flags == set()


def test_ratios_are_rows(world: World) -> None:
    summary = world.summary()
    clock = row_of(summary, "clock_ratio", threads=4)
    assert clock.median == pytest.approx(1)
    assert clock.params["over"] == "scalar/fp64/fma with 4 threads"
    assert row_of(summary, "rate_ratio", type="int8", threads=1).median == pytest.approx(4)
    scaling = row_of(summary, "thread_ratio", type="fp32", threads=4)
    assert scaling.median == pytest.approx(4)
    assert (scaling.low, scaling.high) == (pytest.approx(4, rel=1e-3), pytest.approx(4, rel=1e-3))


def test_findings_are_sentences(world: World) -> None:
    texts = {finding.kind: finding.text for finding in world.summary().findings}
    assert texts["fastest"].startswith("The kernel with the highest median is avx512vnni/int8/dot: ")
    assert "98 % of its ceiling" in texts["fastest"]
    assert texts["threads"] == "int8, int64, fp32 and fp64 need 4 threads: 4.00 x the rate of 1 thread."
    assert "92 % of our own kernels' rate" in texts["solve"]
    assert texts["clock-penalty"].startswith("AVX-512 does not lower the clock")
    assert texts["missing"].startswith("Not available: ")
    assert "avx512fp16 (too old)" in texts["missing"]
    assert "amx (the CPU has no AMX)" in texts["missing"]


def test_a_declared_peak_goes_first(world: World, tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text('[cpu]\ncores = 4\nclock_hz = "3GHz"\n[cpu.flops_per_cycle]\n"avx512/fp64/fma" = 32\n')
    row = row_of(world.summary(machine=machine), isa="avx512", type="fp64", operation="fma", threads=4)
    assert row.ceiling is not None
    assert row.ceiling.kind == "declared"
    assert row.ceiling.value == 4 * 3e9 * 32


def test_a_short_time_gives_what_it_can_and_says_so(world: World) -> None:
    world.run(world.prepare(time="20s"))
    assert world.engine.clock.at < 1000 + 22
    assert "time-too-short" in {event.kind for event in world.summary().events}


def test_an_interrupted_run_is_gone_on_with(world: World) -> None:
    world.engine.ends = {1: "interrupted"}
    assert world.run(world.prepare())[0] == 5
    assert world.resume()[0] == 0
    assert all(len(row.repetitions) == 6 for row in world.summary().rows if row.metric == "compute_rate")
    plans = len(world.engine.plans)
    assert world.resume()[0] == 0
    assert len(world.engine.plans) == plans


def test_records_of_other_suites_are_no_rows_of_this_one(world: World) -> None:
    prepared = world.prepare(type="fp64", isa="avx2")
    world.run(prepared)
    assert isinstance(world.result, ResultFolder)
    for number in world.result.launches():
        path = world.result.records_path(number)
        text = path.read_text().replace('"workload": "compute"', '"workload": "stream"')
        path.write_text(text)
        assert read_records(path).cases
    assert not any("isa" in row.params for row in world.summary().rows)
