# SPDX-License-Identifier: Apache-2.0
"""What a terminal acts on in files to import is text in what is made of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.recorded_results import RECORDED
from ullage.errors import UserError
from ullage.importers import read

PAYLOAD = "\x1b]0;PWNED\x07\x9b2J\u202e\x7f"
WILD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
SAMPLES = sorted(
    path
    for path in [*RECORDED.parent.iterdir(), *(RECORDED / "imports").iterdir()]
    if path.suffix in (".json", ".csv", ".txt")
)


def poisoned(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value + PAYLOAD
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return {key: poisoned(item) for key, item in value.items()} if isinstance(value, dict) else value


def texts(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """All texts of a value, keys too."""
    if isinstance(value, dict):
        return "".join(f"{key}{texts(item)}" for key, item in value.items())
    return "".join(map(texts, value)) if isinstance(value, list) else str(value)


def read_or_refuse(path: Path) -> str:
    try:
        return texts(read(path).model_dump(mode="json"))
    except UserError as error:
        return str(error)


@pytest.mark.parametrize("sample", SAMPLES, ids=[path.name for path in SAMPLES])
def test_no_text_of_a_file_acts(sample: Path, tmp_path: Path) -> None:
    text, place = sample.read_text(encoding="utf-8"), tmp_path / sample.name
    if sample.suffix == ".json":
        place.write_text(json.dumps(poisoned(json.loads(text))))
        assert not WILD.search(read_or_refuse(place))
        return
    lines = text.splitlines()
    for number in range(0, len(lines), max(1, len(lines) // 20)):
        place.write_text("\n".join([*lines[:number], lines[number] + PAYLOAD, *lines[number + 1 :]]) + "\n")
        assert not WILD.search(read_or_refuse(place))


def test_a_text_of_ior_is_kept(tmp_path: Path) -> None:
    """It was escaped in JSON, is not refused, and stays visible."""
    sample = RECORDED / "imports" / "ior_summary.json"
    document = json.loads(sample.read_text(encoding="utf-8"))
    document["tests"][0]["Parameters"]["api"] += PAYLOAD
    (tmp_path / "ior.json").write_text(json.dumps(document))
    assert "\\u001b]0;pwned\\u0007" in read_or_refuse(tmp_path / "ior.json")
