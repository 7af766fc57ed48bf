# SPDX-License-Identifier: Apache-2.0
"""What a field of an options model says of its option, and the options of a model as they were declared."""

import inspect
import shlex
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Protocol, Union, cast, get_args, get_origin

from ullage.analysis.findings.study import Settable
from ullage.errors import UserError
from ullage.model.describe import Parameter
from ullage.model.plan import Target
from ullage.runs.options.engine import engine_parameters, kind_of, limits_of
from ullage.runs.options.kinds import Choice, Count, Flag, Kind, Names, Number, RawValue

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

# Where an option stands in the help: places come first, then how many work, then what the suite alone has, then what
# bounds a run. Options with the same number stand in the order of their fields.
PLACES: Final = 0
RANKS: Final = 10
OWN: Final = 20
TIME: Final = 30
REPETITIONS: Final = 31
QUICK: Final = 40
BESIDE: Final = 41
CEILINGS: Final = 50
ROOM: Final = 60
AFTERWARDS: Final = 70
SEED: Final = 80
# The help shows these for a value whose kind says no more than its type.
_VALUES: Final[Mapping[type, str]] = {str: "WORD", int: "N", float: "NUMBER"}


@dataclass(frozen=True)
class Option:
    """Metadata of a field that people can say on the command line. Its kind stands beside it, or follows from its type.

    ``name``: as typed, where it is not ``--`` and the field's. A flag that is on unless it is said is ``--no-NAME``.
    ``usual``: the text that is taken where nothing is said, ``quick`` the same with ``--quick``. ``unsaid``: what is
    taken then, in words, where ``settle`` or the running suite finds it. ``required``: it has to be said.
    ``argument``: it is typed without its name. ``least``: of each number, where a suite needs more than others do.
    ``sets``: the parameters of rows that it sets, where they are not named as the field or the option.
    """

    help: str
    name: str = ""
    usual: str = ""
    quick: str = ""
    unsaid: str = ""
    order: int = OWN
    required: bool = False
    argument: bool = False
    least: int | None = None
    sets: tuple[str, ...] = ()


@dataclass(frozen=True)
class OfEngine:
    """Metadata of a field that sets the ``parameter`` of the model's workload, by default the one of the field's name.

    The option is called as the parameter. Help, limits, words and kind are the engine's unless they stand here, or in
    the annotation: a ``Literal`` has fewer words. In a field with a list each value has its own cases. The rest is as
    of an ``Option``; ``sets`` is what it sets in rows besides.
    """

    parameter: str = ""
    _: KW_ONLY
    help: str = ""
    name: str = ""
    usual: str = ""
    quick: str = ""
    unsaid: str = ""
    sets: tuple[str, ...] = ()

    def option(self, parameter: Parameter) -> Option:
        """Return the option that sets ``parameter``."""
        text, sets = self.help or parameter.doc, (parameter.name, *self.sets)
        return Option(text, self.name, self.usual, self.quick, self.unsaid, sets=sets)


@dataclass(frozen=True)
class Change:
    """What a suite says of a shared option besides: None and an empty ``more`` leave what is shared."""

    help: str | None = None
    more: str = ""
    usual: str | None = None
    quick: str | None = None
    unsaid: str | None = None
    required: bool | None = None
    least: int | None = None

    def of(self, option: Option) -> Option:
        """Return ``option`` with this change."""
        said = {name: value for name, value in vars(self).items() if name != "more" and value is not None}
        changed = replace(option, **said)
        return replace(changed, help=f"{changed.help} {self.more}") if self.more else changed


@dataclass(frozen=True)
class Declared:
    """An option of a model: its field, what that says of it, and how it is typed. ``low``, ``high``: its limits.

    ``parameter``: that of the engine which it sets. ``is_axis``: each value has cases of its own.
    """

    field: str
    option: Option
    kind: Kind
    default: object
    low: float | None = None
    high: float | None = None
    parameter: Parameter | None = None
    is_axis: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether it is typed without a value."""
        return isinstance(self.kind, Flag)

    @property
    def negates(self) -> bool:
        """Whether it is a flag that is on unless it is typed."""
        return self.is_flag and self.default is True

    @property
    def name(self) -> str:
        """The name as typed; for an argument, what stands for it in the help."""
        if self.option.argument:
            return self.kind.shown
        field = self.field if self.parameter is None else self.parameter.name
        return self.option.name or f"--{'no-' if self.negates else ''}{field.replace('_', '-')}"

    @property
    def metavar(self) -> str:
        """What stands for the value in help and documentation; empty for a flag."""
        if self.is_flag or self.kind.shown:
            return self.kind.shown
        return "|".join(self.kind.choices) or _VALUES[self.kind.python]

    @property
    def keyword(self) -> str:
        """The name of the parameter of the verb that gets it."""
        return self.field if self.option.argument else self.name.lstrip("-").replace("-", "_")

    @property
    def shown_default(self) -> str:
        """What is taken where nothing is said, if it is always the same and no flag; else nothing."""
        if self.option.quick or self.option.unsaid or self.is_flag or self.kind.repeated:
            return ""
        return self.usual

    @property
    def usual(self) -> str:
        """The text that is taken where nothing is said; empty where it is no text, or has to be said."""
        if self.option.usual or self.default is None or self.default is ... or self.option.required:
            return self.option.usual
        return "" if self.default in ([], {}) else self.kind.format(self.default)

    @property
    def help(self) -> str:
        """What it is for, and what is taken where nothing is said, if that is not always the same."""
        default, quick = self.option.usual or self.option.unsaid, self.option.quick
        if quick:
            default = default or self.usual
            # The end of a value with commas in it is clearer at a semicolon.
            default += f"{';' if ',' in default else ','} with --quick {quick}"
        if self.shown_default or not default:
            return self.option.help
        return f"{self.option.help} Default: {default}{'' if default.endswith('.') else '.'}"

    def read(self, raw: RawValue) -> object:
        """Return the value of what was typed; raise ``UserError``, which names the option."""
        if self.is_flag:
            return bool(raw) != self.negates
        return parse_option(self.name, self.kind, raw)


def parse_option(name: str, kind: Kind, raw: RawValue) -> object:
    """Return the value of what was typed for the option ``name``, which a ``UserError`` names."""
    try:
        return kind.parse(raw)
    except UserError as error:
        raise UserError(error.what, f"{name} {error.where}".rstrip(), error.right, error.code) from error


class _OfWorkload(Protocol):
    workload: ClassVar[str]


@lru_cache(maxsize=64)
def declared(model: "type[BaseModel]") -> Mapping[str, Declared]:
    """Return the options of ``model`` by field, in the order of the help."""
    # With two bases pydantic takes the first one's field, also where that has only inherited it.
    for name, info in model.model_fields.items():
        bases = cast("Iterable[type[BaseModel]]", model.__mro__)
        owner = next(base for base in bases if name in inspect.get_annotations(base))
        if owner.model_fields[name].metadata != info.metadata:
            raise TypeError(f"{model.__name__}.{name}: name {owner.__name__} first among the bases")
    found = [_declared(model, name, info) for name, info in model.model_fields.items()]
    options = sorted((one for one in found if one is not None), key=lambda one: one.option.order)
    return {one.field: one for one in options}


def settable_by(model: "type[BaseModel]", targets: Iterable[Target] = ()) -> Settable:
    """Return the options of ``model``, and how ``targets`` are named by them."""
    options = [one for one in declared(model).values() if not one.option.argument]
    by_parameter = {name: one.name for one in options for name in one.option.sets or (one.field, one.keyword)}
    places = {target.name: shlex.quote(f"{target.name}={target.uri}") for target in targets}
    return Settable(frozenset(one.name for one in options), by_parameter, places)


def _changes(model: "type[BaseModel]", field: str) -> Iterator[Change]:
    """Yield the changes of the field, those of a group before those of a suite that has it."""
    for base in reversed(model.__mro__):
        changes = cast("Mapping[str, Change]", vars(base).get("changes", {}))
        if field in changes:
            yield changes[field]


def _declared(model: "type[BaseModel]", field: str, info: "FieldInfo") -> Declared | None:
    metadata = [*_nested(info.annotation), *info.metadata]
    option = next((item for item in metadata if isinstance(item, Option)), None)
    of_engine = next((item for item in metadata if isinstance(item, OfEngine)), None)
    is_axis = get_origin(_bare(info.annotation)) is list
    kind = next((item for item in metadata if isinstance(item, Kind)), None)
    parameter = None
    if of_engine is not None:
        parameter = engine_parameters(cast("type[_OfWorkload]", model).workload)[of_engine.parameter or field]
        option = of_engine.option(parameter)
        kind = kind or _literal_of(info.annotation) or kind_of(parameter, is_list=is_axis)
    if option is None:
        return None
    for change in _changes(model, field):
        option = change.of(option)
    default = ... if info.is_required() else info.get_default(call_default_factory=True)
    low, high = ([getattr(item, bound, None) for item in metadata] for bound in ("ge", "le"))
    if parameter is not None:
        least, most = limits_of(parameter)
        low, high = [*low, least], [*high, most]
    lowest = _first(low) if option.least is None else option.least
    kind = kind or _kind_of(field, info.annotation)
    return Declared(field, option, kind, default, lowest, _first(high), parameter, is_axis)


def _first(values: "list[float | None]") -> float | None:
    return next((value for value in values if value is not None), None)


def _nested(annotation: object) -> Iterator[object]:
    """Yield the metadata of the members of a union, such as ``Annotated[int, Field(ge=1)] | None``."""
    if get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _nested(member)
    elif get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        yield from _nested(inner)
        for item in metadata:
            yield from getattr(item, "metadata", [item])


def _kind_of(name: str, annotation: object) -> Kind:
    """Return the kind that the type alone says; raise ``TypeError`` where it says none."""
    simple: dict[object, Kind] = {bool: Flag(), int: Count(), float: Number(), str: Kind()}
    found = _literal_of(annotation) or simple.get(_bare(annotation))
    if found is None:
        raise TypeError(f"{name}: of which kind is this option? Name it in its annotation")
    return found


def _literal_of(annotation: object) -> Kind | None:
    """Return the kind of words that stand in the annotation, alone or as a list; None where none do."""
    bare = _bare(annotation)
    if get_origin(bare) is Literal:
        return Choice(get_args(bare))
    inner = _bare(get_args(bare)[0]) if get_origin(bare) is list else None
    return Names(get_args(inner)) if get_origin(inner) is Literal else None


def _bare(annotation: object) -> object:
    """Return the type without None and without metadata."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _bare(next(member for member in get_args(annotation) if member is not type(None)))
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation
