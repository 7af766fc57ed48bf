# SPDX-License-Identifier: Apache-2.0
"""Workload `find` on the real engine: what it counts is what GNU find finds."""

import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.launching import Document, case, plan, run

EVERYWHERE: dict[str, Any] = {"name": "data*", "newer": True, "size": "+1k"}


def find_case(dataset: str = "stamp", **words: object) -> Document:
    """A case of workload ``find``."""
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "dataset": dataset,
        "backend": {"name": "posix", "parameters": {}},
        "workload": {"name": "find", "parameters": words},
    }


def gnu_find(folder: Path, *tests: str) -> int:
    """How many entries GNU find finds."""
    words = ["find", str(folder), *tests, "-print0"]
    return subprocess.run(words, check=True, capture_output=True, env={"LC_ALL": "C"}).stdout.count(b"\0")


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_counts_are_those_of_gnu_find(engine: Path, tmp_path: Path, target: Path, ranks: int) -> None:
    if shutil.which("find") is None:
        pytest.skip("no find here")
    cases = [
        find_case(phases=["timestamp"]),
        case(phases=["write"], directory_per_process=True) | {"dataset": "files"},
        find_case(**EVERYWHERE),
        find_case(within="files"),
        find_case(name="*0*", within="files", dataset=""),
    ]
    document = plan(tmp_path, cases, f"posix:{target}", ranks=ranks, order="listed", keep=True)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    everywhere, files, named = (record.counters for record in done.of("phase") if record.phase == "find")
    folder = target / f"ullage-{document['run_id']}"
    stamp = folder / "stamp" / "data"
    assert everywhere["found"] == gnu_find(folder, "-name", "data*", "-newer", str(stamp), "-size", "+1k") == ranks
    assert everywhere["scanned"] == gnu_find(folder)
    assert files["found"] == files["scanned"] == gnu_find(folder / "files") == 1 + 2 * ranks
    assert named["found"] == gnu_find(folder / "files", "-name", "*0*")
    assert everywhere["errors"] == 0
