# SPDX-License-Identifier: Apache-2.0
"""Seeded damage to what other programs print: never a traceback, and never a wrong number where it is stated twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from importers import test_message_texts as messages
from importers import test_storage_documents as documents
from importers import test_storage_texts as storage
from support import mutation
from support.data import some
from ullage.errors import UserError
from ullage.importers import read
from ullage.model.summary import Row, Summary

SAMPLES = {
    "ior-2": storage.IOR_2,
    "ior-3": storage.IOR_3,
    "mdtest-1": storage.MDTEST_1,
    "mdtest-3": storage.MDTEST_3,
    "fio-2": json.dumps(documents.FIO_2, indent=1),
    "fio-3": json.dumps(documents.FIO_3, indent=1),
    "elbencho": documents.ELBENCHO,
    "iozone": documents.IOZONE_T,
    "dlio": json.dumps(documents.DLIO, indent=1),
    "mlperf": json.dumps(documents.MLPERF, indent=1),
    "osu": messages.OSU,
    "imb": messages.IMB,
    "iperf3": messages.IPERF,
    "iperf3-json": json.dumps(messages.IPERF_JSON, indent=1),
    "sockperf": messages.SOCKPERF,
    "netperf": messages.NETPERF,
    "nccl": messages.NCCL,
    "nvbandwidth": messages.NVBANDWIDTH,
    "gpcnet": messages.GPCNET,
    "hpl": messages.HPL,
    "hpcc": messages.HPCC,
    "stream": messages.STREAM,
    "mbw": messages.MBW,
    "sysbench": messages.SYSBENCH,
}
# The metrics of each sample of which it states every number twice: a changed digit is seen, whichever it is.
STATED_TWICE = {
    "ior-2": "bandwidth",
    "ior-3": "bandwidth",
    "dlio": "accelerator_use sample_rate bandwidth",
    "mlperf": "bandwidth",
    "fio-3": "bandwidth operation_rate",
    "iperf3": "network_bandwidth",
    "iperf3-json": "network_bandwidth",
    "nvbandwidth": "copy_bandwidth access_time",
    "hpl": "compute_rate",
    "stream": "memory_bandwidth",
    "mbw": "copy_bandwidth memory_bandwidth",
}
NOTICED = 0.02


def keyed(rows: list[Row]) -> Iterator[tuple[tuple[object, ...], Row]]:
    return (((row.target, row.metric, *row.params.items()), row) for row in rows)


def read_or_none(path: Path) -> Summary | None:
    try:
        return read(path)
    except UserError as error:
        said = str(error)
    assert "\n" not in said
    return None


@pytest.mark.fault("damaged output of another program", "rows of what is left, or one line; never a traceback")
@pytest.mark.parametrize("name", list(SAMPLES))
def test_damaged_texts(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / "x.log", SAMPLES[name].encode()
    for seed in range(mutation.SEED, mutation.SEED + 40):
        random = Random(f"{name}{seed}")
        damaged = bytearray(mutation.damaged_bytes(content, random))
        if random.random() < 0.3:
            del damaged[random.randrange(len(damaged) + 1) :]
        path.write_bytes(damaged)
        found = read_or_none(path)
        assert found is None or all(row.median > 0 or row.unit.startswith("of ") for row in some(found.rows)), seed


@pytest.mark.fault("a changed digit in output of another program", "a flag and a finding where it is stated twice")
@pytest.mark.parametrize("name", list(STATED_TWICE))
def test_a_changed_digit_is_noticed(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / "x.log", SAMPLES[name].encode()
    path.write_bytes(content)
    right = dict(keyed(read(path).rows))
    digits = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    for seed in range(mutation.SEED, mutation.SEED + 80):
        random = Random(f"{name}{seed}")
        place = random.choice(digits)
        changed = bytearray(content)
        changed[place] = random.choice([byte for byte in b"0123456789" if byte != content[place]])
        path.write_bytes(changed)
        found = read_or_none(path)
        if found is None or any(said.kind == "import-contradiction" for said in found.findings):
            continue
        rows = dict(keyed(found.rows))
        # A changed parameter makes another row.
        if rows.keys() == right.keys():
            twice = some(key for key, row in rows.items() if row.metric in STATED_TWICE[name].split())
            off = max(abs(rows[key].median / right[key].median - 1) for key in twice)
            assert off <= NOTICED, (seed, content[place - 20 : place + 20])


@pytest.mark.parametrize("name", [name for name, text in SAMPLES.items() if not text.startswith(("{", "ISO date"))])
@pytest.mark.parametrize("way", ["label", "time", "utf-16", "dos", "colours"])
def test_what_launchers_and_editors_add_changes_nothing(name: str, way: str, tmp_path: Path) -> None:
    path, text = tmp_path / "x.log", SAMPLES[name]
    path.write_text(text)
    plain = dict(keyed(read(path).rows))
    begin = {"label": " 0: ", "time": "[2026-01-02 03:04:05.678] ", "colours": "\x1b[1;32m"}.get(way, "")
    changed = "".join(f"{begin}{line}\n" for line in text.splitlines())
    path.write_bytes(
        (changed.replace("\n", "\r\n") if way == "dos" else changed).encode("utf-16" if way == "utf-16" else "utf-8")
    )
    found = dict(keyed(read(path).rows))
    assert {key: row.repetitions for key, row in found.items()} == {key: row.repetitions for key, row in plain.items()}
    assert [row.flag_codes for row in found.values()] == [row.flag_codes for row in plain.values()]
