# SPDX-License-Identifier: Apache-2.0
"""Remembers what a set-up was made from, so that a second one with the same inputs has nothing to do."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import cast


def digest(files: Iterable[Path], facts: Mapping[str, str]) -> str:
    """Return a hash over the names and contents of ``files`` and over ``facts``."""
    total = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for file in sorted(files):
        content = file.read_bytes()
        total.update(f"\0{file.name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


# Checks that run at the same time write to one file.
_WRITING = Lock()


class Stamps:
    """The digests of finished set-ups by name, in one JSON file. A missing or damaged file means: none is finished."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("dict[str, str]", found) if isinstance(found, dict) else {}

    def matches(self, name: str, current: str) -> bool:
        """Tell whether the set-up ``name`` was finished with the same inputs."""
        return self._read().get(name) == current

    def finish(self, current: str, *names: str) -> None:
        """Write down that the set-ups ``names`` are finished."""
        temporary = self._file.with_suffix(".new")
        with _WRITING:
            finished = {**self._read(), **dict.fromkeys(names, current)}
            temporary.write_text(json.dumps(finished, indent=1) + "\n", encoding="utf-8")
            temporary.replace(self._file)
