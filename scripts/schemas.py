# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of the contract, generated from the models: ``python scripts/schemas.py [--check] [FOLDER]``."""

import json
import sys
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from ullage.model.describe import Describe
from ullage.model.plan import Plan
from ullage.model.record import PeerRecord, Record
from ullage.model.summary import SUMMARY_SCHEMA, Summary

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# Every other schema has its first version.
_VERSIONS: Final = {"summary": SUMMARY_SCHEMA}


def schemas() -> dict[str, str]:
    """Return the text of every schema file by its name."""
    adapters: dict[str, TypeAdapter[object]] = {
        "plan": TypeAdapter(Plan),
        "record": TypeAdapter(Record),
        "describe": TypeAdapter(Describe),
        "summary": TypeAdapter(Summary),
        "peer": TypeAdapter(PeerRecord),
    }
    return {f"{name}.schema.json": _text(name, adapter) for name, adapter in adapters.items()}


def _text(name: str, adapter: TypeAdapter[object]) -> str:
    title = _VERSIONS.get(name, f"ullage.{name}/1")
    schema = {**adapter.json_schema(), "$schema": _DIALECT, "title": title}
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def stale(folder: Path) -> list[str]:
    """Return the names of the schema files in ``folder`` that are missing or differ from the models."""
    return [
        name for name, text in schemas().items() if not (folder / name).is_file() or (folder / name).read_text() != text
    ]


def write(folder: Path) -> None:
    """Write all schema files into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text)


def main(arguments: list[str]) -> int:
    """Write the schemas, or with ``--check`` say which are stale; return the exit code."""
    named = [word for word in arguments if word != "--check"]
    folder = Path(named[0]) if named else Path(__file__).resolve().parents[1] / "schema"
    if "--check" not in arguments:
        write(folder)
        return 0
    old = stale(folder)
    for name in old:
        sys.stderr.write(f"{folder / name}: differs from the models; run `python scripts/schemas.py`\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
