# SPDX-License-Identifier: Apache-2.0
"""The folder that the official tool would leave: result.txt, result_summary.txt, config.ini and a text a phase.

It is the result itself; with several targets each has a folder of its own in it. A ``resultdir`` of the configuration
file gets a copy.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import ullage
from ullage.exporters.tool_tables import ior_lines, mdtest_lines
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured
from ullage.runs.options.reading import read_options
from ullage.suites.io500.digest import Digest, stamp
from ullage.suites.io500.official import OfficialRun, make_run, mark_short
from ullage.suites.io500.official_config import config_hash, config_text
from ullage.suites.io500.official_text import ini_text, summary_text
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import phases_of
from ullage.suites.io500.rounds import Round, read_rounds
from ullage.suites.io500.score import score_of_medians
from ullage.suites.io500.summarise import digest_all, modes_of

_BANDWIDTH: Final = ("transfer", "mixed-transfer")


def read_digests(result: ResultFolder) -> list[Digest]:
    """Return the digest of every target of ``result``."""
    from ullage.runs.summary import row_context

    request = result.read_request()
    options = read_options(Io500Options, request)
    failed = failed_cases(file.records for file in result.read_records())
    return digest_all(request, options, read_rounds(result), failed, row_context(request, result.read_system()))


def official_folders(
    digests: Sequence[Digest], options: Io500Options, result: ResultFolder
) -> dict[Path, dict[str, str]]:
    """Return contents by folder and file name, without targets at which nothing has run."""
    rounds = read_rounds(result)
    found: dict[Path, dict[str, str]] = {}
    for number, one in enumerate(digests, start=1):
        if not one.elapsed_s:
            continue
        part = f"target-{number}" if len(digests) > 1 else ""
        folder = result.path / part
        files = official_files(one, options, [r for r in rounds if r.target.name == one.target.name], folder)
        found[folder] = files
        if options.config.result_folder:
            found[_copy(options, one, rounds) / part] = files
    return found


def _copy(options: Io500Options, found: Digest, rounds: Sequence[Round]) -> Path:
    """Return where the official tool puts its files: ``resultdir``, or a folder in it named by the start time."""
    folder = Path(options.config.result_folder)
    if not options.config.timestamp_result_folder:
        return folder
    began = next((stamp(a.run) for r in rounds for a in r.attempts if r.target.name == found.target.name), "")
    return folder / began.replace("-", ".").replace(" ", "-").replace(":", ".")


def official_files(found: Digest, options: Io500Options, rounds: Sequence[Round], folder: Path) -> dict[str, str]:
    """Return contents by file name; ``rounds`` are those of the target."""
    config = config_text(options, found.target, folder)
    run = _run(found, options, rounds, {"config-hash": config_hash(config), "result-dir": str(folder)})
    files = {"result_summary.txt": summary_text(run), "result.txt": ini_text(run), "config.ini": config}
    if options.config.text:
        files["config-orig.ini"] = options.config.text
    return {**files, **_tables(options, rounds)}


def _run(found: Digest, options: Io500Options, rounds: Sequence[Round], pairs: Mapping[str, str]) -> OfficialRun:
    run = make_run(
        found.values,
        found.elapsed_s,
        {one: score_of_medians(found.samples, one) for one in modes_of(options)},
        found.validity,
        mode=options.mode,
        version=f"ullage-{ullage.__version__}",
        ranks=options.ranks,
        pairs=found.pairs,
    )
    run = mark_short(run, options.conditions.required_s)
    attempts = [attempt for one in rounds for attempt in one.attempts]
    ends = [attempt.run for attempt in attempts]
    last = attempts[-1].phases[-1] if attempts and attempts[-1].phases else None
    ended = "" if last is None else stamp(ends[-1], last.start_ns + last.elapsed_ns)
    return run.with_head(pairs, stamp(ends[0]) if ends else "", ended)


def _tables(options: Io500Options, rounds: Sequence[Round]) -> dict[str, str]:
    """Return by file name, for each phase of transfers or names, the tables that IOR or mdtest print."""
    counted = [one.counted() for one in rounds]
    texts: dict[str, str] = {}
    for phase in phases_of(options.mode):
        attempts = [attempts[phase.name] for attempts in counted if phase.name in attempts]
        measured = [Measured(a.run, a.case, record) for a in attempts for record in a.phases if a.is_whole]
        if measured and phase.workload in (*_BANDWIDTH, "metadata"):
            lines = ior_lines(measured) if phase.workload in _BANDWIDTH else mdtest_lines(measured)
            texts[f"{phase.name}.txt"] = "\n".join([*lines, ""])
    return texts
