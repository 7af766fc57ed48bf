# SPDX-License-Identifier: Apache-2.0
"""The texts beside a result, in the original's order."""

import re
from pathlib import Path

from support.b_eff_io_world import At, World, usual_options
from ullage.suites.b_eff_io.hints import HintLine, HintSet
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, TYPES
from ullage.suites.b_eff_io.texts import PROTOCOL_FILE, SUMMARY_FILE, make_texts, write_texts


def texts_of(folder: Path, world: World) -> tuple[list[str], list[str]]:
    found = make_texts(world.write(folder / "result"))
    return found[SUMMARY_FILE].splitlines(), found[PROTOCOL_FILE].splitlines()


def by_place(at: At) -> float:
    """MB/s that say where they belong: access, type and row of the table."""
    position = at.pattern.position or 0
    return (100 * (1 + ACCESSES.index(at.access)) + 10 * TYPES.index(at.pattern.type) + position) * 1e6


def test_the_table_is_access_by_row_by_type(tmp_path: Path) -> None:
    lines, _ = texts_of(tmp_path, World(usual_options(partitions=[4]), by_place))
    rows = [line.split() for line in lines if re.match(r" +4 PE ", line)]
    assert len(rows) == 3 * 8
    for index, access in enumerate(ACCESSES):
        part = rows[8 * index : 8 * index + 8]
        chunks = ["1024", "1032", "32768", "32776", "1048576", "1048584", "16777216"]
        assert [row[2:5] for row in part[:7]] == [[str(n + 1), chunk, access] for n, chunk in enumerate(chunks)]
        for number, row in enumerate(part[:7], start=1):
            assert [float(cell) for cell in row[5:]] == [
                100 * (index + 1) + 10 * kind + number for kind in range(len(TYPES))
            ]
        assert part[7][2] == f"total-{access}"
        assert len(part[7]) == 3 + len(TYPES)


def test_the_summary_is_in_the_order_of_the_original(tmp_path: Path) -> None:
    lines, _ = texts_of(tmp_path, World(usual_options(time_s=7200.0)))
    wanted = [
        "2048 MBytes/PE, 8192 MBytes in total, Lmax = 16.000 MBytes",
        "N = 2 of 4, T = 7200 s over 2 partitions = 3600 s each, rule 2.1, -rewrite, hints default",
        "processes pos",
        "total-write",
        "total-rewrite",
        "total-read",
        "Not in the table: pattern 2 (scatter, l = 1 MByte, L = 2 MBytes): 100.000 MB/s write",
        "weighted average bandwidth for write   : 99.",
        "weighted average bandwidth for rewrite : 99.",
        "weighted average bandwidth for read    : 99.",
        "Total amount of data moved with write   : ",
        "W' (first writes, with the rewrite of scatter for its second weight) = 99.",
        "b_eff_io of these measurements = 99.",
        "total memory / b_eff_io = 8590 MB / 99.",
        "This result is VALID.",
        "N = 4 of 4",
        "maximum over partitions: b_eff_io = 99.",
    ]
    places = [next(number for number, line in enumerate(lines) if text in line) for text in wanted]
    assert places == sorted(places)
    assert lines[-1].endswith("(VALID)")


def test_a_short_run_has_its_criteria(tmp_path: Path) -> None:
    lines, _ = texts_of(tmp_path, World(usual_options(partitions=[4], time_s=60.0)))
    first = lines.index("This result is NOT VALID. Criteria:")
    assert lines[first + 1 : first + 5] == [
        "  NOT reached : scheduled time of each partition at least 30 min",
        "  reached     : shared file pointers used for pattern type shared",
        "  reached     : no error",
        "  because the scheduled time is 60.0 s, below 30 min",
    ]
    assert lines[-1].endswith("(NOT VALID)")


def test_an_error_stands_as_in_the_original(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4]), fails=lambda at: at.pattern.number == 20 and at.access == "read")
    lines, protocol = texts_of(tmp_path, world)
    (row,) = [line for line in lines if re.match(r" +4 PE +3 +32768 +read", line)]
    assert row.split()[5:] == ["100.000", "100.000", "-999.999", "100.000", "100.000"]
    assert any(line.startswith("# -999.999: disk, hints default, pattern 20 of type separated") for line in protocol)
    (line,) = [line for line in protocol if re.match(r" +4 read +separated +20 ", line)]
    assert " -999.999 " in line


def test_without_rewrite_only_scatter_has_rows(tmp_path: Path) -> None:
    lines, _ = texts_of(tmp_path, World(usual_options(partitions=[4], rewrite=False)))
    rows = [line.split() for line in lines if re.match(r" +4 PE .*rewrite", line)]
    assert [len(row) for row in rows] == [6] * 7 + [4]


def test_a_stopped_run_says_what_it_has(tmp_path: Path) -> None:
    lines, _ = texts_of(tmp_path, World(usual_options(partitions=[4]), stop_after=1))
    assert "b_eff_io of these measurements: none, since not everything has run" in lines
    assert not any(line.startswith("maximum") for line in lines)


def test_the_protocol_has_a_line_for_each_pattern(tmp_path: Path) -> None:
    _, lines = texts_of(tmp_path, World(usual_options(partitions=[4])))
    patterns = [line for line in lines if re.match(r" +4 (write|rewrite|read) ", line)]
    assert len(patterns) == 3 * len(PATTERNS)
    assert [line for line in lines if line.startswith("# launch")] == [
        f"# launch {number}: round 1, disk, 4 processes, {access}" for number, access in enumerate(ACCESSES, start=1)
    ]
    first = patterns[5].split()
    assert first[:4] == ["4", "write", "scatter", "5"]
    assert (first[5], first[6], first[-1]) == ("1024", "1048576", "scheduled")
    total = next(line for line in lines if line.startswith("#     write scatter, hints default: ok"))
    assert "open 0.020000 + patterns" in total
    assert "by units 100.000 MB/s (for information)" in total


def test_times_of_a_pattern_add_up(tmp_path: Path) -> None:
    _, lines = texts_of(tmp_path, World(usual_options(partitions=[4])))
    line = next(line for line in lines if re.match(r" +4 write +scatter +5 ", line))
    whole, parts = line.split("=")
    assert float(whole.split()[-1]) == round(sum(float(part) for part in parts.split()[:4]), 6)


def test_hints_in_use_are_read_back(tmp_path: Path) -> None:
    change = {"hints_given": {"a": "1"}, "hints_granted": {"a": "1", "b": "\x1b[31m"}}
    _, lines = texts_of(tmp_path, World(usual_options(partitions=[4]), change=lambda _: change))
    assert "#     hints in use, patterns 9, 10, 11, 12, 13, 14, 15, 16: a=1, b=\\u001b[31m" in lines


def test_sets_of_hints_each_have_a_part(tmp_path: Path) -> None:
    sets = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]
    lines, _ = texts_of(tmp_path, World(usual_options(partitions=[4], hint_sets=sets)))
    assert [line for line in lines if "hints frost" in line]
    assert len([line for line in lines if line.startswith("maximum over partitions")]) == 2


def test_both_files_lie_in_the_result_and_nothing_where_nothing_ran(tmp_path: Path) -> None:
    result = World(usual_options(partitions=[4])).write(tmp_path / "result")
    write_texts(result)
    assert {SUMMARY_FILE, PROTOCOL_FILE} <= {path.name for path in result.path.iterdir()}
    empty = World(usual_options(partitions=[4]), stop_after=0).write(tmp_path / "empty")
    write_texts(empty)
    assert not (empty.path / SUMMARY_FILE).exists()
