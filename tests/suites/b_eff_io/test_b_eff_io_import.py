# SPDX-License-Identifier: Apache-2.0
"""What the original b_eff_io prints becomes rows, scores and sentences; its numbers are worked out again."""

import json
from pathlib import Path
from typing import Any

import pytest

from ullage.analysis.settings import select
from ullage.errors import UserError
from ullage.importers import read as read_file
from ullage.model.summary import Finding, Summary
from ullage.suites.b_eff_io.importer import read, recognises
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, ROWS, TYPES
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, MEMORY_TIME, PATTERN, TYPE, WRITE_SIDE

# Totals of the types in MB/s; they give B_write 401.667, W' 410.000, B_read 461.667 and b_eff_io 435.067.
TOTALS = {
    "write": (300.0, 400.0, 500.0, 450.0, 460.0),
    "rewrite": (350.0, 410.0, 520.0, 460.0, 470.0),
    "read": (400.0, 500.0, 520.0, 480.0, 470.0),
}
MEANS = {"write": 401.667, "rewrite": 426.667, "read": 461.667}
RULER = "-" * 20


def table(ranks: int = 4, *, rewrite: bool = True, wrong: str = "") -> list[str]:
    """The rows of the table; ``wrong``: an access whose first cell says that data was wrong."""
    lines: list[str] = []
    for access in ACCESSES:
        for position in range(1, len(ROWS) + 1):
            cells = [f"{total * position / 10:.3f}" for total in TOTALS[access]]
            if access == wrong and position == 1:
                cells[0] = "-999.999"
            shown = cells if rewrite or access != "rewrite" else [cells[0], *["-"] * 4]
            lines.append(f"{ranks:4d} PEs {position} {1 << position:8d} {access:7} {' '.join(shown)}")
        cells = [f"{total:.3f}" for total in TOTALS[access]]
        shown = cells if rewrite or access != "rewrite" else [cells[0], *["-"] * 4]
        lines += [f"{ranks:4d} PEs      total-{access:7} {' '.join(shown)}", ""]
    return [*lines, "  bw_pat2=  111.000 MB/s write,  122.000 MB/s rewrite,  133.000 MB/s read", ""]


def printed(
    ranks: int = 4,
    *,
    value: float = 435.067,
    minutes: float = 30.0,
    rewrite: bool = True,
    more: tuple[str, ...] = ("VALID for comparison of different systems",),
    wrong: str = "",
) -> str:
    """The part of a .sum file that speaks of one partition."""
    place = f"on {ranks} processes with 2048 MByte/PE and scheduled time={minutes:3.1f} min"
    means = MEANS if rewrite else {**MEANS, "rewrite": TOTALS["rewrite"][0]}
    return "\n".join(
        [
            f"Summary of file I/O bandwidth accumulated on {ranks:3d} processes with 2048 MByte/PE",
            RULER,
            *table(ranks, rewrite=rewrite, wrong=wrong),
            *(f"weighted average bandwidth for {a:7} : {m:8.3f} MB/s on {ranks} processes" for a, m in means.items()),
            "(type=0 is weighted double)",
            "Total amount of data written/read with each access method: 4096.000 MBytes",
            "  = 50.0 percent of the total memory (8192 MBytes)",
            f"b_eff_io of these measurements = {value:8.3f} MB/s {place}",
            "",
            *more,
        ]
    )


def whole(*parts: str, options: str = "-rewrite") -> str:
    """A .sum file."""
    head = [
        "b_eff_io.c, Revision 2.1 from Dec. 12, 2001",
        "Maximum chunk size   =   16.000 MBytes",
        f"-N 4 T=1800, MT=8192 MBytes, {options}",
        "       system name : Linux",
    ]
    place = "on 4 processes with 2048 MByte/PE, scheduled time=30.0 Min, on Linux n1 5.4 #1 x86_64"
    last = f" b_eff_io =  435.067 MB/s {place}"
    return "\n".join([*head, *parts, "Maximum over all number of PEs", last, ""])


def finding(summary: Summary, kind: str) -> Finding:
    (found,) = [one for one in summary.findings if one.kind == kind]
    return found


def test_a_whole_output_has_rows_as_our_own_runs_have() -> None:
    summary = read(whole(printed()), "a.sum")
    (value,) = select(summary.rows, B_EFF_IO)
    assert (value.target, value.median, value.unit, value.suite) == (
        "Linux n1 5.4 #1 x86_64",
        435067000.0,
        "B/s",
        "b_eff_io",
    )
    assert value.params == {"scheduled_s": 1800.0, "ranks": 4, "lmax_bytes": 16 << 20}
    assert {str(row.params["access"]): row.median for row in select(summary.rows, ACCESS)} == {
        access: pytest.approx(mean * 1e6) for access, mean in MEANS.items()
    }
    assert len(select(summary.rows, TYPE)) == len(ACCESSES) * len(TYPES)
    shown = [pattern for pattern in PATTERNS if pattern.position is not None]
    assert len(select(summary.rows, PATTERN)) == len(ACCESSES) * len(shown)
    (scattered,) = select(summary.rows, PATTERN, access="read", pattern=5)
    assert scattered.params["size"] == "1k"
    assert (scattered.params["chunk_bytes"], scattered.params["call_bytes"]) == (1024, 1 << 20)
    assert scattered.median == pytest.approx(40e6)
    (calls,) = select(summary.rows, PATTERN, access="rewrite", pattern=2)
    assert calls.median == pytest.approx(122e6)
    assert summary.versions == {"b_eff_io": "2.1"}
    assert {row.verdict for row in summary.rows} == {"unknown(imported)", "none"}


def test_the_headline_is_worked_out_again_from_the_totals() -> None:
    summary = read(whole(printed()), "a.sum")
    found = finding(summary, "b_eff_io-recomputed")
    assert found.severity == "info"
    assert found.numbers["recomputed"] == [
        pytest.approx(435.067, abs=5e-4),
        pytest.approx(401.667, abs=5e-4),
        pytest.approx(426.667, abs=5e-4),
        pytest.approx(461.667, abs=5e-4),
    ]
    assert "W', which is not printed, is 410.000 MB/s" in found.text
    (side,) = select(summary.rows, WRITE_SIDE)
    assert side.median == pytest.approx(410e6)
    names = [score.name for score in summary.scores]
    assert names == ["b_eff_io", *(f"{n} of 4 processes" for n in ("b_eff_io", "W'", "B_write", "B_rewrite", "B_read"))]
    assert all(score.valid for score in summary.scores)


def test_a_headline_that_does_not_follow_is_a_warning() -> None:
    found = finding(read(whole(printed(value=436.0)), "a.sum"), "b_eff_io-recomputed")
    assert found.severity == "warning"
    assert "do NOT follow" in found.text
    assert "rounding allows 435.06" in found.text


def test_without_rewrite_only_scatter_was_rewritten_and_that_is_the_average() -> None:
    summary = read(whole(printed(rewrite=False), options="-noshared"), "a.sum")
    found = finding(summary, "b_eff_io-recomputed")
    assert found.severity == "info"
    assert len(select(summary.rows, PATTERN, access="rewrite")) == len(ROWS) + 1
    (score,) = [score for score in summary.scores if score.name == "b_eff_io"]
    assert score.reasons == ["shared file pointers were not used for pattern type shared (-noshared)"]
    (value,) = select(summary.rows, B_EFF_IO)
    assert value.params["no_shared_pointer"] is True


def test_partitions_stand_side_by_side_and_the_largest_value_leads() -> None:
    small = printed(2, value=100.0)
    summary = read(whole(small, printed()), "a.sum")
    assert [row.params["ranks"] for row in select(summary.rows, B_EFF_IO)] == [2, 4]
    assert summary.scores[0].value == 435.067
    assert [one.numbers["ranks"] for one in summary.findings if one.kind == "b_eff_io-recomputed"] == [2, 4]


def test_every_reason_against_is_kept() -> None:
    lines = (
        "NOT VALID for comparison of different systems",
        "  criterion 1: scheduled time 1.0 min >= 30 min -- NOT reached",
        "  criterion 2: shared file pointers must be used for pattern type 1 -- reached",
        "  criterion 3: error count (7) == 0 -- NOT reached",
    )
    text = printed(minutes=1.0, more=lines, wrong="read").replace("time=1.0 min", "time=1.0 min, with 7 ERRORS --!--!")
    summary = read(whole(text), "a.sum")
    score = summary.scores[0]
    assert not score.valid
    assert score.reasons == [
        "scheduled for 60.0 s, below 30 min for a partition",
        "7 errors: data that came back wrong",
    ]
    (value,) = select(summary.rows, B_EFF_IO)
    assert value.flag_codes[0] == "INVALID:b_eff_io"
    assert not select(summary.rows, PATTERN, access="read", pattern=5)
    lost = finding(summary, "b_eff_io-lost")
    assert (lost.numbers["access"], lost.numbers["patterns"], lost.numbers["why"]) == ("read", [5], "failed")


def test_a_verdict_without_a_known_reason_still_voids() -> None:
    summary = read(printed(more=("NOT VALID for comparison of different systems",)), "a.sum")
    assert summary.scores[0].reasons == ["the program that wrote it says NOT VALID"]


def test_minutes_of_mixed_units_are_corrected_and_a_wrong_percentage_is_told() -> None:
    wrong = printed().replace("= 50.0 percent", "= 60.0 percent")
    text = wrong + "\ntotal memory / b_eff_io = 8192 Mbytes / 435.067 MB/s = 0.3 min.\n"
    summary = read(text, "a.sum")
    percentage, minutes = [one for one in summary.findings if one.kind == "b_eff_io-units"]
    assert percentage.severity == "warning"
    assert "are 50.0 % of 8192 MiB. 60.0 % was printed." in percentage.text
    assert "takes 0.3 min." in minutes.text, "20.6 s and 18.8 s are the same in tenths of minutes"
    (time,) = select(summary.rows, MEMORY_TIME)
    assert time.median == pytest.approx(8192 * 2**20 / 435.067e6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (printed().replace("b_eff_io of these", "b_eff of these"), "s: contains no value of b_eff_io"),
        (
            "\n".join(line for line in printed().splitlines() if "bandwidth for read" not in line),
            "s: the summary of 4 processes lacks its value or its average",
        ),
        (printed().replace("total-write   300.000", "total-write  "), "s:10: has 4 values"),
    ],
)
def test_what_is_missing_is_named(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read(text, "s")
    assert str(caught.value).startswith(message)


JSON: dict[str, Any] = {
    "processes": 4,
    "weighted_average_mb_s": {"write": 401.667, "read": 461.667},
    "b_eff_io_mb_s": 435.067,
}


def test_the_short_form_as_json_needs_no_more_than_two_averages() -> None:
    summary = read(json.dumps(JSON), "s.json")
    assert [row.metric for row in summary.rows] == [B_EFF_IO, WRITE_SIDE, ACCESS, ACCESS]
    found = finding(summary, "b_eff_io-recomputed")
    assert found.numbers["determined"] is False
    assert found.numbers["write_side"] == pytest.approx(410.0e6, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"processes": 0}, "s.json: processes: "),
        ({"weighted_average_mb_s": {"write": 1.0}}, "s.json: weighted_average_mb_s: no read"),
        ({"weighted_average_mb_s": {"append": 1.0}}, "s.json: weighted_average_mb_s/append/"),
        ({"b_eff_io_mb_s": -1.0}, "s.json: b_eff_io_mb_s: "),
        ({"color": 1}, "s.json: color: "),
    ],
)
def test_mistakes_in_json_are_named_with_their_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        read(json.dumps({**JSON, **change}), "s.json")
    assert str(caught.value).startswith(message)


def test_it_is_recognised_by_its_content(tmp_path: Path) -> None:
    assert recognises(printed())
    assert recognises(json.dumps(JSON))
    assert not recognises("b_eff_io")
    assert not recognises('{"runs": []}')
    path = tmp_path / "x.sum"
    path.write_text(whole(printed()))
    assert read_file(path).suite == "import"
