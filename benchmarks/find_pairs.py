# SPDX-License-Identifier: Apache-2.0
"""Workload `find` beside GNU find on a million files whose names and inodes are cached, in pairs.

python -m benchmarks.find_pairs FOLDER [PAIRS] [--engine PATH|PRESET]
"""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, mpi_name
from benchmarks.pairs import measure
from ullage.engine import describe, find_engine
from ullage.launch import choose_launcher
from ullage.model.plan import Case, Layout, Named, Parameters, Plan, Target
from ullage.model.record import PhaseRecord
from ullage.results.records import read_records

FILES: Final = 1_000_000
ITEM_BYTES: Final = 3901


@dataclass(frozen=True)
class Tree:
    """``FILES`` files in ``directories``, every other one of ``ITEM_BYTES`` bytes, the others empty."""

    name: str
    directories: int


TREES: Final = (Tree("one directory", 1), Tree("1000 directories", 1000))
TESTS: Final[tuple[tuple[str, Parameters], ...]] = (
    ("-newer -size -name", {"newer": True, "size": f"{ITEM_BYTES}c", "name": "*01*"}),
    ("-size", {"size": f"{ITEM_BYTES}c"}),
)


class Place:
    """A run folder that one launch has made and later ones go on with, and the tree in it."""

    def __init__(self, folder: Path, tree: Tree) -> None:
        self.folder = folder
        self.run_id = "bench-" + secrets.token_hex(4)
        self.phase({"phases": ["timestamp"]}, ranks=1)
        self.run_folder = folder / f"ullage-{self.run_id}"
        self.stamp = self.run_folder / "stamp" / "data"
        for i in range(tree.directories):
            fill(self.run_folder / f"tree.{i}", FILES // tree.directories)

    def phase(self, parameters: Parameters, ranks: int) -> PhaseRecord:
        """The phase of a launch of one case."""
        engine = find_engine()
        launcher = choose_launcher(describe(engine))
        with tempfile.TemporaryDirectory() as folder:
            records = Path(folder) / "records.ndjson"
            plan = self.plan(parameters, ranks, records)
            path = Path(folder) / "plan.json"
            path.write_text(plan.model_dump_json(by_alias=True))
            environment = {**os.environ, **launcher.environment(plan.layout)}
            words = launcher.argv(engine, path, plan.layout)
            done = subprocess.run(words, check=False, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip())
            return read_records(records).phases[0]

    def plan(self, parameters: Parameters, ranks: int, records: Path) -> Plan:
        """One repetition of one case, which leaves everything for the next launch."""
        return Plan(
            run_id=self.run_id,
            suite="benchmark",
            records=str(records),
            layout=Layout(ranks=ranks),
            targets=[Target(name="t", uri=f"posix:{self.folder}")],
            stop_rule=Named(name="fixed", parameters={"count": 1}),
            keep=True,
            continues=True,
            cases=[
                Case(
                    id=secrets.token_hex(8),
                    target="t",
                    dataset="stamp",
                    backend=Named(name="posix"),
                    workload=Named(name="find", parameters=parameters),
                )
            ],
        )


def fill(directory: Path, files: int) -> None:
    """Make files as mdtest names them."""
    directory.mkdir()
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    for i in range(files):
        file = os.open(f"file.mdtest.0.{i}", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=at)
        if i % 2 == 0:
            os.ftruncate(file, ITEM_BYTES)
        os.close(file)
    os.close(at)


def gnu_words(place: Place, parameters: Parameters) -> list[str]:
    """The same search for GNU find."""
    words = ["find", str(place.run_folder)]
    words += ["-name", str(parameters["name"])] if "name" in parameters else []
    words += ["-newer", str(place.stamp)] if "newer" in parameters else []
    return words + (["-size", str(parameters["size"])] if "size" in parameters else [])


def gnu(place: Place, parameters: Parameters) -> float:
    """Files a second."""
    start = time.perf_counter()
    subprocess.run(
        gnu_words(place, parameters), check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}
    )
    return FILES / (time.perf_counter() - start)


def ullage(place: Place, parameters: Parameters, ranks: int) -> float:
    """The same of the phase."""
    return FILES / (place.phase(parameters, ranks).elapsed_ns / 1e9)


def agree(place: Place, parameters: Parameters) -> None:
    """End the benchmark where the two do not find the same number of entries."""
    names = subprocess.run([*gnu_words(place, parameters), "-print0"], check=True, capture_output=True).stdout
    found = place.phase(parameters, 2).counters["found"]
    if found != names.count(b"\0"):
        raise RuntimeError(f"ullage finds {found} entries, find {names.count(0)}")


def main() -> None:
    """Print the table."""
    words = arguments()
    pairs = int(words[1]) if len(words) > 1 else 9
    print(f"{mpi_name()}\n")
    print("| what | ullage | find | ratio | of all pairs |\n|---|---|---|---|---|")
    for tree in TREES:
        with tempfile.TemporaryDirectory(dir=Path(words[0]).resolve()) as folder:
            place = Place(Path(folder), tree)
            for tests, parameters in TESTS:
                agree(place, parameters)
                theirs = partial(gnu, place, parameters)
                for ranks in (1, 2):
                    result = measure(partial(ullage, place, parameters, ranks), theirs, pairs)
                    name = f"{tests}, {tree.name}, {ranks} rank{'s' if ranks > 1 else ''}"
                    print(result.line(name, "M/s", 1e6), flush=True)
            shutil.rmtree(place.run_folder)


if __name__ == "__main__":
    main()
