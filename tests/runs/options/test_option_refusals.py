# SPDX-License-Identifier: Apache-2.0
"""Refusals of options say the option as people type it, and no name of a field or a parameter behind it."""

import random
import re
from collections.abc import Iterator

import pytest

from ullage.errors import UserError
from ullage.runs.options.declared import Declared, declared
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import load_suites

VALUES = ("", "0", "-1", "x", "3x", "1e99", "a,a", "7:3", "17", "1T", "none", "x=", "posix.x=1", "4K", "1,2", "3")
NAMED = re.compile(r"[a-z]+(?:_[a-z]+)+")
# The lines of other tools are no options.
LINE = re.compile(r"LINE: |'.*': not a command line of ")


def asked(options: list[Declared], name: str) -> Iterator[dict[str, object]]:
    """Every option with every value by itself, then several at once."""
    draw = random.Random(name)
    each = [[(one, value) for value in (("yes",) if one.is_flag else VALUES)] for one in options]
    several = [[draw.choice(values) for values in draw.sample(each, min(4, len(each)))] for _ in range(100)]
    for chosen in [[pair] for values in each for pair in values] + several:
        yield {one.keyword: True if one.is_flag else [value] if one.kind.repeated else value for one, value in chosen}


@pytest.mark.parametrize("name", sorted(load_suites()))
def test_no_refusal_says_a_field(name: str) -> None:
    suite = load_suites()[name]
    options = list(declared(suite.options).values())
    # A field may be called as a word that people type.
    typed = {word for one in options for word in NAMED.findall(f"{one.help} {one.option.usual}")}
    internal = {field for field in suite.options.model_fields if "_" in field} - typed
    said = 0
    for given in asked(options, name):
        try:
            parse_options(suite.options, **given)
        except UserError as error:
            said += 1
            message = str(error)
            assert not internal & set(NAMED.findall(message)), message
            assert "--" in message or LINE.match(message), message
        except ValueError:
            continue  # what is no number is refused before
    assert said > len(options) / 2
