# SPDX-License-Identifier: Apache-2.0
"""The documentation names commands and pages that exist; the pages in PLAIN keep to docs/style.md."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference import engine_page, pages, snapshot
from support.every_command import every_command
from support.plain_words import faults
from ullage.engine import describe
from ullage.exporters import load_exporters
from ullage.runs.options.engine import SNAPSHOT
from ullage.runs.suite import load_suites

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PLAIN = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("index", "tutorial", "numbers", "questions")),
    *(path for folder in ("howto", "suites") for path in sorted((DOCS / folder).glob("*.md"))),
]


def command_lines(text: str) -> Iterator[str]:
    in_tables = re.findall(r"^\| [^|]+ \| `(ullage .*)` \|$", text, flags=re.MULTILINE)
    for line in [*in_tables, *re.findall(r"^(?: {4,}|\t)((?:\.venv/bin/)?ullage [a-z].*)$", text, flags=re.MULTILINE)]:
        yield line.partition(" #")[0].removeprefix(".venv/bin/").strip()


def wrong_in(line: str) -> str:
    """What no command of ours has of ``line``; nothing if all is well."""
    # Several commands on one line, and words that are left out.
    words = [word for word in shlex.split(line.partition(" > ")[0]) if word != "..."]
    for length in (3, 2, 1):
        command = every_command().get(tuple(words[:length]))
        if command is not None:
            break
    if command is None or (command.is_group and len(words) > length and not words[length].startswith("[")):
        return f"no command: {line}"
    options = {name for one in command.parameters for name in re.findall(r"-[\w-]+", one.typed)} | {"--help"}
    unknown = [word for word in words[length:] if re.fullmatch(r"--[\w-]+", word) and word not in options]
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--format"]
    if command.path == ("ullage", "report"):
        unknown += [name for name in named if not {*name.split("|")} <= {"screen", "terminal", *load_exporters()}]
    return f"{unknown}: {line}" if unknown else ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_the_documentation_exist(path: Path) -> None:
    found = [wrong_in(line) for line in command_lines(path.read_text(encoding="utf-8")) if " | " not in line]
    assert [one for one in found if one] == []


def test_a_command_that_does_not_exist_is_found() -> None:
    for line in ("ullage fly", "ullage run fly", "ullage run sweep --fly 3", "ullage report R --format fly"):
        assert wrong_in(line)
    assert wrong_in("ullage run sweep --target a=/x --ranks 1,2") == ""


def test_the_page_of_questions_names_every_suite_and_the_readme_the_most_useful_ones() -> None:
    questions = list(command_lines((DOCS / "questions.md").read_text(encoding="utf-8")))
    named = {words[2] for line in questions if (words := shlex.split(line))[1] == "run"}
    assert {name for name in load_suites() if name not in named} == set()
    asked = list(command_lines((ROOT / "README.md").read_text(encoding="utf-8")))
    assert 10 <= len(asked) <= 12
    assert set(asked) <= set(questions)


def anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    broken: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if "://" in link:
            continue
        there = (path.parent / name).resolve() if name else path
        if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


def prose(text: str) -> Iterator[str]:
    """Paragraphs and items of lists, without code, tables and headings."""
    bare = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    bare = re.sub(r"^(?:#| {4}|\t|\||!).*$", "", bare, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=- |\d+\. )", bare):
        linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
        if linked:
            yield re.sub(r"^(?:- |\d+\. )", "", linked).replace("*", "")


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_sentences_are_plain(path: Path) -> None:
    found = [fault for text in prose(path.read_text(encoding="utf-8")) for fault in faults(text)]
    # A line that leads to a list, to code or only to pages ends as it likes.
    assert [fault for fault in found if not fault.startswith("no full stop")] == []


def test_the_reference_is_as_the_commands_and_the_engine_are(engine: Path) -> None:
    for name, text in pages(engine):
        assert (DOCS / "reference" / name).read_text(encoding="utf-8") == text, "run: python scripts/reference.py"


def test_options_know_the_parameters_of_this_engine(engine: Path) -> None:
    assert SNAPSHOT.read_text(encoding="utf-8") == snapshot(describe(engine)), "run: python scripts/reference.py"


def test_the_reference_names_everything_of_the_engine(engine: Path) -> None:
    description = describe(engine)
    text = engine_page(description)
    assert all(f"### `{one.name}`" in text for one in (*description.backends, *description.workloads))


def test_the_contract_names_every_registered_thing_of_the_engine() -> None:
    """The pages of docs/reference list the parameters; they are written by scripts/reference.py."""
    text = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "reference" / "engine.md").read_text(encoding="utf-8")
    names = re.findall(r"^### `([a-z-]+)`$", page, re.MULTILINE)
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in text] == []
