# SPDX-License-Identifier: Apache-2.0
"""machine.toml: read as people write it, refused in one line, drafted from what the machine says."""

import re
from pathlib import Path

import pytest

from support.data import some
from ullage.analysis.ceilings.declared import (
    compute_ceiling,
    drive_ceiling,
    drive_operations_ceiling,
    find_network,
    memory_ceiling,
    memory_latency,
    network_ceiling,
)
from ullage.analysis.ceilings.machine_file import draft, read_machine
from ullage.errors import UserError
from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.model.system import BlockDevice, Cpu, DeviceLink, NetworkInterface, Place, SystemFacts

FULL = """
[cpu]
sockets = 1
cores = 2
clock_hz = "2.3GHz"
[cpu.flops_per_cycle]
"avx512/fp64/fma" = 32
"avx2/fp64/fma" = 16
fp32 = 64
[memory]
channels = 4
transfers_per_s = "2133MT/s"
latency_s = "90ns"
[[drive]]
path = "/data"
read = "540MB/s"
[[drive]]
path = "/data/fast"
read = "3.2GB/s"
write_iops = "43k"
[[drive]]
target = "other"
read = 1e9
[[network]]
name = "ib0"
rate = "56Gbit/s"
latency_s = "0.7us"
"""


@pytest.fixture
def machine(tmp_path: Path) -> MachineFile:
    path = tmp_path / "machine.toml"
    path.write_text(FULL)
    return read_machine(path)


def place(name: str, uri: str) -> Target:
    return Target(name=name, uri=uri)


def test_a_ceiling_is_that_of_the_cores_used(machine: MachineFile) -> None:
    one, two, four = (compute_ceiling(machine, "avx512/fp64/fma", threads) for threads in (1, 2, 4))
    assert one is not None
    assert (one.value, one.kind) == (2.3e9 * 32, "declared")
    assert "1 core x 2.3 GHz x 32" in one.source
    assert two is not None
    assert two.value == 2 * one.value
    assert four == two


def test_a_type_stands_for_its_best_kernel_and_for_kernels_that_are_not_named(machine: MachineFile) -> None:
    best, other = compute_ceiling(machine, "fp64", 1), compute_ceiling(machine, "avx2/fp32/fma", 1)
    assert best is not None
    assert other is not None
    assert (best.value, other.value) == (2.3e9 * 32, 2.3e9 * 64)
    assert compute_ceiling(machine, "avx2/int8/dot", 1) is None
    assert compute_ceiling(machine, "int8", 1) is None
    assert compute_ceiling(None, "fp64", 1) is None


def test_memory_by_its_channels(machine: MachineFile) -> None:
    # specs/micro.md 3.1: MT/s counts both edges already.
    found, latency = memory_ceiling(machine), memory_latency(machine)
    assert found is not None
    assert found.value == pytest.approx(68.256e9)
    assert latency is not None
    assert latency.value == pytest.approx(90e-9)
    stated = memory_ceiling(MachineFile.model_validate({"memory": {"channels": 4, "bandwidth": 5e10}}))
    assert stated is not None
    assert stated.value == 5e10
    assert memory_ceiling(MachineFile.model_validate({"memory": {"channels": 4}})) is None
    assert memory_latency(None) is None


def test_a_drive_by_name_or_by_the_longest_path(machine: MachineFile) -> None:
    reads = {
        uri: drive_ceiling(machine, place(name, uri), "read")
        for name, uri in (("a", "posix:/data/me"), ("b", "posix:/data/fast/me"), ("other", "posix:/data/x"))
    }
    assert [ceiling.value for ceiling in reads.values() if ceiling] == [540e6, 3.2e9, 1e9]
    assert drive_ceiling(machine, place("c", "posix:/database"), "read") is None
    assert drive_ceiling(machine, place("c", "model:"), "read") is None
    operations = drive_operations_ceiling(machine, place("b", "posix:/data/fast"), "write")
    assert operations is not None
    assert operations.value == 43e3
    assert drive_operations_ceiling(machine, place("a", "posix:/data"), "write") is None


def test_networks_are_sold_in_bits(machine: MachineFile) -> None:
    rate, link = network_ceiling(machine, "ib0"), find_network(machine, "ib0")
    assert rate is not None
    assert rate.value == 7e9
    assert link is not None
    assert link.latency_s == pytest.approx(7e-7)
    assert network_ceiling(machine, "eth0") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[cpus]", ("unknown section 'cpus'", "cpu")),
        ("[cpu]\ncore = 2", ("[cpu]", "unknown key 'core'", "'cores'")),
        ("[cpu]\ncores = 0", ("cpu/cores", "greater than or equal to 1")),
        ("cpu = 3", ("[cpu]", "not a table")),
        ('[cpu]\nclock_hz = "2.3"', ("clock_hz", "2.3GHz")),
        ('[cpu]\nclock_hz = "2GHz"\nall_core_ghz = 2', ("name one of them",)),
        ('[cpu.flops_per_cycle]\n"AVX 2" = 16', ("isa/type/operation",)),
        ("[drive]\nread = 1", ("[[drive]]",)),
        ("[[drive]]\nread = 1", ("drive/1", "either target or path")),
        ('[[drive]]\npath = "data"', ("must begin with /",)),
        ('[[drive]]\npath = "/data"\n[[drive]]\ntarget = "a"\nread = "fast"', ("drive 2: read", "'fast'", "3.2GB/s")),
        ('[[network]]\nname = "a"\nrate = "quick"', ("network 1: rate", "56Gbit/s")),
        ("[memory]\nlatency_s = 'soon'", ("latency_s", "500ms")),
        ("[cpu", ("is not TOML",)),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(UserError) as found:
        read_machine(path)
    message = str(found.value)
    assert str(path) in message
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--declare"):
        read_machine(tmp_path / "none.toml")


def test_a_draft_is_a_file_that_can_be_read_and_says_what_is_not_known(tmp_path: Path) -> None:
    device = BlockDevice(
        name="nvme0n1", model='odd "model"', link=DeviceLink(device="nvme0n1", transfers_per_s=16e9, lanes=4)
    )
    facts = SystemFacts(
        taken="now",
        cpu=Cpu(model="A CPU", sockets=2, physical_cores=8, logical_cpus=16, base_hz=2.3e9),
        places=[
            Place(target="a", path='/da"ta', exists=True, device=device),
            Place(target="b", path="/b", exists=False),
        ],
        network=[
            NetworkInterface(name="lo", kind="loopback"),
            NetworkInterface(name="eth0", speed_bits_per_s=25_000_000_000),
            NetworkInterface(name="eth1", speed_bits_per_s=-1),
            NetworkInterface(name="eth2", speed_bits_per_s=10_000_000_000, driver="virtio_net"),
        ],
    )
    text = draft(facts)
    path = tmp_path / "machine.toml"
    path.write_text(text)
    read = read_machine(path)
    assert (read.cpu.sockets, read.cpu.cores, read.cpu.smt, read.cpu.hz) == (2, 8, 2, 2.3e9)
    assert [drive.path for drive in read.drive] == ['/da"ta']
    assert [(link.name, link.rate) for link in read.network] == [("eth0", 25e9 / 8), ("eth1", None)]
    assert read.memory == MachineFile().memory
    assert "carries 7.88 GB/s" in text
    assert len(text.splitlines()) < 40
    marks = [int(found) for found in re.findall(r"  # ([1-6])\b", text)]
    assert list(dict.fromkeys(marks)) == [1, 2, 3, 4, 5, 6]
    # Each stands above what matters less in its section.
    for section in some(text.split("\n\n")[1:]):
        numbered = [bool(re.search(r"  # [1-6]\b", line)) for line in section.splitlines() if "[" not in line]
        known = [line.startswith(("path", "name")) for line in section.splitlines() if "[" not in line]
        order = [mark for mark, is_name in zip(numbered, known, strict=True) if not is_name]
        assert order == sorted(order, reverse=True), section


def test_of_a_machine_that_says_nothing_all_is_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(draft(SystemFacts(taken="now")))
    assert read_machine(path) == MachineFile()
    path.write_text(re.sub(r"^# (?=[a-z\[])", "", path.read_text(), flags=re.MULTILINE))
    full = read_machine(path)
    assert (full.cpu.hz, full.memory.bandwidth) == (2.3e9, 2e11)
    assert (full.drive[0].read, full.network[0].rate) == (3.2e9, 25e9 / 8)
