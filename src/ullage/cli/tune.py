# SPDX-License-Identifier: Apache-2.0
"""``ullage tune SUITE``: search for the best setting of a suite within a budget, and confirm it."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ullage.cli.command_tree import ListedCommand
from ullage.cli.options import AllOption, EngineOption, LauncherOption, QuietOption, options_of_runs, signed
from ullage.cli.suite_commands import made_command, make_request, measure_prepared

if TYPE_CHECKING:
    from ullage.runs.suite import Suite

_DOC: Final = (
    "Search for the best setting of a suite.\n\nEach trial is a run of the suite. The best setting is then compared "
    "with the default in alternating pairs. `ullage tune RESULT --more 30m` continues a search. `ullage tune TABLE` "
    "says what the settings of a published table trade for what."
)
_RESULT, _TABLE = "RESULT", "TABLE"


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    from ullage.runs.suite import load_suites

    suites = load_suites()

    class Suites(TyperGroup):
        """Makes the command of the suite that is asked for; a folder is a result to go on with, a file a table."""

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own are not exported
            if args and args[0] not in suites and (Path(args[0]) / "request.json").is_file():
                return _RESULT, made_command(_more, "more", _more.__doc__), args
            if args and args[0] not in suites and Path(args[0]).is_file():
                return _TABLE, made_command(_study, "study", _study.__doc__), args
            name, command, rest = super().resolve_command(ctx, args)
            suite = None if name is None else suites.get(name)
            return name, command if suite is None else made_command(_function(suite), suite.name, suite.doc), rest

    group = typer.Typer(cls=Suites, help=_DOC, no_args_is_help=True, rich_markup_mode=None)
    group.callback()(_nothing)
    for suite in suites.values():
        group.command(name=suite.name, help=suite.doc)(_nothing)
    group.command(name=_RESULT, help=_more.__doc__, cls=ListedCommand)(_more)
    group.command(name=_TABLE, help=_study.__doc__, cls=ListedCommand)(_study)
    app.add_typer(group, name="tune")


def _nothing() -> None:
    return


def _function(suite: "Suite") -> Callable[..., None]:
    """Make the command of a suite, with the options of the search, then others of the suite, then of the verb."""
    from ullage.cli.options import parameters
    from ullage.runs.tuning.options import TuneOptions

    of_search = {one.name: one for one in parameters(TuneOptions)}
    plan = Annotated[bool, typer.Option("--plan", help="Show what the search would do, without measuring.")]
    of_plan = inspect.Parameter("plan", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=plan)
    of_verb = {"plan": of_plan, **options_of_runs("result", "launcher", "engine", "hosts", "everything", "quiet")}
    of_suite = {one.name: one for one in parameters(suite.options) if one.name not in (*of_search, *of_verb)}

    def command(**values: object) -> None:
        _tune(
            suite,
            {name: values[name] for name in of_search},
            {name: values[name] for name, one in of_suite.items() if values[name] != one.default},
            {name: values[name] for name in of_verb},
        )

    return signed(command, (*of_search.values(), *of_suite.values(), *of_verb.values()))


def _tune(suite: "Suite", search: dict[str, Any], words: dict[str, Any], own: dict[str, Any]) -> None:
    from ullage.runs.inputs import EngineContext, ParsedOptions
    from ullage.runs.options.reading import parse_options
    from ullage.runs.suite import find_suite
    from ullage.runs.tuning.options import TuneOptions

    asked = parse_options(TuneOptions, **search)
    typed = {
        # A path becomes its absolute text, as JSON can hold it.
        name: str(word.absolute()) if isinstance(word, Path) else word
        for name, word in words.items()
        if word is not None and word is not False and word != []
    }
    options = {**asked.options, "suite": suite.name, "words": typed}
    engine_context = EngineContext.of(own["engine"])
    tune = find_suite("tune")
    prepared = tune.prepare(make_request(tune, ParsedOptions([], options), own["hosts"]), engine_context)
    if own["plan"]:
        from ullage.cli.plan import print_explanation

        print_explanation(prepared.explain())
        return
    measure_prepared(prepared, engine_context, own)


def _more(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Continue the search in this result folder.")],
    more: Annotated[str, typer.Option("--more", metavar="DURATION", help="Use this much more time.")],
    launcher: LauncherOption = "auto",
    engine: EngineOption = None,
    everything: AllOption = False,
    quiet: QuietOption = False,
) -> None:
    "Continue a search from the trials that it has."
    from ullage.cli.resume import resume
    from ullage.errors import UserError
    from ullage.results.folder import ResultFolder

    suite = ResultFolder.open(result).read_request().suite
    if suite != "tune":
        raise UserError(f"is a result of suite {suite}", str(result), "name a result of `ullage tune`")
    resume(result, more, launcher=launcher, engine=engine, everything=everything, quiet=quiet)


def _study(
    table: Annotated[
        list[Path], typer.Argument(metavar="TABLE", help="Read this table of two settings or more, as `import` does.")
    ],
) -> None:
    """Say what published settings trade for what.

    The table has two settings or more; its numbers alone are read.
    """
    from ullage.importers import read
    from ullage.runs.tuning.study import study
    from ullage.terminal import print_line

    for line in study(read(table)):
        print_line(line)
