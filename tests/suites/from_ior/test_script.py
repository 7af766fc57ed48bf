# SPDX-License-Identifier: Apache-2.0
"""IOR's scripts as command lines: one a test, with what the tests before it have set."""

from pathlib import Path

import pytest

from ullage.command_lines.translation import WantedLayout, split_line
from ullage.errors import UserError
from ullage.runs.options.reading import parse_options
from ullage.suites.from_ior.translation import FromIorOptions, expanded, translate

SCRIPT = """# two tests
IOR START
    api = POSIX   # the usual
    testFile=/s/x
    transferSize=64k
    blockSize=1m
    writeFile=1
    readFile=0
    keepFile=1
    run
    writeFile=0
    readFile=1
    RUN
IOR STOP
what follows is not read
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(text: str, line: str = "mpirun -np 2 ior -F -f s.ior") -> list[str]:
    Path("s.ior").write_text(text)
    return expanded([line])


def test_each_test_is_a_line_with_what_was_said_before_it() -> None:
    first, second = (split_line(line, "ior") for line in lines_of(SCRIPT))
    assert (first.ranks, second.ranks) == (2, 2)
    found = translate([first, second], WantedLayout())
    write, read = found.drafts
    assert [draft.workload.parameters["phases"] for draft in (write, read)] == [["write"], ["read"]]
    assert write.dataset == read.dataset != ""
    assert {draft.workload.parameters["file_mode"] for draft in found.drafts} == {"per-process"}
    assert read.workload.parameters["transfer_bytes"] == 64 << 10


def test_lines_without_a_script_are_left_as_they_are() -> None:
    assert expanded(["ior -w -t 1m"]) == ["ior -w -t 1m"]
    assert len(lines_of(SCRIPT, "ior -f=s.ior")) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("IOR START\nrunn=1\nIOR STOP\n", r"s.ior:2: unknown directive 'runn=1'"),
        ("IOR START\nwriteFile\nrun\nIOR STOP\n", r"s.ior:2: unknown directive 'writeFile'"),
        ("IOR START\ninterTestDelay=3\nrun\nIOR STOP\n", r"s.ior:2: .*interTestDelay has no equivalent"),
        ("api=POSIX\nIOR START\n", r"s.ior:1: stands before IOR START"),
        ("IOR START\nrun\n", "s.ior: has no line IOR STOP"),
        ("IOR START\nIOR STOP\n", "s.ior: contains no test"),
    ],
)
def test_a_mistake_is_named_by_its_line(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        lines_of(text)


def test_the_request_holds_the_lines_and_needs_the_script_no_more(tmp_path: Path) -> None:
    (tmp_path / "s.ior").write_text(SCRIPT.replace("/s/x", str(tmp_path / "x")))
    asked = parse_options(FromIorOptions, lines=[f"ior -f {tmp_path / 's.ior'}"])
    assert len(asked.options["lines"]) == 2  # type: ignore[arg-type]
    assert "-f" not in str(asked.options["lines"])


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"none\.ior: No such file"):
        parse_options(FromIorOptions, lines=["ior -f none.ior"])


def test_the_words_of_an_acceptance_deck_are_read() -> None:
    """Of lanl/benchmarks, microbenchmarks/ior/inputs.xroads: reorderTasksConstant is IOR's name of -C."""
    text = "IOR START\n reorderTasksConstant=1  # n+1\n verbose=2\n randomOffset=0\n fsync=1\nRUN\nIOR STOP\n"
    (line,) = (split_line(line, "ior") for line in lines_of(text))
    usual = split_line("mpirun -np 2 ior -F -C -v -v -e", "ior")
    assert translate([line], WantedLayout()).drafts == translate([usual], WantedLayout()).drafts
