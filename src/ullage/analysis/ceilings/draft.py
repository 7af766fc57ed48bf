# SPDX-License-Identifier: Apache-2.0
"""A first machine.toml from what this machine says of itself, for the user to complete from the datasheets. Pure.

What was read stands there as a value; what could not be read is a comment that says why.
"""

import json
from collections.abc import Sequence
from typing import Final

from ullage.model.describe import Describe
from ullage.model.system import Cpu, NetworkInterface, Place, SystemFacts
from ullage.system.hardware import states_no_speed
from ullage.system.storage import PcieLink

_HEAD: Final = (
    "# What the datasheets of this machine say: the ceilings of `ullage run SUITE --machine FILE`.",
    "# Values were read from this machine. A line that begins with # is not known here: complete it and remove the #.",
)
_KERNEL: Final = "kernel:"
_WORKLOAD: Final = "compute"


def draft(facts: SystemFacts, description: Describe | None) -> str:
    """The text of the file."""
    blocks = [
        _HEAD,
        _cpu(facts.cpu),
        _rates(description),
        _MEMORY,
        *(_drive(place) for place in facts.places if place.exists and not place.is_memory),
        *(_network(link) for link in facts.network if link.kind != "loopback"),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _value(key: str, value: object | None, example: str, why: str) -> str:
    if value is None:
        return f"# {key} = {example}  # not available: {why}"
    return f"{key} = {json.dumps(value)}"


def _cpu(cpu: Cpu) -> Sequence[str]:
    smt = cpu.logical_cpus // cpu.physical_cores if cpu.logical_cpus and cpu.physical_cores else None
    hertz = None if cpu.base_hz is None else f"{cpu.base_hz / 1e9:g}GHz"
    no_topology, no_clock = "the kernel states no topology", "the kernel states no base clock"
    return (
        "[cpu]",
        f"# {' '.join((cpu.model or 'model unknown').split())}",
        _value("sockets", cpu.sockets, "1", no_topology),
        f"{_value('cores', cpu.physical_cores, '8', no_topology)}  # of all sockets",
        _value("smt", smt, "2", no_topology),
        _value("clock_hz", hertz, '"2.3GHz"', f"{no_clock}; that of all cores under load counts"),
    )


def _rates(description: Describe | None) -> Sequence[str]:
    """Every kernel that runs here, with what one instruction does."""
    workloads = [] if description is None else description.workloads
    words = [word for thing in workloads if thing.name == _WORKLOAD for word in thing.capabilities]
    kernels = [_kernel(word) for word in words if word.startswith(_KERNEL)]
    why = "how many of these instructions a core starts in a cycle stands in no register"
    lines = [f'# "{name}" = {ops}  # not available: {why}; one does {ops} operations' for name, ops in kernels if ops]
    none = '# "avx2/fp64/fma" = 16  # not available: no engine with workload compute says what runs here'
    return ("[cpu.flops_per_cycle]", *(lines or [none]))


def _kernel(word: str) -> tuple[str, str]:
    """Name and operations of ``kernel:avx512/fp64/fma:lanes=8:ops=16``."""
    name, *facts = word.removeprefix(_KERNEL).split(":")
    return name, next((fact.removeprefix("ops=") for fact in facts if fact.startswith("ops=")), "")


_MEMORY: Final = (
    "[memory]",
    "# channels = 8  # not available: only root may read the tables of the firmware",
    '# transfers_per_s = "3200MT/s"  # not available: the same',
    '# bandwidth = "200GB/s"  # in the place of channels and transfers',
    '# latency_s = "90ns"',
)


def _drive(place: Place) -> Sequence[str]:
    device, why = place.device, "stands in the drive's datasheet only"
    name = (
        "no local drive" if device is None else f"{device.name}, {' '.join((device.model or 'model unknown').split())}"
    )
    link = None if device is None else device.link
    carried = "" if link is None else _link(PcieLink(link.transfers_per_s, link.lanes))
    return (
        "[[drive]]",
        f"path = {json.dumps(place.path)}  # {name}{carried}",
        *(
            _value(key, None, example, why)
            for key, example in (
                ("read", '"540MB/s"'),
                ("write", '"410MB/s"'),
                ("read_iops", '"93k"'),
                ("write_iops", '"43k"'),
                ("latency_s", '"500us"'),
            )
        ),
    )


def _link(link: PcieLink) -> str:
    return f"; its PCIe link ({link.text}) carries {link.bytes_per_s / 1e9:.3g} GB/s"


def _network(link: NetworkInterface) -> Sequence[str]:
    speed = link.speed_bits_per_s
    rate, why = None, "the driver states no speed"
    if speed is not None and speed > 0:
        rate = f"{speed / 1e9:g}Gbit/s"
    if rate is not None and states_no_speed(link.driver):
        rate, why = None, f"the {rate} that a virtual interface states ({link.driver}) are made up"
    return (
        "[[network]]",
        f"name = {json.dumps(link.name)}",
        _value("rate", rate, '"25Gbit/s"', why),
        _value("latency_s", None, '"2us"', "nothing states it"),
    )
