# SPDX-License-Identifier: Apache-2.0
"""Command lines of IOR and mdtest, measured on real files and printed in the tools' own tables."""

import json
from pathlib import Path

import pytest
from tests.e2e.commands import run, run_here, ullage

from support.darshan_log import made, record, trace, transfers
from ullage.analysis.verdicts.physics import removed_lately
from ullage.cleaning import find_run_folders
from ullage.results.folder import ResultFolder


def measured(engine: Path, tmp_path: Path, suite: str, *lines: str) -> Path:
    result = tmp_path / "result"
    code, _, err = run(ullage("run", suite, *lines, "--result", str(result), "--engine", str(engine)))
    assert code == 0, err
    return result


@pytest.mark.each_mpi
def test_lines_of_ior_share_a_file_and_move_their_bytes(engine: Path, target: Path, tmp_path: Path) -> None:
    """The second and the third read what the first has written in transfers of other sizes."""
    words = f"-b 1m -s 2 -F -C -i 2 -o {target}/easy"
    asked = ["-w -e -k -t 64k", "-r -R -k -t 4k", "-r -R -z -t 1m"]
    result = measured(engine, tmp_path, "from-ior", *(f"mpirun -np 2 ior {flags} {words}" for flags in asked))
    records = ResultFolder.open(result).read_records()[0]
    assert [(phase.phase, phase.bytes, phase.operations) for phase in records.phases] == [
        ("write", 4 << 20, 64),
        ("read", 4 << 20, 1024),
        ("read", 4 << 20, 4),
    ] * 2
    assert [phase.syncs for phase in records.phases] == [2, 0, 0, 2, 0, 0]
    assert {phase.verified_bytes for phase in records.phases if phase.phase == "read"} == {4 << 20}
    code, out, _ = run_here("report", str(result), "--format", "ior")
    assert code == 0
    rows = [line.split() for line in out.splitlines() if line.startswith(("write ", "read "))]
    assert [row[0] for row in rows] == ["write", "read", "read"] * 3
    assert run_here("report", str(result), "--format", "mdtest")[0] == 2
    assert find_run_folders(target) == []


def test_the_numbers_of_another_program_stand_beside_those_of_a_run(engine: Path, target: Path, tmp_path: Path) -> None:
    """What IOR would have printed of the first run is the other program of the second."""
    line = f"mpirun -np 2 ior -w -r -k -t 64k -b 1m -i 6 -o {target}/f"
    first = measured(engine, tmp_path / "first", "from-ior", line)
    code, text, _ = run_here("report", str(first), "--format", "ior")
    assert code == 0
    head = "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\naccess : single-shared-file\nnodes : 1\ntasks : 2\n"
    (tmp_path / "ior.txt").write_text(f"{head}xfersize : 64 KiB\nblocksize : 1 MiB\n{text}")
    (tmp_path / "no.txt").write_text("hello\n")
    words = ("run", "from-ior", line, "--result", str(tmp_path / "result"), "--engine", str(engine), "--beside")
    code, _, err = run(ullage(*words, str(tmp_path / "no.txt")))
    assert (code, (tmp_path / "result").exists()) == (2, False)
    assert "it begins with 'hello'" in err
    code, out, err = run(ullage(*words, str(tmp_path / "ior.txt")))
    assert code == 0, err
    assert out.splitlines()[-1] == str(tmp_path / "result")
    (tmp_path / "ior.txt").unlink()
    code, again, _ = run_here("report", str(tmp_path / "result"))
    assert code == 0
    for shown in (out, again):
        assert "ior.txt against this run: faster in " in shown, shown
    assert "Beside another program" in (tmp_path / "result" / "report.html").read_text()
    bandwidths = [
        str(number)
        for number, row in enumerate(ResultFolder.open(tmp_path / "result").read_summary().rows, start=1)
        if row.metric == "bandwidth"
    ]
    told = [run_here("show", str(tmp_path / "result"), number)[1] for number in bandwidths]
    assert [" in ior.txt, " in one for one in told] == [True, True]


def test_one_fsync_a_write_is_exactly_one(engine: Path, target: Path, tmp_path: Path) -> None:
    line = f"mpirun -np 2 ior -w -Y -t 64k -b 1m -o {target}/f"
    result = measured(engine, tmp_path, "from-ior", line)
    (phase,) = ResultFolder.open(result).read_records()[0].phases
    assert (phase.operations, phase.syncs) == (32, 32)


def test_a_line_of_mdtest_makes_and_removes_its_items(engine: Path, target: Path, tmp_path: Path) -> None:
    line = f"mpirun -np 2 mdtest -n 50 -z 1 -b 3 -u -w 3901 -e 3901 -i 2 -d {target}"
    result = measured(engine, tmp_path, "from-mdtest", line)
    records = ResultFolder.open(result).read_records()[0]
    operations = {phase.phase: phase.operations for phase in records.phases if not phase.phase.startswith("tree")}
    assert operations == dict.fromkeys(["mkdir", "stat", "rename", "rmdir", "create", "read", "unlink"], 96)
    code, out, _ = run_here("report", str(result), "--format", "mdtest")
    assert code == 0
    assert "File creation" in out
    assert "(of 2 iterations)" in out
    assert find_run_folders(target) == []


def test_repetitions_that_create_are_kept_apart_and_say_what_a_file_costs(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    """On ext4 without a journal; elsewhere nothing is asked. No speed is compared: the row is only to be consistent."""
    line = f"mpirun -np 2 mdtest -n 500 -F -u -i 5 -d {target}"
    result = measured(engine, tmp_path, "from-mdtest", line)
    records = ResultFolder.open(result).read_records()[0]
    phases, own = [one for one in records.phases if one.phase == "create"], records.cases[0].workload_parameters
    facts = [set(phase.facts) for phase in phases]
    assert facts in ([{"new_file_ns", "least_new_file_ns"}] * 5, [set()] * 5)
    flagged = [phase for phase in phases if removed_lately(phase, own) is not None]
    rows = [row for row in ResultFolder.open(result).read_summary().rows if row.params.get("phase") == "create"]
    assert all(row.has_flag("removed-lately") == bool(flagged) for row in rows if row.metric == "operation_rate")
    assert find_run_folders(target) == []


def test_files_of_one_line_are_used_by_the_next(engine: Path, target: Path, tmp_path: Path) -> None:
    words = f"-n 40 -F -d {target}"
    lines = [f"mpirun -np 2 mdtest -C -Y {words}", f"mpirun -np 2 mdtest -T {words}", f"mpirun -np 2 mdtest -r {words}"]
    result = measured(engine, tmp_path, "from-mdtest", *lines)
    phases = [phase.phase for phase in ResultFolder.open(result).read_records()[0].phases]
    assert phases == ["tree-create", "create", "stat", "unlink", "tree-remove"]


def test_small_random_reads_of_what_was_written_in_large_transfers(engine: Path, target: Path, tmp_path: Path) -> None:
    words = f"-b 1m -F -o {target}/f"
    lines = [f"mpirun -np 2 ior -w -k -t 256k {words}", f"mpirun -np 2 ior -r -R -z -t 4k {words}"]
    result = measured(engine, tmp_path, "from-ior", *lines)
    write, read = ResultFolder.open(result).read_records()[0].phases
    assert (write.operations, write.bytes) == (8, 2 << 20)
    assert (read.operations, read.bytes, read.bad_blocks) == (512, 2 << 20, 0)
    assert find_run_folders(target) == []


def test_items_fill_directories_below_a_folder_that_mdtest_would_make(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    line = f"mpirun -np 2 mdtest -F -n 20 -I 5 -d {target}/new"
    result = measured(engine, tmp_path, "from-mdtest", line)
    records = ResultFolder.open(result).read_records()[0]
    operations = {phase.phase: phase.operations for phase in records.phases}
    assert {operations[name] for name in ("create", "stat", "read", "unlink")} == {40}
    assert not (target / "new").exists()


@pytest.mark.parametrize("line", ["ior -t 1m -b 8m -F -e -o {}/f", "ior -w -t 4k -b 1t -D 60 -o {}/f"])
def test_the_plan_that_is_shown_is_one(line: str, engine: Path, target: Path) -> None:
    code, out, err = run_here("plan", "from-ior", line.format(target), "--json", "--engine", str(engine))
    assert code == 0, err
    (plan,) = json.loads(out)
    assert plan["suite"] == "from-ior"
    assert plan["order"] == "listed"
    assert find_run_folders(target) == []


def test_a_flag_without_an_equivalent_ends_before_anything_is_touched(engine: Path, target: Path) -> None:
    code, out, err = run_here("run", "from-ior", f"ior -x -o {target}/f", "--engine", str(engine))
    assert (code, out) == (2, "")
    assert err == "ullage: ior: -x has no equivalent: a short transfer is always continued; leave it out\n"
    assert [entry.name for entry in target.iterdir()] == ["precious"]


def test_the_work_of_a_darshan_log_has_its_counters(engine: Path, target: Path, tmp_path: Path) -> None:
    log = tmp_path / "app.darshan"
    shared = {
        **transfers("write", 64, 47008, seconds=9.0),
        "CONSEC_WRITES": 0.0,
        "FSYNCS": 2.0,
        "SLOWEST_RANK_TIME": 5.0,
    }
    own = transfers("read", 50, 4096, seconds=3.0)
    records = [record("POSIX", 7, -1, shared), *(record("POSIX", 8 + rank, rank, own) for rank in range(2))]
    traces = [trace(7, 0, [(0, 13, 1.0), (26, 13, 2.0), (20, 13, 3.0)]), trace(7, 1, [(30, 1000, 1.0)])]
    log.write_bytes(made({"POSIX": records, "DXT_POSIX": traces}, ranks=2))
    words = (str(log), "--target", f"here={target}", "--repetitions", "2")
    result = measured(engine, tmp_path, "from-darshan", *words)
    phases = ResultFolder.open(result).read_records()[0].phases
    found = {(phase.phase, phase.bytes, phase.operations, phase.syncs) for phase in phases}
    assert found >= {("read", 100 * 4096, 100, 0), ("write", 64 * 47008, 64, 2), ("write", 1039, 4, 0)}
    assert find_run_folders(target) == []
    code, out, _ = run_here("predict", str(log), "--rates", str(result))
    assert code == 0
    assert out.startswith("All I/O of the log takes ")
    assert out.splitlines()[0].endswith(" at the rates of here.")
