# SPDX-License-Identifier: Apache-2.0
"""Tables of pairs beside the records, as the engine writes them."""

import struct
from pathlib import Path

import pytest

from support.make_records import make_phase
from ullage.pair_tables import locate_table, pair_table
from ullage.results.records import read_records

NAME = "001.ndjson.c.0.pairs"


def table_bytes(hosts: list[str], times: list[tuple[int, int, float]]) -> bytes:
    """The file of so many ends, end i being rank 2 i on node i."""
    ends = b"".join(struct.pack("<ii64s", 2 * i, i, host.encode()) for i, host in enumerate(hosts))
    return ends + b"".join(struct.pack("<iid", *one) for one in times)


def facts_of(ends: int, pairs: int) -> dict[str, object]:
    return {"traffic": "ping-pong", "table": {"name": NAME, "ends": ends, "pairs": pairs}}


def test_a_table_is_found_beside_the_records_and_read(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(table_bytes(["a", "b" * 64], [(0, 1, 1e-6), (1, 0, 2e-6)]))
    phase = make_phase("c", 0, phase="pairs", facts=facts_of(2, 2))
    (tmp_path / "001.ndjson").write_text(phase.model_dump_json() + "\n")
    file = read_records(tmp_path / "001.ndjson")
    assert not file.problems
    found = pair_table(file.phases[0].facts)
    assert found is not None
    assert found.ends == ("node0:rank0", "node1:rank2")
    assert found.hosts == ("a", "b" * 64)
    assert found.senders.tolist() == [0, 1]
    assert found.receivers.tolist() == [1, 0]
    assert found.seconds.tolist() == [1e-6, 2e-6]


@pytest.mark.parametrize(
    ("facts", "content", "wrong"),
    [
        (facts_of(2, 2), None, "is not there"),
        (facts_of(2, 2), b"short", "has 5 bytes instead of 176"),
        ({"table": {"name": "../x", "ends": 1, "pairs": 1}}, b"", "no name of a file"),
        ({"table": {"name": NAME, "ends": -1, "pairs": 1}}, b"", "no numbers"),
        ({"table": {"name": NAME, "ends": "many", "pairs": 1}}, b"", "no numbers"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_and_nothing_is_read(
    tmp_path: Path, facts: dict[str, object], content: bytes | None, wrong: str
) -> None:
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    assert wrong in locate_table(facts, tmp_path)
    assert pair_table(facts) is None
    phase = make_phase("c", 0, phase="pairs", facts=facts)
    (tmp_path / "001.ndjson").write_text(phase.model_dump_json() + "\n")
    file = read_records(tmp_path / "001.ndjson")
    assert [one.line for one in file.problems] == [1]
    assert wrong in file.problems[0].text
    assert len(file.phases) == 1, "the rest of the record is good"


def test_a_path_in_the_records_is_not_followed(tmp_path: Path) -> None:
    facts: dict[str, object] = {"table": {"name": NAME, "ends": 0, "pairs": 0, "path": "/etc/passwd"}}
    assert locate_table(facts, tmp_path)
    assert pair_table(facts) is None
    (tmp_path / NAME).symlink_to("/dev/null")
    assert "bytes instead of" in locate_table(facts, tmp_path)


def test_records_without_a_table_have_none(tmp_path: Path) -> None:
    facts: dict[str, object] = {"one_way_s": [[0, 1, 1e-6]]}
    assert locate_table(facts, tmp_path) == ""
    assert pair_table(facts) is None
