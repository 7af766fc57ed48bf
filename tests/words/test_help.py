# SPDX-License-Identifier: Apache-2.0
"""Every help text in one file, to be read in one go, and the rules of docs/style.md on each of them."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from support.every_command import every_command
from support.plain_words import MOST_WORDS, faults
from ullage.cli.command_tree import Command
from ullage.exporters import load_exporters
from ullage.importers import load_importers

SNAPSHOT = Path(__file__).with_name("help.txt")


def is_suite_of_plan(command: Command) -> bool:
    """`plan SUITE` has the options of `run SUITE`."""
    return command.path[1:2] == ("plan",) and len(command.path) == 3


def snapshot() -> str:
    lines: list[str] = []
    for command in every_command().values():
        if is_suite_of_plan(command):
            continue
        lines += [command.name, *(f"    {text}" for text in command.doc)]
        for one in command.parameters:
            lines.append(f"    {one.typed}: {one.help}{f'  [{one.note}]' if one.note else ''}")
        lines.append("")
    return "\n".join(lines)


def texts() -> Iterator[tuple[str, str]]:
    for command in every_command().values():
        yield command.name, " ".join(command.doc)
        for one in command.parameters:
            yield f"{command.name} {one.typed}", one.help


def test_the_snapshot_has_every_help_text() -> None:
    """After a wanted change: ULLAGE_FREEZE=1, then read the difference."""
    if os.environ.get("ULLAGE_FREEZE"):
        SNAPSHOT.write_text(snapshot(), encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == snapshot()


# A list of the names of formats is read by nobody as a sentence.
_LIST = re.compile(r"(?:[a-z0-9_]+, ){5,}[a-z0-9_]+ or [a-z0-9_]+")


def test_every_help_text_is_there_and_plain() -> None:
    assert [place for place, text in texts() if not text] == []
    assert {place: found for place, text in texts() if (found := faults(_LIST.sub("NAMES", text)))} == {}


def test_a_flag_that_turns_something_off_says_so() -> None:
    """``--no-sync`` with the words of what it leaves out says the opposite of what it does."""
    negative = re.compile(r"\b(not|no|without|leave out|leaves out|all)\b", re.IGNORECASE)
    off = {place: text for place, text in texts() if " --no-" in place and "/" not in place}
    assert len(off) > 5
    assert {place: text for place, text in off.items() if not negative.search(text)} == {}


@pytest.mark.parametrize(
    ("verb", "names"),
    [("import", load_importers), ("report", lambda: ["screen", "terminal", *load_exporters()])],
    ids=["import", "report"],
)
def test_every_format_is_named(verb: str, names: Callable[[], Iterable[str]]) -> None:
    command = every_command()["ullage", verb]
    text = next(one.help for one in command.parameters if one.typed.startswith("--format"))
    listed = re.sub(r" \([^)]*\)", "", text.partition(":")[2].partition(". ")[0])
    named = listed.rstrip(".").replace(" or ", ", ")
    assert sorted(word.strip() for word in named.split(",")) == sorted(names())


def test_the_first_sentence_of_a_command_fits_the_list_of_commands() -> None:
    """Also that of a suite, and that the list does not cut it."""
    listed = [command for command in every_command().values() if len(command.path) > 1]
    assert {one.name for one in listed if len(one.doc[0]) > 62} == set()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Measure " + "very " * MOST_WORDS + "much.", "words"),
        ("Measure this place", "no full stop"),
        ("Its number stands beside.", "stands beside"),
        ("Use a file, for example *.toml. Of the order", "no full stop: Of the order"),
    ],
)
def test_the_rules_find_what_they_are_for(text: str, what: str) -> None:
    assert any(what in fault for fault in faults(text))


def test_a_sentence_ends_where_a_reader_ends_it() -> None:
    assert faults("Use NAME=null: or NAME=model:. Choose 1.5 GB, e.g. by `--space 1.5G. Or 2G`. Is it so?") == []
