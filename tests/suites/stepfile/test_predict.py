# SPDX-License-Identifier: Apache-2.0
"""A prediction of a stepfile: what it measures, what it says, and what it refuses."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.suites.stepfile.test_stepfile import describe, row

from support.simulated_engine import built_engine
from support.suite_words import options_of, request_of
from ullage.errors import UserError
from ullage.model.request import Request
from ullage.model.summary import Finding
from ullage.quantity import plural
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.suites.stepfile.options import KnownRate
from ullage.suites.stepfile.predict import PreparedPrediction, prepare_prediction, said_of
from ullage.suites.stepfile.predicted import PredictOptions, cached_shares, predictions, ranks_to_measure
from ullage.suites.stepfile.suite import fewest_kept, recomputations

MIB = 1 << 20
USUAL: dict[str, object] = {"ranks": "4", "steps": 100, "bytes": "1M", "compute": "10ms", "layout": "dir-per-rank"}


def options(**words: object) -> PredictOptions:
    return options_of(PredictOptions, **{"target": ["disk=/a"], **USUAL, **words})


def prepare(tmp_path: Path, **words: object) -> PreparedPrediction:
    return prepare_prediction(
        request_of("predict-stepfile", PredictOptions, **{"target": [f"disk={tmp_path}"], **USUAL, **words}),
        EngineContext(built_engine(), describe()),
    )


def rate(phase: str, wall_s: float, **changes: object) -> KnownRate:
    usual: dict[str, object] = {
        "run_id": "r0",
        "phase": phase,
        "target": "disk",
        "backend": "posix",
        "layout": "dir-per-rank",
        "order": "reverse",
        "cache": "none",
        "ranks": 4,
        "steps": 100,
        "state_bytes": MIB,
        "depth": 0,
        "walls_s": [wall_s * 0.98, wall_s, wall_s * 1.02],
        "state_s": wall_s / 100,
        "sound": True,
    }
    return KnownRate.model_validate({**usual, **changes})


RATES = [rate("forward", 0.5), rate("adjoint", 0.25)]
CACHED = {"disk": True}


def of_kind(found: list[Finding], kind: str) -> list[Finding]:
    return [one for one in found if one.kind == kind]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"ranks": "1,2"}, "--ranks 1,2: a prediction is for one number of ranks"),
        ({"order": "revolve:4"}, "--order revolve:4: what revolve costs is computed from its formula"),
        ({"compute": None}, "--compute: a prediction needs the computation of a step"),
        ({"target": ["a=/a", "b=/b"], "spill": True}, "--spill: each target is predicted by itself"),
        ({"rates": Path("/nowhere")}, "/nowhere"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("ranks", "cores", "expected"),
    [(1, 2, [1, 2]), (1, 8, [1, 2, 4]), (4, 4, [1, 2, 4]), (6, 6, [3, 6]), (3, 3, [3]), (2, 6, [2, 4])],
)
def test_rates_are_measured_with_more_ranks_or_with_fewer(ranks: int, cores: int, expected: list[int]) -> None:
    assert ranks_to_measure(ranks, cores) == expected


def cells_of(prepared: PreparedPrediction) -> set[tuple[object, ...]]:
    return {
        (
            cell.layout.ranks,
            "run" if "compute_s" in cell.case.workload.parameters else "rates",
            cell.case.workload.parameters.get("cache", "none"),
            cell.case.workload.parameters.get("steps", 100),
        )
        for cell in prepared.cells
    }


def test_rates_and_run_are_cases_of_the_same_files(tmp_path: Path) -> None:
    small = {"ranks": "2", "steps": 10, "page_cache": "1G"}
    found = cells_of(prepare(tmp_path, **small))
    assert {(2, "run", "none", 10), (2, "rates", "none", 10)} <= found
    assert {kind for _, kind, _, _ in found} == {"run", "rates"}
    assert all(cache == "none" for _, _, cache, _ in found)
    alone = cells_of(prepare(tmp_path, **small, no_run=True))
    assert alone == {one for one in found if one[1] == "rates"}


def test_what_a_cache_cannot_hold_is_measured_from_storage_and_from_the_cache(tmp_path: Path) -> None:
    found = cells_of(prepare(tmp_path, ranks="2", steps=40, page_cache="20M", no_run=True))
    assert (2, "rates", "drop", 40) in found
    assert (2, "rates", "none", 5) in found, "half of the 10 states of a rank that stay"
    forward = cells_of(prepare(tmp_path, ranks="2", steps=40, page_cache="20M", order="forward", no_run=True))
    assert {cache for _, _, cache, _ in forward} == {"drop"}, "nothing that is read comes from the cache"


def test_fewer_steps_for_the_rates_are_said(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, ranks="2", rate_steps=10)
    assert (2, "rates", "none", 10) in cells_of(prepared)
    assert [note.code for note in prepared.notes] == ["fewer-steps"]


def test_known_rates_answer_without_a_measurement() -> None:
    found = said_of(options(page_cache="10G"), predictions(options(page_cache="10G"), RATES, CACHED))
    forward, adjoint = of_kind(found, "predicted-phase")
    assert forward.numbers["predicted_s"] == pytest.approx(1.5)
    assert adjoint.numbers["predicted_s"] == pytest.approx(1.25)
    asked = f"With {plural(options().ranks[0], 'rank')}, the forward phase "
    assert forward.text.startswith(asked)
    assert forward.title.startswith(asked)
    assert "takes 1.50 s (1 sigma: 1.49 s to 1.51 s) by the measured rates. Of that, 500 ms is exposed" in forward.text
    assert forward.numbers["measured_s"] is None
    (requirement,) = of_kind(found, "predicted-requirement")
    assert requirement.numbers["needed_files_per_s"] == pytest.approx(400)
    assert requirement.numbers["reached_files_per_s"] == [pytest.approx(800)]
    assert "disk (dir-per-rank) 839 MB/s and 800 op/s" in requirement.text
    assert "With layout log, no file is created at a step." in requirement.text


def test_the_run_stands_beside_with_the_error() -> None:
    runs = [
        row("phase_time", phase, [1.6] * 3, "dir-per-rank").model_copy(update={"target": "disk"})
        for phase in ("forward", "adjoint")
    ]
    found = said_of(options(page_cache="10G"), predictions(options(page_cache="10G"), RATES, CACHED, runs))
    forward, adjoint = of_kind(found, "predicted-phase")
    assert "The run took 1.60 s. Of that, 600 ms was exposed I/O." in forward.text
    assert "The prediction of the exposed I/O is 16.7 % too short." in forward.text
    assert adjoint.numbers["error"] == pytest.approx(0.25 / 0.6 - 1)
    assert (forward.severity, adjoint.severity) == ("info", "info")
    dirty = [one.model_copy(update={"grade": "C"}) for one in runs]
    found = said_of(options(page_cache="10G"), predictions(options(page_cache="10G"), RATES, CACHED, dirty))
    assert all(one.numbers["error"] is None for one in of_kind(found, "predicted-phase"))
    assert "Other work disturbed the run, so it is not compared." in found[0].text


def test_helper_threads_hide_what_is_shorter_than_the_computation() -> None:
    asked = options(page_cache="10G", prefetch=2, write_behind=2)
    rates = [one.model_copy(update={"depth": 2}) for one in RATES]
    forward, adjoint = of_kind(said_of(asked, predictions(asked, rates, CACHED)), "predicted-phase")
    assert forward.numbers["predicted_s"] == pytest.approx(1.005)
    assert adjoint.numbers["predicted_s"] == pytest.approx(1.0025)
    assert predictions(asked, RATES, CACHED) == [], "rates without helper threads tell nothing of it"


def test_rates_of_fewer_steps_or_of_a_disturbed_machine_are_said_to_be_so() -> None:
    rates = [one.model_copy(update={"steps": 50, "sound": False}) for one in RATES]
    forward, _ = of_kind(said_of(options(page_cache="10G"), predictions(options(), rates, CACHED)), "predicted-phase")
    assert forward.numbers["predicted_s"] == pytest.approx(2.0)
    assert forward.severity == "warning"
    assert "The rates were measured with 50 of 100 steps." in forward.text
    assert "Other work disturbed the measurement of the rates." in forward.text


def test_the_cache_serves_a_part_in_reverse_order() -> None:
    asked = options(page_cache="100M")
    assert cached_shares(asked, cached=True) == {"reverse": 0.25}
    assert cached_shares(options(page_cache="100M", order="forward"), cached=True) == {"forward": 0}
    assert cached_shares(asked, cached=False) == {"reverse": 1}
    rates = [rate("forward", 0.5), rate("adjoint", 0.1, steps=12), rate("adjoint", 2.0, cache="drop")]
    (found,) = predictions(asked, rates, CACHED)
    assert found.phases["adjoint"].seconds == pytest.approx(1 + 0.25 * 0.1 * 100 / 12 + 0.75 * 2.0)
    (said,) = of_kind(said_of(asked, [found]), "predicted-cache")
    assert "a page cache of 100 MiB on a node serves 25 % of the reads" in said.text
    assert "That assumes a cache that drops the oldest states first." in said.text


def test_depth_and_a_log_with_one_thread() -> None:
    slow = [rate("forward", 4.0), rate("adjoint", 3.5)]
    (depth,) = of_kind(said_of(options(page_cache="10G"), predictions(options(), slow, CACHED)), "predicted-depth")
    assert depth.numbers["depth"] == 4
    assert "--prefetch 4" in depth.text
    logs = [one.model_copy(update={"layout": "log"}) for one in slow]
    asked = options(page_cache="10G", layout="log")
    found = said_of(asked, predictions(asked, logs, CACHED))
    assert of_kind(found, "predicted-depth")[0].numbers["depth"] is None
    assert "With layout log" not in of_kind(found, "predicted-requirement")[0].text


@given(st.integers(1, 300), st.floats(0, 100))
def test_the_fewest_kept_states_cost_no_more_than_the_exposed_time(steps: int, budget_s: float) -> None:
    kept = fewest_kept(steps, 0.1, budget_s)
    assert kept == steps or recomputations(steps, kept) * 0.1 <= budget_s
    assert kept == 1 or recomputations(steps, kept - 1) * 0.1 > budget_s


def test_the_exponent_is_said_with_what_it_is_worth() -> None:
    more = [rate(phase, wall, ranks=ranks) for phase in ("forward", "adjoint") for ranks, wall in ((8, 1.0), (16, 2.0))]
    asked = options(page_cache="10G")
    three = of_kind(said_of(asked, predictions(asked, [*RATES, *more], CACHED)), "predicted-scaling")
    assert three[0].numbers["exponent"] == pytest.approx(0)
    assert "With 4, 8, 16 ranks" in three[0].text
    assert "ranks^0.00" in three[0].text
    two = of_kind(said_of(asked, predictions(asked, [*RATES, *more[::2]], CACHED)), "predicted-scaling")
    assert "Two points fit any power law, so they do not validate it" in two[0].text
    one = of_kind(said_of(asked, predictions(asked, RATES, CACHED)), "predicted-scaling")
    assert "is not known" in one[0].title


def test_rates_of_another_number_of_ranks_are_refused(tmp_path: Path) -> None:
    asked = parse_options(PredictOptions, **{"target": [f"disk={tmp_path}"], **USUAL, "page_cache": "10G"})  # type: ignore[arg-type]
    known = [one.model_dump(mode="json") for one in RATES]

    def prepared(**changes: object) -> PreparedPrediction:
        request = Request(
            run_id="r1",
            suite="predict-stepfile",
            created="now",
            targets=asked.targets,
            options={**asked.options, "rates": known, **changes},
        )
        return prepare_prediction(request, EngineContext(built_engine(), describe()))

    found = prepared()
    assert {cell.layout.ranks for cell in found.cells} == {4}
    assert all("compute_s" in cell.case.workload.parameters for cell in found.cells)
    assert of_kind(prepared(run=False).told, "predicted-phase") != []
    assert found.told == []
    with pytest.raises(UserError, match=r"has no forward rates of disk.*it has 4 ranks, and needs 2"):
        prepared(ranks=[2])
