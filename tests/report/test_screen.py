# SPDX-License-Identifier: Apache-2.0
"""The end of a run: at most 45 lines of 100 columns, whatever was measured and whatever it is called."""

import io
import json
import re
import unicodedata
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from support import recorded_results
from support.make_records import plain_row
from support.sample_result import Shape, make_rows, make_summary
from ullage.analysis.findings.doubts import contamination_findings
from ullage.cli.app import run
from ullage.model.flags import Flag
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Finding, Gain, Headline, Part, Row, Score, Summary
from ullage.report.answers import MOST_LINES
from ullage.report.data import ReportData
from ullage.report.screen import MOST_ROWS, finding_lines, print_screen, screen
from ullage.report.screen.lines import WIDTH, bar, cut, folded

GOLDEN = Path(__file__).parents[1] / "golden"
# Lines after the screen: an empty one, the page, the result.
AFTER = 3


def texts(summary: Summary) -> list[str]:
    return [line.text for line in screen(ReportData(summary))]


def must_fit(summary: Summary) -> list[str]:
    lines = texts(summary)
    assert len(lines) <= MOST_ROWS - AFTER, "\n".join(lines)
    wide = [line for line in lines if cell_len(line) > WIDTH]
    assert wide == []
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp") for line in lines for c in line)
    return lines


def row(**changes: object) -> Row:
    params = {"access": "read", "ranks": 2, "block_bytes": 1 << 20}
    return plain_row([2e9] * 7, params, **{"target": "nvme", "case": "", "low": 1.9e9, "high": 2.1e9, **changes})


def one(row_: Row, **changes: object) -> Summary:
    return Summary(suite="sweep", run_id="r", created="2026-11-22T10:00:00Z", rows=[row_]).model_copy(update=changes)


@pytest.mark.parametrize("name", recorded_results.names())
def test_every_recorded_result_ends_on_one_screen(name: str) -> None:
    summary = Summary.model_validate(json.loads(recorded_results.read_frozen(name)["json"]))
    lines = must_fit(summary)
    assert summary.suite in lines[0]
    numbers = [line for line in lines if re.search(r"\[(#|\.)|no ceiling is known|does not count", line)]
    assert bool(numbers) == bool(summary.rows)


def test_what_a_report_prints_is_the_screen_and_where_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = recorded_results.unpack("node_quick", tmp_path)
    assert run(["report", str(result), "--format", "html"]) == 0
    capsys.readouterr()
    assert run(["report", str(result)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"Report: {result / 'report.html'}"
    assert len(lines) <= MOST_ROWS
    assert max(map(len, lines[:-1])) <= WIDTH


def test_everything_is_printed_part_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = recorded_results.unpack("node_quick", tmp_path)
    assert run(["report", str(result), "--format", "terminal"]) == 0
    text = capsys.readouterr().out
    parts = [f"= {suite}: " for suite in ("cpu", "memory", "disk", "network", "noise")]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert len(text.splitlines()) > 3 * MOST_ROWS
    disk = text[places[2] : places[3]]
    assert "Best settings" in disk
    assert "GB/s" in disk


def test_an_import_ends_on_one_screen_with_its_answer_in_eight_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", str(GOLDEN / "nvme_vs_scratch.csv"), "--result", str(tmp_path / "r")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= MOST_ROWS
    first = next(index for index, line in enumerate(lines) if line.startswith("  Writes, best against best: nvme for"))
    box = lines[first : lines.index("", first)]
    assert len(box) <= MOST_LINES
    assert lines[-1] == str(tmp_path / "r")


def test_a_bar_is_the_part_of_the_ceiling_that_is_reached() -> None:
    assert bar(0.5) == "[#####.....]"
    assert bar(1.7) == "[##########]"
    assert bar(0.0) == "[..........]"
    assert bar(None) == "[no ceiling]"
    known = row(ceiling=Ceiling(value=4e9, kind="declared", source="data sheet"), share=0.5)
    (line,) = [text for text in texts(one(known)) if "[####" in text]
    assert line.split("[", 1)[1] == "#####.....]  50 %  2.00 GB/s [1.90, 2.10]"


def test_a_verdict_is_said_only_where_it_is_not_what_was_asked() -> None:
    def line_of(known: Row) -> str:
        return next(text for text in texts(one(known)) if "2.00 GB/s" in text)

    assert "cold" not in line_of(row())
    assert line_of(row(verdict="warm")).endswith("warm")
    assert line_of(row(flags=[Flag(code="INVALID:above-ceiling")])).endswith("INVALID")


def test_a_disturbed_number_is_marked_and_its_use_is_not_denied_where_it_is_used() -> None:
    disturbed = row(grade="C")
    said = contamination_findings([disturbed])
    lines = texts(one(disturbed, findings=said))
    assert next(text for text in lines if "2.00 GB/s" in text).endswith("grade C")
    assert "(grade C: they took 5 % or more of the time), which no finding uses" in " ".join(
        line.strip("| ") for line in lines
    )
    # A prediction from disturbed rates, or a measurement of what disturbs, rests on it.
    used = " ".join(texts(one(disturbed, findings=[Finding(kind="predicted-phase", text="It takes 3 s.")])))
    assert "Other programs disturbed 1 of 1 row (grade C: they took 5 % or more of the time)." in used
    assert "no finding uses" not in used


def test_a_score_that_does_not_count_says_so_and_parts_of_scores_are_left_out() -> None:
    reasons = ["the stonewall of 1 s is below the 300 s of the rules"]
    scores = [
        Score(name="IO500", value=10.27, valid=False, reasons=reasons),
        Score(name="IO500 bandwidth", unit="GiB/s", value=1.0, valid=False, reasons=reasons),
        Score(name="b_eff", unit="MB/s", value=4797.0, valid=True),
    ]
    lines = texts(one(row(), scores=scores))
    assert "IO500 does not count: 10.27 (the stonewall of 1 s is below the 300 s of the rules)" in lines
    assert "b_eff: 4797 MB/s" in lines
    assert not any("bandwidth" in line for line in lines)


def parts_of(findings: list[Finding]) -> Summary:
    rows = [row(suite="disk"), row(suite="cpu", target="cpu")]
    parts = [
        Part(suite="cpu", status="complete", headlines=[Headline(part="cores", what="int8", row=1)]),
        Part(suite="disk", status="interrupted", headlines=[Headline(part="disk", what="reads", row=0)]),
    ]
    return one(rows[0], suite="node", rows=rows, parts=parts, findings=findings)


def test_failures_come_first_then_gains_then_advice_of_each_suite() -> None:
    findings = [
        Finding(kind="contamination", text="remark", severity="warning", suite="cpu"),
        Finding(kind="x", text="advice of cpu", severity="advice", suite="cpu"),
        Finding(kind="x", text="more advice of cpu", severity="advice", suite="cpu"),
        Finding(kind="y", text="advice of disk", severity="advice", suite="disk"),
        Finding(kind="z", text="twice", change="--direct", gain=Gain(factor=2, low=1.9, high=2.1), suite="disk"),
        Finding(kind="failure", text="it failed", severity="warning", suite="disk"),
    ]
    lines = must_fit(parts_of(findings))
    start = lines.index("Change first, and other findings")
    assert [line.strip() for line in lines[start + 1 : start + 7]] == [
        "1. disk: it failed",
        "2. disk: twice",
        "do: --direct",
        "3. cpu: advice of cpu",
        "4. disk: advice of disk",
        "5. cpu: more advice of cpu",
    ]
    assert "remark" not in "\n".join(lines)
    assert lines[1] == "| Interrupted, failed in part"
    assert lines[2].startswith("| The run was interrupted: disk (interrupted) of 2 suites. It has ")


def test_what_is_found_over_all_suites_goes_before_their_answers() -> None:
    findings = [Finding(kind="answer", text="of the disk", suite="disk"), Finding(kind="across", text="over all")]
    lines = must_fit(parts_of(findings))
    start = lines.index("Findings")
    assert [line.strip() for line in lines[start + 1 : start + 3]] == ["1. over all", "2. disk: of the disk"]


def test_a_run_of_suites_answers_its_own_question_first() -> None:
    """The best and the worst pattern is what `apps` is asked; each change is said once."""
    gain = Gain(factor=3, low=2.5, high=3.5)
    same = [
        Finding(kind=f"flash-{n}", suite="flash", text=f"Text {n}.", change="--format raw", gain=gain) for n in range(3)
    ]
    lowest = "The lowest median of"
    extremes = [Finding(kind="apps-classes", severity="advice", text=f"{lowest} {n} settings.") for n in (4, 5)]
    summary = parts_of([*same, *extremes]).model_copy(update={"suite": "apps"})
    shown = must_fit(summary)
    question = shown.index("Which access patterns is this target good and bad at?")
    assert [line for line in shown if lowest in line] == shown[question + 1 : question + 3]
    assert sum("--format raw" in line for line in shown) == 1
    assert sum("Text " in line for line in shown) == 1


def test_data_that_was_verified_in_part_is_said() -> None:
    part = row(notes=["verified 12.5 % of the bytes read, not all of them"])
    assert any("1 row is of data verified in part (12.5 % or more)" in line for line in texts(one(part)))
    assert not any("verified" in line for line in texts(one(row())))


def test_many_long_findings_leave_room_for_what_follows() -> None:
    long = [
        Finding(kind=f"k{number}", text="word " * 400, severity="advice", suite="cpu", change="x " * 400)
        for number in range(40)
    ]
    lines = must_fit(parts_of(long))
    assert lines[1] == "| Interrupted"
    assert sum(line.startswith("  ") and line.strip()[:2].rstrip(".").isdigit() for line in lines) == 5


EVIL = (
    "\x1b[2J[red]x[/red]\r\n:smile:",
    "a\nb\u2028c",
    "\u202egnol\u202c\u200b",
    "<script>alert('x')</script>\"&",
    "n" * 4096,
    "\u5bbf\u4e3b" * 200,
)


@pytest.mark.parametrize("name", EVIL)
def test_hostile_names_stay_inert_and_keep_the_screen_whole(name: str) -> None:
    rows = [known.model_copy(update={"target": name, "verdict": name}) for known in make_rows(Shape())]
    gain = Gain(factor=2, low=1.5)
    finding = Finding(kind=name[:40], text=name, title=name, change=name, severity="advice", gain=gain)
    system = {"host": name, "cpu": {"model": name}, "places": [{"target": name, "file_system": name}]}
    events = [Finding(kind=name, text=name, severity="warning")]
    changes = {"rows": rows, "findings": [finding], "events": events, "system": system, "suite": name}
    summary = make_summary().model_copy(update=changes)
    lines = must_fit(summary)
    assert "\x1b" not in "".join(lines)
    stream = io.StringIO()
    print_screen(ReportData(summary), Console(file=stream, width=WIDTH, highlight=False, force_terminal=False))
    assert stream.getvalue().splitlines() == lines


def test_text_is_cut_and_folded_within_its_columns() -> None:
    assert cut("x" * 200, 10) == "xxxxxxx..."
    assert cell_len(cut("\u5bbf" * 200, 10)) <= 10
    wide = folded("\u5bbf" * 300)
    assert max(cell_len(line.text) for line in wide) <= WIDTH
    assert [line.text for line in folded("word " * 100, most=2)][-1].endswith("...")
    assert len(folded("word " * 100, most=2)) == 2
    assert all(line.text.startswith("     w") for line in folded("word " * 100, "     ", most=2))


def test_what_the_reader_uses_ranks_first() -> None:
    gains = {"cpu": Gain(factor=3, low=2.9, high=3.1), "disk": Gain(factor=1.5, low=1.4, high=1.6)}
    summary = parts_of([Finding(kind="z", text=name, gain=gain, suite=name) for name, gain in gains.items()])
    assert [line.text for line in screen(ReportData(summary)) if line.text.startswith("  1.")] == ["  1. cpu: cpu"]
    assert [line.text for line in screen(ReportData(summary, care=("disk",))) if line.text.startswith("  1.")] == [
        "  1. disk: disk"
    ]


def test_parts_without_a_ceiling_say_how_to_declare_one() -> None:
    def result(options: dict[str, object]) -> str:
        request = Request(run_id="r", suite="sweep", created="2026-11-22T10:00:00Z", options=options, targets=[])
        data = ReportData(one(row()), request=request)
        return " ".join(line.text for line in screen(data))

    assert "ullage machine --declare machine.toml" in result({"machine": None})
    assert "--ceiling TARGET:write=RATE" in result({"ceilings": {}})
    assert "--machine" not in result({"ceilings": {}}), "this suite has no such option"
    assert "To declare a ceiling" not in result({})


def test_a_long_finding_keeps_what_to_do() -> None:
    middle = " ".join(f"Case {number} of the table says so too." for number in range(40))
    long = Finding(kind="k", text=f"Reads are slow. {middle} Use larger blocks.", severity="advice", suite="a")
    shown = "\n".join(line.text for line in finding_lines([long], 10))
    assert "Reads are slow." in shown
    assert shown.endswith("Use larger blocks.")
    assert len(shown.splitlines()) == 3
