# SPDX-License-Identifier: Apache-2.0
"""The rows of a summary as a campaign keeps them: those of ``ullage.open``, with the machine and versions of each."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, cast

from ullage.analysis.compare import fact
from ullage.analysis.verdicts.grades import is_sound
from ullage.identity import canonical_json
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.quantity import format_param, param_label
from ullage.report.headlines import headlines_of
from ullage.report.row_records import COLUMNS as ROW_COLUMNS
from ullage.report.row_records import LISTS, NUMBERS, row_records
from ullage.report.verdicts import classify

_OWN: Final = {
    **dict.fromkeys(("run", "node", "node_class", "part", "what", "params"), "VARCHAR"),
    "time": "TIMESTAMP",
    "sound": "BOOLEAN",
    "versions": "MAP(VARCHAR, VARCHAR)",
}
_COLUMNS: Final = tuple(name for name in ROW_COLUMNS if name != "suite")
TYPES: Final = {**dict.fromkeys(_COLUMNS, "VARCHAR"), **dict.fromkeys(NUMBERS, "DOUBLE"), **LISTS, **_OWN}
"""The columns with their types in SQL. The folders say ``system``, ``suite`` and ``month``."""
# What may change a number by itself, where the facts of the machine have it.
_FACTS: Final = (
    *("kernel.release", "kernel.options", "kernel.distribution", "kernel.libc", "cpu.model", "cpu.governor"),
    *("memory.transparent_huge_pages", "environment.container", "environment.variables"),
)
_GIB: Final = 1 << 30


def time_of(request: Request) -> datetime:
    """Return when a run was asked for, in UTC."""
    found = datetime.fromisoformat(request.created)
    return found.astimezone(UTC) if found.tzinfo else found


def system_of(summary: Summary) -> str:
    """Return the name of the host without its number: ``node017.site`` is of the system ``node``."""
    return system_named(str(fact(summary.system, "host") or "unknown"))


def system_named(host: str) -> str:
    """Return the name of the system that ``host`` is of."""
    host = host.partition(".")[0]
    return re.sub(r"[-_]*\d+$", "", host) or host


def kept_rows(summary: Summary, request: Request, node: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the suite and the columns of each row that is no mere bound of others. ``node``: as the run calls it.

    Only a ``sound`` row is ever judged: undisturbed, and of the target itself. Ranks of one launch on several nodes
    measure no single one: ``node`` says how many they are.
    """
    system, lines = summary.system, {line.row: line for line in headlines_of(summary)}
    count, memory = fact(system, "measured_on", "nodes"), fact(system, "memory", "total_bytes")
    kind = [fact(system, "cpu", "model"), f"{fact(system, 'cpu', 'physical_cores')} cores"]
    shared = {
        "run": request.run_id,
        "time": f"{time_of(request):%Y-%m-%d %H:%M:%S}",
        "node": f"{count} nodes" if count else node or str(fact(system, "host") or "unknown"),
        "node_class": ", ".join(map(str, [*kind, *([f"{memory / _GIB:.0f} GiB"] if isinstance(memory, int) else [])])),
    }
    for index, (row, record) in enumerate(zip(summary.rows, row_records(summary), strict=True)):
        line = lines.get(index)
        setting = ", ".join(f"{param_label(key)} {format_param(key, value)}" for key, value in row.params.items())
        own = {
            "part": "" if line is None else line.part,
            "what": f"{row.target}: {row.metric}, {setting}" if line is None else line.what,
            "params": canonical_json(row.params).decode(),
            "sound": is_sound(row) and classify(row).filled and row.median > 0,
            "versions": _versions(summary, row.target),
        }
        if not row.is_bound:
            yield str(record["suite"]), {**{name: record[name] for name in _COLUMNS}, **shared, **own}


def _versions(summary: Summary, target: str) -> dict[str, str]:
    system = summary.system
    found = {**summary.versions, **{name.removesuffix(".release"): fact(system, *name.split(".")) for name in _FACTS}}
    for link in cast("list[Mapping[str, object]]", system.get("network") or []):
        found[f"driver of {link['name']}"] = link.get("driver")
    for place in cast("list[Mapping[str, object]]", system.get("places") or []):
        if place.get("target") == target and place.get("file_system"):
            found["mount"] = f"{place['file_system']} {place.get('source')} {place.get('options') or ''}".strip()
    texts = {name: value if isinstance(value, str) else canonical_json(value).decode() for name, value in found.items()}
    return {name: text for name, text in texts.items() if found[name]}
