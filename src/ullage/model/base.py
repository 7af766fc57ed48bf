# SPDX-License-Identifier: Apache-2.0
"""What every document at a border has in common."""

from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

_COMMON: Final = ConfigDict(
    frozen=True, allow_inf_nan=False, populate_by_name=True, serialize_by_alias=True, defer_build=True
)


class Strict(BaseModel):
    """A document we write: unknown keys are errors, values never change after reading."""

    model_config = {**_COMMON, "extra": "forbid"}


class Tolerant(BaseModel):
    """A document another version may have written: unknown keys are ignored."""

    model_config = {**_COMMON, "extra": "ignore"}


def first_mistake(error: ValidationError) -> tuple[str, str]:
    """Return the place of the first mistake in a document as ``rows/0/unit`` (empty for the whole), and why."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return "/".join(str(part) for part in first["loc"]), first["msg"]
