# SPDX-License-Identifier: Apache-2.0
"""What the keys of the official file mean here: honoured, refused, or answered with a note; none is ignored."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.suites.io500.config import OfficialConfig, default_stonewall_s, parse_config, read_config
from ullage.suites.io500.ini import KEYS, Api

DEFAULTS = {"flag": "FALSE", "count": "2", "size": "2m", "number": "0.5", "text": "/words"}
OWN = {
    "API": "POSIX",
    "api": "POSIX",
    "dataPacketType": "offset",
    "drop-caches-cmd": "echo 3 > /proc/sys/vm/drop_caches",
    "filePerProc": "FALSE",
    "transferSize": "1m",
}
TRUE = ("drop-caches", "uniqueDir", "scc", "collective", "io-buffers-on-gpu")


@pytest.mark.parametrize(("section", "key"), [(section, key) for section in KEYS for key in KEYS[section]])
def test_every_key_changes_something_or_is_answered(section: str, key: str) -> None:
    value = "TRUE" if key in TRUE else OWN.get(key, DEFAULTS[KEYS[section][key].kind])
    both = {"precreatePerSet": "filesPerProc", "filesPerProc": "precreatePerSet"}
    more = f"{both[key]} = 2\n" if key in both else ""
    text = f"[{section}]\n{key} = {value}\n{more}"
    if key == "io-buffers-on-gpu" or key.startswith("external-"):
        with pytest.raises(UserError, match=key):
            parse_config(text)
    else:
        assert parse_config(text) != OfficialConfig(file="config")


def test_an_empty_file_is_the_official_default() -> None:
    found = parse_config("")
    assert found == OfficialConfig(file="config")
    assert not found.sizes_are_given
    assert default_stonewall_s(found) == 300


def test_numbers() -> None:
    text = (
        "[ior-easy]\ntransferSize=1m\nblockSize=8m\nfilePerProc=FALSE\n[ior-hard]\nsegmentCount=5\n[mdtest-easy]\nn=6\n"
        "[mdtest-hard]\nn=7\nfiles-per-dir=8\n[mdworkbench]\nwaitingTime=0.5\nprecreatePerSet=9\nfilesPerProc=10\n"
        "[debug]\nstonewall-time=30\n[global]\nscc=TRUE\n"
    )
    found = parse_config(text)
    assert (found.transfer_bytes, found.block_bytes, found.file_per_process) == (1 << 20, 8 << 20, False)
    assert (found.segments, found.easy_items, found.hard_items, found.files_per_directory) == (5, 6, 7, 8)
    assert (found.waiting_factor, found.workbench_objects, found.workbench_rounds) == (0.5, 9, 10)
    assert found.sizes_are_given
    assert default_stonewall_s(found) == 30


def test_the_official_defaults_are_no_sizes() -> None:
    found = parse_config(
        "[ior-easy]\nblockSize = 9920000m\n[ior-hard]\nsegmentCount = 10000000\n[mdtest-easy]\nn=1000000"
    )
    assert (found.block_bytes, found.segments, found.easy_items) == (None, None, None)
    assert len(found.notes) == 3


def test_the_competition_has_a_wall_of_its_own() -> None:
    assert default_stonewall_s(parse_config("[global]\nscc = TRUE\n")) == 30


def test_what_a_phase_says_wins_over_its_group_and_that_over_all() -> None:
    text = (
        "[ior-hard-read]\nAPI = POSIX\n[ior-hard]\nAPI = MPIIO\ncollective = TRUE\n"
        "[ior-hard-write]\ncollective = FALSE\n[global]\napi = POSIX --posix.odirect\n"
    )
    found = parse_config(text)
    assert found.apis["ior-hard-write"] == Api(backend="mpiio")
    assert found.apis["ior-hard-read"] == Api(backend="posix")
    assert found.apis["ior-easy-write"] == Api(backend="posix", parameters={"direct": True})
    assert found.apis["mdtest-easy-write"] == Api()
    assert found.collective == ["ior-hard-read"]


def test_mpi_io_for_all_leaves_metadata_to_posix() -> None:
    found = parse_config("[global]\napi = MPIIO\n")
    assert found.apis["ior-easy-read"].backend == "mpiio"
    assert found.apis["mdtest-hard-stat"].backend == "posix"
    assert "find" not in found.apis


def test_mappings_are_for_bandwidth_phases_and_pmdk_for_files_of_a_process() -> None:
    found = parse_config("[global]\napi = MMAP\n[ior-easy]\nAPI = PMDK\n")
    assert found.apis["ior-easy-write"] == Api(backend="pmem")
    assert found.apis["ior-hard-read"] == Api(backend="mmap")
    assert found.apis["mdtest-easy-write"] == Api()


def test_hints_come_from_the_file_that_the_api_names(tmp_path: Path) -> None:
    (tmp_path / "hints").write_text("# all\nIOR_HINT__MPI__cb_nodes=4\nIOR_HINT__MPI__romio_cb_write = enable\n")
    (tmp_path / "c.ini").write_text("[ior-hard]\nAPI = MPIIO --mpiio.hintsFileName hints\n")
    found = read_config(tmp_path / "c.ini").apis["ior-hard-write"]
    assert found.parameters == {"hints": {"cb_nodes": "4", "romio_cb_write": "enable"}}
    (tmp_path / "hints").write_text("cb_nodes=4\n")
    with pytest.raises(UserError, match=r"hints:1: is not an MPI hint"):
        read_config(tmp_path / "c.ini")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[ior-easy]\nAPI = DFS\n", r"c.ini:2 .* API 'DFS' is not supported; one of POSIX, MPIIO"),
        ("[mdtest-easy]\nAPI = MPIIO\n", "MPI-IO has no metadata operations"),
        ("[mdtest-hard]\nAPI = MMAP\n", "MMAP has no metadata operations"),
        ("[ior-hard]\nAPI = PMDK\n", r"c.ini:2 .* PMDK needs a file for each process; ior-hard-write shares a file"),
        ("[ior-easy]\nAPI = POSIX 'open\n", r"c.ini:2 .* cannot be split into words"),
        ("[ior-easy]\nAPI = POSIX --posix.lustre.stripecount=4\n", "stripecount=4' is not set by a run; leave it out"),
        (
            "[global]\napi = POSIX --posix.lustre.stripesize 1m\n",
            "on the folder DATADIR/ior-easy before the run, whose layout is used",
        ),
        ("[ior-easy]\nAPI = POSIX --posix.rangelocks\n", "option '--posix.rangelocks' of POSIX is not supported"),
        ("[mdtest-easy]\nAPI = POSIX --posix.odirect\n", "is not supported for mdtest-easy-write"),
        ("[global]\nio-buffers-on-gpu = TRUE\n", "buffers on a GPU are not supported"),
        ("[global]\ndrop-caches-cmd = /site/drop\n", "commands of your own are not run"),
        ("[global]\ndataPacketType = zeros\n", "unknown kind 'zeros'"),
        ("[find]\nexternal-script = ./mine.sh\n", r"external-script: './mine.sh' is not run: find is built in"),
        ("[mdtest-easy]\nn = 0\n", "c.ini:2 .* is 0"),
        ("[ior-easy]\ntransferSize = 4\n", r"c.ini \[ior-easy\] transferSize: 4: .*multiple of 8"),
        ("[mdworkbench]\nwaitingTime = -1\n", r"\[mdworkbench\] waitingTime: -1.0: "),
        ("[mdworkbench]\nfilesPerProc = 3\n", "give both or none"),
    ],
)
def test_what_cannot_be_done_is_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_config(text, "c.ini")


def test_keys_without_an_equivalent_are_said() -> None:
    text = (
        "[global]\nresultdir = /r\nverbosity = 3\ndataPacketType = offset\n[find]\npfind-queue-length = 9\n"
        "[debug]\npause-dir = /p\n[ior-rnd1MB]\nblockSize = 1\n"
    )
    found = parse_config(text)
    assert (found.result_folder, found.timestamp_result_folder) == ("/r", True)
    for word in ("resultdir", "verbosity", "dataPacketType", "pfind-queue-length", "pause-dir", "[ior-rnd1MB]"):
        assert any(word in note for note in found.notes), word
    assert found.pause_folder == "/p"


def test_a_phase_that_is_not_run_takes_along_what_needs_it() -> None:
    found = parse_config("[ior-easy-write]\nrun = FALSE\n[mdtest-hard-stat]\nrun = FALSE\n")
    assert found.skipped == ["ior-easy-write", "mdtest-hard-stat", "ior-easy-read", "ior-rnd4K-easy-read"]
    assert sum("needs what ior-easy-write makes" in note for note in found.notes) == 2
    whole = parse_config("[mdtest-hard]\nrun = FALSE\n")
    assert set(whole.skipped) == {f"mdtest-hard-{end}" for end in ("write", "stat", "read", "delete")}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.ini: No such file"):
        read_config(tmp_path / "none.ini")
    (tmp_path / "binary.ini").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        read_config(tmp_path / "binary.ini")
