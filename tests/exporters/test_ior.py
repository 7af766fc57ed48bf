# SPDX-License-Identifier: Apache-2.0
"""Results in the tables of IOR and mdtest, as scripts read them."""

import json
import re

import pytest

from support.make_records import MIB, SECOND_NS, make_case, make_phase, make_run
from support.sample_result import make_summary
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.exporters import load_exporters
from ullage.model.record import Done, PhaseRecord, Stage, Stonewall
from ullage.model.summary import Finding
from ullage.report.data import ReportData
from ullage.results.rows import Measured


def text_of(name: str, measured: list[Measured], events: list[Finding] | None = None) -> str:
    summary = make_summary().model_copy(update={"events": events or []})
    content = load_exporters()[name].render(ReportData(summary, measured=tuple(measured)))
    assert isinstance(content, str)
    return content


def transfer(phase: PhaseRecord, repetition: int = 0, **parameters: object) -> Measured:
    case = make_case(repetition=repetition, parameters=parameters, backend="mpiio")  # type: ignore[arg-type]
    return Measured(make_run(), case, phase)


def staged(phase: str, repetition: int, seconds: float, **fields: object) -> PhaseRecord:
    """Open for 1 ms, transfer and sync until 1 ms before the end, close."""
    end, ms = int(seconds * SECOND_NS), 1_000_000
    stages = {
        "open": Stage(first_start_ns=0, last_stop_ns=ms, longest_ns=ms),
        "transfer": Stage(first_start_ns=ms, last_stop_ns=end - 3 * ms, longest_ns=end),
        "sync": Stage(first_start_ns=end - 3 * ms, last_stop_ns=end - ms, longest_ns=ms),
        "close": Stage(first_start_ns=end - ms, last_stop_ns=end, longest_ns=ms),
    }
    return make_phase(repetition=repetition, phase=phase, elapsed_ns=end, stages=stages, **fields)


def columns_of(line: str, heads: str) -> dict[str, str]:
    names, cells = re.split(r"\s+", heads.strip()), re.split(r"\s+", line.strip())
    assert len(names) == len(cells), line
    return dict(zip(names, cells, strict=True))


def ior_lines() -> list[str]:
    items = [
        transfer(staged(phase, number, seconds), number, read_back="other-node", read_shift=2)
        for number, seconds in enumerate((1.0, 2.0))
        for phase in ("write", "read")
    ]
    return text_of("ior", items).splitlines()


def test_every_iteration_is_a_line_of_iors_columns() -> None:
    lines = ior_lines()
    (head,) = [line for line in lines if line.startswith("access")]
    rows = [line for line in lines if re.match(r"(write|read) ", line)][:4]
    first, last = columns_of(rows[0], head), columns_of(rows[3], head)
    assert [row.split()[0] for row in rows] == ["write", "read", "write", "read"]
    assert (first["access"], first["bw(MiB/s)"], first["IOPS"], first["iter"]) == ("write", "1000.00", "1000.00", "0")
    assert (first["block(KiB)"], first["xfer(KiB)"]) == ("512000.00", "1024.00")
    assert (first["open(s)"], first["wr/rd(s)"]) == ("0.001000", "0.998000")
    assert (first["close(s)"], first["total(s)"]) == ("0.001000", "1.000000")
    assert float(first["Latency(s)"]) == 0.002
    assert (last["bw(MiB/s)"], last["total(s)"], last["iter"]) == ("500.00", "2.000000", "1")


def test_the_summary_has_iors_columns_and_one_formula() -> None:
    lines = ior_lines()
    start = lines.index("Summary of all tests:")
    assert lines[start + 1].startswith("Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)")
    heads, cells = lines[start + 1].split(), lines[start + 2].split()
    assert len(heads) == len(cells) == 27
    assert cells[:10] == [
        "write",
        "1000.00",
        "500.00",
        "750.00",
        "250.00",
        "1000.00",
        "500.00",
        "750.00",
        "250.00",
        "1.50000",
    ]
    assert cells[10:] == [
        *("NA", "NA", "0", "2", "2", "2", "0", "1", "2", "0", "0", "1"),
        *("524288000", "1048576", "1000.0", "MPIIO", "0"),
    ]


def test_maxima_are_where_scripts_look_for_them() -> None:
    lines = ior_lines()
    assert "Max Write: 1000.00 MiB/sec (1048.58 MB/sec)" in lines
    assert "Max Read:  1000.00 MiB/sec (1048.58 MB/sec)" in lines


def test_the_rate_at_the_wall_is_that_of_all_ranks() -> None:
    wall = Stonewall(
        deadline_ns=SECOND_NS,
        at_wall=Done(elapsed_ns=SECOND_NS, bytes=300 * MIB, operations=300),
        wear_out=True,
        least_operations=1,
        most_operations=2,
    )
    text = text_of("ior", [transfer(staged("write", 0, 2.0, stonewall=wall))])
    assert text.splitlines()[-1].split()[10:12] == ["1.00", "300.00"]


def test_wide_numbers_keep_their_blanks() -> None:
    huge = make_phase(elapsed_ns=1000, bytes_=10**15)
    (row,) = [line for line in text_of("ior", [transfer(huge)]).splitlines() if line.startswith("write ")][:1]
    assert len(row.split()) == 11


def test_warnings_of_the_run_follow() -> None:
    event = Finding(kind="read-back-own", text="every rank reads back its own data", severity="warning")
    text = text_of("ior", [transfer(staged("read", 0, 1.0))], [event])
    assert text.endswith("WARNING: every rank reads back its own data\n")


def test_iors_json_holds_the_numbers_of_its_tables_without_rounding() -> None:
    measured = [
        transfer(staged("write", 0, 1.0)),
        transfer(staged("write", 1, 3.0), 1),
        transfer(staged("read", 0, 0.5)),
    ]
    found = json.loads(text_of("ior-json", measured))
    assert list(found) == ["Version", "Began", "Command line", "tests", "summary"]
    (test,) = found["tests"]
    assert [(result["access"], result["iter"]) for result in test["Results"]] == [
        ("write", 0),
        ("write", 1),
        ("read", 0),
    ]
    write, read = found["summary"]
    assert (write["operation"], read["operation"], write["repetitions"]) == ("write", "read", 2)
    rates = [result["bwMiB"] for result in test["Results"][:2]]
    assert (write["bwMaxMIB"], write["bwMinMIB"]) == (max(rates), min(rates))
    assert write["bwMeanMIB"] == pytest.approx(sum(rates) / 2)
    assert write["bwStdMIB"] == pytest.approx((max(rates) - min(rates)) / 2)
    assert write["MeanTime"] == pytest.approx(2.0)
    assert test["Parameters"]["writeFile"] == test["Parameters"]["readFile"] == 1
    assert write["API"] == test["Parameters"]["api"]


def item(phase: str, kind: str, repetition: int, per_s: float, **parameters: object) -> Measured:
    record = make_phase(repetition=repetition, phase="write").model_copy(
        update={"phase": phase, "operations": 1000, "elapsed_ns": int(1000 / per_s * SECOND_NS)}
    )
    given = {"item": kind, "items": 500, "depth": 0, **parameters}
    case = make_case(repetition=repetition, parameters=given, workload="metadata")  # type: ignore[arg-type]
    return Measured(make_run(), case, record)


def test_mdtests_summary_goes_through_its_operations_in_order() -> None:
    phases = {
        "directory": ["tree-create", "mkdir", "stat", "rename", "rmdir", "tree-remove"],
        "file": ["tree-create", "create", "stat", "read", "unlink", "tree-remove"],
    }
    measured = [
        item(phase, kind, number, 1000 * (number + 1))
        for number in range(2)
        for kind, words in phases.items()
        for phase in words
    ]
    lines = text_of("mdtest", measured).splitlines()
    assert "SUMMARY rate (in ops/sec): (of 2 iterations)" in lines
    rows = {match[1]: match[2].split() for line in lines if (match := re.match(r"   (\w+ \w+) +([\d. ]+)$", line))}
    assert list(rows) == [
        *(f"Directory {word}" for word in ("creation", "stat", "rename", "removal")),
        *(f"File {word}" for word in ("creation", "stat", "read", "removal")),
        *("Tree creation", "Tree removal"),
    ]
    assert rows["File creation"] == ["2000.000", "1000.000", "1500.000", "707.107"]


def test_different_trees_are_different_tests() -> None:
    measured = [item("create", "file", 0, 10, unique_directory=shared) for shared in (True, False)]
    text = text_of("mdtest", measured)
    assert text.count("SUMMARY rate") == 2
    assert text.count("2 tasks, 1000 files/directories") == 2


@pytest.mark.parametrize(
    ("name", "other"), [("ior", item("create", "file", 0, 10)), ("mdtest", transfer(staged("write", 0, 1.0)))]
)
def test_a_result_without_such_cases_says_so(name: str, other: Measured) -> None:
    for measured in ([], [other]):
        with pytest.raises(UserError, match=f"--format {name}: the result contains no case of the workload") as caught:
            text_of(name, measured)
        assert caught.value.code == EXIT_BAD_INPUT
