# SPDX-License-Identifier: Apache-2.0
"""The classes of access patterns, and the settings in which two of their rows may differ. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.report.headlines import word_of
from ullage.units import format_bytes

RATE: Final = "bandwidth"
# Without computation, the observed rate of particles is that of the whole phase.
_OTHER_RATES: Final[Mapping[str, str]] = {"vpic": "observed_bandwidth", "bdcats": "observed_bandwidth"}
_WRITES: Final = frozenset({"write", "forward", "sdg", "k2"})
_CALLS: Final = "the kind of calls"


def _pio(row: Row) -> str:
    base = int(row.params.get("base_bytes", 0))
    form = f"{base} bytes off" if base else "well-formed"
    return f"{word_of(row, 'pattern')} {_size(row)}, {form}, {word_of(row, 'calls')}"


def _size(row: Row) -> str:
    return format_bytes(int(row.params.get("block_bytes", 0)))


_NAMES: Final[Mapping[str, Callable[[Row], str]]] = {
    "spio": lambda row: f"stream of {_size(row)} blocks, a file for each rank",
    "tile": lambda row: f"tiles of {word_of(row, 'tile')}, {word_of(row, 'calls')}",
    "pio": _pio,
    "flash": lambda row: f"arrays of blocks, {word_of(row, 'format')}, {word_of(row, 'transfers')}",
    "vpic": lambda row: f"particles {word_of(row, 'layout')}, {word_of(row, 'format')}, {word_of(row, 'transfers')}",
    "bdcats": lambda row: (
        f"particles {word_of(row, 'layout')} read {word_of(row, 'read')}, {word_of(row, 'transfers')}"
    ),
    "sar": lambda row: f"radar images in {word_of(row, 'layout')}, {word_of(row, 'access').upper()}",
    "loader": lambda row: f"training samples, {'made' if is_write(row) else 'shuffled'}",
    "checkpoint": lambda row: f"checkpoint of a model, {word_of(row, 'layout')}",
    "stepfile": lambda row: f"states in {word_of(row, 'order')} order, {word_of(row, 'layout')}",
}


@dataclass(frozen=True)
class Setting:
    """A parameter of the rows of a kernel, and kind of its finding; ``advice`` names the setting to choose."""

    suite: str
    param: str
    kind: str
    title: str
    advice: Callable[[Row], str]


def _layout(row: Row) -> str:
    return f"layout={word_of(row, 'layout')}"


def _begin(row: Row) -> str:
    return f"base={row.params['base_bytes']}"


SETTINGS: Final = (
    Setting("pio", "calls", "apps-calls", _CALLS, lambda row: f"calls={word_of(row, 'calls')}"),
    Setting("tile", "calls", "apps-calls", _CALLS, lambda row: f"calls={word_of(row, 'calls')}"),
    Setting("flash", "transfers", "apps-calls", _CALLS, lambda row: f"transfers={word_of(row, 'transfers')}"),
    Setting("vpic", "transfers", "apps-calls", _CALLS, lambda row: f"access={word_of(row, 'transfers')}"),
    Setting("bdcats", "transfers", "apps-calls", _CALLS, lambda row: f"access={word_of(row, 'transfers')}"),
    Setting("pio", "block_bytes", "apps-request", "the size of requests", lambda row: f"request={_size(row)}"),
    Setting("pio", "base_bytes", "apps-alignment", "the first byte of the pattern", _begin),
    Setting("pio", "pattern", "apps-pattern", "the pattern", lambda row: f"pattern={word_of(row, 'pattern')}"),
    Setting("checkpoint", "layout", "apps-layout", "the layout of a checkpoint", _layout),
    Setting("stepfile", "layout", "apps-layout", "the layout of states", _layout),
    Setting("vpic", "layout", "apps-layout", "the layout of particles", _layout),
    Setting("sar", "layout", "apps-layout", "the layout of images", _layout),
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
