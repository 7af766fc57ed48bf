# SPDX-License-Identifier: Apache-2.0
"""``--hosts`` alone: as many nodes, a rank on each of their cores, bound; in every suite that has several nodes."""

import json
from pathlib import Path

import pytest
from tests.e2e.commands import run_here

from ullage.launch.base import choose_binding
from ullage.system.hardware import ranks_by_default, usable_cores

_FOLDERS = ("sweep", "b_eff_io", "io500")


def plans(engine: Path, folder: Path, suite: str, *words: str) -> list[dict[str, object]]:
    place = ["--target", f"t={folder}"] if suite in _FOLDERS else []
    volume = ["--volume", "64M"] if suite == "sweep" else []
    code, out, err = run_here("plan", suite, *place, *volume, *words, "--json", "--engine", str(engine))
    assert code == 0, err
    found: list[dict[str, object]] = json.loads(out)
    return found


@pytest.mark.any_mpi
@pytest.mark.parametrize("suite", ["b_eff", "b_eff_io", "collectives", "congestion", "io500", "rings", "sweep"])
def test_hosts_alone_are_the_nodes(engine: Path, tmp_path: Path, suite: str) -> None:
    layouts = [plan["layout"] for plan in plans(engine, tmp_path, suite, "--hosts", "a,b,c,d")]
    largest = max(layouts, key=lambda one: one["ranks"])  # pyright: ignore[reportIndexIssue]
    cores = ranks_by_default()
    # Some suites take powers of two only.
    on_each = 1 << (cores.bit_length() - 1) if suite in ("collectives", "sweep") else cores
    binding = choose_binding(on_each, 1, usable_cores() or 0)
    assert largest == {"ranks": 4 * on_each, "nodes": 4, "ranks_per_node": on_each, "threads": 1, "binding": binding}
