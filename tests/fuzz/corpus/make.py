# SPDX-License-Identifier: Apache-2.0
"""Writes plans.ndjson, the plans that the engine's parser is fuzzed from.

They are those of the recorded results in tests/golden, one a line, each with one case for each workload and backend
that no plan before it has.

    PYTHONPATH=src:tests .venv/bin/python tests/fuzz/corpus/make.py
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from support.recorded_results import names, unpack

CORPUS = Path(__file__).with_name("plans.ndjson")


def fewer_cases(plan: dict[str, Any], seen: set[tuple[str, str]]) -> dict[str, Any] | None:
    """The plan with the cases that are new; None when none is."""
    cases: list[dict[str, Any]] = []
    for case in plan["cases"]:
        key = (case["workload"]["name"], case["backend"]["name"])
        if key not in seen:
            seen.add(key)
            cases.append(case)
    return {**plan, "cases": cases} if cases else None


def main() -> None:
    """Rewrite the corpus."""
    seen: set[tuple[str, str]] = set()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names():
            for path in sorted(unpack(name, Path(folder)).rglob("plans/*.json")):
                plan = fewer_cases(json.loads(path.read_bytes()), seen)
                if plan is not None:
                    lines.append(json.dumps(plan, separators=(",", ":")))
    CORPUS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
