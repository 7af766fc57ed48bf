# SPDX-License-Identifier: Apache-2.0
"""One command a suite below a verb: the suite's own options and those of the verb, in one signature.

Only the suite that is asked for is looked at: the list of suites needs their names and first lines alone.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup

from ullage.cli.command_tree import ListedCommand
from ullage.cli.options import shown_at_end, signed

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.inputs import EngineContext, ParsedOptions
    from ullage.runs.suite import Prepared, Suite

_SITE: Final = "site"
_TARGET: Final = "target"
_MACHINE: Final = "machine"
Act: TypeAlias = Callable[["Suite", "ParsedOptions", Mapping[str, Any]], None]


def add_suites(
    app: typer.Typer,
    verb: str,
    doc: str,
    act: Act,
    options: Mapping[str, inspect.Parameter],
    of_verb: "Mapping[str, Suite] | None" = None,
    of_files: Mapping[str, Callable[..., None]] | None = None,
) -> None:
    """Add ``verb`` with a command for each suite to ``app``.

    ``options``: those of the verb; ``act`` gets the suite, what was asked of it, and them.
    ``of_verb``: the suites by their commands, where it has its own. ``of_files``: one command, by its name, that the
    name of a file in the place of a command stands for.
    """
    from ullage.runs.suite import load_suites

    suites = load_suites() if of_verb is None else of_verb
    others = of_files or {}

    @cache
    def make(name: str) -> object:
        if name in others:
            return made_command(others[name], name, others[name].__doc__)
        return made_command(_function(suites[name], act, options), name, suites[name].doc)

    class Suites(TyperGroup):
        """Lists commands without options and makes the one asked for: making all takes a fifth of each start."""

        def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - typer's own are not exported
            docs = {name: suite.doc for name, suite in suites.items()} | {
                name: one.__doc__ for name, one in others.items()
            }
            attributes["commands"] = {
                name: TyperCommand(name, help=doc, rich_markup_mode=None) for name, doc in docs.items()
            }
            super().__init__(**attributes)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own are not exported
            if args[0] not in self.commands and Path(args[0]).is_file():
                args = [*others, *args]
            name, command, rest = super().resolve_command(ctx, args)
            return name, command if name is None else make(name), rest

    group = typer.Typer(cls=Suites, help=doc, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=verb)


def made_command(function: Callable[..., None], name: str, doc: str | None) -> object:
    """Make a command as typer does from a function with all options as parameters."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name=name, help=doc, cls=ListedCommand)(function)
    return typer.main.get_command(alone)


def _function(suite: "Suite", act: Act, of_verb: Mapping[str, inspect.Parameter]) -> Callable[..., None]:
    from ullage.cli.options import parameters
    from ullage.cli.submitting import nodes_to_use
    from ullage.errors import UserError
    from ullage.launch.hosts import parse_hosts
    from ullage.runs.options.declared import declared
    from ullage.runs.options.reading import parse_options

    targets = declared(suite.options).get("targets")
    needs_target = targets is not None and targets.option.required
    own = {parameter.name: parameter for parameter in parameters(suite.options, site_gives_targets=_SITE in of_verb)}

    def command(**values: object) -> None:
        hosts = parse_hosts(cast("str | None", values["hosts"]))
        each = bool(values.get("each_node"))
        if hosts and not each and not suite.options.uses_hosts:
            what = f"suite {suite.name} measures the node that it is started on"
            right = "add --each-node to run it" if "each_node" in own else "leave --hosts out, and run it"
            raise UserError(what, f"--hosts {values['hosts']}", f"{right} on each node")
        if _SITE in of_verb:
            values |= _of_site(cast("Path | None", values[_SITE]), values, needs_target=needs_target)
        nodes = 1 if each else nodes_to_use(hosts, values)
        asked = parse_options(suite.options, nodes, **{name: values[name] for name in own})
        act(suite, asked, {name: values[name] for name in of_verb})

    return signed(command, [*own.values(), *of_verb.values()])


def _of_site(path: "Path | None", said: Mapping[str, object], *, needs_target: bool) -> dict[str, object]:
    """Return targets and machine file of the site where none are said; raise ``UserError`` without any target."""
    from ullage.errors import UserError
    from ullage.launch.site import read_site

    site, found = read_site(path), dict[str, object]()
    if needs_target and not said.get(_TARGET, True):
        if not site.targets:
            right = "give --target NAME=PLACE, or targets in the site file"
            raise UserError("is missing: nothing says what to measure", f"--{_TARGET}", right)
        found[_TARGET] = list(site.targets)
    if site.machine and _MACHINE in said and said[_MACHINE] is None:
        found[_MACHINE] = Path(site.machine).expanduser()
    return found


def make_request(suite: "Suite", asked: "ParsedOptions", hosts: str | None = None) -> "Request":
    """Make a fresh request, as it will stand in request.json. ``hosts``: as the verb's option has them."""
    import sys
    from datetime import UTC, datetime

    import ullage
    from ullage.identity import new_run_id
    from ullage.launch.hosts import parse_hosts
    from ullage.model.request import Request

    return Request(
        run_id=new_run_id(),
        suite=suite.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=["ullage", *sys.argv[1:]],
        targets=asked.targets,
        hosts=parse_hosts(hosts),
        options=asked.options,
        versions={"ullage": ullage.__version__},
    )


def measure_prepared(prepared: "Prepared", engine_context: "EngineContext", own: Mapping[str, Any]) -> None:
    """Measure into a fresh result, and exit with the code of that. ``own``: the options of the verb."""
    from ullage.results.folder import ResultFolder
    from ullage.runs.lifecycle import launcher_for, measure

    shown = shown_at_end(everything=own["everything"], quiet=own["quiet"])
    launcher = launcher_for(engine_context, own["launcher"], prepared.request.hosts)
    folder = ResultFolder.create(own["result"], prepared.request)
    raise typer.Exit(measure(prepared, folder, engine_context, launcher, shown=shown))
