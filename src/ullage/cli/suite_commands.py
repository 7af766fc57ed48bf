# SPDX-License-Identifier: Apache-2.0
"""One command a suite below a verb: the suite's own options and those of the verb, in one signature."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.suite import ParsedOptions, Suite

Act = Callable[["Suite", "ParsedOptions", Mapping[str, Any]], None]
HostsOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="Nodes to use where no batch system has chosen them, this one first. What $ULLAGE_RSH_AGENT names starts "
        "commands there; default: ssh, or what the MPI prefers.",
        show_default=False,
    ),
]


def add_suites(app: typer.Typer, verb: str, doc: str, act: Act, options: Callable[..., None]) -> None:
    """Add ``verb`` with a command for each suite to ``app``.

    The parameters of ``options`` are those of the verb; ``act`` gets the suite, what was asked of it, and them.
    """
    from ullage.runs.suite import load_suites

    group = typer.Typer(help=doc, no_args_is_help=True, rich_markup_mode=None)
    # With a single suite typer would leave its name out of the command.
    group.callback()(_nothing)
    for suite in load_suites().values():
        group.command(name=suite.name, help=suite.doc)(_command(suite, act, options))
    app.add_typer(group, name=verb)


def _nothing() -> None:
    return


def _command(suite: "Suite", act: Act, options: Callable[..., None]) -> Callable[..., None]:
    own = inspect.signature(suite.options).parameters
    of_verb = inspect.signature(options).parameters

    def command(**values: object) -> None:
        asked = suite.options(**{name: values[name] for name in own})
        act(suite, asked, {name: values[name] for name in of_verb})

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in [*own.values(), *of_verb.values()]]
    # What typer reads: the signature, and the annotations by name.
    shown = cast("Any", command)
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def make_request(suite: "Suite", asked: "ParsedOptions", hosts: str | None = None) -> "Request":
    """A fresh request, as it will stand in request.json. ``hosts``: as the verb's option has them."""
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
