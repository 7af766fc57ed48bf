# SPDX-License-Identifier: Apache-2.0
"""Words into typed values, by what the engine says of each parameter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.model.describe import Parameter, ParameterType
from ullage.model.plan import Parameters, Value
from ullage.parameters import check_parameters, check_value, format_range, format_value, parse_parameter, suggest

DEFAULTS: dict[ParameterType, Value] = {
    "flag": False,
    "count": 1,
    "bytes": 4096,
    "seconds": 0.0,
    "rate": 1e9,
    "number": 0.5,
    "text": "",
    "choice": "none",
    "choices": ["write"],
    "map": {},
}


def make(kind: ParameterType, minimum: float | None = None, maximum: float | None = None) -> Parameter:
    words = ["none", "sequential"] if kind == "choice" else ["write", "read"] if kind == "choices" else []
    default = DEFAULTS[kind]
    return Parameter(name="it", type=kind, default=default, minimum=minimum, maximum=maximum, choices=words, doc="it")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("flag", "true", True),
        ("flag", "OFF", False),
        ("count", "-1", -1),
        ("bytes", "128K", 131072),
        ("seconds", "2m", 120.0),
        ("rate", "3.2GB/s", 3.2e9),
        ("number", "0.25", 0.25),
        ("text", "x y", "x y"),
        ("choice", "sequential", "sequential"),
        ("choices", "read, write", ["read", "write"]),
        ("map", "striping_factor=4,cb=a=b", {"striping_factor": "4", "cb": "a=b"}),
        ("map", '{"direct": true, "n": 4}', {"direct": "true", "n": "4"}),
        ("map", "", {}),
    ],
)
def test_words_become_values(kind: ParameterType, text: str, value: Value) -> None:
    parsed = parse_parameter(make(kind), text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("flag", "maybe"),
        ("count", "1.5"),
        ("count", "9" * 19),
        ("bytes", "1Mb"),
        ("seconds", "-1"),
        ("rate", "3GB"),
        ("number", "nan"),
        ("number", "inf"),
        ("number", "x"),
        ("choice", "sequentail"),
        ("choices", ""),
        ("choices", "read,read"),
        ("choices", "read,erase"),
        ("map", "novalue"),
        ("map", "{"),
        ("map", '{"a": {"b": 1}}'),
    ],
)
def test_bad_words_are_refused_with_what_would_be_right(kind: ParameterType, text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_parameter(make(kind), text)
    assert caught.value.right


def test_a_misspelt_choice_or_name_gets_a_guess() -> None:
    with pytest.raises(UserError, match="did you mean 'sequential'"):
        parse_parameter(make("choice"), "sequentail")
    known = [make("count").model_copy(update={"name": "transfer_bytes"})]
    with pytest.raises(UserError, match="did you mean 'transfer_bytes'"):
        check_parameters(known, {"transfer_byte": 1}, "workload 'transfer'")


@pytest.mark.parametrize(
    ("kind", "value"), [("flag", 1), ("count", True), ("count", 1.0), ("text", 1), ("map", ["a"]), ("bytes", "4K")]
)
def test_a_value_of_another_type_is_refused(kind: ParameterType, value: Value) -> None:
    with pytest.raises(UserError, match="wrong type"):
        check_value(make(kind), value, "it")


@given(st.floats() | st.integers(-100, 100))
def test_only_what_lies_in_the_range_passes(value: float) -> None:
    parameter = make("number", minimum=-5, maximum=5)
    if math.isfinite(value) and -5 <= value <= 5:
        assert check_value(parameter, value, "it") == float(value)
    else:
        with pytest.raises(UserError, match="out of range"):
            check_value(parameter, value, "it")


def test_defaults_said_aloud_are_left_out() -> None:
    known = [make(kind).model_copy(update={"name": kind}) for kind in DEFAULTS]
    spoken: Parameters = {**DEFAULTS, "number": 0.25, "rate": 10**9}
    assert check_parameters(known, spoken, "here") == {"number": 0.25}


@pytest.mark.parametrize("kind", list(DEFAULTS))
def test_a_shown_value_reads_back(kind: ParameterType) -> None:
    parameter = make(kind)
    assert parse_parameter(parameter, format_value(parameter, parameter.default)) == parameter.default


def test_ranges_are_shown_in_the_parameters_own_unit() -> None:
    assert format_range(make("bytes", minimum=8, maximum=2**30)) == " from 8 up to 1G"
    assert format_range(make("bytes", minimum=8, maximum=9e15)) == " from 8"
    assert format_range(make("number", maximum=1)) == " up to 1"


def test_a_long_list_of_words_is_cut_between_them_and_counted() -> None:
    words = [f"--option-{number}" for number in range(100)]
    said = suggest("zzz", words)
    assert len(said) < 320
    shown = said.removeprefix("one of ").rpartition(" and ")[0].split(", ")
    assert shown == words[: len(shown)]
    assert said.endswith(f" and {100 - len(shown)} more")
    assert suggest("zzz", words[:3]) == f"one of {', '.join(words[:3])}"
