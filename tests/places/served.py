# SPDX-License-Identifier: Apache-2.0
"""A folder that a server in user space keeps."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


@dataclass(frozen=True)
class Served:
    """A file system in user space and the process that serves it; both are gone when the test ends."""

    mount: Path
    behind: Path
    process: "subprocess.Popen[str]"
