# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run rings`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated

import typer

from ullage.runs.suite import ParsedOptions


def rings_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    ranks: Annotated[
        int | None, typer.Option(min=2, help="Processes. Default: the usable cores, at least 2.", show_default=False)
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes they are on.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most of them on one.", show_default=False)] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every ring and pair. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Random orders as HPC Challenge draws them, which are not uniform.")
    ] = False,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="For our own measurement. Default: as long as it takes.", show_default=False
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three repetitions, and fewer pairs of many processes.")
    ] = False,
    no_peer: Annotated[bool, typer.Option("--no-peer", help="Do not run hpcc in turn, even where it is.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the random rings.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import MPI
    from ullage.runs.kernels.words import typed
    from ullage.suites.rings.options import QUICK_REPETITIONS, RingsOptions
    from ullage.suites.sweep.words import duration
    from ullage.system.cpu import ranks_by_default

    usual = QUICK_REPETITIONS if quick else RingsOptions.model_fields["repetitions"].default
    options = typed(
        RingsOptions,
        ranks=ranks or max(2, ranks_by_default()),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        repetitions=usual if repetitions is None else repetitions,
        faithful=faithful,
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=not no_peer,
        seed=seed,
    )
    return ParsedOptions([MPI], options.model_dump(mode="json"))


def quick_words() -> ParsedOptions:
    """What suite ``overview`` asks for."""
    from ullage.suites.rings.options import QUICK_RANKS

    return rings_words(ranks=QUICK_RANKS, quick=True)
