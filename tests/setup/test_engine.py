# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from steps import engine
from steps.counts import Counts
from steps.process import StepError


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setattr(engine, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "LINK", tmp_path / ".venv" / "bin" / "ullage-engine")
    return tmp_path


def test_the_link_tells_the_preset_in_use(checkout: Path) -> None:
    with pytest.raises(StepError, match="run `make setup`"):
        engine.linked()
    for preset in ("openmpi", "mpich"):
        engine.link(preset)
        binary = checkout / "build" / preset / "ullage-engine"
        binary.parent.mkdir(parents=True)
        binary.touch()
        assert engine.LINK.resolve() == binary
        assert engine.linked() == preset


def test_the_link_survives_a_move_of_the_checkout(checkout: Path) -> None:
    engine.link("openmpi")
    assert not engine.LINK.readlink().is_absolute()
    assert checkout.name not in str(engine.LINK.readlink())


def test_configured_means_that_there_is_something_to_build(checkout: Path) -> None:
    (checkout / "build" / "mpich").mkdir(parents=True)
    assert not engine.configured(["mpich"])
    (checkout / "build" / "mpich" / "build.ninja").touch()
    assert engine.configured(["mpich"])
    assert not engine.configured(["mpich", "asan"])


def test_tests_that_passed_are_run_again_when_the_program_or_its_corpus_has_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, corpus = checkout / "build" / "openmpi" / "ullage-engine-tests", checkout / "tests" / "fuzz" / "corpus"
    for place in (program.parent, corpus):
        place.mkdir(parents=True)
    found = [Counts(failed=1), Counts(passed=2), Counts(passed=2), Counts(passed=2)]
    monkeypatch.setattr(engine, "build_tests", lambda _preset: None)
    monkeypatch.setattr(engine, "_test", lambda *_words: found.pop(0))
    program.write_text("one")
    assert engine.test_on_one_process("openmpi").failed == 1
    assert engine.test_on_one_process("openmpi").passed == 2, "those that failed are run again"
    assert engine.test_on_one_process("openmpi") == Counts()
    program.write_text("another")
    assert engine.test_on_one_process("openmpi").passed == 2
    (corpus / "plan.json").write_text("{}")
    assert engine.test_on_one_process("openmpi").passed == 2
    assert found == []


@pytest.mark.parametrize(
    ("flags", "left"), [("", "engine/c.cpp"), ("-include cmake_pch.hxx ", "engine/a.cpp, engine/c.cpp")]
)
def test_a_file_that_no_build_begins_with_was_not_compiled_by_itself(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, flags: str, left: str
) -> None:
    sources, unit = checkout / "engine", checkout / "build" / "openmpi" / "Unity" / "unity_0_cxx.cxx"
    for folder in (sources, unit.parent, checkout / "build" / "apart"):
        folder.mkdir(parents=True)
    for name in ("a", "b", "c", "a_test"):
        (sources / f"{name}.cpp").touch()
    unit.write_text("".join(f'// made\n#include "{sources}/{name}.cpp"\n' for name in ("a", "b", "c")))
    for preset, file, command in (("openmpi", unit, f"c++ {flags}-c"), ("apart", sources / "b.cpp", "c++ -c")):
        entries = [{"file": str(file), "command": command}]
        (engine.folder(preset) / "compile_commands.json").write_text(json.dumps(entries))
    monkeypatch.setattr(engine, "build_engine", lambda _: None)
    engine.link("openmpi")
    assert engine.compiled("apart").failures == (f"not compiled by themselves: {left}",)
    (sources / "c.cpp").unlink()
    assert engine.compiled("apart").passed == (0 if flags else 1)
