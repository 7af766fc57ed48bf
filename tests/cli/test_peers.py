# SPDX-License-Identifier: Apache-2.0
"""``ullage peers``."""

import json
from pathlib import Path
from typing import Any

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


def fio_of(capsys: Capture) -> dict[str, Any]:
    """What the JSON says of fio."""
    (found,) = [one for one in json.loads(capsys.readouterr().out) if one["tool"] == "fio"]
    return found


def test_what_is_not_installed_is_listed_too(only_path: Path, capsys: Capture) -> None:
    assert run(["peers"]) == EXIT_OK
    text = capsys.readouterr().out
    for word in ("tool", "compared on", "fio", "not installed", "bandwidth"):
        assert word in text
    put_fio(only_path)
    assert run(["peers"]) == EXIT_OK
    text = capsys.readouterr().out
    (line,) = [line for line in text.splitlines() if "fio: " in line]
    assert "3.99" in line
    assert "not installed" not in line


def test_in_json(only_path: Path, capsys: Capture) -> None:
    assert run(["peers", "--json"]) == EXIT_OK
    assert fio_of(capsys)["installed"] is None
    put_fio(only_path)
    assert run(["peers", "--json"]) == EXIT_OK
    found = fio_of(capsys)
    assert found["installed"] == {"path": str(only_path / "fio"), "version": "3.99"}
    assert found["compared_on"]
