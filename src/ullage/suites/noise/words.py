# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run noise`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated

import typer

from ullage.runs.suite import ParsedOptions


def noise_words(
    *,
    threads: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="1,2,all or 1:8:x2. Default: powers of 2 up to the cores, and all.", show_default=False
        ),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement. Default: as long as it takes.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="1 thread and all, each 3 times.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import CPU
    from ullage.runs.kernels.options import KernelOptions
    from ullage.runs.kernels.resources import read_resources
    from ullage.runs.kernels.words import thread_counts, typed
    from ullage.suites.sweep.words import duration

    options = typed(
        KernelOptions,
        threads=thread_counts(threads, read_resources(), quick=quick),
        repetitions=repetitions or (3 if quick else 6),
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=False,
        seed=seed,
    )
    return ParsedOptions([CPU], options.model_dump(mode="json"))
