# SPDX-License-Identifier: Apache-2.0
"""``--hosts`` alone: as many nodes, a rank on each of their cores, bound; in every suite that has several nodes."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run_here
from tests.places.hosts import HostsPlace, hosts_up

from ullage.engine import describe
from ullage.launch.base import choose_binding
from ullage.model.record import Pinning
from ullage.results.records import read_records
from ullage.runs.suite import Quick, load_suites
from ullage.system.hardware import ranks_by_default, usable_cores


def plans(engine: Path, folder: Path, suite: str, *words: str) -> list[dict[str, object]]:
    """Use as many ranks as four machines like this one have cores: no disk needs room for what b_eff_io would write."""
    places = {"sweep": str(folder), "b_eff_io": "null:", "io500": str(folder)}
    place = ["--target", f"t={places[suite]}"] if suite in places else []
    volume = ["--volume", "64M"] if suite == "sweep" else []
    code, out, err = run_here("plan", suite, *place, *volume, *words, "--json", "--engine", str(engine))
    assert code == 0, err
    found: list[dict[str, object]] = json.loads(out)
    return found


@pytest.mark.parametrize("suite", ["b_eff", "b_eff_io", "collectives", "congestion", "io500", "rings", "sweep"])
def test_hosts_alone_are_the_nodes(engine: Path, tmp_path: Path, suite: str) -> None:
    layouts = [plan["layout"] for plan in plans(engine, tmp_path, suite, "--hosts", "a,b,c,d")]
    largest = max(layouts, key=lambda one: one["ranks"])  # pyright: ignore[reportIndexIssue]
    cores = ranks_by_default()
    # Some suites take powers of two only.
    on_each = 1 << (cores.bit_length() - 1) if suite in ("collectives", "sweep") else cores
    binding = choose_binding(on_each, 1, usable_cores() or 0)
    assert largest == {"ranks": 4 * on_each, "nodes": 4, "ranks_per_node": on_each, "threads": 1, "binding": binding}


@pytest.mark.parametrize("suite", ["cpu", "disk", "io_bench", "matrix", "memory", "noise"])
def test_suites_of_one_node_refuse_hosts(engine: Path, tmp_path: Path, suite: str) -> None:
    place = [] if suite in ("cpu", "memory", "noise") else ["--target", f"t={tmp_path}"]
    code, out, err = run_here("run", suite, *place, "--hosts", "a,b", "--engine", str(engine))
    assert (code, out) == (2, "")
    what = f"suite {suite} measures the node that it is started on"
    has_each = suite not in ("io_bench", "matrix")
    right = "add --each-node to run it on each node" if has_each else "leave --hosts out, and run it on each node"
    assert err == f"ullage: --hosts a,b: {what}; {right}\n"


def test_an_overview_of_two_hosts_measures_between_them_and_here(engine: Path, tmp_path: Path) -> None:
    family = describe(engine).engine.mpi.family
    result = tmp_path / "result"
    quick = {name for name, suite in load_suites().items() if isinstance(suite, Quick)}
    without = ",".join(sorted(quick - {"noise", "pairs"}))
    words = ["run", "overview", "--target", f"t={tmp_path}", "--without", without, "--result", str(result)]
    with hosts_up(tmp_path / "hosts", 2) as place:
        done = subprocess.run(
            place.command("h0", command(engine, *words, "--hosts", ",".join(place.names))),
            env=dict(place.environment(family)),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    nodes = {
        name: {p["layout"]["nodes"] or 1 for p in plans_in(result / "parts" / name)} for name in ("noise", "pairs")
    }
    assert nodes == {"noise": {1}, "pairs": {2}}


def plans_in(part: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((part / "plans").glob("*.json"))]


_ON_EACH = 2


def two_ranks_on_each(place: HostsPlace, engine: Path, result: Path) -> tuple[list[Pinning], list[set[str]]]:
    """What the engine has read back of a run of two ranks on each of four hosts, and the flags of each row."""
    words = ["run", "pairs", "--ranks", "8", "--sizes", "8", "--quick", "--repetitions", "1", "--result", str(result)]
    done = subprocess.run(
        place.command("h0", command(engine, *words, "--hosts", ",".join(place.names))),
        env=dict(place.environment(describe(engine).engine.mpi.family)),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    runs = [read_records(path).run for path in sorted((result / "records").glob("*.ndjson"))]
    rows = json.loads((result / "summary.json").read_text())["rows"]
    assert rows
    return [run.pinning for run in runs if run is not None], [{flag["code"] for flag in row["flags"]} for row in rows]


def give_all_processors(place: HostsPlace) -> None:
    """Let each host have those of this machine, instead of one."""
    for name in ("on", "agent"):
        script = place.folder / name
        text, count = re.subn(r'taskset -c "\$\(cat "[^"]*"\)" ', "", script.read_text())
        assert count == 1
        script.write_text(text)


@pytest.mark.each_mpi
def test_ranks_of_four_hosts_are_bound_one_to_a_core_and_read_back(engine: Path, tmp_path: Path) -> None:
    if (usable_cores() or 0) < _ON_EACH:
        pytest.skip("one core: the next test is of ranks that share it")
    with hosts_up(tmp_path / "hosts", 4) as place:
        give_all_processors(place)
        found, flags = two_ranks_on_each(place, engine, tmp_path / "result")
    assert found
    for pinning in found:
        assert (pinning.pinned_ranks, pinning.unpinned_ranks) == (4 * _ON_EACH, 0)
        assert (pinning.most_ranks_on_a_node, pinning.oversubscribed) == (_ON_EACH, False)
    assert not any({"oversubscribed", "unpinned"} & codes for codes in flags)


@pytest.mark.each_mpi
def test_ranks_that_outnumber_the_cores_of_their_hosts_are_flagged_in_every_row(engine: Path, tmp_path: Path) -> None:
    with hosts_up(tmp_path / "hosts", 4) as place:
        found, flags = two_ranks_on_each(place, engine, tmp_path / "result")
    assert found
    for pinning in found:
        assert (pinning.most_ranks_on_a_node, pinning.cores_available, pinning.oversubscribed) == (_ON_EACH, 1, True)
    assert all("oversubscribed" in codes for codes in flags)
