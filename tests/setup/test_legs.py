# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import engine, legs
from steps.counts import Counts
from steps.legs import Leg
from steps.process import ROOT, StepError


@pytest.mark.parametrize(
    ("preset", "others"), [("openmpi", {"mpich", "asan"}), ("site", {"mpich", "asan"}), ("mpich", {"asan"})]
)
def test_no_leg_is_tested_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str, others: set[str]) -> None:
    monkeypatch.setattr(engine, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "LINK", tmp_path / "ullage-engine")
    engine.link(preset)
    found = [leg.preset for leg in legs.further()]
    assert others <= set(found)
    assert preset not in found
    assert len(set(found)) == len(found)
    shorter = [leg.preset for leg in legs.shorter()]
    assert len(shorter) == len(found), "CI leaves out no leg"
    assert set(shorter) - set(found) == {"asan-engine"}


def test_every_leg_is_a_preset_of_cmake() -> None:
    presets = (ROOT / "CMakePresets.json").read_text(encoding="utf-8")
    assert [
        leg.preset for leg in (*legs.LEGS, *legs.SHORTER.values()) if f'"name": "{leg.preset}"' not in presets
    ] == []


def test_what_cannot_be_built_ahead_is_left_to_the_tests() -> None:
    def fail(preset: str) -> None:
        raise StepError(preset)

    def tested(preset: str) -> Counts:
        return Counts(passed=len(preset))

    build, tests = Leg("asan", "engine tests", fail, tested).steps()
    assert (build.how, tests.needs) == ("aside", (build.name,))
    assert build.run() == Counts()
    assert tests.name == "engine tests, asan"
    assert tests.run() == Counts(passed=4)
