# SPDX-License-Identifier: Apache-2.0
"""What every run has around its measurement: facts of the machine before it, summary and report after it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ullage.cleaning import PREFIX
from ullage.errors import (
    EXIT_ABORTED,
    EXIT_CANNOT_TELL,
    EXIT_CASE_FAILED,
    EXIT_ENVIRONMENT,
    EXIT_OK,
    EXIT_SUSPECT,
    UserError,
    say,
)
from ullage.harmless import harmless
from ullage.launch import choose_launcher
from ullage.launch.base import Launcher
from ullage.launch.hosts import make_hosts
from ullage.launch.staging import staged
from ullage.launch.stopping import outlive_warnings
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.lock import measured_alone
from ullage.runs.composite.summarise import is_made_of_parts
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import JobTime
from ullage.runs.nodes import STRICT, code_of_floors, is_of_each_node, write_lists
from ullage.runs.progress import make_progress
from ullage.runs.remains import folders_of, name_remains, remove_earlier, was_begun
from ullage.runs.room import freeze_system
from ullage.runs.session import Session, terminable
from ullage.runs.suite import Prepared
from ullage.system.allocation import copies, is_first_copy
from ullage.uri import target_path

if TYPE_CHECKING:
    from ullage.report.data import ReportData

Shown: TypeAlias = Literal["screen", "all", "path"]
"""Says what a run prints at its end: one screen, everything, or where its result is."""


def launcher_for(engine_context: EngineContext, word: str, hosts: Sequence[str] = ()) -> Launcher:
    """Return the launcher that ``--launcher WORD`` names, or the one that fits the engine; ``hosts``: as named."""
    name = None if word in ("auto", "here", "mpiexec") else word
    return choose_launcher(engine_context.description, name, hosts=make_hosts(hosts))


def refuse_copies(verb: str) -> None:
    """Raise ``UserError`` where a launcher has started us several times: each would start a run of its own.

    One of them says so, and the others end without a word.
    """
    count, launcher = copies()
    if count > 1 and not is_first_copy():
        raise SystemExit(EXIT_ENVIRONMENT)
    if count > 1:
        what = f"{count} processes of `ullage {verb}` were started at once, and each would measure the others"
        right = f"start one in the job, without {launcher}: it starts the ranks itself"
        raise UserError(what, launcher, right, EXIT_ENVIRONMENT)


def measure(
    prepared: Prepared,
    folder: ResultFolder,
    engine_context: EngineContext,
    launcher: Launcher,
    seconds: float | None = None,
    shown: Shown = "screen",
    job_time: JobTime | None = None,
    stage: Path | None = None,
) -> int:
    """Run ``prepared`` into ``folder``, show what came of it, even when it was cut short, and return the exit code.

    ``job_time``: of the batch job that we are in. ``stage``: folder of each node for a copy of the engine. Raise
    ``UserError`` where another process measures into it.
    """
    with measured_alone(folder):
        freeze_system(folder, prepared.request, engine_context)
        progress = make_progress(quiet=shown == "path")
        if not is_made_of_parts(prepared.request) and not is_of_each_node(prepared.request):
            progress.part(prepared.request.suite)
        session = Session(folder, engine_context, launcher, progress, seconds)
        session.job_time = job_time
        with outlive_warnings():
            code = run_to_end(prepared, session, stage)
            return _conclude(folder, session, code, shown)


def run_to_end(prepared: Prepared, session: Session, stage: Path | None = None) -> int:
    """Run ``prepared`` and return its exit code; why it ended early is in the session's messages.

    ``stage``: folder of each node for a copy of the engine.
    """
    context = session.engine_context
    with terminable():
        try:
            with staged(context.engine, session.launcher, stage, session.lost) as program:
                session.engine_context = EngineContext(program, context.description)
                return _run(prepared, session)
        except KeyboardInterrupt:
            session.messages.append("interrupted")
            return EXIT_ABORTED
        except (UserError, OSError) as error:
            # After an error such as a result folder without room, what was measured is there, and is shown.
            session.messages.append(str(error))
            return error.code if isinstance(error, UserError) else EXIT_ENVIRONMENT
        finally:
            session.progress.close()


def _run(prepared: Prepared, session: Session) -> int:
    """Run ``prepared``; before and after, remove what launches of an earlier process have left, should there be any."""
    goes_on = was_begun(session.result)
    if goes_on:
        remove_earlier(session)
    code = prepared.run(session)
    if goes_on and code == EXIT_OK:
        remove_earlier(session, is_over=True)
    return code


def _conclude(folder: ResultFolder, session: Session, code: int, shown: Shown) -> int:
    folder.check_there()
    if code == EXIT_ABORTED:
        name_remains(session)
    for message in session.messages:
        say(message)
    for text in dict.fromkeys(session.left):
        say(f"what was left at a target could not be removed: {text}; `ullage clean` removes what a manifest lists")
    if session.left and code == EXIT_OK:
        code = EXIT_ENVIRONMENT
    if code == EXIT_CASE_FAILED:
        _say_failure(folder)
    unwritten = show_result(folder, shown)
    if unwritten is not None and code in (EXIT_OK, EXIT_CASE_FAILED):
        say(f"no report: {unwritten}")
        code = EXIT_ENVIRONMENT
    if code == EXIT_OK:
        code = code_of_verdicts(folder)
    if code == EXIT_ABORTED:
        say(f"`ullage resume {folder.path}` finishes the rest")
        for result in (folder, *folder.parts()):
            _hint_at_remains(result.read_request())
    sys.stdout.write(f"{harmless(str(folder.path))}\n")
    return code


def _say_failure(folder: ResultFolder) -> None:
    """Say in a line what the records have of the first failure: with ``--quiet`` nothing else does."""
    from ullage.results.events import failures_of
    from ullage.runs.summary import LEVEL

    found = failures_of((file.records for file in folder.read_records()), LEVEL)
    more = f" {plural(len(found) - 1, 'more kind')} of failure in the report." if len(found) > 1 else ""
    if found:
        say(found[0].text + more)


def code_of_verdicts(folder: ResultFolder) -> int:
    """Return the exit code by the floors that were declared, and by suspect nodes where that was asked for."""
    request = folder.read_request()
    if not folder.summary_path.is_file():
        return EXIT_CANNOT_TELL if request.options.get("require") else EXIT_OK
    summary = folder.read_summary()
    if (code := code_of_floors(summary)) == EXIT_OK and request.options.get(STRICT) and summary.nodes is not None:
        return EXIT_SUSPECT if summary.nodes.named("suspect") else EXIT_OK
    return code


def show_result(folder: ResultFolder, shown: Shown = "screen") -> UserError | None:
    """Write and show summary and report of whatever was measured; return why they cannot be written, if so."""
    from ullage.report.data import uncollected

    with uncollected():
        return _show_result(folder.path, shown)


def _show_result(path: Path, shown: Shown) -> UserError | None:
    """Do so; when this returns nothing refers to the records any more."""
    from ullage.report.data import FinishedResult, load
    from ullage.report.html import write_report
    from ullage.runs.summary import build_summary

    finished = FinishedResult(path)
    try:
        summary = build_summary(finished)
    except UserError as error:
        say(f"no summary: {error}")
        return None
    data, refused = load(finished, summary), None
    try:
        finished.write_summary(summary)
        if summary.nodes is not None:
            write_lists(finished, summary.nodes)
        if summary.rows:
            write_report(finished, finished.report_path, data)
    except UserError as error:
        refused = error
    if shown != "path":
        print_result(data, shown)
    if refused is None and summary.rows and shown != "path":
        sys.stdout.write(f"\nReport: {harmless(str(finished.report_path))}\n")
    return refused


def print_result(data: "ReportData", shown: Shown) -> None:
    """Print one screen of the result, or everything through a pager."""
    from ullage.report.screen import print_screen
    from ullage.report.terminal import print_everything
    from ullage.terminal import make_console, paged

    if shown == "screen":
        print_screen(data, make_console())
        return
    with paged() as console:
        print_everything(data, console)


def _hint_at_remains(request: Request) -> None:
    """Say how to remove the folders that a run leaves at its targets when it is killed."""
    for target in request.targets:
        path = target_path(target)
        if path is not None and any(_exists(path / f"{PREFIX}{name}") for name in folders_of(request.run_id)):
            say(f"the run left data there: `ullage clean {path}` removes it")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
