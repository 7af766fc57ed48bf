# SPDX-License-Identifier: Apache-2.0
"""``ullage health`` as a prologue calls it: one line, an exit code, what is kept, and what a batch system is told."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.campaign.test_health import campaign, rows

from support.fake_program import FakeProgram
from ullage.campaign.check import Kept
from ullage.campaign.health import Rounds
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK
from ullage.system.allocation import JOBS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*JOBS, "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ULLAGE_CAMPAIGN", str(tmp_path / "c"))


Measured = Callable[..., None]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Let each measurement of this node return the given rows, in their order."""

    def let(*given: list[Kept]) -> None:
        left = iter(given)

        def measure(_rounds: Rounds) -> list[Kept]:
            return next(left)

        monkeypatch.setattr(Rounds, "measure", measure)
        monkeypatch.setattr("ullage.system.readiness.gpu_makers", list)

    return let


def test_a_first_check_says_what_it_measured_and_keeps_it(tmp_path: Path, capsys: Capture, measured: Measured) -> None:
    measured(rows(40), rows(41), rows(42))
    assert run(["health", "--keep"]) == EXIT_OK
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert line.startswith("ullage health: n1: cannot tell: of cores (fma) no runs of 8 are known: --keep adds one")
    assert "; cores 1" in line
    assert len(list((tmp_path / "c").rglob("*.parquet"))) == 1
    assert run(["health"]) == EXIT_OK
    assert run(["health", "--strict"]) == EXIT_CANNOT_TELL
    assert len(list((tmp_path / "c").rglob("*.parquet"))) == 1


def test_a_slow_node_is_told_by_line_and_code_and_drained_where_asked(
    tmp_path: Path, capsys: Capture, measured: Measured, fake_program: FakeProgram
) -> None:
    campaign(tmp_path / "c", 20)
    fake_program("scontrol", f'printf "%s\\n" "$@" > {tmp_path}/seen')
    measured(rows(40), *(rows(number, memory=0.8) for number in range(41, 45)))
    assert run(["health", "--strict", "--apply"]) == EXIT_OK
    assert capsys.readouterr().out.startswith("ullage health: n1: ok: cores ")
    assert run(["health"]) == EXIT_CASE_FAILED
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "n1: worse: memory 1" in line
    assert "known from 20 runs" in line
    assert not (tmp_path / "seen").exists()
    assert run(["health", "--apply"]) == EXIT_CASE_FAILED
    assert (tmp_path / "seen").read_text().splitlines()[1:3] == ["nodename=n1", "state=drain"]


def test_a_time_that_is_too_short_is_refused(capsys: Capture) -> None:
    assert run(["health", "--time", "5s"]) == EXIT_BAD_INPUT
    assert "too short" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "why"), [("/nothing/there", "no such folder"), ("/dev/shm", "is memory, and no drive")]
)
def test_what_is_no_drive_is_refused_before_anything_is_measured(place: str, why: str, capsys: Capture) -> None:
    assert run(["health", "--target", f"own={place}"]) == EXIT_BAD_INPUT
    assert why in capsys.readouterr().err


def test_a_campaign_without_duckdb_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert run(["health", "--keep"]) == EXIT_ENVIRONMENT
    assert "duckdb" in capsys.readouterr().err
