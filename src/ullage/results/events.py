# SPDX-License-Identifier: Apache-2.0
"""What happened in a run besides its numbers: events, launches cut short, unreadable lines, cases that failed."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.analysis.findings import Failed, make_study
from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.phrasing import capital, columns, finding
from ullage.analysis.findings.study import Numbers
from ullage.grouping import grouped
from ullage.harmless import harmless
from ullage.model.plan import Scalar
from ullage.model.record import CaseRecord, EventRecord, Failure, PhaseRecord, RunRecord
from ullage.model.summary import Finding, Row
from ullage.reading import open_regular
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord, RecordFile
from ullage.results.start_errors import telling_lines, why_apart

_TITLES: Final = {
    "blocks-left-out": "Some block sizes were left out",
    "budget": "The time ended before the intervals were narrow enough",
    "cache-kept": "Caches were left as they were",
    "caches-unknown": "The kernel does not state its caches",
    "case-failed": "A case failed",
    "clock-residual": "The clocks of the ranks are not well known",
    "clock-skew": "The clocks of the nodes differ",
    "cpu-quota": "A control group limits the CPU time",
    "cut-short": "A launch ended without its last record",
    "fewer-samples": "There are fewer samples than in a published run",
    "interrupted": "A launch was interrupted",
    "layout-left-out": "A layout of files was not measured",
    "launch-ended": "A launch ended before its cases did",
    "launch-failed": "A launch measured nothing",
    "left-behind": "Files were left at the target",
    "loopback": "Both ranks are on one node",
    "made-again": "A data set was made again",
    "no-blas": "No BLAS was found",
    "no-queue-depth": "Small requests come from threads, one in flight each",
    "one-thread": "Only one thread was used",
    "oversubscribed": "More ranks than cores",
    "page-cache": "The page cache takes part",
    "peer-failed": "Another tool failed",
    "not-available": "A backend cannot move data beside a computation",
    "peer-not-available": "Other tools cannot run for comparison",
    "peer-other-mpi": "The other tool uses another MPI",
    "read-back-own": "Every rank reads its own data",
    "read-back-same-node": "Ranks read data of their own node",
    "raw-shared": "All ranks read the same raw files",
    "reads-own-node": "Nodes read back what they have saved",
    "hdf5-left-out": "HDF5 was not measured",
    "scaled-down": "The case is smaller than the published one",
    "size-aligned": "Sizes were changed for direct I/O",
    "sizes-left-out": "Some message sizes were left out",
    "small-sets": "There is too little memory for large sets",
    "surplus-ranks": "Ranks without a tile wait",
    "time-too-short": "The time was too short for all repetitions",
    "timeout": "A rank made no progress",
    "try-failed": "A trial failed",
    "unpinned": "Ranks are not bound to cores",
    "unreadable-record": "A record cannot be read",
    "verified-in-time": "Reads are verified within the measured time",
    "volume-below-memory": "Memory can hold a part of the volume",
}


def title_of(code: str) -> str:
    """Return the title of findings with ``code``, such as ``More ranks than cores``."""
    return _TITLES.get(code) or code.replace("-", " ").capitalize()


Severity: TypeAlias = Literal["info", "advice", "warning"]
_SEVERITIES: Final[dict[str, Severity]] = {"info": "info", "warning": "warning", "error": "warning"}
_NOT_MADE: Final = re.compile(r"dataset '([^']+)': is not there")
_MOST_OF_A_KIND: Final = 20
_MOST_PLACES: Final = 20
_MOST_STDERR: Final = 1 << 20
_RESUME: Final = "`ullage resume` finishes what is missing."
_REMOVES: Final = "`ullage resume` finishes what is missing and removes what it left at the target."


@dataclass(frozen=True, slots=True)
class _Event:
    code: str
    text: str
    severity: Severity


@dataclass
class _Met:
    """How often an event was met, and the first places."""

    count: int = 0
    places: dict[str, dict[Scalar, None]] = field(default_factory=dict[str, dict[Scalar, None]])

    def add(self, places: Iterable[tuple[str, Scalar | None]]) -> None:
        """Count the event once more, and keep where it was met."""
        self.count += 1
        for name, value in places:
            found = self.places.setdefault(name, {})
            if value is not None and len(found) < _MOST_PLACES:
                found[value] = None

    @property
    def numbers(self) -> Numbers:
        """The counts and places as a finding holds them."""
        return columns(**{name: list(values) for name, values in self.places.items() if values}, count=self.count)


def summarise_events(files: Sequence[RecordFile]) -> list[Finding]:
    """Return a finding for each different event, with its count; of a code 20 at most, and one for the rest."""
    met: dict[_Event, _Met] = {}
    for file in files:
        for record in file.events:
            places = (("case", record.case), ("rank", record.rank), ("node", record.node))
            text = " ".join(capital(_sentence(part)) for part in (record.text, record.advice) if part)
            met.setdefault(_Event(record.code, text, _SEVERITIES[record.severity]), _Met()).add(places)
        for event in _events_of(file):
            met.setdefault(event, _Met()).add(())
    by_code = grouped((event.code, event) for event in met)
    return [one for events in by_code.values() for one in _findings(events, met)]


def failed_launches(result: ResultFolder, files: Sequence[RecordFile]) -> list[Finding]:
    """Return a finding for each launch without a record in ``files``, by the telling lines of what it said on stderr.

    One that said nothing was not started yet. Where the front has seen the end of a launch, an event says more.
    """
    heard = {file.path for file in files if file.run is not None or file.events}
    kind, found = "launch-failed", list[Finding]()
    for number in result.launches():
        path = result.stderr_path(number)
        if result.records_path(number) in heard or not (said := _said(path)).strip():
            continue
        quoted, right = " / ".join(telling_lines(said)), why_apart(said)
        advice = capital(_sentence(right)) if right else f"{path.parent.name}/{path.name} has all of it."
        text = f"Launch {number} ended before its first record: {_sentence(quoted)} {advice} {_RESUME}"
        found.append(finding(kind, title_of(kind), text, "warning", launch=[number]))
    return found


def _said(path: Path) -> str:
    try:
        with open_regular(path) as stream:
            return harmless(stream.read(_MOST_STDERR).decode("utf-8", "replace"))
    except OSError:
        return ""


def _findings(events: list[_Event], met: dict[_Event, _Met]) -> Iterable[Finding]:
    for event in events[:_MOST_OF_A_KIND]:
        often = met[event].count
        text = event.text if often == 1 else f"{event.text} This happened {often} times."
        title = title_of(event.code)
        yield Finding(kind=event.code, title=title, text=text, severity=event.severity, numbers=met[event].numbers)
    rest = events[_MOST_OF_A_KIND:]
    if rest:
        often = sum(met[event].count for event in rest)
        text = f"{often} more events of this kind are in the records."
        title, numbers = title_of(rest[0].code), columns(count=often)
        yield Finding(kind=rest[0].code, title=title, text=text, severity=rest[0].severity, numbers=numbers)


def _events_of(file: RecordFile) -> Iterable[_Event]:
    name = file.path.name
    for problem in file.problems:
        place = f"{name}, line {problem.line}" if problem.line else name
        yield _Event("unreadable-record", f"{place}: {_sentence(problem.text)}", "warning")
    if file.truncated and file.run is not None:  # else nothing was started, and only the front has written to it
        text = f"{name}: the launch ended without its last record, so it was killed or crashed. {_REMOVES}"
        yield _Event("cut-short", text, "warning")
    if file.end is not None and file.end.status == "interrupted":
        yield _Event("interrupted", f"{name}: the launch was interrupted. {_RESUME}", "warning")


def _sentence(text: str) -> str:
    """End ``text`` as a sentence: records hold clauses, and what other libraries said."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


@dataclass
class _Account:
    """What is known of one case while reading."""

    target: str = ""
    ranks: int = 0
    failed: int = 0
    repetitions: int = 0
    text: str = ""
    where: str = ""


def failed_cases(launches: Iterable[Iterable[AnyRecord]]) -> list[Failed]:
    """Return the cases with a repetition that failed or hung, but was not interrupted, in the order as met."""
    accounts: dict[str, _Account] = {}
    for records in launches:
        ranks = 0
        for record in records:
            match record:
                case RunRecord():
                    ranks = record.layout.ranks
                case PhaseRecord(status="failed" | "timeout") if record.failures:
                    _note(accounts.setdefault(record.case, _Account()), *describe_failure(record.failures[0]))
                case EventRecord(severity="error", case=str() as case):
                    _note(accounts.setdefault(case, _Account()), record.text, "")
                case CaseRecord(warmup=False) if record.status != "interrupted":
                    account = accounts.setdefault(record.case, _Account())
                    account.target, account.ranks = record.target, ranks
                    account.repetitions += 1
                    account.failed += record.status in ("failed", "timeout")
                case _:
                    pass
    failed = {case: account for case, account in accounts.items() if account.failed}
    _name_causes(list(failed.values()))
    untold = "it ended without an error being recorded"
    return [
        Failed(one.target, case, one.ranks, one.failed, one.repetitions, one.text or untold, one.where)
        for case, one in failed.items()
    ]


def _name_causes(accounts: Sequence[_Account]) -> None:
    """Let cases whose dataset was not made say why: by the error of the case that failed before them."""
    causes = [account for account in accounts if not _NOT_MADE.search(account.text)]
    for index, account in enumerate(accounts):
        missing = _NOT_MADE.search(account.text)
        earlier = [one for one in accounts[:index] if one.target == account.target and one in causes]
        if missing is None or not earlier:
            continue
        cause = next((one for one in earlier if f"/{missing[1]}/" in one.where), earlier[0])
        account.text = f"dataset '{missing[1]}' was not made, because a case failed before: {cause.text}"


def failures_of(launches: Iterable[Iterable[AnyRecord]], level: float, rows: Sequence[Row] = ()) -> list[Finding]:
    """Return findings that say what failed, in sentences, and which of ``rows`` cannot be right."""
    return find_failures(make_study(rows, failed_cases(launches), level))


def _note(account: _Account, text: str, where: str) -> None:
    """Keep only the first error of a case: what follows is often its consequence."""
    if not account.text:
        account.text, account.where = text, where


def describe_failure(failure: Failure) -> tuple[str, str]:
    """Return what went wrong, in the same words for all cases that failed alike, and where."""
    text = f"{failure.operation}: {failure.text}" + (f" (errno {failure.errno})" if failure.errno else "")
    where = f"rank {failure.rank} on {failure.node}"
    if failure.path:
        where += f", {failure.path}"
    if failure.offset_bytes is not None:
        where += f" at byte {failure.offset_bytes}"
    if failure.expected is not None:
        where += f": expected {failure.expected}, found {failure.found or 'nothing'}"
    return text, where
