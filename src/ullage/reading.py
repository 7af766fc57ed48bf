# SPDX-License-Identifier: Apache-2.0
"""The one door for reading files that somebody names or that lie in a result.

They are regular files, opened without waiting, of a size that makes sense: a pipe would be waited for, and a device
read without end. What the kernel shows below /proc and /sys is read by ``system/files``.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, cast

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.harmless import harmless

WRITTEN_BYTES: Final = 4 << 20
"""Most bytes of a file that people write: settings, hints, floors, ceilings."""
TABLE_BYTES: Final = 64 << 20
"""Most bytes of a file that a program wrote for people: tables and logs to import, patterns of messages."""
DOCUMENT_BYTES: Final = 1 << 30
"""Most bytes of a document of a result. Records have no limit, as they are read line by line."""

_END_BYTES: Final = 8192


def open_regular(path: Path, most_bytes: int | None = None) -> BinaryIO:
    """Open a regular file of at most ``most_bytes`` to read it; raise ``OSError`` for anything else, and never wait."""
    # Opening some devices does something, so they are not even tried.
    _check(os.stat(path), path, most_bytes)  # noqa: PTH116 - the same call as below
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check(os.fstat(handle), path, most_bytes)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def _check(found: os.stat_result, path: Path, most_bytes: int | None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    if most_bytes is not None and found.st_size > most_bytes:
        raise _too_large(path, most_bytes)


def _too_large(path: Path, most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"is larger than {most_bytes >> 20} MiB", str(path))


def read_bytes(path: Path, most_bytes: int = DOCUMENT_BYTES) -> bytes:
    """Return the content of a regular file of at most ``most_bytes``; raise ``OSError`` as ``open_regular`` does."""
    with open_regular(path, most_bytes) as stream:
        content = stream.read(most_bytes + 1) or b""
    if len(content) > most_bytes:
        raise _too_large(path, most_bytes)
    return content


def end_of(path: Path) -> str:
    """Return the last words of what a program has said, as text; raise ``OSError`` as ``open_regular`` does."""
    with open_regular(path) as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _END_BYTES))
        return harmless(stream.read().decode("utf-8", "replace"))


def read_text(path: Path, right: str, where: str = "", most_bytes: int = WRITTEN_BYTES) -> str:
    """Return the text of a file that somebody named, with ``\n`` as the end of each line.

    Raise ``UserError`` that says ``where`` it was named (as a rule its path) and what would be ``right``.
    """
    text = as_text(content_of(path, right, where, most_bytes), where or str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def content_of(path: Path, right: str, where: str = "", most_bytes: int = WRITTEN_BYTES) -> bytes:
    """Return the bytes of a file that somebody named; see ``read_text``."""
    try:
        return read_bytes(path, most_bytes)
    except (OSError, ValueError) as error:  # a path may have a NUL
        code = EXIT_ENVIRONMENT if isinstance(error, PermissionError) else EXIT_BAD_INPUT
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(said or "cannot be read", where or str(path), right, code) from error


def as_text(content: bytes, where: str) -> str:
    """Return UTF-8 as text; raise ``UserError`` with the line of the first byte that is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError("is not UTF-8 text", f"{where}:{line}", "save it as UTF-8") from error


def read_toml(path: Path, right: str, where: str = "") -> dict[str, object]:
    """Return the document of a TOML file that somebody named; see ``read_text``. ``right``: how it is written."""
    text = read_text(path, right, where)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise UserError(f"is not TOML: {error}", where or str(path), right) from error


def parse_toml(text: str) -> dict[str, object]:
    """Parse TOML; raise ``ValueError`` for what is none, also when it is nested too deeply."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def toml_line(text: str, name: str, table: int, key: str) -> int | None:
    """Return the line of ``key`` in the ``table``-th table ``[[name]]``, else that of its head, or None; 0: anywhere.

    Text that merely looks like a key or a table misleads it: the parsed document has forgotten its lines.
    """
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{name}\s*\]\]", line)]
    first, last = (heads[table - 1 : table] or [0])[0] if table else 0, len(lines)
    if 0 < table < len(heads):
        last = heads[table]
    begins = re.compile(rf"""\s*(?:\[{{1,2}}\s*(?:{name}\.)?)?["']?{re.escape(key)}["']?\s*[\]=.]""")
    found = next((at for at in range(first, last) if key and begins.match(lines[at])), first if table else None)
    return None if found is None else found + 1


def child(of: object, *names: str) -> Mapping[str, object]:
    """Return the object below ``names``, or ``of`` itself without names; an empty one where there is none."""
    for name in names:
        of = child(of).get(name)
    return cast("Mapping[str, object]", of) if isinstance(of, dict) else {}


def children(of: object, *names: str) -> Sequence[object]:
    """Return the list below ``names``, or ``of`` itself without names; an empty one where there is none."""
    found = child(of, *names[:-1]).get(names[-1]) if names else of
    return cast("list[object]", found) if isinstance(found, list) else []


def parse_json(text: str | bytes, *, strict: bool = True) -> object:
    """Parse JSON; raise ``ValueError`` for what is none, also when it is nested too deeply.

    ``strict``: no control characters in texts.
    """
    try:
        return cast("object", json.loads(text, strict=strict))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
