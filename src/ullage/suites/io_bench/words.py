# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run io_bench`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions
from ullage.suites.sweep.words import checked, duration, parse_share, rising_axis

_USUAL: Final = {"record": "4K:128M:x2", "volume": "256M", "time": "5m"}
_QUICK: Final = {"record": "64K:16M:x4", "volume": "32M", "time": "20s"}


def io_bench_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[list[str], typer.Option(metavar="NAME=PATH", help="A folder on the disk to measure. Repeat it.")],
    record: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Sizes of a record. Default: 4K:128M:x2.", show_default=False),
    ] = None,
    volume: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Of a file, but 8 records at least and 2048 at most. Default: 256M.",
            show_default=False,
        ),
    ] = None,
    backend: Annotated[str, typer.Option(metavar="NAME", help="posix or uring.")] = "posix",
    time: Annotated[
        str | None, typer.Option(metavar="DURATION", help="For all measurement. Default: 5m.", show_default=False)
    ] = None,
    interval: Annotated[str, typer.Option(help="Stop a cell when its median is known to +- this.")] = "5%",
    min_repetitions: Annotated[int, typer.Option(min=1, help="Of every cell.")] = 3,
    max_repetitions: Annotated[int, typer.Option(min=1, help="Of any cell.")] = 15,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: records 64K:16M:x4, files of 32M, in 20 s.")
    ] = False,
    ceiling: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:ACCESS]=RATE", help="What the device could reach at most: here:read=540MB/s."),
    ] = None,
    machine: MachineOption = None,
    space: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Most to take of a target. Default: half of what is free.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the datasets of the last launch in place.")] = False,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.analysis.ceilings.targets import parse_ceilings
    from ullage.parameters import known_word
    from ullage.suites.io_bench.options import IoBenchOptions
    from ullage.units import parse_size
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    default = _QUICK if quick else _USUAL
    options = checked(
        IoBenchOptions,
        records=record_sizes("--record", default["record"] if record is None else record),
        volume=parse_size(default["volume"] if volume is None else volume),
        backend=known_word(backend, ("posix", "uring"), "--backend"),
        time_s=duration("--time", default["time"] if time is None else time),
        interval=parse_share(interval),
        min_repetitions=min_repetitions,
        max_repetitions=max_repetitions,
        ceilings=parse_ceilings(ceiling or [], targets),
        machine=machine_option(machine),
        space=None if space is None else parse_size(space),
        seed=seed,
        keep=keep,
    )
    return ParsedOptions(targets, options.model_dump(mode="json"))


def record_sizes(option: str, text: str) -> list[int]:
    """An axis of sizes that are multiples of 8."""
    from ullage.errors import UserError
    from ullage.units import parse_axis, parse_size

    sizes = rising_axis(option, text, lambda words: parse_axis(words, parse_size))
    for size in sizes:
        if size % 8:
            raise UserError(f"{size} bytes are no multiple of 8", option, "write 4K, 64K or 1M")
    return sizes
