# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run memory`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions


def memory_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    threads: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="1,2,4 or 1:8:x2 or all. Default: powers of 2 up to the cores, and all.",
            show_default=False,
        ),
    ] = None,
    block: Annotated[
        str, typer.Option(metavar="AXIS", help="Blocks that are copied in order and at random.")
    ] = "1K,1M,10M",
    working_set: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="Sizes of the curves: 4K:256M:x2. Default: 4K to four times the last cache, doubling.",
            show_default=False,
        ),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="For all measurement. Default: 130s, with --quick 30s.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
    machine: MachineOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look: fewer sizes and threads, in 30 s.")] = False,
    no_peer: Annotated[
        bool, typer.Option("--no-peer", help="Do not run mbw, sysbench and STREAM beside, even where they are.")
    ] = False,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import MEMORY
    from ullage.runs.kernels.options import KernelOptions
    from ullage.runs.kernels.resources import read_resources
    from ullage.runs.kernels.words import thread_counts, typed
    from ullage.suites.memory.options import QUICK_REPETITIONS, QUICK_S, USUAL_S, MemoryOptions
    from ullage.suites.sweep.words import duration, rising_axis

    usual = QUICK_REPETITIONS if quick else KernelOptions.model_fields["repetitions"].default
    options = typed(
        MemoryOptions,
        repetitions=usual if repetitions is None else repetitions,
        time_s=(QUICK_S if quick else USUAL_S) if time is None else duration("--time", time),
        seed=seed,
        quick=quick,
        peer=not no_peer,
        threads=thread_counts(threads, read_resources(), quick=quick),
        blocks=rising_axis("--block", block, _sizes),
        working_sets=[] if working_set is None else rising_axis("--working-set", working_set, _sizes),
        machine=machine_option(machine),
    )
    _check_sizes("--block", options.blocks, 64)
    _check_sizes("--working-set", options.working_sets, 512)
    return ParsedOptions([MEMORY], options.model_dump(mode="json"))


def _sizes(text: str) -> list[int]:
    from ullage.units import parse_axis, parse_size

    return parse_axis(text, parse_size)


def _check_sizes(option: str, sizes: list[int], unit: int) -> None:
    from ullage.errors import UserError

    odd = next((size for size in sizes if size % unit), None)
    if odd is not None:
        raise UserError(f"{odd} bytes are no multiple of {unit}", option, "write 4K, 1M or 10M")
