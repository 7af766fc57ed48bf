# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run node`` as people write them. Imported for every command: nothing heavy up here."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption
from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from ullage.runs.composite.options import PartRequest

# Of the time that is measured in. A part that this version does not have leaves its share to the others.
SHARES: Final[Mapping[str, float]] = {"cpu": 0.36, "memory": 0.34, "disk": 0.22, "network": 0.2, "noise": 0.06}
_USUAL: Final = "2m40s"
_QUICK: Final = "1m10s"
_WITH_PLACE: Final = frozenset({"disk"})


def node_words(
    *,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="A folder on the disk to measure. Default: here=.", show_default=False),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="For our own measurement, shared out to the parts. Default: 2m40s.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The quick form of every part, in 1m10s.")] = False,
    no_peer: Annotated[bool, typer.Option("--no-peer", help="Do not run other tools beside.")] = False,
    machine: MachineOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.runs.composite.asking import whole
    from ullage.suites.sweep.words import duration
    from ullage.uri import parse_targets

    targets = parse_targets(target or ["here=."])
    seconds = duration("--time", time or (_QUICK if quick else _USUAL))
    shared = {"quick": quick, "no_peer": no_peer, "machine": machine, "seed": seed}
    return whole(targets, _parts([f"{one.name}={one.uri}" for one in targets], seconds, shared))


def _parts(places: list[str], seconds: float, shared: Mapping[str, bool | int | Path | None]) -> "list[PartRequest]":
    from ullage.runs.composite.asking import ask, asked_part
    from ullage.runs.suite import load_suites

    suites = load_suites()
    names = [name for name in SHARES if name in suites]
    total = sum(SHARES[name] for name in names)
    parts: list[PartRequest] = []
    for name in names:
        share = f"{seconds * SHARES[name] / total:.1f}s"
        words = {**shared, "time": share, **({"target": places} if name in _WITH_PLACE else {})}
        parts.append(asked_part(name, ask(suites[name], words)))
    return parts
