# SPDX-License-Identifier: Apache-2.0
"""From words, hosts and a pattern file to cases."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.pairs_world import pairs_describe
from ullage.errors import UserError
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import Quick, find_suite
from ullage.suites.pairs.suite import MOST_ENDS, PairsOptions, every_of, prepare_pairs, read_pattern

GROUND = EngineContext(Path("/engine"), pairs_describe())


def prepared(
    hosts: list[str] | None = None, environment: dict[str, str] | None = None, **words: object
) -> PreparedKernels:
    asked = parse_options(PairsOptions, **words)  # type: ignore[arg-type]
    request = Request(
        run_id="r1", suite="pairs", created="now", targets=asked.targets, options=asked.options, hosts=hosts or []
    )
    return prepare_pairs(request, GROUND, environment or {})


def patterns(ready: PreparedKernels) -> list[str]:
    return [str(c.case.workload.parameters.get("pattern", "pairs")) for c in ready.cases]


def test_small_messages_go_there_and_back_and_large_ones_one_way() -> None:
    ready = prepared(ranks=4)
    small, large, *_ = [one.case.workload.parameters for one in ready.cases]
    assert "traffic" not in small  # the engine's default
    assert small["at_once"] is True
    assert (large["traffic"], large["message_bytes"]) == ("one-way", 1 << 20)
    assert patterns(ready)[2:] == ["best-bisection", "worst-bisection", "incast", "outcast", *["random-bisection"] * 3]
    assert len({one.case.id for one in ready.cases}) == 9
    assert {one.layout.ranks for one in ready.cases} == {4}


def test_of_two_ranks_there_is_one_bisection_and_a_first_look_is_short() -> None:
    assert patterns(prepared(ranks=2)) == ["pairs", "pairs", "best-bisection"]
    suite = find_suite("pairs")
    assert isinstance(suite, Quick)
    asked = suite.quick([])
    assert asked is not None
    assert asked.options["ranks"] is None, "a rank a core"
    quick = prepared(ranks=2, quick=True)
    assert quick.options.repetitions * sum(one.seconds for one in quick.cases) < 3


def test_hosts_are_nodes_with_a_rank_each_between_which_is_measured() -> None:
    ready = prepared(hosts=["a", "b", "c"])
    layout = ready.cases[0].layout
    assert (layout.ranks, layout.nodes, layout.ranks_per_node) == (3, 3, 1)
    assert ready.cases[0].case.workload.parameters["between"] == "nodes"
    assert ready.request.options["between"] == "nodes", "it is kept for a run that is gone on with"
    more = prepared(hosts=["a", "b"], ranks=8).cases[0].layout
    assert (more.ranks, more.nodes, more.ranks_per_node) == (8, 2, 4)
    assert "between" not in prepared(hosts=["a", "b"], ranks=8, between="ranks").cases[0].case.workload.parameters


def test_a_batch_job_says_how_many_nodes_there_are() -> None:
    assert prepared(environment={"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "5"}).cases[0].layout.nodes == 5
    assert prepared(environment={"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "5"}, nodes=3).cases[0].layout.nodes == 3


def test_one_at_a_time_is_the_engines_default_and_one_node_stays_one() -> None:
    ready = prepared(ranks=3, one_at_a_time=True)
    assert "at_once" not in ready.cases[0].case.workload.parameters
    assert ready.cases[0].layout.nodes == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"ranks": 1}, "--ranks 1: must be at least 2"),
        ({"ranks": 4, "between": "nodes"}, "there is one node"),
        ({"ranks": 4, "between": "racks"}, "--between"),
        ({"sizes": "0"}, "--sizes"),
        ({"sizes": "8,,1M"}, "--sizes"),
        ({"sizes": "2G"}, "--sizes"),
        ({"pattern": Path("/no/such/file"), "ranks": 2}, "--pattern /no/such/file: No such file"),
    ],
)
def test_what_makes_no_pairs_is_refused_with_a_line(words: dict[str, object], text: str) -> None:
    with pytest.raises(UserError) as caught:
        prepared(**words)  # type: ignore[arg-type]
    assert text in str(caught.value)


def test_a_pattern_of_ones_own_is_measured_with_every_size(tmp_path: Path) -> None:
    file = tmp_path / "my.pattern"
    file.write_text("0 1\n1 2 3  # three of them\n")
    ready = prepared(ranks=3, pattern=file, sizes="8,64K")
    own = [
        one.case.workload.parameters for one in ready.cases if one.case.workload.parameters.get("pattern") == "sparse"
    ]
    assert [one["message_bytes"] for one in own] == [8, 65536]
    assert all(one["file"] == str(file) for one in own)
    assert read_pattern(file, 3).messages == 4
    file.write_text("0 1\n")
    with pytest.raises(UserError, match="the file has changed"):
        prepare_pairs(ready.request, GROUND, {})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("0 1\n0 x\n", "line 2: 'x' is not a whole number"),
        ("0 1\n\n# c\n0 -1", "line 4: '-1' is not a whole number"),
        ("0 1.5", "line 1: '1.5' is not a whole number"),
        ("3", "line 1: no rank to send to"),
        ("0 1 1 1", "line 1: more than three words"),
        ("0 4", "line 1: rank 4 of 4 ranks"),
        ("2 2", "line 1: rank 2 sends to itself"),
        ("0 1 0", "line 1: a weight from 1 to 1024"),
        ("0 1 1025", "line 1: a weight from 1 to 1024"),
        ("0 1\n1 0\n0 1 3", "line 3: this link is given twice"),
        ("# nothing\n", "no link in it"),
    ],
)
def test_a_mistake_in_a_pattern_names_its_line(tmp_path: Path, text: str, wrong: str) -> None:
    """The same texts as in the engine's own test of its reader."""
    file = tmp_path / "p"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_pattern(file, 4)
    assert wrong in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_binary_file_is_no_pattern(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_bytes(b"\xff\xfe0 1\n")
    with pytest.raises(UserError, match=":1: is not UTF-8 text"):
        read_pattern(file, 2)


def test_the_plan_names_every_case(tmp_path: Path) -> None:
    ready = prepared(ranks=2, quick=True)
    (plan,) = ready.plans(ResultFolder(tmp_path))
    assert [case.target for case in plan.cases] == ["mpi"] * 3
    assert [row[:3] for row in ready.explain().rows] == [
        ["ping-pong", "pairs of ranks", "8"],
        ["ping-pong", "pairs of ranks", "1M"],
        ["exchange", "best-bisection", "1M"],
    ]


@pytest.mark.parametrize(
    ("ends", "every"), [(2, 1), (1024, 1), (1025, 3), (2048, 3), (3073, 5), (5121, 7), (100_000, 101)]
)
def test_of_more_ends_than_a_matrix_has_every_nth_takes_part(ends: int, every: int) -> None:
    assert every_of(ends) == every
    assert -(-ends // every) <= MOST_ENDS


@given(ends=st.integers(2, 10_000_000))
def test_the_sample_of_ends_is_small_and_divides_no_node(ends: int) -> None:
    every = every_of(ends)
    assert 2 <= -(-ends // every) <= MOST_ENDS
    assert every == 1 or (every % 2 == 1 and all(every % one for one in range(3, int(every**0.5) + 1)))


def test_a_sample_is_noted_and_its_parameter_is_that_of_the_engine() -> None:
    ready = prepared(ranks=2000, oversubscribe=True)
    assert [note.code for note in ready.notes] == ["pairs-sampled"]
    assert ready.cases[0].case.workload.parameters["every"] == 3
    few = prepared(ranks=8)
    assert few.notes == ()
    assert "every" not in few.cases[0].case.workload.parameters
