# SPDX-License-Identifier: Apache-2.0
"""What the engine says of its parameters, without an engine: the snapshot ``engine.json``.

``scripts/reference.py`` writes it from ``ullage-engine describe``, and a test holds it to that.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, cast

from ullage.model.describe import Parameter
from ullage.model.plan import Parameters, Scalar, Value
from ullage.reading import parse_json, read_text
from ullage.runs.options.kinds import Choice, Count, CountAxis, Duration, Flag, Kind, Names, Number, Size, SizeAxis

# Limits of the number formats tell a reader nothing.
_NO_LIMIT: Final = 1e12
_Things: TypeAlias = Mapping[str, Iterable[object]]
SNAPSHOT: Final = Path(__file__).with_name("engine.json")


@cache
def _things() -> _Things:
    return cast("_Things", parse_json(read_text(SNAPSHOT, "install Ullage again")))


@cache
def engine_parameters(thing: str) -> Mapping[str, Parameter]:
    """Return the parameters of a workload or backend by name."""
    every = [Parameter.model_validate(one) for one in _things()[thing]]
    return {one.name: one for one in every}


def every_parameter() -> set[str]:
    """Return the names of all parameters of all workloads and backends."""
    return {name for thing in _things() for name in engine_parameters(thing)}


class Values(dict[str, Value]):
    """All parameters of a workload by name: a plan leaves out those that have the engine's default."""

    def count(self, name: str) -> int:
        """Return a whole number."""
        return int(cast("int", self[name]))

    def number(self, name: str) -> float:
        """Return a number."""
        return float(cast("float", self[name]))

    def word(self, name: str) -> str:
        """Return a word."""
        return str(self[name])

    def some(self, *names: str) -> dict[str, Scalar]:
        """Return those parameters, none of which is a list or a map."""
        return {name: cast("Scalar", self[name]) for name in names}


def values_of(workload: str, given: Parameters) -> Values:
    """Return the parameters ``given`` over the defaults of the engine, where they are of the same kind as these."""
    defaults = _defaults(workload)
    return Values({**defaults, **{name: value for name, value in given.items() if _is_like(value, defaults.get(name))}})


def _is_like(value: Value, default: Value | None) -> bool:
    return default is None or all(isinstance(value, kind) == isinstance(default, kind) for kind in (str, list, dict))


@cache
def _defaults(workload: str) -> Parameters:
    return {name: one.default for name, one in engine_parameters(workload).items()}


def kind_of(parameter: Parameter, *, is_list: bool) -> Kind:
    """Return how a value of ``parameter``, or a list of values of which each has its cases, is typed."""
    if is_list:
        axes: dict[str, Kind] = {"bytes": SizeAxis(), "count": CountAxis()}
        return axes.get(parameter.type) or Names(tuple(parameter.choices))
    simple: dict[str, Kind] = {
        "flag": Flag(),
        "count": Count(),
        "bytes": Size(),
        "seconds": Duration(may_be_none=parameter.minimum == 0),
        "number": Number(),
        "choice": Choice(tuple(parameter.choices)),
    }
    return simple.get(parameter.type) or Kind()


def limits_of(parameter: Parameter) -> tuple[float | None, float | None]:
    """Return the limits of ``parameter`` that a reader should know."""
    high = parameter.maximum
    return _plain(parameter.minimum), None if high is None or high >= _NO_LIMIT else _plain(high)


def _plain(limit: float | None) -> float | None:
    return int(limit) if limit is not None and limit.is_integer() else limit
