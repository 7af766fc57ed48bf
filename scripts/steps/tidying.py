# SPDX-License-Identifier: Apache-2.0
"""What clang-tidy has to look at: the engine's own units, and what each is made of."""

import json
import os
import re
from pathlib import Path

from steps import tools
from steps.process import ROOT, answer
from steps.stamp import digest


def units(folder: Path) -> dict[str, str | None]:
    """Return the units of the engine in a build folder, each with a digest of all that its findings depend on.

    None: the unit has not been built, so nobody knows what it includes.
    """
    entries = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    own = {entry["file"]: entry["command"] for entry in entries if "ullage-engine-tests.dir" not in entry["command"]}
    sources = _sources(folder)
    facts = {"tidy": _pin(), "compiler": answer([tools.compiler(), "--version"]) or ""}
    found: dict[str, str | None] = {}
    for unit, command in own.items():
        output = re.search(r" -o (\S+)", command)
        files = sources.get(output[1], []) if output else []
        names = "\n".join(map(str, files))
        config = [ROOT / ".clang-tidy"]
        found[unit] = digest([*config, *files], {**facts, "command": command, "files": names}) if files else None
    return found


def _pin() -> str:
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("clang-tidy=="))


def _sources(folder: Path) -> dict[str, list[Path]]:
    """Return the files of this checkout that each object was last made of, as Ninja noted them; the machine's do not
    change from day to day.
    """
    ninja = tools.program("ninja")
    text = answer([ninja, "-C", folder, "-t", "deps"]) if ninja else None
    found: dict[str, list[Path]] = {}
    output = ""
    for line in (text or "").splitlines():
        if made := re.match(r"(\S+): #deps \d+, deps mtime \d+ \((\w+)\)", line):
            output = made[1] if made[2] == "VALID" else ""
        elif output and line.startswith("    "):
            file = Path(os.path.normpath(folder / line.strip()))
            if file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / ".venv") and file.is_file():
                found.setdefault(output, []).append(file)
    return {output: sorted(files) for output, files in found.items()}
