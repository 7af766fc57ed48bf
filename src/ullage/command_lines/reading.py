# SPDX-License-Identifier: Apache-2.0
"""From command lines to a translation."""

from collections.abc import Callable, Iterable
from pathlib import Path

from ullage.command_lines.splitting import split_line
from ullage.command_lines.translation import Translation, Translator, WantedLayout
from ullage.errors import UserError


def read_text(path: Path) -> str:
    """A file that a flag names; ``UserError`` when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is no text"
        raise UserError(why or "cannot be read", str(path), "name a text file that you may read") from error


def translate_lines(
    tool: str,
    lines: Iterable[str],
    wanted: WantedLayout,
    translator: Translator,
    read_file: Callable[[Path], str] = read_text,
) -> Translation:
    """``UserError`` names the line, where there are several, and the word that has no equivalent."""
    return translator([split_line(text, tool) for text in lines], wanted, read_file)
