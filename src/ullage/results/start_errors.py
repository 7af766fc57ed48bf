# SPDX-License-Identifier: Apache-2.0
"""What launchers, batch systems and MPI libraries say when ranks do not start: the lines that tell why. Pure."""

import re
from typing import Final

ENGINE_MARK: Final = "ullage-engine:"
_MOST_LINES: Final = 2
_LONGEST: Final = 240

# Most telling first. A launch that ends early is followed by pages of consequences, which all name an error.
_TELLING: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{re.escape(ENGINE_MARK)}",
        r"Auto-detection of PMI version failed|unsupported PMI version",
        r"was not built with SLURM's PMI|not built with support for PMI|PMI2? ?support",
        r"No route to host|Network is unreachable|Connection refused|[Cc]onnection timed out",
        r"Host key verification failed|HOST IDENTIFICATION HAS CHANGED",
        r"Could not resolve host|Name or service not known",
        r"error while loading shared libraries|cannot open shared object|symbol lookup error",
        r"command not found|No such file or directory|Permission denied|execve\(\)",
        r"DUE TO TIME LIMIT|DUE TO NODE FAILURE|DUE TO PREEMPTION|[Oo]ut [Oo]f [Mm]emory|oom-kill",
        r"Invalid (?:account|partition|MPI plugin)|invalid (?:account|partition)|Unable to (?:allocate|create)",
        r"unrecognized option|invalid option",
        r"Fatal error in|MPI_Init|PMI[X2]?[_ ]|OPAL ERROR|ORTE_ERROR_LOG|PMIX ERROR",
        r"(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ff]ailed)\b",
    )
)
# Consequences of another rank's end, and what says no more than that it ended.
_CONSEQUENCE: Final = re.compile(
    r"Job step aborted|\*\*\* STEP .* CANCELLED AT [^ ]+ \*\*\*|tasks? [0-9,-]+: (?:Killed|Terminated|Exited)"
    r"|Terminating StepId|force-terminat|forcing job term"
    # Said by every launch of some sites.
    r"|configuration lacks support for cpu binding|Permanently added .* to the list of known hosts"
)
# Where the launcher's way to make ranks meet is not the MPI's.
_NO_MEETING: Final = re.compile(
    r"Auto-detection of PMI version failed|unsupported PMI version|not built with SLURM's PMI"
    r"|Invalid MPI plugin|PMI2?_Init failed|OPAL ERROR: Unreachable in file \w+_client\.c"
    r"|the plan needs \d+, but this launch has 1\b"
)


def telling_lines(stderr: str) -> list[str]:
    """Return the lines, 2 at most, that say why ranks did not start or ended; the last one where none does."""
    lines = list(dict.fromkeys(line.strip()[:_LONGEST] for line in stderr.splitlines() if line.strip(" -=*\t")))
    causes = [line for line in lines if not _CONSEQUENCE.search(line)]
    for pattern in _TELLING:
        if found := [line for line in causes if pattern.search(line)]:
            return found[:_MOST_LINES]
    return (causes or lines)[-1:]


def why_apart(stderr: str) -> str:
    """Return what to do where ranks did not find each other because launcher and MPI do not fit; empty elsewhere."""
    if not _NO_MEETING.search(stderr):
        return ""
    return "start ranks by the mpiexec of the engine's MPI, or by srun with the PMI of that MPI (pmix or pmi2)"
