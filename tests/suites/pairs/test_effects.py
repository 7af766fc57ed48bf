# SPDX-License-Identifier: Apache-2.0
"""Slow ends and slow links are told apart, and noise is neither."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.make_records import make_launch, make_run
from support.pairs_world import matrix_repetition
from ullage.arrays import NDArray, np
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.results.rows import join
from ullage.suites.pairs.effects import PairMatrix, fit, polished, read_matrices

Slow = Mapping[tuple[int, int], float]


def made(
    ends: int,
    *,
    sends: Mapping[int, float] | None = None,
    receives: Mapping[int, float] | None = None,
    links: Slow | None = None,
    noise: float = 0.02,
    repetitions: int = 6,
    seed: int = 1,
) -> NDArray[np.float64]:
    """Times of 1 ms by factors of ends and links, with noise."""
    times = np.full((ends, ends), 1e-3)
    for end, factor in (sends or {}).items():
        times[end, :] *= factor
    for end, factor in (receives or {}).items():
        times[:, end] *= factor
    for (sender, receiver), factor in (links or {}).items():
        times[sender, receiver] *= factor
    np.fill_diagonal(times, np.nan)
    random = np.random.default_rng(seed)
    return times * np.exp(noise * random.standard_normal((repetitions, ends, ends)))


@pytest.mark.parametrize("ends", [4, 5, 8, 33])
def test_a_slow_end_is_one_slow_end_and_no_slow_link(ends: int) -> None:
    found = fit(made(ends, sends={ends - 1: 8.0}, receives={ends - 1: 8.0}))
    (slow,) = found.ends
    assert slow.end == ends - 1
    assert slow.sends == pytest.approx(8.0, rel=0.1)
    assert slow.receives == pytest.approx(8.0, rel=0.1)
    assert (found.links, found.asymmetric) == ((), ())


def test_an_end_that_only_sends_slowly_is_said_so_and_its_pairs_are_not_all_asymmetric() -> None:
    found = fit(made(8, sends={2: 3.0}))
    (slow,) = found.ends
    assert (slow.end, slow.receives) == (2, 1.0)
    assert slow.sends == pytest.approx(3.0, rel=0.1)
    assert (found.links, found.asymmetric) == ((), ())


@pytest.mark.parametrize("ends", [4, 8, 33])
def test_a_slow_link_is_one_link_and_no_slow_end(ends: int) -> None:
    found = fit(made(ends, links={(0, 1): 2.0, (1, 0): 2.0}))
    assert found.ends == ()
    assert {(link.sender, link.receiver) for link in found.links} == {(0, 1), (1, 0)}
    assert all(link.factor == pytest.approx(2.0, rel=0.15) for link in found.links)
    assert found.asymmetric == ()


def test_a_link_that_is_slow_one_way_is_an_asymmetric_pair_too() -> None:
    found = fit(made(6, links={(4, 2): 3.0}))
    assert [(link.sender, link.receiver) for link in found.links] == [(4, 2)]
    (pair,) = found.asymmetric
    assert (pair.sender, pair.receiver) == (4, 2)
    assert pair.factor == pytest.approx(3.0, rel=0.15)


def test_a_slow_end_and_a_slow_link_elsewhere_are_both_found() -> None:
    found = fit(made(8, sends={7: 4.0}, receives={7: 4.0}, links={(1, 2): 2.0}))
    assert [end.end for end in found.ends] == [7]
    assert [(link.sender, link.receiver) for link in found.links] == [(1, 2)]


@pytest.mark.parametrize("seed", range(5))
def test_behind_a_bottleneck_the_other_end_adds_nothing(seed: int) -> None:
    """Links among fast ends differ by what their CPUs do; those of the slow end take what its port takes."""
    random = np.random.default_rng(seed)
    times = np.exp(0.3 * random.standard_normal((4, 4))) * 1e-3
    times[3, :] = times[:, 3] = 40e-3
    np.fill_diagonal(times, np.nan)
    found = fit(times * np.exp(0.02 * random.standard_normal((6, 4, 4))))
    assert [end.end for end in found.ends] == [3]
    named = {(link.sender, link.receiver) for link in found.links}
    assert not any(3 in pair for pair in named)
    assert not any(3 in (pair.sender, pair.receiver) for pair in found.asymmetric)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_noise_is_neither(noise: float, seed: int) -> None:
    for ends in (2, 3, 4, 12):
        found = fit(made(ends, noise=noise, seed=seed))
        assert (found.ends, found.links, found.asymmetric) == ((), (), ())


@pytest.mark.parametrize("ends", [2, 3])
def test_of_few_ends_only_what_differs_by_direction_is_named(ends: int) -> None:
    found = fit(made(ends, links={(0, 1): 2.0}))
    assert (found.ends, found.links) == ((), ())
    assert [(pair.sender, pair.receiver) for pair in found.asymmetric] == [(0, 1)]


def test_what_was_slow_once_is_not_named() -> None:
    times = made(8)
    times[2, 3, :] *= 5
    times[4, 1, 6] *= 5
    found = fit(times)
    assert (found.ends, found.links, found.asymmetric) == ((), (), ())
    found = fit(made(8, sends={1: 9.0}, repetitions=2))
    assert found.ends == (), "two repetitions are too few"


def test_the_polish_gives_back_what_was_put_in() -> None:
    times = made(6, sends={0: 2.0}, receives={5: 3.0}, noise=0.0, repetitions=1)[0]
    found = polished(np.log(times))
    assert found.common == pytest.approx(np.log(1e-3))
    assert found.sends == pytest.approx([np.log(2), 0, 0, 0, 0, 0])
    assert found.receives == pytest.approx([0, 0, 0, 0, 0, np.log(3)])
    assert np.nanmax(np.abs(found.links)) == pytest.approx(0.0, abs=1e-9)


def test_a_table_gives_the_same_matrix_as_a_record(tmp_path: Path) -> None:
    """The rows of every 3rd end may come in any order."""
    ends, stride = 5, 3
    pairs = [(i, j) for i in range(ends) for j in range(ends) if i != j]
    rows = [(stride * i, stride * j, 1e-6 * (1 + ends * i + j)) for i, j in reversed(pairs)]
    places = b"".join(struct.pack("<ii64s", stride * i, i, f"n{i}".encode()) for i in range(ends))
    (tmp_path / "t.pairs").write_bytes(places + b"".join(struct.pack("<iid", *row) for row in rows))
    in_record = {
        "ends": [f"node{i}:rank{stride * i}" for i in range(ends)],
        "hosts": [f"n{i}" for i in range(ends)],
        "one_way_s": [list(row) for row in rows],
    }
    in_table = {"table": {"name": "t.pairs", "ends": ends, "pairs": len(rows), "path": str(tmp_path / "t.pairs")}}
    found = [_matrix_of({"traffic": "ping-pong", "stride": stride, **facts}) for facts in (in_record, in_table)]
    assert found[0].names == found[1].names == ("n0", "n1", "n2", "n3", "n4")
    assert np.array_equal(found[0].times, found[1].times, equal_nan=True)
    assert found[0].times[0, 1, 2] == pytest.approx(1e-6 * (1 + ends + 2))


def _matrix_of(facts: dict[str, object]) -> PairMatrix:
    (phase, case) = matrix_repetition("c", 0, lambda *_: 1e-6, traffic="ping-pong")
    assert isinstance(phase, PhaseRecord)
    assert isinstance(case, CaseRecord)
    own = phase.model_copy(update={"facts": facts})
    run = make_run(5).model_copy(update={"suite": "pairs"})
    (matrix,) = read_matrices(join([make_launch([own, case], run=run)]))
    return matrix
