# SPDX-License-Identifier: Apache-2.0
"""What node and overview ask of their parts."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.runs.composite.options import PartsOptions, asked_of
from ullage.runs.composite.prepared import part_run_id
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import Quick, load_suites
from ullage.suites.node import options
from ullage.suites.node.options import SHARES, NodeOptions
from ullage.suites.overview.options import OverviewOptions
from ullage.system.hardware import ranks_by_default

MACHINE = '[[drive]]\npath = "/"\nread = "540MB/s"\n'


def parts_of(asked: ParsedOptions) -> PartsOptions:
    return PartsOptions.model_validate(asked.options)


def test_a_suite_gets_the_values_it_knows(tmp_path: Path) -> None:
    suite = load_suites()["disk"]
    targets = [Target(name="a", uri=f"posix:{tmp_path}")]
    asked = asked_of(suite, {"targets": targets, "quick": True, "no_such_field": 3, "time_s": None})
    assert asked.options["time_s"] == 30.0
    assert asked.options["threads"] == [1, 2]


@pytest.mark.parametrize("makers", [[], ["NVIDIA"]])
def test_node_shares_its_time_out(makers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "gpu_makers", lambda: makers)
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE)
    asked = parse_options(NodeOptions, target=[f"a={tmp_path}"], time="100s", machine=machine, no_peer=True, seed=7)
    parts = {part.suite: part for part in parts_of(asked).parts}
    assert set(parts) == {name for name in SHARES if name in load_suites()}
    times = [part.options["time_s"] for name, part in parts.items() if name != "gpu" or makers]
    assert sum(float(str(time)) for time in times) == pytest.approx(100, abs=1)
    disk = parts["disk"]
    assert (disk.options["peer"], disk.options["seed"]) == (False, 7)
    assert [target.name for target in disk.targets] == ["a"]
    assert all(parts[name].options["machine"] is not None for name in ("cpu", "memory", "disk") if name in parts)


def test_node_measures_the_disk_here_unless_told_otherwise() -> None:
    asked = parse_options(NodeOptions)
    assert [(target.name, target.uri) for target in asked.targets] == [("here", f"posix:{Path.cwd()}")]


def test_overview_asks_every_suite_with_a_quick_form(tmp_path: Path) -> None:
    found = {part.suite for part in parts_of(parse_options(OverviewOptions, target=[f"a={tmp_path}"])).parts}
    assert found == {name for name, suite in load_suites().items() if isinstance(suite, Quick)}
    assert {"disk", "io500", "sweep"} <= found
    assert not {"node", "overview", "from-ior"} & found


def test_a_file_system_in_memory_is_no_disk() -> None:
    parts = {part.suite for part in parts_of(parse_options(OverviewOptions, target=["m=/dev/shm"])).parts}
    assert "disk" not in parts
    assert "sweep" in parts


def test_suites_can_be_left_out_and_a_machine_file_reaches_all_that_know_one(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE)
    parts = parts_of(
        parse_options(OverviewOptions, target=[f"a={tmp_path}"], without="io500,sweep", machine=machine)
    ).parts
    assert not {"io500", "sweep"} & {part.suite for part in parts}
    (disk,) = [part for part in parts if part.suite == "disk"]
    assert disk.options["machine"] is not None
    with pytest.raises(UserError, match="'sweep'"):
        parse_options(OverviewOptions, target=[f"a={tmp_path}"], without="swep")


def test_a_run_id_stays_one_however_long() -> None:
    assert part_run_id("r1", "disk") == "r1.disk"
    assert len(part_run_id("x" * 64, "overview")) == 64
    assert part_run_id("x" * 64, "disk").endswith(".disk")


def test_the_request_of_the_whole_can_be_kept(tmp_path: Path) -> None:
    asked = parse_options(NodeOptions, target=[f"a={tmp_path}"])
    request = Request(run_id="r", suite="node", created="now", targets=asked.targets, options=asked.options)
    again = Request.model_validate_json(request.model_dump_json())
    assert PartsOptions.model_validate(again.options) == parts_of(asked)


def test_what_the_reader_cares_for_is_kept_with_the_request(tmp_path: Path) -> None:
    asked = parse_options(OverviewOptions, target=[f"a={tmp_path}"], care="metadata,disk")
    assert parts_of(asked).care == ["metadata", "disk"]
    assert "care" not in parse_options(OverviewOptions, target=[f"a={tmp_path}"]).options
    with pytest.raises(UserError, match="'disk'"):
        parse_options(OverviewOptions, target=[f"a={tmp_path}"], care="dsk")


BETWEEN = {"collectives", "network", "pairs", "rings"}


def test_hosts_are_for_the_parts_that_send_messages_between_them(tmp_path: Path) -> None:
    parts = {part.suite: part for part in parts_of(parse_options(OverviewOptions, 4, target=[f"a={tmp_path}"])).parts}
    assert {name for name, part in parts.items() if part.on_hosts} == BETWEEN
    assert {"cpu", "disk", "memory", "noise", "sweep"} <= set(parts)
    assert {parts[name].options["hosts"] for name in BETWEEN - {"network"}} == {4}
    # A rank on each core of all of them, not the two that a quick look at one node has.
    assert parts["rings"].options["ranks"] == 4 * ranks_by_default()
    node = parts_of(parse_options(NodeOptions, 2, target=[f"a={tmp_path}"]))
    assert {part.suite for part in node.parts if part.on_hosts} == {"network"}
    assert not any(part.on_hosts for part in parts_of(parse_options(NodeOptions, target=[f"a={tmp_path}"])).parts)
