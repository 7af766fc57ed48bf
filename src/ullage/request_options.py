# SPDX-License-Identifier: Apache-2.0
"""A request's options, read back into the typed form of the suite that wrote them."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ullage.errors import UserError
from ullage.model.request import Request

ModelT = TypeVar("ModelT", bound=BaseModel)


def typed_options(model: type[ModelT], request: Request) -> ModelT:
    """``UserError`` for the first that is none, as in a request.json that somebody changed."""
    try:
        return model.model_validate(request.options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        what = f"options/{place}: {first['msg']}"
        raise UserError(what, "request.json", "take it from a copy of the result") from error
