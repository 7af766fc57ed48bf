# SPDX-License-Identifier: Apache-2.0
"""Every public IO500 folder is imported with every number right, by a parser that shares nothing with the importer.

Source: IO500/submission-data at f610b34 (2026-02-18), submissions of 2018 to 2025 in the forms of all releases.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from support.data import some
from support.public_data import unpacked
from ullage import importers
from ullage.model.summary import Summary

_read = cache(importers.read)
_METADATA = ("mdtest", "find", "mdworkbench")
_UNSCORED = ("timestamp", "mdworkbench-create", "mdworkbench-delete", "ior-rnd4K-easy-read")
_EXTENDED = ("ior-rnd", "mdworkbench", "find-easy", "find-hard")
# Of 133 submissions two have no result: one is a configuration, one the output of the parts. A larger part has more.
_SUBMISSIONS, _FOLDERS = 131, 143
_WANTED = ("result.txt", "result_summary.txt", "ior-easy-write.txt", "ior-hard-write.txt")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return all folders with a result."""
    root = unpacked("io500", tmp_path_factory.mktemp("io500"), lambda path: PurePosixPath(path).name in _WANTED)
    found = sorted({path.parent for name in _WANTED[:2] for path in root.rglob(name)})
    submissions = {match[0] for path in found if (match := re.match(r".*/submission-\d+", str(path)))}
    assert len(submissions) >= _SUBMISSIONS
    assert len(found) >= _FOLDERS
    return found


def _lines_of(text: str) -> dict[str, tuple[float, float]]:
    """Return value and seconds of each phase in a result_summary.txt."""
    found: dict[str, tuple[float, float]] = {}
    for line in text.splitlines():
        words = line.replace("[", " [ ").replace("]", " ] ").split()
        if ":" not in words or "time" not in words or words[:1] != ["["]:
            continue
        colon = words.index(":")
        found[words[colon - 3].replace("_", "-")] = (float(words[colon - 2]), float(words[words.index("time") + 1]))
    return found


def _sections_of(text: str) -> dict[str, dict[str, str]]:
    """Return the pairs of a result.txt by section; what stands before the first is in ``run``."""
    found: dict[str, dict[str, str]] = {"run": {}}
    section = "run"
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            found.setdefault(section, {})
        elif "=" in line and not line.startswith(";"):
            key, _, value = line.partition("=")
            found[section][key.strip()] = value.strip()
    return found


def _phases_of(folder: Path) -> dict[str, tuple[float, float | None]]:
    """Return value and seconds of each phase that ran, from the form with more digits."""
    if not (folder / "result.txt").exists():
        lines = _lines_of((folder / "result_summary.txt").read_text(errors="replace"))
        return {name: pair for name, pair in lines.items() if pair[0] > 0}
    sections = _sections_of((folder / "result.txt").read_text(errors="replace"))
    return {
        name: (float(pairs["score"]), float(pairs["t_delta"]) if "t_delta" in pairs else None)
        for name, pairs in sections.items()
        if name not in ("run", "SCORE", "SCOREX") and float(pairs.get("score", 0)) > 0
    }


def _factor(phase: str) -> float:
    return 1e3 if phase.startswith(_METADATA) else 2.0**30


def _scores_of(values: Mapping[str, float], *, extended: bool) -> tuple[float, float, float]:
    """Return bandwidth, metadata and total of the values in GiB/s and kIOPS."""
    counted = {
        name: value
        for name, value in values.items()
        if name not in _UNSCORED and (extended or not name.startswith(_EXTENDED))
    }
    metadata = [value for name, value in counted.items() if name.startswith(_METADATA)]
    bandwidth = [value for name, value in counted.items() if not name.startswith(_METADATA)]
    halves = [math.prod(half) ** (1 / len(half)) for half in (bandwidth, metadata)]
    return halves[0], halves[1], math.sqrt(halves[0] * halves[1])


def _imported(summary: Summary, metric: str) -> dict[str, float]:
    return {str(row.params["phase"]): row.median for row in summary.rows if row.metric == metric}


def test_every_rate_and_time_of_every_folder_is_right(folders: list[Path]) -> None:
    for folder in some(folders):
        summary, phases = _read(folder), _phases_of(folder)
        rates = {**_imported(summary, "bandwidth"), **_imported(summary, "operation_rate")}
        scored = {name: pair for name, pair in phases.items() if name not in _UNSCORED[:3]}
        expected = {name: value * _factor(name) for name, (value, _) in scored.items()}
        assert rates == pytest.approx(expected, rel=1e-12), folder
        times = {name: seconds for name, (_, seconds) in scored.items() if seconds is not None}
        assert _imported(summary, "phase_time") == pytest.approx(times, rel=1e-12), folder
        ranks = re.search(r"^procs\s*=\s*(\d+)", _text_of(folder), re.MULTILINE)
        assert {row.params.get("ranks") for row in summary.rows} == {int(ranks[1]) if ranks else None}, folder


def _text_of(folder: Path) -> str:
    return "".join((folder / name).read_text(errors="replace") for name in _WANTED[:2] if (folder / name).exists())


def _printed_scores(folder: Path) -> list[float]:
    """Return bandwidth, metadata and total as they are printed, from the form with more digits."""
    if (folder / "result.txt").exists():
        pairs = _sections_of((folder / "result.txt").read_text(errors="replace"))["SCORE"]
        return [float(pairs[key].split()[0]) for key in ("BW", "MD", "SCORE")]
    line = re.search(r"^\[SCORE *\] .*$", (folder / "result_summary.txt").read_text(errors="replace"), re.MULTILINE)
    assert line, folder
    return [float(re.search(rf"{word} +([\d.]+)", line[0])[1]) for word in ("Bandwidth", "IOPS", "TOTAL")]  # type: ignore[index]


def test_every_printed_score_is_read_and_is_ours(folders: list[Path]) -> None:
    """Phases are printed with 3 to 6 digits; scripts of before May 2018 print a product as the total."""
    products = 0
    for folder in some(folders):
        summary, printed = _read(folder), _printed_scores(folder)
        found = next(found for found in summary.findings if found.kind == "io500-recomputed")
        assert found.numbers["printed"] == printed, folder
        scores = {score.name: score.value for score in summary.scores}
        bandwidth, metadata, total = (scores[f"IO500{part}"] or 0.0 for part in (" bandwidth", " metadata", ""))
        is_product = printed[2] == pytest.approx(printed[0] * printed[1], rel=0.01)
        products += is_product
        assert [bandwidth, metadata, total**2 if is_product else total] == pytest.approx(printed, rel=0.01), folder
    assert products < len(folders) / 10


def test_every_score_is_that_of_its_own_release(folders: list[Path]) -> None:
    """What is printed follows from the phases, also where random phases counted, and nothing is said against it."""
    for folder in some(folders):
        summary, phases = _read(folder), _phases_of(folder)
        values = {name: value for name, (value, _) in phases.items()}
        ours = {score.name: score.value for score in summary.scores}
        for extended, name in ((False, "IO500"), (True, "IO500 extended")):
            if name in ours:
                names = (f"{name} bandwidth", f"{name} metadata", name)
                expected = _scores_of(values, extended=extended)
                assert [ours[one] for one in names] == pytest.approx(expected, rel=1e-9), folder
        recomputed = [found for found in summary.findings if found.kind == "io500-recomputed"]
        assert recomputed, folder
        assert {found.severity for found in recomputed} == {"info"}, folder


def test_no_phases_contradict_each_other_where_the_write_has_the_fewest_items(folders: list[Path]) -> None:
    told = [
        (folder, str(found.numbers["dataset"]))
        for folder in folders
        for found in _read(folder).findings
        if found.kind == "io500-arithmetic"
    ]
    for folder, dataset in some(told):
        phases = {name: pair for name, pair in _phases_of(folder).items() if name.startswith(f"{dataset}-")}
        items = {name: value * seconds for name, (value, seconds) in phases.items() if seconds}
        assert min(items, key=items.__getitem__) != f"{dataset}-write", folder


def _walls_of(folder: Path) -> Iterator[tuple[str, float]]:
    """Yield the rate at the wall of the writing phases by what IOR has printed: mean data of a rank, and seconds."""
    for phase in ("ior-easy-write", "ior-hard-write"):
        path = folder / f"{phase}.txt"
        text = path.read_text(errors="replace") if path.exists() else ""
        wall = re.search(r"mean data: ([\d.]+) GiB time: ([\d.]+)s", text)
        tasks = re.search(r"^tasks\s*:\s*(\d+)", text, re.MULTILINE)
        if wall and tasks and float(wall[1]) >= 1:
            yield phase, float(wall[1]) * int(tasks[1]) / float(wall[2]) * 2**30


def test_a_rate_at_the_wall_is_what_ior_printed_of_it_or_is_left_out(folders: list[Path]) -> None:
    """Releases of 2020 print it times the number of ranks, and over the time of the whole phase."""
    kept = left = 0
    for folder in some(folders):
        summary = _read(folder)
        walls, said = _imported(summary, "stonewall_bandwidth"), _text_of(folder)
        is_of_2020 = re.search(r"^version\s*=\s*io500-i?sc20", said, re.MULTILINE)
        assert not (is_of_2020 and walls), folder
        if "throughput-stonewall" in said and not walls:
            left += 1
            assert [found.kind for found in summary.findings].count("io500-wall") == 1, folder
        for phase, rate in _walls_of(folder):
            if phase in walls:
                kept += 1
                # IOR prints the mean with one decimal.
                assert walls[phase] == pytest.approx(rate, rel=0.06), (folder, phase)
    assert min(kept, left) > 0


def test_the_rate_at_the_wall_of_2020_is_times_the_ranks_and_no_number_of_mib(folders: list[Path]) -> None:
    """Printed value / ranks x the phase's time are the bytes that IOR printed; as MiB/s nearly all are far off."""
    as_mib: list[bool] = []
    for folder in (one for one in folders if (one / "result.txt").exists()):
        sections = _sections_of((folder / "result.txt").read_text(errors="replace"))
        for phase, rate in _walls_of(folder):
            printed = float(sections[phase].get("throughput-stonewall", 0))
            if printed < 20 * rate / 2**30:
                continue
            text = (folder / f"{phase}.txt").read_text(errors="replace")
            ranks, wall_s = (float(re.search(rf"{word} *:? *([\d.]+)", text)[1]) for word in ("tasks", "GiB time:"))  # type: ignore[index]
            seconds = float(sections[phase]["t_delta"])
            # The phase begins some seconds before IOR's timer, and IOR prints the bytes with one decimal.
            assert printed / ranks * seconds == pytest.approx(rate / 2**30 * wall_s, rel=0.13), (folder, phase)
            as_mib.append(printed / 2**10 == pytest.approx(rate / 2**30, rel=0.1))
    assert len(as_mib) >= 30
    assert sum(as_mib) <= len(as_mib) / 10
