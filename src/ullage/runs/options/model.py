# SPDX-License-Identifier: Apache-2.0
"""The base of the options models of all suites."""

from collections.abc import Mapping
from typing import ClassVar, Self, cast

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.plan import Parameters, Target
from ullage.parameters import check_value
from ullage.runs.options.declared import Change, declared

# A field with this metadata is said on a command line and not kept in request.json: other fields follow from it.
COMMAND_LINE_ONLY = Field(exclude=True)


class OptionError(ValueError):
    """What is wrong with the option of ``field``, for validators of models: ``what``, and what would be ``right``.

    ``part``: of what was said, where not all of it is wrong.
    """

    def __init__(self, field: str, what: str, right: str = "", part: str = "") -> None:
        super().__init__(what)
        self.field = field
        self.what = what
        self.right = right
        self.part = part


class SuiteOptions(Strict):
    """A field with an ``Option`` or ``OfEngine`` among its metadata is one; the others are what a run finds out.

    ``changes``: what a suite says of options that it shares with others, by field. ``workload``: that of the engine
    whose parameters fields with ``OfEngine`` set. ``metrics``: names of what its rows are of; empty: the usual ones, or
    the suite makes its rows itself. ``at``: what is measured where no target is asked for. ``uses_hosts``: whether
    ranks can be on several nodes, which ``--hosts`` then names.
    """

    changes: ClassVar[Mapping[str, Change]] = {}
    workload: ClassVar[str] = ""
    metrics: ClassVar[str] = ""
    at: ClassVar[tuple[Target, ...]] = ()
    uses_hosts: ClassVar[bool] = False

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Return ``said`` by field, and with it what follows for fields of which nothing was said.

        What the fields declare themselves is settled here; a group or suite extends it for what depends on the machine
        or on several options, and raises ``OptionError``.
        """
        values = dict(said)
        for field, one in declared(cls).items():
            text = (one.option.quick if said.get("quick") else "") or one.option.usual
            if text and field not in said:
                values[field] = one.read([text] if one.kind.repeated else text)
        return values

    @classmethod
    def writes_within(cls, said: Mapping[str, object]) -> int | None:
        """Return how many times its option ``space`` a run with ``said`` writes at most; None where that is not known.

        ``said``: words by the names of options.
        """
        del said
        return None

    @classmethod
    def within(cls, said: Mapping[str, object], seconds: float) -> dict[str, str]:
        """Return words, by the names of options, with which a run takes about ``seconds`` at most.

        ``said``: words by the names of options. Nothing where these settle it, or where it takes no longer anyway.
        """
        del said, seconds
        return {}

    @classmethod
    def shorter(cls, options: Mapping[str, object]) -> dict[str, str]:
        """Return words, by the names of options, that make a run with ``options`` a short one of the same kind.

        ``options``: as they stand in a request. Nothing where a short run would measure something else.
        """
        del options
        return {}

    def of_engine(self) -> Parameters:
        """Return the parameters of the workload that options with a single value set."""
        own = {
            one.parameter.name: field
            for field, one in declared(type(self)).items()
            if one.parameter and not one.is_axis
        }
        return {name: value for name, field in own.items() if (value := getattr(self, field)) is not None}

    @model_validator(mode="after")
    def _within_limits(self) -> Self:
        """Raise ``OptionError`` for a value outside the limits, or of more than the 64 bits the engine counts in."""
        for field, one in declared(type(self)).items():
            value = getattr(self, field)
            values = cast("list[object]", value) if isinstance(value, list) else [value]
            if not values and one.default != []:
                raise OptionError(field, "names nothing", "write one value at least")
            for each in values:
                if isinstance(each, int) and abs(each) >= 1 << 63:
                    raise OptionError(field, "is too large", "at most 2^63 - 1")
                if one.option.least is not None and isinstance(each, int) and each < one.option.least:
                    raise OptionError(field, f"{each} is too few", f"at least {one.option.least}")
                if one.parameter is not None and isinstance(each, (int, float, str)):
                    try:
                        check_value(one.parameter, [str(each)] if one.parameter.type == "choices" else each, "")
                    except UserError as error:  # the engine would refuse it
                        raise OptionError(field, error.what, error.right) from None
        return self

    def kept(self) -> dict[str, object]:
        """Return what of the options stands in request.json."""
        return self.model_dump(mode="json")

    @property
    def measured(self) -> list[Target]:
        """What is measured."""
        return [*self.at]
