# SPDX-License-Identifier: Apache-2.0
"""Read machine.toml: datasheet values with the units people write. Strict: each mistake is one line with its place."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from ullage.errors import UserError
from ullage.model.machine import DeclaredCpu, DeclaredDrive, DeclaredMemory, DeclaredNetwork, MachineFile
from ullage.model.system import Cpu, NetworkInterface, Place, SystemFacts
from ullage.parameters import suggest
from ullage.reading import read_toml
from ullage.system.hardware import states_no_speed
from ullage.system.storage import PcieLink
from ullage.units import parse_duration, parse_rate

_DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER: Final = r"(\d+(?:\.\d+)?(?:[eE]\+?\d{1,2})?)"


def _with_unit(units: str, forms: str) -> Callable[[str], float]:
    """Return a parser of a number with a decimal prefix and one of ``units``, a pattern."""
    pattern = re.compile(rf"{_NUMBER}\s?([kKMGT]?)(?:{units})", re.ASCII)

    def parse(text: str) -> float:
        match = pattern.fullmatch(text.strip())
        if match is None:
            raise UserError("cannot be read as a value", f"'{text}'", f"write {forms}")
        return float(match.group(1)) * _DECIMAL[match.group(2)]

    return parse


_frequency = _with_unit("Hz", '"2.3GHz" or a number of Hz')
_transfers = _with_unit("T/s", '"3200MT/s" or a number of transfers a second')
_operations = _with_unit("(?:IOPS|op/s)?", '"93k", "93kIOPS" or a number')
_bits = _with_unit("(?:bit/s|b/s|bps)", '"56Gbit/s"')


def _network_rate(text: str) -> float:
    """Read bytes/s; convert a rate in bits, the unit in which networks are sold."""
    return parse_rate(text) if re.search(r"B/s\s*$|\d\s*$", text) else _bits(text) / 8


_Parsers = Mapping[str, Callable[[str], float]]
_SECTIONS: Final[Mapping[str, tuple[type[BaseModel], _Parsers]]] = {
    "cpu": (DeclaredCpu, {"clock_hz": _frequency}),
    "memory": (DeclaredMemory, {"transfers_per_s": _transfers, "bandwidth": parse_rate, "latency_s": parse_duration}),
    "drive": (
        DeclaredDrive,
        {
            "read": parse_rate,
            "write": parse_rate,
            "read_iops": _operations,
            "write_iops": _operations,
            "latency_s": parse_duration,
        },
    ),
    "network": (DeclaredNetwork, {"rate": _network_rate, "latency_s": parse_duration}),
}


def read_machine(path: Path) -> MachineFile:
    """Read what ``path`` declares; raise UserError that says file, place and what would be right."""
    return parse_machine(read_toml(path, "`ullage machine --declare FILE` writes a first draft"), str(path))


def parse_machine(table: Mapping[str, object], name: str) -> MachineFile:
    """Build the machine file from the TOML ``table``; mistakes raise UserError that names the file, ``name``."""
    sections: dict[str, object] = {}
    for key, value in table.items():
        if key not in _SECTIONS:
            raise UserError(f"unknown section '{key}'", name, suggest(key, _SECTIONS))
        sections[key] = _section(key, value, name)
    try:
        return MachineFile.model_validate(sections)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        steps = [str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"]]
        place = f"{name}: {'/'.join(steps)}" if steps else name
        text = first["msg"].removeprefix("Value error, ")
        right = "the keys are isa/type/operation, as in avx2/fp64/fma, or a type, as in fp64"
        raise UserError(text, place, right if "flops_per_cycle" in steps and "[key]" in steps else "") from error


def _section(key: str, value: object, name: str) -> object:
    if key not in {"drive", "network"}:
        return _numbers(key, value, f"{name}: [{key}]")
    if not isinstance(value, list):
        raise UserError("is not a list of tables", f"{name}: {key}", f"write [[{key}]] above each")
    items = cast("list[object]", value)
    return [_numbers(key, item, f"{name}: {key} {index}") for index, item in enumerate(items, start=1)]


def _numbers(key: str, value: object, where: str) -> dict[str, object]:
    """Turn the texts in the table ``value`` into SI numbers; raise UserError for an unknown key or a bad value."""
    if not isinstance(value, dict):
        raise UserError("is not a table", where, f"write [{key}] and KEY = VALUE below it")
    model, parsers = _SECTIONS[key]
    fields = model.model_fields
    found: dict[str, object] = {}
    for field, content in cast("dict[str, object]", value).items():
        if field not in fields:
            raise UserError(f"unknown key '{field}'", where, suggest(field, fields))
        parse = parsers.get(field)
        found[field] = _parsed(parse, content, f"{where}: {field}") if parse and isinstance(content, str) else content
    return found


def _parsed(parse: Callable[[str], float], text: str, where: str) -> float:
    try:
        return parse(text)
    except UserError as error:
        raise UserError(f"{error.what}: '{text}'", where, error.right) from error


_HEAD: Final = (
    "# What the datasheets of this machine say: the ceilings of `ullage run SUITE --machine FILE`.",
    "# The numbers 1 to 6 mark what matters most. Complete a line that begins with #, and remove the #.",
)


def draft(facts: SystemFacts) -> str:
    """Write the text of a machine file from the facts of this node."""
    links = [link for link in facts.network if link.kind != "loopback" and not states_no_speed(link.driver)]
    places = [place for place in facts.places if place.exists and not place.is_memory]
    blocks = [
        _HEAD,
        _cpu(facts.cpu),
        ("[memory]", '# bandwidth = "200GB/s"  # 3: channels x transfers/s x 8 bytes', '# latency_s = "90ns"'),
        *([_drive(place) for place in places] or [_DRIVE]),
        *([_network(link) for link in links] or [_NETWORK]),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _value(key: str, value: object | None, example: str, note: str = "") -> str:
    said = f"# {key} = {example}" if value is None else f"{key} = {json.dumps(value)}"
    return f"{said}  # {note}" if note else said


def _cpu(cpu: Cpu) -> Sequence[str]:
    smt = cpu.logical_cpus // cpu.physical_cores if cpu.logical_cpus and cpu.physical_cores else None
    hertz = None if cpu.base_hz is None else f"{cpu.base_hz / 1e9:g}GHz"
    return (
        f"[cpu]  # {' '.join((cpu.model or 'model unknown').split())}",
        _value("clock_hz", hertz, '"2.3GHz"', "1: of all cores under load"),
        "# flops_per_cycle = { fp64 = 32, fp32 = 64 }  # 2: of a core; an FMA is 2 for each number of a vector",
        _value("cores", cpu.physical_cores, "8", "of all sockets"),
        _value("sockets", cpu.sockets, "1"),
        _value("smt", smt, "2", "hardware threads of a core"),
    )


_OF_DRIVE: Final = (
    '# read = "3.2GB/s"  # 4',
    '# write = "1.9GB/s"  # 5',
    '# read_iops = "93k"',
    '# write_iops = "43k"',
    '# latency_s = "80us"',
)
_DRIVE: Final = ("# [[drive]]", '# path = "/scratch"', *_OF_DRIVE)
_NETWORK: Final = ("# [[network]]", '# name = "eth0"', '# rate = "25Gbit/s"  # 6', '# latency_s = "2us"')


def _drive(place: Place) -> Sequence[str]:
    device = place.device
    name = (
        "no local drive" if device is None else f"{device.name}, {' '.join((device.model or 'model unknown').split())}"
    )
    carried = ""
    if device is not None and device.link is not None:
        link = PcieLink(device.link.transfers_per_s, device.link.lanes)
        carried = f"; its PCIe link ({link.text}) carries {link.bytes_per_s / 1e9:.3g} GB/s"
    return "[[drive]]", f"path = {json.dumps(place.path)}  # {name}{carried}", *_OF_DRIVE


def _network(link: NetworkInterface) -> Sequence[str]:
    speed = link.speed_bits_per_s
    rate = f"{speed / 1e9:g}Gbit/s" if speed is not None and speed > 0 else None
    head = ("[[network]]", f"name = {json.dumps(link.name)}")
    return *head, _value("rate", rate, '"25Gbit/s"', "6"), _NETWORK[-1]
