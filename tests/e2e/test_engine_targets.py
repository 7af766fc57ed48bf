# SPDX-License-Identifier: Apache-2.0
"""Other people's storage: targets that are missing, full, read-only, strange or booby-trapped stay as they were."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.launching import MIB, case, code_of, finish, plan, run, run_while_filling, start, untouched


@pytest.mark.each_mpi
def test_round_trip_leaves_nothing(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case(verify="full")], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    assert done.phase("read").verified_bytes == 2 * MIB
    assert done.of("end")[0].status == "complete"
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault("hostile names of targets", "exit 0 as with any other name")
@pytest.mark.parametrize(
    "name", ['with "quotes"', "with blanks and 'more'", "<script>alert(1)</script>".replace("/", "_"), "new\nline"]
)
def test_strange_paths(engine: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    done = run(engine, tmp_path, plan(tmp_path, [case(verify="full")], f"posix:{folder}"))
    assert done.code == 0, done.stderr
    assert list(folder.iterdir()) == []


def test_bad_plan_is_exit_2_with_the_pointer(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case(transfer_bytes=100)], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert "/cases/0/workload/parameters/transfer_bytes" in done.stderr
    assert done.code == 2
    assert done.records == []
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault("a wrong mpiexec", "exit 3 and one line; nothing is made")
def test_wrong_number_of_ranks_is_exit_3(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{target}", ranks=2), ranks=3)
    assert done.code == 3
    assert "/layout/ranks" in done.stderr
    assert done.records == []
    assert untouched(target)


@pytest.mark.fault("missing target", "exit 3 and one line")
def test_missing_target_is_exit_3(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{target}/missing"))
    assert done.code == 3
    assert f"{target}/missing" in done.stderr
    assert untouched(target)


@pytest.mark.fault("read-only target", "exit 3 and one line")
def test_read_only_target_is_exit_3(engine: Path, tmp_path: Path, small: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{small}"))
    assert done.code == 3
    assert "ead-only" in done.stderr


@pytest.mark.fault("target too small", "exit 3 and one line; nothing is made")
def test_too_small_target_is_exit_3_before_anything_is_made(engine: Path, tmp_path: Path, small: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case(block_bytes=8 * MIB)], f"posix:{small}"))
    assert done.code == 3
    assert "needs 16777216 bytes" in done.stderr
    assert list(small.iterdir()) == []


@pytest.mark.fault(
    "target filled by somebody else meanwhile",
    "the case fails with errno 28, the plan goes on; nothing of ours is left",
)
def test_full_in_the_middle_ends_the_case_and_not_the_plan(engine: Path, tmp_path: Path, small: Path) -> None:
    # It takes two seconds each time, so that the space is taken before it was run 200 times.
    slow = {"inner": "posix", "kind": "delay", "operation": "write", "count": 0, "delay_s": 0.02}
    cases = [case(backend="fault", parameters=slow, block_bytes=6 * MIB), case()]
    document = plan(tmp_path, cases, f"posix:{small}", limits={"space_fraction": 1.0, "reserve_bytes": 0})
    document["stop_rule"]["parameters"]["count"] = 200
    document["time_budget_s"] = 20
    done = run_while_filling(engine, tmp_path, document, small, 9 * MIB)
    assert done.code == 4, done.stderr
    failed = [record for record in done.of("case") if record.status == "failed"]
    assert {record.case for record in failed} == {cases[0]["id"]}
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert failures[0].errno == 28
    assert failures[0].path
    assert sum(record.case == cases[1]["id"] and record.status == "ok" for record in done.of("case")) > 1
    assert [path.name for path in small.iterdir()] == ["filler"]


@pytest.mark.fault("a foreign folder with the name of ours", "refused; it stays as it is")
def test_foreign_folder_of_our_name_is_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case()], f"posix:{target}")
    foreign = target / f"ullage-{document['run_id']}"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    done = run(engine, tmp_path, document)
    assert done.code == 3
    assert (foreign / "thesis.tex").read_text() == "years of work"


@pytest.mark.fault("links planted among our files", "refused; what they point to stays as it is")
@pytest.mark.parametrize("file_mode", ["shared", "per-process"])
@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_planted_link_is_not_followed(engine: Path, tmp_path: Path, target: Path, backend: str, file_mode: str) -> None:
    document = plan(
        tmp_path,
        [case(backend=backend, file_mode=file_mode)],
        f"posix:{target}",
        stop_rule={"name": "fixed", "parameters": {"count": 2000}},
        time_budget_s=20,
    )
    process = start(engine, tmp_path, document)
    directory = target / f"ullage-{document['run_id']}" / f"c-{document['cases'][0]['id']}"
    planted = directory / ("data" if file_mode == "shared" else "data.00000000")
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and process.poll() is None:
        try:
            planted.symlink_to(target / "precious")
            break
        except OSError:
            continue
    done = finish(process, document)
    assert (target / "precious").read_text() == "do not touch"
    assert done.code in (0, 4)  # 0: the link was planted after its last use


@pytest.mark.fault("our folder swapped for a link", "refused; what it points to stays as it is")
def test_whole_dataset_directory_replaced_by_a_link(engine: Path, tmp_path: Path, target: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    document = plan(tmp_path, [case()], f"posix:{target}")
    run_folder = target / f"ullage-{document['run_id']}"
    document["cases"].append(case())
    document |= {"keep": True}
    assert run(engine, tmp_path, document).code == 0
    victim = run_folder / f"c-{document['cases'][0]['id']}"
    shutil.rmtree(victim, ignore_errors=True)
    victim.symlink_to(outside)
    (outside / "data.00000000").write_text("precious too")
    code_of([str(engine), "clean", str(run_folder)])
    assert (outside / "data.00000000").read_text() == "precious too"


def test_keep_leaves_the_last_dataset_and_clean_removes_it(engine: Path, tmp_path: Path, target: Path) -> None:
    twice = {"name": "fixed", "parameters": {"count": 2}}
    document = plan(tmp_path, [case()], f"posix:{target}", keep=True, stop_rule=twice)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    folder = target / f"ullage-{document['run_id']}"
    kept = sorted(path.stat().st_size for path in folder.glob("c-*/data.*"))
    assert kept == [MIB, MIB]
    assert code_of([str(engine), "clean", str(folder)]) == 0
    assert untouched(target)
