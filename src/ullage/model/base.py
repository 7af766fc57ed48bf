# SPDX-License-Identifier: Apache-2.0
"""What every document at a border has in common."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A document we write: unknown keys are errors, values never change after reading."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class Tolerant(BaseModel):
    """A document another version may have written: unknown keys are ignored."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,
    )
