# SPDX-License-Identifier: Apache-2.0
"""Options that set parameters of the engine: limits, words and help are those of the snapshot of `describe`."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from ullage.errors import UserError
from ullage.runs.options.declared import OfEngine, declared, settable_by
from ullage.runs.options.engine import engine_parameters, values_of
from ullage.runs.options.groups import QuickOnCommandLine
from ullage.runs.options.reading import checked, parse_options


class Images(QuickOnCommandLine):
    """Some parameters of workload ``sar``."""

    workload = "sar"
    grid: Annotated[int, OfEngine(quick="3")] = 4
    side: Annotated[int | None, OfEngine("subimage_side")] = None
    layouts: Annotated[list[str], OfEngine("layout", usual="files", sets=("kept",))]
    sizes: Annotated[list[Annotated[int, Field(ge=4)]], OfEngine("columns", name="--size", usual="8,16")]
    read_back: Annotated[Literal["own", "other-node"], OfEngine(help="Read files of others or own files.")] = "own"


def test_an_option_has_name_help_limits_and_words_of_its_parameter() -> None:
    known, found = engine_parameters("sar"), declared(Images)
    assert [one.name for one in found.values() if one.parameter] == [
        "--grid",
        "--subimage-side",
        "--layout",
        "--size",
        "--read-back",
    ]
    assert (found["grid"].low, found["grid"].high) == (known["grid"].minimum, known["grid"].maximum) == (1, 4096)
    assert found["grid"].help == f"{known['grid'].doc} Default: 4, with --quick 3."
    assert found["layouts"].kind.choices == tuple(known["layout"].choices)
    assert (found["read_back"].kind.choices, found["read_back"].help) == (
        ("own", "other-node"),
        "Read files of others or own files.",
    )
    by_parameter = settable_by(Images).by_parameter
    assert {name: by_parameter[name] for name in ("subimage_side", "layout", "kept")} == {
        "subimage_side": "--subimage-side",
        "layout": "--layout",
        "kept": "--layout",
    }


def test_parameters_are_those_of_options_with_one_value() -> None:
    assert checked(Images, {}, {}).of_engine() == {"grid": 4, "read_back": "own"}
    assert checked(Images, {"quick": True, "side": 7}, {}).of_engine() == {
        "grid": 3,
        "subimage_side": 7,
        "read_back": "own",
    }


def test_values_are_those_given_over_the_defaults_of_the_engine() -> None:
    values = values_of("sar", {"grid": 7, "layout": "containers"})
    assert values.keys() == engine_parameters("sar").keys()
    assert (values.count("grid"), values.count("depth")) == (7, engine_parameters("sar")["depth"].default)
    assert (values.word("layout"), values.word("raw")) == ("containers", "shared")
    assert values.some("layout", "grid") == {"layout": "containers", "grid": 7}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"grid": 0}, "--grid 0: 0 is out of range; must be a whole number from 1 up to 4096"),
        ({"layout": "piles"}, "--layout: unknown word 'piles'"),
        ({"size": "8,2000000"}, "--size 8,2000000: 2000000 is out of range"),
        ({"read_back": "other-rank"}, "--read-back: unknown word 'other-rank'"),
    ],
)
def test_what_the_engine_would_refuse_is_refused_by_the_name_as_typed(words: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_options(Images, **words)
    assert str(caught.value).startswith(expected)


def test_a_list_of_cases_is_not_empty() -> None:
    with pytest.raises(UserError, match="--size: names nothing; write one value at least"):
        checked(Images, {"sizes": []}, {})
    with pytest.raises(UserError, match="unknown choice 'piles'"):
        checked(Images, {"layouts": ["piles"]}, {})
