# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run b_eff_io`` as people write them. Imported for every command: nothing heavy up here."""

from typing import TYPE_CHECKING, Annotated

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target


def b_eff_io_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[
        list[str],
        typer.Option(metavar="NAME=PATH", help="A place to measure; also NAME=null: and NAME=model:. Repeat it."),
    ],
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Processes of the largest partition. Default: cores.", show_default=False)
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes they are on.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most of them on one.", show_default=False)] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Scheduled for all partitions together, for each target, set of hints and repetition. A result counts "
            "from 30m a partition on. Default: 30m.",
            show_default=False,
        ),
    ] = None,
    partitions: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="Process counts to measure with: 4,16,64. Default: a small, a medium and all.",
            show_default=False,
        ),
    ] = None,
    hints: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="MPI-IO hints, in b_eff_io's own grammar or as *.toml; 'default' for none. Repeat it to compare sets.",
            show_default=False,
        ),
    ] = None,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Rewrite all pattern types, not only type scatter.")
    ] = False,
    lmax: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Largest chunk. Default: 1/128 of a process's memory.", show_default=False),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Of each process. Default: the node's, shared by its processes.", show_default=False
        ),
    ] = None,
    memory_total: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="What volumes are held against. Default: that of all nodes.", show_default=False
        ),
    ] = None,
    rule: Annotated[
        str, typer.Option(help="When a loop ends: 2.1 (the next call is expected to fit) or 1.0 (the time is over).")
    ] = "2.1",
    overtime: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Patterns with fixed counts end at so many times their schedule; 0: never. Default: 1.1 below 30m a "
            "partition, else 0.",
            show_default=False,
        ),
    ] = None,
    no_shared: Annotated[
        bool, typer.Option("--no-shared", help="Type shared without shared file pointers. Not valid.")
    ] = False,
    no_unique: Annotated[
        bool, typer.Option("--no-unique", help="Open without saying that nobody else has the file open.")
    ] = False,
    cache: Annotated[str, typer.Option(help="Before reads: none, or advise (drop the file from the cache).")] = "none",
    verify: Annotated[str, typer.Option(help="All data that is read, outside the timer: full or none.")] = "full",
    repetitions: Annotated[int, typer.Option(min=1, help="Of everything; from 2 on the values have an interval.")] = 1,
    space: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Most to take of a target. Default: half of what is free.", show_default=False
        ),
    ] = None,
    watchdog: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A pattern without progress for this long hangs.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the datasets of the last round in place.")] = False,
    resumable: Annotated[
        bool,
        typer.Option("--resumable", help="Leave the datasets also when interrupted: `ullage resume` then goes on."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: one partition, chunks of up to 2 MiB, in 20 s.")
    ] = False,
    machine: MachineOption = None,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.parameters import known_word
    from ullage.suites.b_eff_io.hints import read_hint_sets
    from ullage.suites.b_eff_io.options import QUICK_TIME_S, USUAL_TIME_S
    from ullage.suites.sweep.words import duration, optional_size
    from ullage.system.cpu import ranks_by_default
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    most = ranks_by_default() if ranks is None else ranks
    counts = _partitions(partitions, most, quick=quick)
    members: dict[str, object] = {
        "ranks": most,
        "nodes": nodes,
        "ranks_per_node": ranks_per_node,
        "partitions": counts,
        "time_s": (QUICK_TIME_S if quick else USUAL_TIME_S) if time is None else duration("--time", time),
        "rewrite": rewrite,
        **_sizes(lmax, memory, memory_total, quick=quick),
        "rule": known_word(rule, ("2.1", "1.0"), "--rule"),
        "shared_pointer": not no_shared,
        "unique_open": not no_unique,
        "cache": known_word(cache, ("none", "advise"), "--cache"),
        "verify": known_word(verify, ("full", "none"), "--verify"),
        "hint_sets": read_hint_sets(hints or [], counts),
        "repetitions": repetitions,
        "space": optional_size("--space", space),
        "watchdog_s": None if watchdog is None else duration("--watchdog", watchdog),
        "keep": keep,
        "resumable": resumable,
        "quick": quick,
        "machine": machine_option(machine),
    }
    return _asked(targets, members, overtime)


def quick_words(targets: "Sequence[Target]") -> ParsedOptions | None:
    """What suite ``overview`` asks for: two processes on the first target that has files."""
    from ullage.runs.composite.asking import target_words
    from ullage.uri import target_path

    found = [target for target in targets if target_path(target) is not None]
    return b_eff_io_words(target=target_words(found[:1]), ranks=2, quick=True) if found else None


def _asked(targets: "list[Target]", members: dict[str, object], overtime: float | None) -> ParsedOptions:
    from pydantic import ValidationError

    from ullage.errors import UserError
    from ullage.suites.b_eff_io.options import BEffIoOptions
    from ullage.suites.b_eff_io.schedule import default_overtime

    try:
        options = BEffIoOptions.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], f"--{place.replace('_', '-')}") from error
    chosen = default_overtime(options.partition_s) if overtime is None else overtime
    return ParsedOptions(targets, options.model_copy(update={"overtime": chosen}).model_dump(mode="json"))


def _partitions(text: str | None, ranks: int, *, quick: bool) -> list[int]:
    from ullage.errors import UserError
    from ullage.suites.b_eff_io.patterns import default_partitions
    from ullage.suites.sweep.words import rising_axis
    from ullage.units import parse_axis

    if text is None:
        return [ranks] if quick else default_partitions(ranks)
    counts = rising_axis("--partitions", text, parse_axis)
    if counts[-1] > ranks:
        what = f"a partition of {counts[-1]} processes, and --ranks {ranks}"
        raise UserError(what, f"--partitions {text}", f"at most {ranks}, or more --ranks")
    return counts


def _sizes(lmax: str | None, memory: str | None, memory_total: str | None, *, quick: bool) -> dict[str, object]:
    """What is said of memory and chunks; what is not is found on the machine."""
    from ullage.errors import UserError
    from ullage.suites.b_eff_io.options import LEAST_LMAX, MOST_LMAX, QUICK_LMAX
    from ullage.suites.sweep.words import optional_size
    from ullage.units import format_bytes

    if lmax is not None and memory is not None:
        raise UserError("both say how large the largest chunk is", "--lmax and --memory", "give one of them")
    largest = optional_size("--lmax", lmax)
    if largest is not None and not (LEAST_LMAX <= largest <= MOST_LMAX and largest % 8 == 0):
        right = f"a multiple of 8 from {format_bytes(LEAST_LMAX)} to {format_bytes(MOST_LMAX)}; 2M at least to be valid"
        raise UserError("no size that the largest chunk can have", f"--lmax {lmax}", right)
    if largest is None and memory is None and quick:
        largest = QUICK_LMAX
    return {
        "lmax": largest,
        "memory": optional_size("--memory", memory),
        "memory_total": optional_size("--memory-total", memory_total),
    }
