# SPDX-License-Identifier: Apache-2.0
"""What the people who read a result can set: the options of its suite, for findings to name."""

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ullage.analysis.findings.advice import Settable
from ullage.model.plan import Target
from ullage.runs.options.declared import declared

if TYPE_CHECKING:
    from pydantic import BaseModel


def settable_by(model: "type[BaseModel]", targets: Iterable[Target] = ()) -> Settable:
    """Return the options of ``model``, and how ``targets`` are named by them."""
    options = [one for one in declared(model).values() if not one.option.argument]
    by_parameter = {name: one.name for one in options for name in one.option.sets or (one.field,)}
    places = {target.name: shlex.quote(f"{target.name}={target.uri}") for target in targets}
    return Settable(frozenset(one.name for one in options), by_parameter, places)
