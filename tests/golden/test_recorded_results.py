# SPDX-License-Identifier: Apache-2.0
"""Every recorded result and every golden import says today what it said when it was frozen, byte for byte.

results/README.md has how each was recorded, and how to freeze them again when a change is meant.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import recorded_results
from ullage.cli.app import run

GOLDEN = Path(__file__).parent
FREEZE = os.environ.get("ULLAGE_FREEZE") == "1"
IMPORTED = "imports"
# They say when, where and by which version an import was made. Two imports may differ in nothing else.
OF_THE_RUN = ("run_id", "created", "command", "versions")

Ullage = Callable[[list[str]], str]


@pytest.fixture
def ullage(capsys: pytest.CaptureFixture[str]) -> Ullage:
    """``ullage`` as on a command line: its words in, its stdout out."""

    def call(words: list[str]) -> str:
        capsys.readouterr()
        code = run(words)
        said = capsys.readouterr()
        assert code == 0, f"`ullage {' '.join(words)}` ended with {code}: {said.err}"
        return said.out

    return call


@pytest.fixture
def version(ullage: Ullage) -> str:
    return ullage(["--version"]).split()[-1]


def must_be_as_frozen(name: str, found: dict[str, Any]) -> None:
    if FREEZE:
        recorded_results.write_frozen(name, found)
        pytest.skip("frozen again")
    differences = recorded_results.differences(recorded_results.read_frozen(name), found)
    assert not differences, "\n".join([f"{name} is not what was frozen", *differences])


def imports() -> dict[str, list[Path]]:
    """Every file that can be imported, alone, and those together that a course report consists of."""
    tables = [*GOLDEN.glob("*.csv"), *GOLDEN.glob("*.json"), *(recorded_results.RECORDED / IMPORTED).iterdir()]
    single = {f"{IMPORTED}/{path.name}": [path] for path in sorted(tables) if path.suffix != ".xz"}
    return {**single, f"{IMPORTED}/pa1_all": sorted(GOLDEN.glob("pa1_*.csv"))}


@pytest.mark.parametrize("name", recorded_results.names())
def test_a_recorded_result_says_what_it_said(name: str, ullage: Ullage, version: str, tmp_path: Path) -> None:
    result = recorded_results.unpack(name, tmp_path)
    found = recorded_results.outputs(result, ullage, version)
    must_be_as_frozen(name, found)


@pytest.mark.parametrize("name", imports())
def test_a_golden_import_says_what_it_said(name: str, ullage: Ullage, tmp_path: Path) -> None:
    result = tmp_path / "result"
    ullage(["import", *map(str, imports()[name]), "--result", str(result)])
    text = (result / "summary.json").read_text(encoding="utf-8")
    assert ullage(["report", str(result), "--format", "json"]) == text
    must_be_as_frozen(name, {"json": without_the_run(text)})


def without_the_run(text: str) -> str:
    """``text`` of a summary with a fixed word for each value of ``OF_THE_RUN``, and every other byte as it was."""
    summary = json.loads(text)
    for field in OF_THE_RUN:
        value = json.dumps(summary[field], indent=1, ensure_ascii=False).replace("\n", "\n ")
        line = f' "{field}": {value},\n'
        assert text.count(line) == 1, f"{field} is not written as expected: {line}"
        text = text.replace(line, f' "{field}": "OF THE RUN",\n')
    return text


def test_a_changed_byte_is_found_and_named() -> None:
    """The check itself must be able to fail."""
    name = "noise"
    frozen = recorded_results.read_frozen(name)
    median = re.search(r'"median": ([\d.e-]+)', frozen["json"])
    assert median is not None
    changed = {**frozen, "json": frozen["json"].replace(median[0], '"median": 1.25', 1)}
    differences = recorded_results.differences(frozen, changed)
    assert differences[0].startswith("== json")
    assert any(line.startswith("+") and "1.25" in line for line in differences)
    assert recorded_results.differences(frozen, dict(frozen)) == []


def test_every_suite_has_a_recorded_result(ullage: Ullage, tmp_path: Path) -> None:
    requests = [recorded_results.unpack(name, tmp_path) / "request.json" for name in recorded_results.names()]
    recorded = {json.loads(path.read_text(encoding="utf-8"))["suite"] for path in requests}
    offered = set(re.findall(r"^ (\w[\w-]*)  ", ullage(["suites"]), re.MULTILINE)) - {"suite"}
    assert offered <= recorded, f"not recorded: {sorted(offered - recorded)}"
