# SPDX-License-Identifier: Apache-2.0
"""``ullage peers``: well-known tools whose numbers stand beside ours."""

from typing import TYPE_CHECKING

import typer

from ullage.cli.options import JsonOption

if TYPE_CHECKING:
    from ullage.peers import Installed, PeerTool


def peers(*, as_json: JsonOption = False) -> None:
    """List the known tools that can run for comparison.

    The list says which of them are installed, and what they are compared on.
    """
    from ullage.peers import load_peers

    found = [(peer, peer.installed()) for peer in load_peers().values()]
    if as_json:
        import json

        typer.echo(json.dumps([_fields(peer, program) for peer, program in found], indent=1))
        return
    from ullage.terminal import print_table

    rows = [
        (f"{peer.name}: {peer.doc}", "not installed" if program is None else program.version, peer.compared_on)
        for peer, program in found
    ]
    print_table(("tool", "installed", "compared on"), rows)


def _fields(peer: "PeerTool", program: "Installed | None") -> dict[str, object]:
    """Return the fields of a tool; ``installed`` is null where the tool is not."""
    installed = None if program is None else {"path": str(program.path), "version": program.version}
    return {"tool": peer.name, "doc": peer.doc, "installed": installed, "compared_on": peer.compared_on}
