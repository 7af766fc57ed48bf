# SPDX-License-Identifier: Apache-2.0
"""Typed parameters as the engine describes them: words into values, values checked."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar, cast

from ullage.errors import UserError
from ullage.model.describe import Parameter, ParameterType
from ullage.model.plan import Parameters, Scalar, Value
from ullage.reading import parse_json
from ullage.units import format_bytes, parse_duration, parse_rate, parse_size

WordT = TypeVar("WordT", bound=str)
_FLAGS: Final = {**dict.fromkeys(("true", "yes", "on", "1"), True), **dict.fromkeys(("false", "no", "off", "0"), False)}
_NO_LIMIT: Final = 1e15
_COUNT: Final = re.compile(r"-?\d{1,18}", re.ASCII)
_LONGEST_LIST: Final = 280


def suggest(word: str, known: Iterable[str]) -> str:
    """Say what would be right for a misspelt ``word``: the nearest of ``known``, else all of them."""
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1)
    if near or not words:
        return f"did you mean '{near[0]}'?" if near else "none is taken here"
    # A message is one line: of a long list the first words, never a part of one.
    some = [word for index, word in enumerate(words) if len(", ".join(words[: index + 1])) <= _LONGEST_LIST]
    more = f" and {len(words) - len(some)} more" if len(some) < len(words) else ""
    return f"one of {', '.join(some)}{more}"


def known_word(word: str, known: Iterable[WordT], option: str) -> WordT:
    """Return ``word``, one of ``known``; else raise UserError that names ``option`` and what would be right."""
    words = list(known)
    if word not in words:
        raise UserError(f"unknown word '{word}'", option, suggest(word, words))
    return cast("WordT", word)


def parse_parameter(parameter: Parameter, text: str) -> Value:
    """Read a checked value of ``parameter`` from the command line; raise UserError that says what would be right."""
    try:
        value = _TYPES[parameter.type][1](text.strip())
    except (ValueError, UserError) as error:
        raise UserError(f"not a value of '{parameter.name}'", f"'{text}'", f"write {_form(parameter)}") from error
    return check_value(parameter, value, f"'{parameter.name}'")


def _flag_from_text(text: str) -> bool:
    if text.lower() not in _FLAGS:
        raise ValueError(text)
    return _FLAGS[text.lower()]


def _count_from_text(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _map_from_text(text: str) -> dict[str, Scalar]:
    if text.startswith("{"):
        loaded = parse_json(text)
        if not isinstance(loaded, dict):
            raise ValueError(text)
        items = cast("dict[str, object]", loaded)
        return {key: _scalar(value) for key, value in items.items()}
    values: dict[str, Scalar] = {}
    for item in filter(None, text.split(",")):
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise ValueError(item)
        values[key.strip()] = value.strip()
    return values


def _scalar(value: object) -> Scalar:
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(str(value))  # noqa: TRY004 - one kind of error for all bad words
    return value


# How a value is written, read from a text, and held.
_TYPES: Final[Mapping[ParameterType, tuple[str, Callable[[str], Value], tuple[type, ...]]]] = {
    "flag": ("true or false", _flag_from_text, (bool,)),
    "count": ("a whole number", _count_from_text, (int,)),
    "bytes": ("a size such as 128K, 1M, 1.5GiB", parse_size, (int,)),
    "seconds": ("a time such as 90, 60s, 2m, 500ms", parse_duration, (int, float)),
    "rate": ("a rate such as 3.2GB/s", parse_rate, (int, float)),
    "number": ("a number", float, (int, float)),
    "text": ("text", str, (str,)),
    "choice": ("one of", str, (str,)),
    "choices": ("a list of", lambda text: [word.strip() for word in text.split(",")], (list,)),
    "map": ("KEY=VALUE,KEY=VALUE", _map_from_text, (dict,)),
}


def check_parameters(known: list[Parameter], given: Parameters, where: str) -> Parameters:
    """Return ``given`` in the types of ``known``, without what equals its default; raise UserError for a mistake."""
    by_name = {parameter.name: parameter for parameter in known}
    checked: Parameters = {}
    for name, value in given.items():
        parameter = by_name.get(name)
        if parameter is None:
            raise UserError(f"unknown parameter '{name}'", where, suggest(name, by_name))
        canonical = check_value(parameter, value, f"{where}: '{name}'")
        if canonical != _canonical(parameter, parameter.default):
            checked[name] = canonical
    return checked


def check_value(parameter: Parameter, value: Value, where: str) -> Value:
    """Return ``value`` in the parameter's own type; raise UserError when type, range or choice is wrong."""
    canonical = _canonical(parameter, value)
    if canonical is None:
        raise UserError(f"{_shown(value)} is of the wrong type", where, f"must be {_form(parameter)}")
    if isinstance(canonical, (int, float)) and not isinstance(canonical, bool):
        _check_range(parameter, canonical, where)
    words = canonical if isinstance(canonical, list) else [canonical] if parameter.type == "choice" else []
    for word in words:
        if word not in parameter.choices:
            raise UserError(f"unknown choice '{word}'", where, suggest(str(word), parameter.choices))
    if isinstance(canonical, list) and (not canonical or len(set(canonical)) < len(canonical)):
        raise UserError("is empty or names a word twice", where, f"must be {_form(parameter)}")
    return canonical


def _canonical(parameter: Parameter, value: Value) -> Value | None:
    """Return ``value`` in the type of ``parameter``, or None when it is of another type.

    In maps all values are texts, as in the engine.
    """
    held = _TYPES[parameter.type][2]
    if type(value) not in held:
        return None
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    return float(value) if float in held and isinstance(value, (int, float)) else value


def _as_text(value: Scalar) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _check_range(parameter: Parameter, value: float, where: str) -> None:
    low, high = parameter.minimum, parameter.maximum
    # The condition is written so that NaN, which compares false with everything, is refused.
    if (low is None or value >= low) and (high is None or value <= high) and value - value == 0:
        return
    raise UserError(f"{_shown(value)} is out of range", where, f"must be {_form(parameter)}")


def _form(parameter: Parameter) -> str:
    form = _TYPES[parameter.type][0]
    return f"{form} {', '.join(parameter.choices)}" if parameter.choices else f"{form}{format_range(parameter)}"


def format_range(parameter: Parameter) -> str:
    """Write the limits of a number in its own unit: `` from 8 to 1G``, `` from 0`` or nothing."""
    low = "" if parameter.minimum is None else f" from {_bound(parameter, parameter.minimum)}"
    high = "" if parameter.maximum is None else f" up to {_bound(parameter, parameter.maximum)}"
    # Limits of the number formats tell a reader nothing.
    return low if parameter.maximum is not None and parameter.maximum >= _NO_LIMIT else low + high


def _bound(parameter: Parameter, value: float) -> str:
    if parameter.type == "bytes":
        return format_bytes(int(value))
    return str(int(value)) if value.is_integer() and abs(value) < 1e9 else f"{value:g}"


def format_value(parameter: Parameter, value: Value) -> str:
    """Write ``value`` as a person would type it on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, dict):
        return ",".join(f"{key}={_as_text(item)}" for key, item in value.items())
    if parameter.type == "bytes" and isinstance(value, int):
        return format_bytes(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(value: Value) -> str:
    return json.dumps(value)


def count_of(parameters: Mapping[str, object], name: str, default: int = 0) -> int:
    """Return a whole number of a plan, or ``default``: the engine's default (docs/contract.md) is not in a plan."""
    value = parameters.get(name, default)
    return value if isinstance(value, int) else default
