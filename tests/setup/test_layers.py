# SPDX-License-Identifier: Apache-2.0
"""What each folder of the engine can include, asked of the compiler with the flags that the build gives it."""

import json
import re
import shlex
import subprocess
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from steps import engine
from steps.process import ROOT

SOURCES = ROOT / "engine"
HEADERS = sorted(
    str(header.relative_to(SOURCES))
    for header in SOURCES.rglob("*.hpp")
    if not header.name.endswith("test_support.hpp")
)
# A folder of headers alone has no compilation of its own: it is compiled, and so checked, where it is included.
COMPILED = (source for source in SOURCES.rglob("*.cpp") if not source.name.endswith("_test.cpp"))
FOLDERS = sorted({str(source.parent.relative_to(SOURCES)) for source in COMPILED} - {"."})


@cache
def commands() -> dict[str, list[str]]:
    """Return how the sources of each folder are compiled, without what is compiled and where to."""
    preset = next(preset for preset in (*engine_in_use(), "openmpi", "site", "mpich") if engine.configured([preset]))
    entries = json.loads((engine.folder(preset) / "compile_commands.json").read_text(encoding="utf-8"))
    names = {folder.replace("/", "_"): folder for folder in FOLDERS}
    found: dict[str, list[str]] = {}
    for entry in entries:
        if layer := re.search(r"/engine-(\w+)\.dir/", entry["command"]):
            words = shlex.split(entry["command"])
            found[names[layer[1]]] = words[: words.index("-o")]
    return found


def engine_in_use() -> list[str]:
    return [engine.linked()] if engine.is_linked() else []


def preprocessed(folder: str, text: str) -> subprocess.CompletedProcess[str]:
    argv = [*commands()[folder], "-E", "-P", "-x", "c++", "-"]
    return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=False)


@cache
def seen_from(folder: str) -> set[str]:
    """Return the folders whose headers can be included by the sources of ``folder``."""
    asked = "\n".join(f'#if __has_include("{header}")\nseen {header}\n#endif' for header in HEADERS)
    seen = re.findall(r"^seen (\S+)$", preprocessed(folder, asked).stdout, re.MULTILINE)
    return {str(Path(header).parent) for header in seen}


def test_every_folder_is_declared() -> None:
    assert sorted(commands()) == FOLDERS


def test_no_folders_see_each_other_in_a_circle() -> None:
    order = TopologicalSorter({folder: seen_from(folder) - {folder} for folder in FOLDERS})
    assert set(order.static_order()) >= set(FOLDERS)


def test_each_folder_sees_its_own_headers() -> None:
    with_headers = {str(Path(header).parent) for header in HEADERS}
    assert [folder for folder in FOLDERS if folder in with_headers and folder not in seen_from(folder)] == []


def test_the_lowest_layers_see_nothing_above_them() -> None:
    assert seen_from("base") == {"base"}
    assert seen_from("mpi") == {"base", "mpi"}
    assert seen_from("work") == {"base", "mpi", "work"}


def test_only_the_top_sees_how_plans_are_run() -> None:
    assert [folder for folder in FOLDERS if "run" in seen_from(folder)] == ["run", "run/stop_rules"]


def test_work_without_storage_sees_none() -> None:
    kinds = ("compute", "memory", "linear", "noise", "message")
    without = [folder for folder in FOLDERS if folder.split("/")[0] in kinds]
    above = ("storage", "probes")  # probes look at what storage does
    assert [folder for folder in without if any(seen.startswith(above) for seen in seen_from(folder))] == []


@pytest.mark.parametrize(
    ("folder", "below", "above"),
    [
        ("base", "base/clock.hpp", "mpi/comm.hpp"),
        ("storage", "mpi/comm.hpp", "run/plan.hpp"),
        ("storage", "storage/backend.hpp", "storage/backends/fault_calls.hpp"),
        ("memory/stream", "memory/pages.hpp", "message/message_ends.hpp"),
    ],
)
def test_an_include_upwards_does_not_compile(folder: str, below: str, above: str) -> None:
    assert preprocessed(folder, f'#include "{below}"\n').returncode == 0
    refused = preprocessed(folder, f'#include "{below}"\n#include "{above}"\n')
    assert refused.returncode != 0
    assert above in refused.stderr
