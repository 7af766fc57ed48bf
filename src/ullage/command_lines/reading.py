# SPDX-License-Identifier: Apache-2.0
"""From the options of a request to a translation."""

from collections.abc import Callable
from pathlib import Path

from ullage.command_lines.options import LineOptions
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


def translation_of(
    tool: str, options: LineOptions, translator: Translator, read_file: Callable[[Path], str]
) -> Translation:
    """``UserError`` names the line, where there are several, and the word that has no equivalent."""
    lines = [split_line(text, tool) for text in options.lines]
    return translator(lines, WantedLayout(options.ranks, options.nodes, options.ranks_per_node), read_file)
