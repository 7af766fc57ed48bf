# SPDX-License-Identifier: Apache-2.0
"""The schema files are those of the models."""

import json
from pathlib import Path

import pytest

from schemas import main, schemas, stale, write

FOLDER = Path(__file__).parents[2] / "schema"


def test_the_checked_in_schemas_are_current() -> None:
    assert stale(FOLDER) == [], "run `python scripts/schemas.py`"
    assert {path.name for path in FOLDER.glob("*.schema.json")} == set(schemas())


def test_every_schema_names_its_version_and_knows_its_marks() -> None:
    for name, text in schemas().items():
        schema = json.loads(text)
        document = name.partition(".")[0]
        assert schema["title"] == f"ullage.{document}/{2 if document == 'summary' else 1}"
    assert json.loads(schemas()["plan.schema.json"])["additionalProperties"] is False
    assert set(json.loads(schemas()["record.schema.json"])["discriminator"]["mapping"]) == {
        "run",
        "case",
        "phase",
        "probe",
        "event",
        "end",
    }


def test_check_finds_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(tmp_path)]) == 1
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    (tmp_path / "plan.schema.json").write_text("{}")
    capsys.readouterr()
    assert main(["--check", str(tmp_path)]) == 1
    assert "plan.schema.json" in capsys.readouterr().err
    write(tmp_path)
    assert stale(tmp_path) == []
