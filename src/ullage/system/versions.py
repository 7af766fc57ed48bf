# SPDX-License-Identifier: Apache-2.0
"""Versions of everything that had a hand in a result."""

import platform
from importlib import metadata

import ullage
from ullage.model.describe import Describe


def read_versions(description: Describe | None) -> dict[str, str]:
    """Versions of this program, its libraries, and of the engine when there is one."""
    versions = {"ullage": ullage.__version__, "python": platform.python_version()}
    for name in ("pydantic", "numpy", "scipy"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if description is not None:
        engine = description.engine
        versions |= {
            "engine": engine.version,
            "git": engine.git,
            "compiler": engine.compiler,
            "mpi": engine.mpi.library,
        }
    return versions
