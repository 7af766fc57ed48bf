# SPDX-License-Identifier: Apache-2.0
"""Logs of Darshan, made by hand and public ones: what a job did, and what is wrong with it."""

import csv
import gzip
import io
import random
import tracemalloc
import zlib
from pathlib import Path

import pytest

from support.darshan_log import made, record, trace, transfers
from support.data import some
from support.public_data import unpacked
from ullage.errors import UserError
from ullage.importers import read
from ullage.importers.darshan import traces_at
from ullage.importers.darshan.causes import causes_of
from ullage.importers.darshan.job import Facts, read_facts
from ullage.importers.darshan.log import Log

MIB = 1 << 20
WRITES = transfers("write", 1000, 4096, seconds=20.0)


def facts_of(content: bytes) -> Facts:
    return read_facts(io.BytesIO(content))


def kinds(content: bytes) -> list[str]:
    return [cause.kind for cause in causes_of(facts_of(content))]


@pytest.mark.parametrize("sign", ["<", ">"])
@pytest.mark.parametrize("gap", [0, 8192])
def test_a_log_of_either_byte_order_says_what_the_job_did(sign: str, gap: int, tmp_path: Path) -> None:
    records = [record("POSIX", 7 + rank, rank, WRITES, sign) for rank in range(4)]
    path = tmp_path / "app.darshan"
    path.write_bytes(made({"POSIX": records}, sign=sign, gap=gap))
    summary = read(path)
    rows = {(row.metric, row.access): row for row in summary.rows if "size" not in row.params}
    assert rows["moved", "write"].median == 4 * 1000 * 4096
    assert rows["operations", "write"].median == 4000
    assert rows["bandwidth", "write"].median == pytest.approx(4 * 1000 * 4096 / 20)
    assert rows["bandwidth", "write"].params["file_mode"] == "per-process"
    assert rows["consecutive", "write"].median == pytest.approx(0.999)
    assert rows["run_time", ""].median == 100
    of_size = [row.params["size"] for row in summary.rows if "size" in row.params]
    assert of_size == ["1K to 10K"]
    told = {one.kind: one for one in summary.findings}
    assert told["job"].text.startswith("4 ranks ran for")
    assert "4,000 of 4,000 operations" in told["small-operations"].text


def test_a_packed_log_of_a_shared_file_is_read(tmp_path: Path) -> None:
    content = made({"POSIX": [record("POSIX", 7, -1, WRITES)]}, names={6: "/a", 7: "/scratch/out.h5"})
    path = tmp_path / "app.darshan.gz"
    path.write_bytes(gzip.compress(content))
    assert {row.word("file_mode") for row in read(path).rows if row.access} == {"shared"}
    assert facts_of(content).job.program == "/opt/app --now"


@pytest.mark.parametrize("sign", ["<", ">"])
def test_traced_transfers_come_in_the_order_in_which_they_began(sign: str, tmp_path: Path) -> None:
    records = [record("POSIX", 7, rank, transfers("write", 3, 100), sign) for rank in range(2)]
    traces = [
        trace(7, 0, [(200, 100, 3.0), (0, 100, 1.0), (100, 100, 2.0)], [(5, 1, 9.0)], sign),
        trace(7, 1, [], [(300, 7, 1.0)], sign),
    ]
    path = tmp_path / "app.darshan"
    path.write_bytes(made({"POSIX": records, "DXT_POSIX": traces}, sign=sign))
    found = [(one.file, one.rank, one.access, one.offsets.tolist(), one.lengths.tolist()) for one in traces_at(path)]
    assert found == [
        (7, 0, "write", [0, 100, 200], [100, 100, 100]),
        (7, 0, "read", [5], [1]),
        (7, 1, "read", [300], [7]),
    ]
    assert {(row.access, row.median) for row in read(path).rows if row.metric == "traced"} == {
        ("write", 3),
        ("read", 2),
    }
    path.write_bytes(made({"POSIX": records, "DXT_POSIX": [traces[0][:-1]]}, sign=sign))
    with pytest.raises(UserError, match="is damaged"):
        read(path)


LARGE = transfers("write", 1000, 4 * MIB, seconds=20.0)
APART = {"CONSEC_WRITES": 0.0, "FILE_NOT_ALIGNED": 1000.0, "STRIDE1": 141024.0, "STRIDE_COUNT1": 999.0}


@pytest.mark.parametrize(
    ("rank", "numbers", "expected"),
    [
        (0, LARGE, []),
        (0, WRITES, ["small-operations"]),
        (-1, WRITES, ["small-operations"]),
        (0, {**LARGE, "SEQ_WRITES": 500.0}, ["random-access"]),
        (
            -1,
            transfers("write", 1000, 47008, seconds=20.0, **APART),
            ["small-operations", "misaligned", "shared-without-collectives"],
        ),
        (0, transfers("write", 1000, 3 * MIB, FILE_NOT_ALIGNED=900.0, FILE_ALIGNMENT=2.0 * MIB), ["off-stripes"]),
        (0, transfers("read", 1000, 4 * MIB, MAX_BYTE_READ=40.0 * MIB), ["read-again"]),
    ],
)
def test_each_cause_is_named_and_no_other(rank: int, numbers: dict[str, float], expected: list[str]) -> None:
    shared = {"SLOWEST_RANK_TIME": 6.0} if rank < 0 else {}
    of_ranks = range(4) if rank == 0 else [rank]
    log = made({"POSIX": [record("POSIX", 7 + one, one, {**numbers, **shared}) for one in of_ranks]})
    assert kinds(log) == expected


def test_collective_calls_are_no_cause() -> None:
    shared = {"SLOWEST_RANK_TIME": 6.0}
    below = record("POSIX", 7, -1, {**transfers("write", 1000, 47008, seconds=20.0, **APART), **shared})
    above = record("MPI-IO", 7, -1, {"COLL_WRITES": 1000, "BYTES_WRITTEN": 47008000, **shared})
    assert "shared-without-collectives" not in kinds(made({"POSIX": [below], "MPI-IO": [above]}))


def test_many_files_and_ranks_that_do_all_or_wait_are_named() -> None:
    small = transfers("write", 1, 3901, seconds=0.001)
    assert kinds(made({"POSIX": [record("POSIX", file, file % 4, small) for file in range(2000)]})) == ["many-names"]
    alone = made({"POSIX": [record("POSIX", 7, 0, LARGE)]})
    assert kinds(alone) == ["one-rank"]
    slow = [record("POSIX", 7 + rank, rank, {**LARGE, "WRITE_TIME": 50.0 if rank == 3 else 1.0}) for rank in range(4)]
    found = causes_of(facts_of(made({"POSIX": slow})))
    assert [cause.kind for cause in found] == ["uneven-ranks"]
    assert found[0].lost == pytest.approx(50.01 - 53.04 / 4)


def test_work_of_no_time_is_not_judged() -> None:
    quick = {**WRITES, "WRITE_TIME": 0.001, "META_TIME": 0.0}
    assert kinds(made({"POSIX": [record("POSIX", 7, 0, quick)]})) == []


@pytest.mark.parametrize("cut", [3, 16, 200, 1400, -1])
def test_a_log_that_is_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "app.darshan"
    path.write_bytes(made({"POSIX": [record("POSIX", 7, 0, WRITES)]})[:cut])
    with pytest.raises(UserError):
        read(path)


def test_damaged_logs_end_in_one_line(tmp_path: Path) -> None:
    whole = made({"POSIX": [record("POSIX", 7, 0, WRITES)], "STDIO": [record("STDIO", 8, 0, {"WRITES": 3})]})
    dice = random.Random(43)
    path, refused = tmp_path / "app.darshan", list[str]()
    for _ in some(range(150)):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.choice((dice.randrange(1400), dice.randrange(len(whole))))] = dice.randrange(256)
        path.write_bytes(damaged)
        try:
            read(path)
        except UserError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert not [said for said in refused if "\n" in said]


def test_memory_does_not_grow_with_the_records() -> None:
    piece = zlib.compress(b"".join(record("POSIX", 7 + file, file % 4, WRITES) for file in range(50)))

    def most(pieces: int) -> int:
        content = made({"POSIX": [b""]})
        place = Log.read(io.BytesIO(content)).regions["POSIX"].offset
        index = content.index(place.to_bytes(8, "little"))
        body = piece * pieces
        content = content[: index + 8] + len(body).to_bytes(8, "little") + content[index + 16 : place] + body
        stream = io.BytesIO(content)
        del content, body
        tracemalloc.start()
        facts = read_facts(stream)
        assert facts.groups[0].operations() == pieces * 50 * 1000
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    most(10)
    assert most(1600) < 1.5 * most(100)


# Wishes of the labels: what was induced, and under which name it is found here.
_LABELS = {
    "small-io": "small-operations",
    "random-access": "random-access",
    "small-io-shared": "many-names",
    "non-collective-io": "shared-without-collectives",
    "misaligned-io": "misaligned",
}


def test_every_public_log_is_read(tmp_path: Path) -> None:
    root = unpacked("darshan-logs", tmp_path, lambda path: path.endswith(".darshan"))
    versions = set[str]()
    for path in some(root.rglob("*.darshan")):
        with path.open("rb") as stream:
            versions.add(Log.read(stream).version)
        if path.stem != "empty_log":
            assert some(read(path).rows), path.name
    assert versions >= {"3.00", "3.10", "3.20", "3.21", "3.41"}


def test_every_label_is_found_and_almost_nothing_else(tmp_path: Path) -> None:
    root = unpacked("io500-trace-ds", tmp_path, lambda path: path.endswith((".darshan", "table.csv")))
    with next(root.rglob("io_issues_table.csv")).open(newline="") as stream:
        table = {row[""].removesuffix("_.txt"): row for row in csv.DictReader(stream)}
    named = {
        name.replace("1073741824_transferSize_1M_", "1GB_transferSize_1MB_").replace(
            "1073741824_trans", "1GB_trans"
        ): row
        for name, row in table.items()
    }
    told, wrong, judged = 0, list[str](), 0
    for path in some(root.rglob("*.darshan")):
        label = next((row for name, row in named.items() if path.name.startswith(f"{name}_")), None)
        if label is None:
            continue
        with path.open("rb") as stream:
            found = {cause.kind for cause in causes_of(read_facts(stream))}
        expected = {kind for name, kind in _LABELS.items() if label[name] == "True"}
        assert expected <= found, path.name
        told, judged = told + len(found), judged + 1
        wrong += [f"{path.name}: {kind}" for kind in found - expected]
    assert judged >= 8
    # POSIX has no collective calls: both settings leave the same log, and only one of them has the label.
    assert [one for one in wrong if "ior-hard_api_POSIX" not in one] == []
    assert len(wrong) <= max(1, told // 20)
