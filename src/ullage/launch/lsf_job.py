# SPDX-License-Identifier: Apache-2.0
"""Jobs of IBM Spectrum LSF: bsub, bjobs, bkill.

Not run on a real cluster: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import re
from pathlib import Path
from typing import Any, Final, cast

from ullage.errors import UserError
from ullage.launch.batch import (
    GONE,
    STATE_TIMEOUT_S,
    UNKNOWN,
    JobRequest,
    JobState,
    JobText,
    Stage,
    Submitter,
    ask,
    job_body,
    plain_name,
    plain_path,
    seconds_of,
    template,
    whole_minutes,
)
from ullage.reading import parse_json

NAME: Final = "lsf"
TITLE: Final = "LSF"
SUFFIX: Final = "lsf"
TYPED: Final = "bsub <"
ASKED: Final = "bjobs"
LIST: Final = "bjobs -l "

# Only of what it reads from stdin does bsub take the #BSUB lines everywhere.
_SUBMITTER: Final = Submitter(
    NAME, TITLE, ("bsub",), re.compile(r"^Job <(?P<job>\d+)> is submitted", re.MULTILINE), "lsid", by_stdin=True
)
_STAGES: Final[dict[str, Stage]] = {
    **dict.fromkeys(("PEND", "PSUSP", "WAIT", "FWD_PEND"), "waits"),
    **dict.fromkeys(("RUN", "USUSP", "SSUSP", "PROV"), "runs"),
    **dict.fromkeys(("DONE", "EXIT"), "over"),
}
_FIELDS: Final = "jobid stat exit_code exit_reason pend_reason"
_WISHED: Final = re.compile(r"TERM_(?:FORCE_)?(?:OWNER|ADMIN)\b")
_KILLED: Final = re.compile(r"TERM_\w+")
_SIGNALLED: Final = 128


def job_script(wanted: JobRequest, text: JobText) -> str:
    """See ``BatchSystem``."""
    return template("lsf.job.in").substitute(
        verb=text.verb,
        launcher=text.launcher,
        name=plain_name(text.name),
        lines="\n".join(f"#BSUB {line}" for line in _asked(wanted)),
        output=plain_path(text.output, "\"'\\%"),
        body=job_body(wanted, text).rstrip("\n"),
    )


def _asked(wanted: JobRequest) -> list[str]:
    if not wanted.exclusive and not wanted.ppn:
        what = "LSF gives whole nodes to jobs that ask for no number of processors"
        raise UserError(what, "--no-exclusive", "give --ppn, or leave it out")
    nodes = [f"-nnodes {wanted.nodes}"]
    if wanted.ppn:
        slots = [f"-n {wanted.nodes * wanted.ppn}", f'-R "span[ptile={wanted.ppn}]"']
        nodes = [*slots, *(["-x"] if wanted.exclusive else [])]
    selected = [*([wanted.constraint] if wanted.constraint else []), *(f"hname!='{name}'" for name in wanted.exclude)]
    said = {
        "-P": wanted.account,
        "-q": wanted.queue,
        "-W": str(whole_minutes(wanted.walltime)) if wanted.walltime else "",
        "-U": wanted.reservation,
        "-R": f'"select[{" && ".join(selected)}]"' if selected else "",
    }
    return [*nodes, *(f"{name} {value}" for name, value in said.items() if value), *wanted.extra]


def submit(script: Path) -> str:
    """See ``BatchSystem``."""
    return _SUBMITTER.submit(script)


def limit_s(walltime: str) -> int:
    """See ``BatchSystem``."""
    return seconds_of(walltime)


def seconds_left(job: str) -> None:
    """See ``BatchSystem``: not asked. The script of a job passes its limit on."""
    del job


def state_of(job: str) -> JobState:
    """See ``BatchSystem``."""
    done = ask([ASKED, "-json", "-o", _FIELDS, job], TITLE, STATE_TIMEOUT_S)
    if done is None:
        return UNKNOWN
    if "is not found" in done.stdout + done.stderr:
        return GONE
    return parse_state(done.stdout)


def parse_state(text: str) -> JobState:
    """Read what ``bjobs -json`` says of one job, in the fields of ``state_of``."""
    try:
        said = cast("dict[str, list[dict[str, Any]]]", parse_json(text, strict=False))["RECORDS"][0]
        word = str(said["STAT"])
    except (ValueError, KeyError, TypeError, IndexError):
        return UNKNOWN
    stage = _STAGES.get(word, "unknown")
    if stage != "over":
        why = str(said.get("PEND_REASON") or "").strip()
        return JobState(word, stage, why if stage == "waits" else "")
    code = str(said.get("EXIT_CODE") or "0")
    return _ended(word, int(code) if code.isdecimal() else 0, str(said.get("EXIT_REASON") or "").strip())


def _ended(word: str, code: int, reason: str) -> JobState:
    number = max(code - _SIGNALLED, 0)
    if _WISHED.search(reason):
        return JobState(word, "over", reason, 0, number)
    if _KILLED.search(reason) or number:
        return JobState(word, "over", reason, 0, number, "killed")
    return JobState(word, "over", reason, code, 0, "itself")


def withdraw(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["bkill", job], TITLE)


def ask_to_end(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["bkill", "-s", "TERM", job], TITLE)
