# SPDX-License-Identifier: Apache-2.0
"""From words to a run that is ready: what the machine allows is found once and stays in the request."""

from pathlib import Path

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, memory_describe
from ullage.errors import UserError
from ullage.model.request import Request
from ullage.model.system import Limits, Memory
from ullage.report.points import spread_out
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import load_suites
from ullage.suites.memory.options import MemoryOptions
from ullage.suites.memory.prepare import prepare_memory

GROUND = EngineContext(Path("/engine"), memory_describe())


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, 4 GiB, no control group."""
    where = "ullage.suites.memory.prepare"
    monkeypatch.setattr(f"{where}.read_caches", lambda *_: CACHES)
    monkeypatch.setattr(f"{where}.read_memory", lambda *_: Memory(total_bytes=4 << 30, available_bytes=4 << 30))
    monkeypatch.setattr(f"{where}.read_limits", lambda *_: Limits())
    monkeypatch.setattr(f"{where}.read_numa", lambda *_: [])
    monkeypatch.setattr(f"{where}.usable_cpus", lambda: [0, 1])
    monkeypatch.setattr("ullage.runs.kernels.resources.usable_cpus", lambda: [0, 1])
    monkeypatch.setattr("ullage.runs.kernels.resources.usable_cores", lambda: 2)
    monkeypatch.setattr("ullage.runs.kernels.resources.read_limits", Limits)


def prepare(asked: ParsedOptions) -> PreparedKernels:
    return prepare_memory(
        Request(run_id="r1", suite="memory", created="now", targets=asked.targets, options=asked.options), GROUND
    )


def options_of(prepared: PreparedKernels) -> MemoryOptions:
    return MemoryOptions.model_validate(prepared.request.options)


def test_what_the_machine_allows_stays_in_the_request() -> None:
    prepared = prepare(parse_options(MemoryOptions))
    options = options_of(prepared)
    assert options.caches == CACHES
    assert options.most == 1 << 30
    assert options.threads == [1, 2]
    assert options.repetitions == 6
    again = prepare_memory(prepared.request, GROUND)
    assert [case.case.id for case in again.cases] == [case.case.id for case in prepared.cases]


def test_a_run_that_is_gone_on_with_keeps_its_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare(parse_options(MemoryOptions))
    monkeypatch.setattr("ullage.suites.memory.prepare.read_memory", lambda *_: Memory(total_bytes=MIB))
    again = prepare_memory(prepared.request, GROUND)
    assert [case.case.id for case in again.cases] == [case.case.id for case in prepared.cases]


def test_under_a_control_group_sets_shrink_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.memory.prepare.read_limits", lambda *_: Limits(memory_bytes=256 * MIB))
    prepared = prepare(parse_options(MemoryOptions))
    small, left_out = prepared.notes
    assert (small.code, left_out.code) == ("small-sets", "blocks-left-out")
    assert "at most 64M" in small.text
    assert "blocks of 10M are left out where 2 threads copy them" in left_out.text
    largest = max(int(str(case.case.workload.parameters.get("working_set_bytes", 0))) for case in prepared.cases)
    assert largest <= 64 * MIB


def test_half_a_core_runs_with_one_thread_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.runs.kernels.resources.read_limits", lambda: Limits(cpu_quota=0.5))
    prepared = prepare(parse_options(MemoryOptions, quick=True))
    assert options_of(prepared).threads == [1]
    assert {"cpu-quota", "one-thread"} <= {note.code for note in prepared.notes}


def test_a_machine_that_tells_nothing_of_caches_is_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.memory.prepare.read_caches", lambda *_: [])
    prepared = prepare(parse_options(MemoryOptions))
    assert "caches-unknown" in {note.code for note in prepared.notes}
    assert prepared.cases


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"working_set": "4G"}, "a working set of 4G, but only 1.00 GiB may be used"),
        ({"block": "100"}, "--block"),
        ({"block": "0"}, "--block"),
        ({"working_set": "777"}, "--working-set 777: 777 bytes are not a multiple of 512"),
        ({"threads": "3"}, "3 threads, but only 2 usable CPUs"),
        ({"threads": "0"}, "--threads"),
        ({"time": "0"}, "--time"),
        ({"machine": Path("/nowhere/machine.toml")}, "/nowhere/machine.toml"),
    ],
)
def test_bad_words_are_one_line(words: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as caught:
        prepare(parse_options(MemoryOptions, **words))  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_first_look_is_offered_to_suites_that_hold_all() -> None:
    suite = load_suites()["memory"]
    asked = suite.quick([])  # type: ignore[attr-defined]
    options = MemoryOptions.model_validate(asked.options)
    assert options.quick
    assert options.repetitions == 3
    assert options.time_s == 30


def test_explaining_names_every_case_and_starts_nothing() -> None:
    prepared = prepare(parse_options(MemoryOptions, block="64K", working_set="4K,8K"))
    explained = prepared.explain()
    assert explained.headers[:4] == ["part", "work", "threads", "working set"]
    assert len(explained.rows) == len(prepared.cases)
    assert {row[0] for row in explained.rows} >= {"blocks", "STREAM", "curve", "access time", "cores", "loaded"}
    assert any("64K" in row[4] for row in explained.rows)


def test_of_many_cpus_some_are_picked_evenly() -> None:
    assert spread_out([0, 1, 2], 16) == [0, 1, 2]
    found = spread_out(list(range(128)), 16)
    assert (len(found), found[0], found[-1]) == (16, 0, 127)
    assert len(set(found)) == 16
    assert 4 * KIB == 4096
