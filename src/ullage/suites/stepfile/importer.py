# SPDX-License-Identifier: Apache-2.0
"""Published times of a simulation that keeps its states (N3D/Semtex), as JSON, and what follows from them.

The time with the states in memory is taken as the time of the computation. All else is exposed I/O.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from ullage.analysis.findings.phrasing import finding
from ullage.errors import UserError
from ullage.importers.rows import IMPORT_SUITE, Importer, document_of, imported_row
from ullage.model.base import Strict
from ullage.model.summary import Finding, Row, Summary
from ullage.quantity import format_quantity, percent, significant, times
from ullage.units import format_operations, format_rate, format_volume

_FILE_SYSTEM: Final = "filesystem"
_MEMORY_FILES: Final = "pmem_as_io"
_MEMORY: Final = "pmem_as_memory"
_PHASES: Final = 2
"""Every state is written once and read once."""
_ROUNDING_S: Final = 50.0
"""By so much a published time may be off."""
# Reads of persistent memory are about three times as fast as writes.
_READ_OVER_WRITE: Final = 3.0
_FITS: Final = 1.5

Amount = Annotated[float, Field(gt=0, le=1e12)]
Count = Annotated[int, Field(ge=1, le=1 << 40)]


class _Case(Strict):
    """A published case. ``seconds`` has the time of the run for each place that held the states."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    processes: Count
    files: Count
    volume_tb: Amount
    dram_volume_tb: Amount
    nodes: Count
    min_dram_nodes: Count
    seconds: Annotated[dict[str, Amount], Field(min_length=1)]

    @property
    def memory_s(self) -> float:
        """The time of the computation."""
        return self.seconds[_MEMORY]

    @property
    def volume_bytes(self) -> float:
        """Bytes of all files."""
        return self.volume_tb * 1e12

    def exposed_s(self, held: str) -> float:
        """Return the exposed I/O with the states in ``held``."""
        return self.seconds[held] - self.memory_s

    def exposed_between(self, held: str) -> tuple[float, float]:
        """Return what ``exposed_s`` may be: both times are rounded."""
        exposed = self.exposed_s(held)
        return exposed - 2 * _ROUNDING_S, exposed + 2 * _ROUNDING_S

    def rate(self, held: str) -> float:
        """Return the bytes written and read over the exposed I/O."""
        return _PHASES * self.volume_bytes / self.exposed_s(held)

    def exposed_with(self, write_rate: float, read_rate: float) -> float:
        """Return the exposed I/O with one pair of rates of every node."""
        each = self.volume_bytes / self.nodes
        return each / write_rate + each / read_rate


class _Table(Strict):
    source: str = ""
    cases: Annotated[list[_Case], Field(min_length=1)]
    node_dram_gb: Amount


def recognises(text: str) -> bool:
    """Tell whether ``text`` is a JSON object with cases that state processes, files and seconds."""
    return text.lstrip().startswith("{") and '"cases"' in text and f'"{_MEMORY}"' in text


def read_cases(text: str, name: str) -> Summary:
    """Return the summary of published cases; raise ``UserError`` with the place of the first mistake."""
    table = document_of(_Table, text, name, "write cases with processes, files, volume_tb, nodes and seconds")
    for index, case in enumerate(table.cases):
        if _MEMORY not in case.seconds:
            raise UserError(f"cases/{index}/seconds: no '{_MEMORY}'", name, "give the time without exposed I/O")
    rows = [row for case in table.cases for row in _rows(case, name)]
    found: list[Finding] = []
    for case in table.cases:
        found += [_implied(case), _needed(case), _nodes(case, table.node_dram_gb)]
        found += [_exposed(case, held) for held in case.seconds if held != _MEMORY]
    findings = [*found, *_across(table.cases)]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings)


def _rows(case: _Case, name: str) -> list[Row]:
    params = {"access": "forward and adjoint", "case": case.name, "ranks": case.processes, "nodes": case.nodes}
    return [
        imported_row(name, "phase_time", "s", held, {**params}, [seconds]) for held, seconds in case.seconds.items()
    ]


def _implied(case: _Case) -> Finding:
    state, steps = case.volume_bytes / case.files, case.files / case.processes
    step_s = case.memory_s / _PHASES / steps
    text = (
        f"The files of the {case.name} case have {format_volume(state)} each. Each rank has {significant(steps, 5)} of "
        f"them, one a step. A step computes for {format_quantity(step_s, 's')} on average."
    )
    title = f"{case.name}: {significant(steps, 5)} steps, {format_volume(state)} a rank and step"
    return finding("published-states", title, text, case=case.name, state_bytes=state, steps=steps, step_s=step_s)


def _needed(case: _Case) -> Finding:
    """State what hides the writes behind the computation of the forward phase."""
    rate, files = (amount / (case.memory_s / _PHASES) for amount in (case.volume_bytes, case.files))
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


def _exposed(case: _Case, held: str) -> Finding:
    exposed, (low, high), rate = case.exposed_s(held), case.exposed_between(held), case.rate(held)
    each, seconds = exposed / (2 * case.files), case.seconds[held]
    text = (
        f"With the states in {held}, {format_quantity(exposed, 's')} of the {case.name} case "
        f"({low:g} to {high:g} s if times are rounded to 100 s) are exposed I/O. That is "
        f"{format_rate(rate)} of writes and reads, or {format_quantity(each, 's')} a file operation."
    )
    title = f"{case.name}: {percent(exposed / seconds)} of the time with {held} is exposed I/O"
    numbers = {"seconds": seconds, "exposed_s": exposed, "bytes_per_s": rate, "operation_s": each}
    return finding("published-exposed", title, text, case=case.name, target=held, **numbers)


def _across(cases: Sequence[_Case]) -> list[Finding]:
    files, system = ([case for case in cases if held in case.seconds] for held in (_MEMORY_FILES, _FILE_SYSTEM))
    all_exposed = all(case.exposed_s(_FILE_SYSTEM) > 0 for case in system)
    return [
        *([_pair(files)] if len(files) > 1 and files[0].exposed_s(_MEMORY_FILES) > 0 else []),
        *([_constant_rate(system)] if len({case.processes for case in system}) > 1 and all_exposed else []),
    ]


def _pair(cases: Sequence[_Case]) -> Finding:
    """Fit the write and read rate of a node to the first case, and tell whether they give the others."""
    first = cases[0]
    write_rate = first.volume_bytes / first.nodes * (1 + 1 / _READ_OVER_WRITE) / first.exposed_s(_MEMORY_FILES)
    read_rate = write_rate * _READ_OVER_WRITE
    predicted = [
        (case, case.exposed_with(write_rate, read_rate), *case.exposed_between(_MEMORY_FILES)) for case in cases
    ]
    fits = all(low <= seconds <= high for _, seconds, low, high in predicted)
    said = ", ".join(
        f"{case.name} {seconds:.0f} s of {low:.0f} to {high:.0f} s" for case, seconds, low, high in predicted
    )
    text = (
        f"One pair of rates {'agrees' if fits else 'does not agree'} with {_MEMORY_FILES} within rounding: {said}. A "
        f"node writes {format_rate(write_rate)} and reads {format_rate(read_rate)} by it. The pair was fitted "
        f"to the {first.name} case, with reads {_READ_OVER_WRITE:g} times as fast as writes."
    )
    title = f"One pair of rates {'fits' if fits else 'does not fit'} {_MEMORY_FILES}"
    numbers = {"write_bytes_per_s": write_rate, "read_bytes_per_s": read_rate, "fits": fits}
    return finding("published-fit", title, text, "info" if fits else "warning", **numbers)


def _constant_rate(cases: Sequence[_Case]) -> Finding:
    """Predict the last case with the rate of the first; and the b of rate ~ ranks^b through both."""
    small, large = cases[0], cases[-1]
    rate, large_s = small.rate(_FILE_SYSTEM), large.seconds[_FILE_SYSTEM]
    predicted = large.memory_s + _PHASES * large.volume_bytes / rate
    power = math.log(large.rate(_FILE_SYSTEM) / rate) / math.log(large.processes / small.processes)
    factor = large_s / predicted
    fails = not 1 / _FITS <= factor <= _FITS
    text = (
        f"The rate of the {small.name} case on {_FILE_SYSTEM}, {format_rate(rate)}, predicts {predicted:,.0f} s for "
        f"the {large.name} case. {large_s:,.0f} s were published, {times(factor)} as long. "
        f"A model with a constant rate {'fails' if fails else 'agrees'}. "
        f"The total rate changes as ranks^{power:.3f} from {small.processes} to {large.processes} ranks. "
        "Two points fit any power law, so they do not validate it."
    )
    error = f"{times(factor)} too little" if factor > 1 else f"{times(1 / factor)} too much"
    title = f"A constant rate of {_FILE_SYSTEM} {f'predicts {error}' if fails else 'fits'}"
    numbers = {"predicted_s": predicted, "published_s": large_s, "factor": factor, "exponent": power}
    return finding("published-contention", title, text, "warning" if fails else "info", **numbers)


IMPORTER: Final = Importer(
    "stepfile_published", "JSON of published times of a simulation's states", recognises, read_cases
)
