# SPDX-License-Identifier: Apache-2.0
"""Options of batch jobs, and what of them is submitted."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.launch.site import Site
    from ullage.launch.slurm_job import Wanted
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.runs.lifecycle import Shown
    from ullage.runs.submitted import Submission
    from ullage.runs.suite import Suite

SLURM: Final = "slurm"
SCRIPT: Final = "script"
OF_JOBS: Final = (SLURM, SCRIPT)
_WORDS: Final = ("account", "queue", "walltime", "extra")
_CHAIN: Final = "chain"
AUTO: Final = "auto"


def asked_of_site(own: Mapping[str, Any]) -> "Site":
    """Return the site's defaults with what the command line says; raise ``UserError`` for options of no job.

    Inside a job nothing is submitted: what the site file says of launchers does not hold there.
    """
    from ullage.launch.site import read_site
    from ullage.system.allocation import allocation

    site = read_site(own["site"])
    said = {name: own[name] for name in (*_WORDS, _CHAIN) if own[name]}
    launcher = str(own["launcher"])
    if launcher == AUTO and site.launcher and allocation() is None:
        launcher = site.launcher
    if launcher == SLURM and allocation() is not None:
        launcher = AUTO
    elif launcher not in OF_JOBS and said:
        name = next(iter(said))
        what = f"is of batch jobs, and launcher {launcher} makes none"
        raise UserError(what, f"--{name}", "give --launcher slurm or script")
    if said.pop(_CHAIN, 0) and launcher == SCRIPT:
        what = "needs an ullage that watches the job, and with --launcher script none does"
        raise UserError(what, f"--{_CHAIN}", "give --launcher slurm")
    update = {**said, "launcher": launcher}
    if "extra" in said:
        update["extra"] = [*site.extra, *said["extra"]]
    return type(site).model_validate({**site.model_dump(), **update})


def wanted_of(site: "Site", nodes: int) -> "Wanted":
    """Return what a job of so many nodes asks for."""
    from ullage.launch.slurm_job import Wanted

    return Wanted(nodes, site.account, site.queue, site.walltime, site.extra, site.modules)


def submission(suite: "Suite", request: "Request", where: Path | None, engine: Path, site: "Site") -> "Submission":
    """Return what is submitted for a run. Raise ``UserError`` where the result cannot be made, or hosts are named."""
    from ullage.results.folder import DEFAULT_PARENT
    from ullage.runs.submitted import Submission, words_in_job, words_of_rest

    if request.hosts:
        raise UserError("the batch system chooses the nodes", "--hosts", "leave --hosts out with --launcher slurm")
    result = (where or DEFAULT_PARENT / request.run_id).absolute()
    if result.exists():
        raise UserError("exists already", str(result), "choose another --result, or `ullage resume` it")
    result.parent.mkdir(parents=True, exist_ok=True)
    nodes = request.options.get("nodes")
    words = words_in_job(sys.argv[1:], result, engine)
    wanted = wanted_of(site, nodes if isinstance(nodes, int) else 1)
    return Submission(result, words, wanted, f"run {suite.name}", words_of_rest(["run"], result, engine))


def most_nodes(folder: "ResultFolder") -> int:
    """Return the nodes of the largest launch that a result has a plan of, its parts' included; 1 without any."""
    results = (folder, *folder.parts())
    return max((one.read_plan(number).layout.nodes or 1 for one in results for number in one.launches()), default=1)


def check_nodes(folder: "ResultFolder", request: "Request") -> None:
    """Raise ``UserError`` (exit code 3) where a run on several nodes of a job goes on with fewer of them."""
    from ullage.errors import EXIT_ENVIRONMENT
    from ullage.system.allocation import nodes_of_job

    wanted, here = most_nodes(folder), nodes_of_job()
    if request.hosts or wanted <= here:
        return
    where = "there is no batch job here" if here == 1 else f"this batch job has {here}"
    right = "give --launcher slurm, or resume inside a job of as many nodes"
    raise UserError(f"the run needs {wanted} nodes, and {where}", str(folder.path), right, EXIT_ENVIRONMENT)


def submit_rest(folder: "ResultFolder", engine: Path, site: "Site", shown: "Shown", chain: int) -> int:
    """Submit what is missing of a result, or write the script of its job; return the exit code.

    ``chain``: see ``submit_and_watch``.
    """
    from ullage.results.lock import measured_alone
    from ullage.runs.submitted import Submission, submit_and_watch, words_of_rest, write_script
    from ullage.terminal import print_line

    with measured_alone(folder):  # a run that is under way has its own rest
        words = words_of_rest(sys.argv[1:], folder.path, engine)
    submission = Submission(folder.path, words, wanted_of(site, most_nodes(folder)), "resume", words)
    if site.launcher == SLURM:
        return submit_and_watch(submission, shown, chain)
    print_line(f"written  {write_script(submission)}")
    print_line(f"submit   sbatch {submission.script}")
    print_line(str(folder.path))
    return 0
