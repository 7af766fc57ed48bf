# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run collectives`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated, Final

import typer

from ullage.runs.suite import ParsedOptions

OPERATIONS: Final = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "reduce_scatter",
)
_QUICK_OPERATIONS: Final = ("barrier", "bcast", "allreduce", "allgather", "alltoall")
_USUAL_SIZES: Final = "8:1M:x8"
_QUICK_SIZES: Final = "8,64K"
_FEWEST_RANKS: Final = 2


def collectives_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    ranks: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="2,4 or 2:64:x2. Default: powers of 2 from 2 up to the cores.", show_default=False
        ),
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of every case.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most ranks on a node.", show_default=False)] = None,
    operations: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="allreduce,alltoall ... Default: all eleven.", show_default=False),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="Bytes of a message: 8,64K or 8:1M:x8. Default: 8:1M:x8.", show_default=False
        ),
    ] = None,
    nonblocking: Annotated[
        bool, typer.Option("--nonblocking", help="Also how much of them hides behind computation.")
    ] = False,
    one_sided: Annotated[bool, typer.Option("--one-sided", help="Also put, get and accumulate.")] = False,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of every case. Default: 6, with --quick 3.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement. Default: as long as it takes.", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: five operations and two sizes, some overlap, put and get.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import MPI
    from ullage.runs.kernels.options import CaseOptions
    from ullage.runs.kernels.words import typed
    from ullage.suites.collectives.options import QUICK_REPETITIONS, CollectivesOptions
    from ullage.suites.sweep.words import duration, rising_axis
    from ullage.units import parse_axis, parse_size

    chosen = _operations(operations) or list(_QUICK_OPERATIONS if quick else OPERATIONS)
    usual = QUICK_REPETITIONS if quick else CaseOptions.model_fields["repetitions"].default
    text = sizes or (_QUICK_SIZES if quick else _USUAL_SIZES)
    options = typed(
        CollectivesOptions,
        ranks=_ranks(ranks),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        operations=chosen,
        sizes=rising_axis("--sizes", text, lambda word: parse_axis(word, parse_size)),
        overlap=_overlap(chosen, nonblocking=nonblocking, quick=quick),
        one_sided=["put", "get", "accumulate"] if one_sided else ["put", "get"] if quick else [],
        syncs=["lock", "flush", "fence"] if one_sided else ["flush"] if quick else [],
        repetitions=repetitions or usual,
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=False,
        seed=seed,
    )
    return ParsedOptions([MPI], options.model_dump(mode="json"))


def _operations(text: str | None) -> list[str]:
    """In the order of the list of all."""
    from ullage.errors import UserError
    from ullage.parameters import known_word

    if text is None:
        return []
    words = [word.strip() for word in text.split(",")]
    if not all(words) or len(set(words)) < len(words):
        raise UserError(
            "an empty or repeated word", f"--operations {text}", "write each name once, separated by commas"
        )
    found = {known_word(word, OPERATIONS, "--operations") for word in words}
    return [name for name in OPERATIONS if name in found]


def _overlap(chosen: list[str], *, nonblocking: bool, quick: bool) -> list[str]:
    """With ``quick`` and nothing said, of one operation."""
    if nonblocking:
        return chosen
    return ["allreduce"] if quick and "allreduce" in chosen else []


def _ranks(text: str | None) -> list[int]:
    from ullage.errors import UserError
    from ullage.suites.sweep.words import rising_axis
    from ullage.system.cpu import ranks_by_default
    from ullage.units import parse_axis

    if text is None:
        cores = max(_FEWEST_RANKS, ranks_by_default())
        return [1 << power for power in range(1, cores.bit_length())]
    counts = rising_axis("--ranks", text, parse_axis)
    if counts[0] < _FEWEST_RANKS:
        raise UserError("1 rank has nobody to talk to", "--ranks", "at least 2")
    return counts
