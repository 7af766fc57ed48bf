# SPDX-License-Identifier: Apache-2.0
"""IOR's JSON and CSV: every form that releases have written, what ours writes, and mistakes with their place."""

import json
from pathlib import Path

import pytest

from support import recorded_results
from ullage.cli.app import run
from ullage.errors import UserError
from ullage.importers import read
from ullage.model.summary import Row, Summary
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary
from ullage.suites.from_ior.importer import read_csv, read_json, recognises_csv, recognises_json

IMPORTS = Path(__file__).parents[2] / "golden" / "results" / "imports"
MIB = 1 << 20
JSON = (IMPORTS / "ior_summary.json").read_text()
CSV = (IMPORTS / "ior_summary.csv").read_text()


def bandwidths(rows: list[Row]) -> dict[str, list[float]]:
    return {str(row.params["access"]): [value / MIB for value in row.repetitions] for row in rows}


def result(access: str, mib_per_s: object) -> dict[str, object]:
    return {"access": access, "bwMiB": mib_per_s, "blockKiB": 1024.0, "totalTime": 1.0}


def document(*results: object, number: int = 0, **parameters: object) -> dict[str, object]:
    given = {"api": "POSIX", "filePerProc": 0, "transferSize": 4096, **parameters}
    test = {"TestID": number, "Parameters": given, "Options": {"tasks": 4}, "Results": list(results)}
    return {"Version": "4.0.0", "tests": [test], "summary": []}


def rows(*results: object, **parameters: object) -> list[Row]:
    return read_json(json.dumps(document(*results, **parameters)), "t.json").rows


def test_both_forms_of_one_run_say_the_same() -> None:
    assert recognises_json(JSON)
    assert recognises_csv(CSV)
    assert not recognises_json(CSV)
    assert not recognises_csv(JSON)
    found = read_json(JSON, "t.json")
    assert bandwidths(found.rows) == bandwidths(read_csv(CSV, "t.csv").rows)
    assert bandwidths(found.rows) == {"write": [30.312], "read": [2012.0224]}
    assert found.rows[0].params == {
        "access": "write", "ranks": 48, "nodes": 4, "block_bytes": MIB, "backend": "posix",
        "file_mode": "per-process", "order": "sequential",
    }  # fmt: skip
    assert {(row.verdict, row.unit, row.target) for row in found.rows} == {("unknown(imported)", "B/s", "ior")}


def test_repetitions_are_samples_and_removals_are_none() -> None:
    found = rows(
        result("write", 2.0), result("read", 7.0), {"access": "remove", "totalTime": 1.0}, result("write", 4.0)
    )
    assert bandwidths(found) == {"write": [2.0, 4.0], "read": [7.0]}


@pytest.mark.parametrize("nested", [[[result("write", 2.0)], [result("write", 4.0)]], [[[result("write", 2.0)]], []]])
def test_lists_in_lists_of_early_releases_are_read(nested: list[object]) -> None:
    assert bandwidths(rows(*nested))["write"][0] == 2.0


def test_results_inside_the_options_are_read() -> None:
    whole = document()
    test = whole["tests"][0]  # type: ignore[index]
    test["Options"]["Results"] = [result("read", 5.0)]
    del test["Results"]
    assert bandwidths(read_json(json.dumps(whole), "t.json").rows) == {"read": [5.0]}


def test_tests_with_equal_parameters_stay_apart_and_others_need_no_number() -> None:
    first, second, other = (
        document(result("write", 2.0)), document(result("write", 3.0), number=1),
        document(result("write", 4.0), number=2, transferSize=8192, randomOffset=1, api="MPIIO", numTasks=9),
    )  # fmt: skip
    first["tests"] = [*first["tests"], *second["tests"], *other["tests"]]  # type: ignore[misc]
    found = read_json(json.dumps(first), "t.json").rows
    assert [row.params.get("test") for row in found] == [0, 1, None]
    assert (found[2].params["order"], found[2].params["backend"], found[2].params["ranks"]) == ("random", "mpiio", 4)


def test_lines_around_the_object_and_numbers_that_are_none() -> None:
    text = f"ior WARNING: fsync() not supported\n{JSON}\nior: done {{\n"
    none = text.replace("2012.0224", "-nan").replace('"MeanTime": 3.0536', '"MeanTime": "inf"')
    assert bandwidths(read_json(none, "t").rows) == {"write": [30.312]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JSON[:2500], r"t.json:\d+: is no whole JSON object.*ior was ended before it had written all"),
        (JSON.replace("/PFS/USER/ior.out", 'a"b'), r"t.json:\d+: is no whole JSON object.*a name has a quote in it"),
        ('"tests"', "t.json: contains no JSON object"),
        (json.dumps({"tests": []}), "t.json: contains no bandwidth"),
        (json.dumps({"tests": [{"TestID": 1}]}), "t.json: tests/0/Parameters: Field required"),
        (json.dumps(document(result("write", -1.0))), "t.json: test 0, write: -1.0 is no bandwidth"),
        (json.dumps(document(result("write", 0))), "0.0 is no bandwidth"),
        (json.dumps(document(result("write", "fast"))), "bwMiB: Input should be a valid number"),
        (json.dumps(document(result("write", 1), transferSize=0)), "transferSize: Input should be greater than"),
        (json.dumps(document()).replace('"tasks": 4', '"tasks": null'), "t.json: test 0: says no number of tasks"),
    ],
)
def test_a_mistake_in_json_is_named_with_its_place(text: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected) as caught:
        read_json(text, "t.json")
    assert "\n" not in str(caught.value)


def test_a_table_without_the_last_two_columns_and_with_other_blocks() -> None:
    head = CSV.splitlines()[0].removesuffix(",numTasks,iter")
    text = (
        f"noise\n{head}\nwrite,2.0,1,1,64,4,1,1,1,1\nwrite,3.0,1,1,128,4,1,1,1,1\nremove,1\nread,4,1,1,64,4,1,1,1,1\n"
    )
    found = read_csv(text, "t.csv").rows
    assert [row.params.get("ior_block_bytes") for row in found] == [64 << 10, 128 << 10, None]
    assert all("ranks" not in row.params for row in found)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("append,1,1,1,1,1,1,1,1,1,1,0", r"t.csv:2: 'append' is no access"),
        ("write,-1,1,1,1,1,1,1,1,1,1,0", r"t.csv:2: '-1' is not a number of bw\(MiB/s\)"),
        ("write,0,1,1,1,1,1,1,1,1,1,0", r"t.csv:2: 0.0 is no bandwidth"),
        ("write,1,1,1,1,0.0001,1,1,1,1,1,0", r"t.csv:2: '0.0001' KiB are no whole bytes"),
        ("", "t.csv: contains no bandwidth"),
    ],
)
def test_a_mistake_in_a_table_is_named_with_its_line(line: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        read_csv(f"{CSV.splitlines()[0]}\n{line}\n", "t.csv")


def test_what_the_exporter_writes_is_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = recorded_results.unpack("from_ior", tmp_path)
    assert run(["report", str(folder), "--format", "ior-json"]) == 0
    path = tmp_path / "ior.json"
    path.write_text(capsys.readouterr().out)
    (test, *_) = json.loads(path.read_text())["tests"]
    assert (test["Options"]["tasks"], test["Options"]["access"]) == (2, "file-per-process")
    assert test["Options"].keys() <= {"api", "access", "type", "segments", "ordering in a file", "tasks", "nodes",
        "clients per node", "repetitions"}  # fmt: skip
    assert compared(read(path)) == compared(build_summary(ResultFolder(folder)))


def compared(summary: Summary) -> dict[tuple[object, ...], list[float]]:
    """Samples of the bandwidths, rounded to the digits that a conversion to MiB/s and back keeps."""
    names = ("access", "ranks", "block_bytes", "backend", "file_mode", "order")
    return {
        tuple(row.params.get(name) for name in names): [round(value) for value in row.repetitions]
        for row in summary.rows
        if row.metric == "bandwidth"
    }


def test_what_v_prints_between_the_lines_is_read_past() -> None:
    """As ior 4.0.0 with -v (hpc/ior#503): bare lines inside the object, and the list of results closed twice."""
    text = json.dumps(document(result("write", 2.0), result("read", 7.0)), indent=1)
    plain = bandwidths(read_json(text, "t").rows)
    noisy = text.replace('"Options": {', "Participating tasks : 4\n[RANK 000] open for writing\n'x' : {\n").replace(
        "'x' : {", '"Options": {'
    )
    assert noisy != text
    assert bandwidths(read_json(noisy, "t").rows) == plain
    inside = text.index('"Results"')
    end = text.index("]", inside) + 1
    twice = f'{text[:end]}\n]\n, \n "max": {{"writeMiB": 2.0}}{text[end:]}'
    assert bandwidths(read_json(twice, "t").rows) == plain


def test_a_file_that_is_whole_is_not_said_to_have_ended_early() -> None:
    text = json.dumps(document(result("write", 2.0)), indent=1)
    with pytest.raises(UserError, match=r"is no whole JSON object.*ior was ended before"):
        read_json(text[:-20], "t")
    whole = text.replace('"api": "POSIX"', '"api": "PO"SIX"').replace('"summary"', '"Finished": "now", "summary"')
    with pytest.raises(UserError, match=r"is no whole JSON object.*a name has a quote in it"):
        read_json(whole, "t")
