# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from ullage.analysis.ceilings.declared import ceilings_for, read_ceiling, unknown_ceiling
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.model.system import BlockDevice, DeviceLink, Place, SystemFacts
from ullage.system.storage import PcieLink, read_device_link

TARGETS = [Target(name="nvme", uri="posix:/a"), Target(name="scratch", uri="posix:/b")]


def _sysfs(root: Path, drive: str = "nvme0n1", speed: str = "16.0 GT/s PCIe", width: str = "4") -> Path:
    controller = root / "block" / drive / "device" / "device"
    controller.mkdir(parents=True)
    (controller / "current_link_speed").write_text(f"{speed}\n")
    (controller / "current_link_width").write_text(f"{width}\n")
    return root


@pytest.mark.parametrize(
    ("transfers", "lanes", "bytes_per_s"),
    [(5e9, 4, 2.0e9), (8e9, 4, 3.938e9), (16e9, 4, 7.877e9), (32e9, 4, 15.75e9), (64e9, 4, 29.5e9)],
)
def test_what_a_link_carries(transfers: float, lanes: int, bytes_per_s: float) -> None:
    assert PcieLink(transfers, lanes).bytes_per_s == pytest.approx(bytes_per_s, rel=1e-3)


@pytest.mark.parametrize(("device", "parents"), [("nvme0n1", []), ("nvme0n1p2", ["nvme0n1"]), ("dm-0", ["nvme0n1p3"])])
def test_the_link_of_a_drive_a_partition_and_a_mapping(tmp_path: Path, device: str, parents: list[str]) -> None:
    found = read_device_link(device, parents, _sysfs(tmp_path))
    assert found is not None
    assert (found.device, found.transfers_per_s, found.lanes) == ("nvme0n1", 16e9, 4)


@pytest.mark.parametrize(
    ("device", "parents"), [("sda1", ["sda"]), ("dm-0", ["nvme0n1", "nvme1n1"]), ("dm-0", ["nvme0n1", "sda"])]
)
def test_other_drives_and_several_have_no_link(tmp_path: Path, device: str, parents: list[str]) -> None:
    assert read_device_link(device, parents, _sysfs(tmp_path)) is None


@pytest.mark.parametrize(("speed", "width"), [("Unknown", "4"), ("16.0 GT/s PCIe", "0"), ("", ""), ("16.0", "4")])
def test_what_sysfs_does_not_say_is_not_guessed(tmp_path: Path, speed: str, width: str) -> None:
    assert read_device_link("nvme0n1", [], _sysfs(tmp_path, speed=speed, width=width)) is None


def test_a_missing_tree_is_no_error(tmp_path: Path) -> None:
    assert read_device_link("nvme0n1", [], tmp_path) is None


def _system() -> SystemFacts:
    device = BlockDevice(
        name="nvme0n1p1", link=DeviceLink(device="nvme0n1", transfers_per_s=16e9, lanes=4), parents=["nvme0n1"]
    )
    return SystemFacts(taken="now", places=[Place(target="nvme", path="/a", exists=True, device=device)])


def test_declared_goes_before_detected_and_the_exact_key_before_both() -> None:
    found = ceilings_for(TARGETS[0], _system(), {"nvme:read": 3e9})
    assert (found["read"].value, found["read"].kind) == (3e9, "declared")
    assert found["write"].kind == "detected"
    assert "16 GT/s x4" in found["write"].source
    both = ceilings_for(TARGETS[0], _system(), {"nvme": 1e9, "nvme:read": 3e9})
    assert (both["write"].value, both["read"].value) == (1e9, 3e9)


def test_without_knowledge_there_is_no_ceiling() -> None:
    assert ceilings_for(TARGETS[1], _system(), {}) == {}
    assert ceilings_for(TARGETS[0], None, {}) == {}


def test_a_ceiling_is_of_a_target_or_of_an_access_to_it() -> None:
    assert read_ceiling("nvme=2GB/s") == ("nvme", 2e9)
    assert read_ceiling("scratch:read=1e9") == ("scratch:read", 1e9)
    assert unknown_ceiling(["nvme", "scratch:read"], TARGETS) is None
    assert unknown_ceiling(["nvme", "other"], TARGETS) == "other"
    assert unknown_ceiling(["nvme:erase"], TARGETS) == "nvme:erase"
    assert unknown_ceiling([""], TARGETS) == ""


@pytest.mark.parametrize("text", ["nvme", "nvme=fast", "nvme=0", "=fast"])
def test_what_is_no_ceiling_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        read_ceiling(text)
