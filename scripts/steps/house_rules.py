# SPDX-License-Identifier: Apache-2.0
"""The rules of this house that no other program checks."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from steps.process import ROOT

LONGEST_FILE_LINES = 400
LICENCE = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = ("engine", "src", "scripts", "tests", "benchmarks", "cmake")
# clang-tidy looks for unused names only in the file it is given, which is one that includes ours.
_SHORT_NAME = re.compile(r"\s*(?:namespace (\w+) = [\w:]+;|using [\w:]*::(\w+);)")
# Files are read by src/ullage/reading.py, but for what the kernel shows and what this package brings.
_READS = re.compile(
    r'\.read_(?:text\((?:encoding|\))|bytes\(\))|\.open\((?:"rb?"|encoding)|\b(?:json|tomllib)\.loads\('
)
_NOT_BY_NAME = re.compile(r"/proc/|resources\.|_HERE|os\.devnull")
_READERS = {"reading.py", "system/files.py", "launch/running.py", "processes/supervisor.py"}
ENDINGS = {".cpp", ".hpp", ".py", ".cmake", ".sh"}


def sources(root: Path = ROOT) -> list[Path]:
    """Return every source file of the project, sorted."""
    found = (file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix in ENDINGS)
    return sorted(file for file in found if file.is_file() and "__pycache__" not in file.parts)


def cpp_sources(root: Path = ROOT) -> list[Path]:
    """Return the C++ files, sorted."""
    return [file for file in sources(root) if file.suffix in {".cpp", ".hpp"}]


def violations(root: Path = ROOT) -> list[str]:
    """Return one line for each broken rule: file, line, what is wrong."""
    found = [f"{file.relative_to(root)}{found}" for file in sources(root) for found in _violations(file, root)]
    return [*found, *_types_of_one_name(root), *_without_docstring(root)]


def _types_of_one_name(root: Path) -> Iterator[str]:
    """Report types of one name and namespace in two headers.

    Linked into one program, either may get the other's members.
    """
    known: dict[tuple[str, str], Path] = {}
    for file in (file for file in cpp_sources(root) if file.suffix == ".hpp" and file.is_relative_to(root / "engine")):
        text = file.read_text(encoding="utf-8")
        namespace = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
        for name in re.findall(r"^(?:class|struct) (?:alignas\(\w+\) )?(\w+)\b(?!::)[^;]*?\{", text, re.MULTILINE):
            first = known.setdefault((namespace[1] if namespace else "", name), file)
            if first != file:
                yield f"{file.relative_to(root)}: '{name}' is a type of {first.relative_to(root)} too"


def _without_docstring(root: Path) -> Iterator[str]:
    """Report public functions of the front without a docstring, unless a class has a documented one of that name."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted((root / "src").rglob("*.py"))}
    classes = {file: [node for node in tree.body if isinstance(node, ast.ClassDef)] for file, tree in trees.items()}
    methods = (one for found in classes.values() for each in found for one in each.body)
    stated = {one.name for one in methods if isinstance(one, ast.FunctionDef) and ast.get_docstring(one)}
    for file, tree in trees.items():
        public = [tree, *(each for each in classes[file] if not each.name.startswith("_"))]
        for one in (one for node in public for one in node.body if isinstance(one, ast.FunctionDef)):
            is_overload = any(getattr(mark, "id", "") == "overload" for mark in one.decorator_list)
            if not (one.name.startswith("_") or is_overload or ast.get_docstring(one) or one.name in stated):
                yield f"{file.relative_to(root)}:{one.lineno}: '{one.name}' has no docstring, and no class states it"


def _violations(file: Path, root: Path) -> Iterator[str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    if not any(LICENCE in line for line in lines[:2]):
        yield f":1: the first line is not '{LICENCE}'"
    if len(lines) > LONGEST_FILE_LINES:
        yield f":{len(lines)}: {len(lines)} lines; a file has at most {LONGEST_FILE_LINES}"
    if file.is_relative_to(root / "engine"):
        yield from _engine_violations(file, lines, root)
    front = root / "src" / "ullage"
    if file.is_relative_to(front) and str(file.relative_to(front)) not in _READERS:
        for number, line in enumerate(lines, start=1):
            if _READS.search(line) and not _NOT_BY_NAME.search(line):
                yield f":{number}: reads around ullage.reading, which waits for no pipe and takes nothing without end"


def _is_used(name: str, but_in: int, lines: list[str]) -> bool:
    word = re.compile(rf"\b{name}\b")
    return any(word.search(line) for number, line in enumerate(lines, start=1) if number != but_in)


def _engine_violations(file: Path, lines: list[str], root: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if re.match(r"\s*#\s*define\b", line):
            yield f":{number}: a macro; use constexpr, a template or a function"
        if re.match(r"\s*typedef\b", line):  # clang-tidy takes a quarter of the time of its checks for the same
            yield f":{number}: a typedef; use using"
        if re.match(r"\s*#\s*include\s*[<\"]mpi\.h", line) and not file.is_relative_to(root / "engine" / "mpi"):
            yield f":{number}: mpi.h is included in engine/mpi only"
        if (short := _SHORT_NAME.match(line)) and not _is_used(short[1] or short[2], number, lines):
            yield f":{number}: '{short[1] or short[2]}' is not used"
    if file.suffix == ".hpp" and "#pragma once" not in lines:
        yield ":1: no #pragma once"
    is_plain = file.suffix == ".cpp" and not file.stem.endswith("_test") and file.name != "main.cpp"
    if is_plain and not file.with_name(f"{file.stem}_test.cpp").is_file():
        yield f":1: no {file.stem}_test.cpp beside it"
