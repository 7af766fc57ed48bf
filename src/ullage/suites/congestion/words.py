# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run congestion`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated, Final

import typer

from ullage.runs.suite import ParsedOptions

LOADS: Final = ("incast", "alltoall")
_FEWEST_RANKS: Final = 4
_QUICK_TEST: Final = "50ms"
_USUAL_TEST: Final = "200ms"


def congestion_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    ranks: Annotated[
        int | None,
        typer.Option(
            min=_FEWEST_RANKS, help="All of them together. Default: the usable cores, at least 4.", show_default=False
        ),
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes they are on.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most of them on one.", show_default=False)] = None,
    load: Annotated[
        str, typer.Option(metavar="NAMES", help="What the others do: incast, alltoall or both.")
    ] = "incast,alltoall",
    load_size: Annotated[str, typer.Option(metavar="SIZE", help="Of a message of the load.")] = "4K",
    victims: Annotated[str, typer.Option(metavar="SHARE", help="Of the ranks, at least 2 and all but 2.")] = "20%",
    rings: Annotated[int, typer.Option(min=1, max=1000, help="Random orders of the victims.")] = 30,
    test: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Of each test. Default: 200ms, with --quick 50ms.", show_default=False),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement. Default: as long as it takes.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look: shorter tests, 3 times.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of victims, their rings, and the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import MPI
    from ullage.runs.kernels.words import typed
    from ullage.suites.congestion.options import CongestionOptions
    from ullage.suites.sweep.words import duration, parse_share
    from ullage.system.cpu import ranks_by_default
    from ullage.units import parse_size

    options = typed(
        CongestionOptions,
        ranks=ranks or max(_FEWEST_RANKS, ranks_by_default()),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        loads=_loads(load),
        load_bytes=parse_size(load_size),
        share=parse_share(victims),
        rings=rings,
        test_s=duration("--test", test or (_QUICK_TEST if quick else _USUAL_TEST)),
        repetitions=repetitions or (3 if quick else 6),
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=False,
        seed=seed,
    )
    return ParsedOptions([MPI], options.model_dump(mode="json"))


def _loads(text: str) -> list[str]:
    from ullage.parameters import known_word

    found = {known_word(word.strip(), LOADS, "--load") for word in text.split(",")}
    return [name for name in LOADS if name in found]
