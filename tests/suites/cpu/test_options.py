# SPDX-License-Identifier: Apache-2.0
"""Words of ``ullage run cpu``, and the cases they make."""

from pathlib import Path

import pytest

from suites.cpu.conftest import World
from ullage.errors import UserError
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import parse_options
from ullage.suites.cpu import SUITE
from ullage.suites.cpu.options import CpuOptions


def kernels(prepared: PreparedKernels) -> list[tuple[str, str]]:
    return [(case.words[1], case.words[2]) for case in prepared.cases if case.words[0] == "compute"]


def test_the_seeds_names_are_understood(world: World) -> None:
    assert world.prepare(type="DP").request.options["types"] == ["fp64"]
    assert world.prepare(type="qp,dp").request.options["types"] == ["int8", "fp64"]


def test_single_precision_has_the_integers_of_its_width_beside_it() -> None:
    assert parse_options(CpuOptions, type="SP", threads="1").options["types"] == ["fp32", "int32"]


def test_types_and_instruction_sets_choose_kernels(world: World) -> None:
    prepared = world.prepare(type="fp64", isa="avx512")
    names = [("avx512/fp64/fma", "1"), ("avx512/fp64/fma", "4"), ("avx512/fp64/add", "1"), ("avx512/fp64/add", "4")]
    assert kernels(prepared) == names


def test_quick_is_the_best_of_each_type_and_a_scalar_one(world: World) -> None:
    names = {name for name, _ in kernels(world.prepare(quick=True))}
    best = {"avx512vnni/int8/dot", "avx512/int64/multiply", "avx512/fp32/fma", "avx512/fp64/fma", "scalar/fp64/fma"}
    assert names == best


def test_the_quick_form_is_for_every_machine(world: World) -> None:
    del world
    asked = SUITE.quick([])
    assert asked is not None
    assert asked.options["quick"] is True
    assert [target.uri for target in asked.targets] == ["cpu:"]


def test_between_one_and_all_only_the_best_are_measured(world: World) -> None:
    prepared = world.prepare(threads=None)
    assert prepared.request.options["threads"] == [1, 2, 4]
    assert {name for name, threads in kernels(prepared) if threads == "2"} == {
        "avx512vnni/int8/dot",
        "avx512/int64/multiply",
        "avx512/fp32/fma",
        "avx512/fp64/fma",
    }


def test_without_double_precision_there_is_no_product(world: World) -> None:
    assert {case.words[0] for case in world.prepare(type="int8").cases} == {"compute"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"threads": "0"}, "--threads: 0 is not allowed"),
        ({"threads": "1,5"}, "5 threads, but only 4 usable CPUs; at most 4"),
        ({"threads": "many"}, "--threads 'many': not a count"),
        ({"type": "fp63"}, "--type: unknown word 'fp63'; did you mean"),
        ({"isa": "avx3"}, "--isa: unknown word 'avx3'"),
        ({"isa": "amx"}, "no kernel runs here for amx; the CPU has no AMX"),
        ({"type": "fp64,fp64"}, "repeated word"),
        ({"blas": Path("/no/such.so")}, "--blas /no/such.so: no such file"),
        ({"time": "0"}, "--time 0: is not above 0"),
        ({"size": 1 << 20}, "--size: a solve of 1048576 rows needs"),
    ],
)
def test_a_bad_word_is_one_line(world: World, words: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        world.prepare(**words)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_explanation_names_every_case(world: World) -> None:
    explanation = world.prepare().explain()
    assert explanation.headers[:4] == ["workload", "kernel", "threads", "size"]
    assert len(explanation.rows) == 14 + 8
    assert "in 3 launches" in explanation.head[0]


def test_plans_are_one_a_launch_with_their_part_of_the_time(world: World) -> None:
    from ullage.results.folder import ResultFolder

    prepared = world.prepare(time="100s")
    plans = prepared.plans(ResultFolder(Path("/nowhere")))
    assert len(plans) == 3
    assert sum(plan.time_budget_s or 0 for plan in plans) == pytest.approx(100)


def test_where_no_library_is_there_the_run_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.cpu.prepare.find_libraries", lambda _named: [])
    prepared = world.prepare()
    assert [note.code for note in prepared.notes] == ["no-blas"]
    assert world.run(prepared)[0] == 0
    assert any(event.kind == "no-blas" for event in world.summary().events)
