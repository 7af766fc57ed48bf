# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run disk`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions
from ullage.suites.sweep.words import checked, duration, parse_share, rising_axis

_USUAL: Final = {"threads": "1,2,4", "block": "1M,10M,100M", "depth": "1:128:x2", "time": "2m"}
_QUICK: Final = {"threads": "1,2", "block": "1M,10M", "depth": "1,8,64", "time": "30s"}


def disk_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[list[str], typer.Option(metavar="NAME=PATH", help="A folder on the disk to measure. Repeat it.")],
    threads: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="At work at once on one volume. Default: 1,2,4.", show_default=False),
    ] = None,
    by: Annotated[
        str, typer.Option(help="What a thread is: ranks (a process with its own file) or threads (of one process).")
    ] = "ranks",
    block: Annotated[
        str | None, typer.Option(metavar="AXIS", help="Sizes of a block. Default: 1M,10M,100M.", show_default=False)
    ] = None,
    small: Annotated[str, typer.Option(metavar="SIZE", help="Bytes of a small request.")] = "1K",
    depth: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Small requests in flight. Default: 1:128:x2.", show_default=False),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="posix or uring for everything. Default: posix for blocks, uring for small requests.",
            show_default=False,
        ),
    ] = None,
    volume: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Shared by the threads of a case. Default: a probe chooses.", show_default=False
        ),
    ] = None,
    small_volume: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The same of small requests. Default: a probe chooses; with --volume a 64th of it, at most 16M.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement, fio's too. Default: 2m.", show_default=False),
    ] = None,
    interval: Annotated[str, typer.Option(help="Stop a cell when its median is known to +- this.")] = "5%",
    min_repetitions: Annotated[int, typer.Option(min=1, help="Of every cell.")] = 3,
    max_repetitions: Annotated[int, typer.Option(min=1, help="Of any cell.")] = 15,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: threads 1,2, blocks 1M,10M, depths 1,8,64, in 30 s.")
    ] = False,
    no_peer: Annotated[bool, typer.Option("--no-peer", help="Do not run fio beside, even where it is.")] = False,
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
    from ullage.suites.disk.options import DiskOptions
    from ullage.units import parse_axis, parse_size
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    default = _QUICK if quick else _USUAL
    options = checked(
        DiskOptions,
        threads=rising_axis("--threads", default["threads"] if threads is None else threads, parse_axis),
        by=known_word(by, ("ranks", "threads"), "--by"),
        blocks=rising_axis("--block", default["block"] if block is None else block, _sizes),
        small=parse_size(small),
        depths=rising_axis("--depth", default["depth"] if depth is None else depth, parse_axis),
        backend=None if backend is None else known_word(backend, ("posix", "uring"), "--backend"),
        volume=None if volume is None else parse_size(volume),
        small_volume=None if small_volume is None else parse_size(small_volume),
        time_s=duration("--time", default["time"] if time is None else time),
        interval=parse_share(interval),
        min_repetitions=min_repetitions,
        max_repetitions=max_repetitions,
        peer=not no_peer,
        ceilings=parse_ceilings(ceiling or [], targets),
        machine=machine_option(machine),
        space=None if space is None else parse_size(space),
        seed=seed,
        keep=keep,
    )
    _check_sizes(options.small, options.blocks)
    return ParsedOptions(targets, options.model_dump(mode="json"))


def _sizes(text: str) -> list[int]:
    from ullage.units import parse_axis, parse_size

    return parse_axis(text, parse_size)


def _check_sizes(small: int, blocks: list[int]) -> None:
    from ullage.errors import UserError

    for option, size in [("--small", small), *(("--block", block) for block in blocks)]:
        if size % 8:
            raise UserError(f"{size} bytes are no multiple of 8", option, "write 1K, 4K or 1M")
    if small >= min(blocks):
        what = f"a small request of {small} bytes is no smaller than the smallest block"
        raise UserError(what, "--small", "name blocks that are larger")
