# SPDX-License-Identifier: Apache-2.0
"""Draw the picture of the README anew: the front page of a result that is recorded for the tests."""

import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from ullage.cli.app import run

ROOT: Final = Path(__file__).parent.parent
RECORDED: Final = ROOT / "tests" / "golden" / "results" / "node_quick.tar.xz"
PICTURE: Final = ROOT / "docs" / "pictures" / "front.svg"


def draw(picture: Path) -> int:
    """Write ``picture``, an SVG file, and return the exit code of `ullage report`."""
    picture.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(RECORDED) as archive:
            archive.extractall(folder, filter="data")
        return run(["report", folder, "--format", "svg", "--output", str(picture), "--force"])


if __name__ == "__main__":
    sys.exit(draw(PICTURE))
