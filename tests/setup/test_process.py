# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

from steps import process
from steps.process import StepError, answer, environment, logged


@pytest.fixture(autouse=True)
def logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(process, "LOGS", tmp_path / "logs")
    return tmp_path / "logs"


def test_output_goes_to_the_log_only(logs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logged("fine", [sys.executable, "-c", "print('hello')"])
    assert "hello" in (logs / "fine.log").read_text(encoding="utf-8")
    assert capfd.readouterr() == ("", "")


def test_a_failure_shows_the_end_of_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    code = "print(*range(1000), sep='\\n'); raise SystemExit(3)"
    with pytest.raises(StepError, match="bad: exit code 3"):
        logged("bad", [sys.executable, "-c", code])
    shown = capfd.readouterr().err.splitlines()
    assert shown[-1] == "999"
    assert len(shown) == process.TAIL_LINES


def test_what_hangs_or_is_missing_is_named() -> None:
    with pytest.raises(StepError, match=r"slow: not finished after 0 s"):
        logged("slow", [sys.executable, "-c", "import time; time.sleep(60)"], limit_s=0.2)
    with pytest.raises(StepError, match="none: /no/such/program cannot be started: No such file"):
        logged("none", ["/no/such/program"])
    assert answer(["/no/such/program"]) is None


def test_no_other_python_leaks_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("KEPT", "yes")
    found = environment({"MORE": "1"})
    assert "PYTHONPATH" not in found
    assert (found["KEPT"], found["MORE"], found["PYTHONNOUSERSITE"]) == ("yes", "1", "1")
