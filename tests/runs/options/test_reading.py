# SPDX-License-Identifier: Apache-2.0
"""Where a mistake is: the option as it was typed, or the JSON pointer in request.json, for each kind of option."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import pytest
from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.runs.options.declared import Change, Option, declared
from ullage.runs.options.groups import (
    IntervalOptions,
    MachineOptions,
    PeerOptions,
    QuickOnCommandLine,
    RanksOptions,
    SeedOptions,
    SpaceOptions,
    TargetsOptions,
)
from ullage.runs.options.kinds import CountAxis, Duration, Names, Size, SizeAxis
from ullage.runs.options.model import OptionError, SuiteOptions
from ullage.runs.options.reading import parse_options, read_options, settled


class ManyOptions(TargetsOptions, QuickOnCommandLine, IntervalOptions, PeerOptions, MachineOptions, SpaceOptions):
    """One of each kind."""

    changes: ClassVar[Mapping[str, Change]] = {"time_s": Change(usual="2m", quick="30s", more="fio's too.")}

    counts: Annotated[list[int], Field(min_length=1), CountAxis(), Option("How many.", usual="1,2", quick="1")]
    sizes: Annotated[
        list[Annotated[int, Field(ge=512)]], SizeAxis(8), Option("How large.", name="--size-axis", usual="4K:32K:x2")
    ]
    small: Annotated[int, Field(ge=8, le=1 << 20), Size(), Option("Of a request.")] = 1024
    wait_s: Annotated[float | None, Field(gt=0, le=60), Duration(), Option("Between.", name="--wait")] = None
    how: Annotated[Literal["here", "there"], Option("Where.")] = "here"
    names: Annotated[list[Literal["b", "a"]], Option("Which.")] = ["b"]
    free: Annotated[list[str], Names(), Option("Any.")] = []
    number: Annotated[int, Field(ge=1), Option("Times.")] = 3
    found: dict[str, int] = {}

    @model_validator(mode="after")
    def _small_is_smaller(self) -> Self:
        if self.small >= min(self.sizes):
            raise OptionError("small", "is not smaller than the smallest size", "take a larger --size-axis")
        return self


def many(**words: object) -> ManyOptions:
    asked = parse_options(ManyOptions, **{"target": ["a=/a"], **words})
    assert asked.targets == [Target(name="a", uri="posix:/a")]
    return ManyOptions.model_validate(asked.options)


def request(**options: object) -> Request:
    return Request(run_id="r", suite="s", created="2026-01-01T00:00:00Z", options=options)


def whole() -> dict[str, object]:
    return many().model_dump(mode="json")


def test_what_is_not_said_is_what_the_help_says() -> None:
    found = many()
    assert (found.counts, found.sizes, found.time_s) == ([1, 2], [4096, 8192, 16384, 32768], 120.0)
    assert (found.small, found.wait_s, found.peer, found.names) == (1024, None, True, ["b"])


def test_a_quick_form_has_defaults_of_its_own_and_what_is_said_wins() -> None:
    assert (many(quick=True).counts, many(quick=True).time_s) == ([1], 30.0)
    assert (many(quick=True, time="5s").time_s, many(time="5s").counts) == (5.0, [1, 2])


def test_what_is_said_only_on_the_command_line_is_not_kept() -> None:
    asked = parse_options(ManyOptions, target=["a=/a"], quick=True)
    assert not {"quick", "targets"} & set(asked.options)


def test_a_flag_may_turn_off_and_words_stand_in_the_order_of_those_known() -> None:
    found = many(no_peer=True, names="a,b", free="z,y", how="there")
    assert (found.peer, found.names, found.free, found.how) == (False, ["b", "a"], ["z", "y"], "there")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"counts": "1,x"}, "--counts 'x': not a count"),
        ({"counts": "0"}, "--counts: 0 is not allowed on this axis"),
        ({"size_axis": "4K,1X"}, "--size-axis '1X': not a size"),
        ({"size_axis": "4K,1001"}, "--size-axis 4K,1001: 1001 bytes are not a multiple of 8"),
        ({"size_axis": "64,4K"}, "--size-axis 64,4K: must be at least 512"),
        ({"small": "much"}, "--small 'much': not a size"),
        ({"small": "2M"}, "--small 2M: must be at most 1048576"),
        ({"small": "8K"}, "--small 8K: is not smaller than the smallest size; take a larger --size-axis"),
        ({"time": "5x"}, "--time '5x': not a duration"),
        ({"time": "0s"}, "--time 0s: is not above 0"),
        ({"wait": "2m"}, "--wait 2m: must be at most 60"),
        ({"interval": "500%"}, "--interval '500%': not a relative width"),
        ({"how": "her"}, "--how: unknown word 'her'; did you mean 'here'?"),
        ({"names": "a,c"}, "--names: unknown word 'c'"),
        ({"names": "a,a"}, "--names a,a: an empty or repeated word"),
        ({"free": "x,"}, "--free x,: an empty or repeated word"),
        ({"number": 0}, "--number 0: must be at least 1"),
        ({"min_repetitions": 5, "max_repetitions": 4}, "--min-repetitions 5: the minimum is above the maximum"),
        ({"target": ["a"]}, "--target 'a': not a target"),
        ({"machine": Path("/no/such.toml")}, "--machine /no/such.toml: "),
        ({"space": "-1"}, "--space '-1': not a size"),
    ],
)
def test_a_mistake_is_at_the_option_as_it_was_typed(words: Mapping[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        many(**words)
    assert str(caught.value).startswith(expected)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"counts": [1, "x"]}, "/options/counts/1: must be a whole number"),
        ({"counts": []}, "/options/counts: List should have at least 1 item"),
        ({"sizes": [64]}, "/options/sizes/0: must be at least 512"),
        ({"small": 1 << 30}, "/options/small: must be at most 1048576"),
        ({"small": 8192}, "/options/small: is not smaller than the smallest size"),
        ({"time_s": 0}, "/options/time_s: must be above 0"),
        ({"how": "her"}, "/options/how: must be 'here' or 'there'"),
        ({"names": ["c"]}, "/options/names/0: must be 'b' or 'a'"),
        ({"number": 0}, "/options/number: must be at least 1"),
        ({"found": {"a/b~": "fast"}}, "/options/found/a~1b~0: must be a whole number"),
        ({"min_repetitions": 99}, "/options/min_repetitions: the minimum is above the maximum"),
        ({"no_such": 1}, "/options/no_such: Extra inputs are not permitted"),
        ({"machine": {"cpu": {"cores": 0}}}, "/options/machine/cpu/cores: must be at least 1"),
    ],
)
def test_a_mistake_in_a_request_is_at_its_pointer(changed: Mapping[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        read_options(ManyOptions, request(**{**whole(), **changed}))
    assert str(caught.value).startswith(f"request.json {expected}")
    assert caught.value.code == 2


def test_what_was_written_comes_back() -> None:
    assert read_options(ManyOptions, request(**whole())) == many().model_copy(update={"targets": []})


def test_values_are_settled_as_texts_are() -> None:
    targets = [Target(name="a", uri="posix:/a")]
    assert settled(ManyOptions, targets=targets, quick=True, time_s=5.0) == parse_options(
        ManyOptions, target=["a=/a"], quick=True, time="5s"
    )
    with pytest.raises(UserError, match=r"^--number: must be"):
        settled(ManyOptions, targets=targets, number=0)


def test_ranks_are_those_of_the_machine_and_as_many_as_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.ranks_by_default", lambda: 2)

    class Many(RanksOptions):
        changes: ClassVar[Mapping[str, Change]] = {"ranks": Change(least=4)}

    assert (settled(RanksOptions).options["ranks"], settled(Many).options["ranks"]) == (2, 4)
    with pytest.raises(UserError, match=r"--ranks 3: 3 is too few; at least 4"):
        parse_options(Many, ranks=3)


def test_bases_whose_order_hides_an_option_are_refused() -> None:
    class Plain(SuiteOptions):
        seed: int = 1

    class Shown(Plain):
        seed: Annotated[int, Option("Of the order.")] = 1

    class Other(Plain):
        """Inherits the plain one."""

    class Wrong(Other, Shown):
        """Pydantic takes the field of the first base."""

    with pytest.raises(TypeError, match=r"Wrong\.seed: name Shown first"):
        declared(Wrong)


def test_an_option_without_a_kind_says_so() -> None:
    class Odd(SeedOptions):
        things: Annotated[dict[str, int], Option("What.")] = {}

    with pytest.raises(TypeError, match="things: of which kind"):
        declared(Odd)


def test_a_change_adds_to_what_is_shared() -> None:
    one = declared(ManyOptions)["time_s"]
    assert one.help == "Limit the time of all measurements. fio's too. Default: 2m, with --quick 30s."
    assert (one.name, one.keyword, one.shown_default) == ("--time", "time", "")
    assert declared(ManyOptions)["sizes"].shown_default == "4K:32K:x2"
