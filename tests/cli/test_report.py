# SPDX-License-Identifier: Apache-2.0
"""``ullage report``."""

import json
import sys
from pathlib import Path

import pytest

from support.sample_result import Shape, write_result
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def stored_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up records are not those of a suite: their summary is taken as it stands."""
    monkeypatch.setattr("ullage.runs.summary.build_summary", ResultFolder.read_summary)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    return write_result(tmp_path / "result", Shape(accesses=("read",), repetitions=3)).path


def test_one_screen_is_the_default_and_everything_is_a_form(result: Path, capsys: Capture) -> None:
    assert run(["report", str(result)]) == EXIT_OK
    short = capsys.readouterr().out
    assert run(["report", str(result), "--format", "terminal"]) == EXIT_OK
    whole = capsys.readouterr().out
    for text in (short, whole):
        assert "sweep of nvme and scratch" in text
        assert "\x1b" not in text, "a pipe gets no colours, and no pager"
    assert "Best settings" in whole
    assert "Best settings" not in short
    assert len(short.splitlines()) <= 45


@pytest.mark.parametrize("form", ["csv", "json", "md", "openmetrics"])
def test_text_goes_to_stdout_or_to_a_file(form: str, result: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", form]) == EXIT_OK
    text = capsys.readouterr().out
    place = tmp_path / f"out.{form}"
    assert run(["report", str(result), "--format", form, "--output", str(place)]) == EXIT_OK
    assert capsys.readouterr().out.strip() == str(place)
    assert place.read_text() == text
    assert len(text.splitlines()) > 10


def test_json_is_the_summary(result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", "json"]) == EXIT_OK
    assert Summary.model_validate(json.loads(capsys.readouterr().out)).suite == "sweep"


def test_html_goes_into_the_result_with_its_table(result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", "html"]) == EXIT_OK
    place = result / "report.html"
    assert capsys.readouterr().out.strip() == str(place)
    assert place.read_text().startswith("<!DOCTYPE html>")
    assert (result / "tables" / "rows.csv").is_file()


def test_html_elsewhere_has_its_table_beside_it(result: Path, tmp_path: Path) -> None:
    assert run(["report", str(result), "--format", "html", "--output", str(tmp_path / "page.html")]) == EXIT_OK
    assert (tmp_path / "tables" / "rows.csv").is_file()


def test_pictures_go_into_a_folder(result: Path, tmp_path: Path) -> None:
    assert run(["report", str(result), "--format", "svg", "--output", str(tmp_path / "pictures")]) == EXIT_OK
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names[:2] == ["comparison-01.svg", "front.svg"]
    assert all((tmp_path / "pictures" / name).read_text().startswith("<svg") for name in names)


@pytest.mark.parametrize(
    ("words", "message"), [(["--format", "htlm"], "did you mean 'html'?"), (["--output", "x.txt"], "add --format")]
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str, result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), *words]) == EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_folder_that_is_no_result_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert run(["report", str(tmp_path)]) == EXIT_BAD_INPUT
    assert "not a result" in capsys.readouterr().err


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg "), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_front_page_alone_where_a_file_is_named(form: str, start: bytes, result: Path, tmp_path: Path) -> None:
    place = tmp_path / f"front.{form}"
    assert run(["report", str(result), "--format", form, "--output", str(place)]) == EXIT_OK
    assert place.read_bytes().startswith(start)


def test_a_picture_that_cannot_be_made_is_one_line(
    result: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert run(["report", str(result), "--format", "pdf"]) == EXIT_BAD_INPUT
    assert "not available: vl-convert-python is not installed" in capsys.readouterr().err


def test_what_the_reader_cares_for_is_checked(result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", "brief", "--care", "dsk"]) == EXIT_BAD_INPUT
    assert "--care: unknown word 'dsk'; did you mean 'disk'?" in capsys.readouterr().err
    assert run(["report", str(result), "--format", "brief", "--care", "disk,metadata"]) == EXIT_OK
    text = capsys.readouterr().out
    assert text.startswith("### node017: sweep of nvme and scratch")
    assert len(text.splitlines()) < 40


def test_existing_files_of_others_are_replaced_by_force_only(result: Path, tmp_path: Path, capsys: Capture) -> None:
    place, table = tmp_path / "x" / "page.html", tmp_path / "x" / "tables" / "rows.csv"
    table.parent.mkdir(parents=True)
    table.write_text("theirs")
    words = ["report", str(result), "--format", "html", "--output", str(place)]
    assert run(words) == EXIT_BAD_INPUT
    assert "exists already" in capsys.readouterr().err
    assert table.read_text() == "theirs"
    assert not place.exists()
    assert run([*words, "--force"]) == EXIT_OK
    assert table.read_text().startswith("id,suite,metric,")


@pytest.mark.parametrize("stream", ["-", "/dev/stdout"])
@pytest.mark.parametrize("form", ["terminal", "csv", "html"])
def test_stdout_is_an_output(stream: str, form: str, result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", form, "--output", stream]) == EXIT_OK
    assert len(capsys.readouterr().out.splitlines()) > 10


@pytest.mark.parametrize("place", [".", "..", "/"])
def test_a_folder_is_no_file(place: str, result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", "csv", "--output", place]) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("\n") == 1


def test_pictures_are_no_stream_and_need_a_folder(result: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", "svg", "--output", "-"]) == EXIT_BAD_INPUT
    (tmp_path / "file").write_text("theirs")
    assert run(["report", str(result), "--format", "svg", "--output", str(tmp_path / "file")]) == EXIT_ENVIRONMENT
    assert capsys.readouterr().err.count("\n") == 2
    assert (tmp_path / "file").read_text() == "theirs"


def test_files_of_the_result_are_replaced_and_links_in_it_are_not(result: Path, tmp_path: Path) -> None:
    assert run(["report", str(result), "--format", "html"]) == EXIT_OK
    assert run(["report", str(result), "--format", "html"]) == EXIT_OK
    (tmp_path / "theirs").write_text("precious")
    (result / "report.html").unlink()
    (result / "report.html").symlink_to(tmp_path / "theirs")
    assert run(["report", str(result), "--format", "html"]) == EXIT_BAD_INPUT
    assert (result / "report.html").is_symlink()
    assert (tmp_path / "theirs").read_text() == "precious"


def test_what_is_cared_for_has_to_be_known(result: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--care", "disc"]) == EXIT_BAD_INPUT
    assert "--care: unknown word 'disc'" in capsys.readouterr().err
