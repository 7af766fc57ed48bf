# SPDX-License-Identifier: Apache-2.0
"""A small b_eff_io with the real engine: all patterns, the value by the formula, hints, hangs, going on."""

import json
import math
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import command, run, run_here, start_and_act

from ullage.cli.app import run as run_in_process
from ullage.engine import describe
from ullage.model.plan import Case, Named
from ullage.results.folder import ResultFolder
from ullage.suites.b_eff_io.cases import CaseMaker
from ullage.suites.b_eff_io.measured import BEffIoRun, CellKey, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import ACCESSES, TYPES, patterns_of, types_of

SMALL = ("--lmax", "64K", "--space", "400M")


@pytest.fixture
def io_engine(engine: Path) -> Path:
    """The engine, where it has the workload."""
    if "b-eff-io" not in {thing.name for thing in describe(engine).workloads}:
        pytest.skip("this engine was built without b-eff-io")
    return engine


def asked(engine: Path, target: str | Path, result: Path, *words: str) -> list[str]:
    place = f"t={target}"
    return command(engine, "run", "b_eff_io", "--target", place, *SMALL, "--result", str(result), *words)


def course_of(result: Path) -> BEffIoRun:
    folder = ResultFolder.open(result)
    return read_run(folder, BEffIoOptions.model_validate(folder.read_request().options))


def type_bandwidth(course: BEffIoRun, ranks: int, access: str, kind: str) -> float:
    """By the definition, from the record of each pattern: bytes over what opening, the patterns and closing took."""
    key = CellKey("t", 0, ranks, access, kind)  # type: ignore[arg-type]
    (attempt,) = course.attempts(key)
    seconds = sum(phase.gauges[name].most for phase in attempt.phases for name in ("open_s", "pattern_s", "close_s"))
    return sum(phase.bytes for phase in attempt.phases) / seconds / 1e6


def measured_patterns(course: BEffIoRun, ranks: int, access: str, kind: str, hints: int = 0) -> list[int]:
    key = CellKey("t", hints, ranks, access, kind)  # type: ignore[arg-type]
    (attempt,) = course.attempts(key)
    assert attempt.is_whole, attempt.error
    return sorted(attempt.good)


def all_are_there(course: BEffIoRun, ranks: int, without: Sequence[int] = (), hints: int = 0) -> bool:
    """Every pattern in every access but a fill-up that may be empty."""
    found = True
    for access in ACCESSES:
        for kind in types_of(access, rewrite=course.options.rewrite):
            wanted = {pattern.number for pattern in patterns_of(kind)} - {33, 42, *without}
            found &= wanted <= set(measured_patterns(course, ranks, access, kind, hints))
    return found


def summary_of(result: Path) -> dict[str, Any]:
    return json.loads((result / "summary.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.long
def test_the_value_follows_from_the_records_by_the_formula(io_engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(asked(io_engine, target, result, "--ranks", "2", "--time", "1s", "--all"))
    assert code == 0, err
    course = course_of(result)
    scores = {score["name"]: score for score in summary_of(result)["scores"]}
    values: list[float] = []
    for ranks, name in ((1, "1 process"), (2, "2 processes")):
        assert all_are_there(course, ranks)
        write, read = (
            {kind: type_bandwidth(course, ranks, access, kind) for kind in TYPES} for access in ("write", "read")
        )
        write_side = (sum(write.values()) + type_bandwidth(course, ranks, "rewrite", "scatter")) / 6
        read_mean = (sum(read.values()) + read["scatter"]) / 6
        values.append(math.sqrt(write_side * read_mean))
        assert scores[f"W' of {name}"]["value"] == pytest.approx(write_side)
        assert scores[f"b_eff_io of {name}"]["value"] == pytest.approx(values[-1])
    assert scores["b_eff_io"]["value"] == pytest.approx(max(values))
    assert not scores["b_eff_io"]["valid"]
    assert "NOT VALID" in out
    assert "NOT VALID" in (result / "b_eff_io.sum.txt").read_text()
    assert [(launch.accesses[0], launch.ranks) for launch in course.launches] == [
        (access, ranks) for access in ACCESSES for ranks in (1, 2)
    ]
    assert [path.name for path in target.iterdir()] == ["precious"]
    code, _, err = run_here("resume", str(result), "--engine", str(io_engine))
    assert code == 0, err
    assert len(course_of(result).launches) == len(course.launches)


@pytest.mark.each_mpi
@pytest.mark.long
def test_any_number_of_processes(io_engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ("--ranks", "5", "--partitions", "3,5", "--time", "2s", "--rewrite")
    code, _, err = run(asked(io_engine, target, result, *words))
    assert code == 0, err
    course = course_of(result)
    assert all(all_are_there(course, ranks) for ranks in (3, 5))
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.each_mpi
def test_sets_of_hints_are_given_to_their_patterns_and_compared(io_engine: Path, target: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(
        "all all all on_open cb_nodes 1\n"
        "2 write scatter 1024 ullage_unknown yes\n"
        "all all all Lmax cb_buffer_size 65536\n"
    )
    result = tmp_path / "result"
    words = ("--hints", "default", "--hints", str(tmp_path / "own.txt"), "--ranks", "2", "--partitions", "2")
    code, _, err = run(asked(io_engine, target, result, *words, "--time", "1s"))
    assert code == 0, err
    course = course_of(result)
    assert all_are_there(course, 2)
    assert all_are_there(course, 2, hints=1)
    given = {
        (key.hints, key.access, key.type, phase.phase): phase.hints_given
        for key in course.keys
        for attempt in course.attempts(key)
        for phase in attempt.phases
    }
    assert given[0, "write", "scatter", "pattern-05"] == {}
    assert given[1, "write", "scatter", "pattern-05"] == {"cb_nodes": "1", "ullage_unknown": "yes"}
    assert given[1, "read", "scatter", "pattern-05"] == {"cb_nodes": "1"}
    assert given[1, "read", "seg_coll", "pattern-35"] == {"cb_nodes": "1", "cb_buffer_size": "65536"}
    findings = summary_of(result)["findings"]
    assert any(
        found["kind"] == "b_eff_io-hints-ignored" and found["numbers"]["key"] == "ullage_unknown" for found in findings
    )


def test_a_pattern_that_hangs_is_left_out_and_voids_the_result(
    io_engine: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = CaseMaker.case

    def hanging(maker: CaseMaker, key: CellKey, skip: Sequence[int] = ()) -> Case:
        """The second call of the first write of type shared never ends; without its pattern nothing is wrong."""
        if key.type == "shared" and key.access == "write" and not skip:
            wrapped: dict[str, Any] = {"inner": "mpiio", "kind": "hang", "operation": "write", "after": 1}
            maker = replace(maker, backends={"t": Named(name="fault", parameters=wrapped)})
        return plain(maker, key, skip)

    monkeypatch.setattr(CaseMaker, "case", hanging)
    result = tmp_path / "result"
    words = ("--ranks", "2", "--partitions", "2", "--time", "1s", "--watchdog", "8s")
    code = run_in_process(asked(io_engine, target, result, *words)[2:])
    said = capsys.readouterr()
    assert code == 4, said.err
    course = course_of(result)
    assert [len(launch.attempts) for launch in course.launches] == [2, 4, 1, 5]
    assert course.launches[0].attempts[-1].hung == 10
    assert all_are_there(course, 2, without=[10])
    assert 10 not in measured_patterns(course, 2, "read", "shared")
    assert "b_eff_io does not count" in said.out
    codes = {event.code for file in ResultFolder.open(result).read_records() for event in file.events}
    assert {"timeout", "pattern-timeout"} <= codes
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.long
@pytest.mark.parametrize("resumable", [True, False])
def test_an_interrupted_run_goes_on(io_engine: Path, target: Path, tmp_path: Path, resumable: bool) -> None:
    """Its last launch removes the data. Where this process stands still until then, another run may try."""
    result, code, left, err = tmp_path, 0, 0, ""
    for turn in range(3):
        result = tmp_path / f"result-{turn}"
        words = asked(io_engine, target, result, "--ranks", "2", "--partitions", "2", "--time", "1s")
        words += ["--resumable"] if resumable else []
        code, _, err = start_and_act(words, result, lambda process: process.send_signal(signal.SIGINT))
        left = len(list(target.iterdir()))
        if (code, left) == (5, 2 if resumable else 1):
            break
    assert (code, left) == (5, 2 if resumable else 1), err
    code, _, err = run(command(io_engine, "resume", str(result)))
    assert code == 0, err
    assert all_are_there(course_of(result), 2)
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.long
def test_without_storage_the_loop_itself_is_seen(io_engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, _, err = run(asked(io_engine, "null:", result, "--ranks", "2", "--partitions", "1,2", "--time", "200ms"))
    assert code == 0, err
    course = course_of(result)
    assert [launch.ranks for launch in course.launches] == [1, 2]
    assert all_are_there(course, 1)
    assert all_are_there(course, 2)


def test_few_rounds_give_the_values_no_interval(io_engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ("--ranks", "1", "--time", "500ms", "--repetitions", "2", "--verify", "none", "--no-shared")
    code, _, err = run(asked(io_engine, target, result, *words))
    assert code == 0, err
    assert course_of(result).rounds == [0, 1]
    score = summary_of(result)["scores"][0]
    assert (score["low"], score["high"]) == (None, None), "what two rounds score by themselves is another statistic"
    assert any("without shared file pointers" in reason for reason in score["reasons"])
    assert [path.name for path in target.iterdir()] == ["precious"]
