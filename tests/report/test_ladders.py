# SPDX-License-Identifier: Apache-2.0
"""Ladders in words and as a picture, the findings that rungs become, and which of them rank."""

from xml.etree import ElementTree as ET

import pytest

from support.make_records import make_row
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.summary import Ceiling, Ladder, Row, Rung, Summary
from ullage.report.answers import change_first
from ullage.report.ladders import (
    cost,
    explained_parts,
    head,
    in_one_line,
    ladder_html,
    rung_findings,
    steps,
    told_ceiling,
)

CEILING = Ceiling(
    value=100e6, kind="measured", source="copying", why="It moves each byte once.", at="2026-11-27T10:00:00"
)
ROW: Row = with_ceiling(make_row([40e6, 41e6, 39e6], target='a"<b>'), CEILING)
SYNC = Rung(
    kind="sync",
    what="Every write is synced.",
    factor=0.5,
    low=0.48,
    high=0.52,
    advice="Sync at the end.",
    may_rank=True,
    command="mount -o async",
)
OURS = Rung(kind="ours", what="Blocks of 4K.", factor=0.9, low=0.88, high=0.92)
EQUAL = Rung(kind="equal", what="One rank <b>.", factor=0.99, low=0.95, high=1.03, may_rank=True)
REST = Rung(kind="unexplained", what="not explained", factor=0.4 / (0.5 * 0.9 * 0.99))
LADDER = Ladder(
    part="disk writes", row=0, ceiling=CEILING, value=40e6, share=0.4, rungs=[SYNC, OURS, EQUAL], unexplained=REST
)
SUMMARY = Summary(suite="x", run_id="r", created="2026-11-27T11:00:00+00:00", rows=[ROW], ladders=[LADDER])


def test_a_cost_says_how_much_how_sure_and_how_many_times() -> None:
    assert cost(SYNC) == "costs 50.0 % [48.0 %, 52.0 %], 2.00 x"
    assert cost(EQUAL) == "no cost that can be told [-3.0 %, 5.0 %]"
    assert cost(REST.model_copy(update={"factor": 1.4})) == "nothing, since the costs above overlap"
    assert cost(REST) == "10.2 %, 1.11 x"


def test_the_steps_end_at_the_share_and_the_line_names_all_of_them() -> None:
    assert steps(LADDER)[-1][1] == pytest.approx(0.4)
    assert head("disk writes", ROW) == "disk writes: 40.0 MB/s, 40 % of 100 MB/s"
    assert in_one_line(LADDER, ROW).endswith("not explained: 10.2 %, 1.11 x.")


def test_only_a_proved_change_of_machine_or_program_ranks_in_change_first() -> None:
    found = rung_findings(SUMMARY)
    assert [finding.numbers["rung"] for finding in found] == ["sync"]
    (first,) = change_first(found)
    assert first.gain is not None
    assert (first.gain.factor, first.change) == (2.0, "mount -o async")
    assert first.gain.low == pytest.approx(1 / 0.52)
    assert first.text.startswith("Disk writes: Every write is synced. This costs 50.0 %")


def test_no_rung_costs_more_than_the_gap_and_the_rest_ends_at_the_value() -> None:
    much = SYNC.model_copy(update={"factor": 0.1, "low": 0.05, "high": 0.2})
    found = steps(LADDER.model_copy(update={"rungs": [much, OURS]}))
    assert [left for _, left in found] == pytest.approx([0.4, 0.4, 0.4])
    assert cost(found[0][0]) == "costs 60.0 % [60.0 %, 60.0 %], 2.50 x"


def test_the_picture_is_xml_whatever_the_names_are() -> None:
    drawn = ET.fromstring(f"<figure>{ladder_html(LADDER)}</figure>")
    texts = [element.text for element in drawn if element.tag == "p"]
    assert texts[0] == "the ceiling"
    assert len(texts) == 5
    assert "One rank <b>" in str(texts[3])
    (lost,) = drawn.findall("svg")[1].findall("rect")[1:]
    assert (lost.get("x"), lost.get("width"), lost.get("fill")) == ("50.00", "50.00", "var(--red)")


def test_a_ceiling_tells_kind_source_time_and_reason() -> None:
    assert told_ceiling(ROW, SUMMARY.created) == ["measured", "copying", "2026-11-27 10:00", "It moves each byte once."]
    of_file = with_ceiling(ROW, Ceiling(value=1e9, kind="declared", source="machine file"))
    assert told_ceiling(of_file, SUMMARY.created)[2] == ""
    assert told_ceiling(with_ceiling(ROW, None), SUMMARY.created) == []


def test_a_part_without_a_ladder_is_explained_too() -> None:
    alone = SUMMARY.model_copy(update={"ladders": []})
    assert [one.ladder for one in explained_parts(alone)] == [None]
    assert explained_parts(SUMMARY)[0].ladder is LADDER


def test_a_rung_of_cached_rows_and_an_option_of_our_own_test_never_rank() -> None:
    warm = SUMMARY.model_copy(update={"rows": [ROW.model_copy(update={"verdict": "warm"})]})
    assert rung_findings(warm) == []
    (finding,) = rung_findings(SUMMARY)
    for change in ("--cache direct", "--verify none --volume 8G"):
        assert change_first([finding.model_copy(update={"change": change})]) == []
    for change in ("--ranks 4 --block 1M", "--cache drop --ranks 4", "mount -o async", ""):
        assert change_first([finding.model_copy(update={"change": change})])
