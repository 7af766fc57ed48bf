# SPDX-License-Identifier: Apache-2.0
"""What one run makes and later ones need again: the chart library as one script, and compiled templates.

A cache that cannot be read or written is done without.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from ullage.reading import read_bytes

if TYPE_CHECKING:
    from jinja2 import BytecodeCache


def cached_text(name: str, make: Callable[[], str]) -> str:
    """Return what ``make`` returns, from the file ``name`` of an earlier run where that is whole."""
    known = _read(name)
    if known is not None:
        with suppress(UnicodeDecodeError):
            return known.decode()
    text = make()
    _keep(name, text.encode())
    return text


def compiled_templates() -> "BytecodeCache":
    """Return a cache of compiled templates, each in a file named after the template and its version of Jinja."""
    from jinja2 import BytecodeCache, __version__
    from jinja2.bccache import Bucket

    def name(bucket: Bucket) -> str:
        return f"template-{bucket.key}-of-jinja2-{__version__}.bin"

    class Compiled(BytecodeCache):
        """Jinja itself refuses code that was compiled by another Python or from another text of the template."""

        def load_bytecode(self, bucket: Bucket) -> None:
            known = _read(name(bucket))
            if known is not None:
                bucket.bytecode_from_string(known)

        def dump_bytecode(self, bucket: Bucket) -> None:
            _keep(name(bucket), bucket.bytecode_to_string())

    return Compiled()


def _read(name: str) -> bytes | None:
    """Return what was kept under ``name``; None where there is nothing, or not all of it."""
    try:
        digest, _, content = read_bytes(_folder() / name).partition(b"\n")
    except OSError:
        return None
    return content if digest == _digest(content) else None


def _keep(name: str, content: bytes) -> None:
    """Write the whole file or none, since other runs may read it meanwhile."""
    file = _folder() / name
    whole = file.with_name(f"{file.name}.{token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            whole.write_bytes(_digest(content) + b"\n" + content)
            whole.replace(file)
        finally:
            whole.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ullage"


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()
