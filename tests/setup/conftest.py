# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from support.fake_program import FakeProgram


@pytest.fixture
def fake_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProgram:
    """Return a function that puts a shell script under a name on a PATH that holds nothing else."""
    folder = tmp_path / "fake bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, body: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        return program

    return make
