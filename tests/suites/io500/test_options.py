# SPDX-License-Identifier: Apache-2.0
"""From words to options; each mistake is one line that says what would be right."""

from pathlib import Path

import pytest

from support.suite_words import options_of
from ullage.errors import UserError
from ullage.runs.options.reading import parse_options
from ullage.suites.io500.options import Io500Options
from ullage.uri import target_path


def options(**words: object) -> Io500Options:
    return options_of(Io500Options, **{"target": ["t=/t"], "ranks": 4, **words})


def test_the_folder_of_the_file_is_measured_where_no_target_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.ini").write_text(f"[global]\ndatadir = {tmp_path}\n")
    asked = parse_options(Io500Options, config=tmp_path / "c.ini", ranks=2)
    assert [(target.name, target_path(target)) for target in asked.targets] == [("data", tmp_path)]
    with pytest.raises(UserError, match="--target: names no place to measure; write --target NAME=PATH, or datadir"):
        parse_options(Io500Options, ranks=2)


def test_defaults_are_those_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 12)
    found = options(ranks=None)
    assert (found.ranks, found.stonewall_s, found.mode, found.repeat) == (12, 300, "standard", 1)
    assert (found.cache, found.verify, found.keep, found.resumable, found.time_s) == (
        "advise",
        "full",
        False,
        False,
        None,
    )


def test_words_become_numbers() -> None:
    found = options(stonewall="5m", time="2h", space="1G", watchdog="90s", repeat=3, nodes=2, ranks_per_node=2)
    assert (found.stonewall_s, found.time_s, found.space, found.watchdog_s) == (300, 7200, 1 << 30, 90)
    assert (found.repeat, found.nodes, found.ranks_per_node) == (3, 2, 2)


def test_the_file_gives_the_wall_and_words_win_over_it(tmp_path: Path) -> None:
    path = tmp_path / "c.ini"
    path.write_text("[debug]\nstonewall-time = 30\n[global]\ndrop-caches = TRUE\n")
    assert options(config=path).stonewall_s == 30
    assert options(config=path, stonewall="7").stonewall_s == 7
    assert options(config=path).cache == "drop"


def test_hints_are_for_all_or_for_one_phase() -> None:
    found = options(hint=["cb_nodes=4", "ior-hard-write:cb_buffer_size=1048576"])
    assert found.hints == {"": {"cb_nodes": "4"}, "ior-hard-write": {"cb_buffer_size": "1048576"}}


def test_the_data_folder_of_the_file_must_be_a_target(tmp_path: Path) -> None:
    path = tmp_path / "c.ini"
    path.write_text("[global]\ndatadir = /scratch/me\n")
    assert options(target=["s=/scratch/me"], config=path).config.data_folder == "/scratch/me"
    with pytest.raises(
        UserError, match=r"datadir /scratch/me is not among the targets; write --target NAME=/scratch/me"
    ):
        options(config=path)


def test_find_runs_on_all_ranks(tmp_path: Path) -> None:
    path = tmp_path / "c.ini"
    path.write_text("[find]\nnproc = 4\n")
    assert options(config=path).config.find_ranks == {"find": 4}
    with pytest.raises(UserError, match=r"nproc 4: find runs on all 8 ranks"):
        options(config=path, ranks=8)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"mode": "extnded"}, "--mode: unknown word 'extnded'; did you mean 'extended'"),
        ({"cache": "warm"}, "--cache: unknown word 'warm'"),
        ({"verify": "kept"}, "--verify: unknown word 'kept'; one of full, none"),
        ({"stonewall": "0"}, "--stonewall 0: is not above 0"),
        ({"stonewall": "soon"}, "not a duration"),
        ({"hint": ["cb_nodes"]}, "--hint cb_nodes: not a hint"),
        ({"hint": ["ior-hrd-write:a=1"]}, "unknown phase 'ior-hrd-write'; did you mean 'ior-hard-write'"),
        ({"target": ["nothing"]}, "not a target"),
    ],
)
def test_mistakes_are_named(words: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        options(**words)
