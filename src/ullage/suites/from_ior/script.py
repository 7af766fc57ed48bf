# SPDX-License-Identifier: Apache-2.0
"""IOR's scripts (``-f FILE``): a line of directives after the other, each test begun by ``run``, as command lines.

A test has what the tests before it have set; what stands on the command line beside ``-f`` holds for all of them.
Pure, but for the file that the flag names.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ullage.command_lines.splitting import CommandLine, split_line
from ullage.errors import UserError
from ullage.suites.from_ior.flags import DIRECTIVES, TABLE

_FLAG = "-f"
_TOOL = "ior"


def expanded(texts: Sequence[str], read_file: Callable[[Path], str]) -> list[str]:
    """Return ``texts`` with a command line for each test of a script instead of the line that names it."""
    return [line for text in texts for line in _lines(text, read_file)]


def _lines(text: str, read_file: Callable[[Path], str]) -> list[str]:
    line = split_line(text, _TOOL)
    words, script = _without_script(line)
    if not script:
        return [text]
    before = shlex.split(text)[: -len(line.words) or None]
    tests = list(_tests(read_file(Path(script)), script))
    if not tests:
        raise UserError("contains no test", script, "write IOR START, directives, RUN, IOR STOP")
    return [shlex.join([*before, *words, *directives]) for directives in tests]


def _without_script(line: CommandLine) -> tuple[list[str], str]:
    """Return the words without the flag, and the file that it names; empty text without one."""
    kept: list[str] = []
    script = ""
    words = iter(line.words)
    for word in words:
        if word == _FLAG:
            script = next(words, "")
            if not script:
                raise UserError(f"{_FLAG} needs a value", _TOOL, f"write {_FLAG} FILE")
        elif word.startswith(f"{_FLAG}="):
            script = word.partition("=")[2]
        else:
            kept.append(word)
    return kept, script


def _tests(text: str, name: str) -> Iterator[list[str]]:
    """Yield the words of each test; raise ``UserError`` with the line of what is no directive."""
    said: list[str] = []
    is_open = False
    for number, whole in enumerate(text.splitlines(), start=1):
        line, place = whole.partition("#")[0].strip(), f"{name}:{number}"
        match line.lower().split():
            case []:
                continue
            case ["ior", "start"]:
                is_open = True
            case ["ior", "stop"]:
                return
            case ["run"] if is_open:
                yield list(said)
            case _ if is_open:
                said += [DIRECTIVES.key, _directive(line, place)]
            case _:
                raise UserError("stands before IOR START", place, "begin the tests with a line IOR START")
    raise UserError("has no line IOR STOP", name, "end the tests with it")


def _directive(line: str, place: str) -> str:
    """Return ``NAME=VALUE`` without the blanks around the sign; refuse what has no equivalent, with its place."""
    name, joined, value = (part.strip() for part in line.partition("="))
    text = f"{name}={value}" if joined else name
    try:
        TABLE.read([DIRECTIVES.key, text])
    except UserError as error:
        raise UserError(error.what, place, error.right, error.code) from error
    return text
