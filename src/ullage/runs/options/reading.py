# SPDX-License-Identifier: Apache-2.0
"""From a command line, from values or from request.json to the options of a suite; each mistake is a ``UserError``.

The place of a mistake is what people can find: the option as they typed it, or the JSON pointer in request.json.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from pydantic import ValidationError

from ullage.errors import UserError, plain_fault
from ullage.model.request import RIGHT_OPTIONS, place_of_option
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import declared
from ullage.runs.options.model import OptionError, SuiteOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ullage.model.request import Request
    from ullage.runs.options.kinds import RawValue

ModelT = TypeVar("ModelT", bound="BaseModel")
OptionsT = TypeVar("OptionsT", bound=SuiteOptions)
# A place is made from a field, what follows below it, and the part of what was typed that is wrong.
_Place: TypeAlias = Callable[[str, tuple[int | str, ...], str], str]


def parse_options(model: type[SuiteOptions], hosts: int = 0, /, **given: object) -> ParsedOptions:
    """Read what is asked by ``given``, what was typed by the keywords of options; None, False and empty: not said.

    ``hosts``: how many are named, for suites that have nodes; 0: those of the batch job that we are in, if any.
    """
    by_keyword = {one.keyword: one for one in declared(model).values()}
    if not hosts:
        from ullage.system.allocation import nodes_of_job

        hosts = nodes if (nodes := nodes_of_job()) > 1 else 0
    said: dict[str, object] = {"hosts": hosts} if hosts and "hosts" in model.model_fields else {}
    typed: dict[str, str] = {}
    for name, raw in given.items():
        one = by_keyword[name]
        if raw is not None and raw is not False and raw != []:
            said[one.field] = one.read(cast("RawValue", raw))
            # Only a value that is one text is short enough to be repeated in a message.
            typed[one.field] = "" if one.is_flag or one.kind.repeated else str(raw)
    return parsed(checked(model, said, typed))


def settled(model: type[SuiteOptions], **said: object) -> ParsedOptions:
    """Settle options given as values of fields, for suites that are made of others."""
    return parsed(checked(model, said, {}))


def parsed(options: SuiteOptions) -> ParsedOptions:
    """Return ``options`` as a request keeps them."""
    return ParsedOptions(options.measured, options.kept())


def checked(model: type[OptionsT], said: Mapping[str, object], typed: Mapping[str, str]) -> OptionsT:
    """Return ``said`` with what follows from it, as options; raise ``UserError`` for the first mistake.

    ``typed``: the texts of it, for the place of a mistake.
    """
    options = declared(model)

    def place(field: str, _rest: tuple[int | str, ...], part: str = "") -> str:
        return f"{options[field].name} {part or typed.get(field, '')}".rstrip() if field in options else field

    try:
        return model.model_validate(model.settle(said))
    except OptionError as error:
        raise UserError(error.what, place(error.field, (), error.part), error.right) from error
    except ValidationError as error:
        raise _first_mistake(error, place) from error


def read_options(model: type[ModelT], request: "Request") -> ModelT:
    """Read the options of a request, in the form of the suite that wrote them."""

    def place(field: str, rest: tuple[int | str, ...], _part: str = "") -> str:
        return place_of_option(field, *rest)

    try:
        return model.model_validate(request.options)
    except ValidationError as error:
        raise _first_mistake(error, place, RIGHT_OPTIONS) from error


def _first_mistake(error: ValidationError, place: _Place, right: str = "") -> UserError:
    first = error.errors(include_url=False, include_input=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, OptionError):  # a validator of the model has raised it
        return UserError(cause.what, place(cause.field, (), cause.part), cause.right or right)
    field, *rest = first["loc"] or ("",)
    return UserError(plain_fault(first["msg"]), place(str(field), tuple(rest), ""), right)
