# SPDX-License-Identifier: Apache-2.0
"""IOR's words become cases that do the same work."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.command_lines.flags import Flag
from ullage.command_lines.translation import Draft, Translation, WantedLayout, split_line
from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.suites.from_ior.parameters import TABLE
from ullage.suites.from_ior.translation import translate


def translated(*lines: str, ranks: int | None = None) -> Translation:
    return translate([split_line(line, "ior") for line in lines], WantedLayout(ranks))


def only(*lines: str, ranks: int | None = None) -> Draft:
    (draft,) = translated(*lines, ranks=ranks).drafts
    return draft


def parameters(line: str, ranks: int | None = None) -> Parameters:
    return only(line, ranks=ranks).workload.parameters


def test_the_line_of_the_issue() -> None:
    draft = only("ior -a MPIIO -t 1m -b 64m -s 2 -F -C -e", ranks=4)
    assert draft.backend.name == "mpiio"
    assert draft.workload.name == "transfer"
    assert draft.workload.parameters == {
        "phases": ["write", "read"],
        "transfer_bytes": 1 << 20,
        "block_bytes": 64 << 20,
        "segments": 2,
        "file_mode": "per-process",
        "directory_per_process": False,
        "read_back": "other-node",
        "read_shift": 1,
        "sync": "close",
        "stonewall_s": 0.0,
        "wear_out": False,
        "cache": "none",
        "verify": "kept",
    }


@given(
    st.integers(1, 64).map(lambda n: 8 * n), st.integers(1, 50), st.integers(1, 1000), st.integers(1, 64), st.booleans()
)
def test_bytes_in_all_are_those_of_ior(transfer: int, count: int, segments: int, ranks: int, per_process: bool) -> None:
    block = transfer * count
    found = translated(f"mpirun -np {ranks} ior -t {transfer} -b {block} -s {segments}{' -F' if per_process else ''}")
    values = found.drafts[0].workload.parameters
    assert found.ranks == ranks
    assert values["block_bytes"] * values["segments"] * found.ranks == block * segments * ranks  # type: ignore[operator]
    assert values["block_bytes"] % values["transfer_bytes"] == 0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("flags", "phases"),
    [
        ("", ["write", "read"]),
        ("-w -r", ["write", "read"]),
        ("-w", ["write"]),
        ("-r", ["write", "read"]),
        ("-R", ["write", "read"]),
        ("-w -W", ["write", "read"]),
        ("-w -E", ["write", "rewrite"]),
        ("-E", ["write", "rewrite", "read"]),
    ],
)
def test_phases(flags: str, phases: list[str]) -> None:
    assert parameters(f"ior {flags}")["phases"] == phases


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", {"transfer_bytes": 256 << 10, "block_bytes": 1 << 20, "segments": 1, "file_mode": "shared"}),
        ("", {"sync": "none", "cache": "none", "verify": "kept"}),
        ("-e", {"sync": "close"}),
        ("-e -Y", {"sync": "every"}),
        ("-z --random-offset-seed 7", {"order": "random", "order_seed": 7}),
        ("-D 300 -O stoneWallingWearOut=1", {"stonewall_s": 300.0, "wear_out": True}),
        ("-F -u", {"directory_per_process": True}),
        ("-C -Q 3", {"read_back": "other-node", "read_shift": 3}),
        ("-R", {"verify": "full"}),
        ("-O transferSize=8,blockSize=64", {"transfer_bytes": 8, "block_bytes": 64}),
    ],
)
def test_parameters(flags: str, expected: Parameters) -> None:
    found = parameters(f"ior {flags}", ranks=4)
    assert {name: found[name] for name in expected} == expected


@given(st.integers(2, 100), st.integers(0, 99))
def test_a_random_reader_reads_the_data_of_another_rank(ranks: int, seed: int) -> None:
    found = parameters(f"ior -Z -X {seed}", ranks=ranks)
    assert found["read_back"] == "other-rank"
    assert 1 <= found["read_shift"] < ranks  # type: ignore[operator]
    assert parameters(f"ior -Z -X {seed}", ranks=ranks) == found


def test_one_rank_has_no_other_to_read_from() -> None:
    found = translated("ior -Z")
    assert "read_back" not in found.drafts[0].workload.parameters
    assert any("a single rank reads its own data" in note for note in found.notes)


def test_a_single_node_is_told_whose_data_is_read() -> None:
    assert any(note.startswith("-C: ") and "on a single node" in note for note in translated("ior -C").notes)


@pytest.mark.parametrize(
    ("api", "backend", "more"),
    [
        ("POSIX --posix.odirect", "posix", {"direct": True}),
        ("posix", "posix", {}),
        ("MPIIO -c", "mpiio", {"collective": True}),
        ("HDF5 -c", "hdf5", {"collective": True}),
        ("hdf5", "hdf5", {}),
        ("MPIIO --mpiio.preallocate", "mpiio", {"preallocate": True}),
        ("MMAP", "mmap", {}),
        ("MMAP --mmap.madv_pattern", "mmap", {"advice": "sequential"}),
        ("MMAP --mmap.madv_pattern -z", "mmap", {"advice": "random"}),
        ("PMDK -F", "pmem", {"store": "persist"}),
        ("PMDK -F -Y", "pmem", {"store": "nodrain"}),
    ],
)
def test_backends(api: str, backend: str, more: Parameters) -> None:
    draft = only(f"ior -a {api}")
    assert (draft.backend.name, draft.backend.parameters) == (backend, more)


def test_a_dummy_needs_no_place_and_holds_nothing_to_check() -> None:
    draft = only("ior -a DUMMY -o /x/y -R")
    assert (draft.backend.name, draft.needs_path, draft.place) == ("null", False, "")
    assert draft.workload.parameters["verify"] == "none"


def test_hints_come_from_the_file_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("# ours\nIOR_HINT__MPI__romio_cb_write = enable\ncb_nodes = 1\n")
    found = translated(f"IOR_HINT__MPI__cb_nodes=4 mpirun -np 2 ior -a MPIIO --mpiio.hintsFileName={tmp_path / 'h'}")
    assert found.drafts[0].backend.parameters["hints"] == {"romio_cb_write": "enable", "cb_nodes": "4"}


def test_repetitions_time_ranks_and_keep() -> None:
    found = translated("mpirun -np 8 ior -i 5 -T 2 -N 4 -k")
    assert (found.repetitions, found.time_s, found.ranks, found.keep) == (5, 120.0, 4, True)


def test_the_place_is_the_folder_of_the_file() -> None:
    assert only("ior -o /scratch/me/file").place == "/scratch/me"
    assert only("ior").place == ""


def test_lines_share_what_one_leaves_for_the_next() -> None:
    found = translated("ior -w -k -o /s/easy", "ior -w -k -o /s/hard", "ior -r -k -o /s/easy", "ior -r -o /s/hard")
    assert [draft.dataset for draft in found.drafts] == ["easy", "hard", "easy", "hard"]
    assert [draft.workload.parameters["phases"] for draft in found.drafts] == [["write"], ["write"], ["read"], ["read"]]
    assert found.keep
    assert not translated("ior -w -k -o /s/easy", "ior -r -o /s/easy").keep


def test_what_was_not_kept_is_written_again() -> None:
    found = translated("ior -w -o /s/f", "ior -r -o /s/f")
    assert [draft.dataset for draft in found.drafts] == ["", ""]
    assert any("line 2 only reads" in note and "written first" in note for note in found.notes)


def test_random_positions_are_picked_on_what_another_line_wrote() -> None:
    found = translated(
        "ior -w -k -F -t 2m -b 8m -o /s/e", "ior -r -z -z -t 4096 -b 4096 -s 1000 -F -C -Q 2 -D 300 -o /s/e", ranks=2
    )
    first, second = found.drafts
    assert first.dataset == second.dataset == "e"
    assert second.workload.name == "mixed-transfer"
    assert second.workload.parameters == {
        "transfer_bytes": 4096,
        "read_back": "other-node",
        "read_shift": 2,
        "stonewall_s": 300.0,
        "wear_out": False,
        "cache": "none",
        "read_share": 1.0,
        "pick": "random",
        "operations": 1000,
        "seed": 1,
    }


def test_random_positions_alone_are_written_first_and_in_order() -> None:
    first, second = translated("ior -r -z -z -t 8 -b 64").drafts
    assert (first.workload.name, second.workload.name) == ("transfer", "mixed-transfer")
    assert first.workload.parameters["order"] == "sequential"
    assert first.dataset == second.dataset != ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ior -t 12", "multiples of 8"),
        ("ior -t 0", "multiples of 8"),
        ("ior -t 1m -b 1500k", "not a multiple of -t"),
        ("ior -t 2m -b 1m", "not a multiple of -t"),
        ("ior -s 0", "whole number from 1"),
        ("ior -u", "-u needs -F"),
        ("ior -C -Z", "exclude each other"),
        ("ior -c", "-c needs -a MPIIO or HDF5"),
        ("ior -a MPIIO --posix.odirect", "--posix.odirect needs -a POSIX"),
        ("ior -a DFS", "no backend supports DFS; one of POSIX, MPIIO, HDF5, MMAP, PMDK, DUMMY"),
        ("ior --mmap.madv_pattern", "--mmap.madv_pattern needs -a MMAP"),
        ("ior -a PMDK", "-a PMDK needs -F"),
        ("ior -a POXIS", "unknown API 'POXIS'; did you mean 'POSIX'"),
        ("ior -O stoneWallingWearOut=1", "needs -D"),
        ("ior -o a@b -F", "several paths"),
        ("ior -l q", "unknown data pattern 'q'"),
        ("ior -w -z -z", "-z -z with -w"),
        ("mpirun -np 2 ior -N 4", "-N 4 is more than the launcher starts"),
        ("ior -X -1 -Z", "'-1' is not a value of -X"),
        ("FOO=1 ior", "FOO before the command is not carried"),
    ],
)
def test_what_has_no_equivalent_is_an_error(line: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        translated(line, ranks=None if "mpirun" in line else 2)


REFUSED = [flag for flag in TABLE.flags if flag.refusal]


@pytest.mark.parametrize("flag", REFUSED, ids=lambda flag: flag.key)
def test_each_flag_without_an_equivalent_says_why_and_a_value_of_0_asks_for_nothing(flag: Flag) -> None:
    plain = translated("ior -w").drafts
    for name in flag.names:
        words = f"ior -w {name}{' 3' if flag.takes_value else ''}"
        with pytest.raises(UserError, match=re.escape(f"{name} has no equivalent: {flag.refusal}")):
            translated(words)
        if flag.takes_value:
            assert translated(f"ior -w {name} 0").drafts == plain
    if flag.directive:
        with pytest.raises(UserError, match=re.escape(flag.refusal)):
            translated(f"ior -w -O {flag.directive}={'3' if flag.takes_value else '1'}")
        assert translated(f"ior -w -O {flag.directive}=0").drafts == plain


def test_flags_that_people_use_are_among_them() -> None:
    """A flag that was dropped from the table would be called unknown, without a reason."""
    keys = {name for flag in REFUSED for name in (*flag.names, flag.directive)}
    assert {"-d", "interTestDelay", "minTimeDuration", "-M", "-x", "-y"} <= keys


def test_a_file_is_read_as_it_was_written() -> None:
    said = "line 2 uses what line 1 made with another -b; write the same -b in both lines"
    with pytest.raises(UserError, match=said):
        translated("ior -w -k -t 1m -o /s/f", "ior -r -t 1m -b 4m -o /s/f")
    assert translated("ior -w -k -t 1m -o /s/f", "ior -r -z -z -t 4k -b 4k -o /s/f").drafts


def test_lines_must_agree_where_one_launch_can_have_one_value() -> None:
    with pytest.raises(UserError, match="differ in ranks: 2, 4; give --ranks"):
        translated("mpirun -np 2 ior -w", "mpirun -np 4 ior -w")
    with pytest.raises(UserError, match="differ in -i: 1, 3"):
        translated("ior -w -i 3", "ior -w")
    assert translated("mpirun -np 2 ior -w", "mpirun -np 4 ior -w", ranks=8).ranks == 8


@pytest.mark.parametrize("api", ["MPIIO", "HDF5"])
def test_a_prefix_of_romio_is_said_and_not_taken_for_a_scheme(api: str) -> None:
    found = translated(f"ior -a {api} -w -o ufs:tmp/s/f")
    assert found.drafts[0].place == "tmp/s"
    assert any("the prefix ufs: is not carried" in note for note in found.notes)
    with pytest.raises(UserError, match="moves no data"):
        translated(f"ior -a {api} -w -o testfs:/x/f")
    assert only("ior -w -o ufs:tmp/s/f").place == "ufs:tmp/s"


@pytest.mark.parametrize(("written", "read"), [("2m", "4k"), ("4k", "2m"), ("512", "1536k")])
@pytest.mark.parametrize(("flags", "order"), [("", {}), ("-z", {"order": "random", "order_seed": 1})])
def test_a_file_is_read_in_transfers_of_another_size(written: str, read: str, flags: str, order: Parameters) -> None:
    first, second = translated(
        f"ior -w -k -t {written} -b 12m -o /s/f", f"ior -r -R -t {read} -b 12m {flags} -o /s/f"
    ).drafts
    assert first.dataset == second.dataset != ""
    parameters = second.workload.parameters
    assert (second.workload.name, parameters["phases"], parameters["verify"]) == ("transfer", ["read"], "full")
    assert {name: value for name, value in parameters.items() if name.startswith("order")} == order
    with pytest.raises(UserError, match="write the same -b in both lines"):
        translated(f"ior -w -k -t {written} -b 12m -o /s/f", f"ior -r -t {read} -b 6m {flags} -o /s/f")


@pytest.mark.parametrize("size", ["4k", "2m"])
def test_random_reads_of_what_a_wall_has_left_are_picked_from_it(size: str) -> None:
    written = "ior -w -k -t 2m -b 8m -D 30 -o /s/f"
    _, read = translated(written, f"ior -r -t {size} -b 8m -z -o /s/f").drafts
    assert (read.workload.name, read.workload.parameters["pick"]) == ("mixed-transfer", "permutation")
    _, same = translated(f"{written} -z", "ior -r -t 2m -b 8m -z -o /s/f").drafts
    _, in_order = translated(written, f"ior -r -t {size} -b 8m -o /s/f").drafts
    assert {same.workload.name, in_order.workload.name} == {"transfer"}


@pytest.mark.parametrize(
    ("written", "read", "right"),
    [
        ("-t 2m -b 8m", "-t 8 -b 8m", "or in both lines a multiple of 512"),
        ("-t 47008 -b 188032", "-t 188032 -b 188032", "or in both lines a multiple of 512"),
        ("-t 4k -b 8m", "-t 2m -b 8m -z -z", "or a smaller multiple of 512"),
    ],
)
def test_transfers_that_do_not_fit_the_blocks_of_a_file_are_refused(written: str, read: str, right: str) -> None:
    with pytest.raises(UserError, match=f"write the same -t, {right}"):
        translated(f"ior -w -k {written} -o /s/f", f"ior -r {read} -o /s/f")


def test_a_line_of_io500_since_2021_is_read() -> None:
    """`exe` of ior-easy-write in every result.txt of IO500 since late 2021, and ior-hard-read of 2020."""
    line = (
        "ior --dataPacketType=timestamp -C -Q 1 -g -G 271 -k -e -o /s/ior-easy/f -O stoneWallingStatusFile=/s/st -t 2m "
        "-b 9920000m -F -w -D 300 -O stoneWallingWearOut=1 -a POSIX"
    )
    assert translated(line).drafts == translated(line.replace("--dataPacketType=timestamp", "-l timestamp")).drafts
    hard = "ior -C -Q 1 -g -G 27 -k -e -o /r/f -O stoneWallingWearOut=1 -t 47008 -b 47008 -s 100 -r -R -a POSIX"
    assert any("no effect without -D" in note for note in translated(hard).notes)
