# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run sweep`` as people write them. Imported for every command: nothing heavy up here."""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from ullage.suites.sweep.options import RunOptions, Setting

DEFAULT_BLOCKS: Final = "128K:8M:x4"
_MOST_DEFAULT_RANKS: Final = 6
_SETTING: Final = re.compile(r"(?P<thing>[^.=\s]+)\.(?P<key>[^.=\s]+)=(?P<value>.*)", re.DOTALL)
_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s?%", re.ASCII)
WordT = TypeVar("WordT", bound=str)
OptionsT = TypeVar("OptionsT", bound="RunOptions")
ParsedT = TypeVar("ParsedT")


def sweep_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[
        list[str],
        typer.Option(metavar="NAME=PATH", help="A place to measure; also NAME=model: and NAME=null:. Repeat it."),
    ],
    ranks: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="1,2,4 or 1:64:x2. Default: powers of 2 up to the cores, at least 1,2,4.",
            show_default=False,
        ),
    ] = None,
    block: Annotated[
        str, typer.Option(metavar="AXIS", help="Sizes of one transfer: 128K,1M or 128K:16M:x2.")
    ] = DEFAULT_BLOCKS,
    access: Annotated[str, typer.Option(help="Any of write,rewrite,read,reread.")] = "write,read",
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="APIs to go through: posix,mpiio. Default: the target's own.", show_default=False
        ),
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of every case.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most ranks on a node.", show_default=False)] = None,
    volume: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Bytes of every case. Default: a probe chooses.", show_default=False),
    ] = None,
    weak: Annotated[bool, typer.Option("--weak", help="The volume is that of each rank, not of the case.")] = False,
    file: Annotated[str, typer.Option(help="shared or per-process.")] = "per-process",
    order: Annotated[
        str, typer.Option(help="Order of each rank's transfers: sequential, random, backward, strided.")
    ] = "sequential",
    cache: Annotated[
        str,
        typer.Option(
            help="Before reads: none, advise (fsync, then drop the data), drop (all caches; root), direct (O_DIRECT)."
        ),
    ] = "advise",
    verify: Annotated[
        str | None,
        typer.Option(
            help="Data after each read: none, kept or full. Default: kept, where data is held.", show_default=False
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="THING.KEY=VALUE", help="A parameter of a backend or of transfer; see `ullage describe`."),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="THING.KEY=A,B", help="A parameter as a further axis; values with commas are separated by ;"
        ),
    ] = None,
    time: Annotated[str, typer.Option(metavar="DURATION", help="For all measurement, within 10 %.")] = "2m",
    interval: Annotated[str, typer.Option(help="Stop a cell when its median is known to +- this.")] = "5%",
    min_repetitions: Annotated[int, typer.Option(min=1, help="Of every cell.")] = 3,
    max_repetitions: Annotated[int, typer.Option(min=1, help="Of any cell.")] = 15,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
    watchdog: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A rank without progress for this long hangs.")
    ] = None,
    extend: Annotated[
        str | None,
        typer.Option(
            metavar="AXES", help="ranks, block or both: go on while the best lies at the rim.", show_default=False
        ),
    ] = None,
    recheck: Annotated[bool, typer.Option("--recheck", help="Repeat the cells that look like outliers.")] = False,
    ceiling: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:ACCESS]=RATE", help="What a target could reach at most: nvme:read=3.2GB/s."),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Most to take of a target. Default: half of what is free.", show_default=False
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the datasets of the last launch in place.")] = False,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.analysis.ceilings.targets import parse_ceilings
    from ullage.parameters import known_word
    from ullage.suites.sweep.options import ACCESS_ORDER, SweepOptions
    from ullage.system.cpu import ranks_by_default
    from ullage.units import parse_axis, parse_size
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    accesses = _words(access, ACCESS_ORDER, "--access")
    options = checked(
        SweepOptions,
        backends=_names(backend, "--backend"),
        ranks=rising_axis("--ranks", ranks, parse_axis) if ranks is not None else default_ranks(ranks_by_default()),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        blocks=rising_axis("--block", block, lambda text: parse_axis(text, parse_size)),
        access=[word for word in ACCESS_ORDER if word in accesses],
        volume=None if volume is None else parse_size(volume),
        weak=weak,
        file_mode=known_word(file, ("shared", "per-process"), "--file"),
        order=order,
        cache=known_word(cache, ("none", "advise", "drop", "direct"), "--cache"),
        verify=verify,
        parameters=[_setting(text, "--param") for text in param or []],
        vary=[_axis_setting(text) for text in vary or []],
        time_s=duration("--time", time),
        interval=parse_share(interval),
        min_repetitions=min_repetitions,
        max_repetitions=max_repetitions,
        seed=seed,
        watchdog_s=None if watchdog is None else duration("--watchdog", watchdog),
        extend=_words(extend, ("ranks", "block"), "--extend") if extend is not None else [],
        recheck=recheck,
        ceilings=parse_ceilings(ceiling or [], targets),
        space=None if space is None else parse_size(space),
        keep=keep,
    )
    return ParsedOptions(targets, options.model_dump(mode="json"))


def checked(model: "type[OptionsT]", **members: object) -> "OptionsT":
    """``members`` as the options of a run; ``UserError`` for the first that is none."""
    from pydantic import ValidationError

    from ullage.errors import UserError

    try:
        options = model.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], place.replace("_", "-")) from error
    if options.min_repetitions > options.max_repetitions:
        raise UserError("more repetitions at least than at most", "--min-repetitions", "raise --max-repetitions")
    return options


def default_ranks(cores: int) -> list[int]:
    """Powers of 2 up to ``cores``, at least 1, 2, 4; of many the first, the last and some between, at most 6."""
    values = [1, 2, 4]
    while values[-1] * 2 <= cores:
        values.append(values[-1] * 2)
    if len(values) <= _MOST_DEFAULT_RANKS:
        return values
    last = len(values) - 1
    return [values[round(i * last / (_MOST_DEFAULT_RANKS - 1))] for i in range(_MOST_DEFAULT_RANKS)]


def parse_share(text: str) -> float:
    """``5%`` or ``0.05``; above 0."""
    from ullage.errors import UserError

    match = _PERCENT.fullmatch(text.strip())
    try:
        value = float(match.group(1)) / 100 if match else float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UserError("not a relative width", f"'{text}'", "write 5% or 0.05")
    return value


def duration(option: str, text: str) -> float:
    """Seconds, above 0; a mistake names ``option``."""
    from ullage.errors import UserError
    from ullage.units import parse_duration

    seconds = _parsed(option, text, parse_duration)
    if seconds <= 0:
        raise UserError("is no time at all", option, "write 90s, 5m or 1h")
    return seconds


def optional_size(option: str, text: str | None) -> int | None:
    """Bytes, or None where nothing was said; a mistake names ``option``."""
    from ullage.units import parse_size

    return None if text is None else _parsed(option, text, parse_size)


def _parsed(option: str, text: str, parse: Callable[[str], ParsedT]) -> ParsedT:
    from ullage.errors import UserError

    try:
        return parse(text)
    except UserError as error:
        raise UserError(error.what, f"{option} {error.where}", error.right, error.code) from error


def rising_axis(option: str, text: str, parse: Callable[[str], list[int]]) -> list[int]:
    """Values of an axis from 1 on, sorted."""
    from ullage.errors import UserError

    try:
        values = parse(text)
    except UserError as error:
        raise UserError(error.what, f"{option} {error.where}", error.right, error.code) from error
    if min(values) < 1:
        raise UserError("0 is no value of this axis", option, "begin at 1")
    return sorted(values)


def _names(text: str | None, option: str) -> list[str]:
    from ullage.errors import UserError

    names = [word.strip() for word in text.split(",")] if text is not None else []
    if not all(names) or len(set(names)) < len(names):
        raise UserError("an empty or repeated word", f"{option} {text}", "write each name once, separated by commas")
    return names


def _words(text: str, known: Iterable[WordT], option: str) -> list[WordT]:
    from ullage.parameters import known_word

    return [known_word(word, known, option) for word in _names(text, option)]


def _setting(text: str, option: str) -> "Setting":
    from ullage.errors import UserError
    from ullage.suites.sweep.options import Setting

    match = _SETTING.fullmatch(text)
    if match is None:
        raise UserError("not a parameter", f"{option} {text}", "write THING.KEY=VALUE, for example posix.direct=true")
    return Setting(thing=match["thing"], key=match["key"], values=[match["value"]])


def _axis_setting(text: str) -> "Setting":
    setting = _setting(text, "--vary")
    (value,) = setting.values
    values = [word.strip() for word in value.split(";" if ";" in value else ",")]
    return setting.model_copy(update={"values": values})
