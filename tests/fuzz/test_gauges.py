# SPDX-License-Identifier: Apache-2.0
"""Records of another engine may lack what a suite expects of them: a report says what is left."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from fuzz.test_fuzz import RESULTS, outcome
from support.recorded_results import unpack

_EXPECTED: Final = ("gauges", "counters", "facts")


@pytest.mark.fault("records without the gauges, counters or facts that a suite expects", "a report of what is left")
@pytest.mark.parametrize("name", RESULTS)
def test_records_without_what_a_suite_expects(name: str, tmp_path: Path) -> None:
    source = unpack(name, tmp_path / "source")
    for missing in _EXPECTED:
        for file in source.rglob("records/*.ndjson"):
            records: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
            without = [record | {missing: {}} if record["kind"] == "phase" else record for record in records]
            file.write_text("".join(f"{json.dumps(record)}\n" for record in without))
        code, errors = outcome(["report", str(source), "--format", "json", "--output", "-"])
        assert code == 0, errors
