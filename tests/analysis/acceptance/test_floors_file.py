# SPDX-License-Identifier: Apache-2.0
"""Files of floors: units, and one line for each mistake."""

from pathlib import Path

import pytest

from ullage.analysis.acceptance.floors_file import read_floors
from ullage.errors import UserError
from ullage.model.acceptance import Floor


def write(folder: Path, text: str) -> Path:
    path = folder / "reqs.toml"
    path.write_text(text)
    return path


def test_floors_have_the_units_that_people_write(tmp_path: Path) -> None:
    text = """
    confidence = "99%"
    [[require]]
    metric = "memory_bandwidth"
    suite = "memory"
    where = { access = "triad", threads = "most" }
    least = "180 GB/s"
    [[require]]
    metric = "access_time"
    most = "110 ns"
    confidence = 0.9
    [[require]]
    metric = "compute_rate"
    share = "80 %"
    [[require]]
    metric = "clock"
    least = "2.1 GHz"
    [[require]]
    metric = "noise_share"
    most = "1%"
    """
    where = {"access": "triad", "threads": "most"}
    assert read_floors(write(tmp_path, text)) == [
        Floor(metric="memory_bandwidth", suite="memory", where=where, bound=180e9, confidence=0.99),
        Floor(metric="access_time", bound=110e-9, confidence=0.9),
        Floor(metric="compute_rate", share=0.8, confidence=0.99),
        Floor(metric="clock", bound=2.1e9, confidence=0.99),
        Floor(metric="noise_share", bound=0.01, confidence=0.99),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "reqs.toml: declares no floor; write [[require]] above each"),
        ("requires = 1", "reqs.toml: unknown key 'requires'; did you mean 'require'?"),
        ("[[require]]\nleast = 1", "reqs.toml: require 1: names no metric"),
        (
            '[[require]]\nmetric = "bandwith"\nleast = 1',
            "reqs.toml: require 1: no such metric 'bandwith'; did you mean",
        ),
        ('[[require]]\nmetric = "clock"', "reqs.toml: require 1: has no bound; give one of least"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nshare = 0.5', "reqs.toml: require 1: has two bounds"),
        (
            '[[require]]\nmetric = "clock"\nmost = 1',
            "require 1: most: of clock more is better, so it has a bound 'least'",
        ),
        ('[[require]]\nmetric = "access_time"\nleast = 1', "require 1: least: of access_time less is better"),
        ('[[require]]\nmetric = "clock"\nleast = "2 furlongs"', "require 1: least: '2 furlongs' is no value of clock"),
        ('[[require]]\nmetric = "clock"\nshare = 3', "require 1: share: '3': not a share"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nconfidence = 0.4', "require 1: confidence:"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nwhere = { a = [1] }', "require 1: where/a"),
        ("require = [1]", "require 1: is not a table"),
        ("[[require", "reqs.toml: is not TOML"),
    ],
)
def test_each_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UserError) as refused:
        read_floors(write(tmp_path, text))
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file or directory; name a TOML file of floors"):
        read_floors(tmp_path / "none.toml")
