# SPDX-License-Identifier: Apache-2.0
"""``ullage drain``: what keeps new jobs off nodes that are worse, in the words of the batch system."""

import shlex
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ullage.cli.campaign import DEFAULT, CampaignOption
from ullage.cli.options import ResultArgument
from ullage.errors import EXIT_ENVIRONMENT, UserError, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ullage.campaign.check import Checked
    from ullage.launch.batch import BatchSystem

_FOUND: Final = "auto"
ApplyOption: TypeAlias = Annotated[bool, typer.Option("--apply", help="Also run the commands that drain nodes.")]


def drain(
    result: ResultArgument,
    *,
    system: Annotated[
        str, typer.Option(metavar="NAME", help="Write for this batch system: auto (that of this node) or <systems>.")
    ] = _FOUND,
    apply: ApplyOption = False,
    campaign: CampaignOption = DEFAULT,
) -> None:
    """Print the commands that drain nodes proved to be worse.

    Of a run with --each-node these are the suspect nodes. Of any other result they are the nodes that `ullage check`
    finds worse. Where nothing can be told no node is drained. Without --apply nothing is run.
    """
    from ullage.results.folder import ResultFolder
    from ullage.runs.nodes import is_of_each_node

    found = ResultFolder.open(result)
    if is_of_each_node(found.read_request()):
        nodes = found.read_summary().nodes
        reasons = {node.name: node.reason for node in nodes.nodes if node.state == "suspect"} if nodes else {}
    else:
        from ullage.campaign.check import MARGIN, check, rows_of

        reasons = reasons_of(check(rows_of([found]), campaign, "campaign", MARGIN))
    if not reasons:
        say("no node is proved to be worse")
    drain_nodes(reasons, system, apply=apply)


def reasons_of(found: "Iterable[Checked]") -> dict[str, str]:
    """Return why each node is worse; nothing of other nodes."""
    from ullage.grouping import grouped
    from ullage.quantity import change_within, format_quantity

    worse = grouped((one.row["node"], one) for one in found if one.word == "worse")
    return {
        node: "; ".join(
            f"{one.row['part'] or one.row['metric']} {format_quantity(one.row['median'], one.row['unit'])} is "
            f"{change_within(one.ratio, one.low, one.high)}"
            for one in own
            if one.ratio is not None
        )
        for node, own in worse.items()
    }


def drain_nodes(reasons: Mapping[str, str], system: str = _FOUND, *, apply: bool) -> None:
    """Print the command that drains each node, and run it where that is asked for; raise ``UserError`` if one fails."""
    from ullage.terminal import print_line

    batch = _system(system) if reasons else None
    failed: list[str] = []
    for words in [batch.drain_words(*one) for one in reasons.items()] if batch else ():
        print_line(shlex.join(words))
        failed += filter(None, [batch.drain(words)] if apply and batch else [])
    if failed:
        raise UserError("; ".join(failed), "--apply", "run the commands that are printed", EXIT_ENVIRONMENT)


def _system(name: str) -> "BatchSystem":
    """Return the batch system of that name, or the one of our job, or the one whose command is here."""
    from ullage.launch import batch_systems
    from ullage.parameters import suggest
    from ullage.system.allocation import allocation

    systems = batch_systems()
    if name in systems:
        return systems[name]
    if name != _FOUND:
        raise UserError(f"unknown batch system '{name}'", "", suggest(name, systems))
    if job := allocation():
        return systems[job.scheduler]
    if here := [one for one in systems.values() if shutil.which(one.drains[0])]:
        return here[0]
    right = f"name one of {', '.join(systems)}"
    raise UserError("no batch system is known here", "", right, EXIT_ENVIRONMENT)


VERBS = (drain,)
