# SPDX-License-Identifier: Apache-2.0
"""Is this node as fast as it was, and as others of its kind: some launches of what stands for its parts, judged.

A number is the middle of five launches, since launches differ. What seems to be worse is measured again at once, and
counts only if that is worse, too. docs/statistics.md has how often that is wrong.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.campaign.check import CLASS, MARGIN, Checked, Kept, check, rows_of
from ullage.campaign.store import is_empty
from ullage.engine import devices_of
from ullage.errors import EXIT_ABORTED, UserError
from ullage.grouping import grouped
from ullage.launch.base import Launcher
from ullage.model.plan import Case, Layout
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.composite.steps import cells_like
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.lifecycle import run_to_end
from ullage.runs.options.reading import settled
from ullage.runs.progress import Progress
from ullage.runs.room import freeze_system
from ullage.runs.session import Session
from ullage.runs.suite import MOST, Headlines, find_suite

ROUNDS: Final = 5
LEVEL: Final = 0.9995
"""All verdicts of a check hold together with this. Half of the error is of numbers that seem to be worse."""
_FEWEST: Final = 3
_LOSS: Final = 0.9
# So many runs have to be known, of the node or of its kind: fewer do not tell how much runs differ.
_FEWEST_RUNS: Final = 8
_MOST_S: Final = 8.0
_BLOCK: Final = 8 << 20
_VOLUME: Final = 256 << 20
_WAYS: Final = ("write", "read")
_TOLD: Final = {
    "cpu": ("cores", "compute_rate"),
    "memory": ("memory", "memory_bandwidth"),
    "disk": ("disk", "bandwidth"),
    "gpu": ("memory", "device_bandwidth"),
}
_QUICK: Final = {"quick": True, "peer": False}
_OF_DISK: Final = {
    **_QUICK, "by": "threads", "threads": [1], "blocks": [_BLOCK], "depths": [1], "backend": "posix",
    "volume": _VOLUME, "min_repetitions": 1, "max_repetitions": 1,
}  # fmt: skip
_TRIAD: Final = {"kernel": "triad", "stores": "ordinary", "pages": "default", "block_bytes": 0}
_FORMS: Final[Mapping[str, tuple[Mapping[str, object], Headlines]]] = {
    "cpu": ({**_QUICK, "repetitions": 2, "types": ["fp64"]}, {"type": "fp64", "operation": "fma", "threads": MOST}),
    "memory": ({**_QUICK, "repetitions": 1}, {**_TRIAD, "threads": MOST, "working_set_bytes": MOST}),
    "disk": (_OF_DISK, {"transfer_bytes": _BLOCK, "order": "sequential"}),
    "gpu": ({"quick": True, "repetitions": 2}, {"kernel": "triad"}),
}
Word: TypeAlias = Literal["ok", "worse", "cannot tell"]


@dataclass
class Rounds:
    """Measures this node. ``ends_at``: when all has to be over, by ``now``; ``refused``: why a suite has no number."""

    context: EngineContext
    launcher: Launcher
    folder: Path
    request: Request
    ends_at: float
    now: Callable[[], float] = time.monotonic
    refused: dict[str, str] = field(default_factory=dict[str, str])
    _longest_s: float = 0.0
    _count: int = 0

    @cached_property
    def accelerators(self) -> list[str]:
        """The accelerators of this node that are no CPUs."""
        return [device.id for device in devices_of(self.context.engine).accelerators]

    def measure(self) -> list[Kept]:
        """Return the rows of five rounds, of fewer where the time is short, the middle of each number.

        A number that was disturbed in too many of them is not sound.
        """
        found: list[Kept] = []
        lacking = {*(() if self.request.targets else ("disk",)), *(() if self.accelerators else ("gpu",))}
        for done in range(ROUNDS):
            began = self.now()
            if began + self._longest_s > self.ends_at:
                self.refused["--time"] = f"{done} of {ROUNDS} launches of each part fit into it"
                break
            self._count += 1
            for suite in (name for name in _FORMS if name not in lacking):
                found += self._launch(suite)
            self._longest_s = max(self._longest_s, self.now() - began)
        return [middle(rows, self.request.run_id) for rows in grouped((row["id"], row) for row in found).values()]

    def _launch(self, suite: str) -> list[Kept]:
        form, wanted = _FORMS[suite]
        targets = {"targets": self.request.targets} if suite == "disk" else {}
        try:
            asked = settled(find_suite(suite).options, **form, **targets)
            own = {"suite": suite, "targets": asked.targets, "options": asked.options}
            request = self.request.model_copy(update={**own, "run_id": f"{self.request.run_id}.{suite}{self._count}"})
            result = ResultFolder.create(self.folder / f"{suite}{self._count}", request)
            prepared = find_suite(suite).prepare(request, self.context)
            cells = [(case, plan.layout) for plan in prepared.plans(result) for case in plan.cases]
            chosen = {case.id for case, _ in cells_like(wanted, cells)}

            def needed(case: Case, _layout: Layout) -> bool:
                return case.id in chosen

            session = Session(result, self.context, self.launcher, Progress(), _MOST_S, ends_at=self.ends_at)
            if isinstance(prepared, PreparedKernels):
                cases = [case for case in prepared.cases if case.case.id in chosen]
                prepared = replace(prepared, cases=cases, more=None)
            else:
                session.needed = needed
            freeze_system(result, prepared.request, self.context)
            # A launch whose time was over is aborted, too.
            if run_to_end(prepared, session) == EXIT_ABORTED and "interrupted" in session.messages:
                raise KeyboardInterrupt
            if session.messages:
                self.refused[suite] = session.messages[-1]
            return _best(suite, rows_of([result]))
        except UserError as error:
            self.refused[suite] = str(error)
            return []


def _best(suite: str, rows: Sequence[Kept]) -> list[Kept]:
    """Return the best row of each part of the machine, named as on the first screen of a report."""
    part, metric = _TOLD[suite]
    told = grouped((_named(part, metric, row), row) for row in rows if row["metric"] == metric)
    return [{**max(alike, key=lambda row: row["median"]), "part": name} for name, alike in told.items()]


def _named(part: str, metric: str, row: Kept) -> str:
    """Name the part of a row: each way of using a disk, and each accelerator, is one."""
    if metric == _TOLD["gpu"][1]:
        return f"{row['target']} {part}"
    access = next((way for way in _WAYS if f'"access":"{way}"' in row["params"]), "")
    return f"{part} {access}s" if access else part


def middle(rows: Sequence[Kept], run: str) -> Kept:
    """Return the row of the middle launch, of the undisturbed ones where these are enough, as one of ``run``.

    Its id is none that other runs have: of these a number is no middle of launches.
    """
    sound = [row for row in rows if row["sound"]]
    is_sound = len(sound) >= _FEWEST
    chosen = sorted(sound if is_sound else rows, key=lambda row: row["median"])
    return {**chosen[len(chosen) // 2], "run": run, "id": f"health-{rows[0]['id']}", "sound": is_sound}


@dataclass(frozen=True)
class Health:
    """What is known of a node. ``worse``: what is proved; ``reason``: why it cannot be told; ``rows``: as measured.

    ``past``: checks before it that know the least-known number.
    """

    word: Word
    rows: Sequence[Kept]
    worse: Sequence[Checked] = ()
    reason: str = ""
    past: int = 0


def judge(measure: Callable[[], list[Kept]], compare: Callable[[Sequence[Kept]], Sequence[Checked]]) -> Health:
    """Measure and compare, and do so once more where something seems to be worse.

    A node is well where a loss of 10 % would have been seen in each number.
    """
    first = measure()
    found = compare(first)
    if worse := _worse(found):
        ids = {one.row["id"] for one in worse}
        twice = {one.row["id"]: one for one in reversed(_worse(compare(measure()))) if one.row["id"] in ids}
        again = list(twice.values())[::-1]
        is_worse = "" if again else f"{worse[0].row['part']} was worse, and is not when measured again"
        return Health("worse" if again else "cannot tell", first, again, is_worse, worse[0].past)
    known = grouped((one.row["id"], one) for one in found)
    told = {
        name: [one.past for one in its if one.past >= _FEWEST_RUNS and one.low > _LOSS] for name, its in known.items()
    }
    if not all(told.values()) or not told:
        lacking = next((known[name][0] for name, its in told.items() if not its), None)
        why = "nothing was measured" if lacking is None else _why(lacking)
        return Health("cannot tell", first, reason=why, past=0 if lacking is None else lacking.past)
    return Health("ok", first, past=min(map(max, told.values())))


def _worse(found: Sequence[Checked]) -> list[Checked]:
    return [one for one in found if one.word == "worse" and one.past >= _FEWEST_RUNS]


def _why(one: Checked) -> str:
    """Say why it cannot be told whether a number is lower."""
    name = f"{one.row['part']} ({one.row['what']})"
    if one.reason and not one.row["sound"]:
        return one.reason
    if one.past >= _FEWEST_RUNS:
        return f"{name} differs too much between runs to see a loss of 10 %"
    return (
        f"of {name} {one.past or 'no'} run{'' if one.past == 1 else 's'} of {_FEWEST_RUNS} are known: --keep adds one"
    )


def compared(rows: Sequence[Kept], campaign: Path) -> list[Checked]:
    """Compare with what other nodes of the kind showed, where there are some, and with the node's own past."""
    if not rows or is_empty(campaign):
        return [Checked(row, "cannot tell") for row in rows]
    level = 1 - (1 - LEVEL) / 2
    of_kind = [one for one in check(rows, campaign, CLASS, MARGIN, level) if one.past]
    return [*check(rows, campaign, "campaign", MARGIN, level if of_kind else LEVEL), *of_kind]
