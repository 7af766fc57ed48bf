# SPDX-License-Identifier: Apache-2.0
"""The first screen: which number stands for a part, how it is drawn, and the sentence over it."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from support.make_records import plain_row
from support.sample_result import SYSTEM, make_summary
from ullage.model.flags import INVALID_ABOVE_CEILING, Flag
from ullage.model.summary import Ceiling, Finding, Gain, Headline, Part, Row, Summary
from ullage.report.answers import told
from ullage.report.data import ReportData
from ullage.report.first_screen import changes_of, front_of, gain_text, judgement, machine_line
from ullage.report.headlines import Vessel, headlines, how_to_declare, vessels
from ullage.report.picture import Front, description, front_svg, vessel_svg
from ullage.report.row_table import compact_spec
from ullage.report.tabs import Parts
from ullage.report.texts import inert, inert_json

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>\"'&\n\u202egnp.exe\u0007" + "x" * 4096


def row(median: float, metric: str = "bandwidth", unit: str = "B/s", **changes: object) -> Row:
    own = {"metric": metric, "unit": unit, "better": "more", "target": "here", "verdict": "none"}
    return plain_row([median] * 6, **{**own, "low": 0.9 * median, "high": 1.1 * median, **changes})


def with_ceiling(of: Row, value: float) -> Row:
    ceiling = Ceiling(value=value, kind="declared", source="machine file")
    return of.model_copy(update={"ceiling": ceiling, "share": of.median / value})


def summary(*lines: tuple[str, Row], findings: list[Finding] | None = None) -> Summary:
    heads = [Headline(part=part, what=f"what {index}", row=index) for index, (part, _) in enumerate(lines)]
    parts = [Part(suite="node", status="complete", seconds=1.0, headlines=heads)]
    rows = [one for _, one in lines]
    return Summary(suite="overview", run_id="r", created="now", rows=rows, parts=parts, findings=findings or [])


def cores(kind: str, median: float, **changes: object) -> tuple[str, Row]:
    params = {"type": kind, "operation": "fma"}
    return "cores", row(median, "compute_rate", "op/s", params=params, **changes)


def test_of_several_numbers_the_usual_one_stands_for_a_part() -> None:
    int8 = "cores", with_ceiling(cores("int8", 9e11)[1], 1e12)
    assert vessels(summary(int8, cores("fp64", 1e11)))[0].row.params["type"] == "fp64"
    triad = row(5e10, "memory_bandwidth", params={"kernel": "triad"})
    read = row(3e10, "memory_bandwidth", params={"kernel": "read"})
    assert vessels(summary(("memory", read), ("memory", triad)))[0].what == "what 1"


def test_what_was_measured_first_stands_for_its_part_however_it_came_out() -> None:
    disturbed = row(1e9, params={"access": "write", "order": "sequential"}, grade="C")
    other = row(3e9, params={"access": "write", "order": "sequential"})
    whole = summary(("disk", disturbed), ("disk", other))
    lines = whole.parts[0].headlines
    first, later = (
        Part(suite=name, status="complete", headlines=[line]) for name, line in zip("ab", lines, strict=True)
    )
    assert vessels(whole.model_copy(update={"parts": [first, later]}))[0].row is other
    first = first.model_copy(update={"first": True})
    assert vessels(whole.model_copy(update={"parts": [first, later]}))[0].row is disturbed


def test_every_run_shows_the_same_settings_and_not_those_that_came_out_best() -> None:
    params = {"access": "write", "order": "sequential", "block_bytes": 1 << 20}
    one, two = (row(rate, params={**params, "ranks": ranks}) for ranks, rate in ((1, 3e9), (2, 2e9)))
    shuffled = row(4e9, params={**params, "order": "random", "ranks": 2})
    assert headlines([one, two, shuffled], [])[0].row == 2
    assert headlines([one, two, shuffled], [], of_most=True)[0].row == 1


def test_what_does_not_count_stands_for_nothing_where_anything_else_does() -> None:
    void = cores("fp64", 5e12, flags=[Flag(code=INVALID_ABOVE_CEILING)])
    assert vessels(summary(void, cores("fp32", 1e11)))[0].row.median == 1e11
    alone = vessels(summary(void))[0]
    assert alone.is_invalid


def test_the_best_of_like_numbers_stands_for_a_part_whichever_suite_came_first() -> None:
    def measured(rate: float, samples: int = 6, verdict: str = "cold") -> tuple[str, Row]:
        params = {"access": "read", "order": "sequential"}
        return "disk", row(rate, params=params, repetitions=[rate] * samples, verdict=verdict)

    few = [measured(9e9, samples=1), measured(8e9, samples=2)]
    cases = [measured(2.4e9), measured(3.6e9), *few, measured(2e10, verdict="warm")]
    for order in (cases, cases[::-1]):
        assert vessels(summary(*order))[0].row.median == 3.6e9
    assert vessels(summary(*few))[0].row.median == 9e9


def test_a_disturbed_part_is_marked_and_not_judged() -> None:
    disturbed = Vessel("memory", "triad", with_ceiling(row(9e10, "memory_bandwidth", grade="C"), 1e11))
    assert disturbed.interval_kind.endswith(", disturbed (grade C)")
    assert "disturbed (grade C)" in description(disturbed)
    clean = replace(disturbed, row=disturbed.row.model_copy(update={"grade": "B"}))
    assert "disturbed" not in clean.interval_kind
    assert "grade C" in vessel_svg(disturbed, "v")
    assert ">90 %<" not in vessel_svg(disturbed, "v")
    assert ">90 %<" in vessel_svg(clean, "v")
    other = Vessel("cores", "fma", with_ceiling(cores("fp64", 5e10)[1], 1e11))
    assert judgement([other, disturbed], []) == (
        "Other programs disturbed memory (grade C); cores reach 50 % of their ceiling."
    )
    assert "disturbed (grade C)" in front_svg(Front("host", "machine", [], []), [disturbed])


def test_parts_stand_in_a_fixed_order_and_writes_apart_from_reads() -> None:
    write = row(1e9, params={"access": "write", "order": "sequential"})
    read = row(2e9, params={"access": "read", "order": "sequential"})
    small = row(9e9, params={"access": "read", "order": "random"})
    memory = row(8e9, params={"access": "write"})
    found = vessels(
        summary(("file system in memory", memory), ("disk", small), ("disk", read), ("disk", write), cores("fp64", 1.0))
    )
    assert [vessel.part for vessel in found] == ["cores", "disk writes", "disk reads"]
    assert found[2].row is not small
    assert [vessel.part for vessel in vessels(summary(("file system in memory", memory)))] == ["file system in memory"]


def test_time_lost_to_others_is_what_all_of_the_time_lacks() -> None:
    lost = [row(share, "noise_share", "of time", better="less") for share in (0.01, 0.05)]
    vessel = vessels(summary(*(("noise", one) for one in lost)))[0]
    assert vessel.share == pytest.approx(0.95)
    assert vessel.value == "5.0 % lost"
    assert vessel.kind == "ceiling: all of the time"


def test_a_part_without_a_ceiling_says_which_to_declare() -> None:
    vessel = Vessel("memory", "triad", row(5e10, "memory_bandwidth"))
    assert (vessel.share, vessel.kind) == (None, "")
    assert vessel.advice == "declare its bandwidth"
    known = replace(vessel, row=with_ceiling(vessel.row, 1e11))
    assert (known.share, known.advice) == (0.5, "")
    assert known.kind == "declared ceiling 100 GB/s"
    assert known.interval == "[45.0, 55.0]"
    assert replace(vessel, row=vessel.row.model_copy(update={"low": None, "high": None})).interval_kind == "one sample"


def test_no_rate_is_to_be_declared_for_a_time_or_a_share() -> None:
    rate = Vessel("disk writes", "writes", row(1e9), "ceiling")
    assert rate.advice == "declare the rate of the drive"
    for unit in ("s", "of shorter"):
        vessel = replace(rate, row=rate.row.model_copy(update={"unit": unit}))
        assert vessel.advice == "none can be declared: compare runs"
        assert how_to_declare([vessel]) == ""
        assert not vessels(summary(("disk", vessel.row)))
    assert [one.part for one in vessels(summary(("disk", rate.row)))] == ["disk writes"]


@pytest.mark.parametrize("share", [0.0, 0.03, 0.4, 0.6, 1.0, 1.7])
def test_a_vessel_is_filled_to_its_share(share: float) -> None:
    vessel = Vessel("memory", HOSTILE, with_ceiling(row(share * 1e9 or 1e-9), 1e9))
    drawing = ET.fromstring(vessel_svg(vessel, "v"))
    assert drawing.get("role") == "img"
    assert [drawing.find(name) is not None for name in ("title", "desc")] == [True, True]
    filled = drawing.findall("path")[0].get("d") or ""
    top = float(filled.split()[1])
    assert top == pytest.approx(110 - 104 * min(share, 1), abs=0.1)
    text = drawing.findtext("text")
    assert text == ("1.7 x" if share > 1.05 else f"{100 * share:.0f} %")


def test_an_empty_vessel_says_so_in_words() -> None:
    vessel = Vessel("memory", "triad", row(5e10, "memory_bandwidth"))
    assert "no ceiling is known; declare its bandwidth" in description(vessel)
    assert "dasharray" in vessel_svg(vessel, "v")


def test_the_picture_is_a_drawing_whatever_a_machine_is_called() -> None:
    gain = Finding(kind="k", text=HOSTILE, title=HOSTILE, gain=Gain(factor=2, low=1.5, high=2.5))
    of = summary(cores("fp64", 1e11), findings=[gain]).model_copy(update={"system": {**SYSTEM, "host": HOSTILE}})
    front, found = front_of(ReportData(of))
    text = front_svg(front, [replace(vessel, what=HOSTILE) for vessel in found])
    drawing = ET.fromstring(text)
    assert not [element for element in drawing.iter() if element.tag.endswith("script")]
    assert "\u202e" not in text
    assert "\u0007" not in text
    assert len(text) < 20_000
    assert max(len(element.text or "") for element in drawing.iter(f"{SVG}text")) <= 160


def test_the_sentence_names_fullest_and_emptiest() -> None:
    full, half = with_ceiling(cores("fp64", 9e10)[1], 1e11), with_ceiling(row(5e9, "memory_bandwidth"), 1e10)
    found = vessels(summary(("cores", full), ("memory", half), ("network", row(1.0))))
    changes = [Finding(kind="k", text="t", gain=Gain(factor=2, low=1.5, high=2.5))]
    assert judgement(found, changes) == (
        "Cores reach 90 % of their ceiling, memory 50 %; 1 of 3 parts has no known ceiling; "
        "the first change below gains 2.00 x [1.50 x, 2.50 x]."
    )
    assert judgement([], []) == ""
    lost = row(0.02, "noise_share", "of time", better="less")
    assert judgement(vessels(summary(("noise", lost))), []) == "Other work takes 2.0 % of the time."
    assert gain_text(Gain(factor=3)) == "3.00 x (one estimate)"
    change = Finding(kind="rung", text="t", change="c", gain=Gain(factor=3, low=2, high=4), numbers={"rung": "waited"})
    assert "gain" not in judgement(vessels(summary(("noise", lost))), [change])
    ours = change.model_copy(update={"numbers": {"rung": "mpi-protocol"}})
    assert judgement(vessels(summary(("noise", lost))), [change, ours]).endswith("gains 3.00 x [2.00 x, 4.00 x].")


def test_the_machine_is_named_by_what_is_known_of_it() -> None:
    known = machine_line(make_summary())
    assert known.startswith("Example CPU 9654, 64 cores, 384 GiB")
    assert machine_line(make_summary().model_copy(update={"system": {}, "versions": {}})) == ""
    of_nodes = {"measured_on": {"nodes": 4, "ranks": 8}}
    assert machine_line(make_summary().model_copy(update={"system": of_nodes})).startswith("4 nodes with 8 ranks")


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Reads gain", "2 x.", ("Reads gain.", "2 x.")),
        ("Reads gain", "Reads gain: 2 x.", ("Reads gain.", "2 x.")),
        ("Reads", "Reads gain: 2 x.", ("Reads gain:", "2 x.")),
        ("Reads gain", "Reads gain 2 x with 4 ranks; use them.", ("Reads gain 2 x with 4 ranks.", "Use them.")),
        ("", "Reads gain: by 1.5 x.", ("Reads gain:", "by 1.5 x.")),
        ("", "At 1.5 x reads gain.", ("At 1.5 x reads gain.", "")),
        ("", "w" * 120 + ": long", (".", "w" * 120 + ": long")),
    ],
)
def test_a_finding_has_a_title_and_does_not_say_it_twice(title: str, text: str, expected: tuple[str, str]) -> None:
    said = told(Finding(kind="k", title=title, text=text))
    assert (said.title + said.stop, said.text) == expected


def test_what_nobody_cares_for_ranks_later() -> None:
    lines = [
        Finding(kind="k", text="cores", suite="cpu", gain=Gain(factor=2, low=1.9, high=2.1)),
        Finding(kind="k", text="disk", suite="disk", gain=Gain(factor=1.5, low=1.4, high=1.6)),
    ]
    data = ReportData(summary(cores("fp64", 1.0), findings=lines))
    assert [one.text for one in changes_of(data)] == ["cores", "disk"]
    assert [one.text for one in changes_of(replace(data, care=("disk",)))] == ["disk", "cores"]


def test_rows_have_the_part_of_their_rule_their_case_or_their_suite() -> None:
    params = {"phase": "mdtest-easy-write", "access": "create"}
    rows = [
        row(1.0, "operation_rate", "op/s", params=params, suite="io500", case="c1"),
        row(1.0, "latency_p50", "s", params=params, suite="io500", case="c1"),
        row(1.0, "compute_rate", "op/s", suite="cpu"),
        row(1.0, "strange", "x", suite="nobody"),
    ]
    of = summary(*(("metadata", one) for one in rows))
    assert Parts(of).of_rows(rows) == ["metadata", "metadata", "cores", "other"]


def test_long_names_are_cut_and_stay_apart() -> None:
    one, other = inert("x" * 5000 + "a"), inert("x" * 5000 + "b")
    assert one != other
    assert len(one) <= 1200
    assert inert("a\u202eb\x07") == "a\\u202eb\\u0007"
    assert inert_json({"k\u202e": ["v\u2066", 1, None]}) == {"k\\u202e": ["v\\u2066", 1, None]}


def test_data_of_a_chart_is_a_table_where_all_rows_are_alike() -> None:
    alike = {"data": {"values": [{"x": 1.23456789, "y": None}, {"x": 2, "y": "b"}]}, "axis": {"values": [1, 2]}}
    assert compact_spec(alike) == {
        "data": {"values": {"columns": ["x", "y"], "rows": [[1.23457, None], [2, "b"]]}},
        "axis": {"values": [1, 2]},
    }
    unlike = {"data": {"values": [{"x": 1}, {"y": 2}]}}
    assert compact_spec(unlike) == unlike


def test_ids_of_a_page_are_each_there_once() -> None:
    from ullage.report.html import render

    found = re.findall(r'\bid="([^"]+)"', render(ReportData(make_summary())))
    assert len(found) == len(set(found))
