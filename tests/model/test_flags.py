# SPDX-License-Identifier: Apache-2.0
"""Flags: what their codes tell, and how a row is asked for them."""

import pytest

from support.sample_result import Shape, make_rows
from ullage.model.flags import OUTLIERS, OVERSUBSCRIBED, TOO_SHORT, Flag, each_once, interval_below


@pytest.mark.parametrize(
    ("code", "kind", "detail", "invalid"),
    [
        ("INVALID:above-ceiling", "INVALID", "above-ceiling", True),
        ("INVALID", "INVALID", "", True),
        (f"{OUTLIERS}:3", OUTLIERS, "3", False),
        (TOO_SHORT, TOO_SHORT, "", False),
        ("peer-INVALID", "peer-INVALID", "", False),
    ],
)
def test_a_code_has_a_kind_and_maybe_a_detail(code: str, kind: str, detail: str, *, invalid: bool) -> None:
    flag = Flag(code=code)
    assert (flag.kind, flag.detail, flag.is_invalid) == (kind, detail, invalid)


def test_what_is_of_the_repetitions_is_not_of_how_they_were_taken() -> None:
    codes = [interval_below(), interval_below(0.9), f"{OUTLIERS}:1", "drifting", "dirty-used:2"]
    assert all(Flag(code=code).is_of_repetitions for code in codes)
    assert not any(Flag(code=code).is_of_repetitions for code in (OVERSUBSCRIBED, TOO_SHORT, "INVALID:void"))


def test_each_code_once_in_its_first_place_with_its_last_reason() -> None:
    flags = [Flag(code="a", reason="1"), Flag(code="b", reason="2"), Flag(code="a", reason="3")]
    assert each_once(flags) == [Flag(code="a", reason="3"), Flag(code="b", reason="2")]


def test_a_row_tells_its_flags_and_all_reasons() -> None:
    flags = [Flag(code=TOO_SHORT, reason="a phase of 2 ms"), Flag(code=OVERSUBSCRIBED)]
    told = {"verdict_reasons": ["no sync"], "flags": flags, "notes": ["two medians"]}
    row = make_rows(Shape())[0].model_copy(update=told)
    assert row.flag_codes == [TOO_SHORT, OVERSUBSCRIBED]
    assert row.has_flag(TOO_SHORT)
    assert not row.has_flag("too")
    assert row.reason_of(TOO_SHORT) == "a phase of 2 ms"
    assert row.reason_of("unheard-of") == ""
    assert row.reasons == ["no sync", "a phase of 2 ms", "two medians"]
    assert not row.is_invalid
    assert row.model_copy(update={"flags": [*flags, Flag(code="INVALID:void")]}).is_invalid
