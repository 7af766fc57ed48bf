# SPDX-License-Identifier: Apache-2.0
"""Finding the engine, asking it, and checking values against its answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.simulated_engine import built_engine
from ullage.engine import describe, find_engine, find_registered, needs_of, registered, validate_parameters
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Layout, Named

FAKE = Path(__file__).parent / "support" / "fake_engine.py"


def test_an_engine_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = tmp_path / "ullage-engine"
    beside.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.delenv("ULLAGE_ENGINE", raising=False)
    assert find_engine() == beside
    monkeypatch.setenv("ULLAGE_ENGINE", str(FAKE))
    assert find_engine() == FAKE
    assert find_engine(beside) == beside


def test_a_missing_or_unusable_engine_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "text").touch(mode=0o644)
    for path in (tmp_path / "none", tmp_path / "text", tmp_path):
        with pytest.raises(UserError, match="make setup") as caught:
            find_engine(path)
        assert caught.value.code == EXIT_ENVIRONMENT


def test_describe_is_asked_once_for_each_state_of_the_file(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho asked >> "{tmp_path}/log"\nexec "{FAKE}" "$@"\n')
    engine.chmod(0o755)
    assert describe(engine) is describe(engine)
    assert (tmp_path / "log").read_text().count("asked") == 1
    os.utime(engine, ns=(1, 1))
    describe(engine)
    assert (tmp_path / "log").read_text().count("asked") == 2


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("#!/bin/sh\necho nonsense\n", "ullage.describe/1"),
        ('#!/bin/sh\necho \'{"schema": "other/1"}\'\n', "ullage.describe/1"),
        ("#!/bin/sh\necho no MPI here >&2; exit 7\n", "no MPI here"),
        ("#!/nonexistent/interpreter\n", "cannot be started"),
    ],
)
def test_an_engine_that_gives_no_description_is_refused_in_one_line(tmp_path: Path, script: str, what: str) -> None:
    engine = tmp_path / "engine"
    engine.write_text(script)
    engine.chmod(0o755)
    with pytest.raises(UserError, match=what) as caught:
        describe(engine)
    assert str(caught.value).isprintable()


def test_needs_are_asked_once_for_the_same_cases(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho asked >> "{tmp_path}/log"\nexec "{built_engine()}" "$@"\n')
    engine.chmod(0o755)
    sizes = {"file_mode": "per-process", "transfer_bytes": 8, "block_bytes": 24}
    cases = [(Layout(ranks=ranks), Named(name="transfer", parameters=sizes)) for ranks in (1, 3)]
    found = [(needs.bytes, needs.inodes, needs.one_folder) for needs in needs_of(engine, cases)]
    assert found == [(24, 1, False), (72, 3, False)]
    assert needs_of(engine, cases) is needs_of(engine, iter(cases))
    assert (tmp_path / "log").read_text().count("asked") == 1
    assert [*needs_of(engine, [])] == []


def test_cases_that_the_engine_refuses_are_named() -> None:
    wrong = [(Layout(ranks=1), Named(name="transfers"))]
    with pytest.raises(UserError, match=r"`needs` ended with 2: .*/0/workload/name.*no workload is called 'transfers'"):
        needs_of(built_engine(), wrong)


def test_an_engine_that_answers_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\necho '[{}]'\n")
    engine.chmod(0o755)
    with pytest.raises(UserError, match="`needs` gave no list of needs: 0/bytes: Field required"):
        needs_of(engine, [(Layout(ranks=1), Named(name="sar"))])


def test_things_are_found_by_kind_and_name() -> None:
    description = describe(FAKE)
    assert [thing.name for thing in registered(description, "workload")] == ["transfer"]
    assert find_registered(description, "stop rule", "fixed").doc
    with pytest.raises(UserError, match="did you mean 'posix'"):
        find_registered(description, "backend", "posxi")
    with pytest.raises(UserError, match="libpmem not found") as caught:
        find_registered(description, "backend", "pmem")
    assert caught.value.code == EXIT_ENVIRONMENT


def test_parameters_are_checked_against_the_description() -> None:
    description = describe(FAKE)
    given = {"transfer_bytes": 4096, "segments": 1}
    assert validate_parameters(description, "workload", "transfer", given) == {"transfer_bytes": 4096}
    with pytest.raises(UserError, match="did you mean 'segments'"):
        validate_parameters(description, "workload", "transfer", {"segment": 1})
    with pytest.raises(UserError, match="none is taken here"):
        validate_parameters(description, "backend", "null", {"direct": True})
    with pytest.raises(UserError, match=r"workload 'transfer': 'transfer_bytes': 4 is out of range; must be a size"):
        validate_parameters(description, "workload", "transfer", {"transfer_bytes": 4})


def test_texts_of_a_description_are_harmless(tmp_path: Path) -> None:
    said = subprocess.run([str(FAKE), "describe"], capture_output=True, check=True).stdout
    document = json.loads(said)
    document["engine"]["mpi"]["library"] = "Open MPI \x1b[2J\x9b\u202e"
    (tmp_path / "said").write_text(json.dumps(document))
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\ncat '{tmp_path}/said'\n")
    engine.chmod(0o755)
    found = describe(engine).engine.mpi
    assert found is not None
    assert found.library == "Open MPI \\u001b[2J\\u009b\\u202e"
