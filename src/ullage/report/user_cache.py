# SPDX-License-Identifier: Apache-2.0
"""Texts that take long to make and never change, kept in the user's cache folder between runs."""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex


def cached_text(name: str, make: Callable[[], str]) -> str:
    """Return what ``make`` returns, from the file ``name`` of an earlier run where that is whole.

    A cache that cannot be read or written is done without.
    """
    file = _folder() / name
    try:
        digest, _, text = file.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        digest = text = ""
    if digest and digest == _digest(text):
        return text
    text = make()
    with suppress(OSError):
        _keep(file, f"{_digest(text)}\n{text}")
    return text


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ullage"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _keep(file: Path, content: str) -> None:
    """Write the whole file or none, since other runs may read it meanwhile."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    whole = file.with_name(f"{file.name}.{token_hex(4)}")
    try:
        whole.write_bytes(content.encode())
        whole.replace(file)
    finally:
        whole.unlink(missing_ok=True)
