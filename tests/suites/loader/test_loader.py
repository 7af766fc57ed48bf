# SPDX-License-Identifier: Apache-2.0
"""The options, sizes, search and cases of suite ``loader``."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.simulated_engine import with_workloads
from support.suite_words import options_of, put_on, request_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Target
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.suites.loader.cases import (
    CellMaker,
    Search,
    files_of,
    fitted_samples,
    next_listed,
    set_bytes,
    usual_samples,
    verdict_of,
)
from ullage.suites.loader.options import PRESETS, LoaderOptions, rule_samples
from ullage.suites.loader.prepare import PreparedLoader, prepare_loader

GB = 1_000_000_000


def describe() -> Describe:
    """The simulated engine with workload ``loader``."""
    return with_workloads("loader")


def options(**words: object) -> LoaderOptions:
    return options_of(LoaderOptions, **{"target": ["a=/a"], "ranks": 2, **words})


def prepare(tmp_path: Path, **words: object) -> PreparedLoader:
    usual: dict[str, object] = {"target": [f"here={tmp_path}"], "ranks": 2, "samples": 400}
    return prepare_loader(
        request_of("loader", LoaderOptions, **{**usual, **words}), EngineContext(tmp_path / "engine", describe())
    )


def test_presets_are_those_published() -> None:
    assert {name: (p.sample_bytes, p.deviation, p.samples_per_file) for name, p in PRESETS.items()} == {
        "unet3d": (146_600_628, 68_341_808, 1),
        "resnet50": (114_660, 0, 1251),
        "cosmoflow": (2_828_486, 71_311, 1),
    }
    assert {name: (p.batch, p.step_s["h100"], p.step_s["a100"], p.limit) for name, p in PRESETS.items()} == {
        "unet3d": (7, 0.323, 0.636, 0.9),
        "resnet50": (400, 0.224, 0.435, 0.9),
        "cosmoflow": (1, 0.0035, 0.00551, 0.7),
    }


@pytest.mark.parametrize(("name", "gb_s"), [("unet3d", 3.18), ("resnet50", 0.205), ("cosmoflow", 0.81)])
def test_what_an_accelerator_reads_at_full_use(name: str, gb_s: float) -> None:
    found = options(preset=name)
    assert found.batch_samples * found.mean_bytes / found.pace_s / GB == pytest.approx(gb_s, rel=0.01)


def test_said_values_go_before_those_of_the_preset() -> None:
    found = options(preset="unet3d", pace_of="a100", sample="1M", batch=3, limit="80%", compute="10ms")
    assert (found.mean_bytes, found.batch_samples, found.least_use, found.pace_s) == (1 << 20, 3, 0.8, 0.01)
    assert found.deviation_bytes == round(68_341_808 * (1 << 20) / 146_600_628)
    assert options(preset="unet3d", pace_of="a100").pace_s == 0.636
    assert options(quick=True, sample="4K").samples == 857, "3 s of steps of 3.5 ms"
    unpaced = LoaderOptions.settle({"quick": True, "sample_bytes": 4096, "step_s": 0.0})
    assert unpaced["samples"] == (256 << 20) // 4096
    quick = options(quick=True)
    assert (quick.samples, quick.epochs, quick.most, quick.repetitions) == ((256 << 20) // 2_828_486, 2, 8, 2)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"preset": "bert"}, "--preset"),
        ({"pace_of": "tpu"}, "--pace-of"),
        ({"accelerators": "0"}, "--accelerators"),
        ({"block": "100"}, "--block 100: 100 bytes are not a multiple of 4"),
        ({"steps": 1}, "--steps"),
        ({"limit": "150%"}, "--limit"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_rule_wants_500_steps_of_each_accelerator_or_5_times_the_memory() -> None:
    assert rule_samples(100, 7, 2, 0) == 7000
    assert rule_samples(100, 7, 2, 1_000_000) == 50_000
    assert usual_samples(options(preset="unet3d", most=4), 0) == 500 * 7 * 4
    assert usual_samples(options(preset="unet3d", most=4, steps=20), 64 * GB) == 20 * 7 * 4


@given(st.integers(1, 1 << 44), st.integers(1, 100_000), st.integers(1, 100_000))
def test_as_many_samples_as_there_is_room_for(room: int, files: int, wanted: int) -> None:
    asked = options(preset="resnet50")
    found = fitted_samples(asked, wanted, room, files)
    assert 0 <= found <= wanted
    if found:
        assert set_bytes(asked, found) <= room
        assert files_of(asked, found) <= files
    if found < wanted:
        assert set_bytes(asked, found + 1) > room or files_of(asked, found + 1) > files


def test_a_verdict_needs_an_interval_on_one_side_of_the_limit() -> None:
    assert verdict_of([0.95] * 6, 0.9, 0.95) == "passes"
    assert verdict_of([0.85] * 6, 0.9, 0.95) == "fails"
    assert verdict_of([0.85, 0.95] * 3, 0.9, 0.95) == "cannot tell"
    assert verdict_of([0.95] * 5, 0.9, 0.95) == "cannot tell"
    assert verdict_of([], 0.9, 0.95) == "cannot tell"


def device(capacity: float) -> "dict[int, float]":
    """AU of a device that serves so many accelerators at full use."""
    return {n: min(1.0, capacity / n) for n in range(1, 65)}


@given(st.floats(0.1, 80), st.integers(1, 64), st.sampled_from([1, 2, 4]), st.sampled_from([0.7, 0.9]))
def test_the_largest_number_that_passes_is_found(capacity: float, most: int, unit: int, limit: float) -> None:
    most = max(most, unit)
    use = device(capacity)
    search = Search(unit, most, limit, 6)
    trials: dict[int, list[float]] = {}
    launches = 0
    while (wanted := search.next(trials)) is not None:
        number, repetitions = wanted
        assert number % unit == 0
        assert unit <= number <= most
        trials.setdefault(number, []).extend([use[number]] * repetitions)
        launches += 1
    passing = max((n for n in range(unit, most + 1, unit) if use[n] >= limit), default=0)
    found, failing = search.bracket(trials)
    assert found == passing
    assert failing == (passing + unit if passing + unit <= most else None)
    assert all(len(trials[n]) == 6 for n in (found, failing) if n)
    assert launches <= 16


def test_a_number_that_seemed_to_pass_and_does_not_is_given_up() -> None:
    search = Search(1, 8, 0.9, 6)
    trials = {1: [1.0], 2: [0.95], 3: [0.5]}
    assert search.next(trials) == (2, 5)
    trials[2] += [0.7] * 5
    assert search.next(trials) == (1, 5)
    trials[1] += [1.0] * 5
    assert search.next(trials) is None
    assert search.bracket(trials) == (1, 2)


def test_listed_numbers_are_measured_in_turn() -> None:
    done, order = {1: 0, 4: 0}, list[int]()
    while (wanted := next_listed(done, 2)) is not None:
        order.append(wanted[0])
        done[wanted[0]] += wanted[1]
    assert order == [1, 4, 1, 4]


def maker(**words: object) -> CellMaker:
    return CellMaker(options(**words), describe(), 1000, 4)


def test_the_set_is_made_once_by_all_ranks_and_read_by_each_number(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, accelerators="1,3", repetitions=2)
    result = ResultFolder.create(tmp_path / "result", prepared.request)
    plans = prepared.plans(result)
    assert [plan.layout.ranks for plan in plans] == [2, 1, 2]
    assert {plan.cases[0].dataset for plan in plans} == {"samples"}
    assert [plan.cases[0].workload.parameters.get("data", "make") for plan in plans] == ["make", "use", "use"]
    assert [plan.cases[0].workload.parameters.get("accelerators", 0) for plan in plans] == [0, 1, 3]
    assert [plan.continues for plan in plans] == [False, True, True]
    assert all(plan.keep and plan.layout.binding == "none" and plan.order == "listed" for plan in plans)


def test_a_device_without_data_has_a_rank_for_each_accelerator() -> None:
    cell = maker(target=["m=model:"]).reads(Target(name="m", uri="model:"), 3)
    parameters = cell.case.workload.parameters
    assert (cell.layout.ranks, cell.case.dataset) == (3, "")
    found = [parameters[name] for name in ("data", "threads", "verify", "cache")]
    assert found == ["none", 1, "none", "none"]


def test_steps_bound_what_an_epoch_reads() -> None:
    cells = maker(steps=20, batch=4)
    assert [cells.samples_of(n) for n in (1, 2, 100)] == [80, 160, 1000]


def test_nodes_have_equally_many_accelerators() -> None:
    cells = maker(nodes=2)
    assert (cells.unit, cells.layout(Target(name="a", uri="posix:/a"), 4).nodes) == (2, 2)
    with pytest.raises(UserError, match="3 accelerators cannot be shared evenly by 2 nodes"):
        cells.layout(Target(name="a", uri="posix:/a"), 3)


def test_sizes_follow_from_the_room_and_what_is_smaller_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_on(monkeypatch, tmp_path, 10 * GB, free_bytes=20 * GB, free_inodes=1 << 40)
    prepared = prepare(tmp_path, samples=None, most=4)
    assert prepared.options.samples is not None
    assert 2000 < prepared.options.samples < 9 * GB // 2_828_486
    (note,) = prepared.notes
    assert note.code == "fewer-samples"
    assert "fewer than a published run has" in note.text
    assert prepare_loader(prepared.request, EngineContext(tmp_path / "engine", describe())).options == prepared.options
    explained = prepared.explain()
    assert "is searched, up to 4" in " ".join(explained.head)
    assert [row[2] for row in explained.rows] == ["1"]


@pytest.mark.parametrize(
    ("room", "inodes", "words", "expected"),
    [
        (2 * GB, 1 << 40, {"samples": 5000}, "needs 13.2 GiB"),
        (200 * GB, 3000, {"samples": 5000}, "needs 5,000 files"),
        (200 * GB, 1 << 40, {"preset": "resnet50", "samples": 500}, "not two batches of 400"),
    ],
)
def test_want_of_room_is_said_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: int, inodes: int, words: dict[str, object], expected: str
) -> None:
    put_on(monkeypatch, tmp_path, 10 * GB, free_bytes=room, free_inodes=inodes)
    with pytest.raises(UserError) as caught:
        prepare(tmp_path, **words)
    assert expected in str(caught.value)
    assert caught.value.code == 3
