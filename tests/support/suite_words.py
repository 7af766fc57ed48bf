# SPDX-License-Identifier: Apache-2.0
"""What a suite is asked for: options and requests by the words of a command line, and the machine that it sees."""

from pathlib import Path
from typing import TypeVar

import pytest

from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.runs.options.model import SuiteOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.room import Machine

Options = TypeVar("Options", bound=SuiteOptions)


def options_of(model: type[Options], /, **words: object) -> Options:
    """The options of these words."""
    return model.model_validate(parse_options(model, **words).options)


def request_of(suite: str, model: type[SuiteOptions], /, **words: object) -> Request:
    """The request of these words."""
    asked = parse_options(model, **words)
    return Request(run_id="r1", suite=suite, created="now", targets=asked.targets, options=asked.options)


def put_on(monkeypatch: pytest.MonkeyPatch, path: Path, memory_bytes: int = 8 << 30, **known: object) -> None:
    """Have suites of storage see a machine with target ``here`` on a disk of which so much is ``known``."""
    here = {"target": "here", "path": str(path), "exists": True, "file_system": "ext4", "is_memory": False, **known}
    machine = Machine(4, [Place.model_validate(here)], Memory(total_bytes=memory_bytes, available_bytes=memory_bytes))
    for module in ("runs.cells.prepared", "suites.loader.prepare"):
        monkeypatch.setattr(f"ullage.{module}.checked_machine", lambda _targets: machine)
