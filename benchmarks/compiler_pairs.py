# SPDX-License-Identifier: Apache-2.0
"""The rows of suite `node` by two engines in turn, as that of g++ and that of the wheel: a table of ratios by part.

python -m benchmarks.compiler_pairs ENGINE OTHER [PAIRS [WORDS_OF_ULLAGE_RUN_NODE...]]

An engine is a path, or a preset that was built (openmpi, wheel). The ratio is ENGINE over OTHER, of rates and of times
so that above 1 is always the better ENGINE; shares of time that others took are no rows of it.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

ULLAGE: Final = Path(sys.executable).with_name("ullage")
PAIRS: Final = 5
# Of these metrics an engine makes no better code, or they have no scale.
NOT_OF_CODE: Final = ("share", "detour", "clock", "ratio")
Key = tuple[str, str, str]


def engine_of(name: str) -> Path:
    """Return the engine of a preset below build/, else the path itself."""
    built = Path(__file__).parents[1] / "build" / name / "ullage-engine"
    return built if built.is_file() else Path(name)


def rows(engine: Path, words: list[str], folder: Path) -> dict[Key, float]:
    """Run the suite once and return the median of each row, of times their inverse."""
    argv = [ULLAGE, "run", "node", "--engine", engine, "--no-peer", "--result", folder, *words]
    subprocess.run(argv, check=True, capture_output=True)
    measured: list[dict[str, Any]] = json.loads((folder / "summary.json").read_bytes())["rows"]
    return {
        (row["suite"], row["metric"], json.dumps(row["params"], sort_keys=True)): row["median"]
        if row["better"] == "more"
        else 1 / row["median"]
        for row in measured
        if row["median"] and not any(word in row["metric"] for word in NOT_OF_CODE)
    }


def table(ratios: dict[Key, list[float]]) -> list[str]:
    """Return a line a part and metric: the geometric mean of its rows' median ratios, and the least and the most."""
    parts = defaultdict[tuple[str, str], list[float]](list)
    for (suite, metric, _), of_pairs in ratios.items():
        parts[suite, metric].append(statistics.median(of_pairs))
    return [
        f"| {suite}, {metric} | {len(all_of)} | {math.exp(statistics.fmean(map(math.log, all_of))):.3f} "
        f"| {min(all_of):.3f} to {max(all_of):.3f} |"
        for (suite, metric), all_of in sorted(parts.items())
    ]


def main(left: str, right: str, pairs: str = str(PAIRS), *words: str) -> None:
    """Measure both in turn, the order changing each time, and print the table."""
    ratios = defaultdict[Key, list[float]](list)
    with tempfile.TemporaryDirectory() as place:
        for pair in range(int(pairs)):
            order = (left, right) if pair % 2 == 0 else (right, left)
            got = {
                name: rows(engine_of(name), list(words), Path(place) / f"{pair}-{i}") for i, name in enumerate(order)
            }
            for key in got[left].keys() & got[right].keys():
                ratios[key].append(got[left][key] / got[right][key])
    print(
        f"| part and metric | rows | {left} over {right} | of all rows |\n|---|---|---|---|", *table(ratios), sep="\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
