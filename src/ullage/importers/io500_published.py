# SPDX-License-Identifier: Apache-2.0
"""Published IO500 tables as JSON: {"runs": [{"nodes", "ppn", "phases": {NAME: [VALUE, SECONDS]}, "score": {...}}]}.

Values are GiB/s (which the first releases print as GB/s) and kIOPS with 3 decimals. Each run becomes a target, named by
its nodes and ranks per node: ``160x16``.
"""

from typing import Annotated, Final

from pydantic import Field, ValidationError

from ullage.errors import UserError
from ullage.importers import Importer
from ullage.importers.io500_result import summary_of_runs
from ullage.model.base import Strict
from ullage.model.plan import Scalar
from ullage.model.summary import Summary
from ullage.suites.io500.official import OfficialRun, PhaseResult, Printed, ScoreResult, printed
from ullage.suites.io500.phases import BY_NAME, find_phase

_PHASE_OFF: Final = 0.0005
Amount = Annotated[float, Field(ge=0, le=1e15)]
Count = Annotated[int, Field(ge=1, le=1 << 31)]


class _Score(Strict):
    bandwidth: Amount
    iops: Amount
    total: Amount


class _Run(Strict):
    nodes: Count
    ppn: Count
    phases: Annotated[dict[str, tuple[Amount, Amount]], Field(min_length=1)]
    score: _Score


class _Published(Strict):
    source: str
    units: dict[str, str] = {}
    runs: Annotated[list[_Run], Field(min_length=1)]
    note: str = ""


def recognises(text: str) -> bool:
    """A JSON object with runs that have a phase of IO500."""
    return text.lstrip().startswith("{") and '"runs"' in text and "ior_easy_write" in text


def read_published(text: str, name: str) -> Summary:
    """The summary of a published table. ``UserError`` names the place of the first mistake."""
    try:
        table = _Published.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        what = f"{place}: {first['msg']}" if place else first["msg"]
        raise UserError(
            what, name, "write runs with nodes, ppn, phases and score, as the published form has it"
        ) from error
    labels = _labels(table.runs)
    runs = [(label, _official(run, name), _params(run)) for label, run in zip(labels, table.runs, strict=True)]
    return summary_of_runs(runs, name)


def _labels(runs: list[_Run]) -> list[str]:
    """``160x16``, ``160x16 (2)``."""
    plain = [f"{run.nodes}x{run.ppn}" for run in runs]
    counts = [plain[: index + 1].count(label) for index, label in enumerate(plain)]
    return [label if count == 1 else f"{label} ({count})" for label, count in zip(plain, counts, strict=True)]


def _params(run: _Run) -> dict[str, Scalar]:
    return {"nodes": run.nodes, "ranks": run.nodes * run.ppn}


def _official(run: _Run, name: str) -> OfficialRun:
    phases: list[PhaseResult] = []
    for key, (value, elapsed) in run.phases.items():
        phase = find_phase(key)
        if phase is None:
            raise UserError(f"unknown phase '{key}'", name, f"the phases are {', '.join(BY_NAME)}")
        phases.append(PhaseResult(phase.name, Printed(value, _PHASE_OFF), elapsed))
    order = list(BY_NAME)
    phases.sort(key=lambda phase: order.index(phase.name))
    bandwidth, metadata, total = (
        printed(repr(part)) for part in (run.score.bandwidth, run.score.iops, run.score.total)
    )
    return OfficialRun(tuple(phases), {"standard": ScoreResult(bandwidth, metadata, total)}, ranks=run.nodes * run.ppn)


IMPORTER = Importer("io500_published", "JSON of published IO500 tables", recognises, read_published)
