# SPDX-License-Identifier: Apache-2.0
"""Texts into values and back, and what typer is told of an option."""

from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ullage.cli.options import parameters
from ullage.model.plan import Target
from ullage.runs.options.declared import declared
from ullage.runs.options.groups import CeilingOptions
from ullage.runs.options.kinds import (
    Choice,
    Converted,
    ConvertedList,
    Count,
    CountAxis,
    Duration,
    FilePath,
    Flag,
    Kind,
    Names,
    Number,
    Share,
    Size,
    SizeAxis,
    TargetPlaces,
    ThreadAxis,
)
from ullage.runs.options.reading import parse_options
from ullage.suites.sweep.cells import SweepOptions


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind(), "some text", "some text"),
        (Count(), "3", 3),
        (Number(), "0.25", 0.25),
        (Size(), "128K", 131072),
        (Size(), "1000", 1000),
        (Duration(), "2m", 120.0),
        (Duration(), "90s", 90.0),
        (Duration(), "500ms", 0.5),
        (Duration(), "1h", 3600.0),
        (Duration(may_be_none=True), "0.0s", 0.0),
        (Share(), "5%", 0.05),
        (CountAxis(), "1,2,4", [1, 2, 4]),
        (CountAxis(), "1:128:x2", [1, 2, 4, 8, 16, 32, 64, 128]),
        (SizeAxis(), "1K,1M,10M", [1 << 10, 1 << 20, 10 << 20]),
        (SizeAxis(8), "128K:8M:x4", [128 << 10, 512 << 10, 2 << 20, 8 << 20]),
        (ThreadAxis(), "1,2,all", [1, 2, "all"]),
        (ThreadAxis(), "all", ["all"]),
        (Choice(("a", "b")), "b", "b"),
        (Names(("a", "b")), "a,b", ["a", "b"]),
        (Names(), "z,y", ["z", "y"]),
        (Converted(str.upper), "A", "A"),
    ],
)
def test_a_text_is_a_value_and_the_value_is_shown_as_the_text(kind: Kind, text: str, value: object) -> None:
    assert kind.parse(text) == value
    assert kind.format(value) == text


def test_words_that_stand_for_several() -> None:
    assert TargetPlaces().parse(["a=/a", "n=null:"]) == [
        Target(name="a", uri="posix:/a"),
        Target(name="n", uri="null:"),
    ]
    assert TargetPlaces().format([Target(name="a", uri="posix:/a")]) == "a=posix:/a"
    assert declared(CeilingOptions)["ceilings"].kind.parse(["a=1GB/s", "b:read=2e9"]) == {"a": 1e9, "b:read": 2e9}
    assert ConvertedList(len).parse(["x", "y"]) == 2
    assert FilePath(Path.name.fget).parse("/a/b") == "b"  # type: ignore[attr-defined]
    assert Names(("ranks", "block"), sorted_=False).parse("block,ranks") == ["block", "ranks"]
    assert Names(("ranks", "block")).parse("block,ranks") == ["ranks", "block"]
    assert Flag().format(True) == ""


@given(st.integers(0, 2**53))
def test_every_size_comes_back(value: int) -> None:
    assert Size().parse(Size().format(value)) == value


@given(st.integers(1, 10**9), st.sampled_from([1, 1000, 10**6]))
def test_every_duration_comes_back(value: int, divisor: int) -> None:
    seconds = value / divisor
    assert Duration().parse(Duration().format(seconds)) == pytest.approx(seconds, rel=1e-12)


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=20, unique=True).map(sorted))
def test_every_axis_comes_back(values: list[int]) -> None:
    assert SizeAxis().parse(SizeAxis().format(values)) == values
    assert CountAxis().parse(CountAxis().format(values)) == values


def run_sweep(*words: str) -> tuple[int, str, list[dict[str, Any]]]:
    import inspect

    seen: list[dict[str, Any]] = []
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    def command(**values: object) -> None:
        seen.append(parse_options(SweepOptions, **values).options)

    every = parameters(SweepOptions)
    command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in every}
    app.command()(command)
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output, seen


def test_typer_asks_for_what_the_model_says() -> None:
    code, text, _ = run_sweep("--help")
    assert code == 0
    for words in ("--block AXIS", "[default: 128K:8M:x4]", "[default: 2m]", "[default: 15; x>=1]", "[required]"):
        assert words in " ".join(text.split())


def test_what_is_shown_as_a_default_is_the_default() -> None:
    code, _, (options,) = run_sweep("--target", "a=/a", "--ranks", "1,2")
    assert code == 0
    assert options == parse_options(SweepOptions, target=["a=/a"], ranks="1,2").options


def test_limits_of_numbers_are_typers() -> None:
    code, text, _ = run_sweep("--target", "a=/a", "--min-repetitions", "0")
    assert code == 2
    assert "--min-repetitions" in text
    assert "greater than or equal to 1" in text


def test_known_words_are_completed_also_after_a_comma() -> None:
    access = next(one for one in parameters(SweepOptions) if one.name == "access")
    complete = access.annotation.__metadata__[0].autocompletion
    assert complete("re") == ["rewrite", "read", "reread"]
    assert complete("write,rea") == ["write,read"]
