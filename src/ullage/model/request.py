# SPDX-License-Identifier: Apache-2.0
"""request.json: what the user asked for, kept so that a result can be explained, resumed and repeated."""

from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ullage.errors import UserError, plain_fault
from ullage.model.base import HostName, Tolerant, doc, first_mistake
from ullage.model.plan import RunId, Target

REQUEST_SCHEMA = "ullage.request/1"
RIGHT_OPTIONS: Final = "take it from a copy of the result"
"""Says what to do about an option of a request that is wrong."""

ValueT = TypeVar("ValueT")


class Request(Tolerant):
    """What the user asked of a suite.

    ``options`` are the suite's own, as JSON; a suite reads them back into its own typed form.
    """

    schema_: Annotated[Literal["ullage.request/1"], Field(alias="schema")] = REQUEST_SCHEMA
    run_id: RunId
    suite: str
    created: Annotated[str, doc("ISO 8601 UTC")]
    command: Annotated[list[str], doc("as typed, one word an item")] = []
    targets: list[Target] = []
    hosts: Annotated[list[HostName], doc("where the ranks go; empty: here, or where a batch system says")] = []
    options: dict[str, object] = {}
    versions: dict[str, str] = {}


def place_of_option(*parts: int | str) -> str:
    """Return where in a result a part of an option stands, by its JSON pointer."""
    return "request.json /options" + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def read_option(kind: type[ValueT], request: Request, name: str) -> ValueT | None:
    """Read the value of one option of a request, which suites name alike; return None where it has none."""
    value = request.options.get(name)
    try:
        return None if value is None else TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        place = place_of_option(name, *error.errors()[0]["loc"])
        raise UserError(plain_fault(first_mistake(error)[1]), place, RIGHT_OPTIONS) from error
