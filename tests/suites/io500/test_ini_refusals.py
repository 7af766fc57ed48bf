# SPDX-License-Identifier: Apache-2.0
"""Whoever follows the advice of a refusal of a configuration file comes to one that is accepted.

Among the keys are all that a release of IO500 has had (`src/*.c` of IO500/io500 at its 37 tags).
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.suites.io500.config import OfficialConfig, parse_config
from ullage.suites.io500.ini import KEYS

Entries = list[tuple[str, str, str]]
FORMER = ("posix.odirect", "hintsFileName", "noRun", "external-args")
VALUES = {
    "flag": ["TRUE", "0", "yes"],
    "count": ["3", "0", "3x"],
    "size": ["2m", "4", "0", "2 m"],
    "number": ["1.5", "-1", "x"],
    "text": ["word", "/x", "random"],
}
APIS = [
    *("POSIX", "MPIIO", "MMAP", "PMDK", "DFS", "HDF5 --hdf5.chunkSize=8", "POSIX --posix.odirect", "MPIIO --x", "'"),
    "POSIX --posix.lustre.stripecount 4",
    "MPIIO --mpiio.hintsFileName=none",
]
# Names of the document of a run, which nobody types.
INTERNAL = sorted(name for name in OfficialConfig.model_fields if "_" in name)


def pool() -> Entries:
    found: Entries = []
    for section, keys in KEYS.items():
        for key, known in keys.items():
            found += [(section, key, value) for value in (APIS if key in ("API", "api") else VALUES[known.kind])]
        if "run" in keys:
            found += [(section, key, value) for key in FORMER for value in ("TRUE", "hints")]
            found += [(section, key.upper() + "x", "1") for key in keys]
    return [*found, ("ior-eazy", "run", "TRUE"), ("ior-rnd4K", "randomPrefill", "0"), ("global", "x", "1")]


def text_of(entries: Entries) -> str:
    """Two lines each, so that a line that is named leads to its entry."""
    return "".join(f"[{section}]\n{key} = {value}\n" for section, key, value in entries)


def named(entries: Entries, message: str) -> int:
    """Return which entry a message is about: by its line, else by section and key, else by the file that it names."""
    if file := re.match(r"/nonexistent/(\S+): ", message):
        return next(i for i, one in enumerate(entries) if one[2].endswith(f"hintsFileName={file[1]}"))
    if line := re.search(r"c\.ini:(\d+)", message):
        return (int(line[1]) - 1) // 2
    section, key = re.findall(r"c\.ini \[(.+?)\] ?(\S*?):", message)[0]
    return next(i for i, one in enumerate(entries) if one[0] == section and key in ("", one[1]))


def follow(entries: Entries, message: str) -> Entries:
    """Do what ``message`` says; an advice that nobody can follow fails the test."""
    index = named(entries, message)
    section, key, value = entries[index]
    changed: tuple[str, str, str] | None
    if match := re.search(r"did you mean '(.+?)'|; one of ([\w.-]+)", message):
        word = match[1] or match[2]
        is_section, is_key = "unknown section" in message, "unknown key" in message
        changed = (word, key, value) if is_section else (section, word, "") if is_key else (section, key, word)
    elif re.search(r"leave it out|write it once|none is taken here|give both or none", message):
        changed = None
    elif match := re.search(r"write ([A-Za-z]+) = (.+)$", message):
        changed = (section, match[1], match[2])
    elif match := re.search(r"write (TRUE|FALSE|digits only|2m|0\.0)", message):
        changed = (section, key, match[1].replace("digits only", "9"))
    elif match := re.search(r"(?:use|name) (?:MMAP or )?(POSIX|a file)", message):
        changed = (section, key, match[1].replace("a file", "POSIX"))
    elif match := re.search(r"(?:greater than or equal to|a multiple of) (\d+)", message):
        changed = (section, key, match[1])
    elif "close the quotation" in message:
        changed = (section, key, "POSIX")
    else:
        raise AssertionError(f"nobody can follow this advice: {message}")
    return [*entries[:index], *([changed] if changed else []), *entries[index + 1 :]]


def until_accepted(entries: Sequence[tuple[str, str, str]]) -> None:
    said: list[str] = []
    asked = list(entries)
    for _ in range(25):
        try:
            parse_config(text_of(asked), "c.ini", Path("/nonexistent"))
        except UserError as error:
            said.append(str(error))
            assert not [name for name in INTERNAL if name in said[-1].replace("/vm/drop_caches", "")], said
            asked = follow(asked, said[-1])
        else:
            return
    raise AssertionError(f"the advice goes in circles: {said[-3:]}")


@pytest.mark.parametrize("section", sorted({section for section, _, _ in pool()}))
def test_the_advice_for_every_key_leads_to_a_file_that_is_accepted(section: str) -> None:
    for one in pool():
        if one[0] == section:
            until_accepted([one])


def test_two_keys_that_exclude_each_other_lead_to_a_file_that_is_accepted() -> None:
    until_accepted([("ior-easy", "uniqueDir", "TRUE"), ("ior-easy", "filePerProc", "FALSE")])
    until_accepted([("mdworkbench", "filesPerProc", "3"), ("ior-easy", "transferSize", "12")])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(pool()), min_size=2, max_size=5))
def test_the_advice_for_several_keys_leads_to_a_file_that_is_accepted(chosen: Entries) -> None:
    until_accepted(chosen)
