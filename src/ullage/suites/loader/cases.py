# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``loader``: the training set, and numbers of accelerators, one after the other. Pure."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.intervals import median_interval
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Target
from ullage.runs.cells.backends import DIRECT, direct_of, storage_backend
from ullage.runs.cells.planning import Cell, cell_of
from ullage.suites.loader.options import LoaderOptions, rule_samples
from ullage.uri import target_path

Verdict: TypeAlias = Literal["passes", "fails", "cannot tell"]
# Uses of all accelerators, one for each repetition, by their number.
Trials: TypeAlias = Mapping[int, Sequence[float]]
PASSES: Final = "passes"
FAILS: Final = "fails"


def verdict_of(samples: Sequence[float], limit: float, level: float) -> Verdict:
    """Tell whether the interval of the median lies at or above ``limit``, below it, or neither.

    Too few samples for an interval of ``level`` tell nothing.
    """
    if not samples:
        return "cannot tell"
    interval = median_interval(samples, level)
    if interval.below_level:
        return "cannot tell"
    return "passes" if interval.low >= limit else "fails" if interval.high < limit else "cannot tell"


@dataclass(frozen=True)
class Search:
    """A search for the largest number that passes, in steps of ``unit`` up to ``most``.

    A number is first looked at once. The largest that seems to pass, and the next one, are then repeated until they
    have ``repetitions``. If that changes what they seem, the search goes on.
    """

    unit: int
    most: int
    limit: float
    repetitions: int

    def next(self, trials: Trials) -> tuple[int, int] | None:
        """Return the number to measure next and how many repetitions it lacks, or None when the answer is there."""
        passing, failing = self.bracket(trials)
        if failing is None:
            if passing == 0:
                return self.unit, 1
            if passing < self._last:
                return min(2 * passing, self._last), 1
        elif failing - passing > self.unit:
            return passing + (failing - passing) // self.unit // 2 * self.unit, 1
        lacking = [n for n in (passing, failing) if n and len(trials.get(n, ())) < self.repetitions]
        return (lacking[0], self.repetitions - len(trials.get(lacking[0], ()))) if lacking else None

    def bracket(self, trials: Trials) -> tuple[int, int | None]:
        """Return the largest number that seems to pass below the smallest that does not; None where none fails."""
        failing = min((n for n, samples in trials.items() if samples and median(samples) < self.limit), default=None)
        below = [n for n, samples in trials.items() if samples and (failing is None or n < failing)]
        return max(below, default=0), failing

    @property
    def _last(self) -> int:
        return self.most // self.unit * self.unit


def next_listed(done: Mapping[int, int], repetitions: int) -> tuple[int, int] | None:
    """Return the first of the numbers with the fewest repetitions, once: so the repetitions of all lie side by side.

    ``done``: the repetitions that each number has.
    """
    fewest = min(done.values(), default=repetitions)
    return None if fewest >= repetitions else (next(number for number in done if done[number] == fewest), 1)


WORKLOAD: Final = "loader"
DATASET: Final = "samples"
_MEMORY: Final = "memory"
_PAGE: Final = 4096
_WORD: Final = 8
# Without a second step there is no time to judge an accelerator by.
_FEWEST_STEPS: Final = 2


@dataclass(frozen=True)
class LoaderCell(Cell):
    """A case that reads ``samples`` for so many ``accelerators``; 0 for the one that makes the training set alone."""

    accelerators: int = 0
    samples: int = 0


def holds_data(backend: Registered) -> bool:
    """Tell whether what was written can be read again."""
    return "data" in backend.capabilities


def usual_samples(options: LoaderOptions, memory_bytes: int) -> int:
    """Return how many samples the rule of the published runs wants; with ``--steps`` as many as those take."""
    most = options.most_accelerators
    if options.steps is not None:
        return options.steps * options.batch_samples * most
    return rule_samples(options.mean_bytes, options.batch_samples, most, memory_bytes)


def fewest_samples(options: LoaderOptions) -> int:
    """Return the samples of two steps of the smallest number of accelerators."""
    return _FEWEST_STEPS * options.batch_samples * (min(options.accelerators) if options.accelerators else 1)


def set_bytes(options: LoaderOptions, samples: int) -> int:
    """Return the bytes that ``samples`` take at most, with what a file takes of blocks; one in a billion takes more."""
    spread = 6 * options.deviation_bytes * math.sqrt(samples)
    return math.ceil(samples * (options.mean_bytes + _WORD) + spread) + files_of(options, samples) * _PAGE


def files_of(options: LoaderOptions, samples: int) -> int:
    """Return the files of so many samples."""
    return -(-samples // samples_a_file(options))


def samples_a_file(options: LoaderOptions) -> int:
    """Return the samples of a file."""
    return options.samples_per_file or options.of.samples_per_file


def fitted_samples(options: LoaderOptions, wanted: int, most_bytes: int, most_files: int) -> int:
    """Return ``wanted`` samples, or the most that fit into the room where that is less."""

    def is_too_much(samples: int) -> bool:
        return set_bytes(options, samples) > most_bytes or files_of(options, samples) > most_files

    return max(0, bisect_left(range(wanted + 1), x=True, key=is_too_much) - 1)


def most_that_fit(options: LoaderOptions, samples: int) -> int:
    """Return the most accelerators for which there are two steps each."""
    return samples // (_FEWEST_STEPS * options.batch_samples)


@dataclass(frozen=True)
class CellMaker:
    """Makes the cases of one run. ``samples``: of the training set; ``cores``: of a node, None when not known."""

    options: LoaderOptions
    description: Describe
    samples: int
    cores: int | None

    @property
    def unit(self) -> int:
        """Nodes, which have equally many accelerators."""
        return self.options.nodes or self.options.hosts or 1

    def layout(self, target: Target, accelerators: int) -> Layout:
        """Place the ranks that host so many accelerators: no rank is bound, since its threads need other cores."""
        options = self.options
        if accelerators % self.unit:
            what = f"{accelerators} accelerators cannot be shared evenly by {self.unit} nodes"
            raise UserError(what, "--accelerators", f"write multiples of {self.unit}", EXIT_BAD_INPUT)
        ranks = min(accelerators, self._most_ranks) if holds_data(self.backend(target)) else accelerators
        return place_ranks(ranks, options.nodes, options.ranks_per_node, self.cores, options.hosts, "none")

    @property
    def _most_ranks(self) -> int:
        return max(self.options.ranks // self.unit * self.unit, self.unit)

    def backend(self, target: Target) -> Registered:
        """Return the backend of a target."""
        return storage_backend(target, self.options.backend, self.description)

    def lasts(self, target: Target) -> bool:
        """Tell whether the training set stays from launch to launch, so that it is made once."""
        return target_path(target) is not None

    def makes(self, target: Target) -> LoaderCell:
        """Return the case that makes the training set of a target, by all ranks."""
        layout = self.layout(target, self._most_ranks)
        parameters: Parameters = {**self._set(), "data": "make", "epochs": 0}
        return self._cell(target, layout, parameters, 0, self.samples)

    def reads(self, target: Target, accelerators: int) -> LoaderCell:
        """Return the case of so many accelerators."""
        options, has_data = self.options, holds_data(self.backend(target))
        if not has_data and options.verify not in (None, "none"):
            raise UserError("the backend stores no data to verify", "--verify", "use --verify none")
        samples = self.samples_of(accelerators)
        parameters: Parameters = {
            **self._set(),
            "data": "use" if self.lasts(target) else "make" if has_data else "none",
            "epochs": options.epochs,
            "read_samples": samples,
            "accelerators": accelerators,
            "batch": options.batch_samples,
            "step_s": options.pace_s,
            "threads": (options.threads or options.of.threads) if has_data else 1,
            "ahead": options.ahead,
            "cache": "advise" if options.cache == "advise" and has_data else "none",
            "verify": (options.verify or "kept") if has_data else "none",
        }
        return self._cell(target, self.layout(target, accelerators), parameters, accelerators, samples)

    def samples_of(self, accelerators: int) -> int:
        """Return how many samples so many accelerators read in an epoch."""
        options = self.options
        if options.steps is None:
            return self.samples
        return min(self.samples, options.steps * options.batch_samples * accelerators)

    def _set(self) -> Parameters:
        options = self.options
        return {
            "samples": self.samples,
            "samples_per_file": samples_a_file(options),
            "sample_bytes": options.mean_bytes,
            "deviation_bytes": options.deviation_bytes,
            "unit_bytes": _PAGE if options.cache == DIRECT else _WORD,
            "transfer_bytes": options.block,
            "seed": options.seed,
        }

    def _cell(
        self, target: Target, layout: Layout, parameters: Parameters, accelerators: int, samples: int
    ) -> LoaderCell:
        found = self.backend(target)
        own: Parameters = {"pages": "shared"} if found.name == _MEMORY else {}
        own |= direct_of(found, self.options.cache)
        cell = cell_of(target, layout, (found.name, own), (WORKLOAD, parameters), self.description)
        case = cell.case.model_copy(update={"dataset": DATASET if self.lasts(target) else ""})
        return LoaderCell(case, target, layout, accelerators=accelerators, samples=samples)
