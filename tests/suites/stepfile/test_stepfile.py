# SPDX-License-Identifier: Apache-2.0
"""The options, cases and sentences of a stepfile."""

from pathlib import Path

import pytest

from support.make_records import make_case, make_phase, plain_row
from support.simulated_engine import built_engine, with_workloads
from support.suite_words import options_of, request_of
from ullage.analysis.metrics import metric_named
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import percent
from ullage.results.folder import ResultFolder
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells, planned_cells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.suites.stepfile.options import CASES, LAYOUTS, ORDERS, SYNCS, StepfileOptions, parameters_of, scale_text
from ullage.suites.stepfile.suite import kept_of, make_cells, prepare_stepfile, recomputations, seconds_besides_bytes
from ullage.suites.stepfile.summarise import Demand, cache_findings, findings_of, spill_findings

MIB = 1 << 20


def describe() -> Describe:
    """The simulated engine with workload ``stepfile``."""
    return with_workloads("stepfile")


def options(**words: object) -> StepfileOptions:
    return options_of(StepfileOptions, **{"target": ["a=/a"], **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "ranks": "2", "steps": 10, "bytes": "1M"}
    return prepare_stepfile(
        request_of("stepfile", StepfileOptions, **{**usual, **words}), EngineContext(built_engine(), describe())
    )


def test_defaults_compare_directories_with_a_log() -> None:
    found = options()
    assert (found.steps, found.state_bytes, found.orders, found.layouts) == (
        100,
        4 * MIB,
        ["reverse"],
        ["dir-per-rank", "log"],
    )
    assert (found.compute_s, found.prefetch, found.write_behind, found.sync) == (0, 0, 0, "none")
    assert StepfileOptions.model_validate_json(found.model_dump_json()) == found
    assert options(quick=True).steps == 20
    assert options(quick=True, steps=30).steps == 30


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"order": "backward"}, "--order backward: unknown word"),
        ({"order": "reverse:3"}, "'reverse' takes no number"),
        ({"order": "revolve"}, "'revolve' needs a number"),
        ({"order": "stride:0"}, "--order stride:0"),
        ({"layout": "tree"}, "--layout tree: unknown word"),
        ({"sync": "every"}, "'every' needs a number"),
        ({"bytes": "12"}, "--bytes 12: 12 bytes are not a multiple of 8"),
        ({"order": "revolve:4", "prefetch": 2}, "--prefetch 2: order revolve reads and writes in turn"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


def test_words_become_parameters() -> None:
    assert parameters_of("order", "stride:7", ORDERS) == {"order": "stride", "stride": 7}
    assert parameters_of("layout", "hashed:3", LAYOUTS) == {"layout": "hashed", "hash_levels": 3}
    assert parameters_of("sync", "every:16", SYNCS) == {"sync": "every", "sync_every": 16}
    assert parameters_of("layout", "log", LAYOUTS) == {"layout": "log"}


def test_like_keeps_the_state_and_cuts_the_steps(tmp_path: Path) -> None:
    found = options(target=[f"here={tmp_path}"], like="medium", space="2G")
    assert found.state_bytes == 5_000_000
    assert found.compute_s == pytest.approx(0.332)
    assert found.ranks[0] <= CASES["medium"].ranks_per_node
    assert 20 <= found.steps < 12_500
    assert found.ranks[0] * found.steps * found.state_bytes <= 2 << 30
    said = options(target=[f"here={tmp_path}"], like="medium", steps=25, compute="1ms", ranks="3")
    assert (said.steps, said.compute_s, said.ranks) == (25, 0.001, [3])


def test_the_scale_and_what_it_cannot_show_are_said() -> None:
    text = " ".join(scale_text(CASES["large"], 4, 500, 4_687_504, 32 << 30))
    assert "4 ranks of 512 and 500 steps of 12500" in text
    assert "It cannot show the population of 6400000 files, nor 512 ranks at one server." in text
    assert "0.27 x the memory, not 3 x" in text
    assert "memory" not in " ".join(scale_text(CASES["medium"], 4, 500, 5_000_000, 1 << 30))


def test_every_layout_and_order_that_means_something_is_a_case(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, layout="flat,log", order="reverse,revolve:3")
    found = {
        (cell.parameters.get("layout"), cell.parameters.get("order", "reverse"), kept_of(cell), cell.files)
        for cell in prepared.cells
    }
    assert found == {("flat", "reverse", 10, 20), ("flat", "revolve", 3, 6), ("log", "reverse", 10, 2)}
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in prepared.cells]
    assert prepared.kinds(bare) == prepared.cells


@pytest.mark.parametrize(
    ("cores", "words", "expected"),
    [
        (8, {}, (1, "core")),
        (8, {"prefetch": 1}, (2, "core")),
        (8, {"write_behind": 3, "prefetch": 1}, (4, "core")),
        (8, {"write_behind": 9}, (4, "core")),  # all its own
        (8, {"write_behind": 9, "layout": "log"}, (2, "core")),  # the log has one thread
        (3, {"prefetch": 2}, (3, "none")),
        (None, {"prefetch": 2}, (3, "none")),
    ],
)
def test_ranks_are_bound_with_their_helper_threads_where_each_has_two_cores(
    cores: int | None, words: dict[str, object], expected: tuple[int, str]
) -> None:
    asked = parse_options(StepfileOptions, target=["here=/a"], ranks="2", nodes=1, **words)  # type: ignore[arg-type]
    found = StepfileOptions.model_validate(asked.options)
    cells = make_cells(found, asked.targets, describe(), cores)
    assert {(cell.layout.threads, cell.layout.binding) for cell in cells} == {expected}


def test_helper_threads_are_refused_where_the_backend_has_none() -> None:
    asked = parse_options(StepfileOptions, target=["here=/a"], backend="mpiio", prefetch=2)
    found = StepfileOptions.model_validate(asked.options)
    with pytest.raises(UserError, match="--prefetch: backend 'mpiio' has no threads"):
        make_cells(found, asked.targets, describe(), 8)


def test_revolve_in_a_log_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="order revolve overwrites states"):
        prepare(tmp_path, layout="log", order="revolve:3")


def test_computation_is_in_the_estimate(tmp_path: Path) -> None:
    short, long = (prepare(tmp_path, layout="flat", compute=text) for text in ("1ms", "100ms"))
    (first,), (second,) = short.cells, long.cells
    assert seconds_besides_bytes(second) - seconds_besides_bytes(first) == pytest.approx(2 * 10 * 0.099)
    (again,) = prepare(tmp_path, layout="flat", order="revolve:3", compute="100ms").cells
    wanted = (2 * 10 + recomputations(10, 3)) * 0.1
    assert seconds_besides_bytes(again) == pytest.approx(wanted + again.files * 1e-4)


def test_an_explanation_shows_states_files_and_recomputation(tmp_path: Path) -> None:
    explained = prepare(tmp_path, layout="flat", order="reverse,revolve:3", delete=True).explain()
    assert [row[5] for row in explained.rows] == ["10 of 1M", "3 of 1M"]
    text = " ".join(explained.head)
    assert f"revolve:3 keeps 3 of 10 states and computes {recomputations(10, 3)} steps again on each rank." in text
    assert "Nothing is removed early with layout log or order revolve." in text


def test_a_volume_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a smaller --steps fits"):
        prepare(tmp_path, steps=10_000, bytes="1G", space="1G")


def test_targets_become_one_case_with_further_ones(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    places = [f"a={first}", f"b={second}"]
    prepared = prepare(tmp_path, target=places, spill=True, layout="flat,log", bytes="64K")
    (cell,) = prepared.cells
    assert (cell.case.target, cell.case.spill) == ("a", ["b"])
    apart = prepare(tmp_path, target=places, layout="flat", bytes="64K").cells
    assert cell.case.id not in {one.case.id for one in apart}
    (plan,) = prepared.plans(ResultFolder(tmp_path / "result"))
    assert [target.name for target in plan.targets] == ["a", "b"]
    result = ResultFolder.create(tmp_path / "result", prepared.request)
    result.prepare_launch(1, plan)
    assert prepared.kinds(planned_cells(result)) == prepared.cells


def test_targets_have_room_together(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    places = [f"a={tmp_path}", f"b={tmp_path / 'b'}"]
    fits = prepare(tmp_path, target=places, spill=True, layout="flat", bytes="64K", space="1M")
    assert fits.cells[0].dataset_bytes > 1 << 20
    with pytest.raises(UserError, match=r"targets a, b.*need 1.25 MiB, but only 1.00 MiB may be used together"):
        prepare(tmp_path, target=places, spill=True, layout="flat", bytes="64K", space="512K")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"spill": True}, "--spill: there is one target"),
        ({"target": ["a=memory:", "b=/b"], "spill": True}, "--spill: target 'a' is no folder"),
        ({"target": ["a=/a", "b=/b"], "spill": True, "keep": True}, "leave --keep out"),
        ({"target": ["a=/a", "b=/b"], "spill": True, "layout": "log"}, "choose another --layout"),
    ],
)
def test_what_cannot_be_at_several_targets_is_refused(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


def test_where_the_states_were_is_said() -> None:
    rows = [row("phase_time", phase, [1.0] * 6) for phase in ("forward", "adjoint")]
    (found,) = spill_findings({"flat-reverse": {"a": 300, "b": 100}, "other": {"a": 1}}, rows)
    assert found.title == "100 of 400 states found no room on a"
    assert "held these numbers of states (disk, flat, reverse, 4 ranks): a 300, b 100." in found.text
    (whole,) = spill_findings({"flat-reverse": {"a": 400, "b": 0}}, rows)
    assert whole.title == "All states are on a"


def row(metric: str, phase: str, samples: list[float], layout: str = "flat", order: str = "reverse") -> Row:
    params = {"access": phase, "ranks": 4, "nodes": 1, "block_bytes": MIB, "steps": 100, "backend": "posix"}
    params |= {"layout": layout, "order": order}
    return plain_row(samples, params, metric=metric, unit="s", case=f"{layout}-{order}")


DEMANDS = {("flat-reverse", "forward"): [Demand(4, 10.0, 2.5, 0.05, float(MIB))] * 8}


def test_exposed_io_is_a_share_of_the_phase() -> None:
    (found,) = findings_of([row("phase_time", "forward", [10.0] * 6)], DEMANDS, 0.0, 0.95)
    assert found.kind == "stepfile-exposed"
    assert "takes 10.0 s. Of that, 2.50 s (25.0 %) is I/O that the ranks wait for" in found.text
    assert "The calls for one state take 50.0 ms on average." in found.text


def test_the_turn_round_is_that_of_the_slowest_rank() -> None:
    metric = metric_named("turn_round")
    gauges = {"turn_round_s": {"sum": 0.7, "least": 0.1, "most": 0.4}}
    assert metric.sample(make_phase(phase="adjoint", gauges=gauges)) == 0.4
    assert metric.sample(make_phase(phase="forward")) is None


# 100 states of 4 ranks have 400 MiB.
@pytest.mark.parametrize(
    ("order", "held_mib", "parameters", "measured", "expected"),
    [
        ("reverse", 100, {}, 0.21, 0.25),
        ("forward", 100, {}, 0.02, 0.0),
        ("reverse", 400, {}, 0.90, 1.0),
        ("reverse", 400, {}, 0.99, None),  # all of it: nothing to be said
        ("reverse", 100, {"cache": "drop"}, 0.0, None),
        ("revolve:10", 100, {}, 0.5, None),
    ],
)
def test_the_share_of_the_cache_stands_beside_the_expected_one(
    order: str, held_mib: int, parameters: dict[str, Scalar], measured: float, expected: float | None
) -> None:
    name = f"flat-{order}"
    rows = [row("phase_time", phase, [1.0] * 6, order=order) for phase in ("forward", "adjoint")]
    cases = {name: make_case(name, parameters={**parameters})}
    found = cache_findings(rows, cases, {name: measured}, held_mib * MIB)
    assert [one.numbers["predicted"] for one in found] == ([] if expected is None else [expected])
    for one in found:
        assert f"{percent(measured)} of the reads in the adjoint phase (disk, flat, {order}, 4 ranks)" in one.text
        assert f"A page cache of {held_mib} MiB on a node serves {percent(expected or 0)}" in one.text
    assert cache_findings(rows, cases, {}, held_mib * MIB) == [], "no counter tells"
    assert cache_findings(rows, cases, {name: measured}, None) == []


@pytest.mark.parametrize(("compute_s", "enough"), [(0.075, True), (0.025, False)])
def test_what_the_computation_demands_stands_beside_what_was_reached(compute_s: float, enough: bool) -> None:
    found = findings_of([row("phase_time", "forward", [10.0] * 6)], DEMANDS, compute_s, 0.95)[1]
    assert found.kind == "stepfile-demand"
    assert found.numbers["needed_files_per_s"] == pytest.approx(4 / compute_s)
    assert found.numbers["reached_files_per_s"] == pytest.approx(80)
    assert found.numbers["reached_bytes_per_s"] == pytest.approx(80 * MIB)
    assert (found.severity == "info") is enough
    assert ("is fast enough" in found.title, "is too slow" in found.title) == (enough, not enough)
    assert "verdict cold" in found.text


def test_whether_the_rate_is_enough_is_not_said_where_the_repetitions_do_not_tell() -> None:
    phases = [row("phase_time", "forward", [10.0] * 8)]
    for times_s in ([0.05], [0.04, 0.06] * 4):
        demands = {("flat-reverse", "forward"): [Demand(4, 10.0, 2.5, io_s, float(MIB)) for io_s in times_s]}
        found = findings_of(phases, demands, 0.052, 0.95)[1]
        assert "may be too slow" in found.title
        assert "cannot be told" in found.text
        assert found.severity == "info"


def test_revolve_says_what_it_computes_again() -> None:
    rows = [row("phase_time", phase, [10.0] * 6, order="revolve:10") for phase in ("forward", "adjoint")]
    (found,) = [one for one in findings_of(rows, {}, 0.1, 0.95) if one.kind == "stepfile-revolve"]
    again = recomputations(100, 10)
    assert f"keeps 10 of 100 states of a rank and computes {again} steps again" in found.text
    assert found.numbers["recomputed"] == again


def test_a_layout_is_faster_only_where_the_comparison_holds() -> None:
    clear = [
        row("exposed_io", "forward", [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01], "log"),
        row("exposed_io", "forward", [2.0, 2.01, 1.99, 2.0, 2.02, 1.98, 2.0, 2.01], "flat"),
    ]
    (found,) = findings_of(clear, {}, 0.0, 0.95)
    assert (found.kind, found.change) == ("stepfile-layout", "--layout log")
    assert found.gain is not None
    assert found.gain.factor == pytest.approx(2, rel=0.02)
    overlapping = [row("exposed_io", "forward", [1.0, 3.0, 2.0, 1.5, 2.5, 1.2], name) for name in ("log", "flat")]
    assert findings_of(overlapping, {}, 0.0, 0.95) == []
