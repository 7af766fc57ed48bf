# SPDX-License-Identifier: Apache-2.0
"""A result of somebody else, every text of which has escape sequences in it: nothing that is printed or written has."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.recorded_results import unpack
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK
from ullage.exporters import load_exporters
from ullage.report.comparison_text import FORMS

Capture = pytest.CaptureFixture[str]
PAYLOAD = "\x1b]0;PWNED\x07\x9b2J\u202e\x7f\b\r\ufffe\nINJECTED"
# Readers look these up, so another word there is no foreign text but a damaged document.
LOOKED_UP = frozenset(
    {
        *("schema", "kind", "run_id", "suite", "case", "id", "status", "grade", "severity", "code", "phase", "access"),
        *("backend", "workload", "uri", "binding", "cgroup", "order", "dataset", "options", "targets", "family"),
        *("backend_parameters", "workload_parameters", "records", "data_of", "verdict"),
    }
)
WILD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")
# There a line within quotes or a fence is no line of its own.
MARKUP = ("csv", "html", "md")
NOT_TEXT = ("parquet", "png", "svg", "pdf")
# These forms are of two suites alone, and of results with floors.
OF_SOME = ("hpcc", "mdtest", "junit")


def poisoned(value: Any, payload: str) -> Any:  # noqa: ANN401 - any JSON value
    """Append the payload to every text that is for people."""
    if isinstance(value, str):
        return value + payload
    if isinstance(value, list):
        return [poisoned(item, payload) for item in value]
    if isinstance(value, dict):
        return {key: item if key in LOOKED_UP else poisoned(item, payload) for key, item in value.items()}
    return value


def make_poisoned(folder: Path, payload: str) -> Path:
    """Make a poisoned result: every second document has escapes of JSON, the others the characters themselves."""
    made = unpack("sweep_two_targets", folder)
    records = next(made.glob("records/*.ndjson"))
    case = next(one for one in map(json.loads, records.read_text().splitlines()) if one["kind"] == "phase")
    peer: dict[str, Any] = {"kind": "peer", "case": case["case"], "phase": case["phase"], "tool": "fio", "version": "3"}
    peer |= {"repetition": 0, "values": {"bandwidth": 1e9}, "command": ["fio", "job"]}
    (made / "peers.ndjson").write_text(json.dumps(peer) + "\n")
    # This launch did not come to its first record, so what it said is shown.
    shutil.copy(made / "plans" / "001.json", made / "plans" / "099.json")
    (made / "engine").mkdir(exist_ok=True)
    (made / "engine" / "099.stderr").write_text(f"ullage-engine: no network{payload}\n", errors="surrogatepass")
    for path in [*made.glob("*.*json"), *made.glob("records/*.ndjson")]:
        documents = path.read_text().splitlines() if path.suffix == ".ndjson" else [path.read_text()]
        changed = [poisoned(json.loads(one), payload) for one in documents]
        texts = [
            json.dumps(one, ensure_ascii=bool(index % 2) or "\ud800" in payload) for index, one in enumerate(changed)
        ]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_poisoned(tmp_path_factory.mktemp("foreign"), PAYLOAD)


def assert_harmless(text: str, *, is_prose: bool = True) -> None:
    found = WILD.findall(text)
    assert not found, [hex(ord(character)) for character in found]
    assert not (is_prose and re.search(r"^INJECTED", text, re.MULTILINE)), "a line of its own"


@pytest.mark.fault("escape sequences in every text of a result", "every verb and form shows them as text")
@pytest.mark.parametrize("form", ["screen", "terminal", *(name for name in load_exporters() if name not in NOT_TEXT)])
def test_reports(form: str, result: Path, capsys: Capture) -> None:
    code = run(["report", str(result), "--format", form, "--output", "-"])
    out, err = capsys.readouterr()
    assert code == (EXIT_BAD_INPUT if form in OF_SOME else EXIT_OK), err
    assert_harmless(out, is_prose=form not in MARKUP)
    assert_harmless(err)


@pytest.mark.parametrize("form", NOT_TEXT)
def test_what_is_no_text(form: str, result: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["report", str(result), "--format", form, "--output", str(tmp_path / "out")]) == EXIT_OK
    assert_harmless("".join(capsys.readouterr()))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files if form == "svg" else []:
        assert_harmless(path.read_text(encoding="utf-8"), is_prose=False)


@pytest.mark.parametrize("words", [[], ["1"], ["--all"]])
def test_rows(words: list[str], result: Path, capsys: Capture) -> None:
    assert run(["show", str(result), *words]) == EXIT_OK
    assert_harmless("".join(capsys.readouterr()))


@pytest.mark.parametrize("form", ["", *FORMS])
@pytest.mark.parametrize("by", ["target", "result"])
def test_comparisons(by: str, form: str, result: Path, tmp_path: Path, capsys: Capture) -> None:
    other = [str(shutil.copytree(result, tmp_path / "other"))] if by == "result" else []
    assert run(["compare", str(result), *other, "--by", by, *(["--format", form] if form else ["--all"])]) == EXIT_OK
    out, err = capsys.readouterr()
    assert_harmless(out, is_prose=form != "csv")
    assert_harmless(err)
    assert "PWNED" in out + err


def test_lone_surrogates_are_text(tmp_path: Path, capsys: Capture) -> None:
    made = make_poisoned(tmp_path, "\ud800")
    assert run(["report", str(made), "--format", "md"]) == EXIT_OK
    assert "ud800" in capsys.readouterr().out
    assert run(["report", str(made), "--format", "svg", "--output", str(tmp_path / "out")]) == EXIT_OK


def test_the_files_of_a_result_stay_as_they_are(result: Path, capsys: Capture) -> None:
    before = {path: path.read_bytes() for path in result.rglob("*.*json") if path.name != "summary.json"}
    assert run(["report", str(result)]) == EXIT_OK
    capsys.readouterr()
    assert before == {path: path.read_bytes() for path in before}
    assert "\\u001b" in (result / "system.json").read_text()


def test_names_of_folders_in_a_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    made = unpack("sweep_two_targets", tmp_path / "a\x1b[2J\nb").parent
    other = unpack("sweep_two_targets", tmp_path)
    monkeypatch.chdir(made)
    Path("sweep_two_targets").rename("x\x1b[2Jy")
    monkeypatch.chdir(made / "x\x1b[2Jy")
    assert run(["compare", ".", str(other), "--by", "result"]) == EXIT_OK
    assert_harmless("".join(capsys.readouterr()))
