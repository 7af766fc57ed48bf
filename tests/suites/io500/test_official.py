# SPDX-License-Identifier: Apache-2.0
"""Both official forms, read as others write them and written as others read them."""

import configparser
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.importers.printed import printed
from ullage.suites.io500.official import OfficialRun, has_result_lines, is_ini, make_run, read_lines, read_result_ini
from ullage.suites.io500.official_folder import ini_text, summary_text
from ullage.suites.io500.phases import GIB, Mode, phases_of
from ullage.suites.io500.score import score
from ullage.suites.io500.validity import Conditions, Outcome, judge_run

SUMMARY = """IO500 version io500-isc26_v2 (standard)
[RESULT]       ior-easy-write        2.187186 GiB/s : time 313.152 seconds
[      ]            timestamp        0.000000 kIOPS : time 0.001 seconds
[RESULT]    mdtest-hard-write        0.543210 kIOPS : time 60.789 seconds [INVALID]
[      ]  ior-rnd4K-easy-read        0.134469 GiB/s : time 30.157 seconds
[SCORE ] Bandwidth 2.187186 GiB/s : IOPS 0.543210 kiops : TOTAL 1.090000 [INVALID]
"""
OLD = """2,560 processes
[RESULT] BW\tphase 1\tior_easy_write\t1786.080 GB/s : time 365.16 seconds
[RESULT-invalid] BW   phase 2            ior_hard_write                0.021 GB/s : time 200.83 seconds
[RESULT] IOPS phase 3                      find             3029.010 kiops : time  41.21 seconds
[SCORE] Bandwidth **19.9883** GB/s : IOPS **4056.73** kiops : TOTAL **284.758**
"""
INI = """procs           = 2
version         = io500-isc26_v2
config-hash     = 25C33C96
mode            = standard
; START 2020-01-06 10:23:49
; ERROR INVALID stonewall-time != 300

[ior-easy-write]
t_start         = 2020-01-06 10:23:49
exe             = ./ior -C -Q 1 -O stoneWallingWearOut=1 -a POSIX
; ERROR INVALID Write phase needed 0.02s instead of stonewall 1s.
throughput-stonewall = 0.37
score           = 0.186620
t_delta         = 0.0271

[timestamp]
t_delta         = 0.0000

[find]
found           = 1596
score           = 1486.435084
t_delta         = 0.1184

[SCORE]
MD              = 1486.435084
BW              = 0.186620
SCORE           = 16.655240  [INVALID]
hash            = 884F29B
; END 2020-01-06 10:23:53
"""


def test_a_summary_is_read() -> None:
    (run,) = read_lines(SUMMARY, "s")
    assert (run.version, run.mode) == ("io500-isc26_v2", "standard")
    assert [phase.name for phase in run.phases] == [
        "ior-easy-write",
        "timestamp",
        "mdtest-hard-write",
        "ior-rnd4K-easy-read",
    ]
    assert run.phases[0].value == printed("2.187186")
    assert [phase.elapsed_s for phase in run.phases] == [313.152, 0.001, 60.789, 30.157]
    assert [phase.invalid for phase in run.phases] == [False, False, True, False]
    assert run.scores["standard"].total.value == 1.09
    assert run.scores["standard"].invalid


def test_the_first_releases_are_read_with_tabs_and_stars() -> None:
    (run,) = read_lines(OLD, "s")
    assert [phase.name for phase in run.phases] == ["ior-easy-write", "ior-hard-write", "find"]
    assert [phase.invalid for phase in run.phases] == [False, True, False]
    assert run.scores["standard"].bandwidth.value == 19.9883


def test_a_phase_that_comes_again_and_what_follows_a_score_are_further_runs() -> None:
    assert len(read_lines(OLD + SUMMARY, "s")) == 2
    cut = OLD.replace("[SCORE]", "Score")
    assert [len(run.scores) for run in read_lines(cut + OLD, "s")] == [0, 1]


def test_an_extended_run_has_both_scores() -> None:
    text = SUMMARY + "[SCOREX] Bandwidth 0.130000 GiB/s : IOPS 4.600000 kiops : TOTAL 0.773305\n"
    (run,) = read_lines(text, "s")
    assert run.mode == "extended"
    assert not run.scores["extended"].invalid
    assert run.scores["extended"].total.value == 0.773305


def test_a_phase_that_is_gone_is_passed_over() -> None:
    text = SUMMARY + "[      ]  ior-rnd1MB-read        0.134469 GiB/s : time 30.157 seconds\n"
    assert read_lines(SUMMARY, "s") == [run for run in read_lines(text, "s") if run.scores]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[RESULT]  find  nan kIOPS : time 0.4 seconds", "is not a result line"),
        ("[RESULT]  find  1.0 kIOPS : time seconds", "is not a result line"),
        ("[SCORE ] Bandwidth 1.0 GiB/s : IOPS kiops", "is not a result line"),
        ("[RESULT]  fnid  1.0 kIOPS : time 0.4 seconds", "unknown phase 'fnid'"),
        ("[RESULT]  find  1.0 GiB/s : time 0.4 seconds", "find is in GiB/s"),
        ("[RESULT]  ior-easy-read  1.0 kIOPS : time 0.4 seconds", "ior-easy-read is in kIOPS"),
        ("[SCORE ] Bandwidth 1 GiB/s : IOPS 1 kiops : TOTAL 1", "gives the score once more"),
    ],
)
def test_a_bad_line_is_named_by_its_number(line: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_lines(SUMMARY + line + "\n", "s.txt")
    assert str(caught.value).startswith(f"s.txt:7: {message}")
    assert caught.value.right


def test_an_ini_is_read() -> None:
    run = read_result_ini(INI, "r")
    assert (run.ranks, run.version, run.mode) == (2, "io500-isc26_v2", "standard")
    assert run.notes == ("stonewall-time != 300",)
    first, timestamp, find = run.phases
    assert first.value == printed("0.186620")
    assert first.elapsed_s == 0.0271
    assert first.notes == ("Write phase needed 0.02s instead of stonewall 1s.",)
    assert first.invalid
    assert first.pairs["throughput-stonewall"] == "0.37"
    assert timestamp.value is None
    assert (find.pairs["found"], find.invalid) == ("1596", False)
    assert run.scores["standard"].total == printed("16.655240")
    assert run.scores["standard"].invalid


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("[find]", "[fnid]", 19, "unknown phase 'fnid'"),
        ("[find]", "[timestamp]", 19, "section [timestamp] is given twice"),
        ("score           = 1486.435084", "score = fast", 21, "'fast' is not a value of score"),
        ("t_delta         = 0.1184", "t_delta = -1", 22, "'-1' is not a value of t_delta"),
        ("found           = 1596", "found 1596", 20, "is not a line of a result.txt"),
        ("found           = 1596", "score = 1", 21, "'score' is given twice"),
        ("procs           = 2", "procs = two", 1, "'two' is not a value of procs"),
        ("mode            = standard", "mode = fast", 4, "unknown mode 'fast'"),
        ("BW              = 0.186620\n", "", 24, "has no BW"),
    ],
)
def test_a_bad_line_of_an_ini_is_named_by_its_number(old: str, new: str, place: int, message: str) -> None:
    assert old in INI
    with pytest.raises(UserError) as caught:
        read_result_ini(INI.replace(old, new, 1), "r.txt")
    assert str(caught.value).startswith(f"r.txt:{place}: {message}")


def test_files_without_a_phase_are_refused() -> None:
    for call in (lambda: read_lines("hello\n", "x"), lambda: read_result_ini("a = 1\n", "x")):
        with pytest.raises(UserError, match="contains no phase"):
            call()


def test_the_two_forms_are_told_apart() -> None:
    assert [has_result_lines(text) for text in (SUMMARY, OLD, INI, "target,access\n")] == [True, True, False, False]
    assert [is_ini(text) for text in (SUMMARY, OLD, INI, "[section]\n")] == [False, False, True, False]


def _run(mode: Mode = "standard", bad: str = "") -> OfficialRun:
    values = {phase.name: 2.5 * phase.factor for phase in phases_of(mode) if phase.scored_phase}
    elapsed = {phase.name: 301.25 for phase in phases_of(mode)}
    outcomes = {name: Outcome(values.get(name), elapsed_s=s, found=1) for name, s in elapsed.items()}
    if bad:
        outcomes[bad] = Outcome(values[bad], elapsed_s=301.25, bad_blocks=3)
    validity = judge_run(outcomes, Conditions(), mode)
    modes: list[Mode] = ["standard", "extended"] if mode == "extended" else ["standard"]
    scores = {one: score(values, one) for one in modes}
    pairs = {"find": {"found": "7"}}
    return make_run(values, elapsed, scores, validity, mode=mode, version="ullage-1", ranks=4, pairs=pairs)


@pytest.mark.parametrize("mode", ["standard", "extended"])
@pytest.mark.parametrize("bad", ["", "mdtest-hard-read"])
def test_what_is_written_is_read_again(mode: Mode, bad: str) -> None:
    run = _run(mode, bad)
    (lines,), ini = read_lines(summary_text(run), "s"), read_result_ini(ini_text(run), "r")
    for found in (lines, ini):
        assert (found.version, found.mode) == ("ullage-1", mode)
        assert [phase.name for phase in found.phases] == [phase.name for phase in phases_of(mode)]
        assert [phase.name for phase in found.phases if phase.invalid] == ([bad] if bad else [])
        assert [phase.elapsed_s for phase in found.phases] == [301.25] * len(found.phases)
        assert {one: s.invalid for one, s in found.scores.items()} == dict.fromkeys(run.scores, bool(bad))
        assert found.scores["standard"].total.value == pytest.approx(2.5)
    assert ini.ranks == 4
    assert ini.phase("find").pairs == {"found": "7"}  # type: ignore[union-attr]
    if bad:
        assert ini.phase(bad).notes == ("read 3 bad blocks",)  # type: ignore[union-attr]


def test_every_reason_is_said_once_in_the_ini() -> None:
    run = _run(bad="mdtest-hard-read")
    assert ini_text(run).count("3 bad blocks") == 1
    assert "; ERROR INVALID read 3 bad blocks" in ini_text(run).splitlines()


def test_lines_stand_in_the_official_columns() -> None:
    lines = summary_text(_run()).splitlines()
    assert lines[0] == "IO500 version ullage-1 (standard)"
    assert "[RESULT]       ior-easy-write        2.500000 GiB/s : time 301.250 seconds" in lines
    assert "[      ]            timestamp        0.000000 kIOPS : time 301.250 seconds" in lines
    assert "[SCORE ] Bandwidth 2.500000 GiB/s : IOPS 2.500000 kiops : TOTAL 2.500000" in lines
    assert len(lines) == 1 + len(phases_of("standard")) + 1, "no line of our own"


def test_an_ordinary_ini_reader_understands_what_is_written() -> None:
    parser = configparser.ConfigParser(strict=True)
    run = replace(
        _run("extended", "find"),
        pairs={"result-dir": "/a/100%"},
        started="2026-05-18 08:20:20",
        ended="2026-05-18 09:53:48",
    )
    parser.read_string(ini_text(run))
    assert parser["run"]["procs"] == "4"
    assert parser["run"]["result-dir"] == "/a/100%"
    assert list(parser["SCORE"]) == ["md", "bw", "score", "hash"]
    assert float(parser["ior-hard-read"]["score"]) == 2.5
    assert parser["SCORE"]["SCORE"].endswith("[INVALID]")
    assert "score" not in parser["timestamp"]


def test_no_text_of_a_machine_breaks_out_of_its_line() -> None:
    outcomes = {"find": Outcome(1.0, first_failure="stat a\n[SCORE ]\x1b[0m\u2028[find]\nscore = 9")}
    validity = judge_run(outcomes, Conditions())
    run = make_run({"ior-easy-read": GIB}, {}, {}, validity, pairs={"find": {"exe": "a\n[SCORE]\nb"}})
    assert read_result_ini(ini_text(run), "r").phase("find").pairs["exe"] == "a [SCORE] b"  # type: ignore[union-attr]
    assert [phase.value for phase in read_lines(summary_text(run), "s")[0].phases if phase.name == "find"] == [
        printed("0.000000")
    ]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.021", 0.0205, 0.0215),
        ("366.48", 366.475, 366.485),
        ("7", 6.5, 7.5),
        ("1.5e3", 1450, 1550),
        ("0.2", 0.15, 0.25),
    ],
)
def test_a_printed_number_knows_what_rounding_hides(text: str, low: float, high: float) -> None:
    found = printed(text)
    assert (found.low, found.high) == pytest.approx((low, high))


def _refusal(text: str, ini: bool) -> str:
    try:
        _ = read_result_ini(text, "x") if ini else read_lines(text, "x")
    except UserError as error:
        return str(error)
    return ""


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_read_or_refused_in_one_line(text: str, ini: bool) -> None:
    assert "\n" not in _refusal(text, ini)


@given(st.lists(st.text(alphabet="[RESULTSCO]find =:.0123456789GiBkIOPtmescond \n", max_size=60), max_size=6))
def test_lines_of_the_right_letters_are_read_or_refused(parts: list[str]) -> None:
    text = SUMMARY + "\n".join(parts)
    for ini in (False, True):
        refusal = _refusal(text, ini)
        assert not refusal or refusal.startswith("x:")
