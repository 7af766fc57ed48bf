# SPDX-License-Identifier: Apache-2.0
"""``ullage peers``."""

import json
from pathlib import Path

import pytest

from ullage.cli.app import run
from ullage.errors import EXIT_OK

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one empty folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put_fio(folder: Path) -> None:
    (folder / "fio").write_text("#!/bin/sh\necho fio-3.99\n")
    (folder / "fio").chmod(0o755)


def test_what_is_not_installed_is_listed_too(only_path: Path, capsys: Capture) -> None:
    assert run(["peers"]) == EXIT_OK
    text = capsys.readouterr().out
    for word in ("tool", "compared on", "fio", "not installed", "bandwidth"):
        assert word in text
    put_fio(only_path)
    assert run(["peers"]) == EXIT_OK
    text = capsys.readouterr().out
    assert "3.99" in text
    assert "not installed" not in text


def test_in_json(only_path: Path, capsys: Capture) -> None:
    assert run(["peers", "--json"]) == EXIT_OK
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["tool"], found["installed"]) == ("fio", None)
    put_fio(only_path)
    assert run(["peers", "--json"]) == EXIT_OK
    (found,) = json.loads(capsys.readouterr().out)
    assert found["installed"] == {"path": str(only_path / "fio"), "version": "3.99"}
    assert found["compared_on"]
