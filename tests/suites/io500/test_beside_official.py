# SPDX-License-Identifier: Apache-2.0
"""An official result folder: what its first screen and `show` list, and how it stands beside a run of ours."""

import json
from pathlib import Path

import pytest

from support.recorded_results import unpack
from ullage.cli.app import run
from ullage.errors import EXIT_OK
from ullage.suites.io500.phases import scored_phases

Capture = pytest.CaptureFixture[str]
NAMES = [phase.name for phase in scored_phases("standard")]
LINE = "[RESULT] {name:>22} {value:15.6f} {unit} : time {time:.3f} seconds\n"


@pytest.fixture
def official(tmp_path: Path, capsys: Capture) -> Path:
    """A folder as the official tool leaves it, imported."""
    lines = [
        LINE.format(name=phase.name, value=index + 1.5, unit=phase.unit, time=301.0 + index)
        for index, phase in enumerate(scored_phases("standard"))
    ]
    score = "[SCORE ] Bandwidth 4.000000 GiB/s : IOPS 7.000000 kiops : TOTAL 5.291503\n"
    folder = tmp_path / "official-folder"
    folder.mkdir()
    (folder / "result_summary.txt").write_text(f"IO500 version io500-isc26 (standard)\n{''.join(lines)}{score}")
    assert run(["import", str(folder), "--result", str(tmp_path / "official")]) == EXIT_OK
    capsys.readouterr()
    return tmp_path / "official"


def listed(text: str) -> list[str]:
    """The phases that lines of ``text`` have, in their order."""
    return [name for line in text.splitlines() for name in NAMES if f"{name}:" in line or line.startswith(f"{name} ")]


@pytest.mark.parametrize("verb", ["report", "show"])
def test_all_phases_that_count_stand_first_in_official_order(verb: str, official: Path, capsys: Capture) -> None:
    assert run([verb, str(official)]) == EXIT_OK
    assert listed(capsys.readouterr().out) == NAMES


@pytest.mark.parametrize("verb", ["report", "show"])
def test_so_do_those_of_a_run_of_ours(verb: str, tmp_path: Path, capsys: Capture) -> None:
    assert run([verb, str(unpack("io500", tmp_path))]) == EXIT_OK
    assert set(found := listed(capsys.readouterr().out)) >= {"ior-easy-write", "ior-hard-read", "mdtest-easy-stat"}
    assert found == [name for name in NAMES if name in found]


@pytest.mark.parametrize("by", [[], ["--by", "result"], ["--by", "target"]])
def test_every_phase_of_an_official_folder_has_its_partner_in_a_run_of_ours(
    by: list[str], official: Path, tmp_path: Path, capsys: Capture
) -> None:
    ours = unpack("io500", tmp_path)
    assert run(["show", str(ours)]) == EXIT_OK
    measured = listed(capsys.readouterr().out)
    assert run(["compare", str(official), str(ours), *by, "--format", "json"]) == EXIT_OK
    found = json.loads(capsys.readouterr().out)
    assert [cell["setting"]["access"] for cell in found["cells"]] == measured
    assert {"ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read"} <= set(measured)
    assert [mover["name"] for mover in found["attributions"][0]["movers"]] == measured
    assert found["scores"][0]["name"] == "IO500"


@pytest.mark.parametrize("verb", ["import", "report"])
def test_what_a_screen_leaves_out_is_shown_by_all(verb: str, official: Path, tmp_path: Path, capsys: Capture) -> None:
    words = [str(official)] if verb == "report" else [str(tmp_path / "official-folder"), "--result"]
    assert run([verb, *words, *([str(tmp_path / "one")] if verb == "import" else [])]) == EXIT_OK
    short = capsys.readouterr().out
    assert run([verb, *words, *([str(tmp_path / "two")] if verb == "import" else []), "--all"]) == EXIT_OK
    assert len(capsys.readouterr().out) > 1.5 * len(short)
