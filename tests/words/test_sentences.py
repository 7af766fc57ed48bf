# SPDX-License-Identifier: Apache-2.0
"""Every sentence of findings, events, notes and flags, in one file to be read in one go; what a machine can check "
"of docs/style.md.

``ULLAGE_FREEZE=1`` writes sentences.txt again. Its first part is read from the sources, its second from the frozen
results of tests/golden, which another test holds to what the product says.
"""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import ullage
from support import recorded_results
from support.data import some
from support.plain_words import IDIOMS

SNAPSHOT: Final = Path(__file__).parent / "sentences.txt"
FREEZE: Final = os.environ.get("ULLAGE_FREEZE") == "1"
SOURCES: Final = Path(ullage.__file__).parent
# What makes findings, events, notes and flags; whoever calls one of these has sentences.
MAKERS: Final = frozenset(
    {
        "Finding",
        "finding",
        "Faster",
        "_Event",
        "Note",
        "Flag",
        "Verdict",
        "refused",
        "imported_row",
        "LadderRule",
        "Bound",
        "Rung",
    }
)
MOST_WORDS: Final = 25
MOST_TITLE_WORDS: Final = 16
FEWEST_WORDS: Final = 3
# Idioms of docs/style.md, besides those of help texts.
BANNED: Final = re.compile(
    r"\b(wins?|winner|beats?|comes? near|lies far|own machine|of one's own|lucky|at the rim|in company|who wins|"
    r"nothing is concluded|hides? behind|is lost in|holds the .* score|upside down|held against|all the same|"
    r"what was measured differs|sits where|talk to each other|carr(?:y|ies)|cannot be right and count)\b",
    re.IGNORECASE,
)
BANNED_IN_HELP: Final = re.compile(rf"\b({'|'.join(map(re.escape, IDIOMS))})\b", re.IGNORECASE)
# Numbers with a point are measured, so they have a unit, or are one of a ratio.
BARE_NUMBER: Final = re.compile(r"(?<![\d.:/-])\d+\.\d+(?![\d.]|-\d)(?!\s?(?:%|x\b|[A-Za-z]))(?! : )")
UNITLESS_KINDS: Final = frozenset({
    # Scores without a unit, versions of files, and printed tables in the unit that their sentence names once.
    "io500-score", "io500-recomputed", "io500-change", "b_eff_io-recomputed", "ring-ratio", "ring-peer",
})  # fmt: skip
ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
END: Final = re.compile(r"(?<=[.!?])\s+")


def sentences(text: str) -> list[str]:
    """Without what stands in parentheses and brackets, and without the lists of values that follow a colon."""
    plain = text
    while (shorter := ASIDE.sub("", plain)) != plain:
        plain = shorter
    return END.split(plain)


def words(sentence: str) -> int:
    """A number with its unit is one; items of a list of values count as one together."""
    head, colon, tail = sentence.partition(": ")
    counted = head if colon and len(re.split(r", | and ", tail)) > 2 else sentence
    counted = re.sub(
        r"\d[\d.,]*\s?(?:%|x|[kMGT]?(?:B|op|flop|b)/s|[mun]?s|min|[KMGT]i?B?)?(?=[\s.,;:]|$)", "N", counted
    )
    return len([word for word in counted.split() if re.search(r"[A-Za-z0-9{]", word)])


@cache
def templates() -> dict[str, list[str]]:
    """By file below src/ullage: the texts with placeholders of every function of a module that makes sentences."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(_name(node) in MAKERS for node in ast.walk(tree)):
            texts = list(dict.fromkeys(text for text in _texts(tree) if _is_sentence(text)))
            if texts:
                found[path.relative_to(SOURCES).as_posix()] = texts
    return found


def _name(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _texts(node: ast.AST) -> Iterator[str]:
    """Texts, and those within the placeholders of texts; without docstrings."""
    if isinstance(node, ast.JoinedStr):
        yield _joined(node)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif _name(node) in {"answered", "refused"}:
        # The keys are what flags are called.
        for value in (value for one in ast.walk(node) if isinstance(one, ast.Dict) for value in one.values):
            yield from _texts(value)
    elif isinstance(node, ast.Call) and _name(node) == "AnswerRule":
        # Its question; the kinds of findings are words.
        yield from _texts(node.args[1])
    elif _name(node) != "tooltip" and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _joined(node: ast.JoinedStr) -> str:
    parts = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return "".join(parts)


def _is_sentence(text: str) -> bool:
    return len(re.findall(r"[a-z]{2,}", text)) >= FEWEST_WORDS and " " in text.strip() and "\n" not in text


def said() -> list[tuple[str, dict[str, Any]]]:
    """Findings and events of all frozen results, each with the name of its result."""
    return [
        (name, one)
        for name, summary in recorded_results.frozen_summaries()
        for part in ("findings", "events")
        for one in summary.get(part, [])
    ]


def _shape(text: str) -> str:
    """The same for sentences that differ in their numbers only."""
    return re.sub(r"\d[\d.,]*", "N", text)


def snapshot() -> str:
    lines = ["# Written by tests/words/test_sentences.py: read it in one go, by docs/style.md.", "", "## Templates", ""]
    for path, texts in templates().items():
        lines += [path, *(f"    {text}" for text in texts), ""]
    lines += ["## Recorded results: one example of each sentence", ""]
    examples: dict[tuple[str, str], dict[str, Any]] = {}
    for _, one in said():
        examples.setdefault((one["kind"], _shape(one["text"])), one)
    for (kind, _), one in sorted(examples.items(), key=lambda item: item[0][0]):
        lines.append(f"{kind} | {one['title']} | {one['text']}")
    return "\n".join(lines) + "\n"


def test_all_sentences_are_in_one_file() -> None:
    found = snapshot()
    if FREEZE:
        SNAPSHOT.write_text(found, encoding="utf-8")
        pytest.skip("frozen again")
    assert found == SNAPSHOT.read_text(encoding="utf-8"), "sentences changed: read them, then ULLAGE_FREEZE=1"


def test_every_finding_has_a_title_for_people() -> None:
    for name, one in some(said()):
        title = one["title"]
        where = f"{name}: {one['kind']}: {title!r}"
        assert title, where
        assert not title.endswith("."), where
        assert words(ASIDE.sub("", title)) <= MOST_TITLE_WORDS, where
        assert title.lower() != one["kind"].replace("-", " "), where


def test_sentences_are_short() -> None:
    long = {s for text in _all_texts() for s in sentences(text) if words(s) > MOST_WORDS}
    assert not long, "\n".join(sorted(long))


def test_no_banned_idiom_is_used() -> None:
    hits = ((BANNED.search(text) or BANNED_IN_HELP.search(text), text) for text in _all_texts())
    found = {f"{hit.group(0)}: {text}" for hit, text in hits if hit is not None}
    assert not found, "\n".join(sorted(found))


def test_measured_numbers_have_units() -> None:
    texts = {one["text"] for _, one in said() if one["kind"] not in UNITLESS_KINDS}
    found = {f"{hit.group(0)}: {text}" for text in texts if (hit := BARE_NUMBER.search(text))}
    assert not found, "\n".join(sorted(found))


def test_a_gain_names_its_change_and_is_decided() -> None:
    for name, one in some(said()):
        if one.get("gain"):
            assert one["change"], f"{name}: {one['text']}"
            assert 1 < one["gain"]["low"] <= one["gain"]["factor"] <= one["gain"]["high"], f"{name}: {one['text']}"
        else:
            assert not one["change"], f"{name}: {one['text']}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TCP reaches 35.6 Gb/s with 4 streams.", [6]),
        ("One (of many). Two [a, b] here.", [1, 2]),
        ("Levels are: 1.13 ns up to 16K, 4.80 ns up to 256K, 166 ns from 16M on.", [2]),
    ],
)
def test_words_are_counted_as_the_style_says(text: str, expected: list[int]) -> None:
    assert [words(one) for one in sentences(text)] == expected


def _all_texts() -> Iterator[str]:
    yield from (text for texts in templates().values() for text in texts)
    yield from (text for _, one in said() for text in (one["title"], one["text"]))
