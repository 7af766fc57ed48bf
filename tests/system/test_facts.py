# SPDX-License-Identifier: Apache-2.0
"""Facts are read from the kernel's files; what is not there is null."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ullage.model.plan import Target
from ullage.model.system import SystemFacts
from ullage.system import facts
from ullage.system.environment import read_environment, read_kernel
from ullage.system.files import bracketed, parse_cpu_list
from ullage.system.hardware import read_cpu, read_memory, read_network, read_numa, states_no_speed, usable_cores
from ullage.system.limits import memory_left, read_limits
from ullage.system.storage import PcieLink, find_mount, read_device, read_mounts, read_places
from ullage.uri import parse_target


def test_cpu(machine: Path) -> None:
    cpu = read_cpu(machine)
    assert (cpu.model, cpu.vendor) == ("Xeon Imaginary 9000", "GenuineIntel")
    assert (cpu.sockets, cpu.physical_cores, cpu.logical_cpus) == (2, 3, 4)
    assert cpu.flags == ["avx2", "avx512f", "constant_tsc", "hypervisor"]
    assert cpu.caches == {"L1d": 48 * 1024}
    assert (cpu.base_hz, cpu.governor) == (None, None)


def test_usable_cores_count_siblings_once(machine: Path) -> None:
    assert usable_cores(machine, [0, 1]) == 1
    assert usable_cores(machine, [0, 2, 3]) == 3
    assert usable_cores(machine, [0, 99]) is None


def test_memory_and_numa(machine: Path) -> None:
    memory = read_memory(machine)
    assert (memory.total_bytes, memory.available_bytes, memory.swap_total_bytes) == (1 << 20, 1 << 19, 0)
    assert (memory.huge_page_bytes, memory.huge_pages_total, memory.transparent_huge_pages) == (2 << 20, 3, "madvise")
    first, second = read_numa(machine)
    assert (first.cpus, first.memory_bytes, first.distances) == ("0-1", 600 * 1024, [10, 21])
    assert (second.node, second.memory_bytes, second.distances) == (1, None, [])


def test_the_kernels_options_hold_no_secrets(machine: Path) -> None:
    kernel = read_kernel(machine)
    assert kernel.options == ["isolcpus=2,3", "mitigations=off"]
    assert (kernel.distribution, kernel.dirty_ratio, kernel.swappiness) == ("Imaginary Linux 3", 20, None)


@pytest.mark.parametrize(
    ("path", "kind", "options"),
    [
        ("/home/me", "ext4", ("rw", "relatime", "discard")),
        ("/scratch dir/x", "lustre", ("rw", "noatime", "flock")),
        ("/scratch dirt", "ext4", ("rw", "relatime", "discard")),
        ("/shm", "ramfs", ("rw",)),
    ],
)
def test_the_mount_of_a_path(machine: Path, path: str, kind: str, options: tuple[str, ...]) -> None:
    mount = find_mount(Path(path), read_mounts(machine))
    assert mount is not None
    assert (mount.file_system, mount.options) == (kind, options)


@pytest.mark.parametrize(("text", "node"), [("1\n", 1), ("-1\n", None)])
def test_a_partition_is_on_the_numa_node_of_its_drive(machine: Path, text: str, node: int | None) -> None:
    (machine / "sys/block/nvme0n1/numa_node").write_text(text)
    device = read_device("259:2", machine)
    assert device is not None
    assert device.numa_node == node


def test_a_partition_takes_the_queue_of_its_drive(machine: Path) -> None:
    device = read_device("259:2", machine)
    assert device is not None
    assert (device.name, device.parents, device.size_bytes, device.model) == (
        "nvme0n1p2",
        ["nvme0n1"],
        512_000,
        "FAST 1000",
    )
    assert (device.logical_block_bytes, device.rotational, device.scheduler) == (512, False, "none")
    assert (device.read_ahead_bytes, device.physical_block_bytes) == (128 * 1024, None)
    assert device.link is not None
    assert (device.link.transfers_per_s, device.link.lanes) == (16e9, 4)
    assert read_device("0:30", machine) is None


def test_the_link_of_a_sata_drive_is_that_of_its_port(machine: Path, write: Callable[[str, str], None]) -> None:
    port = "sys/devices/pci0000:00/0000:00:17.0/ata3"
    write(f"{port}/link3/ata_link/link3/sata_spd", "6.0 Gbps\n")
    write(f"{port}/host2/target2:0:0/2:0:0:0/block/sda/queue/rotational", "1\n")
    (machine / "sys/dev/block/8:0").symlink_to(machine / port / "host2/target2:0:0/2:0:0:0/block/sda")
    device = read_device("8:0", machine)
    assert device is not None
    assert device.link is not None
    assert (device.link.device, device.link.kind, device.link.transfers_per_s) == ("sda", "sata", 6e9)
    assert PcieLink(6e9, 1, is_sata=True).bytes_per_s == 600e6


def test_the_tightest_group_limits_a_drive(machine: Path, write: Callable[[str, str], None]) -> None:
    write("sys/block/nvme0n1/dev", "259:0\n")
    write("sys/fs/cgroup/batch/job7/io.max", "8:0 rbps=1 wbps=max\n259:0 rbps=max wbps=2048 riops=max wiops=300\n")
    write("sys/fs/cgroup/batch/io.max", "259:0 rbps=max wbps=1024 riops=max wiops=max\n")
    device = read_device("259:2", machine)
    assert device is not None
    found = [(one.access, one.unit, one.value, one.source.rpartition("cgroup/")[2]) for one in device.limits]
    assert found == [("write", "bytes", 1024.0, "batch/io.max"), ("write", "operations", 300.0, "batch/job7/io.max")]


def test_limits_on_a_drive_by_version_1(machine: Path, write: Callable[[str, str], None]) -> None:
    write("proc/self/cgroup", "7:blkio:/slow\n0::/\n")
    write("sys/block/nvme0n1/dev", "259:0\n")
    write("sys/fs/cgroup/blkio/slow/blkio.throttle.read_bps_device", "259:0 4096\n8:0 5\n")
    write("sys/fs/cgroup/blkio/blkio.throttle.read_bps_device", "259:0 9000\n")
    device = read_device("259:2", machine)
    assert device is not None
    assert [(one.access, one.unit, one.value) for one in device.limits] == [("read", "bytes", 4096.0)]


def test_limits_of_groups_above_count(machine: Path) -> None:
    limits = read_limits(machine)
    assert (limits.cgroup, limits.memory_bytes, limits.cpu_quota) == ("v2", 1 << 30, 1.5)
    assert (limits.cpus_allowed, limits.memory_nodes_allowed) == ("0-2", "0")


def test_limits_of_version_1(machine: Path, write: Callable[[str, str], None]) -> None:
    write("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/\n1:name=systemd:/\n")
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")
    write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096")
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    limits = read_limits(machine)
    assert (limits.cgroup, limits.memory_bytes, limits.cpu_quota) == ("v1", 4096, None)


def test_the_environment_is_allow_listed(machine: Path) -> None:
    variables = {
        "OMPI_MCA_btl": "tcp",
        "OMP_NUM_THREADS": "4",
        "SLURM_JOB_ID": "7",
        "FI_OPX_TOKEN": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "HOME": "/home/me",
    }
    around = read_environment(machine, variables)
    assert around.variables == {"OMPI_MCA_btl": "tcp", "OMP_NUM_THREADS": "4", "SLURM_JOB_ID": "7"}
    assert (around.scheduler, around.hypervisor, around.container) == ("slurm", "qemu", None)
    assert read_environment(machine, {"SINGULARITY_CONTAINER": "x.sif"}).container == "apptainer"


def test_network(machine: Path) -> None:
    ethernet, infiniband = read_network(machine)
    assert (ethernet.name, ethernet.kind, ethernet.speed_bits_per_s, ethernet.state) == ("eth0", "ethernet", None, None)
    assert (infiniband.kind, infiniband.speed_bits_per_s, infiniband.mtu_bytes) == ("infiniband", 200 * 10**9, 4092)


def test_an_interface_of_neither_a_device_nor_another_interface_is_virtual(tmp_path: Path) -> None:
    made, card = tmp_path / "sys/devices/virtual/net", tmp_path / "sys/devices/pci/net/eth0"
    for folder in (made / "veth0", made / "bond0", card):
        folder.mkdir(parents=True)
        (folder / "type").write_text("1\n")
        (folder / "speed").write_text("10000\n")
        (tmp_path / "sys/class/net").mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys/class/net" / folder.name).symlink_to(folder)
    (made / "bond0/lower_eth0").symlink_to(card)
    found = {link.name: link.driver for link in read_network(tmp_path)}
    assert found == {"bond0": None, "eth0": None, "veth0": "virtual"}
    assert states_no_speed(found["veth0"])
    assert not states_no_speed(found["bond0"])
    assert states_no_speed("virtio_net")


def test_an_empty_machine_gives_nulls_and_no_error(tmp_path: Path) -> None:
    found = facts(
        [Target(name="gone", uri=f"posix:{tmp_path}/gone"), Target(name="n", uri="null:")], root=tmp_path / "none"
    )
    assert (found.cpu.model, found.cpu.sockets, found.memory.total_bytes, found.limits.cgroup) == (
        None,
        None,
        None,
        None,
    )
    assert (found.numa, found.network, found.mpi) == ([], [], None)
    assert [(place.target, place.exists, place.file_system) for place in found.places] == [("gone", False, None)]
    assert SystemFacts.model_validate_json(found.model_dump_json()) == found


def test_this_machine(tmp_path: Path) -> None:
    found = facts([parse_target(f"here={tmp_path}"), parse_target("memory=/dev/shm")])
    here, memory = found.places
    assert here.exists
    assert here.free_bytes is not None
    assert 0 < here.free_bytes <= (here.total_bytes or 0)
    if memory.exists and memory.mount_point == "/dev/shm":
        assert memory.is_memory
        assert memory.device is None
    assert (found.cpu.usable_cpus or 0) >= 1
    assert found.versions["ullage"]
    assert SystemFacts.model_validate_json(found.model_dump_json()) == found


def test_a_link_is_where_it_points(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/shm")
    place = read_places([Target(name="l", uri=f"posix:{tmp_path}/link")])[0]
    direct = read_places([Target(name="l", uri="posix:/dev/shm")])[0]
    assert place.mount_point == direct.mount_point


@pytest.mark.parametrize(("text", "word"), [("a [b] c", "b"), ("only", "only"), ("a b", None), (None, None)])
def test_bracketed(text: str | None, word: str | None) -> None:
    assert bracketed(text) == word


@pytest.mark.parametrize(("text", "cpus"), [("0-2,8", [0, 1, 2, 8]), ("", []), (None, []), ("x", []), ("3", [3])])
def test_cpu_lists(text: str | None, cpus: list[int]) -> None:
    assert parse_cpu_list(text) == cpus


def test_every_control_group_above_limits_the_memory_that_is_left(machine: Path) -> None:
    def group(name: str, **files: str) -> None:
        folder = machine / "sys/fs/cgroup" / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (folder / file.replace("memory_", "memory.")).write_text(content)

    unlimited = memory_left(machine)
    group("batch/job7", memory_max="max\n", memory_current="1\n")
    group("batch", memory_max="400000\n", memory_current="300000\n", memory_stat="anon 7\ninactive_file 50000\n")
    assert (unlimited, memory_left(machine)) == (None, 150_000)
    assert read_memory(machine).available_bytes == 150_000


def test_version_one_of_control_groups_limits_as_well(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("4:cpu,memory:/job\n")
    folder = machine / "sys/fs/cgroup/memory/job"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text("9000\n")
    (folder / "memory.usage_in_bytes").write_text("10000\n")
    (folder / "memory.stat").write_text("cache 5\ntotal_inactive_file 4000\n")
    assert memory_left(machine) == 3000


def test_texts_of_the_kernel_are_harmless(machine: Path) -> None:
    place = machine / "proc" / "cpuinfo"
    place.write_text(place.read_text().replace("Xeon Imaginary 9000", "Xeon \x1b]0;PWNED\x07\u202e"))
    assert facts([], root=machine).cpu.model == "Xeon \\u001b]0;PWNED\\u0007\\u202e"
