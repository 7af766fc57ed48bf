# SPDX-License-Identifier: Apache-2.0
"""Options on backends: which one, and its parameters, which people set by ``THING.KEY=VALUE``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.describe import Parameter, Registered
from ullage.model.plan import Parameters
from ullage.parameters import parse_parameter, suggest
from ullage.runs.options.declared import OWN, Option
from ullage.runs.options.kinds import ConvertedList, Names
from ullage.runs.options.model import SuiteOptions

Backend: TypeAlias = Annotated[str, Option("Use this backend.", unsaid="posix, or the target's own")]
Backends: TypeAlias = Annotated[
    list[str],
    Names(),
    Option("Use these backends, for example posix,uring.", name="--backend", unsaid="the target's own backend"),
]
VERIFY: Final = Option("Check data after each read: none, kept or full.", unsaid="kept, if the backend holds data")

_SETTING: Final = re.compile(r"(?P<thing>[^.=\s]+)\.(?P<key>[^.=\s]+)=(?P<value>.*)", re.DOTALL)


class Setting(Strict):
    """A parameter that the user sets or varies.

    ``THING.KEY=VALUE`` as written; several values make it an axis. ``describe`` says of which type they are.
    """

    thing: str
    key: str
    values: Annotated[list[str], Field(min_length=1)]

    @property
    def place(self) -> str:
        """What it sets."""
        return f"{self.thing}.{self.key}"


def read_settings(texts: Sequence[str]) -> list[Setting]:
    """Read settings with one value each."""
    return [_setting(text) for text in texts]


def read_axes(texts: Sequence[str]) -> list[Setting]:
    """Read settings with values separated by commas, or by ; where they have commas in them."""
    found = [_setting(text) for text in texts]
    several = [
        [word.strip() for word in re.split(";" if ";" in one.values[0] else ",", one.values[0])] for one in found
    ]
    return [one.model_copy(update={"values": values}) for one, values in zip(found, several, strict=True)]


def _setting(text: str) -> Setting:
    match = _SETTING.fullmatch(text)
    if match is None:
        raise UserError("not a parameter", text, "write THING.KEY=VALUE, for example posix.direct=true")
    return Setting(thing=match["thing"], key=match["key"], values=[match["value"]])


class BackendParameterOptions(SuiteOptions):
    """The option for parameters of backends."""

    parameters: Annotated[
        list[Setting],
        ConvertedList(read_settings, metavar="THING.KEY=VALUE"),
        Option(
            "Set a parameter of a backend, for example hdf5.chunk_bytes=1M. `ullage describe NAME` lists them.",
            name="--param",
            order=OWN + 1,
        ),
    ] = []


def check_settings(settings: Iterable[Setting], known: Iterable[str], taken: Mapping[str, str]) -> None:
    """Raise ``UserError`` for a thing that is not ``known``, for what is set twice, and for what an option sets.

    ``taken``: these options, by the place of what they set.
    """
    names, seen = list(known), set[str]()
    for setting in settings:
        if setting.thing not in names:
            what = f"this run uses no backend or workload '{setting.thing}'"
            raise UserError(what, setting.place, suggest(setting.thing, names))
        if setting.place in taken:
            raise UserError("has an option of its own", setting.place, f"use {taken[setting.place]}")
        if setting.place in seen:
            raise UserError("is set twice", setting.place, "write it once")
        seen.add(setting.place)


def parameter_of(thing: Registered, setting: Setting) -> Parameter:
    """Return what a setting is of; raise ``UserError`` with a guess where the thing has no such parameter."""
    by_name = {parameter.name: parameter for parameter in thing.parameters}
    if setting.key not in by_name:
        raise UserError(
            f"'{thing.name}' has no parameter '{setting.key}'", setting.place, suggest(setting.key, by_name)
        )
    return by_name[setting.key]


def parameters_for(settings: Iterable[Setting], thing: Registered) -> Parameters:
    """Return what the settings with one value say of ``thing``."""
    own = [setting for setting in settings if setting.thing == thing.name]
    return {setting.key: parse_parameter(parameter_of(thing, setting), setting.values[0]) for setting in own}
