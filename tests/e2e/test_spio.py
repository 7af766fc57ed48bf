# SPDX-License-Identifier: Apache-2.0
"""Suite ``spio`` on real files with the real engine: every number of ranks, faults, a kill in mid-run, and mistakes."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import TIMEOUT_S, check_refusal, command, run, run_here, start_and_act
from tests.e2e.launching import KIB, Document, cleaned, plan, untouched
from tests.e2e.test_fault_resume import kill_a_rank, records_of
from tests.places.hosts import hosts_up

from support.simulated_engine import cells_of
from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.runs.options.reading import parse_options
from ullage.suites.spio.suite import OPERATIONS, SpioOptions, prepare

RANKS = (1, 2, 3, 8)
BLOCK = 16 * KIB
# Every number of ranks divides it without a rest.
VOLUME = 24 * 2 * BLOCK


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spio") / "here"
    folder.mkdir()
    (folder / "precious").write_text("not ours")
    return folder


@pytest.fixture(scope="module")
def measured(engine: Path, here: Path) -> ResultFolder:
    """All operations on 1 to 8 ranks, verified as a whole, each once."""
    result = here.parent / "result"
    words = ["run", "spio", "--target", f"here={here}", "--ranks", ",".join(map(str, RANKS)), "--block", str(BLOCK)]
    words += ["--volume", str(VOLUME), "--verify", "full", "--max-repetitions", "1", "--time", "120s"]
    code, _, err = run(command(engine, *words, "--ceiling", "here=1TB/s", "--result", str(result)))
    assert code == 0, err
    return ResultFolder.open(result)


def rates(result: ResultFolder) -> dict[tuple[int, str], Row]:
    rows = [row for row in result.read_summary().rows if row.metric == "bandwidth"]
    found = {(int(row.params["ranks"]), str(row.params["operation"])): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_number_of_ranks_moves_the_volume_in_every_operation(measured: ResultFolder, here: Path) -> None:
    found = rates(measured)
    assert set(found) == {
        (ranks, name) for ranks in RANKS for name in OPERATIONS if not (ranks == 1 and name == "neighbour")
    }
    assert {row.params["volume_bytes"] for row in found.values()} == {VOLUME}
    assert {row.params.get("data_of") for (_, name), row in found.items() if name == "neighbour"} == {"other-rank"}
    for file in measured.read_records():
        for phase in file.phases:
            assert (phase.status, phase.bytes, phase.bad_blocks) == ("ok", VOLUME, 0)
            assert phase.syncs == (phase.ranks if phase.phase == "write" else 0)
            assert phase.verified_bytes == (0 if phase.phase == "write" else VOLUME)
    assert [path.name for path in here.iterdir()] == ["precious"]


def test_the_time_of_the_fastest_rank_is_within_that_of_the_slowest(measured: ResultFolder) -> None:
    times: dict[tuple[str, object], dict[str, float]] = {}
    for row in measured.read_summary().rows:
        times.setdefault((row.case, row.params["access"]), {})[row.metric] = row.median
    assert len(times) == len(rates(measured))
    for of_phase in times.values():
        assert 0 < of_phase["fastest_rank_time"] <= of_phase["slowest_rank_time"]


def test_a_report_shows_the_peak_and_both_published_shares(measured: ResultFolder) -> None:
    page = measured.path.parent / "page.html"
    code, _, err = run_here("report", str(measured.path), "--format", "html", "--output", str(page))
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    for words in ("Streams by ranks", "Rate of all streams by ranks", "NEC SX-8 are 53 % to 96 % of its peak"):
        assert words in text
    assert all(row.share is not None for (_, name), row in rates(measured).items() if name != "reread")


def test_ranks_of_two_nodes_read_what_the_other_node_wrote(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "spio", "--target", f"here={target}", "--ranks", "2,4", "--operation", "neighbour", "--nodes", "2"]
    words += ["--volume", "1M", "--block", "64K", "--verify", "full", "--max-repetitions", "1", "--time", "60s"]
    with hosts_up(tmp_path / "hosts", 2) as place:
        done = subprocess.run(
            place.command("h0", command(engine, *words, "--hosts", ",".join(place.names), "--result", str(result))),
            env=dict(place.environment(describe(engine).engine.mpi.family)),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    found = rates(ResultFolder.open(result))
    assert set(found) == {(2, "neighbour"), (4, "neighbour")}
    assert {(row.params["nodes"], row.params["data_of"]) for row in found.values()} == {(2, "other-node")}
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert {phase.verified_bytes for phase in phases if phase.phase == "read"} == {1 << 20}
    assert find_run_folders(target) == []


# -- faults, on the cases of the suite ---------------------------------------------------------------------------------


def cases(engine: Path, name: str, **fault: object) -> list[Document]:
    """The cases of two ranks for an operation, whose calls go wrong as ``fault`` says."""
    words = {"target": ["t=/t"], "ranks": "2", "operation": name, "block": str(BLOCK), "verify": "full"}
    asked = SpioOptions.model_validate(parse_options(SpioOptions, volume=str(VOLUME), **words).options)
    cells = cells_of(prepare, asked, {"t": "posix:/t"}, describe(engine), None)
    wrapped = {"name": "fault", "parameters": {"inner": "posix", **fault}}
    return [cell.case.model_dump(mode="json") | {"backend": wrapped} for cell in cells]


@pytest.mark.fault("a flipped bit in a stream", "exit 4; file, offset, expected and found in the record")
@pytest.mark.parametrize("operation", ["read", "neighbour"])
def test_a_flipped_bit_is_found_by_whoever_reads_the_file(
    engine: Path, tmp_path: Path, target: Path, operation: str
) -> None:
    bad = cases(engine, operation, kind="flip", operation="write", rank=1, after=3, flip_bit=8 * 777)
    done = launching.run(engine, tmp_path, plan(tmp_path, bad, f"posix:{target}"))
    assert done.code == 4, done.stderr
    (failure,) = [one for record in done.of("phase") for one in record.failures]
    assert failure.offset_bytes == 3 * BLOCK + 777
    assert failure.expected != failure.found
    assert failure.rank == (1 if operation == "read" else 0)
    assert untouched(target)


@pytest.mark.fault("ENOSPC of one stream", "the case failed with errno 28 on its rank, the next one runs")
def test_a_full_target_ends_the_case_and_not_the_run(engine: Path, tmp_path: Path, target: Path) -> None:
    (full,) = cases(engine, "read", kind="enospc", operation="write", rank=1, after=2)
    good = launching.case()
    done = launching.run(engine, tmp_path, plan(tmp_path, [full, good], f"posix:{target}", order="listed"))
    assert done.code == 4, done.stderr
    failures = [one for record in done.of("phase") for one in record.failures]
    assert {(one.errno, one.rank) for one in failures if one.errno} == {(28, 1)}
    assert {record.status for record in done.of("case") if record.case == good["id"]} == {"ok"}
    assert untouched(target)


@pytest.mark.fault(
    "SIGKILL of a stream's rank, then resume", "each repetition once, with the volume of the first launch"
)
def test_a_killed_run_goes_on_with_its_volume(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "spio", "--target", f"here={target}", "--ranks", "2", "--block", "64K"]
    words += ["--volume", "8M", "--operation", "write,neighbour", "--time", "90s"]
    words += ["--min-repetitions", "3", "--max-repetitions", "3", "--seed", "3"]

    def kill(process: subprocess.Popen[str]) -> None:
        kill_a_rank(process, result, engine)

    code, _, _ = start_and_act(command(engine, *words, "--result", str(result)), result, kill)
    before = records_of(result)
    volume = ResultFolder.open(result).read_request().options["volume"]
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    after = records_of(result)
    assert not before - after
    assert set(after.values()) == {1}
    assert min(Counter(case for case, _ in after).values()) >= 3
    assert volume == 8 << 20
    assert {row.params["volume_bytes"] for row in rates(ResultFolder.open(result)).values()} == {volume}
    for folder in find_run_folders(target):
        assert cleaned(engine, folder.path)
    assert untouched(target)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--ranks", "1", "--operation", "neighbour"], 2, "--ranks 1: a single rank has no neighbour"),
        (["--volume", "1G", "--space", "1M"], 3, "a smaller --volume fits"),
        (["--cache", "direct", "--backend", "stdio"], 2, "backend 'stdio' has no direct I/O"),
        (["--backend", "poxis"], 2, "poxis"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    engine: Path, tmp_path: Path, words: list[str], code: int, expected: str
) -> None:
    check_refusal(engine, tmp_path, ["run", "spio", "--target", "here={here}", *words], code, expected)
