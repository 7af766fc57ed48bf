# SPDX-License-Identifier: Apache-2.0
"""Small readers for /proc and /sys, and for commands: what cannot be read or makes no sense is None, never a guess."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path("/")


def read_text(path: Path) -> str | None:
    """Return a file's content without the blanks around it; None when it cannot be read or is empty."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \t\n") or None
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """Return a file's content as a whole number; None when it is none or cannot be read."""
    text = read_text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def read_fields(path: Path, separator: str = ":") -> dict[str, str]:
    """Read ``NAME SEPARATOR VALUE`` lines; of a name that comes again (one block a CPU) the first counts."""
    fields: dict[str, str] = {}
    for line in (read_text(path) or "").splitlines():
        name, found, value = line.partition(separator)
        if found:
            fields.setdefault(name.strip(), value.strip())
    return fields


def read_kib(fields: dict[str, str], name: str) -> int | None:
    """Return the bytes of a ``NAME: 123 kB`` line; None where there is no such number."""
    number = fields.get(name, "").removesuffix(" kB")
    return int(number) * 1024 if number.isdigit() else None


def bracketed(text: str | None) -> str | None:
    """Return the chosen word of ``always [madvise] never``; a single bare word counts as chosen, else it is None."""
    if text is None:
        return None
    for word in text.split():
        if word.startswith("[") and word.endswith("]"):
            return word[1:-1]
    return text if len(text.split()) == 1 else None


def parse_cpu_list(text: str | None) -> list[int]:
    """Return the numbers of a list such as ``0-3,8``; empty when it is no such list."""
    cpus: list[int] = []
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdigit() or not (last or first).strip().isdigit():
            return []
        cpus += range(int(first), int(last or first) + 1)
    return cpus


_TIMEOUT_S = 10.0


def said_by(
    words: Sequence[str],
    timeout_s: float = _TIMEOUT_S,
    environment: Mapping[str, str] | None = None,
    *,
    also_errors: bool = False,
) -> str:
    """Return the stdout of a command, empty if it fails or takes too long. ``also_errors``: and stderr, also then."""
    import subprocess

    try:
        done = subprocess.run(
            words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if also_errors:
        return (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
