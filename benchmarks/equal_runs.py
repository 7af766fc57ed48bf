# SPDX-License-Identifier: Apache-2.0
"""Real runs of equal things on a busy machine, and how many of their reports say anything false.

Sweeps of two equal folders, each sweep compared with the one before, and searches over a variable that nothing reads.
Two endless loops take the cores meanwhile; LOOPS sets another number of them.

python -m benchmarks.equal_runs FOLDER [SWEEPS [TUNES [LOOPS]]]
"""

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from ullage.model.summary import Finding, Summary

SWEEP: Final = ["--block", "64K,256K,1M", "--ranks", "1,2", "--time", "60s"]
TUNE: Final = ["--over", "env:ULLAGE_UNREAD=a,b,c", "--objective", "write bandwidth", "--budget", "120s"]
TARGETS: Final = {"a", "b"}


@contextlib.contextmanager
def busy(loops: int) -> Generator[None]:
    """Keep ``loops`` endless loops running."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def ullage(*words: str) -> str:
    """Return what the command printed; SystemExit with its errors where it failed."""
    done = subprocess.run([sys.executable, "-m", "ullage", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"ullage {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def findings_of(result: Path) -> Sequence[Finding]:
    """Return what the report of a result says."""
    return Summary.model_validate_json((result / "summary.json").read_text()).findings


def false_of_sweep(result: Path) -> list[str]:
    """Return the findings that say of one folder that it is faster, slower or otherwise unlike its equal."""
    return [
        one.text
        for one in findings_of(result)
        if (one.kind == "crossover" and "cannot be told apart" not in one.text) or decided(one.numbers.get("verdict"))
    ]


def decided(verdict: object) -> bool:
    """Tell whether a ratio of targets, or one of its list, says more than that it cannot tell."""
    return any(word in str(verdict) for word in ("faster", "slower"))


def false_of_compare(earlier: Path, later: Path) -> list[str]:
    """Return the cells of a rerun that are said to be faster or slower."""
    done = json.loads(ullage("compare", str(earlier), str(later), "--by", "result", "--format", "json"))
    return [f"{cell['setting']}: {cell['outcome']}" for cell in done["cells"] if decided(cell["outcome"])]


def false_of_tune(result: Path) -> list[str]:
    """Return the findings that say that the variable, or a setting of it, changes anything."""
    return [one.text for one in findings_of(result) if one.gain is not None or one.kind == "tune-importance"]


def state(name: str, reports: Sequence[list[str]]) -> None:
    """Print how many reports are wrong, and what they say."""
    wrong = [told for told in reports if told]
    print(f"{name}: {len(wrong)} of {len(reports)} reports say anything false", flush=True)
    for told in wrong:
        print(*told, sep="\n    ")


def main(folder: Path, sweeps: int = 12, tunes: int = 6, loops: int = 2) -> None:
    """Run and count; results stay in ``folder``, which must be new."""
    folder.mkdir()
    for name in TARGETS:
        (folder / name).mkdir()
    targets = [word for name in sorted(TARGETS) for word in ("--target", f"{name}={folder / name}")]
    results = [folder / f"sweep-{i}" for i in range(sweeps)]
    searches = [folder / f"tune-{i}" for i in range(tunes)]
    with busy(loops):
        for result in results:
            ullage("run", "sweep", *targets, *SWEEP, "--result", str(result))
        for result in searches:
            ullage("tune", "sweep", *targets[:2], *TUNE, "--result", str(result))
    state("sweeps of two equal folders", [false_of_sweep(result) for result in results])
    state("reruns compared", [false_of_compare(*pair) for pair in pairwise(results)])
    state("searches over an unread variable", [false_of_tune(result) for result in searches])
    for name in TARGETS:
        shutil.rmtree(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
