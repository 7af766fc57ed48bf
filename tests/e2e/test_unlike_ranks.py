# SPDX-License-Identifier: Apache-2.0
"""Ranks that are not like the others: in a container of their own, or of another build of the engine."""

import re
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import command
from tests.e2e.commands import run as run_command
from tests.e2e.launching import case, code_of, plan, run

from ullage.engine import describe
from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT

# In a process-number space of its own each rank is process 1.
_CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc")
_IS_RANK_1 = '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ]'


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("#!/bin/bash", *lines)) + "\n")
    path.chmod(0o755)
    return path


@pytest.mark.fault(
    "each rank in a container of its own, where the number of the shared memory is another file's",
    "that file is left as it is, the case fails in one line, the next one is run",
)
def test_memory_is_not_shared_with_a_foreign_file(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if code_of([*_CONTAINER, "true"]) != 0:
        pytest.skip("process-number spaces are not permitted here (unshare --pid --mount-proc)")
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")  # Open MPI's own shared memory does not stand two containers
    victim = tmp_path / "victim"
    content = b"precious" * 1_000_000
    victim.write_bytes(content)
    opens = f"{_IS_RANK_1} && for number in $(seq 10 90); do eval \"exec $number<>'{victim}'\"; done"
    contained = script(
        tmp_path / "contained",
        f'[ "$1" = run ] || exec {engine} "$@"',
        opens,
        f'exec {" ".join(_CONTAINER)} {engine} "$@"',
    )
    shared = case("memory", {"pages": "shared"})
    own = case("memory", {"pages": "heap"})
    done = run(contained, tmp_path, plan(tmp_path, [shared, own], "memory:"))
    assert done.code == EXIT_CASE_FAILED, done.stderr
    assert victim.read_bytes() == content
    failures = [event.text for event in done.of("event") if event.code == "case-failed" and event.rank == 1]
    assert len(failures) == 1
    assert re.fullmatch(
        r"make backend: rank 1 on \S+: /proc/1/fd/\d+: another file is here, not the memory of the node's first rank: "
        r"ranks that share memory have to see each other's processes; start the ranks of a node in one container",
        failures[0],
    )
    assert [record.case for record in done.of("case") if record.status == "ok"] == [own["id"]]


def mixed(engine: Path, tmp_path: Path) -> Path:
    """An engine whose rank 1 is of another commit."""
    git = describe(engine).engine.git
    other = tmp_path / "other-engine"
    other.write_bytes(engine.read_bytes().replace(git.encode(), b"x" * len(git)))
    other.chmod(0o755)
    assert describe(other).engine.git == "x" * len(git)
    return script(tmp_path / "mixed-engine", f'{_IS_RANK_1} && exec {other} "$@"', f'exec {engine} "$@"')


@pytest.mark.fault(
    "a rank of another build of the engine", "exit 3, one line names it and both builds; nothing is touched"
)
def test_ranks_of_another_build_are_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    engines = mixed(engine, tmp_path)
    told = re.compile(
        r"^ullage-engine: rank 1 on \S+: runs another build of the engine than rank 0: version \S+, git x+ instead of "
        rf"version \S+, git {re.escape(describe(engine).engine.git)}; install one build on all nodes$",
        re.MULTILINE,
    )
    done = run(engines, tmp_path, plan(tmp_path, [case()], f"posix:{target}"))
    assert done.code == EXIT_ENVIRONMENT, done.stderr
    assert len(told.findall(done.stderr)) == 1, done.stderr
    assert not done.path.exists()
    assert launching.untouched(target)
    words = ("--target", f"t={target}", "--ranks", "2", "--block", "64K", "--volume", "1M", "--time", "20s")
    code, _, errors = run_command(command(engines, "run", "sweep", *words, "--result", str(tmp_path / "result")))
    assert code == EXIT_ENVIRONMENT, errors
    assert "runs another build of the engine than rank 0" in errors
    assert launching.untouched(target)
