# SPDX-License-Identifier: Apache-2.0
"""From the words of `ullage tune` to parameters, trials and the answer, with launches that take no time."""

from pathlib import Path
from typing import Any

import pytest

from support.data import some
from support.make_records import plain_row
from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.launch.process import timeouts_within
from ullage.model.plan import Layout, Plan, Target
from ullage.model.summary import Row, Score, Summary
from ullage.model.tuning import TuneTrial
from ullage.runs.options.declared import declared
from ullage.runs.options.groups import BindOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.runs.tuning.budget import Budget
from ullage.runs.tuning.checks import usual_options
from ullage.runs.tuning.journal import add_trial, next_folder, read_trials, targets_alone
from ullage.runs.tuning.objective import is_cost, read_rule, read_value
from ullage.runs.tuning.options import OptionValue, TunedParameter, TuneOptions
from ullage.runs.tuning.trial_inputs import TrialInputsMaker, command_of, environment_with, key_of
from ullage.runs.tuning.tuned_parameters import UNSET, ParameterSources, read_overs, space_of


def sources(suite: str, tmp_path: Path, **words: object) -> ParameterSources:
    model = find_suite(suite).options
    return ParameterSources(suite, model, parse_options(model, target=[f"a={tmp_path}"], **words), DESCRIBE)


def overs(suite: str, tmp_path: Path, *texts: str, default: tuple[str, ...] = ()) -> dict[str, TunedParameter]:
    return {one.name: one for one in read_overs(texts, default, sources(suite, tmp_path))}


def test_values_have_the_type_of_the_option(tmp_path: Path) -> None:
    found = overs("disk", tmp_path, "block=64K:1M:x4", "queue_depth=8,1", "backend=posix,uring")
    assert found["block"].values == ("64K", "256K", "1M")
    assert found["block"].default == "1M"
    assert found["queue_depth"].word == "depth"
    assert found["queue_depth"].values == ("1", "8")
    assert found["backend"].values == (UNSET, "posix", "uring")
    assert not found["backend"].ordered


def test_a_default_that_is_no_value_is_added_in_its_place(tmp_path: Path) -> None:
    found = overs("disk", tmp_path, "block=64K,4M", default=("block=256K",))
    assert found["block"].values == ("64K", "256K", "4M")
    assert space_of([*found.values()]).default == (1,)


def test_parameters_of_the_engine_hints_and_variables(tmp_path: Path) -> None:
    found = overs("sweep", tmp_path, "transfer.segments=1,2", "hint:cb_nodes=1,2", "env:OMPI_MCA_io=ompio,romio321")
    assert found["transfer.segments"].how == "parameter"
    assert found["transfer.segments"].default == "1"
    assert found["hint:cb_nodes"].values == (UNSET, "1", "2")
    assert found["env:OMPI_MCA_io"].how == "environment"
    assert overs("io500", tmp_path, "ppn=1,2")["ppn"].how == "ppn"


@pytest.mark.parametrize(
    ("suite", "text", "said"),
    [
        ("disk", "blok=1M", "suite disk has no such parameter; did you mean 'block'?"),
        ("disk", "block", "not a parameter with values"),
        ("disk", "block=1Q,2M", "--over block"),
        ("disk", "no-peer=1,2", "is a flag without values"),
        ("sweep", "transfer.nothing=1,2", "has a parameter 'nothing'"),
        ("noise", "hint:cb_nodes=1,2", "suite noise takes no MPI-IO hints"),
    ],
)
def test_what_nothing_takes_is_refused_by_name(suite: str, text: str, said: str, tmp_path: Path) -> None:
    words = {} if suite == "noise" else {"target": [f"a={tmp_path}"]}
    model = find_suite(suite).options
    with pytest.raises(UserError) as error:
        read_overs([text], (), ParameterSources(suite, model, parse_options(model, **words), DESCRIBE))
    assert said in str(error.value)


def test_a_parameter_of_one_value_is_nothing_to_choose_from(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to choose from"):
        overs("disk", tmp_path, "block=1M")
    with pytest.raises(UserError, match="is set twice"):
        overs("disk", tmp_path, "block=1M,2M", "block=4M,8M")


def inputs_maker(suite: str, tmp_path: Path, *texts: str, **words: int | bool | str) -> TrialInputsMaker:
    model = find_suite(suite).options
    typed: dict[str, Any] = {"target": [f"a={tmp_path}"], **words}
    return TrialInputsMaker(
        model, typed, read_overs(texts, (), sources(suite, tmp_path, **words)), 0, tmp_path / "settings"
    )


def test_a_setting_becomes_words_of_the_suite(tmp_path: Path) -> None:
    made = inputs_maker("disk", tmp_path, "block=64K,1M", "backend=posix,uring")
    asked = made.of({"block": "64K", "backend": UNSET}, {"volume": 1 << 24, "small_volume": None})
    assert asked.options == {"target": [f"a={tmp_path}"], "no_peer": True, "block": "64K", "volume": "16M"}
    assert made.parsed(asked).options["blocks"] == [65536]
    assert command_of("disk", made.model, {"block": "64K", "no_peer": True}) == [
        *("ullage", "run", "disk", "--block", "64K", "--no-peer")
    ]


def test_hints_reach_each_suite_in_its_own_way(tmp_path: Path) -> None:
    sweep = inputs_maker("sweep", tmp_path, "hint:cb_nodes=1,2", "hint:cb_buffer_size=4096,8192")
    asked = sweep.of({"hint:cb_nodes": "2", "hint:cb_buffer_size": UNSET})
    assert asked.options["param"] == ["mpiio.hints=cb_nodes=2"]
    io500 = inputs_maker("io500", tmp_path, "hint:cb_nodes=1,2")
    assert io500.parsed(io500.of({"hint:cb_nodes": "2"})).options["hints"] == {"": {"cb_nodes": "2"}}
    frost = inputs_maker("b_eff_io", tmp_path, "hint:cb_nodes=1,2", ranks=2, quick=True)
    sets: Any = frost.parsed(frost.of({"hint:cb_nodes": "2"})).options["hint_sets"]
    assert sets[0]["lines"][0]["key"] == "cb_nodes"
    assert frost.of({"hint:cb_nodes": UNSET}).files == {}
    tile = inputs_maker("tile", tmp_path, "hint:cb_nodes=1,2", "hint:cb_buffer_size=4096,8192", ranks="2")
    tiles: Any = tile.parsed(tile.of({"hint:cb_nodes": "2", "hint:cb_buffer_size": "4096"})).options["hint_sets"]
    assert tiles[0]["hints"] == {"cb_nodes": "2", "cb_buffer_size": "4096"}


def test_processes_per_node_set_the_ranks_of_all_nodes(tmp_path: Path) -> None:
    made = inputs_maker("io500", tmp_path, "ppn=1,2", nodes=3)
    assert made.of({"ppn": "2"}).options["ranks"] == 6
    both = inputs_maker("io500", tmp_path, "ppn=1,2", "nodes=2,4")
    parsed = both.parsed(both.of({"ppn": "2", "nodes": "4"})).options
    assert (parsed["ranks"], parsed["ranks_per_node"], parsed["nodes"]) == (8, 2, 4)
    assert both.of({"ppn": "2", "nodes": UNSET}).options["ranks"] == 2


@pytest.mark.parametrize("suite", ["io500", "sweep", "b_eff", "collectives"])
def test_a_binding_is_a_parameter_beside_nodes_and_processes_per_node(suite: str, tmp_path: Path) -> None:
    words = {} if suite in ("b_eff", "collectives") else {"target": [f"a={tmp_path}"]}
    model = find_suite(suite).options
    what = ParameterSources(suite, model, parse_options(model, **words), DESCRIBE)
    found = read_overs(["bind=none,core", "ppn=2,4", "nodes=1,2"], (), what)
    assert (found[0].default, found[0].values, found[0].ordered) == ("none", ("none", "core"), False)
    made = TrialInputsMaker(model, dict(words), found, 0, tmp_path / "settings")
    for bind in ("none", "core"):
        asked = made.of({"bind": bind, "ppn": "4", "nodes": "2"})
        parsed = made.parsed(asked).options
        placed = BindOptions.model_validate({name: parsed[name] for name in ("nodes", "ranks_per_node", "bind")})
        assert placed.place(8, 4) == Layout(ranks=8, nodes=2, ranks_per_node=4, binding=bind)
        command = command_of(suite, model, asked.options)
        assert command[command.index("--bind") + 1] == bind


def test_a_section_of_the_official_file_is_written_beside_what_stands_there(tmp_path: Path) -> None:
    config = tmp_path / "own.ini"
    config.write_text("[debug]\nstonewall-time = 5\n")
    made = inputs_maker("io500", tmp_path, "ior-hard.segment_count=1000,100000", config=str(config))
    (text,) = made.of({"ior-hard.segment_count": "1000"}).files.values()
    assert "stonewall-time = 5" in text
    assert "segmentCount = 1000" in text


def test_variables_are_set_for_a_trial_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("ULLAGE_TEST_A", "before")
    with environment_with({"ULLAGE_TEST_A": "1", "ULLAGE_TEST_B": "2"}):
        assert (os.environ["ULLAGE_TEST_A"], os.environ["ULLAGE_TEST_B"]) == ("1", "2")
    assert os.environ["ULLAGE_TEST_A"] == "before"
    assert "ULLAGE_TEST_B" not in os.environ


def test_equal_settings_have_equal_keys(tmp_path: Path) -> None:
    made = inputs_maker("disk", tmp_path, "block=64K,1M")
    first, second = (made.parsed(made.of({"block": block})) for block in ("64K", "1M"))
    assert key_of("disk", first, {}) == key_of("disk", made.parsed(made.of({"block": "64K"})), {})
    assert len({key_of("disk", first, {}), key_of("disk", second, {}), key_of("disk", first, {"A": "1"})}) == 3


def row(metric: str, access: str, median: float, order: str = "sequential") -> Row:
    return plain_row(median, {"access": access, "order": order}, metric=metric, target="a", low=None, high=None)


SUMMARY = Summary(
    suite="disk",
    run_id="r",
    created="",
    rows=[
        row("bandwidth", "write", 100.0),
        row("bandwidth", "write", 400.0, "random"),
        row("stonewall_bandwidth", "write", 7.0),
        row("bandwidth", "read", 9.0),
    ],
    scores=[Score(name="io500 total", value=3.0, valid=False)],
)


def test_words_name_rows_and_several_rows_are_one_geometric_mean() -> None:
    found = read_value("write bandwidth", SUMMARY)
    assert (found.value, found.objective.rows) == (pytest.approx(200.0), 2)
    assert read_value("random write bandwidth", SUMMARY).value == pytest.approx(400.0)
    assert read_value("stonewall bandwidth", SUMMARY).value == pytest.approx(7.0)
    assert read_value("total", SUMMARY).value == 3.0


def test_cost_is_the_processor_time_of_an_operation_also_of_one_access() -> None:
    costs = [row("cpu_time", "write", 2e-6), row("cpu_time", "read", 8e-6)]
    summary = SUMMARY.model_copy(update={"rows": [*SUMMARY.rows, *costs]})
    assert read_value("cost", summary).value == pytest.approx(4e-6)
    assert read_value("write cost", summary).value == pytest.approx(2e-6)
    assert [is_cost(words) for words in ("cost", "write cost", "cpu time", "write bandwidth")] == [1, 1, 1, 0]


def test_words_that_name_nothing_are_told_what_there_is() -> None:
    with pytest.raises(UserError, match=r"name one of: .*read bandwidth.*write bandwidth"):
        read_value("write speed", SUMMARY)


def test_rules_compare_with_a_number_or_with_the_default() -> None:
    rule = read_rule("read bandwidth>=0.9x")
    assert (rule.times, rule.breaks(0.8), rule.breaks(0.95)) == (True, True, False)
    assert read_rule("latency p99 <= 0.002").breaks(0.003)
    for text in ("read bandwidth is fine", "read bandwidth>=0x", "read bandwidth>=1.2.3"):
        with pytest.raises(UserError, match="--keep"):
            read_rule(text)


def trial(number: int, seconds: float = 2.0, written: int = 10) -> TuneTrial:
    return TuneTrial(
        number=number, purpose="search", setting={"a": "1"}, seconds=seconds, bytes=written, result=f"parts/t{number}"
    )


def test_no_trial_begins_that_may_exceed_time_bytes_or_number() -> None:
    done = [trial(number) for number in range(1, 11)]
    assert Budget(100.0, 12, None, 2.0, None).left(done) == 2
    assert Budget(21.0, None, None, 2.0, None).left(done) == 0
    assert "room for 0 trials (a trial may take" in Budget(21.0, None, None, 2.0, None).why_no_more(done)
    assert "Give it more time." in Budget(21.0, None, None, 2.0, None).why_no_more(done)
    assert "--trials 12 leaves 2 trials, too few" in Budget(100.0, 12, None, 2.0, None).why_no_more(done)
    assert "nothing new" in Budget(1e6, None, None, 2.0, None).why_no_more(done)
    assert Budget(1e6, None, 125, 2.0, 10).left(done) == 2
    assert Budget(1e6, None, 109, 2.0, 10).left(done) == 0


def test_a_trial_may_write_all_that_its_plan_allows_though_others_wrote_less() -> None:
    done = [trial(number, written=10) for number in range(1, 5)]
    assert Budget(1e6, None, 800, 2.0, 100).left(done) == 1 + (800 - 40 - 100) // 15
    assert Budget(1e6, None, 139, 2.0, 100).left(done) == 0


def test_the_space_of_a_search_bounds_each_trial_of_a_suite_that_writes_its_data_once() -> None:
    """There is room for 12 full trials, and each writes its data twice: for the probe and for the run."""
    assert usual_options(TuneOptions(suite="io500", budget_s=7200.0, space=1 << 30)) == {
        "space": str((1 << 30) // 24),
        "stonewall": "54s",
    }
    few = usual_options(TuneOptions(suite="io500", budget_s=7200.0, space=1 << 30, trials=8))
    assert few["space"] == str((1 << 30) // 16)
    two: dict[str, OptionValue] = {"target": ["a=/a", "b=/b"]}
    assert usual_options(TuneOptions(suite="io500", space=1 << 30, words=two))["space"] == str((1 << 30) // 48)
    assert "space" not in usual_options(TuneOptions(suite="io500", space=1 << 30, words={"mode": "extended"}))
    assert "space" not in usual_options(TuneOptions(suite="sweep", space=1 << 30))


def test_a_trial_that_failed_does_not_count_as_a_long_one() -> None:
    done = [trial(1), trial(2, seconds=60.0).model_copy(update={"reason": "it hung"})]
    assert Budget(100.0, None, None, 2.0, None).longest_s(done) < 5.0
    assert Budget(100.0, None, None, 2.0, None).seconds_left(done) == pytest.approx(38.0)


def test_a_launch_has_to_be_gone_when_its_time_is_over() -> None:
    plan = Plan.model_construct(time_budget_s=None, watchdog_s=3600.0)
    for seconds in (1000.0, 40.0, 4.0):
        timeouts = timeouts_within(seconds, plan)
        assert timeouts.deadline_s is not None
        assert timeouts.deadline_s + timeouts.stop_grace_s == pytest.approx(seconds)
    assert timeouts_within(-3.0, plan).deadline_s == 0.0
    soon = Plan.model_construct(time_budget_s=2.0, watchdog_s=1.0)
    assert timeouts_within(1000.0, soon).deadline_s == pytest.approx(65.0)


def test_words_that_nobody_chose_follow_from_the_budget() -> None:
    assert usual_options(TuneOptions(suite="sweep", budget_s=600.0)) == {"time": "15s", "watchdog": "1m"}
    assert usual_options(TuneOptions(suite="sweep", budget_s=600.0, words={"time": "3s", "watchdog": "9s"})) == {}


def test_the_walls_of_a_suite_without_a_limit_of_time_fit_into_the_budget(tmp_path: Path) -> None:
    """Five phases have a wall, and all else takes as long: 12 trials of 10 walls."""
    assert usual_options(TuneOptions(suite="io500", budget_s=7200.0)) == {"stonewall": "54s"}
    assert usual_options(TuneOptions(suite="io500", budget_s=7200.0, full=True, trials=8)) == {"stonewall": "81s"}
    assert usual_options(TuneOptions(suite="io500", budget_s=86400.0)) == {}
    two: dict[str, OptionValue] = {"target": ["a=/a", "b=/b"], "repeat": 3}
    assert usual_options(TuneOptions(suite="io500", budget_s=7200.0, words=two)) == {"stonewall": "9s"}
    for word, text in (("stonewall", "300s"), ("time", "2h")):
        assert "stonewall" not in usual_options(TuneOptions(suite="io500", budget_s=7200.0, words={word: text}))
    varied = read_overs(["stonewall=10s,20s"], (), sources("io500", tmp_path))
    assert "stonewall" not in usual_options(TuneOptions(suite="io500", budget_s=7200.0, parameters=varied))
    own = tmp_path / "own.ini"
    own.write_text("[debug]\nstonewall-time = 100\n[ior-rnd4K-easy-read]\nrun = FALSE\n")
    assert usual_options(TuneOptions(suite="io500", budget_s=7200.0, words={"config": str(own)})) == {}


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(5.0, None, None, 2.0, None), "--budget"),
        (Budget(1e6, 3, None, 2.0, None), "--trials 8"),
        (Budget(1e6, None, 100, 2.0, 50), "--space 400"),
    ],
)
def test_a_budget_that_is_too_small_is_refused_before_the_start(budget: Budget, said: str) -> None:
    with pytest.raises(UserError) as error:
        budget.check()
    assert said in str(error.value)


def test_a_journal_that_was_cut_short_keeps_its_whole_lines(tmp_path: Path) -> None:
    from ullage.results.folder import ResultFolder

    result = ResultFolder(tmp_path)
    add_trial(result, trial(1))
    with (tmp_path / "trials.ndjson").open("ab") as stream:
        stream.write(b'{"number": 2, "purp')
    add_trial(result, trial(3))
    assert [one.number for one in read_trials(result)] == [1, 3]
    result.part("trial-002").path.mkdir(parents=True)
    assert next_folder(result, 2) == "trial-002-2"


def test_what_an_earlier_search_has_measured_here_is_kept_as_measured_and_counts_by_its_default(tmp_path: Path) -> None:
    from ullage.model.request import Request
    from ullage.model.system import SystemFacts
    from ullage.results.folder import ResultFolder
    from ullage.runs.tuning.journal import earlier_settings
    from ullage.runs.tuning.judging import counted

    results: list[ResultFolder] = []
    for name, host in (("old", "n1"), ("elsewhere", "n2"), ("new", "n1")):
        request = Request(run_id=name, suite="tune", created="")
        results.append(ResultFolder.create(tmp_path / name, request))
        results[-1].write_system(SystemFacts(host=host, taken=""))
    for number, (purpose, value, place) in enumerate((("default", 50.0, "1"), ("search", 100.0, "2")), start=1):
        update = {"purpose": purpose, "values": {"rate": value}, "key": f"k{place}", "setting": {"a": place}}
        for result, times in zip(results[:2], (1.0, 7.0), strict=True):
            own = {**update, "values": {"rate": value * times**number}}
            add_trial(result, trial(number).model_copy(update=own))
    found = earlier_settings(results[2], ["rate"])
    known = {key: (one.values, one.default_there) for key, one in found.items()}
    assert known == {"k2": ({"rate": 100.0}, {"rate": 50.0})}
    taken = found["k2"].model_copy(update={"number": 5, "setting": {"a": "2"}})
    assert (taken.values, taken.seconds, taken.bytes) == ({"rate": 100.0}, 0.0, 0)
    own = trial(1).model_copy(update={"setting": {"a": "1"}, "values": {"rate": 40.0}})
    assert [one.values["rate"] for one in counted([own, taken], {"a": "1"})] == [40.0, 80.0]
    assert earlier_settings(results[2], ["another"]) == {}


def test_two_tunes_at_one_place_exclude_each_other(tmp_path: Path) -> None:
    targets = [Target(name="a", uri=f"posix:{tmp_path}")]
    with targets_alone(targets), pytest.raises(UserError, match="another tune measures there"), targets_alone(targets):
        pass
    with targets_alone(targets):
        pass


def test_options_of_the_search_say_what_they_are_for() -> None:
    options = declared(find_suite("tune").options)
    assert all(one.help.endswith((".", ";")) for one in some(options.values()))
