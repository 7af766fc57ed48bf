# SPDX-License-Identifier: Apache-2.0
"""Public data of others, no part of the project: read where it lies, in ``ULLAGE_PUBLIC_DATA`` or beside us."""

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "public"


def unpacked(name: str, into: Path, wanted: Callable[[str], bool]) -> Path:
    """Unpack the ``wanted`` files (by their path) of ``NAME.tar.xz`` into ``into``; skip the test without it."""
    packed = Path(os.environ.get("ULLAGE_PUBLIC_DATA") or _BESIDE) / f"{name}.tar.xz"
    if not packed.is_file():
        pytest.skip(f"no public data at {packed}: set ULLAGE_PUBLIC_DATA to the folder that holds {packed.name}")
    with tarfile.open(packed) as archive:
        members = [one for one in archive.getmembers() if one.isfile() and wanted(one.name)]
        archive.extractall(into, members, filter="data")
    return into
