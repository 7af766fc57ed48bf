# SPDX-License-Identifier: Apache-2.0
"""The report as one file: opens offline, prints, loads nothing.

Whatever comes from a machine is escaped by the template, or cannot end its script within the JSON of the charts.
Scripts other than our own do not run: the page's policy lists their hashes.
"""

import base64
import hashlib
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ullage import __version__
from ullage.model.summary import Row
from ullage.quantity import format_quantity, plural
from ullage.report import words
from ullage.report.contents import LEAD, Chart, Figure, Section, built_sections, load_charts
from ullage.report.data import Launch, ReportData, load
from ullage.report.facts import flatten
from ullage.report.table import Cell, Column, columns, front_columns, front_rows, number_cell, to_csv
from ullage.report.vega import CONFIG, javascript
from ullage.report.verdicts import VerdictClass, classify, present
from ullage.report.view import View
from ullage.results.folder import ResultFolder
from ullage.results.outputs import lies_within, write_outputs

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE: Final = Path(__file__).parent
MOST_ROWS: Final = 800
# Rows of several suites have many parameters that are empty in most, and each suite has tables of its own.
MOST_ROWS_OF_PARTS: Final = 250
_MOST_FINDINGS_OF_A_KIND: Final = 4
_NO_BUNDLE: Final = (
    "The chart library (vl-convert-python) was missing where this page was made; the table below has the numbers."
)
_NO_SCRIPT: Final = "This chart needs JavaScript. The same numbers stand in the table below."


def write_report(result: ResultFolder, path: Path) -> Path:
    """Write the page of ``result`` to ``path`` and, beside it, ``tables/rows.csv`` with every row.

    Files within the result are replaced, others never. ``UserError`` when the result is damaged or ``path`` cannot be
    written.
    """
    data = load(result)
    write_outputs({**beside(data), path.name: render(data)}, path.parent, replace=lies_within(path, result.path))
    return path


def beside(data: ReportData) -> dict[str, str]:
    """Files that the page refers to, by their paths from its folder: the complete table."""
    return {"tables/rows.csv": to_csv(data.summary.rows)}


def render(data: ReportData) -> str:
    """The whole page."""
    bundle, script = javascript() or "", (_HERE / "assets" / "page.js").read_text(encoding="utf-8")
    specs, sections = _sections(data)
    figures = {"config": CONFIG, "specs": specs}
    page = {
        **_head(data),
        **_tables(data),
        **_tail(data),
        "lead": [section for section in sections if section["order"] <= LEAD],
        "sections": [section for section in sections if section["order"] > LEAD],
        "fallback": _NO_SCRIPT if bundle else _NO_BUNDLE,
        "panels_shown": len(data.view.shown),
        "panels_total": len(data.view.swept),
        "css": _safe((_HERE / "assets" / "page.css").read_text(encoding="utf-8")),
        "bundle": _safe(bundle),
        "script": _safe(script),
        "script_hashes": _safe(" ".join(_policy_hash(text) for text in (bundle, script))),
        "figures_json": _safe(script_json(figures)),
    }
    return _environment().get_template("report.html.j2").render(page)


def script_json(value: object) -> str:
    """JSON that is safe within a script element: no ``<``, no line separators that JavaScript would see."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(_HERE / "templates")
    return Environment(autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _safe(text: str) -> str:
    """Our own CSS, scripts and the output of ``script_json``: the only texts that are not escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def _policy_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _sections(data: ReportData) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The charts' specs by name; tables and charts in the order of the page."""
    specs: dict[str, Any] = {}
    sections = [{**_words(section), "content": content} for section, content in built_sections(data)]
    for chart in load_charts():
        found = {f"{chart.name}-{index}": figure for index, figure in enumerate(chart.build(data))}
        if found:
            specs.update({name: figure.spec for name, figure in found.items()})
            sections.append({**_words(chart), "figures": [_figure(name, figure) for name, figure in found.items()]})
    return specs, sorted(sections, key=lambda section: int(section["order"]))


def _words(part: Section | Chart) -> dict[str, Any]:
    words = {"name": part.name, "title": part.title, "doc": part.doc, "order": part.order}
    return {**words, "content": None, "figures": []}


def _figure(name: str, figure: Figure) -> dict[str, Any]:
    """``linear``: the page's buttons can change the scale of its rates."""
    linear = '"zero": true' in json.dumps(figure.spec)
    return {"id": name, "title": figure.title, "caption": figure.caption, "wide": figure.wide, "linear": linear}


def _head(data: ReportData) -> dict[str, Any]:
    rows = data.view.main_rows
    # Bytes that moved or did not are no question where none were to move.
    judged = [] if all(row.verdict == words.NO_VERDICT for row in rows) else rows
    counted = [classify(row).name for row in judged]
    bar = [
        {"name": v.name, "label": v.label, "meaning": _meaning(v, data), "count": counted.count(v.name)}
        for v in present(judged)
    ]
    return {
        "summary": data.summary,
        "title": words.title(data),
        "host": words.host(data),
        "scope": words.scope(data.view),
        "verdict_line": words.verdict_line(rows),
        "verdict_bar": bar,
        "findings": words.finding_groups(data.summary.findings),
        "most_findings": _MOST_FINDINGS_OF_A_KIND,
        "events": words.by_severity(data.summary.events),
    }


def _meaning(verdict: VerdictClass, data: ReportData) -> str:
    """Phases are void by the rules of their benchmark too, not by physics alone."""
    if verdict.name == "invalid" and len(data.view.swept) < len(data.view.main):
        return "does not count; the table of phases says why"
    return verdict.meaning


def _tables(data: ReportData) -> dict[str, Any]:
    rows = data.summary.rows
    kept = strongest_rows(data.view, MOST_ROWS_OF_PARTS if data.summary.parts else MOST_ROWS)
    whole = f"All {plural(len(rows), 'row')}, also in tables/rows.csv with plain SI numbers and every repetition."
    part = f"The best {len(kept):,} of {len(rows):,} rows; all are in tables/rows.csv with plain SI numbers."
    front = front_columns(data.view)
    return {
        "front": _table(front, front_rows(data.view.swept)),
        "has_front": (bool(data.view.swept) or not rows) and not data.summary.parts,
        "all_rows": _table(columns(data.view), kept),
        "rows_note": whole if len(kept) == len(rows) else part,
    }


def strongest_rows(view: View, most: int) -> list[Row]:
    """At most ``most`` rows in their own order: of every panel an equal share, its best ones."""
    rows = view.summary.rows
    if len(rows) <= most:
        return list(rows)
    share = max(1, most // len(view.panels))
    kept: set[int] = set()
    for panel in view.panels:
        ordered = sorted(panel.rows, key=lambda row: row.median, reverse=panel.better == "more")
        kept.update(id(row) for row in ordered[:share])
    return [row for row in rows if id(row) in kept][:most]


def _table(shown: list[Column], rows: list[Row]) -> dict[str, Any]:
    return {"columns": shown, "rows": [[_cell(column, row) for column in shown] for row in rows]}


def _cell(column: Column, row: Row) -> Cell:
    text = column.text(row)
    css = column.heading if column.heading in {"median", "interval", "target", "flags", "peer"} else ""
    if column.heading == "verdict":
        verdict = classify(row)
        return Cell(text, css, dot=verdict.dot, hint="; ".join(row.reasons))
    if not column.is_number:
        return Cell(text, css)
    repetitions = ", ".join(format_quantity(value, row.unit) for value in row.repetitions[:20])
    hint = f"Repetitions: {repetitions}" if column.heading == "median" else ""
    sort = column.sort_value(row)
    return number_cell(text, css=css, sort="" if sort == text else sort, hint=hint)


def _tail(data: ReportData) -> dict[str, Any]:
    summary, request = data.summary, data.request
    seed = request.options.get("seed") if request else None
    pairs = [("run", summary.run_id), ("suite", summary.suite), *((("seed", str(seed)),) if seed is not None else ())]
    pairs.extend((f"version of {name}", version) for name, version in summary.versions.items())
    return {
        "command": shlex.join(summary.command),
        "reproduce": pairs,
        "launches": [_launch(launch) for launch in data.launches],
        "facts": flatten(summary.system),
        "unreadable": data.unreadable[:50],
        "version": __version__,
    }


def _launch(launch: Launch) -> dict[str, Any]:
    run = launch.run
    return {
        "plan": launch.plan,
        "ranks": run.layout.ranks,
        "started": run.started,
        "mpi": run.engine.mpi.library,
        "mpi_io": run.mpi_io or "not known",
        "sha256": launch.plan_sha256 or "the plan is gone",
        "ended": "complete" if launch.complete else "cut short",
    }
