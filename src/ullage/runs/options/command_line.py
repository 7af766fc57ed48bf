# SPDX-License-Identifier: Apache-2.0
"""The parameters of a command for typer, made of an options model."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ullage.runs.options.declared import Declared, declared

if TYPE_CHECKING:
    from ullage.runs.options.model import SuiteOptions


_TARGETS: Final = "targets"


def parameters(model: "type[SuiteOptions]", *, site_gives_targets: bool = False) -> list[inspect.Parameter]:
    """Return a parameter for each option, in the order of the help.

    ``site_gives_targets``: a site file may say what is measured, so that the command line need not.
    """
    every = declared(model)
    if site_gives_targets and (of_targets := every.get(_TARGETS)) is not None and not of_targets.option.argument:
        option = replace(of_targets.option, required=False)
        every = {**every, _TARGETS: replace(of_targets, option=option, default=None)}
    return [_parameter(one) for one in every.values()]


def _parameter(one: Declared) -> inspect.Parameter:
    return inspect.Parameter(
        one.keyword, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=Annotated[_type(one), _info(one)]
    )


def _default(one: Declared) -> object:
    if one.option.required:
        return inspect.Parameter.empty
    return False if one.is_flag else one.shown_default or None


def _type(one: Declared) -> Any:  # noqa: ANN401 - a type, made here
    # What typer shows as the default is the text that people would type, whatever the type of the value is.
    python = one.kind.python
    whole: Any = list[python] if one.kind.repeated else python
    return whole if one.is_flag or one.option.required else whole | None


def _info(one: Declared) -> Any:  # noqa: ANN401 - typer's own are untyped
    said: dict[str, Any] = {"help": one.help, "show_default": bool(one.shown_default)}
    if one.metavar:
        said["metavar"] = one.metavar
    if one.option.argument:
        return typer.Argument(**said)
    if one.kind.python in (int, float):
        said |= {"min": one.low, "max": one.high}
    if one.kind.choices:
        said["autocompletion"] = _completion(one)
    return typer.Option(one.name, **said)


def _completion(one: Declared) -> Callable[[str], list[str]]:
    """Return a function that completes the value after the last comma."""
    choices = one.kind.choices

    def complete(incomplete: str) -> list[str]:
        head, comma, tail = incomplete.rpartition(",")
        return [f"{head}{comma}{choice}" for choice in choices if choice.startswith(tail)]

    return complete
