# SPDX-License-Identifier: Apache-2.0
"""What the kernel lets a user do, by an image of its files."""

import os
import resource
from pathlib import Path

import pytest

from ullage.readiness import Readiness
from ullage.system.readiness import rights


def found(root: Path) -> dict[str, Readiness]:
    return {one.part: one for one in rights(root)}


def test_rights_of_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert found(tmp_path)["perf"].state == "not here"
    assert found(tmp_path)["GPU"].state == "not here"
    assert [part for part in ("perf", "GPU") if not found(tmp_path)[part].right] == []
    level = tmp_path / "proc/sys/kernel/perf_event_paranoid"
    level.parent.mkdir(parents=True)
    level.write_text("4\n")
    assert found(tmp_path)["perf"][1:] == (
        "limited",
        "no counters for users (perf_event_paranoid 4)",
        "sysctl kernel.perf_event_paranoid=2 (root)",
    )
    level.write_text("2\n")
    assert found(tmp_path)["perf"].state == "ok"
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    assert found(tmp_path)["GPU"].found == "driver of AMD"


def test_limits_say_what_raises_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))
    here = found(tmp_path)
    assert here["open files"] == ("open files", "limited", "at most 1024", "ulimit -n 4096")
    assert here["locked memory"].state == "limited"
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert found(tmp_path)["locked memory"] == ("locked memory", "ok", "no limit", "")
