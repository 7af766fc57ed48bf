# SPDX-License-Identifier: Apache-2.0
"""Workload `find` on the real engine: what it counts is what GNU find finds."""

import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.launching import Document, case, plan, run, untouched

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


def test_operations_are_entries_and_nothing_is_left(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [find_case(dataset="", phases=["timestamp", "find"])], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    record = done.phase("find")
    assert record.operations == record.counters["scanned"] == 5
    assert (record.access, record.bytes) == ("metadata", 0)
    assert untouched(target)


@pytest.mark.parametrize(
    ("words", "name"), [({"within": "nowhere"}, "nowhere"), ({"newer": True}, "stamp")], ids=["within", "newer"]
)
def test_dataset_that_is_not_there_fails_the_case(
    engine: Path, tmp_path: Path, target: Path, words: dict[str, Any], name: str
) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [find_case(**words)], f"posix:{target}"))
    assert done.code == 4, done.stderr
    failure = done.phase("find").failures[0]
    assert f"dataset '{name}' is not there" in f"{failure.path} {failure.text}"
    assert untouched(target)


def test_bad_words_are_refused_before_anything_is_touched(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [find_case(size="3901q")], f"posix:{target}"))
    assert done.code == 2
    assert "/cases/0/workload/parameters/size" in done.stderr
    assert untouched(target)
