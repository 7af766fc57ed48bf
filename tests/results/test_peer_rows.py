# SPDX-License-Identifier: Apache-2.0
"""Which peer's number stands beside which row."""

from support.make_records import make_row
from ullage.model.record import PeerRecord
from ullage.model.summary import Peer
from ullage.results.rows import with_peers

ROW = make_row(2.0, access="write").model_copy(update={"case": "c1"})


def record(**members: object) -> PeerRecord:
    usual: dict[str, object] = {
        "case": "c1",
        "phase": "write",
        "tool": "fio",
        "version": "3.33",
        "repetition": 0,
        "values": {ROW.metric: 1.0},
        "command": ["fio"],
    }
    return PeerRecord.model_validate(usual | members)


def test_a_row_gets_the_median_over_the_repetitions() -> None:
    runs = [record(repetition=i, values={ROW.metric: value, "other": 99.0}) for i, value in enumerate((5.0, 1.0, 2.0))]
    (row,) = with_peers([ROW], runs)
    assert row.peer == Peer(tool="fio", version="3.33", median=2.0, samples=3)
    assert row.model_copy(update={"peer": None}) == ROW
    (even,) = with_peers([ROW], runs[:2])
    assert even.peer is not None
    assert even.peer.median == 3.0


def test_only_the_same_case_phase_and_metric_count() -> None:
    others = [record(case="c2"), record(phase="read"), record(values={"other": 1.0})]
    assert with_peers([ROW], others) == [ROW]
    assert with_peers([ROW], []) == [ROW]
    read = ROW.model_copy(update={"params": {**ROW.params, "access": "read"}})
    filled = with_peers([ROW, read], [record(phase="read", values={ROW.metric: 7.0})])
    assert [row.peer.median if row.peer else None for row in filled] == [None, 7.0]


def test_a_row_may_call_its_phase_a_phase() -> None:
    params = {**{key: value for key, value in ROW.params.items() if key != "access"}, "phase": "write"}
    (row,) = with_peers([ROW.model_copy(update={"params": params})], [record()])
    assert row.peer is not None


def test_numbers_of_two_programs_are_never_mixed() -> None:
    runs = [
        record(tool="zio", values={ROW.metric: 100.0}),
        record(version="3.30", values={ROW.metric: 10.0}),
        record(version="3.33", values={ROW.metric: 20.0}),
        record(tool="aaa", values={"other": 1.0}),
    ]
    (row,) = with_peers([ROW], runs)
    assert row.peer == Peer(tool="fio", version="3.33", median=20.0)
