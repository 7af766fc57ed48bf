# SPDX-License-Identifier: Apache-2.0
"""What is no improvement though its number is higher, and which cases and words a search has."""

import pytest

from ullage.errors import UserError
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.tuning import TuneObjective, TuneTrial
from ullage.runs.suite import find_suite
from ullage.runs.tuning.checks import check_metrics, needed_cases, same_cases
from ullage.runs.tuning.judging import difference

RATE = TuneObjective(name="write bandwidth", metric="bandwidth", unit="B/s", better="more", rows=1)
TIME = TuneObjective(name="time", metric="phase_time", unit="s", better="less", rows=1)
STATES = TuneObjective(name="states", metric="state_rate", unit="op/s", better="more", rows=1)


def trial(verdict: str, work: list[float]) -> TuneTrial:
    """A trial with what is compared of it."""
    own = {"number": 1, "purpose": "confirm", "setting": {}, "seconds": 1.0, "bytes": 0, "result": "parts/a"}
    return TuneTrial.model_validate({**own, "verdict": verdict, "work": work})


def test_a_page_cache_is_no_improvement_over_a_disk() -> None:
    assert not difference([RATE], [trial("cold", [1e6, 1e9])], [trial("cold", [4e6, 1e9])])
    said = difference([RATE], [trial("cold", [1e6, 1e9])] * 3, [trial("cold", [1e6, 1e9]), trial("warm", [1e6, 1e9])])
    assert said == "the default was measured cold and this setting cold and warm (verdict)"


def test_less_work_in_less_time_is_no_improvement() -> None:
    more, less = [trial("none", [4e6, 4e8])], [trial("none", [4e5, 4e7])]
    assert "0.1 x the bytes in a repetition" in difference([TIME], more, less)
    assert "0.1 x the bytes in an operation" in difference([STATES], more, less)
    assert not difference([RATE], more, less)
    assert not difference([TIME], more, [trial("none", [1e4, 4e8])])


def plan(blocks: list[int], depths: list[int], volume: int) -> Plan:
    """A case for each block and for each depth."""
    workloads = [{"phases": ["write", "read"], "transfer_bytes": one, "block_bytes": volume} for one in blocks]
    workloads += [{"phases": ["write", "read"], "queue_depth": one, "block_bytes": volume} for one in depths]
    cases = [
        Case(
            id=f"{place:016x}", target="t", backend=Named(name="posix"), workload=Named(name="transfer", parameters=own)
        )
        for place, own in enumerate(workloads)
    ]
    return Plan(
        run_id="r",
        suite="disk",
        records="r.ndjson",
        seed=1,
        layout=Layout(ranks=1, nodes=1, ranks_per_node=1),
        targets=[Target(name="t", uri="posix:/t")],
        stop_rule=Named(name="median-ci"),
        cases=cases,
    )


def test_cases_that_no_parameter_changes_are_not_measured() -> None:
    default, other = plan([4096], [1, 8], 1 << 20), plan([8192], [1, 8], 1 << 22)
    needed = needed_cases([default], [[other]], ["write bandwidth"])
    assert [needed(case, default.layout) for case in default.cases] == [True, False, False]
    of_variable = needed_cases([default], [[default]], ["write bandwidth"])
    assert all(of_variable(case, default.layout) for case in default.cases)
    assert same_cases([default], [plan([4096], [1, 8], 1 << 25)])
    assert not same_cases([default], [other])


def test_a_metric_that_no_row_has_is_refused_before_the_first_trial() -> None:
    model, plans = find_suite("disk").options, [plan([4096], [], 1 << 20)]
    check_metrics(["write bandwidth", "read latency p99", "cost"], model, plans)
    with pytest.raises(UserError, match="no row of this suite has the word 'bandwith'"):
        check_metrics(["write bandwith"], model, plans)
