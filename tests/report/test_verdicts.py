# SPDX-License-Identifier: Apache-2.0
"""What a verdict looks like."""

import pytest

from support.flags import flags_of
from support.sample_result import Shape, make_rows
from ullage.report import verdicts


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        ("cold", "sound"),
        ("mixed 37 %", "mixed"),
        ("warm", "warm"),
        ("unknown(server)", "unknown"),
        ("unknown", "unknown"),
        ("", "unknown"),
        ("a word of a later version", "unknown"),
        ("memory", "sound"),
        ("synced", "sound"),
        ("partly synced 40 %", "mixed"),
        ("cached", "warm"),
    ],
)
def test_class_of_a_verdict(verdict: str, name: str) -> None:
    row = make_rows(Shape())[0].model_copy(update={"verdict": verdict})
    assert verdicts.classify(row).name == name


def test_the_words_of_the_verdicts_are_all_known() -> None:
    from typing import get_args

    from ullage.analysis.verdicts.cache import VerdictKind

    row = make_rows(Shape())[0]
    known = {kind: verdicts.classify(row.model_copy(update={"verdict": kind})).name for kind in get_args(VerdictKind)}
    assert [kind for kind, name in known.items() if name == "unknown"] == ["unknown"]


def test_an_invalid_flag_outdoes_the_verdict() -> None:
    row = make_rows(Shape())[0].model_copy(update={"verdict": "cold", "flags": flags_of("INVALID:above-ceiling")})
    assert verdicts.is_invalid(row)
    assert not verdicts.classify(row).filled


def test_only_sound_marks_are_filled_and_all_shapes_differ() -> None:
    assert [found.name for found in verdicts.CLASSES if found.filled] == ["sound"]
    assert len({found.shape for found in verdicts.CLASSES}) == len(verdicts.CLASSES)


def test_caption_names_every_hollow_mark() -> None:
    rows = make_rows(Shape())
    assert verdicts.caption(rows) == "Hollow diamonds: mixed; squares: warm."
    assert verdicts.caption(row for row in rows if row.verdict in {"cold", "synced"}) == ""
