# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run matrix`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions
from ullage.suites.sweep.words import checked, duration, parse_share

_USUAL: Final = {"file": "64K:512M:x2", "record": "4K:16M:x2", "time": "30m"}
_QUICK: Final = {"file": "256K:16M:x4", "record": "4K:1M:x16", "time": "30s"}
_ALL: Final = "all"


def matrix_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[list[str], typer.Option(metavar="NAME=PATH", help="A folder to measure in. Repeat it.")],
    file: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Sizes of a file. Default: 64K:512M:x2.", show_default=False),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Sizes of a record. Default: 4K:16M:x2.", show_default=False),
    ] = None,
    tests: Annotated[str, typer.Option(metavar="NUMBERS", help="IOzone's tests, 0 to 12: 0,1,5 or all.")] = _ALL,
    all_records: Annotated[
        bool, typer.Option("--all-records", help="Records below 64K with files of 16M and more, too.")
    ] = False,
    direct: Annotated[
        bool, typer.Option("--direct", help="Past the page cache (O_DIRECT), except tests 6 and 7.")
    ] = False,
    cache: Annotated[
        str | None,
        typer.Option(
            help="Before reads: none, advise (fsync, then drop the file), drop (all caches; root). Default: advise.",
            show_default=False,
        ),
    ] = None,
    sync: Annotated[str, typer.Option(help="In the time of writes: close (an fsync before it) or none.")] = "close",
    stride: Annotated[int, typer.Option(min=1, help="Records from one stride read to the next.")] = 17,
    mix: Annotated[str, typer.Option(metavar="SHARE", help="Of the random mix that is reads.")] = "50%",
    pieces: Annotated[int, typer.Option(min=2, max=1024, help="Of a record by pwritev and preadv.")] = 16,
    time: Annotated[
        str | None, typer.Option(metavar="DURATION", help="For all measurement. Default: 30m.", show_default=False)
    ] = None,
    interval: Annotated[str, typer.Option(help="Stop a cell when its median is known to +- this.")] = "5%",
    min_repetitions: Annotated[int, typer.Option(min=1, help="Of every cell.")] = 3,
    max_repetitions: Annotated[int, typer.Option(min=1, help="Of any cell.")] = 15,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: files 256K:16M:x4, records 4K:1M:x16, in 30 s.")
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
    from ullage.errors import UserError
    from ullage.parameters import known_word
    from ullage.suites.io_bench.words import record_sizes
    from ullage.suites.matrix.options import MatrixOptions
    from ullage.units import parse_size
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    default = _QUICK if quick else _USUAL
    if direct and cache is not None:
        raise UserError("says nothing with --direct, which passes the cache", "--cache", "leave one of them out")
    options = checked(
        MatrixOptions,
        files=record_sizes("--file", default["file"] if file is None else file),
        records=record_sizes("--record", default["record"] if record is None else record),
        tests=parse_tests(tests),
        all_records=all_records,
        direct=direct,
        cache=known_word(cache or "advise", ("none", "advise", "drop"), "--cache"),
        sync=known_word(sync, ("close", "none"), "--sync"),
        stride=stride,
        read_share=_mix(mix),
        pieces=pieces,
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


def parse_tests(text: str) -> list[int]:
    """``all``, or numbers of 0 to 12 separated by commas, in rising order. ``UserError`` for others."""
    from ullage.errors import UserError
    from ullage.suites.matrix.tests import TESTS

    if text == _ALL:
        return list(TESTS)
    known = {str(test): test for test in TESTS}
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            raise UserError("no test of IOzone", f"--tests '{word}'", "write all, or numbers of 0 to 12 like 0,1,5")
        if words.count(word) > 1:
            raise UserError("stands twice", f"--tests '{word}'", "write each number once")
    return sorted(known[word] for word in words)


def _mix(text: str) -> float:
    """In steps of a thousandth, as the engine has them."""
    from ullage.errors import UserError

    try:
        share = parse_share(text)
    except UserError as error:
        raise UserError("no share between 0 and 1", f"--mix '{text}'", "write 50% or 0.5") from error
    if abs(1000 * share - round(1000 * share)) > 1e-6:
        raise UserError("is no multiple of 0.1%", f"--mix '{text}'", "write 50% or 0.5")
    return round(share, 3)
