# SPDX-License-Identifier: Apache-2.0
"""What a launch costs at 2 to 512 oversubscribed ranks of one node, and a model of it for many more.

python -m benchmarks.scale [--engine PATH] [--most RANKS] [--most-of-case RANKS] [--patience SECONDS] [--keep FILE]

At each number of ranks the reductions run alone (`ullage-engine selftest reductions`), then a plan of one small case.
Memory and sizes of records are exact. Times are those of ranks that share the cores: how they grow says how the ranks
wait for each other's time slices, and is an upper bound for ranks that have a core each. The largest number of ranks is
held out of the fits and predicted. A size that would leave less than 6 GiB of memory free is not run.
"""

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self, cast

from benchmarks.engine_runs import mpi_name, plan_of
from ullage.arrays import np
from ullage.engine import describe, find_engine
from ullage.launch import choose_launcher
from ullage.model.plan import Layout, Named
from ullage.results.records import read_records

LEFT_FREE: Final = 6 << 30
TIMES: Final = 5
PATIENCE_S: Final = 240
FAR: Final = 100_000
_FEWEST_TO_FIT: Final = 4
_GUESS_PER_RANK: Final = 32 << 20
_OFTEN_TO: Final = 32
"""With more ranks each step is made once: they wait long for the cores."""


@dataclass(frozen=True)
class Model:
    """A cost of P ranks: ``constant`` + ``per_level`` log2 P + ``per_rank`` P, none of them negative."""

    constant: float
    per_level: float
    per_rank: float

    def at(self, ranks: int) -> float:
        """Return the cost at ``ranks``."""
        return self.constant + self.per_level * math.log2(ranks) + self.per_rank * ranks

    @property
    def growth(self) -> str:
        """The term that is largest at ``FAR`` ranks."""
        terms = {"O(1)": self.constant, "O(log P)": self.per_level * math.log2(FAR), "O(P)": self.per_rank * FAR}
        return max(terms, key=lambda name: terms[name])


def fit(points: Sequence[tuple[int, float]]) -> Model:
    """Fit the model to (ranks, cost) by least squares of the relative errors, with terms that are not negative.

    With three terms, all subsets of them are tried: the best solution without a negative term is the one wanted.
    """
    costs = np.array([max(cost, 1e-12) for _, cost in points])
    rows = np.array([[1.0, math.log2(ranks), ranks] for ranks, _ in points]) / costs[:, None]
    best, least = np.zeros(3), math.inf
    for chosen in (list(one) for count in (1, 2, 3) for one in itertools.combinations(range(3), count)):
        terms = np.zeros(3)
        terms[chosen] = np.linalg.lstsq(rows[:, chosen], np.ones(len(points)), rcond=None)[0]
        error = float(((rows @ terms - 1) ** 2).sum())
        if (terms >= 0).all() and error < least:
            best, least = terms, error
    return Model(*(float(term) for term in best))


@dataclass
class Measured:
    """What was seen at one number of ranks: times in s, sizes in bytes."""

    ranks: int
    times: dict[str, float] = field(default_factory=dict[str, float])
    sizes: dict[str, float] = field(default_factory=dict[str, float])


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


class Watch:
    """How far the available memory falls while this is open; others on the machine count, too."""

    def __enter__(self) -> Self:
        self._before = self._least = available_bytes()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._done.wait(0.1):
            self._least = min(self._least, available_bytes())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.taken_bytes = self._before - self._least


class Launches:
    """Starts the engine with so many ranks under its own launcher."""

    def __init__(self, folder: Path, patience_s: float) -> None:
        self.patience_s = patience_s
        self.engine = find_engine()
        self.launcher = choose_launcher(describe(self.engine))
        self.folder = folder

    def _run(self, layout: Layout, words: Sequence[str]) -> str:
        argv = self.launcher.argv(self.engine, Path("plan"), layout)
        started = [*argv[: argv.index(str(self.engine)) + 1], *words]
        environment = {**os.environ, **self.launcher.environment(layout)}
        done = subprocess.run(
            started, check=False, capture_output=True, text=True, env=environment, timeout=self.patience_s
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-400:])
        return done.stdout

    def reductions(self, found: Measured) -> None:
        """The reductions alone: time of each step, memory of the ranks, size of a phase record."""
        times = TIMES if found.ranks <= _OFTEN_TO else 1
        began = time.monotonic()
        with Watch() as watch:
            told = json.loads(self._run(Layout(ranks=found.ranks), ["selftest", "reductions", str(times)]))
        found.times["launch of the reductions"] = time.monotonic() - began
        found.times["MPI_Init"] = told["init_ns"] / 1e9
        for step in told["steps"]:
            found.times[step["name"]] = step["least_ns"] / 1e9
        memory = told["memory"]
        for when in ("before", "after"):
            found.sizes[f"private memory of a rank, {when}"] = memory[when]["private"]["sum"] / found.ranks
        found.sizes["largest resident set of a rank"] = memory["after"]["resident"]["most"]
        found.sizes["available memory taken, of each rank"] = watch.taken_bytes / found.ranks
        found.sizes["phase record of the reductions"] = told["record_bytes"]

    def case(self, found: Measured) -> None:
        """A plan of one small case: from the start to its first phase, and what it leaves in the records."""
        records = self.folder / f"{found.ranks}.ndjson"
        words = {"phases": ["write"], "transfer_bytes": 4096, "block_bytes": 65536, "verify": "none", "sync": "none"}
        layout = Layout(ranks=found.ranks)
        plan = plan_of("null:", Named(name="null"), dict(words), layout, records)
        path = self.folder / f"{found.ranks}.json"
        path.write_text(plan.model_dump_json(by_alias=True))
        began = time.monotonic()
        self._run(layout, ["run", str(path)])
        file = read_records(records)
        assert file.run is not None
        found.times["start to the first phase"] = (file.run.origin_ns + file.phases[0].start_ns) / 1e9 - began
        found.times["run of one case"] = time.monotonic() - began
        lines = records.read_bytes().splitlines()
        found.sizes["phase record of a case"] = max(len(line) for line in lines if b'"kind":"phase"' in line)
        found.sizes["all records of a case"] = sum(map(len, lines))
        start = time.process_time()
        read_records(records)
        found.times["reading its records (processor)"] = time.process_time() - start


def measure(launches: Launches, most: int, most_of_case: int) -> list[Measured]:
    """Measure at 2, 4, 8 ... ``most`` ranks, until memory or time is short; the case up to ``most_of_case``."""
    found: list[Measured] = []
    for ranks in (1 << level for level in range(1, most.bit_length())):
        taken = [one.sizes["available memory taken, of each rank"] for one in found[-1:]]
        needed, free = int(ranks * max(taken, default=_GUESS_PER_RANK) * 1.2), available_bytes()
        if free - needed < LEFT_FREE:
            print(f"{ranks} ranks were not run: they need {needed >> 20} MiB and {free >> 20} MiB are available")
            break
        one = Measured(ranks)
        began = time.monotonic()
        try:
            launches.reductions(one)
            if ranks <= most_of_case:
                launches.case(one)
        except (subprocess.TimeoutExpired, RuntimeError) as error:
            print(f"{ranks} ranks: {str(error)[-300:]}")
            break
        print(f"{ranks} ranks: {time.monotonic() - began:.1f} s", file=sys.stderr)
        found.append(one)
    return found


def table(found: Sequence[Measured], of: Callable[[Measured], dict[str, float]], unit: str, scale: float) -> str:
    """Return a table of the model's terms, what it says of the held-out point, and of many ranks.

    Quantities with too few sizes for a fit are left out.
    """
    heads = [f"{unit} at", *(str(one.ranks) for one in found), "a", "b log2 P", "c P", "last predicted", f"at {FAR:,}"]
    lines = ["| " + " | ".join([*heads, "grows"]) + " |", "|" + "---|" * (len(heads) + 1)]
    for name in of(found[0]):
        points = [(one.ranks, of(one)[name] * scale) for one in found if name in of(one)]
        if len(points) <= _FEWEST_TO_FIT:
            continue
        model = fit(points[:-1])
        seen, said = points[-1][1], model.at(points[-1][0])
        whole = fit(points)
        seen_at = dict(points)
        cells = [name, *(f"{seen_at[one.ranks]:.4g}" if one.ranks in seen_at else "-" for one in found)]
        cells += [f"{term:.3g}" for term in (model.constant, model.per_level, model.per_rank)]
        cells += [f"{said:.4g} ({100 * (said / seen - 1):+.0f} %)" if seen > 0 else "-", f"{whole.at(FAR):.4g}"]
        lines.append("| " + " | ".join([*cells, whole.growth]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and keep the numbers where asked."""
    words = argparse.ArgumentParser(description="What a launch costs by its number of ranks.")
    words.add_argument("--engine", help="path of an engine, or a preset that was built")
    words.add_argument("--most", type=int, default=512, help="the largest number of ranks")
    words.add_argument("--most-of-case", type=int, default=64, help="the largest number of ranks that run a case")
    words.add_argument("--patience", type=float, default=PATIENCE_S, help="the longest time of a launch, in s")
    words.add_argument("--keep", type=Path, help="write the numbers to this file")
    asked = words.parse_args()
    if asked.engine:
        built = Path(__file__).parents[1] / "build" / cast("str", asked.engine) / "ullage-engine"
        os.environ["ULLAGE_ENGINE"] = str(built if built.is_file() else asked.engine)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(
            Launches(Path(folder), cast("float", asked.patience)),
            cast("int", asked.most),
            cast("int", asked.most_of_case),
        )
    if asked.keep:
        kept = [{"ranks": one.ranks, "times_s": one.times, "sizes_bytes": one.sizes} for one in found]
        cast("Path", asked.keep).write_text(json.dumps(kept, indent=1) + "\n")
    print(f"{mpi_name()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    if len(found) <= _FEWEST_TO_FIT:
        print("too few sizes for a fit")
        return
    print(table(found, lambda one: one.times, "ms", 1e3))
    print(table(found, lambda one: one.sizes, "KiB", 1 / 1024))


if __name__ == "__main__":
    main()
