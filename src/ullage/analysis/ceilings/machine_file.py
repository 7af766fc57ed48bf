# SPDX-License-Identifier: Apache-2.0
"""Read machine.toml: datasheet values with the units people write. Strict: each mistake is one line with its place."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.machine import (
    DeclaredCpu,
    DeclaredDrive,
    DeclaredMemory,
    DeclaredNetwork,
    MachineFile,
)
from ullage.parameters import suggest
from ullage.units import parse_duration, parse_rate

_LARGEST_BYTES: Final = 1 << 20
_DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER: Final = r"(\d+(?:\.\d+)?(?:[eE]\+?\d{1,2})?)"


def _with_unit(units: str, forms: str) -> Callable[[str], float]:
    """Reads a number with a decimal prefix and one of ``units``, a pattern."""
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
    """Bytes/s; networks are sold in bits."""
    return parse_rate(text) if re.search(r"B/s\s*$|\d\s*$", text) else _bits(text) / 8


_Parsers = Mapping[str, Callable[[str], float]]
_SECTIONS: Final[Mapping[str, tuple[type[BaseModel], _Parsers]]] = {
    "cpu": (DeclaredCpu, {"clock_hz": _frequency}),
    "memory": (
        DeclaredMemory,
        {"transfers_per_s": _transfers, "bandwidth": parse_rate, "latency_s": parse_duration},
    ),
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
_LISTS: Final = frozenset({"drive", "network"})


def read_machine(path: Path) -> MachineFile:
    """What ``path`` declares. ``UserError`` says file, place and what would be right."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_BYTES + 1)
    except OSError as error:
        code = EXIT_ENVIRONMENT if isinstance(error, PermissionError) else 2
        right = "`ullage machine --declare FILE` writes a first draft"
        raise UserError(error.strerror or "cannot be read", str(path), right, code) from error
    try:
        table = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"is not TOML: {error}", str(path), "write KEY = VALUE below [cpu], [memory] ...") from error
    return parse_machine(table, str(path))


def parse_machine(table: Mapping[str, object], name: str) -> MachineFile:
    """What the tables of a file called ``name`` declare."""
    sections: dict[str, object] = {}
    for key, value in table.items():
        if key not in _SECTIONS:
            raise UserError(f"unknown section '{key}'", name, suggest(key, _SECTIONS))
        sections[key] = _section(key, value, name)
    try:
        return MachineFile.model_validate(sections)
    except ValidationError as error:
        raise _mistake(error, name) from error


def _section(key: str, value: object, name: str) -> object:
    if key not in _LISTS:
        return _numbers(key, value, f"{name}: [{key}]")
    if not isinstance(value, list):
        raise UserError("is not a list of tables", f"{name}: {key}", f"write [[{key}]] above each")
    items = cast("list[object]", value)
    return [_numbers(key, item, f"{name}: {key} {index}") for index, item in enumerate(items, start=1)]


def _numbers(key: str, value: object, where: str) -> dict[str, object]:
    """The table ``value`` with its words turned into SI numbers."""
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


def _mistake(error: ValidationError, name: str) -> UserError:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    steps = [str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"]]
    place = f"{name}: {'/'.join(steps)}" if steps else name
    text = first["msg"].removeprefix("Value error, ")
    right = "the keys are isa/type/operation, as in avx2/fp64/fma, or a type, as in fp64"
    return UserError(text, place, right if "flops_per_cycle" in steps and "[key]" in steps else "")
