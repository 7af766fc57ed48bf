# SPDX-License-Identifier: Apache-2.0
"""Lines that are printed on a terminal."""

import os
import sys

import pytest

from ullage.terminal import print_text

WORDS = "The minimum takes about 59.0 s (assumed, not measured: 500 MB/s a phase); /a/path/that/is/longer/than/a/line"


def test_sentences_are_folded_between_words_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    print_text(WORDS)
    assert capsys.readouterr().out == f"{WORDS}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((30, 24)))
    monkeypatch.setenv("COLUMNS", "30")
    print_text(WORDS)
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines) == WORDS
    assert [line for line in lines if len(line) > 30] == ["/a/path/that/is/longer/than/a/line"]
