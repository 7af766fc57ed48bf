# SPDX-License-Identifier: Apache-2.0
"""Whoever follows the advice of a refusal comes to a command line that is accepted."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ullage.command_lines.flags import FlagTable
from ullage.command_lines.translation import Translator, WantedLayout, split_line
from ullage.errors import UserError
from ullage.suites.from_ior.parameters import TABLE as IOR
from ullage.suites.from_ior.translation import translate as translate_ior
from ullage.suites.from_mdtest.translation import TABLE as MDTEST
from ullage.suites.from_mdtest.translation import translate as translate_mdtest

# Values that a flag is given, right and wrong ones; others get 3.
VALUES = {
    "-a": ["POSIX", "MPIIO", "HDF5", "MMAP", "PMDK", "DUMMY", "DFS", "POXIS"],
    "-b": ["1m", "2", "64k", "3"],
    "-t": ["64k", "1m", "12"],
    "-s": ["2", "0"],
    "-i": ["2"],
    "-N": ["2", "9"],
    "-l": ["t", "q"],
    "-D": ["1", "0"],
    "-X": ["3", "-1"],
    "-O": ["reorderTasks=1", "verbose=2", "interTestDelay=3", "writeFile"],
    "-n": ["6", "8", "1"],
    "-I": ["3", "2"],
    "-z": ["2", "99"],
    "-o": ["/s/f", "/a@/b"],
    "-d": ["/s/x", "/a@/b"],
    "-w": ["8"],
    "-e": ["8", "16"],
}
# What the placeholders of an advice stand for.
MEANT = {"FILE": "h", "BYTES": "4k", "SECONDS": "9", "VALUE": "3", "ITEMS": "9"}
Words = list[list[str]]


def pool(table: FlagTable) -> Words:
    found = [[name] for name in (*table.advice, "--verbos", "--dfs.pool=x")]
    for flag in table.flags:
        values = [value for name in flag.names for value in VALUES.get(name, ["3"])] if flag.takes_value else [""]
        found += [[name, *([value] if value else [])] for name in flag.names for value in values]
        found += [] if flag.names else [["-O", f"{flag.directive}=1"]]
    return found


def without(words: Words, name: str) -> Words:
    """Without the flag or directive ``name``, as a message calls it."""
    bare = name.removeprefix("-O ")
    named = [one for one in words if one[0] == bare or (one[0] == "-O" and one[1].split("=")[0] == bare)]
    named += [one for one in words if one[0].split("=")[0] == bare]
    assert named, f"'{name}' was not written in {words}"
    return [one for one in words if one not in named]


def with_value(words: Words, name: str, value: str) -> Words:
    return [*(one for one in words if one[0] != name), [name, value]]


def follow(words: Words, message: str) -> Words:  # noqa: C901 - one return an advice
    """Do what ``message`` says; an advice that nobody can follow fails the test."""
    first = re.search(r"(?:unknown (?:flag|directive) '|^[\w-]+: )?((?:-O [\w.-]+|--?[\w.-]+))", message)
    about = first[1] if first else ""
    if "write -z once" in message:
        return [*without(words, "-z"), ["-z"]]
    if "has no equivalent" in message and "with @" not in message:
        assert "leave it out" in message or f"without {about}" in message
        return without(words, about)
    if match := re.search(r"did you mean '([^']+)'", message):
        wrong = re.findall(r"'([^']+)'", message)[0]
        return [[match[1] if word == wrong else word for word in one] for one in words]
    if match := re.search(r"now it is (--[\w.]+)(?:=(\w+))?", message):
        return [*without(words, about), [match[1], *([MEANT[match[2]]] if match[2] else [])]]
    if match := re.search(r"write (-O [\w.]+)=(\w+)$", message):
        return [*without(words, match[1]), ["-O", f"{match[1][3:]}={MEANT.get(match[2], match[2])}"]]
    if match := re.search(r"write (-a POSIX)$|give (-[od]) one path|write (-t 256k -b 1m)", message):
        given = (match[1] or match[3] or f"{match[2]} /s/f").split()
        for name, value in zip(given[::2], given[1::2], strict=True):
            words = with_value(words, name, value)
        return words
    if match := re.search(r"'[^']*' is not a value of (-\w)\b.*whole number from (\d+)", message):
        return with_value(words, match[1], match[2])
    if match := re.search(r"^(ior|mdtest) (-{1,2}\w+): .*one of (\w+)", message):
        return with_value(words, match[2], match[3])
    if match := re.search(r"write a multiple", message):
        return with_value(with_value(words, "-t", "64k"), "-b", "64k")
    if match := re.search(r"(?:; |\b)(?:add|raise) (?:its )?(-\w+)(?: (SECONDS|ITEMS))?", message):
        value = {"-n": "99", "-w": "16", "-D": "9"}.get(match[1])
        if match[1] == "-np":
            return without(words, "-N")
        return with_value(words, match[1], value) if value else [*words, [match[1]]]
    if match := re.search(r"at most (-z) (\d+)", message):
        return with_value(words, match[1], "2")
    if match := re.search(r"(?:leave|give) (?:one|both)(?: of (-\w) and (-\w)| out)", message):
        return without(words, match[1] or about)
    if match := re.search(r"leave (\S+) out", message):
        return without(words, about if match[1] in ("it", "one") else match[1])
    if match := re.search(r"without (--[\w.]+)$|unknown flag '(--[\w.-]+)'", message):
        return without(words, match[1] or match[2])
    raise AssertionError(f"nobody can follow this advice: {message}")


@pytest.mark.parametrize(
    ("tool", "table", "translator", "usual"),
    [("ior", IOR, translate_ior, []), ("mdtest", MDTEST, translate_mdtest, [["-n", "6"]])],
)
def test_the_advice_of_every_refusal_leads_to_a_line_that_is_accepted(
    tool: str, table: FlagTable, translator: Translator, usual: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The files of hints that are named: by a value like all others, and by an advice.
    for name in ("3", MEANT["FILE"]):
        Path(name).touch()

    @settings(max_examples=400, deadline=None)
    @given(st.lists(st.sampled_from(pool(table)), min_size=1, max_size=4))
    def holds(chosen: Words) -> None:
        _until_accepted(tool, translator, [*usual, *chosen])

    holds()
    for one in pool(table):
        _until_accepted(tool, translator, [*usual, one])


def _until_accepted(tool: str, translator: Translator, words: Words) -> None:
    said: list[str] = []
    for _ in range(25):
        try:
            translator([split_line(_line(tool, words), tool)], WantedLayout())
        except UserError as error:
            said.append(str(error))
            words = follow(words, str(error))
        else:
            return
    raise AssertionError(f"the advice goes in circles: {said[-3:]}")


def _line(tool: str, words: Sequence[Sequence[str]]) -> str:
    return f"mpirun -np 4 {tool} {' '.join(map(shlex.join, words))}"
