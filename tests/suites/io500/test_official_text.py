# SPDX-License-Identifier: Apache-2.0
"""What the official checker looks at: the check sums, the file of the configuration, the folder as a whole."""

import configparser

import pytest

from suites.io500.conftest import World
from ullage.importers import read
from ullage.ini import ini_lines
from ullage.suites.io500.ini import KEYS, read_entries
from ullage.suites.io500.official import read_lines, read_result_ini
from ullage.suites.io500.official_folder import config_hash, ini_text, summary_text

# A run of the public list of ISC 2024 as it was published, without its command lines.
PUBLISHED = """[run]
procs           = 640
version         = io500-isc24_v3
config-hash     = 6C6B3A84
result-dir      = /net/results/2024.05.03-09.25.44
mode            = standard
; START 2024-05-03 09:25:48


[ior-easy-write]
t_start         = 2024-05-03 09:25:48
exe             = ./ior -C -Q 1 -g -k -e -t 2m -b 9920000m -F -w -D 300 -O stoneWallingWearOut=1 -a POSIX
throughput-stonewall = 403.55
score           = 352.803032
t_delta         = 386.6981
t_end           = 2024-05-03 09:32:15

[mdtest-easy-write]
score           = 119.113150
t_delta         = 373.7987

[timestamp]
t_delta         = 0.0003

[ior-hard-write]
score           = 5.996531
t_delta         = 324.1883

[mdtest-hard-write]
score           = 66.621419
t_delta         = 374.8816

[find]
nproc           = 640
found           = 909322
total-files     = 69266562
score           = 2872.215129
t_delta         = 24.1317

[ior-easy-read]
score           = 464.646333
t_delta         = 293.6190

[mdtest-easy-stat]
score           = 415.688686
t_delta         = 107.9178

[ior-hard-read]
score           = 227.682852
t_delta         = 8.7598

[mdtest-hard-stat]
score           = 305.227639
t_delta         = 82.6105

[mdtest-easy-delete]
score           = 96.720801
t_delta         = 459.9932

[mdtest-hard-read]
score           = 114.129044
t_delta         = 219.3932

[mdtest-hard-delete]
score           = 58.712616
t_delta         = 425.7229

[SCORE]
MD              = 192.355126
BW              = 122.312630
SCORE           = 153.386640
hash            = A7748DEE
; END 2024-05-03 10:17:13
"""


def test_a_file_that_begins_with_run_is_read_and_written_again_with_its_check_sum() -> None:
    run = read_result_ini(PUBLISHED, "result.txt")
    assert (run.ranks, run.version, run.mode) == (640, "io500-isc24_v3", "standard")
    assert run.pairs == {"config-hash": "6C6B3A84", "result-dir": "/net/results/2024.05.03-09.25.44"}
    assert (run.started, run.ended) == ("2024-05-03 09:25:48", "2024-05-03 10:17:13")
    again = ini_text(run)
    assert again == PUBLISHED
    assert [phase.value for phase in read_lines(summary_text(run), "s")[0].phases if phase.name != "timestamp"] == [
        phase.value for phase in run.phases if phase.name != "timestamp"
    ]


def test_a_changed_number_and_a_void_run_have_another_check_sum() -> None:
    run = read_result_ini(PUBLISHED.replace("119.113150", "119.113151"), "r")
    assert "A7748DEE" not in ini_text(run)
    void = read_result_ini(PUBLISHED.replace("153.386640", "153.386640 [INVALID]"), "r")
    assert "A7748DEE" not in ini_text(void)


def test_run_must_be_the_first_section() -> None:
    with pytest.raises(Exception, match=r"section \[run\] is not the first"):
        read_result_ini(PUBLISHED.replace("[timestamp]", "[run]"), "r")
    with pytest.raises(Exception, match=r"section \[run\] is not the first"):
        read_result_ini("procs = 2\n" + PUBLISHED, "r")


@pytest.mark.parametrize("mode", ["standard", "extended"])
def test_a_result_is_a_folder_of_the_official_tool(world: World, mode: str) -> None:
    world.run(world.prepare("[mdtest-easy]\n# mine\nn = 77\n", mode=mode))
    parser = configparser.ConfigParser()
    parser.read(world.result.path / "result.txt")
    assert parser["run"]["result-dir"] == str(world.result.path)
    assert parser["run"]["config-hash"] == config_hash(world.text("config.ini"))
    assert {"t_start", "t_end"}.isdisjoint(parser["find"]), "the simulation has no time of day"
    assert parser["find"]["nproc"] == "2"
    assert "posix" in parser["ior-easy-write"]["exe"]
    assert world.text("config-orig.ini") == "[mdtest-easy]\n# mine\nn = 77\n"
    assert world.text("ior-easy-write.txt").startswith("Results: ")
    assert "File creation" in world.text("mdtest-hard-write.txt")
    imported = read(world.result.path)
    own = {(row.params["phase"], row.metric): row.median for row in world.summary().rows}
    for row in imported.rows:
        if row.metric in ("bandwidth", "operation_rate"):
            assert row.median == pytest.approx(own[row.params["phase"], row.metric], rel=1e-5)
    assert {score.name: score.valid for score in imported.scores} == dict.fromkeys(
        (score.name for score in world.summary().scores), True
    )


def test_the_configuration_is_complete_and_says_what_was_done(world: World) -> None:
    world.run(world.prepare("[mdtest-easy]\nn = 77\n[ior-easy]\nuniqueDir = TRUE\n", stonewall="10"))
    entries, former = read_entries(world.text("config.ini"), "config.ini")
    said = {(entry.section, entry.key): entry.value for entry in entries}
    assert former == []
    assert said["mdtest-easy", "n"] == 77
    assert said["ior-easy", "uniqueDir"] is True
    assert said["debug", "stonewall-time"] == 10
    assert said["global", "datadir"] == str(world.path / "a")
    lines = list(ini_lines(world.text("config.ini"), "c", trailing_comments=False))
    sections = [line.section for line in lines if line.section is not None]
    assert sorted(sections) == sorted(KEYS)
    assert sections[:4] == ["global", "debug", "ior-easy", "ior-easy-write"]


def test_a_result_folder_of_the_file_gets_a_copy(world: World) -> None:
    place = world.path / "mine"
    world.run(world.prepare(f"[global]\nresultdir = {place}\ntimestamp-resultdir = FALSE\n"))
    assert (place / "result.txt").read_text() == world.text("result.txt")
    assert (place / "ior-hard-read.txt").exists()


def test_a_result_folder_that_cannot_be_made_is_refused_before_the_run(world: World) -> None:
    (world.path / "file").write_text("")
    with pytest.raises(
        Exception, match=r"resultdir .*/file/x: .*/file is not a folder that can be written to"
    ) as caught:
        world.prepare(f"[global]\nresultdir = {world.path / 'file' / 'x'}\n")
    assert caught.value.code == 3  # type: ignore[attr-defined]
