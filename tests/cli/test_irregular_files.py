# SPDX-License-Identifier: Apache-2.0
"""Pipes, devices and links in the place of files: refused at once, in one line."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from support.recorded_results import unpack
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK

Capture = pytest.CaptureFixture[str]
_WAITS_S = 60


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    def fail(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"something waited for {_WAITS_S} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(_WAITS_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    made = unpack("sweep_two_targets", tmp_path)
    (made / "peers.ndjson").touch()
    return made


def refused(words: list[str], capsys: Capture) -> str:
    assert run(words) == EXIT_BAD_INPUT
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    return err


@pytest.mark.fault("a pipe or an endless device in a result", "exit 2 and one line at once; nothing waits")
@pytest.mark.parametrize("name", ["request.json", "system.json", "records/001.ndjson", "peers.ndjson"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("verb", ["report", "show", "compare"])
def test_in_a_result(verb: str, kind: str, name: str, result: Path, capsys: Capture) -> None:
    place = result / name
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    assert str(result) in refused([verb, str(result)], capsys)


def test_plans_and_words_of_launchers_that_are_pipes_do_not_wait(result: Path, capsys: Capture) -> None:
    for name in ("plans/001.json", "engine/001.stderr", "summary.json"):
        (result / name).unlink(missing_ok=True)
        (result / name).parent.mkdir(exist_ok=True)
        os.mkfifo(result / name)
    assert run(["report", str(result)]) == EXIT_OK
    assert capsys.readouterr().out


@pytest.mark.fault("a file of a result that has no end by its size", "exit 2 and one line; no memory is taken")
def test_a_document_larger_than_any(result: Path, capsys: Capture) -> None:
    with (result / "system.json").open("r+b") as stream:
        stream.truncate(1 << 40)
    assert "is larger than 1024 MiB" in refused(["report", str(result)], capsys)


@pytest.mark.fault("parts of a result that are links back into it or out of it", "they are none of its parts")
def test_links_among_the_parts(result: Path, tmp_path: Path, capsys: Capture) -> None:
    other = unpack("disk", tmp_path)
    assert run(["report", str(result), "--format", "csv"]) == EXIT_OK
    alone = capsys.readouterr().out
    (result / "parts").mkdir()
    for name, place in (("a", result), ("b", result), ("c", other)):
        (result / "parts" / name).symlink_to(place)
    assert run(["report", str(result), "--format", "csv"]) == EXIT_OK
    assert capsys.readouterr().out == alone
    shutil.rmtree(result / "parts")
    (result / "parts").symlink_to(result.parent)
    assert run(["report", str(result), "--format", "csv"]) == EXIT_OK
    assert capsys.readouterr().out == alone


def test_a_part_that_is_asked_for_and_is_a_link(tmp_path: Path, capsys: Capture) -> None:
    made = unpack("node_quick", tmp_path)
    part = next(path for path in (made / "parts").iterdir() if path.is_dir())
    shutil.move(part, tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    assert f"{part}: is a link" in refused(["report", str(made)], capsys)


@pytest.mark.fault("parts of parts without end", "exit 2 and one line, or a report without them")
def test_parts_nested_too_deeply(result: Path, capsys: Capture) -> None:
    inner = result
    for _ in range(200):
        inner = inner / "parts" / "a"
        inner.mkdir(parents=True)
        shutil.copy(result / "request.json", inner)
    assert run(["report", str(result), "--format", "csv"]) in (EXIT_OK, EXIT_BAD_INPUT)
    assert capsys.readouterr().err.count("\n") <= 1


FILES = {
    "machine": ["plan", "pmem", "--target", "t=/tmp", "--machine"],
    "site": ["plan", "sweep", "--target", "t=/tmp", "--launcher", "script:slurm", "--site"],
    "import": ["import"],
    "floors": ["plan", "node", "--require"],
    "hints": ["plan", "b_eff_io", "--target", "t=/tmp", "--hints"],
    "directives": ["plan", "pio", "--target", "t=/tmp", "--directives"],
    "pattern": ["plan", "pairs", "--pattern"],
    "config": ["plan", "io500", "--target", "t=/tmp", "--config"],
}


@pytest.mark.fault("a pipe in the place of a file that is named", "exit 2 and one line at once; nothing waits")
@pytest.mark.parametrize("name", FILES)
def test_files_that_are_named(name: str, tmp_path: Path, engine: Path, capsys: Capture) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    more = ["--result", str(tmp_path / "r")] if name == "import" else ["--engine", str(engine)]
    assert "is no regular file" in refused([*FILES[name], str(pipe), *more], capsys)
    assert not (tmp_path / "r").exists()
