# SPDX-License-Identifier: Apache-2.0
"""mdtest's words become cases that do the same work."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.data import some
from ullage.command_lines.flags import Flag
from ullage.command_lines.translation import Draft, Translation, WantedLayout, split_line
from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.runs.options.reading import parse_options
from ullage.suites.from_mdtest.translation import TABLE, FromMdtestOptions, directories, translate


def translated(*lines: str, ranks: int | None = None) -> Translation:
    return translate([split_line(line, "mdtest") for line in lines], WantedLayout(ranks))


def only(*lines: str) -> Draft:
    (draft,) = translated(*lines).drafts
    return draft


def phases(*lines: str) -> list[object]:
    return [draft.workload.parameters["phases"] for draft in translated(*lines).drafts]


def test_all_phases_of_directories_and_files() -> None:
    assert phases("mdtest -n 10") == [
        ["tree-create", "mkdir", "stat", "rename", "rmdir", "tree-remove"],
        ["tree-create", "create", "stat", "read", "unlink", "tree-remove"],
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-F", [["tree-create", "create", "stat", "read", "unlink", "tree-remove"]]),
        ("-D -C -r", [["tree-create", "mkdir", "rmdir", "tree-remove"]]),
        ("-F -C", [["tree-create", "create"]]),
        ("-F -T", [["tree-create", "create", "stat"]]),
        ("-F -r", [["tree-create", "create", "unlink", "tree-remove"]]),
        ("-U", [["tree-create", "mkdir", "rename"]]),
        ("-E", [["tree-create", "create", "read"]]),
        ("-F -W 5", [["tree-create", "create"], ["stat", "read", "unlink", "tree-remove"]]),
        ("-F -C -W 5", [["tree-create", "create"]]),
    ],
)
def test_phases(flags: str, expected: list[list[str]]) -> None:
    assert phases(f"mdtest -n 10 {flags}") == expected


def test_the_wall_ends_only_the_creation_of_files() -> None:
    directories_, first, rest = translated("mdtest -n 10 -W 5").drafts
    assert "stonewall_s" not in directories_.workload.parameters
    assert (first.workload.parameters["stonewall_s"], first.workload.parameters["wear_out"]) == (5.0, True)
    assert "stonewall_s" not in rest.workload.parameters
    assert first.dataset == rest.dataset != ""
    assert directories_.dataset == ""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-n 10", {"items": 10, "items_per_directory": 10, "depth": 0, "branching": 1, "stride": 0}),
        ("-n 10", {"leaf_only": False, "unique_directory": False, "item": "file", "verify": "full"}),
        ("-n 500 -z 2 -b 2", {"items": 497, "items_per_directory": 71}),
        ("-I 200 -z 4 -b 2", {"items": 6200, "items_per_directory": 200}),
        ("-I 10 -z 2 -b 3 -L", {"items": 90, "leaf_only": True}),
        ("-n 10 -z 3", {"items": 8, "items_per_directory": 2, "branching": 1}),
        ("-n 10 -u -N 1", {"unique_directory": True, "stride": 1}),
        ("-n 10 -w 3901 -e 1k", {"write_bytes": 3901, "read_bytes": 1024}),
        ("-n 10 -R --random-seed 9", {"order": "random", "order_seed": 9}),
        ("-n 10 -Y", {"sync": "filesystem"}),
        ("-n 10 -y", {"sync": "file"}),
    ],
)
def test_parameters(flags: str, expected: Parameters) -> None:
    found = only(f"mdtest -F {flags}").workload.parameters
    assert {name: found[name] for name in expected} == expected


@given(st.integers(0, 4), st.integers(1, 4), st.booleans(), st.integers(1, 10**6))
def test_items_are_the_same_in_every_directory(depth: int, branching: int, leaf_only: bool, items: int) -> None:
    holding = directories(depth, branching, leaf_only=leaf_only)
    line = f"mdtest -F -z {depth} -b {branching} -n {items}{' -L' if leaf_only else ''}"
    if items < holding:
        with pytest.raises(UserError, match="fewer items than"):
            only(line)
        return
    found = only(line).workload.parameters
    assert found["items"] == found["items_per_directory"] * holding  # type: ignore[operator]
    assert 0 <= items - found["items"] < holding  # type: ignore[operator]


@given(st.integers(0, 6), st.integers(1, 5))
def test_directories_are_those_of_a_tree(depth: int, branching: int) -> None:
    assert directories(depth, branching, leaf_only=False) == sum(branching**level for level in range(depth + 1))
    assert directories(depth, branching, leaf_only=True) == branching**depth


def test_lines_share_what_one_leaves_for_the_next() -> None:
    found = translated(
        "mdtest -F -C -n 9 -w 8 -d /s/hard",
        "mdtest -F -T -n 9 -w 8 -d /s/hard",
        "mdtest -F -E -n 9 -e 8 -d /s/hard",
        "mdtest -F -r -n 9 -w 8 -d /s/hard",
    )
    assert [draft.dataset for draft in found.drafts] == ["hard"] * 4
    assert [draft.workload.parameters["phases"] for draft in found.drafts] == [
        ["tree-create", "create"],
        ["stat"],
        ["read"],
        ["unlink", "tree-remove"],
    ]
    assert {draft.workload.parameters["write_bytes"] for draft in found.drafts} == {8}
    assert not any("removed at the end" in note for note in found.notes)


def test_what_no_line_makes_is_made_first() -> None:
    found = translated("mdtest -F -T -n 9")
    assert any("line 1 makes no files" in note and "made first" in note for note in found.notes)
    assert any("removed at the end of the run" in note for note in found.notes)


def test_directories_and_files_of_one_path_do_not_meet() -> None:
    found = translated("mdtest -C -n 9 -d /s/a", "mdtest -r -n 9 -d /s/a")
    names = [draft.dataset for draft in found.drafts]
    assert names[0] == names[2] != names[1] == names[3]


def test_directories_are_not_synced_like_files() -> None:
    by_item = {d.workload.parameters["item"]: d.workload.parameters for d in translated("mdtest -n 5 -y -w 8").drafts}
    assert "sync" not in by_item["directory"]
    assert "write_bytes" not in by_item["directory"]
    assert by_item["file"]["sync"] == "file"


def test_repetitions_ranks_and_place() -> None:
    found = translated("srun -n 8 mdtest -F -n 5 -i 3 -d /s/x")
    assert (found.ranks, found.repetitions, found.drafts[0].place) == (8, 3, "/s/x")
    assert found.drafts[0].backend.name == "posix"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mdtest -F", "neither -n nor -I"),
        ("mdtest -n 5 -I 3", "-I 3 in 1 directories are 3 items, and -n says 5"),
        ("mdtest -n 5 -b 0", "whole number from 1"),
        ("mdtest -n 5 -z 99", "the tree is too large"),
        ("mdtest -n 5 -D -F", "exclude each other"),
        ("mdtest -n 5 -U -F", "requests no work: mdtest renames only directories"),
        ("mdtest -n 5 -E -D", "requests no work: mdtest reads only files"),
        ("mdtest -n 5 -w 8 -e 9", "-e 9 reads more than -w 8 writes"),
        ("mdtest -n 5 -d a@b", "several paths"),
        ("mdtest -n 5 -a DFS", "no backend works on names through DFS"),
        ("mdtest -n 5 -y -Y -F", "-y and -Y together"),
        ("mdtest -n 5 -f 1 -l 4", "-f has no equivalent: give one command line for each number of ranks"),
        ("mpirun -np 2 mdtest -n 5 -S", "-S has no equivalent on 2 ranks: .* use from-ior without -F"),
        ("mpirun -np 2 mdtest -n 5 -c", "-c has no equivalent on 2 ranks: .* --ranks 1 makes all with one"),
        ("mdtest -n 5 -k", "-k has no equivalent: files are made by open and close"),
        ("mdtest -n 5 -F -C -k", "and not by mknod; leave it out"),
        ("FOO=1 mdtest -n 5", "FOO before the command is not carried to the ranks"),
    ],
)
def test_what_has_no_equivalent_is_an_error(line: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        translated(line)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("mdtest -n 5 -c", "-c: a single rank makes all items anyway"),
        ("mpirun -np 1 mdtest -n 5 -S", "-S: a single rank shares its items with nobody"),
        ("mdtest -n 5 -D -k", "-k: this line makes no files"),
        ("mdtest -n 5 -F -T -k", "-k: this line makes no files"),
    ],
)
def test_a_flag_that_asks_for_the_usual_work_is_answered(line: str, note: str) -> None:
    found, usual = translated(line), translated(line.replace(line[-3:], ""))
    assert note in found.notes
    assert found.drafts == usual.drafts


REFUSED = [flag for flag in TABLE.flags if flag.refusal]


@pytest.mark.parametrize("flag", REFUSED, ids=lambda flag: flag.key)
def test_each_flag_without_an_equivalent_says_why_and_a_value_of_0_asks_for_nothing(flag: Flag) -> None:
    for name in some(flag.names):
        words = f"mdtest -n 5 {name}{' 3' if flag.takes_value else ''}"
        with pytest.raises(UserError, match=re.escape(f"{name} has no equivalent: {flag.refusal}")):
            translated(words)
        if flag.takes_value:
            assert translated(f"mdtest -n 5 {name} 0").drafts == translated("mdtest -n 5").drafts


def test_a_tree_is_used_as_it_was_made() -> None:
    with pytest.raises(UserError, match="line 2 uses what line 1 made with another -n; write the same -n"):
        translated("mdtest -F -C -n 5 -d /s/a", "mdtest -F -T -n 6 -d /s/a")


def test_what_is_made_twice_has_two_names() -> None:
    lines = ["mdtest -F -C -n 5 -d /s/a", "mdtest -F -T -n 5 -d /s/a"]
    names = [draft.dataset for draft in translated(*lines, *lines).drafts]
    assert names == ["a", "a", "a-2", "a-2"]


def test_items_with_items_in_a_directory_fill_one_after_the_other() -> None:
    """mdtest without a tree makes N / D directories (its directory_loops), each with D items of every rank."""
    found = translated("mdtest -F -n 100 -I 10")
    parameters = found.drafts[0].workload.parameters
    names = ("items", "items_per_directory", "depth", "branching", "leaf_only")
    assert [parameters[name] for name in names] == [100, 10, 1, 10, True]
    assert any("10 directories side by side" in note for note in found.notes)
    with pytest.raises(UserError, match="give one of -n and -I"):
        translated("mdtest -F -n 100 -I 10 -u")


def test_a_folder_that_mdtest_would_make_is_measured_where_it_would_be(tmp_path: Path) -> None:
    line = f"mdtest -n 5 -d {tmp_path}/new"
    asked = parse_options(FromMdtestOptions, lines=[line, line.replace("new", "newer")])
    assert [target.uri for target in asked.targets] == [f"posix:{tmp_path}"]
    assert asked.options["places"] == {f"{tmp_path}/new": "new", f"{tmp_path}/newer": "new"}
    assert not (tmp_path / "new").exists()
    (tmp_path / "new").mkdir()
    assert [target.uri for target in parse_options(FromMdtestOptions, lines=[line]).targets] == [
        f"posix:{tmp_path}/new"
    ]
