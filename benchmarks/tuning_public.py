# SPDX-License-Identifier: Apache-2.0
"""How close the search of `ullage tune` comes to the best of tables that others have measured in full.

nice python -m benchmarks.tuning_public FOLDER [TRIALS] [SEEDS] [FIRST_SEED] [TABLE ...]

FOLDER holds tables NAME_AllNumeric.csv of DeepPerf (Ha and Zhang 2019) or cache files NAME.json.gz of the benchmark hub
for auto-tuning. Each trial reads its time from the table, with lognormal noise. The default is the table's first
setting in the order of the values, which is what a user has who gives none. For each table, noise and method a line
says how many searches choose a setting that reaches 95 % of the best, and what the least and the middle one reach.
"""

import csv
import gzip
import json
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import cpu_count
from pathlib import Path
from statistics import median
from typing import Any, Final

from ullage.analysis.tuning.methods import make_search
from ullage.analysis.tuning.search import Trial
from ullage.analysis.tuning.space import Dimension, Setting, Space

NOISES: Final = (0.05, 0.10)
METHODS: Final = ("model", "random")
ENOUGH: Final = 0.95
# Columns of which each setting has one at most are values of one parameter. The second list is of those in an order.
GROUPS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "Dune": {"precon": ["SeqSOR", "SeqGS"], "solver": ["CGSolver", "BiCGSTABSolver", "LoopSolver", "GradientSolver"]},
    "hsmgp": {
        "smoother": [f"Smoother_{name}" for name in ("GS", "JAC", "GSRB", "GSRBAC", "GSACBE", "GSAC")],
        "cgs": ["CGS_IP_CG", "CGS_IP_AMG", "CGS_RED_AMG"],
    },
    "x264": {
        "lookahead": ["rc_lookahead_20", "rc_lookahead_40", "rc_lookahead_60"],
        "ref": ["ref_1", "ref_5", "ref_9"],
    },
    "BDBC": {"page": ["PS1K", "PS4K", "PS8K", "PS16K", "PS32K"], "cache": ["CS16MB", "CS32MB", "CS64MB", "CS512MB"]},
}
ORDERED: Final = ("lookahead", "ref", "page", "cache")
NONE: Final = "none"


@dataclass(frozen=True)
class Table:
    """All settings of a space with their times; settings that cannot be had are not among them."""

    space: Space
    times: Mapping[Setting, float]

    def share(self, setting: Setting) -> float:
        """What of the best speed the setting reaches."""
        return min(self.times.values()) / self.times[setting] if setting in self.times else 0.0


@cache
def table_of(path: Path) -> Table:
    """Read a table; parameters whose values are all numbers have an order."""
    rows = list(_rows_of_hub(path) if path.suffix == ".gz" else _rows_of_columns(path))
    names = list(rows[0][0])
    dimensions: list[Dimension] = []
    for name in names:
        values = {setting[name] for setting, _ in rows}
        numeric = all(_number(value) is not None for value in values)
        dimensions.append(Dimension(name, tuple(_in_order(name, values, path)), ordered=numeric or name in ORDERED))
    times = {
        tuple(one.values.index(setting[one.name]) for one in dimensions): seconds
        for setting, seconds in rows
        if seconds is not None
    }
    first = (0,) * len(dimensions)
    return Table(Space(tuple(dimensions), first if first in times else min(times)), times)


def _in_order(name: str, values: set[str], path: Path) -> list[str]:
    order = [*GROUPS.get(_name(path), {}).get(name, []), NONE]
    return sorted(values, key=lambda text: (_number(text) or 0.0, order.index(text) if text in order else -1, text))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _name(path: Path) -> str:
    if path.suffix == ".gz":
        return f"{path.parent.name} {path.name.partition('.')[0]}"
    return path.stem.removesuffix("_AllNumeric")


def _rows_of_columns(path: Path) -> Iterator[tuple[dict[str, str], float | None]]:
    """Columns that are 1 in all settings, or that only say that a parameter is there, tell nothing."""
    groups = GROUPS.get(_name(path), {})
    with path.open(newline="") as file:
        head, *lines = list(csv.reader(file))
    grouped = {column for columns in groups.values() for column in columns}
    places = [place for place, name in enumerate(head[:-1]) if name not in grouped]
    single = [place for place in places if len({line[place] for line in lines}) > 1]
    for line in lines:
        setting = {head[place]: line[place] for place in single}
        for name, columns in groups.items():
            setting[name] = next((one for one in columns if float(line[head.index(one)]) > 0), NONE)
        yield setting, float(line[-1])


def _rows_of_hub(path: Path) -> Iterator[tuple[dict[str, str], float | None]]:
    """A setting that could not be compiled or run has a word in the place of its time."""
    with gzip.open(path) as file:
        said: dict[str, Any] = json.load(file)
    names = [name for name in said["tune_params_keys"] if len(said["tune_params"][name]) > 1]
    for one in said["cache"].values():
        seconds = one.get("time")
        yield {name: str(one[name]) for name in names}, float(seconds) if isinstance(seconds, (int, float)) else None


def search(path: Path, method: str, noise: float, trials: int, seed: int) -> float:
    """What the setting reaches that one search chooses."""
    table, done = table_of(path), list[Trial]()
    draw, sigma = random.Random(f"{_name(path)}/{seed}"), math.sqrt(math.log1p(noise**2))
    made = make_search(method, table.space, seed)
    while (ask := made.next(done, trials - len(done))) is not None:
        seconds = table.times.get(ask.setting)
        log = None if seconds is None else draw.gauss(0.0, sigma) - math.log(seconds)
        done.append(Trial(ask.setting, ask.purpose, log))
    return table.share(made.chosen(done))


def main(folder: Path, trials: int, seeds: int, first: int, names: Sequence[str]) -> None:
    """Search all tables below ``folder``, or those of these ``names``, by every method."""
    paths = [*folder.rglob("*_AllNumeric.csv"), *folder.rglob("*.json.gz")]
    with ProcessPoolExecutor(cpu_count()) as pool:
        for path in sorted(path for path in paths if not names or _name(path) in names):
            table = table_of(path)
            begins = f"{_name(path)}, {len(table.times)} settings, default {table.share(table.space.default):.3f}"
            for noise in NOISES:
                for method in METHODS:
                    job = partial(search, path, method, noise, trials)
                    shares = sorted(pool.map(job, range(first, first + seeds)))
                    good = sum(share >= ENOUGH for share in shares)
                    reach = f"{good} of {seeds} reach 95 %, {shares[0]:.3f} (least), {median(shares):.3f} (median)"
                    print(f"{begins}, noise {noise:.0%}, {method}: {reach}", flush=True)


if __name__ == "__main__":
    words = [*sys.argv[1:5], *("60", "20", "1")[max(0, len(sys.argv) - 2) :]]
    main(Path(words[0]), int(words[1]), int(words[2]), int(words[3]), sys.argv[5:])
