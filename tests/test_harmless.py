# SPDX-License-Identifier: Apache-2.0
"""Characters that a terminal would act on, made visible in texts and in JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.harmless import harmless, harmless_json, is_plain_line

TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('\\"\r\n\t\b\f\x1b\x7f\x9b\u202e\ufffeu/'))
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b]0;x\x07", "a\\u001b]0;x\\u0007"),
        ("\x9b2J\x7f", "\\u009b2J\\u007f"),
        ("\u202egnp\u2066", "\\u202egnp\\u2066"),
        ("\ud800\ufffe\x00", "\\ud800\\ufffe\\u0000"),
        ("two\nlines\tand 💾 \u05d0", "two\nlines\tand 💾 \u05d0"),
    ],
)
def test_what_a_terminal_acts_on_is_made_visible(text: str, shown: str) -> None:
    assert harmless(text) == shown


@pytest.mark.parametrize(
    ("text", "is_plain"), [("a b\tc", True), ("é💾", True), ("a\nb", False), ("a\rb", False), ("\x1b", False)]
)
def test_one_plain_line(text: str, is_plain: bool) -> None:
    assert is_plain_line(text) is is_plain


@given(TEXTS, st.booleans())
def test_a_document_says_the_same_without_what_is_harmful(text: str, ensure_ascii: bool) -> None:
    document = json.dumps({text: [text, 1]}, ensure_ascii=ensure_ascii).encode()
    ((key, values),) = json.loads(harmless_json(document)).items()
    assert values == [key, 1]
    assert harmless(key) == key
    assert "\r" not in key
    if harmless(text) == text and "\r" not in text:
        assert key == text


def test_escapes_of_a_document() -> None:
    lone, pair = rb'"\ud83d x\udca9"', rb'"\ud83d\udca9"'
    assert json.loads(harmless_json(lone)) == "\\ud83d x\\udca9"
    assert harmless_json(pair) == pair
    assert harmless_json(rb'"\\u001b"') == rb'"\\u001b"', "a backslash and letters, no ESC"


def test_what_is_no_document_stays_as_it_is() -> None:
    for damaged in (b"\xff\x9b\\", b'{"a": "\x1b'):
        assert harmless_json(damaged) == damaged
