# SPDX-License-Identifier: Apache-2.0
"""The engine out of a wheel that was made of the same sources: a set-up with it needs no compiler and no build."""

import os
import shutil
import zipfile
from pathlib import Path

from steps import engine, python_env
from steps.process import ROOT, say
from steps.stamp import digest

PRESET = "prebuilt"
NAME = "engine-sources.txt"
_BELOW = "ullage/bin/"
_ENDINGS = {".cpp", ".hpp", ".h", ".c", ".cmake", ".txt"}


def sources() -> str:
    """Return the digest of all that an engine is built from."""
    files = (file for below in ("engine", "cmake") for file in (ROOT / below).rglob("*") if file.suffix in _ENDINGS)
    return digest([*files, ROOT / "CMakeLists.txt"], {})


def find() -> Path | None:
    """Return the wheel in dist/, or in the folder of wheels, whose engine has the sources of this checkout."""
    folders = [ROOT / "dist", *map(Path, filter(None, [os.environ.get(python_env.WHEELHOUSE)]))]
    made_of = {wheel: _of(wheel) for folder in folders for wheel in sorted(folder.glob("ullage-*.whl"))}
    current = sources() if any(made_of.values()) else None
    return next((wheel for wheel, known in made_of.items() if known and known == current), None)


def _of(wheel: Path) -> str | None:
    """Return the digest of the sources of a wheel's engine; None of a wheel without one, and of a damaged one."""
    try:
        with zipfile.ZipFile(wheel) as packed:
            return packed.read(_BELOW + NAME).decode()
    except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile):
        return None


def unpack(wheel: Path) -> None:
    """Take the programs out of a wheel, and make the engine of them that of .venv."""
    place = engine.folder(PRESET)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as packed:
        for name in (one for one in packed.namelist() if one.startswith(_BELOW) and not one.endswith("/")):
            (place / Path(name).name).write_bytes(packed.read(name))
            (place / Path(name).name).chmod(0o755)
    engine.link(PRESET)
    say(f"engine: that of {wheel.name}, which was made of these sources")


def is_linked() -> bool:
    """Tell whether the engine of .venv came out of a wheel."""
    return engine.is_linked() and engine.linked() == PRESET
