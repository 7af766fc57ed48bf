# SPDX-License-Identifier: Apache-2.0
"""The official file as text: what the official tool takes is taken, what it refuses is refused with file and line."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.suites.io500.config import parse_config
from ullage.suites.io500.ini import KEYS, read_entries


def values(text: str) -> dict[tuple[str, str], object]:
    entries, _ = read_entries(text, "c.ini")
    return {(entry.section, entry.key): entry.value for entry in entries}


def test_sections_and_keys_in_any_case_and_comments() -> None:
    text = (
        "# head\n[GLOBAL]\ndatadir = /scratch ; the place\nSCC=true\n\n[ Ior-Easy ]\n transfersize = 2m # 1m\nAPI =\n"
    )
    assert values(text) == {
        ("global", "datadir"): "/scratch",
        ("global", "scc"): True,
        ("ior-easy", "transferSize"): 2 << 20,
    }


def test_values_have_types() -> None:
    text = (
        "[ior-easy]\nblockSize = 9920000m\nfilePerProc = 0\n[ior-hard]\nsegmentCount = 10000000\n"
        "[mdworkbench]\nwaitingTime = 0.5\n"
    )
    assert list(values(text).values()) == [9920000 << 20, False, 10_000_000, 0.5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[globl]\n", "c.ini:1: unknown section 'globl'; did you mean 'global'"),
        ("\n[ior-easy]\ntransferSiz = 2m\n", "c.ini:3: unknown key 'transferSiz' in .ior-easy.; did you mean 'transfe"),
        ("[ior-easy]\nunknown =\n", "c.ini:2: unknown key 'unknown'"),
        ("[global]\nscc = maybe\n", r"c.ini:2 \[global\] scc: 'maybe' is not a truth value"),
        ("[mdtest-easy]\nn = 1k\n", "'1k' is not a whole number"),
        ("[ior-easy]\ntransferSize = two\n", "'two' is not a size"),
        ("[mdworkbench]\nwaitingTime = long\n", "'long' is not a number"),
        ("[mdtest-easy]\nn = 1\nn = 2\n", "c.ini:3 .* is set twice"),
        ("n = 1\n", "stands before the first section"),
        ("[global]\nnonsense\n", "c.ini:2: is neither a section nor a value"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read_entries(text, "c.ini")


def test_phases_of_earlier_releases_are_skipped_and_said() -> None:
    text = "[ior-rnd4K]\nblockSize = 1\nrandomPrefill = 0\n[ior-rnd1MB-read]\nAPI = POSIX\n[mdtest-easy]\nn = 5\n"
    entries, former = read_entries(text, "c.ini")
    assert former == ["ior-rnd4K", "ior-rnd1MB-read"]
    assert [entry.key for entry in entries] == ["n"]


def test_the_random_phase_of_2020_is_former_too() -> None:
    assert read_entries("[ior-rnd]\nrun = FALSE\n[ior-rnd-read]\n", "c.ini")[1] == ["ior-rnd", "ior-rnd-read"]


@pytest.mark.parametrize("section", ["ior-easy", "ior-hard-write", "mdtest-easy"])
def test_former_keys_without_a_value_are_as_good_as_absent(section: str) -> None:
    """The keys of config-full.ini of IO500/io500 at io500-isc20."""
    text = f"[{section}]\nAPI = POSIX\nposix.odirect =\nhintsFileName =\nnoRun =\n"
    assert [entry.key for entry in read_entries(text, "c.ini")[0]] == ["API"]
    assert read_entries(f"[{section}]\nnoRun = FALSE\n", "c.ini")[0] == []


@pytest.mark.parametrize(
    ("line", "today"),
    [
        ("posix.odirect = TRUE", "write API = POSIX --posix.odirect"),
        ("hintsFileName = ./hints.txt", r"write API = MPIIO --mpiio.hintsFileName=\./hints.txt"),
        ("noRun = TRUE", "write run = FALSE"),
    ],
)
def test_a_former_key_is_refused_with_the_words_of_today(line: str, today: str) -> None:
    with pytest.raises(UserError, match=today):
        read_entries(f"[ior-easy]\n{line}\n", "c.ini")


@pytest.mark.parametrize("section", ["mdtest-easy", "ior-hard"])
def test_a_former_key_is_not_led_to_words_that_are_refused_too(section: str) -> None:
    with pytest.raises(UserError, match="leave it out: O_DIRECT moves no part of a sector"):
        read_entries(f"[{section}]\nposix.odirect = TRUE\n", "c.ini")


def test_every_key_of_the_official_sample_is_known() -> None:
    expected = {
        "global": 11,
        "debug": 2,
        "ior-easy": 7,
        "ior-hard": 5,
        "mdtest-easy": 3,
        "mdtest-hard": 4,
        "find": 8,
        "find-easy": 8,
        "find-hard": 8,
        "mdworkbench": 6,
        "ior-hard-read": 3,
        "mdtest-hard-read": 2,
        "ior-rnd4K-easy-read": 2,
    }
    assert {name: len(KEYS[name]) for name in expected} == expected


@given(st.text(max_size=300))
def test_no_text_does_anything_but_read_or_be_refused(text: str) -> None:
    with contextlib.suppress(UserError):
        parse_config(text)


@given(st.sampled_from([(section, key) for section in KEYS for key in KEYS[section]]), st.text(max_size=40))
def test_no_value_does_anything_but_read_or_be_refused(place: tuple[str, str], value: str) -> None:
    with contextlib.suppress(UserError):
        parse_config(f"[{place[0]}]\n{place[1]} = {value}\n")
