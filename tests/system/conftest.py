# SPDX-License-Identifier: Apache-2.0
"""A machine made of files: two sockets, two NUMA nodes, an NVMe drive with a partition, a version 2 control group."""

from collections.abc import Callable
from pathlib import Path

import pytest

CPUINFO = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Xeon Imaginary 9000
flags\t\t: fpu avx2 avx512f hypervisor constant_tsc smep

processor\t: 1
model name\t: Something Else
"""
MOUNTS = r"""22 27 0:21 / /proc rw - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,discard
28 27 0:30 / /scratch\040dir rw,noatime - lustre mgs@tcp:/fs rw,flock
29 27 0:31 / /shm rw - tmpfs tmpfs rw,size=1g
30 29 0:32 / /shm rw - ramfs late rw
broken line
"""
MEMINFO = """MemTotal:       1024 kB
MemAvailable:    512 kB
SwapTotal: 0 kB
Hugepagesize: 2048 kB
HugePages_Total:  3
"""
FILES = {
    "proc/cpuinfo": CPUINFO,
    "proc/meminfo": MEMINFO,
    "proc/self/mountinfo": MOUNTS,
    "proc/self/cgroup": "0::/batch/job7\n",
    "proc/self/status": "Name:\tx\nCpus_allowed_list:\t0-2\nMems_allowed_list:\t0\n",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1 password=hunter2 isolcpus=2,3 mitigations=off quiet",
    "proc/sys/vm/dirty_ratio": "20\n",
    "etc/os-release": 'NAME="X"\nPRETTY_NAME="Imaginary Linux 3"\n',
    "sys/devices/system/cpu/online": "0-3\n",
    "sys/devices/system/node/node0/cpulist": "0-1\n",
    "sys/devices/system/node/node0/meminfo": "Node 0 MemTotal:  600 kB\n",
    "sys/devices/system/node/node0/distance": "10 21\n",
    "sys/devices/system/node/node1/cpulist": "2-3\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/fs/cgroup/batch/job7/memory.max": "max\n",
    "sys/fs/cgroup/batch/memory.max": "1073741824\n",
    "sys/fs/cgroup/batch/job7/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/batch/cpu.max": "max 100000\n",
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "sys/class/net/ib0/type": "32\n",
    "sys/class/net/ib0/operstate": "up\n",
    "sys/class/net/ib0/speed": "200000\n",
    "sys/class/net/ib0/mtu": "4092\n",
    "sys/class/net/eth0/type": "1\n",
    "sys/class/net/eth0/speed": "-1\n",
    "sys/block/nvme0n1/size": "2000\n",
    "sys/block/nvme0n1/device/model": "FAST 1000\n",
    "sys/block/nvme0n1/device/device/current_link_speed": "16.0 GT/s PCIe\n",
    "sys/block/nvme0n1/device/device/current_link_width": "4\n",
    "sys/block/nvme0n1/queue/logical_block_size": "512\n",
    "sys/block/nvme0n1/queue/rotational": "0\n",
    "sys/block/nvme0n1/queue/scheduler": "[none] mq-deadline\n",
    "sys/block/nvme0n1/queue/read_ahead_kb": "128\n",
    "sys/block/nvme0n1/nvme0n1p2/size": "1000\n",
}
CACHE = {"level": "1", "type": "Data", "size": "48K"}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], None]:
    def write_file(name: str, content: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    return write_file


@pytest.fixture
def machine(tmp_path: Path, write: Callable[[str, str], None]) -> Path:
    for name, content in FILES.items():
        write(name, content)
    for cpu, (package, core) in enumerate([(0, 0), (0, 0), (1, 0), (1, 1)]):
        topology = f"sys/devices/system/cpu/cpu{cpu}/topology"
        write(f"{topology}/physical_package_id", str(package))
        write(f"{topology}/core_id", str(core))
    for name, content in CACHE.items():
        write(f"sys/devices/system/cpu/cpu0/cache/index0/{name}", content)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/259:2").symlink_to(tmp_path / "sys/block/nvme0n1/nvme0n1p2")
    return tmp_path
