# SPDX-License-Identifier: Apache-2.0
"""Puts into the wheel the engines of a folder, and the chart library where that has it.

``make wheel`` names the folder, and so do packages that are built from source (integrations/).
"""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what the folder $ULLAGE_WHEEL_ENGINES has, for the platform $ULLAGE_WHEEL_PLATFORM, else this one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See hatchling."""
        folder = os.environ.get("ULLAGE_WHEEL_ENGINES")
        if not folder or version == "editable":
            return
        programs = (path for path in Path(folder).glob("ullage-engine*") if path.is_file() and os.access(path, os.X_OK))
        engines = {path: "bin" for path in programs if not path.name.endswith("-tests")}
        placed = engines | dict.fromkeys(Path(folder).glob("chart-library.txt"), "report")
        placed |= dict.fromkeys(Path(folder).glob("engine-sources.txt"), "bin")
        build_data["force_include"].update({str(path): f"ullage/{to}/{path.name}" for path, to in placed.items()})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ.get('ULLAGE_WHEEL_PLATFORM') or f'linux_{os.uname().machine}'}"
