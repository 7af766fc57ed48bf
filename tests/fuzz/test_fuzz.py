# SPDX-License-Identifier: Apache-2.0
"""Seeded fuzzing: whatever stands in plans, records, documents, tables or on a command line, the answer is an exit code
of the contract and at most one line of complaint.

$ULLAGE_FUZZ_S: seconds for each of them (2 unless told; `make test-all` takes longer); $ULLAGE_FUZZ_SEED: where to
begin. A failure names its seed: ULLAGE_FUZZ_SEED=N ULLAGE_FUZZ_S=0 repeats it.
"""

import io
import json
import re
import shutil
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

from support import mutation
from support.every_command import every_command
from support.recorded_results import RECORDED, unpack
from ullage.cli import app
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError

RESULTS = (
    "congestion",
    "pairs",
    "b_eff",
    "sweep_backends",
    "disk",
    "cpu",
    "io500",
    "b_eff_io",
    "rings",
    "memory",
    "noise",
)
KNOWN_CODES = (0, 2, 3, 4, 5)


def outcome(words: list[str]) -> tuple[int, str]:
    """Exit code and errors of a command line, in this process: an exception is a failure of the test."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = app.run(words)
    return code, err.getvalue()


def check(words: list[str], seed: int) -> None:
    try:
        code, errors = outcome(words)
    except BaseException as error:
        raise AssertionError(f"ULLAGE_FUZZ_SEED={seed}: {' '.join(words)} raised {error!r}") from error
    assert code in KNOWN_CODES, f"ULLAGE_FUZZ_SEED={seed}: exit code {code}"
    if code in (2, 3):
        complaints = [line for line in errors.splitlines() if not line.startswith("ullage: warning")]
        # A verb without any word after it says how it is used.
        is_help = errors.startswith("Usage: ")
        assert is_help or len(complaints) == 1, f"ULLAGE_FUZZ_SEED={seed}: {errors}"


@pytest.mark.fault("damaged records (seeded mutation)", "a report of what is left, or one line; never a traceback")
@pytest.mark.parametrize("name", RESULTS)
def test_damaged_records(name: str, tmp_path: Path) -> None:
    source = unpack(name, tmp_path / "source")
    files = sorted(path.relative_to(source) for path in source.rglob("*.ndjson"))
    for seed in mutation.seeds():
        random = Random(f"{name}{seed}")
        result = tmp_path / "damaged"
        shutil.copytree(source, result)
        for file in random.sample(files, min(len(files), random.randint(1, 3))):
            damage = random.choice((mutation.damaged_document, mutation.damaged_document, mutation.damaged_bytes))
            (result / file).write_bytes(mutation.damaged_lines((source / file).read_bytes(), random, damage))
        check(
            [
                "report",
                str(result),
                "--format",
                random.choice(("terminal", "html", "csv", "md", "json")),
                "--output",
                "-",
            ],
            seed,
        )
        shutil.rmtree(result)


@pytest.mark.fault("damaged request, system facts or plan", "a report, or one line that names the file")
@pytest.mark.parametrize("name", ["sweep_backends", "node_quick"])
def test_damaged_documents(name: str, tmp_path: Path) -> None:
    source = unpack(name, tmp_path / "source")
    files = sorted(path.relative_to(source) for path in source.rglob("*.json"))
    for seed in mutation.seeds():
        random = Random(f"{name}{seed}")
        result = tmp_path / "damaged"
        shutil.copytree(source, result)
        file = random.choice(files)
        damage = random.choice((mutation.damaged_document, mutation.damaged_bytes))
        (result / file).write_bytes(damage((source / file).read_bytes(), random))
        check(["report", str(result)], seed)
        shutil.rmtree(result)


def refuse_launch(*_words: object, **_options: object) -> None:
    raise UserError("no launch is meant to begin", code=EXIT_ENVIRONMENT)


@pytest.mark.fault("a request with a wrong value at any place", "what the verb does, or one line that names the place")
@pytest.mark.parametrize("name", ["sweep_backends", "node_quick", "io500", "b_eff_io", "disk", "pmem", "from_ior"])
def test_wrong_values_in_requests(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Path) -> None:
    monkeypatch.setattr("ullage.launch.running.Running.start", refuse_launch)
    monkeypatch.setenv("ULLAGE_ENGINE", str(engine))
    source = unpack(name, tmp_path / "source")
    for seed in mutation.seeds():
        random = Random(f"requests{name}{seed}")
        result = tmp_path / "damaged"
        shutil.copytree(source, result)
        file = random.choice(sorted(source.rglob("request.json"))).relative_to(source)
        (result / file).write_bytes(mutation.changed_value((source / file).read_bytes(), random))
        verb = random.choice(("report", "show", "compare", "resume"))
        more = {"compare": ["--by", "target"], "resume": ["--quiet"]}
        check([verb, str(result), *more.get(verb, [])], seed)
        shutil.rmtree(result)


def every_option() -> list[tuple[tuple[str, ...], str]]:
    """Every option of every verb, by the words of the command."""
    return [
        (path, found[0])
        for path, command in every_command().items()
        for parameter in command.parameters
        if not parameter.is_argument and (found := re.findall(r"--[\w-]+", parameter.typed))
    ]


CONTROLS = ("a\nb", "a\rb", "\x1b[2J", "a\x00b", "\x07", "\x7f", "\x9b2J", "\u202ea", "\udcff")


@pytest.mark.fault("control characters in words", "exit 2 and one line that names the option; nothing is started")
def test_control_characters_in_every_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULLAGE_ENGINE", str(tmp_path / "no-engine"))
    monkeypatch.chdir(tmp_path)
    for index, (path, option) in enumerate(every_option()):
        word = CONTROLS[index % len(CONTROLS)]
        for words in ([option, word], [f"{option}={word}"]):
            code, errors = outcome([*path[1:], *words])
            assert code == EXIT_BAD_INPUT, (path, words)
            assert errors.count("\n") == 1, errors
            assert option in errors
            assert not set(word) & set(errors) & set("\r\x1b\x00\x07\x7f\x9b\u202e"), errors


@pytest.mark.fault("damaged tables to import", "a result, or one line that names file and line")
def test_damaged_tables(tmp_path: Path) -> None:
    tables = sorted(path for path in RECORDED.parent.iterdir() if path.suffix in (".csv", ".txt"))
    tables += [path for path in (RECORDED / "imports").rglob("*") if path.is_file() and path.suffix != ".xz"]
    for seed in mutation.seeds():
        random = Random(f"tables{seed}")
        source = random.choice(tables)
        table, result = tmp_path / source.name, tmp_path / "result"
        table.write_bytes(mutation.damaged_bytes(source.read_bytes(), random))
        check(["import", str(table), "--result", str(result)], seed)
        shutil.rmtree(result, ignore_errors=True)


WORDS = (
    *(
        "run",
        "plan",
        "report",
        "compare",
        "resume",
        "clean",
        "import",
        "machine",
        "describe",
        "peers",
        "suites",
        "sweep",
    ),
    *("cpu", "pairs", "io500", "disk", "from-ior", "--target", "--ranks", "--block", "--time", "--output", "--format"),
    *(
        "--result",
        "--launcher",
        "--seed",
        "--hosts",
        "--engine",
        "--json",
        "--by",
        "--pattern",
        "--nodes",
        "csv",
        "x=/",
    ),
    *("mem:", "posix:/proc", "1:64:x2", "-1", "0", "9" * 30, "1e999", "NaN", "", "\x00", "\udcff", "=", "a=b=c", "💾"),
    *("1K,2K", "1:1:x1", "2:1:+0", "--", "-", "/dev/null", "/dev/full", "ior -a POSIX -b", "mdtest -n", "'", '"'),
)


@pytest.mark.fault("random command lines", "an exit code of the contract and one line; nothing is started")
def test_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object, **_options: object) -> None:
        raise AssertionError("a random command line has started a launch")

    monkeypatch.setattr("ullage.launch.running.Running.start", refuse)
    monkeypatch.setenv("ULLAGE_ENGINE", str(tmp_path / "no-engine"))
    monkeypatch.chdir(tmp_path)
    for seed in mutation.seeds():
        random = Random(f"words{seed}")
        check(random.choices(WORDS, k=random.randint(1, 7)), seed)


@pytest.mark.fault("damaged plans", "the engine refuses with exit 2 or 3 and says why; nothing is started")
def test_damaged_plans(engine: Path, tmp_path: Path) -> None:
    source = unpack("sweep_backends", tmp_path / "source")
    plans = sorted((source / "plans").glob("*.json"))
    for seed in mutation.seeds():
        random = Random(f"plans{seed}")
        content = json.loads(random.choice(plans).read_bytes())
        # Whatever else is right: no run of this plan may begin.
        content |= {"records": str(tmp_path / "records.ndjson"), "layout": {"ranks": 99}}
        damage = random.choice((mutation.damaged_document, mutation.damaged_bytes))
        path = tmp_path / "plan.json"
        path.write_bytes(damage(json.dumps(content).encode(), random))
        done = subprocess.run(
            [str(engine), "run", str(path)], capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
        assert done.returncode in (2, 3), f"ULLAGE_FUZZ_SEED={seed}: exit code {done.returncode}: {done.stderr[-500:]}"
        assert "ullage-engine: " in done.stderr, f"ULLAGE_FUZZ_SEED={seed}"
