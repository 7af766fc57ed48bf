# SPDX-License-Identifier: Apache-2.0
"""What happened during a run besides its numbers: the engine's events, launches cut short, unreadable lines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ullage.analysis.findings.study import Numbers
from ullage.analysis.findings.words import columns
from ullage.model.plan import Scalar
from ullage.model.record import EventRecord
from ullage.model.summary import Finding
from ullage.results.records import RecordFile

Severity: TypeAlias = Literal["info", "advice", "warning"]
_SEVERITIES: Final[dict[str, Severity]] = {"info": "info", "warning": "warning", "error": "warning"}
_MOST_OF_A_KIND: Final = 20
_MOST_PLACES: Final = 20


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
        """Once more, there."""
        self.count += 1
        for name, value in places:
            found = self.places.setdefault(name, {})
            if value is not None and len(found) < _MOST_PLACES:
                found[value] = None

    @property
    def numbers(self) -> Numbers:
        """As a finding holds them."""
        return columns(**{name: list(values) for name, values in self.places.items() if values}, count=self.count)


def summarise_events(files: Sequence[RecordFile]) -> list[Finding]:
    """One finding for each different event and how often it was met; of each code the first 20, the rest counted."""
    met: dict[_Event, _Met] = {}
    for file in files:
        for record in file.events:
            places = (("case", record.case), ("rank", record.rank), ("node", record.node))
            met.setdefault(_of_record(record), _Met()).add(places)
        for event in _events_of(file):
            met.setdefault(event, _Met()).add(())
    by_code: dict[str, list[_Event]] = {}
    for event in met:
        by_code.setdefault(event.code, []).append(event)
    return [finding for events in by_code.values() for finding in _findings(events, met)]


def _findings(events: list[_Event], met: dict[_Event, _Met]) -> Iterable[Finding]:
    for event in events[:_MOST_OF_A_KIND]:
        often = met[event].count
        text = event.text if often == 1 else f"{event.text} ({often} times)"
        yield Finding(kind=event.code, text=text, severity=event.severity, numbers=met[event].numbers)
    rest = events[_MOST_OF_A_KIND:]
    if rest:
        often = sum(met[event].count for event in rest)
        yield Finding(
            kind=rest[0].code, text=f"and {often} more like these", severity=rest[0].severity, numbers={"count": often}
        )


def _events_of(file: RecordFile) -> Iterable[_Event]:
    name = file.path.name
    for problem in file.problems:
        place = f"{name}, line {problem.line}" if problem.line else name
        yield _Event("unreadable-record", f"{place}: {problem.text}", "warning")
    if file.truncated and file.records:
        text = f"{name}: the launch ended without a last record, so it was killed or crashed; "
        yield _Event("cut-short", text + "`ullage resume` finishes what is missing", "warning")
    if file.end is not None and file.end.status == "interrupted":
        text = f"{name}: the launch was interrupted; `ullage resume` finishes what is missing"
        yield _Event("interrupted", text, "warning")


def _of_record(record: EventRecord) -> _Event:
    text = f"{record.text}; {record.advice}" if record.advice else record.text
    return _Event(record.code, text, _SEVERITIES[record.severity])
