# SPDX-License-Identifier: Apache-2.0
"""The classes of access patterns, and the settings in which two of their rows may differ. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import format_param
from ullage.report.headlines import word_of
from ullage.runs.particles.rows import layout_text, particles_read
from ullage.units import format_bytes

RATE: Final = "bandwidth"
# Without computation, the observed rate of particles is that of the whole phase.
_OTHER_RATES: Final[Mapping[str, str]] = {"vpic": "observed_bandwidth", "bdcats": "observed_bandwidth"}
_WRITES: Final = frozenset({"write", "forward", "sdg", "k2"})
# Where the files of a checkpoint are, as a person would say it.
_FILES: Final[Mapping[str, str]] = {
    "rank": "a file for each rank",
    "tensor": "a file for each tensor",
    "shared": "one shared file",
}


def _pio(row: Row) -> str:
    base = int(row.params.get("base_bytes", 0))
    form = f"{base} bytes off" if base else "well-formed"
    return f"{word_of(row, 'pattern')} {_size(row)}, {form}, {word_of(row, 'calls')}"


def _size(row: Row) -> str:
    return format_bytes(int(row.params.get("block_bytes", 0)))


_KERNELS: Final[Mapping[str, str]] = {
    "sdg": "input made",
    "k1": "raw data read",
    "k2": "images stored",
    "k3": "pairs read",
    "k4": "sub-images read",
}
_NAMES: Final[Mapping[str, Callable[[Row], str]]] = {
    "spio": lambda row: f"stream of {_size(row)} blocks, a file for each rank",
    "tile": lambda row: f"tiles of {word_of(row, 'tile')}, {word_of(row, 'calls')}",
    "pio": _pio,
    "flash": lambda row: f"arrays of blocks, {word_of(row, 'format')}, {word_of(row, 'transfers')}",
    "vpic": lambda row: f"particles ({layout_text(row)}), {word_of(row, 'format')}, {word_of(row, 'transfers')}",
    "bdcats": lambda row: f"{particles_read(row)} ({layout_text(row)}), {word_of(row, 'transfers')}",
    "sar": lambda row: f"radar images in {word_of(row, 'layout')}: {_KERNELS[word_of(row, 'access')]}",
    "loader": lambda row: f"training samples, {'made' if is_write(row) else 'shuffled'}",
    "checkpoint": lambda row: f"checkpoint of a model, {_files(row)}",
    "stepfile": lambda row: f"states in {word_of(row, 'order')} order, {word_of(row, 'layout')}",
}


@dataclass(frozen=True)
class Setting:
    """A parameter of the rows of a kernel, and kind of its finding.

    ``option``: the name of the kernel's option that sets the parameter. ``choice`` names what a row has, as it stands
    after ``with``.
    """

    suite: str
    param: str
    kind: str
    option: str
    choice: Callable[[Row], str]

    def change(self, row: Row) -> str:
        """Return the option with what ``row`` has, as people type it."""
        return f"--{self.option} {format_param(self.param, row.params[self.param])}"


def _calls(row: Row) -> str:
    return f"{word_of(row, 'calls') or word_of(row, 'transfers')} calls"


def _layout(row: Row) -> str:
    return f"layout {word_of(row, 'layout')}"


def _files(row: Row) -> str:
    return _FILES.get(word_of(row, "layout"), word_of(row, "layout"))


SETTINGS: Final = (
    Setting("pio", "calls", "apps-calls", "calls", _calls),
    Setting("tile", "calls", "apps-calls", "calls", _calls),
    Setting("flash", "transfers", "apps-calls", "access", _calls),
    Setting("vpic", "transfers", "apps-calls", "access", _calls),
    Setting("bdcats", "transfers", "apps-calls", "access", _calls),
    Setting("pio", "block_bytes", "apps-request", "request", lambda row: f"requests of {_size(row)}"),
    Setting("pio", "base_bytes", "apps-alignment", "base", lambda row: f"a pattern at byte {row.params['base_bytes']}"),
    Setting("pio", "pattern", "apps-pattern", "pattern", lambda row: f"pattern {word_of(row, 'pattern')}"),
    Setting("checkpoint", "layout", "apps-layout", "layout", _files),
    Setting("stepfile", "layout", "apps-layout", "layout", _layout),
    Setting("vpic", "layout", "apps-layout", "layout", lambda row: f"{_layout(row)} ({layout_text(row)})"),
    Setting("sar", "layout", "apps-layout", "layout", lambda row: f"images in {word_of(row, 'layout')}"),
)


def is_write(row: Row) -> bool:
    """Tell whether the row's phase writes."""
    return word_of(row, "access") in _WRITES


def direction(row: Row) -> str:
    """Return ``writes`` or ``reads``."""
    return "writes" if is_write(row) else "reads"


def class_of(row: Row) -> str:
    """Name the class of a row's pattern; that of a kernel without words here is the kernel."""
    named = _NAMES.get(row.suite)
    return row.suite if named is None else named(row)


def is_clear(row: Row) -> bool:
    """Tell whether it is known where the bytes came from or went to: a part from memory is no rate of the target."""
    return not row.verdict.startswith(("mixed", "unknown"))


def rates_of(rows: Iterable[Row], suites: Iterable[str]) -> list[Row]:
    """Return the rates of the kernels that may be compared at all, in their order."""
    known = frozenset(suites)
    return [
        row
        for row in rows
        if row.suite in known
        and row.metric == _OTHER_RATES.get(row.suite, RATE)
        and not row.is_invalid
        and row.repetitions
    ]


def settled_but(row: Row, param: str) -> tuple[Scalar, ...]:
    """Return everything that sets a row apart from others but ``param``."""
    rest = sorted((name, value) for name, value in row.params.items() if name != param)
    return (row.suite, row.target, row.verdict, *(f"{name}={value}" for name, value in rest))
