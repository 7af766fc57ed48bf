# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from ullage.cli.app import run
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary

TABLE = Path(__file__).parent.parent / "golden" / "nvme_vs_scratch.csv"


def test_a_table_becomes_a_result_that_stands_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, folder = tmp_path / "my table.csv", tmp_path / "result"
    copy.write_bytes(TABLE.read_bytes())
    assert run(["import", str(copy), "--result", str(folder)]) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1] == str(folder)
    copy.unlink()
    result = ResultFolder.open(folder)
    summary = build_summary(result)
    assert summary == result.read_summary()
    assert (summary.suite, len(summary.rows)) == ("import", 192)
    assert summary.run_id == result.read_request().run_id
    assert (folder / "imported" / "my table.csv").read_bytes() == TABLE.read_bytes()
    assert result.report_path.stat().st_size < 2_000_000


def test_report_and_compare_work_as_with_any_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "result"
    assert run(["import", str(TABLE), "--result", str(folder)]) == 0
    capsys.readouterr()
    assert run(["report", str(folder), "--format", "json"]) == 0
    Summary.model_validate(json.loads(capsys.readouterr().out))
    assert run(["compare", str(folder), "--by", "target"]) == 0
    assert "scratch" in capsys.readouterr().out


def test_a_bad_table_leaves_no_result_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "bad.csv", tmp_path / "result"
    path.write_text("target,access,ranks,block_bytes,bandwidth_mb_per_s\nnvme,write,x,1,1\n")
    assert run(["import", str(path), "--result", str(folder)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "bad.csv:2, column 3" in error
    assert not folder.exists()


def test_a_request_that_names_a_file_elsewhere_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "result"
    assert run(["import", str(TABLE), "--result", str(folder)]) == 0
    request = json.loads((folder / "request.json").read_text())
    request["options"]["files"] = ["../../etc/passwd"]
    (folder / "request.json").write_text(json.dumps(request))
    capsys.readouterr()
    assert run(["report", str(folder)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_what_cannot_be_read_is_led_to_what_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One whole line each: what was seen, and what to do."""
    cases = {
        b"hello\n": "it begins with 'hello'; `ullage import --help` names what is read",
        b"IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n": "contains no result of ior; give",
        b"\x1f\x8b\x08": "cannot be unpacked",
        b"PK\x03\x04": "unpack it",
        b"result.txt".ljust(257, b"\0") + b"ustar\0": "is an archive; name it so that it ends with one of .tar",
    }
    for content, right in cases.items():
        (tmp_path / "a.txt").write_bytes(content)
        assert run(["import", str(tmp_path / "a.txt"), "--result", str(tmp_path / "r")]) == 2
        errors = capsys.readouterr().err
        assert right in errors
        assert len(errors.splitlines()) == 1
        assert not errors.rstrip().endswith("...")


def test_everything_can_be_printed_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(TABLE), "--all", "--result", str(tmp_path / "r")]) == 0
    assert "more numbers: --all" not in capsys.readouterr().out
