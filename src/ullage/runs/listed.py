# SPDX-License-Identifier: Apache-2.0
"""Runs of rounds: all cases once, in their order, on named datasets that later launches go on with."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from ullage.cleaning import PREFIX
from ullage.model.plan import Case, Layout, Limits, Named, Plan, Target
from ullage.model.request import Request
from ullage.reading import open_regular, parse_json
from ullage.runs.execution import LaunchSpec
from ullage.uri import target_path

_LONGEST_MANIFEST: Final = 16 << 20


def listed_plan(
    request: Request,
    spec: LaunchSpec,
    layout: Layout,
    target: Target,
    cases: Sequence[Case],
    *,
    watchdog_s: float,
    space: int | None,
    resumable: bool,
) -> Plan:
    """Return the plan of one launch of a round on ``target``.

    ``space``: most bytes to take of it, None: as the engine has it. Rounds differ in their seed, so that data of an
    earlier round is never taken for that of a later one.
    """
    return Plan(
        run_id=request.run_id,
        suite=request.suite,
        records=spec.records,
        seed=spec.turn + 1,
        layout=layout,
        targets=[target],
        stop_rule=Named(name="fixed", parameters={"count": spec.repetitions[1]}),
        time_budget_s=spec.seconds,
        # A case that was disturbed cannot be repeated alone: those that follow use its dataset, or use it up.
        watchdog_s=watchdog_s,
        limits=Limits(space_bytes=space),
        order="listed",
        keep=spec.keep,
        keep_when_interrupted=resumable,
        continues=spec.continues,
        cases=list(cases),
    )


def datasets_there(target: Target, run_id: str) -> set[str]:
    """Return the named datasets that an earlier launch of the run has left whole at ``target``, by its manifest."""
    path = target_path(target)
    if path is None:
        return set()
    try:
        with open_regular(path / f"{PREFIX}{run_id}" / "manifest.ndjson") as stream:
            lines = stream.read(_LONGEST_MANIFEST).splitlines()
    except OSError:
        return set()
    there: dict[str, bool] = {}
    for line in lines:
        entry = _entry(line)
        if "facts" in entry and isinstance(name := entry.get("dataset"), str):
            there[name] = entry["facts"] is not None
    return {name for name, is_there in there.items() if is_there}


def _entry(line: bytes) -> Mapping[str, object]:
    """Return the content of a manifest's line, which is empty where a crash cut the line short."""
    try:
        content = parse_json(line)
    except ValueError:
        return {}
    return cast("Mapping[str, object]", content) if isinstance(content, dict) else {}
