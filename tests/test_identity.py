# SPDX-License-Identifier: Apache-2.0
"""Ids follow from content and from nothing else."""

import hashlib
import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.identity import canonical_json, case_id, new_run_id, plan_bytes
from ullage.model.plan import Case, Layout, Named, Plan, Target

BACKEND = Named(name="posix", parameters={"direct": True})
WORKLOAD = Named(name="transfer", parameters={"transfer_bytes": 4096})
TARGET = Target(name="nvme", uri="posix:/local")
LAYOUT = Layout(ranks=2)


def test_a_case_id_is_stable_across_versions() -> None:
    content = (
        '{"backend":{"name":"posix","parameters":{"direct":true}},'
        '"layout":{"binding":"none","nodes":null,"ranks":2,"ranks_per_node":null,"threads":1},'
        '"target":{"name":"nvme","uri":"posix:/local"},'
        '"workload":{"name":"transfer","parameters":{"transfer_bytes":4096}}}'
    )
    assert case_id(BACKEND, WORKLOAD, TARGET, LAYOUT) == hashlib.sha256(content.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    "changed",
    [
        (Named(name="posix"), WORKLOAD, TARGET, LAYOUT),
        (BACKEND, Named(name="transfer"), TARGET, LAYOUT),
        (BACKEND, WORKLOAD, Target(name="nvme", uri="posix:/other"), LAYOUT),
        (BACKEND, WORKLOAD, TARGET, Layout(ranks=3)),
    ],
)
def test_every_part_counts(changed: tuple[Named, Named, Target, Layout]) -> None:
    assert case_id(*changed) != case_id(BACKEND, WORKLOAD, TARGET, LAYOUT)


def test_a_whole_float_is_the_integer_it_equals() -> None:
    assert canonical_json({"b": [1.0, 2], "a": "ü"}) == '{"a":"ü","b":[1,2]}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENTS = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(DOCUMENTS)
def test_canonical_json_is_json_of_the_same_content(document: object) -> None:
    written = canonical_json(document)
    assert json.loads(written) == document
    assert canonical_json(json.loads(written)) == written


def test_run_ids_are_fresh_and_safe_as_names() -> None:
    now = datetime(2026, 11, 21, 4, 15, 30, tzinfo=UTC)
    ids = {new_run_id(now) for _ in range(100)}
    assert len(ids) > 90
    assert all(re.fullmatch(r"20261121T041530Z-[0-9a-f]{6}", run_id) for run_id in ids)


def test_a_plan_comes_back_from_its_bytes() -> None:
    case = Case(id="0" * 16, target="nvme", backend=BACKEND, workload=WORKLOAD)
    plan = Plan(
        run_id="r",
        suite="sweep",
        records="/r/x.ndjson",
        layout=LAYOUT,
        targets=[TARGET],
        stop_rule=Named(name="fixed"),
        cases=[case],
    )
    assert Plan.model_validate_json(plan_bytes(plan)) == plan


def test_the_dataset_a_case_shares_belongs_to_it() -> None:
    alone = case_id(BACKEND, WORKLOAD, TARGET, LAYOUT)
    assert case_id(BACKEND, WORKLOAD, TARGET, LAYOUT, "") == alone
    assert len({alone, *(case_id(BACKEND, WORKLOAD, TARGET, LAYOUT, name) for name in ("a", "b"))}) == 3
