# SPDX-License-Identifier: Apache-2.0
"""The parameters of a search as people write them, with the types that the suite's options and the engine declare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from ullage.analysis.tuning.space import Dimension, Space
from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe, Parameter
from ullage.parameters import format_value, parse_parameter, suggest
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import Declared, declared
from ullage.runs.options.kinds import Count, CountAxis, Duration, Number, Size, SizeAxis
from ullage.runs.options.model import SuiteOptions
from ullage.runs.tuning.options import UNSET, How, TunedParameter
from ullage.runs.tuning.trial_inputs import read_command
from ullage.units import format_bytes, parse_axis, parse_duration, parse_size
from ullage.uri import target_path

_PPN: Final = "ppn"
_COMMAND: Final = "cmd:"
_FORM: Final = "write NAME=VALUES, for example block=64K:16M:x2"
# Rows and other tools have these names for options: fields of a suite, or else parameters of its engine's workload.
_ALSO: Final = {"queue_depth": "depths", "block_size": "blocks", "block_bytes": "blocks"}
# Where nothing is said of these fields, a suite takes one of their values, and not a third.
_NEVER_UNSET: Final = frozenset({"bind"})


@dataclass(frozen=True)
class ParameterSources:
    """What parameters may be of: a suite's options, what was asked of it besides, and the engine."""

    suite: str
    model: type[SuiteOptions]
    asked: ParsedOptions
    description: Describe

    @property
    def options(self) -> dict[str, Declared]:
        """The suite's options that have values, by the names that people type."""
        return {one.name.lstrip("-"): one for one in declared(self.model).values() if not one.option.argument}

    def has(self, field: str) -> bool:
        """Tell whether the suite has an option of that field."""
        return field in declared(self.model)


@dataclass(frozen=True)
class _Values:
    """What stands on the right: its texts in canonical form, in rising order where they are numbers."""

    texts: tuple[str, ...]
    rise: bool


def read_overs(texts: Sequence[str], defaults: Sequence[str], sources: ParameterSources) -> list[TunedParameter]:
    """Read ``--over`` and ``--default``.

    Raise ``UserError`` for a name that nothing has, a value it cannot have, a name that stands twice, and where no
    parameter has two values.
    """
    chosen = dict(_parted(text, "--default") for text in defaults)
    found: list[TunedParameter] = []
    for text in texts:
        name, values = _parted(text, "--over")
        if any(one.name == name for one in found):
            raise UserError("is set twice", f"--over {name}", "write all its values in one --over")
        found.append(_read_over(name, values, chosen.pop(name, None), sources))
    for name in chosen:
        raise UserError("is no parameter of this search", f"--default {name}", "name one of --over")
    if all(len(one.values) < 2 for one in found):
        raise UserError("there is nothing to choose from", "--over", "give a parameter two values at least")
    return found


def space_of(overs: Sequence[TunedParameter]) -> Space:
    """Return the space of the search."""
    dimensions = tuple(Dimension(one.name, one.values, one.ordered) for one in overs)
    return Space(dimensions, tuple(one.values.index(one.default) for one in overs))


def _parted(text: str, option: str) -> tuple[str, str]:
    # Values of maps have = in them, so a name ends at the first; commands have it too, and end at the last.
    name, separator, values = text.rpartition("=") if text.startswith(_COMMAND) else text.partition("=")
    if not separator or not name.strip() or not values.strip():
        raise UserError("not a parameter with values", f"{option} '{text}'", _FORM)
    return name.strip(), values.strip()


def _read_over(name: str, values: str, default: str | None, sources: ParameterSources) -> TunedParameter:
    try:
        how, word, read, own = _resolved(name, sources)
        given = read(values)
        chosen = own if default is None else read(default).texts[0] if default != UNSET else UNSET
    except UserError as error:
        raise UserError(error.what, f"--over {name} {error.where}".rstrip(), error.right, error.code) from error
    over = TunedParameter(
        name=name, how=how, word=word, values=given.texts, ordered=given.rise, default=chosen or given.texts[0]
    )
    if over.default in over.values:
        return over
    if not over.ordered or over.default == UNSET:
        return over.model_copy(update={"values": (over.default, *over.values), "ordered": False})
    whole = read(",".join([*over.values, over.default]))
    return over.model_copy(update={"values": whole.texts})


_Read: TypeAlias = Callable[[str], _Values]
_Resolved: TypeAlias = tuple[How, str, _Read, str]


def _resolved(name: str, sources: ParameterSources) -> _Resolved:
    """Return how a parameter is set, by which word, how its values are read, and its value where nothing is said."""
    for prefix, read in _PREFIXES.items():
        if name.startswith(prefix):
            return read(name.removeprefix(prefix), sources)
    options = sources.options
    if name == _PPN and sources.has("ranks_per_node") and sources.has("ranks"):
        return "ppn", "ranks_per_node", _read_counts, ""
    also = _ALSO.get(name, "")
    found = options.get(name) or next((one for one in options.values() if one.field in (name, also)), None)
    if found is not None:
        return "option", found.keyword, _reader(found), _own_value(found, sources)
    if "." in name and sources.has("config"):
        # No key of the official file has an underscore: segment_count is segmentCount there.
        section, _, key = name.partition(".")
        first, *others = key.split("_")
        return "section", f"{section}.{first}{''.join(map(str.capitalize, others))}", _read_plain, ""
    if sources.has("parameters"):
        place = name if "." in name else f"transfer.{name}"
        return _parameter(place, sources)
    names = [
        *(one for one, it in options.items() if not it.is_flag),
        *([_PPN] if sources.has("ranks_per_node") else []),
    ]
    names.append("env:NAME")
    raise UserError(f"suite {sources.suite} has no such parameter", "", suggest(name, names))


def _command(text: str, sources: ParameterSources) -> _Resolved:
    read_command(text)
    if not any(target_path(target) is not None for target in sources.asked.targets):
        has = "has no target" if not sources.asked.targets else "has no target with a path here"
        raise UserError(f"suite {sources.suite} {has}, so there is no folder for a command", "", "tune what has one")
    return "command", text, _read_plain, UNSET


def _hint(key: str, sources: ParameterSources) -> _Resolved:
    if not any(sources.has(field) for field in ("hints", "hint_sets", "parameters")):
        raise UserError(f"suite {sources.suite} takes no MPI-IO hints", "", "tune io500, b_eff_io, tile or sweep")
    return "hint", key, _read_plain, UNSET


# Names outside the suite, by what they begin with.
_PREFIXES: Final[dict[str, Callable[[str, ParameterSources], _Resolved]]] = {
    "env:": lambda name, _sources: ("environment", name, _read_plain, UNSET),
    _COMMAND: _command,
    "hint:": _hint,
}


def _parameter(place: str, sources: ParameterSources) -> _Resolved:
    thing, _, key = place.partition(".")
    kind = "workload" if any(one.name == thing for one in sources.description.workloads) else "backend"
    registered = find_registered(sources.description, kind, thing)
    by_name = {one.name: one for one in registered.parameters}
    if key not in by_name:
        known = [*by_name, *sources.options]
        raise UserError(f"neither suite {sources.suite} nor '{thing}' has a parameter '{key}'", "", suggest(key, known))
    parameter = by_name[key]
    return "parameter", place, _parameter_reader(parameter), format_value(parameter, parameter.default)


def _parameter_reader(parameter: Parameter) -> _Read:
    if parameter.type in ("bytes", "count"):
        return _read_sizes if parameter.type == "bytes" else _read_counts

    def read(text: str) -> _Values:
        values = [parse_parameter(parameter, word) for word in _split(text)]
        shown = [format_value(parameter, value) for value in values]
        are_numbers = parameter.type in ("seconds", "rate", "number")
        return _values(shown, [float(cast("float", value)) for value in values] if are_numbers else None)

    return read


def _own_value(one: Declared, sources: ParameterSources) -> str:
    """Return the value that the suite would take, the first where it takes several.

    ``unset`` where there is none; nothing where the first of the values that are given is the default.
    """
    value = sources.asked.options.get(one.field, one.default)
    if value is None and one.field in _NEVER_UNSET:
        return ""
    if one.field == "targets" or value in (None, [], {}):
        return UNSET
    if isinstance(value, list):
        several = cast("list[object]", value)
        return one.kind.format(several[:1]) if not one.kind.repeated else UNSET
    return one.kind.format(value)


def _reader(one: Declared) -> _Read:
    if one.is_flag:
        raise UserError("is a flag without values", "", "name an option that has values")
    if isinstance(one.kind, (Size, SizeAxis, Count, CountAxis)):
        return _read_sizes if isinstance(one.kind, (Size, SizeAxis)) else _read_counts
    number = parse_duration if isinstance(one.kind, Duration) else float if isinstance(one.kind, Number) else None
    return lambda text: _values(words := _split(text), [*map(number, words)] if number else None)


def _read_sizes(text: str) -> _Values:
    sizes = sorted(parse_axis(text, parse_size))
    return _values([format_bytes(size) for size in sizes], [float(size) for size in sizes])


def _read_counts(text: str) -> _Values:
    counts = sorted(parse_axis(text))
    return _values([str(count) for count in counts], [float(count) for count in counts])


def _read_plain(text: str) -> _Values:
    """Read values of which nothing declares the type: numbers where all are."""
    if ":" in text and ";" not in text:
        return _read_sizes(text) if any(letter in text for letter in "KMGT") else _read_counts(text)
    words = _split(text)
    return _read_counts(text) if all(word.isdecimal() for word in words) else _values(words, None)


def _values(texts: Sequence[str], numbers: Sequence[float] | None) -> _Values:
    if numbers is None:
        return _Values(tuple(dict.fromkeys(texts)), rise=False)
    return _Values(tuple(dict(sorted(zip(numbers, texts, strict=True))).values()), rise=True)


def _split(text: str) -> list[str]:
    """Split values at commas, or at ; where values have commas in them; raise ``UserError`` for an empty one."""
    words = [word.strip() for word in text.split(";" if ";" in text else ",")]
    if not all(words):
        raise UserError("an empty value", f"'{text}'", "separate values by commas")
    return words
