# SPDX-License-Identifier: Apache-2.0
"""What we write is strict, what another version may have written is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ullage.identity import plan_bytes
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Limits, Named, Plan, Target

CASE = {"id": "0" * 16, "target": "a", "backend": {"name": "null"}, "workload": {"name": "transfer"}}
PLAN = {
    "schema": "ullage.plan/1",
    "run_id": "20260101T000000Z-abcdef",
    "suite": "sweep",
    "records": "/r/001.ndjson",
    "layout": {"ranks": 2},
    "targets": [{"name": "a", "uri": "null:"}],
    "stop_rule": {"name": "fixed"},
    "cases": [CASE],
}


def test_a_plan_is_read() -> None:
    assert Plan.model_validate(PLAN).layout.ranks == 2


@pytest.mark.parametrize(
    "change",
    [
        {"surprise": 1},
        {"schema": "ullage.plan/2"},
        {"run_id": "../escape"},
        {"run_id": ""},
        {"cases": []},
        {"layout": {"ranks": 0}},
        {"layout": {"ranks": 1, "nodez": 1}},
        {"time_budget_s": float("inf")},
        {"seed": -1},
        {"limits": {"space_fraction": 0}},
        {"targets": [{"name": "", "uri": "null:"}]},
        {"cases": [{**CASE, "id": "XYZ"}]},
    ],
)
def test_a_plan_that_is_wrong_anywhere_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate({**PLAN, **change})


def test_documents_do_not_change_after_reading() -> None:
    plan = Plan.model_validate(PLAN)
    with pytest.raises(ValidationError):
        plan.suite = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_description_by_a_newer_engine_is_read() -> None:
    build = {
        "version": "9",
        "git": "g",
        "compiler": "c",
        "flags": "",
        "mpi": {"family": "other", "library": "l"},
        "x": 1,
    }
    document = {"schema": "ullage.describe/1", "engine": build, "backends": [], "workloads": [], "probes": []}
    document |= {"stop_rules": [], "planets": [1]}
    assert Describe.model_validate(document).engine.version == "9"


FLOATS = st.floats(min_value=1e-6, max_value=1e9)
VALUES = st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | st.text() | st.lists(st.text())
PARAMETERS = st.dictionaries(st.text(min_size=1), VALUES | st.dictionaries(st.text(), st.text()), max_size=4)


@given(
    parameters=PARAMETERS,
    name=st.text(min_size=1, max_size=64),
    path=st.text(),
    ranks=st.integers(1, 10**6),
    budget=st.none() | FLOATS,
    elapsed=st.lists(st.integers(0, 2**62), max_size=3),
)
def test_every_plan_comes_back_as_it_was(
    parameters: dict[str, object], name: str, path: str, ranks: int, budget: float | None, elapsed: list[int]
) -> None:
    workload = Named.model_validate({"name": "transfer", "parameters": parameters})
    case = Case(
        id="0" * 16, target=name, backend=Named(name="null"), workload=workload, prior_elapsed_ns={"write": elapsed}
    )
    plan = Plan(
        run_id="r",
        suite="sweep",
        records="/r",
        layout=Layout(ranks=ranks),
        targets=[Target(name=name, uri=f"posix:/{path}")],
        stop_rule=Named(name="fixed"),
        time_budget_s=budget,
        limits=Limits(space_fraction=0.25),
        cases=[case],
    )
    written = plan_bytes(plan)
    assert b"\n" not in written
    again = Plan.model_validate_json(written)
    assert again == plan
    assert json.loads(plan_bytes(again)) == json.loads(written)
