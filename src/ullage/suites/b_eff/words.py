# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run b_eff`` as people write them. Imported for every command: nothing heavy up here."""

from typing import Annotated

import typer

from ullage.runs.suite import ParsedOptions


def b_eff_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    ranks: Annotated[
        int | None, typer.Option(min=2, help="Processes. Default: the usable cores, at least 2.", show_default=False)
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes they are on.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most of them on one.", show_default=False)] = None,
    lmax: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Largest message. Default: 1/128 of a process's memory.", show_default=False),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Of each process. Default: what is available now, shared by the processes of a node.",
            show_default=False,
        ),
    ] = None,
    lmax_cap: Annotated[str, typer.Option(metavar="SIZE", help="No message is larger.")] = "128M",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Of all patterns with one size and method, once. Default: 500ms.",
            show_default=False,
        ),
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="A budget of 50 ms, as SHORT of the original.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A budget of 30 ms, messages of up to 1 MiB: a first look in 8 s.")
    ] = False,
    random_rings: Annotated[int, typer.Option(min=1, max=1000, help="The definition asks for 30.")] = 30,
    repetitions: Annotated[int, typer.Option(min=1, help="The definition asks for 3.")] = 3,
    faithful: Annotated[
        bool,
        typer.Option(
            "--faithful", help="The original's random orders, which are not uniform, and its check in the timed loop."
        ),
    ] = False,
    no_additional: Annotated[
        bool, typer.Option("--no-additional", help="Without the 13 patterns that are no part of b_eff.")
    ] = False,
    no_short_last_two: Annotated[
        bool, typer.Option("--no-short-last-two", help="All methods also where the two largest sizes take long.")
    ] = False,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For all measurement. Default: as long as it takes.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random rings.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.kernels.cases import MPI
    from ullage.runs.kernels.words import typed
    from ullage.suites.b_eff.options import QUICK_BUDGET_S, QUICK_LMAX, SHORT_BUDGET_S, USUAL_BUDGET_S, BEffOptions
    from ullage.suites.sweep.words import duration, optional_size
    from ullage.system.cpu import ranks_by_default

    _check(lmax, memory, budget, short=short or quick)
    usual_s = QUICK_BUDGET_S if quick else SHORT_BUDGET_S if short else USUAL_BUDGET_S
    largest = optional_size("--lmax", lmax)
    options = typed(
        BEffOptions,
        ranks=ranks or max(2, ranks_by_default()),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        lmax=QUICK_LMAX if quick and largest is None and memory is None else largest,
        lmax_cap=optional_size("--lmax-cap", lmax_cap),
        memory=optional_size("--memory", memory),
        budget_s=usual_s if budget is None else duration("--budget", budget),
        random_rings=random_rings,
        repetitions=repetitions,
        faithful=faithful,
        additional=not no_additional,
        short_last_two=not no_short_last_two,
        time_s=None if time is None else duration("--time", time),
        quick=quick,
        peer=False,
        seed=seed,
    )
    return ParsedOptions([MPI], options.model_dump(mode="json"))


def quick_words() -> ParsedOptions:
    """What suite ``overview`` asks for."""
    from ullage.suites.b_eff.options import QUICK_RANKS, QUICK_S

    return b_eff_words(ranks=QUICK_RANKS, quick=True, time=QUICK_S)


def _check(lmax: str | None, memory: str | None, budget: str | None, *, short: bool) -> None:
    from ullage.errors import UserError

    if lmax is not None and memory is not None:
        raise UserError("both say how large the largest message is", "--lmax and --memory", "give one of them")
    if budget is not None and short:
        raise UserError("both say how long a loop takes", "--budget and --short or --quick", "give one of them")
