# SPDX-License-Identifier: Apache-2.0
"""What a summary says of parts of the machine, for programs."""

from support.data import some
from support.sample_result import make_summary
from ullage.model.flags import Flag
from ullage.model.summary import Ceiling, Summary
from ullage.runs.explained import explained


def test_each_part_has_its_number_under_a_stable_name() -> None:
    summary = explained(make_summary())
    assert set(summary.headline) == {"disk_writes", "disk_reads"}
    for part in some(summary.headline.values()):
        row = summary.rows[part.row]
        assert (part.value, part.unit, part.low, part.high) == (row.median, row.unit, row.low, row.high)
        assert (part.grade, part.verdict, part.share) == (row.grade, row.verdict, row.share)
        assert part.level == (None if row.has_range else 0.95)
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_a_disturbed_number_has_no_share_and_a_range_no_level() -> None:
    made = make_summary()
    ceiling = Ceiling(value=1e10, kind="declared", source="datasheet")
    rows = [row.model_copy(update={"ceiling": ceiling, "share": row.median / 1e10, "flags": []}) for row in made.rows]
    sound = explained(made.model_copy(update={"rows": rows})).headline["disk_reads"]
    assert (sound.ceiling, sound.kind, sound.level) == (1e10, "declared", 0.95)
    assert sound.share == sound.value / 1e10
    flags = [Flag(code="interval-below-95", reason="few")]
    disturbed = [row.model_copy(update={"grade": "C", "flags": flags}) for row in rows]
    shown = explained(made.model_copy(update={"rows": disturbed})).headline["disk_reads"]
    assert (shown.grade, shown.ceiling, shown.kind, shown.share, shown.level) == ("C", None, None, None, None)
