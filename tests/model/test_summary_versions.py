# SPDX-License-Identifier: Apache-2.0
"""Summaries of version 1, as they were written, are read as those of today."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ullage.model.summary import SUMMARY_SCHEMA, Row, Summary, upgraded
from ullage.results.folder import ResultFolder

FOLDER = Path(__file__).parent / "summaries"
NAMES = sorted(path.name.removesuffix("_1.json.xz") for path in FOLDER.glob("*_1.json.xz"))


def old_text(name: str) -> str:
    """A document of version 1, of a recorded run or of an import."""
    return lzma.decompress((FOLDER / f"{name}_1.json.xz").read_bytes()).decode()


def read(name: str) -> list[tuple[dict[str, Any], Row]]:
    """Each row as it was written, and as it is read."""
    text = old_text(name)
    return list(zip(json.loads(text)["rows"], Summary.model_validate_json(text).rows, strict=True))


def paired(flags: list[str], reasons: list[str]) -> dict[str, Any]:
    """The row that a document of version 1 with this row is read as."""
    found: Any = upgraded({"schema": "ullage.summary/1", "rows": [{"flags": flags, "reasons": reasons}]})
    return found["rows"][0]


def test_there_are_old_documents() -> None:
    assert len(NAMES) > 4


@pytest.mark.parametrize("name", NAMES)
def test_an_old_document_loses_nothing(name: str) -> None:
    text = old_text(name)
    old, new = json.loads(text), json.loads(Summary.model_validate_json(text).model_dump_json())
    assert (old.pop("schema"), new.pop("schema")) == ("ullage.summary/1", SUMMARY_SCHEMA)
    for before, after in zip(old.pop("rows"), new.pop("rows"), strict=True):
        flags = after.pop("flags")
        reasons = [*after.pop("verdict_reasons"), *(flag["reason"] for flag in flags), *after.pop("notes")]
        assert [flag["code"] for flag in flags] == before.pop("flags")
        assert sorted(filter(None, reasons)) == sorted(before.pop("reasons"))
        assert after == before
    for finding in [*new["findings"], *new["events"]]:
        assert (finding.pop("title"), finding.pop("change"), finding.pop("gain")) == ("", "", None)
    for score in new["scores"]:
        assert (score.pop("look"), score.pop("suite")) == (False, "")
    assert new == old


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("b_eff_io", "INVALID:b_eff_io", "the scheduled time is "),
        ("congestion", "oversubscribed", "4 ranks on a node share 2 cores"),
        ("congestion", "interval-below-95", "covers the median with "),
        ("memory", "dirty-used:2", "2 repetitions with foreign load (grade C) are counted"),
        ("memory", "interval-below-95", "covers the median with "),
        ("pmbw_stats", "passes-overlap", "pmbw begins each pass of a chase at the same place"),
    ],
)
def test_a_flag_gets_its_own_reason(name: str, code: str, words: str) -> None:
    rows = [row for _, row in read(name) if row.has_flag(code)]
    assert rows
    single = "a single repetition has no interval"
    assert all(words in row.reason_of(code) or row.reason_of(code) == single for row in rows)


def test_a_result_folder_of_then_is_read(tmp_path: Path) -> None:
    result = ResultFolder(tmp_path)
    result.summary_path.write_text(old_text("congestion"), encoding="utf-8")
    assert result.read_summary().rows == [row for _, row in read("congestion")]


def test_notes_are_neither_the_verdicts_nor_a_flags() -> None:
    notes = {note for _, row in read("memory") for note in row.notes}
    assert notes
    assert all(note.endswith("of the set lay in huge pages") for note in notes)
    assert not any("huge pages" in reason for _, row in read("memory") for reason in row.verdict_reasons)
    assert any(row.notes for _, row in read("cpu") if row.metric.endswith("_ratio"))


def test_reasons_of_a_void_phase_stay_in_their_place() -> None:
    for before, row in read("io500_two_runs"):
        assert row.reasons == before["reasons"]
        assert row.reason_of("interval-below-95") == ""


def test_places_that_tell_nothing_are_not_trusted() -> None:
    imported = paired(["interval-below-95"], ["imported from x"])
    assert imported["flags"] == [{"code": "interval-below-95", "reason": ""}]
    assert imported["verdict_reasons"] == ["imported from x"]
    impact = paired(["unpinned", "interval-below-95"], ["the range of 3 covers the median with 75%", "2 ranks"])
    assert [flag["reason"] for flag in impact["flags"]] == ["2 ranks", "the range of 3 covers the median with 75%"]
    assert paired(["unpinned", "drifting"], ["why"])["flags"][0] == {"code": "unpinned", "reason": ""}
    assert paired([], []) == {"flags": [], "verdict_reasons": [], "notes": []}


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"schema": SUMMARY_SCHEMA, "rows": [{"flags": ["a"]}]},
        {"schema": "ullage.summary/1", "rows": 7},
    ],
)
def test_what_is_no_old_summary_is_left_as_it_is(document: object) -> None:
    assert upgraded(document) is document


def test_what_is_wrong_in_an_old_document_is_still_found() -> None:
    document = json.loads(old_text("pmbw_stats"))
    for row in (7, {**document["rows"][0], "flags": [7]}, {**document["rows"][0], "unknown": 1}):
        with pytest.raises(ValidationError):
            Summary.model_validate({**document, "rows": [row]})
