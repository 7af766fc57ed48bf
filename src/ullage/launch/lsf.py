# SPDX-License-Identifier: Apache-2.0
"""IBM Spectrum LSF: jobs by bsub, and ranks by jsrun, as steps of the job that we are in.

Not run on a real cluster: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self, cast

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Family, JobLauncher, bound_cores, by_own_mpiexec, wrapper
from ullage.launch.batch import UNKNOWN, BatchSystem, JobRequest, JobState, Stage, plain_path, whole_minutes
from ullage.model.plan import Layout
from ullage.reading import parse_json
from ullage.system.allocation import Scheduler

_STAGES: Final[dict[str, Stage]] = {
    **dict.fromkeys(("PEND", "PSUSP", "WAIT", "FWD_PEND"), "waits"),
    **dict.fromkeys(("RUN", "USUSP", "SSUSP", "PROV"), "runs"),
    **dict.fromkeys(("DONE", "EXIT"), "over"),
}
_WISHED: Final = re.compile(r"TERM_(?:FORCE_)?(?:OWNER|ADMIN)\b")
_KILLED: Final = re.compile(r"TERM_\w+")
_SIGNALLED: Final = 128


def _directives(wanted: JobRequest, name: str) -> Iterator[str]:
    if not wanted.exclusive and not wanted.ppn:
        what = "LSF gives whole nodes to jobs that ask for no number of processors"
        raise UserError(what, "--no-exclusive", "give --ppn, or leave it out")
    nodes = [f"-nnodes {wanted.nodes}"]
    if wanted.ppn:
        slots = [f"-n {wanted.nodes * wanted.ppn}", f'-R "span[ptile={wanted.ppn}]"']
        nodes = [*slots, *(["-x"] if wanted.exclusive else [])]
    selected = [*([wanted.constraint] if wanted.constraint else []), *(f"hname!='{one}'" for one in wanted.exclude)]
    said = {
        "-P": wanted.account,
        "-q": wanted.queue,
        "-W": str(whole_minutes(wanted.walltime)) if wanted.walltime else "",
        "-U": wanted.reservation,
        "-R": f'"select[{" && ".join(selected)}]"' if selected else "",
    }
    words = (f"{option} {value}" for option, value in said.items() if value)
    for word in (f"-J {name}", *nodes, *words, *wanted.extra):
        yield f"#BSUB {word}"


def parse_state(text: str) -> JobState:
    """Read what ``bjobs -json`` says of one job, in the fields that ``SYSTEM`` asks for."""
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


SYSTEM: Final = BatchSystem(
    name="lsf",
    title="LSF",
    suffix="lsf",
    typed="bsub <",
    listed="bjobs -l ",
    is_up="lsid",
    submit_words=("bsub",),
    job_pattern=re.compile(r"^Job <(?P<job>\d+)> is submitted", re.MULTILINE),
    by_stdin=True,  # only of what it reads from stdin does bsub take the #BSUB lines everywhere
    asks=("bjobs", "-json", "-o", "jobid stat exit_code exit_reason pend_reason", "{job}"),
    read_state=parse_state,
    forgotten=re.compile("is not found"),
    withdraws=("bkill", "{job}"),
    drains=("badmin", "hclose", "-C", "{reason}", "{node}"),
    tells_to_end=("bkill", "-s", "TERM", "{job}"),
    directives=_directives,
    path_word=lambda path: plain_path(path, "\"'\\%"),
)


@dataclass(frozen=True, slots=True)
class Jsrun(JobLauncher):
    """Launches steps. A resource set is a part of a node that ranks are started in."""

    NAME: ClassVar[str] = "jsrun"
    SCHEDULER: ClassVar[Scheduler] = "lsf"
    PROGRAM: ClassVar[str] = "jsrun"
    INSIDE: ClassVar[str] = "bsub -Is or a script of bsub"

    family: Family = "openmpi"

    @classmethod
    def in_job(cls, program: Path, family: Family, cores: int | None, own: str) -> Self:
        if family != "openmpi":
            what = "jsrun starts ranks of Spectrum MPI and Open MPI, and the engine was built with another"
            raise UserError(what, f"--launcher {cls.NAME}", by_own_mpiexec(own), EXIT_ENVIRONMENT)
        return cls(program, cores, own=own)

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``. A rank that dies ends the step, as the others may wait for ever."""
        words = [str(self.program), "--exit_on_error", "1", *self._sets(layout)]
        return [*words, *wrapper("$JSM_NAMESPACE_RANK"), str(engine), "run", str(plan)]

    def _sets(self, layout: Layout) -> list[str]:
        """Return the words for the resource sets.

        Bound ranks have a set each. Those that are not bound share one that is a whole node: the cores of a set are its
        own, so ranks that outnumber them would find none.
        """
        width = bound_cores(layout, self.cores)
        if width is None:
            nodes, on_each = self.check_even(layout)
            each = [f"--nrs={nodes}", f"--tasks_per_rs={on_each}", "--cpu_per_rs=ALL_CPUS", "--rs_per_host=1"]
            return [*each, "--launch_distribution=packed", "--bind=none"]
        each = [f"--nrs={layout.ranks}", "--tasks_per_rs=1", f"--cpu_per_rs={width}"]
        if layout.nodes is not None or layout.ranks_per_node is not None:
            each.append(f"--rs_per_host={layout.ranks_per_node or -(-layout.ranks // (layout.nodes or 1))}")
        return [*each, "--launch_distribution=packed", f"--bind=packed:{width}"]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``. Raise ``UserError``: jsrun counts hosts, and takes no names."""
        what = f"jsrun cannot start {command[0]} on a host by its name ({host})"
        raise UserError(what, f"--launcher {self.NAME}", by_own_mpiexec(self.own))


LAUNCHER: Final = Jsrun
