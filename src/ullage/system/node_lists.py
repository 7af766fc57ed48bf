# SPDX-License-Identifier: Apache-2.0
"""Lists of nodes in the words of batch systems: ``n[0-3,7]`` of Slurm and Flux, and what keeps a job off some."""

import re
from collections.abc import Sequence
from typing import Final

from ullage.errors import UserError
from ullage.grouping import grouped

# A bracket of more would be no list of nodes, but a way to fill the memory.
_MOST_NODES: Final = 1 << 20
_NUMBERED: Final = re.compile(r"(.*?)(\d+)(\D*)")
_BRACKET: Final = re.compile(r"\[([^\[\]]*)\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")


def expanded(text: str) -> list[str]:
    """Return the nodes of ``n[00-03,7],login1``, in its order; raise ``UserError`` where it is no list of nodes."""
    return [name for part in _parts(text) for name in _names(part)]


def _parts(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text.strip():
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def _names(part: str) -> list[str]:
    """Return the names of one part, its first bracket varying slowest."""
    bracket = _BRACKET.search(part)
    if bracket is None:
        if "[" in part or "]" in part:
            raise UserError("is no list of nodes", part, "write n[0-3,7]")
        return [part]
    heads = [part[: bracket.start()] + number for number in _numbers(bracket[1], part)]
    rest = part[bracket.end() :]
    return [head + tail for head in heads for tail in (_names(rest) if rest else [""])]


def _numbers(text: str, part: str) -> list[str]:
    found: list[str] = []
    for item in text.split(","):
        match = _RANGE.fullmatch(item)
        if match is None:
            raise UserError("is no list of nodes", part, "write n[0-3,7]")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first < _MOST_NODES - len(found):
            raise UserError("is no list of nodes", part, "write n[0-3,7], with rising numbers")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found


def compressed(names: Sequence[str]) -> str:
    """Return ``names`` as ``n[0-2,7],login``: numbers of equal width and equal names around them share a bracket."""
    parts = [_NUMBERED.fullmatch(name) for name in names]
    by_stem = grouped(
        ((match[1], match[3], _width(match[2])) if match is not None else (name, "", -1), match[2] if match else "")
        for name, match in zip(names, parts, strict=True)
    )
    return ",".join(_bracketed(head, tail, digits) for (head, tail, _), digits in by_stem.items())


def _width(digits: str) -> int:
    """Return the width of a number with zeros before it; 0 for one without, whatever its size."""
    return len(digits) if digits.startswith("0") and len(digits) > 1 else 0


def _bracketed(head: str, tail: str, digits: Sequence[str]) -> str:
    if digits == [""]:
        return head
    if len(digits) == 1:
        return f"{head}{digits[0]}{tail}"
    runs: list[list[int]] = []
    for number in sorted({int(one) for one in digits}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    width = len(digits[0]) if digits[0].startswith("0") else 0
    ranges = [str(run[0]).zfill(width) + (f"-{str(run[-1]).zfill(width)}" if len(run) > 1 else "") for run in runs]
    return f"{head}[{','.join(ranges)}]{tail}"


def words_for(system: str, names: Sequence[str]) -> str:
    """Return the words that ask for jobs on these nodes alone; nothing without any."""
    if not names:
        return ""
    match system:
        case "slurm":
            return f"--nodelist={compressed(names)}"
        case "flux":
            return f"--requires=host:{compressed(names)}"
        case "lsf":
            return f'-m "{" ".join(names)}"'
        case "pbs":
            return "-l select=" + "+".join(f"1:host={name}" for name in names)
        case _:
            return f"--hosts {','.join(names)}"


def words_against(system: str, names: Sequence[str]) -> str:
    """Return the words that keep jobs off these nodes; nothing without any, and where there are no such words."""
    if not names:
        return ""
    match system:
        case "slurm":
            return f"--exclude={compressed(names)}"
        case "flux":
            return f"--requires=-host:{compressed(names)}"
        case "lsf":
            return '-R "select[' + " && ".join(f"hname!='{name}'" for name in names) + ']"'
        case _:
            return ""
