# SPDX-License-Identifier: Apache-2.0
"""The options of suite ``pio``, as they stand in request.json, and files of directives that list patterns.

``--directives FILE``: TOML, since the grammar of pio-bench.conf is not public. Each table is a pattern to measure:

    [[pattern]]
    name = "nested-strided"            # one of the patterns
    label = "three levels"             # as reports call it; default: the name
    levels = 3                         # levels, inner, gap, tiles_x, variables, record, unsorted as the options
    request = ["4K", "1M"]             # request, operation, calls and base take one value or a list of them
    operation = ["write", "read"]      # what a table leaves out is as the options say

Values are text, whole numbers, or true and false.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal, Self, TypeAlias, cast, get_args

from pydantic import Field, ValidationError, model_validator

from ullage.errors import UserError, plain_fault
from ullage.model.base import Strict, first_mistake
from ullage.parameters import suggest
from ullage.reading import parse_toml, read_text, toml_line
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions, Volume
from ullage.runs.options.kinds import ConvertedList, FilePath, Names, Size, SizeAxis
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import BackendParameterOptions
from ullage.units import parse_size

PatternName: TypeAlias = Literal[
    "simple-strided",
    "nested-strided",
    "random-strided",
    "sequential-shared",
    "sequential-own",
    "segmented",
    "tiled",
    "flash",
    "mesh",
]
Operation: TypeAlias = Literal["write", "read", "reread", "rewrite", "read-modify-write"]
Calls: TypeAlias = Literal["independent", "collective"]
PATTERNS: Final[tuple[PatternName, ...]] = get_args(PatternName)
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
Request: TypeAlias = Annotated[int, Field(ge=8, le=1 << 30, multiple_of=8)]
Base: TypeAlias = Annotated[int, Field(ge=0, le=10**15, multiple_of=8)]


class Spatial(Strict):
    """A pattern with its parameters, sizes in bytes. null stands for the value of the option."""

    name: PatternName
    label: Annotated[str, Field(max_length=48)] = ""
    levels: Annotated[int, Field(ge=1, le=8)] | None = None
    inner: Annotated[int, Field(ge=1, le=10**6)] | None = None
    gap: Annotated[int, Field(ge=0, le=10**6)] | None = None
    tiles_x: Annotated[int, Field(ge=1, le=10**6)] | None = None
    variables: Annotated[int, Field(ge=1, le=10**6)] | None = None
    record: Annotated[int, Field(ge=8, le=1 << 20, multiple_of=8)] | None = None
    unsorted: bool | None = None
    request: list[Request] | None = None
    operation: list[Operation] | None = None
    calls: list[Calls] | None = None
    base: list[Base] | None = None

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.label or self.name


# Keys that mean something with one pattern alone.
OWNERS: Final[Mapping[str, PatternName]] = {
    "levels": "nested-strided",
    "inner": "nested-strided",
    "gap": "nested-strided",
    "tiles_x": "tiled",
    "variables": "flash",
    "record": "mesh",
    "unsorted": "mesh",
}
_SIZES: Final = ("request", "base", "record")


def parse_directives(text: str, name: str) -> list[Spatial]:
    """The patterns of a file of directives called ``name``; ``UserError`` names the line of what is wrong."""
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise UserError(f"not TOML: {error}", name, "see docs/suites/pio.md") from None

    def place(table: int, key: str) -> str:
        return f"{name}:{toml_line(text, 'pattern', table, key) or 1}"

    for key in document:
        if key != "pattern":
            raise UserError(f"unknown key '{key}'", place(0, key), "write tables [[pattern]]")
    tables = document.get("pattern", [])
    if not isinstance(tables, list) or not tables:
        raise UserError("no table [[pattern]]", name, 'write [[pattern]] and name = "simple-strided"')
    found: list[Spatial] = []
    for number, table in enumerate(cast("list[object]", tables), start=1):
        if not isinstance(table, dict):
            raise UserError("not a table", name, "write [[pattern]]")
        found.append(_spatial(cast("dict[str, object]", table), partial(place, number)))
    titles = [one.title for one in found]
    for index, title in enumerate(titles):
        if title in titles[:index]:
            raise UserError(f"'{title}' stands twice", place(index + 1, "name"), "set label")
    return found


def _spatial(table: Mapping[str, object], place: Callable[[str], str]) -> Spatial:
    known = list(Spatial.model_fields)
    for key in table:
        if key not in known:
            raise UserError(f"unknown key '{key}'", place(key), suggest(key, known))
    if "name" not in table:
        raise UserError("the pattern has no name", place(""), 'write name = "simple-strided"')
    values = {key: _value(key, value, place(key)) for key, value in table.items()}
    for key, owner in OWNERS.items():
        if key in values and values["name"] != owner:
            raise UserError(f"is for pattern {owner}", place(key), "leave it out")
    try:
        return Spatial.model_validate(values, strict=True)
    except ValidationError as error:
        where, why = first_mistake(error)
        key = where.partition("/")[0]
        raise UserError(plain_fault(why), place(key), f"correct {key}") from None


def _value(key: str, value: object, place: str) -> object:
    """Read sizes, and make lists of single values."""
    if key in ("request", "operation", "calls", "base"):
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        if not several:
            raise UserError("an empty list", place, f"leave {key} out")
        return [_size(one, place) if key in _SIZES else one for one in several]
    return _size(value, place) if key in _SIZES else value


def _size(value: object, place: str) -> object:
    try:
        return parse_size(value) if isinstance(value, str) else value
    except UserError as error:
        raise UserError(error.what, place, error.right) from None


def read_hints(texts: Sequence[str]) -> dict[str, str]:
    """Read hints written ``KEY=VALUE``."""
    hints: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value:
            raise UserError("not a hint", text, "write KEY=VALUE, for example cb_nodes=2")
        hints[key.strip()] = value
    return hints


def read_bases(texts: Sequence[str]) -> list[int]:
    """Read sizes of which 0 is one."""
    found: list[int] = []
    for text in ",".join(texts).split(","):
        size = parse_size(text)
        if size % 8:
            raise UserError(f"{size} bytes are not a multiple of 8", text, "write 0,8")
        if size not in found:
            found.append(size)
    return found


class PioOptions(BackendParameterOptions, StorageOptions):
    """``volume``: what all ranks together move in an operation. ``directives``: in place of ``patterns``, if any."""

    workload = "pio"
    metrics = "bandwidth operation_rate fastest_rank_time mean_rank_time slowest_rank_time latency_p50 latency_p99"
    changes = {
        "targets": Change("Measure this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores, at least 2"),
        "time_s": Change(usual="15m", quick="40s"),
        "quick": Change("Take a first look in 40 s: 4 patterns, writes and reads of 64K, 16M a case."),
    }

    patterns: Annotated[
        list[PatternName],
        OfEngine("pattern", usual=",".join(PATTERNS), quick="simple-strided,sequential-own,segmented,mesh"),
    ]
    operations: Annotated[
        list[Operation],
        Option(
            f"Measure these operations: {', '.join(OPERATIONS)}.",
            name="--operation",
            usual=",".join(OPERATIONS),
            quick="write,read",
            sets=("access",),
        ),
    ]
    requests: Annotated[
        list[Request],
        SizeAxis(8),
        OfEngine("request_bytes", name="--request", usual="4K,64K,1M", quick="64K", sets=("block_bytes",)),
    ]
    calls: Annotated[
        list[Calls], Option("Make independent calls, collective calls, or both.", usual="independent,collective")
    ]
    bases: Annotated[
        list[Base],
        ConvertedList(read_bases, metavar="SIZES"),
        Option(
            "Begin the pattern so many bytes behind the beginning of the file: 0 is well-formed, 8 is 8 bytes off. "
            "The default is 0,8.",
            name="--base",
        ),
    ] = [0, 8]
    volume: Annotated[
        Volume, Option("Let all ranks together move about this much in an operation.", usual="64M", quick="16M")
    ]
    requests_a_call: Annotated[int, OfEngine()] = 1
    levels: Annotated[int, OfEngine()] = 2
    inner: Annotated[int, OfEngine("inner_requests", name="--inner")] = 4
    gap: Annotated[int, OfEngine("gap_requests", name="--gap")] = 1
    tiles_x: Annotated[int | None, OfEngine()] = None
    variables: Annotated[int, OfEngine()] = 24
    record: Annotated[int, Field(multiple_of=8), Size(8), OfEngine("record_bytes", name="--record", usual="512")]
    unsorted: Annotated[bool, Option("Visit the vertices of pattern mesh at random. That needs independent calls.")] = (
        False
    )
    directives: Annotated[
        list[Spatial],
        FilePath(lambda path: parse_directives(read_text(path, "name a file of directives"), str(path))),
        Option("Take the patterns and their sizes from this file (TOML, see docs/suites/pio.md)."),
    ] = []
    backends: Annotated[
        list[str],
        Names(),
        Option(
            "Use these backends, for example posix,mpiio. Collective calls need mpiio or hdf5.",
            name="--backend",
            unsaid="mpiio, or the target's own backend where it has no path",
        ),
    ] = []
    hints: Annotated[
        dict[str, str],
        ConvertedList(read_hints, metavar="KEY=VALUE"),
        Option("Give this MPI-IO hint when a file is opened. Repeat the option for more hints.", name="--hint"),
    ] = {}
    cache: Annotated[str, OfEngine()] = "advise"
    verify: Annotated[str, OfEngine()] = "kept"

    @staticmethod
    def usual_ranks(cores: int) -> list[int]:
        """Return two ranks at least: a single one has no pattern."""
        return [max(2, cores)]

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        wrong = [size for size in self.requests if size % self.record]
        if wrong and not self.directives and "mesh" in self.patterns:
            right = "take a smaller --record, or leave mesh out of --pattern"
            raise OptionError("record", f"requests of {wrong[0]} bytes are no multiple of it", right)
        return self

    @property
    def spatials(self) -> list[Spatial]:
        """The patterns to measure, each with all that it needs."""
        given = self.directives or [Spatial(name=name) for name in self.patterns]
        return [self._completed(one) for one in given]

    def _completed(self, one: Spatial) -> Spatial:
        usual: dict[str, object] = {name: getattr(self, name) for name, owner in OWNERS.items() if owner == one.name}
        usual |= {"request": self.requests, "operation": self.operations, "calls": self.calls, "base": self.bases}
        given = {name for name in usual if getattr(one, name) is not None}
        return one.model_copy(update={name: value for name, value in usual.items() if name not in given})
