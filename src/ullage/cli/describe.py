# SPDX-License-Identifier: Apache-2.0
"""``ullage describe``, ``peers`` and ``suites``: what engine, other tools and suites there are."""

from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.options import EngineOption, JsonOption

if TYPE_CHECKING:
    from ullage.engine import Kind
    from ullage.model.describe import Describe, Registered


def describe(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Describe this backend, workload, probe or stop rule. Default: list all of them."
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
    engine: EngineOption = None,
) -> None:
    """Describe the engine: backends, workloads, probes, stop rules.

    Each of them is listed with its parameters, and with the reason if this build does not offer it.
    """
    from ullage.engine import describe as ask
    from ullage.engine import find_engine

    description = ask(find_engine(engine))
    if name is None:
        _print_all(description, as_json=as_json)
    else:
        from ullage.errors import UserError
        from ullage.parameters import suggest

        things = _things(description)
        found = [(kind, thing) for kind, thing in things if thing.name == name]
        if not found:
            raise UserError(f"the engine has no '{name}'", "", suggest(name, [thing.name for _, thing in things]))
        for kind, thing in found:
            if as_json:
                typer.echo(thing.model_dump_json(indent=1))
            else:
                _print_one(kind, thing)


def _things(description: "Describe") -> "list[tuple[Kind, Registered]]":
    from ullage.engine import KINDS, registered

    return [(kind, thing) for kind in KINDS for thing in registered(description, kind)]


def _print_all(description: "Describe", *, as_json: bool) -> None:
    from ullage.terminal import print_line, print_table

    if as_json:
        typer.echo(description.model_dump_json(indent=1))
        return
    build = description.engine
    rows = [
        (str(kind), thing.name, "yes" if thing.available else f"no: {thing.reason or 'not built'}", thing.doc)
        for kind, thing in _things(description)
    ]
    rows += [
        ("MPI", abi.name, "yes" if abi.reason is None else f"no: {abi.reason}", abi.library)
        for abi in description.mpi.abis
    ]
    print_line(f"engine {build.version} ({build.git}), {build.mpi.library}, {build.compiler}")
    print_table(("kind", "name", "available", "what it is"), rows)
    print_line("`ullage describe NAME` shows the parameters of one of them.")


def _print_one(kind: str, thing: "Registered") -> None:
    from ullage.parameters import format_range, format_value
    from ullage.terminal import print_line, print_table

    print_line(f"{thing.name} ({kind}): {thing.doc}")
    if not thing.available:
        print_line(f"not available: {thing.reason or 'not built'}")
    if thing.capabilities:
        print_line(f"capabilities: {', '.join(thing.capabilities)}")
    rows = [
        (
            parameter.name,
            parameter.type + (f" ({parameter.unit})" if parameter.unit else ""),
            format_value(parameter, parameter.default),
            ", ".join(parameter.choices) or format_range(parameter).strip(),
            parameter.doc,
        )
        for parameter in thing.parameters
    ]
    if rows:
        print_table(("parameter", "type", "default", "values", "what it does"), rows)
    else:
        print_line("takes no parameters")


def peers(*, as_json: JsonOption = False) -> None:
    """List the known tools that can run for comparison.

    The list says which of them are installed, and what they are compared on.
    """
    from ullage.peers import load_peers

    found = [(peer, peer.installed()) for peer in load_peers().values()]
    if as_json:
        import json

        shown = [
            {
                "tool": peer.name,
                "doc": peer.doc,
                "installed": None if program is None else {"path": str(program.path), "version": program.version},
                "compared_on": peer.compared_on,
            }
            for peer, program in found
        ]
        typer.echo(json.dumps(shown, indent=1))
        return
    from ullage.terminal import print_table

    rows = [
        (f"{peer.name}: {peer.doc}", "not installed" if program is None else program.version, peer.compared_on)
        for peer, program in found
    ]
    print_table(("tool", "installed", "compared on"), rows)


def suites() -> None:
    """List the suites and the question that each one answers."""
    from ullage.runs.suite import load_suites
    from ullage.terminal import print_table

    rows = [(name, suite.doc.strip().partition("\n")[0]) for name, suite in load_suites().items()]
    print_table(("suite", "what it answers"), rows)


VERBS = (describe, peers, suites)
