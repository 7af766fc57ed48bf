# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run pairs`` as people write them. Imported for every command: nothing heavy up here."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ullage.runs.suite import ParsedOptions

DEFAULT_SIZES: Final = "8,1M"


def pairs_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    ranks: Annotated[
        int | None,
        typer.Option(help="Default: one on each node; of one node the usable cores, at least 2.", show_default=False),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="Nodes they are on. Default: as --hosts or the batch job says.", show_default=False),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(help="nodes or ranks. Default: nodes where there are several.", show_default=False),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(metavar="SIZES", help="Of messages. Up to 4K: latency, there and back; above: bandwidth one way."),
    ] = DEFAULT_SIZES,
    one_at_a_time: Annotated[
        bool,
        typer.Option("--one-at-a-time", help="One pair, then the next; not all disjoint pairs of a round at once."),
    ] = False,
    pattern: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also a pattern of your own: lines FROM TO [WEIGHT], numbers of ranks.",
            show_default=False,
        ),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement. Default: as long as it takes.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer messages, best and worst bisection only.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the order and of random pairs.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.parameters import known_word
    from ullage.runs.kernels.cases import MPI
    from ullage.runs.kernels.words import typed
    from ullage.suites.pairs.options import PairsOptions
    from ullage.suites.sweep.words import duration

    _check_ranks(ranks)
    options = typed(
        PairsOptions,
        ranks=ranks,
        nodes=nodes,
        between=None if between is None else known_word(between, ("nodes", "ranks"), "--between"),
        sizes=_sizes(sizes),
        one_at_a_time=one_at_a_time,
        pattern=None if pattern is None else str(pattern.absolute()),
        repetitions=repetitions or (3 if quick else 6),
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=False,
        seed=seed,
    )
    return ParsedOptions([MPI], options.model_dump(mode="json"))


def _check_ranks(ranks: int | None) -> None:
    from ullage.errors import UserError

    if ranks is not None and ranks < 2:
        raise UserError("a pair needs two ranks", f"--ranks {ranks}", "at least 2")


def _sizes(text: str) -> list[int]:
    from ullage.suites.sweep.words import rising_axis
    from ullage.units import parse_axis, parse_size

    return sorted(set(rising_axis("--sizes", text, lambda words: parse_axis(words, parse_size))))
