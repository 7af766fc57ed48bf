# SPDX-License-Identifier: Apache-2.0
"""Published times of a simulation that keeps its states (N3D/Semtex), as JSON, and what follows from them.

The time with the states in memory is taken as the time of the computation. All else is exposed I/O.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, ValidationError

from ullage.analysis.findings.phrasing import finding
from ullage.errors import UserError
from ullage.importers import IMPORT_SUITE, Importer, imported_row
from ullage.model.base import Strict, first_mistake
from ullage.model.summary import Finding, Row, Summary
from ullage.quantity import format_quantity, percent, significant, times
from ullage.units import format_operations, format_rate, format_volume

# -- what follows from published times ---------------------------------------------------------------------------------

_PHASES: Final = 2  # every state is written once and read once


@dataclass(frozen=True)
class Span:
    """A value and what rounding of the published times allows."""

    value: float
    low: float
    high: float

    def has(self, other: float) -> bool:
        """Tell whether rounding allows ``other``."""
        return self.low <= other <= self.high


@dataclass(frozen=True)
class Published:
    """One published case. ``seconds``: by what held the states; ``rounding_s``: by which each may be off."""

    name: str
    ranks: int
    files: int
    volume_bytes: float
    nodes: int
    memory_s: float
    rounding_s: float = 50.0

    @property
    def state_bytes(self) -> float:
        """Bytes of a file."""
        return self.volume_bytes / self.files

    @property
    def steps(self) -> float:
        """Files of a rank."""
        return self.files / self.ranks

    @property
    def step_s(self) -> float:
        """Mean computation of a step."""
        return self.memory_s / _PHASES / self.steps

    @property
    def needed_bytes_per_s(self) -> float:
        """What hides the writes behind the computation of the forward phase."""
        return self.volume_bytes / (self.memory_s / _PHASES)

    @property
    def needed_files_per_s(self) -> float:
        """See ``needed_bytes_per_s``."""
        return self.files / (self.memory_s / _PHASES)

    def exposed_s(self, seconds: float) -> Span:
        """Return the exposed I/O of a run of ``seconds``; both times are rounded."""
        exposed = seconds - self.memory_s
        return Span(exposed, exposed - 2 * self.rounding_s, exposed + 2 * self.rounding_s)

    def rate(self, exposed_s: float) -> float:
        """Return the bytes written and read over ``exposed_s``."""
        return _PHASES * self.volume_bytes / exposed_s

    def exposed_with(self, write_rate: float, read_rate: float) -> float:
        """Return the exposed I/O with one pair of rates of every node."""
        each = self.volume_bytes / self.nodes
        return each / write_rate + each / read_rate


def constant_rate_prediction(small: Published, small_s: float, large: Published) -> float:
    """Return the seconds of ``large`` with the rate that ``small`` had in ``small_s``."""
    rate = small.rate(small_s - small.memory_s)
    return large.memory_s + _PHASES * large.volume_bytes / rate


def exponent(small: Published, small_s: float, large: Published, large_s: float) -> float:
    """Return b of rate ~ ranks^b through both cases: two points give two parameters, and nothing is left to test."""
    rates = [case.rate(seconds - case.memory_s) for case, seconds in ((small, small_s), (large, large_s))]
    return math.log(rates[1] / rates[0]) / math.log(large.ranks / small.ranks)


def one_pair_fits(cases: Sequence[tuple[Published, float]], write_rate: float, read_rate: float) -> bool:
    """Tell whether one pair of rates of a node gives every case within the rounding of its times."""
    return all(case.exposed_s(seconds).has(case.exposed_with(write_rate, read_rate)) for case, seconds in cases)


def fitted_pair(cases: Sequence[tuple[Published, float]], read_over_write: float) -> tuple[float, float]:
    """Return the write and read rate of a node that fit the first case, with reads ``read_over_write`` as fast."""
    case, seconds = cases[0]
    write_rate = case.volume_bytes / case.nodes * (1 + 1 / read_over_write) / case.exposed_s(seconds).value
    return write_rate, write_rate * read_over_write


# -- the file ----------------------------------------------------------------------------------------------------------

_FILE_SYSTEM: Final = "filesystem"
_MEMORY_FILES: Final = "pmem_as_io"
_MEMORY: Final = "pmem_as_memory"
# Reads of persistent memory are about three times as fast as writes.
_READ_OVER_WRITE: Final = 3.0
_FITS: Final = 1.5

Amount = Annotated[float, Field(gt=0, le=1e12)]
Count = Annotated[int, Field(ge=1, le=1 << 40)]


class _Case(Strict):
    name: Annotated[str, Field(min_length=1, max_length=60)]
    processes: Count
    files: Count
    volume_tb: Amount
    dram_volume_tb: Amount
    nodes: Count
    min_dram_nodes: Count
    seconds: Annotated[dict[str, Amount], Field(min_length=1)]


class _Table(Strict):
    source: str = ""
    cases: Annotated[list[_Case], Field(min_length=1)]
    node_dram_gb: Amount


def recognises(text: str) -> bool:
    """Tell whether ``text`` is a JSON object with cases that state processes, files and seconds."""
    return text.lstrip().startswith("{") and '"cases"' in text and f'"{_MEMORY}"' in text


def read_cases(text: str, name: str) -> Summary:
    """Return the summary of published cases; raise ``UserError`` with the place of the first mistake."""
    try:
        table = _Table.model_validate_json(text)
    except ValidationError as error:
        place, why = first_mistake(error)
        right = "write cases with processes, files, volume_tb, nodes and seconds"
        raise UserError(f"{place}: {why}" if place else why, name, right) from error
    for index, case in enumerate(table.cases):
        if _MEMORY not in case.seconds:
            raise UserError(f"cases/{index}/seconds: no '{_MEMORY}'", name, "give the time without exposed I/O")
    rows = [row for case in table.cases for row in _rows(case, name)]
    cases = [(_published(case), case) for case in table.cases]
    found = [
        *(one for published, case in cases for one in _of_case(published, case, table.node_dram_gb)),
        *_across(cases),
    ]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=found)


def _published(case: _Case) -> Published:
    seconds = case.seconds[_MEMORY]
    return Published(case.name, case.processes, case.files, case.volume_tb * 1e12, case.nodes, seconds)


def _rows(case: _Case, name: str) -> list[Row]:
    return [
        imported_row(
            name,
            "phase_time",
            "s",
            held,
            {"access": "forward and adjoint", "case": case.name, "ranks": case.processes, "nodes": case.nodes},
            [seconds],
        )
        for held, seconds in case.seconds.items()
    ]


# -- of one case -------------------------------------------------------------------------------------------------------


def _of_case(published: Published, case: _Case, node_dram_gb: float) -> list[Finding]:
    return [
        _implied(published),
        _needed(published),
        _nodes(case, node_dram_gb),
        *(_exposed(published, held, seconds) for held, seconds in case.seconds.items() if held != _MEMORY),
    ]


def _implied(case: Published) -> Finding:
    state, steps = case.state_bytes, case.steps
    text = (
        f"The files of the {case.name} case have {format_volume(state)} each. Each rank has {significant(steps, 5)} of "
        f"them, one a step. A step computes for {format_quantity(case.step_s, 's')} on average."
    )
    title = f"{case.name}: {significant(steps, 5)} steps, {format_volume(state)} a rank and step"
    return finding("published-states", title, text, case=case.name, state_bytes=state, steps=steps, step_s=case.step_s)


def _needed(case: Published) -> Finding:
    rate, files = case.needed_bytes_per_s, case.needed_files_per_s
    text = (
        f"To overlap all writes of the {case.name} case with its computation, storage must write {format_rate(rate)} "
        f"and create files at {format_operations(files)}."
    )
    title = f"{case.name}: writes overlap at {format_rate(rate)} or more"
    return finding("published-demand", title, text, case=case.name, bytes_per_s=rate, files_per_s=files)


def _nodes(case: _Case, node_dram_gb: float) -> Finding:
    needed = -(-case.dram_volume_tb * 1000 // node_dram_gb)
    most_gb = case.min_dram_nodes * node_dram_gb
    text = (
        f"{case.dram_volume_tb:g} TB in the memory of nodes with {node_dram_gb:g} GB need {needed:g} nodes at least. "
        f"The publication states {case.min_dram_nodes}, which hold {most_gb / 1000:.3g} TB."
    )
    differs = case.volume_tb != case.dram_volume_tb
    if differs:
        text += f" It states {case.volume_tb:g} TB of files elsewhere: the two volumes do not agree."
    title = f"{case.name}: {case.min_dram_nodes} nodes hold the states in memory"
    numbers = {"needed_nodes": needed, "stated_nodes": case.min_dram_nodes}
    return finding("published-nodes", title, text, "warning" if differs else "info", case=case.name, **numbers)


def _exposed(case: Published, held: str, seconds: float) -> Finding:
    exposed = case.exposed_s(seconds)
    rate, each = case.rate(exposed.value), exposed.value / (2 * case.files)
    text = (
        f"With the states in {held}, {format_quantity(exposed.value, 's')} of the {case.name} case "
        f"({exposed.low:g} to {exposed.high:g} s if times are rounded to 100 s) are exposed I/O. That is "
        f"{format_rate(rate)} of writes and reads, or {format_quantity(each, 's')} a file operation."
    )
    title = f"{case.name}: {percent(exposed.value / seconds)} of the time with {held} is exposed I/O"
    numbers = {"seconds": seconds, "exposed_s": exposed.value, "bytes_per_s": rate, "operation_s": each}
    return finding("published-exposed", title, text, case=case.name, target=held, **numbers)


# -- models over all cases ---------------------------------------------------------------------------------------------


def _across(cases: Sequence[tuple[Published, _Case]]) -> list[Finding]:
    files = [(published, case.seconds[_MEMORY_FILES]) for published, case in cases if _MEMORY_FILES in case.seconds]
    system = [(published, case.seconds[_FILE_SYSTEM]) for published, case in cases if _FILE_SYSTEM in case.seconds]
    have_two = [some for some in (files, system) if len(some) > 1]
    return [
        *([_pair(files)] if files in have_two and files[0][0].exposed_s(files[0][1]).value > 0 else []),
        *([_constant_rate(system)] if system in have_two and _all_exposed(system) else []),
    ]


def _all_exposed(cases: Sequence[tuple[Published, float]]) -> bool:
    return all(seconds > case.memory_s for case, seconds in cases) and len({case.ranks for case, _ in cases}) > 1


def _pair(cases: Sequence[tuple[Published, float]]) -> Finding:
    write_rate, read_rate = fitted_pair(cases, _READ_OVER_WRITE)
    fits = one_pair_fits(cases, write_rate, read_rate)
    said = ", ".join(
        f"{case.name} {case.exposed_with(write_rate, read_rate):.0f} s of {case.exposed_s(seconds).low:.0f} to "
        f"{case.exposed_s(seconds).high:.0f} s"
        for case, seconds in cases
    )
    text = (
        f"One pair of rates {'agrees' if fits else 'does not agree'} with {_MEMORY_FILES} within rounding: {said}. A "
        f"node writes {format_rate(write_rate)} and reads {format_rate(read_rate)} by it. The pair was fitted "
        f"to the {cases[0][0].name} case, with reads {_READ_OVER_WRITE:g} times as fast as writes."
    )
    title = f"One pair of rates {'fits' if fits else 'does not fit'} {_MEMORY_FILES}"
    numbers = {"write_bytes_per_s": write_rate, "read_bytes_per_s": read_rate, "fits": fits}
    return finding("published-fit", title, text, "info" if fits else "warning", **numbers)


def _constant_rate(cases: Sequence[tuple[Published, float]]) -> Finding:
    (small, small_s), (large, large_s) = cases[0], cases[-1]
    predicted = constant_rate_prediction(small, small_s, large)
    factor, power = large_s / predicted, exponent(small, small_s, large, large_s)
    fails = not 1 / _FITS <= factor <= _FITS
    rate = small.rate(small_s - small.memory_s)
    text = (
        f"The rate of the {small.name} case on {_FILE_SYSTEM}, {format_rate(rate)}, predicts {predicted:,.0f} s for "
        f"the {large.name} case. {large_s:,.0f} s were published, {times(factor)} as long. "
    )
    text += (
        f"A model with a constant rate {'fails' if fails else 'agrees'}. "
        f"The total rate changes as ranks^{power:.3f} from {small.ranks} to {large.ranks} ranks. "
        "Two points fit any power law, so they do not validate it."
    )
    error = f"{times(factor)} too little" if factor > 1 else f"{times(1 / factor)} too much"
    title = f"A constant rate of {_FILE_SYSTEM} {f'predicts {error}' if fails else 'fits'}"
    numbers = {"predicted_s": predicted, "published_s": large_s, "factor": factor, "exponent": power}
    return finding("published-contention", title, text, "warning" if fails else "info", **numbers)


IMPORTERS: Final = (
    Importer("stepfile_published", "JSON of published times of a simulation's states", recognises, read_cases),
)
