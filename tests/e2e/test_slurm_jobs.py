# SPDX-License-Identifier: Apache-2.0
"""Jobs of a real Slurm: runs that are divided over several, that lose a node, and that stage the engine."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_drain import REASON, of_each_node
from tests.e2e.test_slurm import (
    LONG,
    SLEEPING,
    SMALL,
    children,
    has_repetition,
    nodes_of,
    start,
    submit,
    ullage,
    under_way,
    wait_until,
    words_of,
)
from tests.places.slurm import SlurmPlace, slurm_up

from ullage.model.record import CaseRecord
from ullage.results.records import read_records


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmPlace]:
    with slurm_up(4, 2) as place:
        yield place


@pytest.fixture(autouse=True)
def idle(slurm: SlurmPlace) -> Iterator[None]:
    yield
    slurm.cancel_all()


@pytest.mark.each_mpi
def test_the_engine_is_staged_on_each_node_and_removed(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    """Each node of this cluster has a folder of that path of its own, which the login node has not."""
    result, local = tmp_path / "result", slurm.folder / "tmp"
    salloc = ("salloc", "--nodes=2", "--exclusive")
    started = start(slurm, [*salloc, *ullage(engine, "run", *LONG, "--result", str(result), "--stage", str(local))])
    try:
        wait_until(lambda: has_repetition(result) or started.poll() is not None, "no repetition")
        copies = [list(slurm.folder.glob(f"tmp.n{node}/ullage-stage-*/ullage-engine")) for node in (0, 1)]
        assert [len(found) for found in copies] == [1, 1]
        assert copies[0][0].read_bytes() == engine.read_bytes()
        assert copies[0][0].parent.stat().st_mode & 0o777 == 0o700
        ranks = [words_of(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        assert sum(words.startswith(f"{local}/ullage-stage-") for words in ranks) == 2
        os.kill(next(pid for pid in children(started.pid) if "calm_ullage" in words_of(pid)), signal.SIGTERM)
        _, err = started.communicate(timeout=90)
    finally:
        started.kill()
    assert started.returncode == 5, err
    assert list(slurm.folder.glob("tmp.n*/ullage-stage-*")) == []


def test_a_suspect_node_is_drained_with_its_reason_and_the_others_are_not(slurm: SlurmPlace, tmp_path: Path) -> None:
    result = of_each_node(tmp_path, "n1")
    try:
        done = slurm.run(sys.executable, "-m", "ullage", "drain", result, "--system", "slurm", "--apply")
        assert done.returncode == 0, done.stderr
        said = slurm.run("sinfo", "--noheader", "--Node", "--Format=NodeHost:9,StateLong:12,Reason:99").stdout
        drained = [line.split(maxsplit=2) for line in said.splitlines() if "drain" in line.split()[1]]
        # Each partition of a node has a line.
        assert {(node, reason.strip()) for node, _, reason in drained} == {("n1", f"ullage: {REASON}")}
    finally:
        slurm.run("scontrol", "update", "nodename=n1", "state=resume")


def test_a_spare_node_takes_the_place_of_one_that_fails(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    """It fails within a launch: the second one, whose two repetitions take 8 s."""
    result = tmp_path / "result"
    second = result / "records" / "002.ndjson"
    times = ("--volume", "4M", "--min-repetitions", "6", "--max-repetitions", "6")
    words = (*SLEEPING[:-4], "--ranks", "2", "--nodes", "2", "--spare-nodes", "1", "--access", "write", *times)
    try:
        with under_way(slurm, engine, result, *words, "--block", "64K") as process:
            wait_until(lambda: second.exists() and '"kind":"run"' in second.read_text(), "no second launch", 60)
            slurm.run("scontrol", "update", "nodename=n1", "state=down", "reason=test")
            _, err = process.communicate(timeout=180)
    finally:
        slurm.run("scontrol", "update", "nodename=n1", "state=resume")
    assert process.returncode == 4, err
    died = "the launch with 2 ranks ended early: node n1 failed (reported by Slurm); the run goes on without n1"
    assert f"ullage: {died}" in err.splitlines()
    files = [read_records(path) for path in sorted(result.glob("records/*.ndjson"))]
    place = next(i for i, file in enumerate(files) if any(event.code == "node-failed" for event in file.events))
    first = files[place]
    for file in files[place + 1 :]:
        assert {one.node for one in file.records if one.kind == "probe" and one.probe == "node"} == {"n0", "n2"}
        assert file.end is not None
    # The case that was under way has failed by the name of the node, and goes on elsewhere.
    failed = [event for event in first.events if event.code == "node-failed"]
    assert [(event.node, event.severity) for event in failed] == [("n1", "error")]
    assert [record.status for record in first.records if record.kind == "case"][-1] == "failed"
    ok = [record for file in files for record in file.records if record.kind == "case" and record.status == "ok"]
    assert len(ok) == 6


def test_a_node_that_fails_between_launches_is_not_waited_for(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    """It fails when nothing is started: a spare one takes its place, and without one the run ends at once."""
    results = [tmp_path / "first", tmp_path / "second"]
    runs = [
        shlex.join(ullage(engine, "run", *SMALL, "--nodes", "2", "--result", str(result), *more))
        for result, more in zip(results, ([], ["--repetitions", "2"]), strict=True)
    ]
    down = "scontrol update nodename={} state=down reason=test"
    script = f"{down.format('n1')}; {runs[0]}; echo code $?; {down.format('n2')}; {runs[1]}; echo code $?"
    try:
        done = slurm.run("salloc", "--nodes=3", "--exclusive", "--no-kill", "bash", "-c", script)
    finally:
        slurm.run("scontrol", "update", "nodename=n[1-2]", "state=resume")
    assert [line for line in done.stdout.splitlines() if line.startswith("code")] == ["code 0", "code 5"], done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("ullage: ")]
    assert said[0] == "ullage: node n1 failed before launch 1; the run goes on without n1"
    assert "ended early: node n1 failed (Slurm took it from the job before the launch)" in said[1]
    assert nodes_of(results[0]) == {"n0", "n2"}
    events = [event for path in results[0].glob("records/*.ndjson") for event in read_records(path).events]
    assert "node-failed" in [event.code for event in events]


WARNED = (*SLEEPING, "--block", "64K,256K", "--volume", "1M", "--min-repetitions", "6", "--max-repetitions", "6")


def test_a_warning_by_usr1_leaves_whole_records_and_resume_submits_the_rest(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    """Slurm sends it to the batch script alone, as at the time that ``--signal=B:USR1@60`` names."""
    result = tmp_path / "result"
    with under_way(slurm, engine, result, *WARNED, "--time", "300s") as process:
        slurm.run("scancel", "--batch", "--signal=USR1", "--user=root")
        _, err = process.communicate(timeout=90)
    assert process.returncode == 5, err
    rest = slurm.run(*ullage(engine, "resume", str(result), "--launcher", "slurm"))
    assert rest.returncode == 0, rest.stderr
    files = [read_records(path) for path in sorted(result.glob("records/*.ndjson"))]
    statuses = [file.end and file.end.status for file in files]
    assert statuses[-1] == "complete"
    assert set(statuses) <= {"interrupted", "complete"}
    done = [
        (record.case, record.repetition) for file in files for record in file.records if isinstance(record, CaseRecord)
    ]
    assert (len(done), len(set(done))) == (12, 12)


# Seven cases, with those that bound the others, whose three repetitions take 4 s together each. A job of 95 s, which
# measures for 12 s, finishes three.
LIMITED = ("network", "--quick", "--protocols", "tcp", "--streams", "1,2", "--no-peer", "--repetitions", "3")


@pytest.mark.long
def test_a_run_is_divided_by_cases_over_jobs(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    limit = ("--seconds", "1", "--walltime", "95s", "--chain", "2")
    done = slurm.run(*submit(engine, result, *LIMITED, *limit), timeout_s=280)
    assert done.returncode == 0, done.stderr
    assert "3 jobs are needed (--walltime 95s). They finish 3, 3 and 1 cases." in done.stderr
    assert "4 cases are left for another job: the time of this one is over" in done.stderr
    cases = [
        [record.case for record in read_records(path).records if record.kind == "case"]
        for path in sorted(result.glob("records/*.ndjson"))
    ]
    # No job has a part of another's cases.
    assert [len(found) for found in cases] == [9, 9, 3]
    assert [len(set(found)) for found in cases] == [3, 3, 1]
    assert len(set.union(*map(set, cases))) == 7


def test_a_repetition_longer_than_the_walltime_is_refused_before_it_is_submitted(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    words = ("network", "--seconds", "300", "--walltime", "00:05:00")
    done = slurm.run(*submit(engine, tmp_path / "result", *words))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "at least, or a smaller case" in done.stderr
