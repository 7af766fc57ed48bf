# SPDX-License-Identifier: Apache-2.0
"""The engine of a wheel is taken where it was made of the same sources, and nowhere else."""

import os
import zipfile
from pathlib import Path

import pytest

import setup as set_up
from steps import engine, prebuilt, python_env


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout where nothing is set up."""
    for module in (engine, prebuilt):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "LINK", tmp_path / ".venv" / "bin" / "ullage-engine")
    monkeypatch.setattr(python_env, "VENV", tmp_path / ".venv")
    monkeypatch.delenv(python_env.WHEELHOUSE, raising=False)
    for name in (".venv/bin", "engine", "cmake", "dist", "wheels"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "engine" / "main.cpp").write_text("int main() {}\n")
    (tmp_path / "CMakeLists.txt").write_text("project(x)\n")
    return tmp_path


def wheel_in(folder: Path, made_of: str) -> Path:
    path = folder / "ullage-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("ullage/__init__.py", "")
        packed.writestr("ullage/bin/ullage-engine", "#!/bin/sh\necho engine\n")
        packed.writestr(f"ullage/bin/{prebuilt.NAME}", made_of)
    return path


def test_only_a_wheel_of_the_same_sources_fits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prebuilt.find() is None
    (root / "dist" / "ullage-0-py3-none-any.whl").write_bytes(b"no archive")
    fits = wheel_in(root / "dist", prebuilt.sources())
    assert prebuilt.find() == fits
    (root / "engine" / "main.cpp").write_text("int main() { return 1; }\n")
    assert prebuilt.find() is None
    other = wheel_in(root / "wheels", prebuilt.sources())
    monkeypatch.setenv(python_env.WHEELHOUSE, str(root / "wheels"))
    assert prebuilt.find() == other


def test_its_programs_are_the_engine_of_the_checkout(root: Path) -> None:
    prebuilt.unpack(wheel_in(root / "dist", prebuilt.sources()))
    assert prebuilt.is_linked()
    assert os.access(engine.LINK, os.X_OK)
    assert engine.LINK.read_text().endswith("echo engine\n")


def test_a_run_takes_it_and_tests_build_their_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(set_up, "_prepare_front", lambda: done.append("front"))
    monkeypatch.setattr(python_env, "install_optional", lambda *_words: None)
    monkeypatch.setattr(engine, "build_engine", done.append)
    monkeypatch.setattr(engine, "build_tests", lambda preset: done.append(f"tests of {preset}"))

    def prepare() -> None:
        done.append("built")
        engine.link("openmpi")
        engine.folder("openmpi").mkdir(parents=True, exist_ok=True)
        (engine.folder("openmpi") / "build.ninja").touch()

    monkeypatch.setitem(set_up.PROFILES, "run", (prepare, set_up.used))
    for name in ("lint", "test"):
        monkeypatch.setitem(set_up.PROFILES, name, (lambda: None, set_up.used))
    wheel_in(root / "dist", prebuilt.sources())
    for _ in range(2):
        set_up.main("run")
        assert done == ["front"]
        assert prebuilt.is_linked()
    set_up.main("test")
    assert done == ["front", "built", "tests of openmpi"]
    set_up.main("run")
    assert engine.linked() == "openmpi"
    assert done[-1] == "openmpi"
