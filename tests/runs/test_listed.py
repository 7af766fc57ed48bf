# SPDX-License-Identifier: Apache-2.0
"""What earlier launches of a run of rounds have left at a target."""

import json
from pathlib import Path

from ullage.model.plan import Target
from ullage.runs.listed import datasets_there


def test_the_manifest_says_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "ullage-r"
    folder.mkdir()
    lines = [
        {"dataset": "one", "directory": "one"},
        {"dataset": "one", "facts": {"a": 1}},
        {"dataset": "two", "facts": {"a": 1}},
        {"dataset": "two", "facts": None},
        {"dataset": "three", "directory": "three"},
        [1],
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "manifest.ndjson").write_text(f'{text}\n{{"dataset": "four", "fac')
    target = Target(name="t", uri=f"posix:{tmp_path}")
    assert datasets_there(target, "r") == {"one"}
    assert datasets_there(target, "other") == set()
    assert datasets_there(Target(name="t", uri="null:"), "r") == set()
