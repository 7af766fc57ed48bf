# SPDX-License-Identifier: Apache-2.0
"""The distribution's packages, on Debian and Ubuntu as root: which of packages.txt are missing, and installing them."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from steps.process import ROOT, StepError, answer, logged, say

PACKAGES = ROOT / "packages.txt"
When = Literal["python", "mpi", "test"]


@dataclass(frozen=True)
class Package:
    """One line of packages.txt."""

    name: str
    when: When
    required: bool
    why: str


def parse(text: str) -> list[Package]:
    """Return the packages of a packages.txt. Raises StepError naming the line that is not ``name when need # why``."""
    return [
        _parse_line(number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _parse_line(number: int, line: str) -> Package:
    fields, _, why = line.partition("#")
    match fields.split():
        case [name, "python" | "mpi" | "test" as when, "required" | "optional" as need] if why.strip():
            return Package(name, when, need == "required", why.strip())
        case _:
            raise StepError(f"packages.txt:{number}: '{line}' is not: name python|mpi|test required|optional # why")


def listed(when: When) -> list[Package]:
    """Return the packages of packages.txt for ``when``."""
    return [package for package in parse(PACKAGES.read_text(encoding="utf-8")) if package.when == when]


def can_install() -> bool:
    """Tell whether this is root on a Debian-like system."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def missing(packages: Sequence[Package]) -> list[Package]:
    """Return those of ``packages`` that are not installed."""
    listed = answer(["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n"]) or ""
    installed = {line.split()[0] for line in listed.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package.name not in installed]


def ensure(when: When) -> None:
    """Install what is missing of the packages for ``when``; what cannot be had and is optional is only spoken of.

    Raises StepError when a required package cannot be installed.
    """
    absent = missing(listed(when))
    if not absent:
        return
    if not can_install():
        for package in absent:
            say(f"not installed ({package.name}): {package.why}")
        return
    say(f"apt-get install {' '.join(package.name for package in absent)}")
    if not _installs(absent):
        _update()
        if not _installs(absent):
            _one_by_one(absent)


def _one_by_one(packages: Sequence[Package]) -> None:
    for package in packages:
        if _installs([package]):
            continue
        if package.required:
            raise StepError(f"apt-get cannot install {package.name} ({package.why}): see build/logs/apt-install.log")
        say(f"apt-get cannot install {package.name}: {package.why}")


def _update() -> None:
    try:
        _apt("apt-update", "update")
    except StepError as error:
        say(f"the package lists stay as they are: {error}")


def _installs(packages: Sequence[Package]) -> bool:
    try:
        _apt("apt-install", "install", "--yes", "--no-install-recommends", *(package.name for package in packages))
    except StepError:
        return False
    return True


def _apt(log: str, *words: str) -> None:
    argv = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", *words]
    logged(log, argv, {"DEBIAN_FRONTEND": "noninteractive"}, show_failure=False)
