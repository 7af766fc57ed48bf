# SPDX-License-Identifier: Apache-2.0
"""``ullage keep``, ``history``, ``check`` and ``baseline``."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support import recorded_results
from support.campaign_world import stored_summaries, write_run
from ullage.cli.app import run
from ullage.cli.campaign import keep_at_end
from ullage.errors import EXIT_BAD_INPUT, EXIT_CANNOT_TELL, EXIT_CASE_FAILED, EXIT_OK

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Path:
    """24 weeks of a node, the last 10 of them with a slow triad, kept by the command."""
    stored_summaries(monkeypatch)
    monkeypatch.setenv("ULLAGE_CAMPAIGN", str(tmp_path / "c"))
    runs = [
        write_run(tmp_path / "past", number, factor={"triad": 0.8 if number > 13 else 1.0}, cv=0.01)
        for number in range(24)
    ]
    assert run(["keep", *(str(one.path) for one in runs)]) == EXIT_OK
    assert capsys.readouterr().out.count("4 rows, kept") == 24
    return tmp_path / "c"


def test_history_says_what_changed_and_shows_every_number(campaign: Path, capsys: Capture) -> None:
    assert run(["history"]) == EXIT_OK
    out = capsys.readouterr().out
    assert "triad, threads 64, n1.site: worse since 2026-04-13: -" in out
    assert out.count("n1.site") == 5
    assert run(["history", "--since", "2026-05-01"]) == EXIT_OK
    assert "No change can be told of 4 numbers" in capsys.readouterr().out
    assert run(["history", "nothing", "--campaign", str(campaign)]) == EXIT_OK
    assert "No row can be judged" in capsys.readouterr().out


def test_history_answers_sql_as_csv(campaign: Path, capsys: Capture) -> None:
    assert run(["history", "--sql", "SELECT node, count(*) AS n FROM rows GROUP BY node"]) == EXIT_OK
    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [["node", "n"], ["n1.site", "96"]]
    assert run(["history", "--sql", "SELECT nothing FROM rows", "--campaign", str(campaign)]) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("\n") == 1


def test_check_says_by_its_code_whether_something_is_worse(campaign: Path, tmp_path: Path, capsys: Capture) -> None:
    slow = write_run(tmp_path / "now", 30, factor={"copy": 0.7, "triad": 0.8}, cv=0.001)
    assert run(["check", str(slow.path), "--format", "line"]) == EXIT_CASE_FAILED
    assert capsys.readouterr().out == (
        "ullage check: 1 worse, 3 same (memory: memory_bandwidth, access copy, threads 64 on n1.site)\n"
    )
    assert run(["check", "--margin", "8%"]) == EXIT_OK
    assert "4 same" in capsys.readouterr().out
    assert run(["check", "--margin", "1%", "--strict", "--format", "md"]) == EXIT_CANNOT_TELL
    assert "| verdict | number |" in capsys.readouterr().out
    assert run(["check", str(slow.path), "--format", "junit"]) == EXIT_CASE_FAILED
    suite = ET.fromstring(capsys.readouterr().out)
    assert suite.get("tests") == "4"
    assert [case.get("name") for case in suite if len(case)] == ["memory: memory_bandwidth, access copy, threads 64"]
    assert campaign.is_dir()


def test_a_baseline_is_of_the_time_that_is_named(campaign: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["check", "--against", "baseline"]) == EXIT_BAD_INPUT
    assert run(["baseline", "--since", "2026-05-01"]) == EXIT_OK
    assert "baseline.parquet: 28 rows" in capsys.readouterr().out
    fast = write_run(tmp_path / "now", 30, cv=0.001)
    assert run(["check", str(fast.path), "--against", "baseline"]) == EXIT_OK
    assert "1 better, 3 same" in capsys.readouterr().out
    assert run(["baseline", "--since", "2036-05-01", "--campaign", str(campaign)]) == EXIT_BAD_INPUT


@pytest.mark.parametrize("words", [["keep"], ["check", "--format", "pdf"], ["history", "--since", "spring"]])
def test_wrong_words_are_refused_in_one_line(words: list[str], campaign: Path, capsys: Capture) -> None:
    assert run([*words, "--campaign", str(campaign)]) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("\n") == 1


def test_recorded_results_are_kept_with_their_parts(tmp_path: Path, capsys: Capture) -> None:
    result, campaign = recorded_results.unpack("sweep_two_targets", tmp_path), ["--campaign", str(tmp_path / "c")]
    assert keep_at_end(result, tmp_path / "c", EXIT_OK) == EXIT_OK
    assert "rows are kept in" in capsys.readouterr().err
    assert run(["keep", str(result), "--pack", *campaign]) == EXIT_OK
    assert "already kept" in capsys.readouterr().out
    assert run(["history", "--sql", "SELECT DISTINCT part FROM rows WHERE part <> ''", *campaign]) == EXIT_OK
    assert len(capsys.readouterr().out.splitlines()) > 1
    assert run(["check", str(result), "--format", "line", *campaign]) == EXIT_OK
    assert "cannot tell" in capsys.readouterr().out
    assert keep_at_end(result, None, 5) == 5
