# SPDX-License-Identifier: Apache-2.0
"""Names with markup, quotes, line breaks, right-to-left letters and 4 KB of length stay text in every form."""

import re
import unicodedata
from pathlib import Path

import pytest

from support.flags import flags_of
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.cli.app import run
from ullage.errors import EXIT_OK
from ullage.model.summary import Finding, Gain, Score
from ullage.results.folder import ResultFolder

HOSTILE = "</td></text><script>alert(1)</script>\"'&|`*\n# h\u202egnp.exe \u05d0\u05d1\x1b[2J\u0007 " + "x" * 4096
# What a terminal or a reader may take for more than text; a line break separates lines.
ALLOWED = {"\n"}
LONGEST = 600


@pytest.fixture(autouse=True)
def stored_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.runs.summary.build_summary", ResultFolder.read_summary)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    shape = Shape(repetitions=7)
    changed = {"verdict_reasons": [HOSTILE], "flags": flags_of(HOSTILE), "notes": [HOSTILE]}
    rows = [row.model_copy(update={"target": HOSTILE + row.target, **changed}) for row in make_rows(shape)]
    gain = Gain(factor=2, low=1.5, high=3)
    change = Finding(kind=HOSTILE, title=HOSTILE, text=HOSTILE, change=HOSTILE, gain=gain, severity="advice")
    system = {"host": HOSTILE, "cpu": {"model": HOSTILE}, "places": [{"target": HOSTILE, "path": HOSTILE}]}
    summary = make_summary(shape).model_copy(
        update={
            "rows": rows,
            "findings": [change],
            "events": [change],
            "versions": {"mpi": HOSTILE},
            "scores": [Score(name=HOSTILE, unit=HOSTILE, value=1.0, valid=False, reasons=[HOSTILE])],
            "system": system,
        }
    )
    return write_result(tmp_path / "r", shape, summary).path


def assert_inert(text: str) -> None:
    wild = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - ALLOWED
    assert not wild, [hex(ord(c)) for c in wild]


@pytest.mark.parametrize(
    "words", [["report"], ["report", "--format", "terminal"], ["show"], ["show", 1], ["compare", "--by", "target"]]
)
def test_in_a_terminal(words: list[object], result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verb, *others = map(str, words)
    assert run([verb, str(result), *others]) == EXIT_OK
    text = capsys.readouterr().out
    assert_inert(text)
    assert "xxxx" in text
    assert max(map(len, text.splitlines())) <= LONGEST


@pytest.mark.parametrize("name", ["html", "svg", "md", "brief"])
def test_in_a_document(name: str, result: Path, tmp_path: Path) -> None:
    place = tmp_path / f"front.{name}"
    assert run(["report", str(result), "--format", name, "--output", str(place)]) == EXIT_OK
    text = place.read_text(encoding="utf-8")
    assert_inert(re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))
    assert "<script>alert" not in text
    if name in ("md", "brief"):
        assert not re.search(r"^# h", text, re.MULTILINE), "no heading of its own"
        assert "</td>" not in text.replace("\\<", "")


def test_in_a_picture(result: Path, tmp_path: Path) -> None:
    place = tmp_path / "front.pdf"
    assert run(["report", str(result), "--format", "pdf", "--output", str(place)]) == EXIT_OK
    document = place.read_bytes()
    assert document.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", document)) == 1
    assert not re.search(rb"/(JavaScript|JS|OpenAction|Launch)\b", document)
