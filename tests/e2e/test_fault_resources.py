# SPDX-License-Identifier: Apache-2.0
"""Memory, processes, room for the result and rights that are not there: one line, and what was measured is kept."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import TIMEOUT_S, Process, command, run, start_and_act, ullage
from tests.e2e.launching import KIB, MIB, case, code_of, plan

from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK
from ullage.results.records import read_records

NOBODY = 65534
_GROUPS = Path("/sys/fs/cgroup")
QUICK = (
    "--block",
    "64K",
    "--volume",
    "1M",
    "--ranks",
    "1",
    "--min-repetitions",
    "2",
    "--max-repetitions",
    "2",
    "--seed",
    "1",
)

# For longer than any machine needs for what comes between.
ENDLESS = ("--min-repetitions", "6", "--max-repetitions", "100000", "--interval", "0.0001", "--time", "60s")


def sweep(engine: Path, target: Path, result: Path, *words: str) -> list[str]:
    """A sweep of one cell that takes a second or two."""
    named = ["--target", f"x={target}", "--result", str(result), "--time", "20s", *QUICK, *words]
    return command(engine, "run", "sweep", *named)


def complaints(errors: str) -> list[str]:
    """Lines in which Ullage complains, and whatever is no line of ours."""
    return [line for line in errors.splitlines() if line.startswith(("ullage: ", "Traceback", "  File"))]


@pytest.fixture
def tiny(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A memory file system of ``request.param`` KiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", f"size={request.param}k", "none", str(folder)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.fault("result folder full (4 KiB to 256 KiB of room)", "exit 3, one line, what was measured is readable")
@pytest.mark.parametrize("tiny", [4, 16, 24, 32, 64, 256], indirect=True)
def test_result_folder_full_at_any_moment(engine: Path, target: Path, tiny: Path) -> None:
    code, _, errors = run(sweep(engine, target, tiny / "result", *ENDLESS))
    assert code == EXIT_ENVIRONMENT, errors
    assert len(complaints(errors)) == 1, errors
    for file in (tiny / "result" / "records").glob("*.ndjson"):
        found = read_records(file)
        assert [problem for problem in found.problems if problem.line] == []
    assert launching.untouched(target)


@pytest.mark.fault("two resumes (or a run and a resume) on one result", "the second ends with exit 3 and one line")
def test_the_second_run_on_a_result_is_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    second: list[tuple[int, str, str]] = []

    def act(process: Process) -> None:
        second.append(run(ullage("resume", str(result), "--engine", str(engine))))
        process.send_signal(signal.SIGTERM)

    start_and_act(sweep(engine, target, result, *ENDLESS), result, act)
    code, _, errors = second[0]
    assert code == EXIT_ENVIRONMENT
    assert re.fullmatch(r"ullage: .*is in use by process \d+ on \S+; .*\n", errors), errors


@pytest.mark.fault("two runs on one target", "both end well; neither they nor clean touch the folder of the other")
def test_two_runs_on_one_target_leave_each_other_alone(engine: Path, tmp_path: Path, target: Path) -> None:
    meanwhile: list[tuple[int, str, str]] = []

    def act(process: Process) -> None:
        meanwhile.append(run(sweep(engine, target, tmp_path / "second")))
        meanwhile.append(run(command(engine, "clean", str(target), "--yes")))
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)

    code, _, errors = start_and_act(sweep(engine, target, tmp_path / "first", *ENDLESS), tmp_path / "first", act)
    assert code == EXIT_ABORTED, errors
    assert meanwhile[0][0] == EXIT_OK, meanwhile[0][2]
    assert "Traceback" not in meanwhile[1][2]
    statuses = {
        record.status
        for name in ("first", "second")
        for file in (tmp_path / name / "records").glob("*.ndjson")
        for record in read_records(file).records
        if record.kind == "case"
    }
    assert statuses == {"ok"}
    assert launching.untouched(target)


@pytest.mark.fault("standard output full during a run", "exit 3, one line, result and report complete")
def test_a_run_whose_output_is_full_keeps_its_result(engine: Path, tmp_path: Path, target: Path) -> None:
    words = ["sh", "-c", '"$@" >/dev/full', "sh", *sweep(engine, target, tmp_path / "result")]
    code, _, errors = run(words)
    assert code == EXIT_ENVIRONMENT
    assert complaints(errors) == ["ullage: standard output: No space left on device"]
    assert (tmp_path / "result" / "report.html").stat().st_size > 10_000


@pytest.mark.each_mpi
@pytest.mark.fault("transfers of 512 TiB", "the case fails with ENOMEM in one line, the other cases are run")
def test_memory_that_is_not_there_fails_the_case(engine: Path, tmp_path: Path) -> None:
    huge = case(backend="null", transfer_bytes=512 << 40, block_bytes=512 << 40, verify="none")
    fine = case(backend="null", verify="none")
    done = launching.run(engine, tmp_path, plan(tmp_path, [huge, fine], "null:"))
    assert done.code == EXIT_CASE_FAILED, done.stderr
    assert done.of("end")[0].status == "failed"
    assert "get memory: Cannot allocate memory" in str([record.failures for record in done.of("phase")]) + str(
        done.of("event")
    )
    assert {record.status for record in done.of("case") if record.case == fine["id"]} == {"ok"}


@pytest.mark.fault("low memory (a control group of 400 MB, a volume of 800 MB in memory)", "refused before it begins")
def test_room_in_memory_respects_the_control_group(engine: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", "size=8g", "none", str(memory)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    try:
        with_limit = in_group("memory", {"memory.max": "400M", "memory.limit_in_bytes": "400M"})
        document = plan(tmp_path, [case(block_bytes=800 * MIB, transfer_bytes=MIB)], f"posix:{memory}", ranks=1)
        words, environment = launching.command(engine, launching.write(tmp_path, document), 1)
        done = launching.finish(launching.popen([*with_limit, *words], environment), document)
        assert "may take" in done.stderr, done.stderr
        assert list(memory.iterdir()) == []
        volume = ["--volume", "800M", "--result", str(tmp_path / "result")]
        code, _, errors = run([*with_limit, *sweep(engine, memory, tmp_path / "result", *volume)])
        assert code == EXIT_ENVIRONMENT
        assert "a smaller --volume fits" in errors
    finally:
        subprocess.run(["umount", "-l", str(memory)], check=True)


@pytest.mark.each_mpi
@pytest.mark.fault("little address space (ulimit -v)", "the case fails with ENOMEM in one line, the others are run")
def test_little_address_space_fails_the_case(engine: Path, tmp_path: Path) -> None:
    big = case(backend="null", transfer_bytes=6 << 30, block_bytes=6 << 30, verify="none")
    fine = case(backend="null", verify="none")
    document = plan(tmp_path, [big, fine], "null:")
    words, environment = launching.command(engine, launching.write(tmp_path, document), 2)
    limited = ["sh", "-c", 'ulimit -v 4194304 && exec "$@"', "sh", *words]
    done = launching.finish(launching.popen(limited, environment), document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    assert {record.case for record in done.of("case") if record.status == "ok"} == {fine["id"]}


@pytest.mark.each_mpi
@pytest.mark.fault("few processes (pids.max)", "the case fails with EAGAIN in one line, the others are run")
def test_threads_that_do_not_start_fail_the_case(engine: Path, tmp_path: Path, target: Path) -> None:
    with_limit = in_group("pids", {"pids.max": "100"})
    many = case(threads=512, block_bytes=64 * MIB, transfer_bytes=4 * KIB)
    fine = case()
    document = plan(tmp_path, [many, fine], f"posix:{target}", ranks=1)
    words, environment = launching.command(engine, launching.write(tmp_path, document), 1)
    done = launching.finish(launching.popen([*with_limit, *words], environment), document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert [(failure.operation, failure.path, failure.errno) for failure in failures] == [("start", "threads", 11)]
    assert {record.case for record in done.of("case") if record.status == "ok"} == {fine["id"]}
    assert launching.untouched(target)


# A thread's stack is as large as the limit of the first one's, so that there is room for a few threads.
_FEW_THREADS = "ulimit -s 262144 && ulimit -v 4194304"
_RANK = '"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
_MANY_THREADS: dict[str, launching.Document] = {
    "loader": {"threads": 60, "samples": 16, "sample_bytes": 4096, "deviation_bytes": 0, "epochs": 1, "step_s": 0.001},
    "overlap": {"depth": 60, "batches": 1, "rounds": 1, "transfer_bytes": 4096},
    "stepfile": {"steps": 4, "state_bytes": 4096, "write_behind": 60},
    "transfer": {"threads": 60, "transfer_bytes": 4 * KIB, "block_bytes": MIB, "file_mode": "per-process"},
    "fixed-work": {"threads": 60, "quanta": 10, "watch_s": 0, "warm_up_s": 0},
    "sockets": {"streams": 60, "seconds": 0.1, "block_bytes": 1024, "patience_s": 3},
}


@pytest.mark.each_mpi
@pytest.mark.fault(
    "threads that do not start (ulimit -v), on one rank or all, in each pool of threads",
    "each case fails with EAGAIN in one line a rank, nobody waits, the next cases are run with all they measure",
)
@pytest.mark.parametrize("limited", ["all ranks", "one rank"])
def test_threads_that_one_rank_or_all_do_not_get_fail_the_case(
    engine: Path, tmp_path: Path, target: Path, limited: str
) -> None:
    cases = [with_many_threads(name, words) for name, words in _MANY_THREADS.items()]
    fine = case()
    targets = [{"name": "t", "uri": f"posix:{target}"}, {"name": "m", "uri": "mpi:"}]
    document = plan(tmp_path, [*cases, fine], "", targets=targets, order="listed", watchdog_s=60)
    words, environment = launching.command(engine, launching.write(tmp_path, document), 2)
    at = words.index(str(engine))
    condition = f"test {_RANK} != 1 || " if limited == "one rank" else ""
    limit = ["sh", "-c", f'{condition}{{ {_FEW_THREADS}; }}; exec "$@"', "sh"]
    done = launching.finish(launching.popen([*words[:at], *limit, *words[at:]], environment), document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    ranks = [1] if limited == "one rank" else [0, 1]
    for each in cases:
        failures = [failure for record in done.of("phase") if record.case == each["id"] for failure in record.failures]
        found = [(failure.rank, failure.operation, failure.path, failure.errno) for failure in failures]
        assert found == [(rank, "start", "threads", errno.EAGAIN) for rank in ranks], each["workload"]["name"]
    assert {record.case for record in done.of("case") if record.status == "ok"} == {fine["id"]}
    assert [record.latency is None for record in done.of("phase") if record.case == fine["id"]] == [False, False]
    assert launching.untouched(target)


def with_many_threads(workload: str, words: launching.Document) -> launching.Document:
    """A case of a workload that needs no backend, or of one that does."""
    on_storage = workload not in ("fixed-work", "sockets")
    place = {"target": "t" if on_storage else "m", "backend": {"name": "posix" if on_storage else "null"}}
    return case() | place | {"workload": {"name": workload, "parameters": words}}


def in_group(controller: str, limits: dict[str, str]) -> list[str]:
    """Words before a command that run it in a fresh control group with those of ``limits`` that this version has."""
    top = _GROUPS / controller if (_GROUPS / controller).is_dir() else _GROUPS
    group = top / f"ullage-test-{os.getpid()}-{controller}"
    try:
        group.mkdir(exist_ok=True)
        known = [name for name in limits if (group / name).exists()]
        for name in known:
            (group / name).write_text(limits[name])
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    if not known:
        group.rmdir()
        pytest.skip(f"control groups have no {controller} here")
    _MADE.append(group)
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]


_MADE: list[Path] = []


@pytest.fixture(autouse=True)
def groups_are_removed() -> Iterator[None]:
    """Remove the control groups of a test, which are empty a moment after its processes have ended."""
    yield
    deadline = time.monotonic() + TIMEOUT_S
    while _MADE and time.monotonic() < deadline:
        try:
            _MADE[-1].rmdir()
            _MADE.pop()
        except OSError:
            time.sleep(0.05)


def as_nobody(words: Sequence[str], home: Path) -> list[str]:
    """``words`` as a user without rights, who may only read this checkout."""
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    # The interpreter of that user has modules of its own instead of this one's.
    paths = [path for path in sys.path if path and not Path(path).is_relative_to(sys.base_prefix)]
    ours = {"HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": home / "cache", "PYTHONPATH": os.pathsep.join(paths)}
    return [*user, "env", *(f"{name}={value}" for name, value in ours.items()), *words]


def python_of_nobody(home: Path) -> str:
    """An interpreter that this user may start, of this version: ours, else the machine's."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become a user without rights, by setpriv")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, shutil.which(version, path="/usr/local/bin:/usr/bin")):
        if candidate and code_of(as_nobody([candidate, "-c", "import ullage, pydantic_core, numpy"], home)) == 0:
            return candidate
    pytest.skip("there is no interpreter that a user without rights may start, or the checkout is closed to others")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of that user, outside those that only root may enter."""
    with tempfile.TemporaryDirectory(prefix="ullage-test-") as name:
        folder = Path(name)
        folder.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield folder


@pytest.mark.each_mpi
@pytest.mark.fault("user without root, checkout that may only be read", "runs and reports; or one line and exit 3")
def test_a_user_without_root_measures_and_reports(engine: Path, home: Path) -> None:
    python = python_of_nobody(home)
    if code_of(as_nobody(["test", "-x", str(engine.resolve())], home)) != 0:
        pytest.skip("the engine may only be started by its owner")
    (home / "x").mkdir()
    os.chown(home / "x", NOBODY, NOBODY)
    code, _, errors = run(as_nobody([python, *sweep(engine, home / "x", home / "result")[1:]], home))
    assert code == EXIT_OK, errors
    assert (home / "result" / "report.html").is_file()
    assert (home / "result").stat().st_uid == NOBODY
    assert list((home / "x").iterdir()) == []
    code, _, errors = run(as_nobody([python, *sweep(engine, home / "x", Path("/ullage-of-nobody"))[1:]], home))
    assert (code, len(complaints(errors))) == (EXIT_ENVIRONMENT, 1)


# There is one of each kind: pure functions, files that are written, programs that are started, verbs.
PARTS_OF_NOBODY = (
    "tests/test_units.py",
    "tests/results/test_outputs.py",
    "tests/launch/test_hosts.py",
    "tests/processes",
)


@pytest.mark.fault("the tests themselves by a user without root, checkout that may only be read", "they pass")
def test_the_tests_pass_for_a_user_without_root(home: Path) -> None:
    python = python_of_nobody(home)
    if code_of(as_nobody([python, "-c", "import pytest, hypothesis"], home)) != 0:
        pytest.skip("that user has no pytest")
    root = Path(__file__).parents[2]
    own = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--basetemp", str(home / "pytest")]
    words = [python, "-B", "-m", "pytest", *own, *(str(root / part) for part in PARTS_OF_NOBODY)]
    done = subprocess.run(as_nobody(words, home), cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == EXIT_OK, done.stdout[-4000:] + done.stderr[-1000:]
    assert re.search(r"^\d{2,} passed", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.fault(
    "a limit of open files (ulimit -n) below what mpiexec needs",
    "a soft limit is raised for the launch; a hard one is exit 3 and one line before anything starts",
)
@pytest.mark.parametrize(("words", "expected"), [("-n 24", EXIT_ENVIRONMENT), ("-S -n 24", EXIT_OK)])
def test_too_few_open_files_are_no_hang(engine: Path, tmp_path: Path, target: Path, words: str, expected: int) -> None:
    limited = ["bash", "-c", f'ulimit {words}; exec "$@"', "-", *sweep(engine, target, tmp_path / "result", "--quiet")]
    code, _, errors = run(limited)
    assert code == expected, errors
    if code != EXIT_OK:
        assert re.fullmatch(
            r"ullage: ulimit -n: only 24 files may be open, and the launch of 1 rank needs \d+; raise it\n", errors
        )
    assert launching.untouched(target)


@pytest.mark.fault(
    "a device that fails so slowly that the time is over with its first error, in a run or in its probe",
    "exit 4 and the error in one line, and nothing about time",
)
@pytest.mark.parametrize(("bandwidth", "words"), [("2e5", ["--volume", "1M"]), ("6e6", [])])
def test_a_slow_error_is_told_as_an_error(
    engine: Path, tmp_path: Path, target: Path, bandwidth: str, words: list[str]
) -> None:
    slow = ["--param", "fault.inner=model", "--param", f'fault.inner_parameters={{"bandwidth":{bandwidth}}}']
    slow += ["--param", "fault.operation=close", "--param", "fault.count=0", "--access", "write", "--block", "256K"]
    asked = ["run", "sweep", "--target", f"x={target}", "--ranks", "1", "--backend", "fault", "--time", "3s", *slow]
    code, _, errors = run(command(engine, *asked, *words, "--result", str(tmp_path / "result"), "--quiet"))
    assert code == EXIT_CASE_FAILED, errors
    assert len(errors.splitlines()) == 1, errors
    assert "close: Input/output error" in errors
    assert "rank 0 on" in errors
    assert "time" not in errors.lower().replace(str(tmp_path).lower(), "")
    assert launching.untouched(target)


@pytest.mark.fault("the folder of the result is moved in mid-run", "exit 3 and one line; it can be resumed where it is")
def test_a_result_that_is_moved_in_mid_run_is_told(engine: Path, tmp_path: Path, target: Path) -> None:
    result, moved = tmp_path / "result", tmp_path / "moved"

    def act(process: Process) -> None:
        del process
        result.rename(moved)

    words = ["--ranks", "1,2", "--min-repetitions", "4", "--max-repetitions", "4"]
    code, _, errors = start_and_act(sweep(engine, target, result, *words), result, act)
    assert code == EXIT_ENVIRONMENT, errors
    assert [str(result) in line for line in complaints(errors)] == [True]
    code, _, errors = run(command(engine, "resume", str(moved)))
    assert code == EXIT_OK, errors
    assert launching.untouched(target)
