# SPDX-License-Identifier: Apache-2.0
"""A run that goes on in a batch job: the command line in the job, and what is seen of it from outside."""

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from ullage.launch.batch import GONE, BatchSystem, JobRequest, JobState, JobText
from ullage.launch.stopping import stop_signals
from ullage.model.record import CaseRecord
from ullage.reading import read_bytes
from ullage.results.folder import ResultFolder, is_result, write_atomically
from ullage.results.records import AnyRecord, RecordTail
from ullage.results.start_errors import telling_lines
from ullage.runs.lifecycle import Shown, show_result
from ullage.runs.progress import Progress, make_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLL_S: Final = 0.2
_ASK_S: Final = 2.0
_LONG_S: Final = 10.0
_AGAIN_S: Final = 300.0
# Longer than a controller takes to restart or to move to another machine.
_GIVE_UP_S: Final = 1800.0
_FRONT_MARK: Final = "ullage: "
# Inside the job ranks are started by the batch system where that fits, else by the mpiexec of the engine's MPI.
_IN_JOB: Final = ("--launcher", "here")
# Options of the submission, with a value each; the job's own command line is without them.
_OF_SUBMISSION: Final = (
    "--launcher",
    "--account",
    "--queue",
    "--walltime",
    "--reservation",
    "--constraint",
    "--ppn",
    "--chain",
    "--extra",
    "--result",
    "--engine",
)
# Options of a run that a job with its rest has as well: the others are in the result.
_OF_REST: Final = ("--campaign",)
_FLAGS_OF_SUBMISSION: Final = ("--exclusive", "--no-exclusive")


@dataclass(frozen=True)
class Submission:
    """What goes to the batch system. ``result``: absolute; ``arguments``: of Ullage in the job.

    ``rest``: those of a job that goes on where this one ended early. ``least``: what to ask for where no repetition
    fits into the time limit.
    """

    result: Path
    arguments: list[str]
    wanted: JobRequest
    verb: str
    rest: list[str]
    system: BatchSystem
    least: str = ""

    @property
    def script(self) -> Path:
        """The script, beside the result, whose folder the job makes itself."""
        return self.result.with_name(f"{self.result.name}.{self.system.suffix}")

    @property
    def output(self) -> Path:
        """What the job says."""
        return self.result.with_name(f"{self.result.name}.out")

    @property
    def ended(self) -> Path:
        """Where the script writes its exit code, on systems that forget jobs."""
        return self.result.with_name(f"{self.result.name}.exit")

    def text(self, launcher: str) -> str:
        """Return the script."""
        command = [sys.executable, "-m", "ullage", *self.arguments]
        name = f"ullage-{self.result.name}"
        said = JobText(name, self.output, self.ended, Path.cwd(), command, self.verb, launcher)
        return self.system.job_script(self.wanted, said)


def arguments_in_job(arguments: Sequence[str], result: Path, engine: Path, walltime_s: int | None = None) -> list[str]:
    """Return the words of a run inside its job: the same without those of its submission.

    ``walltime_s``: its time limit, by which the run divides its cases over jobs.
    """
    own = ["--engine", str(engine), "--result", str(result)]
    return [*_without(arguments, _OF_SUBMISSION), *_IN_JOB, *_limit(walltime_s), *own]


def arguments_of_rest(arguments: Sequence[str], result: Path, engine: Path, walltime_s: int | None = None) -> list[str]:
    """Return the words that resume a result inside a job. ``words``: those that were typed."""
    typed = list(_without(arguments, _OF_SUBMISSION))
    options = [word for word in typed[1:] if Path(word).absolute() != result]
    return ["resume", str(result), *options, *_IN_JOB, *_limit(walltime_s), "--engine", str(engine)]


def kept_words(arguments: Sequence[str]) -> list[str]:
    """Return the words of a run that hold for the rest of it, too."""
    return [word for word, is_of_rest in _told_apart(arguments, _OF_REST) if is_of_rest]


def _limit(walltime_s: int | None) -> list[str]:
    return [] if walltime_s is None else ["--walltime", f"{walltime_s}s"]


def _without(arguments: Sequence[str], options: Sequence[str]) -> "Iterator[str]":
    own = (word for word, is_option in _told_apart(arguments, options) if not is_option)
    return (word for word in own if word not in _FLAGS_OF_SUBMISSION)


def _told_apart(arguments: Sequence[str], options: Sequence[str]) -> "Iterator[tuple[str, bool]]":
    """Yield each word, and whether it is one of ``options``, which have a value each, or such a value."""
    rest = iter(arguments)
    for word in rest:
        name, equals, _ = word.partition("=")
        yield word, name in options
        if name in options and not equals and (value := next(rest, None)) is not None:
            yield value, True


def write_script(submission: Submission) -> Path:
    """Write the script of a job that people submit themselves."""
    write_atomically(submission.script, submission.text(f"script:{submission.system.name}"))
    return submission.script


def submit_and_watch(submission: Submission, shown: Shown, chain: int = 0) -> int:
    """Submit, follow the job to its end, show what came of it, and return the exit code.

    Ctrl-C withdraws a job that waits, and asks a running one to end. Raise ``UserError`` where it is not taken.
    ``chain``: so many jobs may follow, each with the rest of one that ended early and has measured something.
    """
    while True:
        followed = _submit_and_follow(submission, shown)
        if not followed.wants_another or chain == 0:
            return _conclude(followed, shown)
        if followed.cases == 0:
            longer = f"; give {submission.least}" if submission.least else ""
            say(f"job {followed.job} finished no repetition, so no further job is submitted{longer}")
            return _conclude(followed, shown)
        _gather(followed)
        chain -= 1
        say(f"job {followed.job} ended early ({_end_of(followed.state)}); its rest is submitted")
        submission = replace(submission, arguments=submission.rest, verb="resume")


def _submit_and_follow(submission: Submission, shown: Shown) -> "_Followed":
    tails: dict[Path, RecordTail] = {}
    _new_records(submission.result, tails)  # of an earlier job
    write_atomically(submission.script, submission.text(submission.system.name))
    submission.ended.unlink(missing_ok=True)
    job = submission.system.submit(submission.script)
    followed = _Followed(submission, job, make_progress(quiet=shown == "path"), tails)
    followed.progress.part(f"job {job}")
    caught: list[int] = []
    try:
        with stop_signals(caught.append):
            followed.to_end(caught)
    finally:
        followed.progress.close()
    # Of a job that its batch system has forgotten, its script has said itself how it ended; of one that left a rest as
    # planned, and is a success for its batch system, the run has said so.
    said = _read_text(submission.ended).strip()
    submission.ended.unlink(missing_ok=True)
    if said.isdecimal() and followed.state == GONE:
        followed.state = replace(GONE, code=int(said), end="itself")
    elif said == str(EXIT_ABORTED) and followed.state.end == "itself" and followed.state.code == 0:
        followed.state = replace(followed.state, state="its time was over", code=EXIT_ABORTED)
    return followed


def _new_records(result: Path, tails: dict[Path, RecordTail]) -> list[AnyRecord]:
    """Return the records of a result, and of its parts, that have come since the last call with the same ``tails``."""
    files = [*result.glob("records/*.ndjson"), *result.glob("parts/*/records/*.ndjson")]
    return [record for path in files for record in tails.setdefault(path, RecordTail(path)).poll()]


@dataclass
class _Followed:
    """A job that is followed from outside, to its end or until its batch system is lost.

    ``state``: as last seen. ``asked``: how often it was asked to end. ``cases``: the repetitions that it has finished.
    """

    submission: Submission
    job: str
    progress: Progress
    tails: dict[Path, RecordTail]
    state: JobState = field(default_factory=lambda: JobState("PENDING", "waits"))
    asked: int = 0
    was_withdrawn: bool = False
    cases: int = 0
    _said: tuple[str, float] = ("", 0.0)
    _answered: float = 0.0
    _is_silent: bool = False

    @property
    def system(self) -> BatchSystem:
        """The batch system that it was submitted to."""
        return self.submission.system

    @property
    def wants_another(self) -> bool:
        """Whether it ended before its run did, and nobody wanted that."""
        ended = self.state.is_over and self.state.end != "wished" and self.asked == 0
        return ended and _code(self.state) == EXIT_ABORTED and is_result(self.submission.result)

    def to_end(self, caught: list[int]) -> None:
        """Wait for the end of the job.

        Its state is unknown then where the batch system does not answer for long, or Ctrl-C comes while it does not.
        """
        began = self._answered = time.monotonic()
        asked_at = 0.0
        while True:
            now = time.monotonic()
            is_time = now - asked_at >= _ASK_S or len(caught) > self.asked
            if is_time:
                self.state, asked_at = self.system.state_of(self.job), now
                self._say_why(self.state, now - began)
                self._say_silence(self.state)
            is_lost = len(caught) > self.asked or time.monotonic() - self._answered >= _GIVE_UP_S
            is_last = self.state.is_over or (self.state.is_unknown and is_lost)
            if len(caught) > self.asked and not is_last:
                self._end(self.state)
            # The result may lie on the file system that is measured: it is looked at no more often than needed.
            for record in _new_records(self.submission.result, self.tails) if is_time or is_last else ():
                self.cases += isinstance(record, CaseRecord)
                self.progress.record(record)
            if is_last:
                return
            time.sleep(_POLL_S)

    def _end(self, state: JobState) -> None:
        self.asked += 1
        if state.stage == "waits" or self.asked > 1:
            self.was_withdrawn = state.stage == "waits"
            self.system.withdraw(self.job)
        else:
            self.system.ask_to_end(self.job)

    def _say_why(self, state: JobState, waited_s: float) -> None:
        """Say why a job waits: after some seconds, when the reason changes, and every five minutes."""
        if state.stage != "waits" or waited_s < _LONG_S:
            return
        reason, said_at = self._said
        if state.reason != reason or waited_s - said_at > _AGAIN_S:
            self._said = (state.reason, waited_s)
            why = f" ({state.reason})" if state.reason else ""
            say(f"job {self.job} waits since {waited_s:.0f} s{why}; Ctrl-C withdraws it")

    def _say_silence(self, state: JobState) -> None:
        """Say once that the batch system does not answer, and once that it does so again."""
        silent_s = time.monotonic() - self._answered
        if state.is_unknown and not self._is_silent and silent_s >= _LONG_S:
            self._is_silent = True
            what = f"{self.system.title} has not answered for {silent_s:.0f} s; job {self.job} goes on without it"
            say(f"{what}, and Ctrl-C only ends the watching")
        if not state.is_unknown:
            if self._is_silent:
                say(f"{self.system.title} answers again; job {self.job} is {state.state}")
            self._answered, self._is_silent = time.monotonic(), False


def _conclude(followed: _Followed, shown: Shown) -> int:
    job, state, result = followed.job, followed.state, followed.submission.result
    if followed.was_withdrawn:
        say(f"job {job} was withdrawn before it began")
        return EXIT_ABORTED
    if state.is_unknown:
        system = followed.submission.system
        what = f"{system.title} does not answer, so nobody knows whether job {job} still runs"
        right = f"when it answers: `{system.listed}{job}`, then `ullage report {result}`"
        raise UserError(what, system.asks[0], right, EXIT_ABORTED)
    _gather(followed)
    show_result(ResultFolder.open(result), shown)
    code = _code(state)
    if code == EXIT_ABORTED:
        rest = f"`ullage resume {result} --launcher {followed.submission.system.name}` submits the rest"
        say(f"job {job} ended early ({_end_of(state)}); {rest}")
    sys.stdout.write(f"{harmless(str(result))}\n")
    return code


def _gather(followed: _Followed) -> None:
    """Pass on what Ullage said in the job, and keep the job's script and output in the result.

    Raise ``UserError`` with the job's last words where it made no result.
    """
    submission, job, state = followed.submission, followed.job, followed.state
    said = _read_text(submission.output)
    own = [line for line in said.splitlines() if line.startswith(_FRONT_MARK)]
    if not is_result(submission.result):
        why = own[-1].removeprefix(_FRONT_MARK) if own else " / ".join(telling_lines(said))
        right = f"{submission.output} has all that the job said"
        code = _code(state)
        if code not in (EXIT_ABORTED, EXIT_ENVIRONMENT):
            folder = submission.result.parent
            why = f"no result appeared here. Is {folder} on a file system that all nodes share?"
            right, code = "give --result on one that they share", EXIT_ENVIRONMENT
        raise UserError(f"job {job} ended ({_end_of(state)}): {why or 'it said nothing'}", "", right, code)
    for line in own:
        say(line.removeprefix(_FRONT_MARK))
    for path, name in (
        (submission.script, f"job-{job}.{submission.system.suffix}"),
        (submission.output, f"job-{job}.out"),
    ):
        place = submission.result / "batch" / name
        try:
            place.parent.mkdir(exist_ok=True)
            shutil.move(path, place)
        except OSError as error:
            say(f"{path} stays there: {error.strerror}")


def _end_of(state: JobState) -> str:
    how = [f"exit code {state.code}"] * (state.code != 0) + [f"signal {state.signal}"] * (state.signal != 0)
    return ", ".join([state.state, *how])


def _code(state: JobState) -> int:
    """Return the exit code of Ullage in the job, where it had one; a job that was ended has none."""
    if state.end == "itself" and state.signal == 0:
        known = (EXIT_OK, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_ABORTED, EXIT_CANNOT_TELL, EXIT_SUSPECT)
        return state.code if state.code in known else EXIT_ENVIRONMENT
    return EXIT_ABORTED


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8", "replace")
    except OSError:
        return ""
