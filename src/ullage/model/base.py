# SPDX-License-Identifier: Apache-2.0
"""What every document at a border has in common."""

from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from ullage.harmless import is_plain_line

_COMMON: Final = ConfigDict(
    frozen=True, allow_inf_nan=False, populate_by_name=True, serialize_by_alias=True, defer_build=True
)


class Strict(BaseModel):
    """A document we write: unknown keys are errors, values never change after reading."""

    model_config = {**_COMMON, "extra": "forbid"}


class Tolerant(BaseModel):
    """A document another version may have written: unknown keys are ignored."""

    model_config = {**_COMMON, "extra": "ignore"}


def _one_line(text: str) -> str:
    if not is_plain_line(text):
        raise PydanticCustomError("line", "must be one line without control characters")
    return text


OneLine: TypeAlias = Annotated[str, AfterValidator(_one_line)]
"""A text that may become a word of a command or of a script."""

HostName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""A host name or an address, and no option of a command."""


def doc(description: str) -> object:
    """Return what a schema says of a field."""
    return Field(description=description)


def doc_if_any(description: str) -> object:
    """Return what a schema says of a field that documents leave out while it is empty."""
    return Field(description=description, exclude_if=lambda value: not value)


def first_mistake(error: ValidationError) -> tuple[str, str]:
    """Return the place of the first mistake in a document as ``rows/0/unit`` (empty for the whole), and why."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return "/".join(str(part) for part in first["loc"]), first["msg"]
