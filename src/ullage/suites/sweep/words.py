# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run sweep`` as people write them. Imported for every command: nothing heavy up here."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from ullage.suites.sweep.options import RunOptions

DEFAULT_BLOCKS: Final = "128K:8M:x4"
_MOST_DEFAULT_RANKS: Final = 6
_SETTING: Final = re.compile(r"(?P<thing>[^.=\s]+)\.(?P<key>[^.=\s]+)=(?P<value>.*)", re.DOTALL)
_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s?%", re.ASCII)
WordT = TypeVar("WordT", bound=str)
OptionsT = TypeVar("OptionsT", bound="RunOptions")
ParsedT = TypeVar("ParsedT")


def checked(model: "type[OptionsT]", **members: object) -> "OptionsT":
    """``members`` as the options of a run; ``UserError`` for the first that is none."""
    from pydantic import ValidationError

    from ullage.errors import UserError
    from ullage.runs.options.model import OptionError

    try:
        options = model.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, OptionError):
            raise UserError(cause.what, f"--{cause.field.replace('_', '-')}", cause.right) from error
        place = "/".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], place.replace("_", "-")) from error
    return options


def parse_share(text: str) -> float:
    """``5%`` or ``0.05``; above 0."""
    from ullage.errors import UserError

    match = _PERCENT.fullmatch(text.strip())
    try:
        value = float(match.group(1)) / 100 if match else float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UserError("not a relative width", f"'{text}'", "write 5% or 0.05")
    return value


def duration(option: str, text: str) -> float:
    """Seconds, above 0; a mistake names ``option``."""
    from ullage.errors import UserError
    from ullage.units import parse_duration

    seconds = _parsed(option, text, parse_duration)
    if seconds <= 0:
        raise UserError("is no time at all", option, "write 90s, 5m or 1h")
    return seconds


def optional_size(option: str, text: str | None) -> int | None:
    """Bytes, or None where nothing was said; a mistake names ``option``."""
    from ullage.units import parse_size

    return None if text is None else _parsed(option, text, parse_size)


def _parsed(option: str, text: str, parse: Callable[[str], ParsedT]) -> ParsedT:
    from ullage.errors import UserError

    try:
        return parse(text)
    except UserError as error:
        raise UserError(error.what, f"{option} {error.where}", error.right, error.code) from error


def rising_axis(option: str, text: str, parse: Callable[[str], list[int]]) -> list[int]:
    """Values of an axis from 1 on, sorted."""
    from ullage.errors import UserError

    try:
        values = parse(text)
    except UserError as error:
        raise UserError(error.what, f"{option} {error.where}", error.right, error.code) from error
    if min(values) < 1:
        raise UserError("0 is no value of this axis", option, "begin at 1")
    return sorted(values)
