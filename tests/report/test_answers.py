# SPDX-License-Identifier: Apache-2.0
"""One answer for one question: findings that say the same are merged, and nothing is said that they do not carry."""

import json
import re
from pathlib import Path

import pytest

from support import recorded_results
from support.make_records import plain_row
from support.plain_words import faults
from ullage.analysis.findings import find_all
from ullage.analysis.findings.together import grid_lines, is_of_grid
from ullage.model.flags import Flag
from ullage.model.summary import Finding, Gain, Part, Row, Summary
from ullage.report.answers import (
    TROUBLE,
    AnswerRule,
    answers,
    change_first,
    fitted,
    load_rules,
    nothing_found,
    remark_kinds,
    said_once,
)
from ullage.runs.options.declared import settable_by
from ullage.runs.suite import all_suites
from ullage.suites.sweep.cells import SweepOptions

GOLDEN = Path(__file__).parents[1] / "golden"


def summary_of(findings: list[Finding], rows: list[Row] | None = None, suite: str = "noise") -> Summary:
    return Summary(suite=suite, run_id="r", created="2026", rows=rows or [], findings=findings)


def row(target: str, access: str, ranks: int, size: int, value: float) -> Row:
    samples = [value * (1 + 0.002 * k) for k in range(-3, 4)]
    own = {"target": target, "case": "", "launches": [100 * ranks + index % 3 for index in range(7)]}
    params = {"access": access, "ranks": ranks, "block_bytes": size}
    return plain_row(samples, params, low=value * 0.99, high=value * 1.01, **own)


def grid(target: str, values: dict[tuple[int, int], float], access: str = "read") -> list[Row]:
    return [row(target, access, ranks, size, value) for (ranks, size), value in values.items()]


SIZES = (128 << 10, 1 << 20, 16 << 20)


def two_targets() -> list[Row]:
    """``a`` is four times as fast with small blocks, ``b`` twice with large ones; 1M are equal."""
    of_a = {(ranks, size): value for ranks in (1, 2, 4) for size, value in zip(SIZES, (4e9, 2e9, 1e9), strict=True)}
    of_b = {(ranks, size): value for ranks in (1, 2, 4) for size, value in zip(SIZES, (1e9, 2e9, 2e9), strict=True)}
    return [*grid("a", of_a), *grid("b", of_b)]


def test_which_target_is_said_in_one_line_of_decided_blocks_only() -> None:
    lines = grid_lines(find_all(two_targets()))
    assert lines[0].startswith("Reads, best against best: ")
    assert lines[0] == (
        "Reads, best against best: a for blocks of 128K (4.0 x, 1 rank); b for 16M (2.0 x, 1 rank); 1M cannot be told."
    )
    assert sum(line.startswith("Reads, ") for line in lines) == 1


def test_equals_are_told_apart_nowhere() -> None:
    same = {(ranks, size): 1e9 for ranks in (1, 2) for size in SIZES}
    lines = grid_lines(find_all([*grid("a", same), *grid("b", same)]))
    assert lines[0] == "Reads, best against best: which of a and b is faster cannot be told at any block size."
    assert "From 1 to 2 ranks nothing is shown to change." in lines


def test_the_same_words_for_several_accesses_are_said_once() -> None:
    same = {(ranks, size): 1e9 for ranks in (1, 2) for size in SIZES}
    rows = [one for access in ("write", "read") for target in "ab" for one in grid(target, same, access)]
    assert grid_lines(find_all(rows))[0].startswith("Writes and reads, best against best: which of a and b is faster")


def test_one_target_is_answered_by_its_setting_and_what_lies_beyond_the_table() -> None:
    rising = {(ranks, 1 << 20): 1e9 * ranks for ranks in (1, 2, 4)}
    lines = grid_lines(find_all(grid("a", rising), settable=settable_by(SweepOptions)))
    assert lines[0] == "a reads have the best median with 4 ranks and 1M blocks (4.00 GB/s)."
    assert "a reads still rise at 4 ranks, the last tried: test 8 ranks (--extend ranks)." in lines
    assert any(re.fullmatch(r"From 1 to 4 ranks: a reads \(4\.0+ x\) rise\.", line) for line in lines)


def test_a_finding_of_a_suite_under_a_grids_name_is_no_grids() -> None:
    own = Finding(kind="scaling", text="Barriers rise.", numbers={"operation": "barrier"})
    assert not is_of_grid(own)
    assert answers(summary_of([own]))[0].lines == ("Barriers rise.",)


def test_the_golden_table_is_answered_in_eight_rows_of_a_hundred_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ullage.cli.app import run

    assert run(["import", str(GOLDEN / "nvme_vs_scratch.csv"), "--result", str(tmp_path / "r")]) == 0
    capsys.readouterr()
    summary = Summary.model_validate_json((tmp_path / "r" / "summary.json").read_text(encoding="utf-8"))
    assert len(summary.findings) > 20
    (answer,) = answers(summary)
    assert answer.lines[0] == (
        "Writes, best against best: nvme for blocks up to 512K (4.4 to 8.0 x, 64 ranks); "
        "scratch for 16M (6.2 x, 2 ranks); "
        "1M to 8M cannot be told."
    )
    assert answer.lines[1].startswith(
        "Reads, best against best: nvme for blocks up to 2M (5.6 to 45 x, 32 or 64 ranks)"
    )
    shown, left = fitted(answer.lines, 8, lambda line: -(-len(line) // 90))
    assert sum(-(-len(line) // 90) for line in shown) <= 8
    assert left == len(answer.lines) - len(shown)
    assert "nvme writes still rise at 64 ranks, the last tried: test 128 ranks." in shown
    assert any(line.startswith("2 outliers: ") for line in shown)
    assert {one.kind for one in summary.findings} - {one.kind for one in answer.told} == set()


def test_the_kinds_of_a_rule_come_first_and_its_remarks_last() -> None:
    kinds = [("remark", "warning"), ("other", "advice"), ("first", "info")]
    found = [Finding(kind=kind, text=kind, severity=severity) for kind, severity in kinds]  # type: ignore[arg-type]
    summary = summary_of(found)
    assert answers(summary, [])[0].lines == ("other", "remark", "first"), "without kinds the severity ranks"
    ours = AnswerRule("noise", "How?", "first", remarks="remark")
    (answer,) = answers(summary, [ours])
    assert (answer.title, answer.lines, answer.remarks) == ("How?", ("first", "other"), ("remark",))


@pytest.mark.parametrize(("named", "first"), [("rate", "C"), ("-rate", "A")])
def test_the_best_of_a_kind_comes_first_whatever_the_order_of_records(named: str, first: str) -> None:
    found = [
        Finding(kind="each", text=f"{name}.", numbers={"rate": rate}) for name, rate in (("A", 1), ("B", 2), ("C", 3))
    ]
    rule = AnswerRule("noise", "How?", "each then", best={"each": named})
    then = Finding(kind="then", text="Then.")
    (one,) = answers(summary_of([*found, then]), [rule])
    assert [line[0] for line in one.lines] == [first, "B", "T", "A" if first == "C" else "C"]


def test_the_largest_sure_gain_of_a_kind_comes_first() -> None:
    gains = {"A": Gain(factor=9, low=1.1, high=99), "B": None, "C": Gain(factor=2, low=1.9, high=2.1)}
    found = [Finding(kind="each", text=f"{name}.", gain=gain, severity="advice") for name, gain in gains.items()]
    (one,) = answers(summary_of(found), [AnswerRule("noise", "How?", "each")])
    assert [line[0] for line in one.lines] == ["C", "A", "B"]


def test_a_question_without_a_finding_says_so_and_why() -> None:
    rows = two_targets()
    ours = AnswerRule("noise", "How?", "first")
    (answer,) = answers(summary_of([], rows), [ours])
    assert answer.lines == ()
    assert answer.notes[0] == "No finding of this run answers the question."
    disturbed = [one.model_copy(update={"grade": "C"}) for one in rows]
    (answer,) = answers(summary_of([], disturbed), [ours])
    assert answer.notes[0] == (
        f"There is no answer: other programs disturbed all {len(rows)} rows, and no finding rests on these. Run again "
        "on an idle machine."
    )
    assert not faults(answer.notes[0])
    assert nothing_found(disturbed) == answer.notes[0]
    assert nothing_found(rows) == "Nothing was found."
    (answer,) = answers(summary_of([Finding(kind="first", text="so")], disturbed), [ours])
    assert not any("no answer" in note for note in answer.notes)


def test_what_went_wrong_is_left_to_those_who_say_it_first() -> None:
    found = [Finding(kind=kind, text=kind, severity="warning") for kind in sorted(TROUBLE)]
    assert answers(summary_of(found)) == []


def test_a_run_of_suites_has_an_answer_of_each_that_says_something() -> None:
    found = [Finding(kind="noise", text="quiet", suite="noise"), Finding(kind="x", text="all", suite="")]
    parts = [Part(suite=name, status="complete") for name in ("cpu", "noise")]
    summary = Summary(suite="node", run_id="r", created="2026", rows=[], findings=found, parts=parts)
    assert [(answer.suite, answer.lines) for answer in answers(summary)] == [("noise", ("quiet",))]


def test_what_all_rows_share_is_said_once_and_flags_in_words() -> None:
    flagged = [one.model_copy(update={"flags": [Flag(code="interval-below-95")]}) for one in two_targets()]
    findings = find_all(flagged)
    notes = said_once(flagged, findings)
    assert notes[:1] == [one.text for one in findings if one.kind == "cache"]
    assert "18" in notes[0]
    assert "Flags: too few repetitions for a 95 % interval (all 18 rows)." in notes
    mixed = [one.model_copy(update={"verdict": "warm"}) if one.target == "b" else one for one in flagged]
    assert "The targets were not measured alike: a (reads: cold); b (reads: warm)." in said_once(mixed, find_all(mixed))


def test_targets_that_were_not_measured_alike_are_not_compared_without_a_word() -> None:
    rows = [one.model_copy(update={"verdict": "warm"}) if one.target == "b" else one for one in two_targets()]
    (answer,) = answers(summary_of(find_all(rows), rows))
    assert answer.lines[0].startswith("Reads, best against best: ")
    assert answer.lines[1] == "The targets were not measured alike: a (reads: cold); b (reads: warm)."
    assert answer.lines[1] not in answer.notes
    alike = answers(summary_of(find_all(two_targets()), two_targets()))[0]
    assert not any("differs" in line for line in (*alike.lines, *alike.notes))


def test_lines_that_do_not_fit_are_passed_over_and_counted() -> None:
    assert fitted(["one", "three", "two"], 3, {"one": 1, "three": 3, "two": 2}.__getitem__) == (["one", "two"], 1)


def test_rules_name_suites_that_are_there_and_each_but_once() -> None:
    named = [rule.suite for rule in load_rules()]
    assert len(set(named)) == len(named)
    assert set(named) <= set(all_suites())
    assert all(rule.title.endswith("?") for rule in load_rules())


@pytest.mark.parametrize("name", recorded_results.names())
def test_every_recorded_finding_is_in_an_answer_or_is_trouble(name: str) -> None:
    summary = Summary.model_validate(json.loads(recorded_results.read_frozen(name)["json"]))
    told = [one for answer in answers(summary) for one in answer.told]
    suites = {part.suite for part in summary.parts} or {summary.suite}
    left = [one for one in summary.findings if one not in told and one.kind not in TROUBLE]
    assert [one for one in left if (one.suite or summary.suite) in suites] == []
    assert remark_kinds() >= {"contamination", "io500-invalid"}


def finding(text: str, gain: Gain | None, suite: str = "disk", kind: str = "") -> Finding:
    return Finding(kind=kind or text, text=text, gain=gain, suite=suite)


def test_the_gain_that_is_sure_ranks_first() -> None:
    lucky = finding("lucky", Gain(factor=9, low=1.05, high=80))
    sure = finding("sure", Gain(factor=2, low=1.9, high=2.1))
    alone = finding("alone", Gain(factor=5))
    nothing = finding("nothing", None)
    worse = finding("worse", Gain(factor=1.1, low=0.9, high=1.3))
    assert [found.text for found in change_first([lucky, nothing, alone, sure, worse])] == ["sure", "alone", "lucky"]
    assert [found.text for found in change_first([lucky, alone, sure], most=1)] == ["sure"]


def test_what_nobody_cares_for_weighs_a_tenth() -> None:
    disk, cpu = finding("disk", Gain(factor=1.2, low=1.1)), finding("cpu", Gain(factor=2, low=1.9), "cpu")
    assert [found.text for found in change_first([disk, cpu], care={"disk"})] == ["disk", "cpu"]
    assert [found.text for found in change_first([disk, cpu])] == ["cpu", "disk"]


def test_a_table_of_many_lines_leaves_room_for_others() -> None:
    lines = [finding(f"line {n}", Gain(factor=9, low=8 - n, high=10), kind="queue-depth") for n in range(4)]
    other = finding("other", Gain(factor=1.2, low=1.1, high=1.3))
    assert [found.text for found in change_first([*lines, other])] == ["line 0", "line 1", "other"]
    elsewhere = finding("elsewhere", Gain(factor=6, low=5, high=7), suite="nvme", kind="queue-depth")
    assert [found.text for found in change_first([*lines, elsewhere])][-1] == "elsewhere"


def test_the_same_change_is_advised_once() -> None:
    """The suite of a kernel and the run of all kernels advise the same, for several files."""
    some = [
        finding(f"line {n}", Gain(factor=9, low=8 - n, high=10)).model_copy(update={"change": "--format raw"})
        for n in range(3)
    ]
    other = finding("other", Gain(factor=1.2, low=1.1, high=1.3), kind="line 0")
    assert [found.text for found in change_first([*some, other])] == ["line 0", "other"]
