# SPDX-License-Identifier: Apache-2.0
"""The report as one file: opens offline, prints, loads nothing.

Whatever comes from a machine is escaped by the template, or cannot end its script within the JSON of the charts.
Scripts other than our own do not run: the page's policy lists their hashes, and allows no text to become code.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ullage import __version__
from ullage.model.summary import Finding
from ullage.report import texts
from ullage.report.answers import Answer, answers, told
from ullage.report.charts.maps import NODES
from ullage.report.contents import LEAD, built_sections, load_charts
from ullage.report.data import ReportData, load
from ullage.report.facts import flatten, glossary
from ullage.report.first_screen import changes_of, first_screen
from ullage.report.grids import grid_of
from ullage.report.row_table import AT_ONCE, compact_spec, front_columns, front_rows, row_table, to_csv, to_json
from ullage.report.scripts import chart_library, compiled_templates, packed, policy_hash
from ullage.report.sections.front import what_was_run
from ullage.report.soundness import soundness
from ullage.report.tabs import OTHER, Drawn, Parts, Tab, reached, tabs
from ullage.report.texts import LONGEST_HEADING, LONGEST_NAME, inert, inert_json
from ullage.report.vega import CONFIG
from ullage.report.verdicts import VerdictClass, classify, present
from ullage.results.folder import ResultFolder
from ullage.results.outputs import lies_within, write_outputs

if TYPE_CHECKING:
    from markupsafe import Markup

_HERE: Final = Path(__file__).parent
_NO_BUNDLE: Final = (
    "The chart library (vl-convert-python) was missing where this page was made. The tables hold the numbers."
)
_NO_SCRIPT: Final = "This chart needs JavaScript. The tables hold the same numbers."
_SCORES: Final = "scores"
_NO_PLAN: Final = "the plan is gone"


def write_report(result: ResultFolder, path: Path, known: ReportData | None = None) -> Path:
    """Write the page of ``result`` to ``path`` and, beside it, ``tables/rows.csv`` with every row.

    ``known``: what ``load`` returns of ``result``, where that was done already. Files within the result are replaced,
    others never. ``UserError`` when the result is damaged or ``path`` cannot be written.
    """
    data = load(result) if known is None else known
    write_outputs({**beside(data), path.name: render(data)}, path.parent, replace=lies_within(path, result.path))
    return path


def beside(data: ReportData) -> dict[str, str]:
    """Return the files that the page refers to, by their paths from its folder: the complete table."""
    return {"tables/rows.csv": to_csv(data.summary)}


def render(data: ReportData) -> str:
    """Render the whole page."""
    library, allowed = chart_library() or ("", policy_hash(""))
    script = (_HERE / "assets" / "page.js").read_text(encoding="utf-8")
    parts = Parts(data.summary)
    found = [(chart, chart.build(data)) for chart in load_charts(data.summary.suites)]
    drawn = [
        Drawn(chart, {f"{chart.name}-{index}": one for index, one in enumerate(all_)}) for chart, all_ in found if all_
    ]
    table = row_table(data, parts)
    figures = {
        name: inert_json(compact_spec(figure.spec))
        for one in drawn
        for name, figure in one.figures.items()
        if figure.spec
    }
    page = {
        **_head(data),
        **first_screen(data, parts),
        **_tail(data),
        **_tabs(data, parts, drawn),
        "glossary": glossary(data.summary),
        "rows": table,
        "rows_at_once": AT_ONCE,
        "fallback": _NO_SCRIPT if library else _NO_BUNDLE,
        "panels_shown": len(data.view.shown),
        "panels_total": len(data.view.swept),
        "bundle": _safe(library),
        "script": _safe(script),
        "script_hashes": _safe(f"{allowed} {policy_hash(script)}"),
        "figures": packed(to_json({"config": CONFIG, "specs": figures})),
        "columns_json": _safe(script_json([[column.heading, column.is_number] for column in table.shown])),
    }
    return page_of("report.html.j2", page)


def page_of(template: str, values: Mapping[str, object]) -> str:
    """Render a page of one file: ``values``, and the style of all pages."""
    css = _safe((_HERE / "assets" / "page.css").read_text(encoding="utf-8"))
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(_HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
        bytecode_cache=compiled_templates(),
    )
    environment.filters["name"] = lambda text: inert(str(text), LONGEST_NAME)
    environment.filters["codes"] = _with_codes
    environment.filters["moment"] = _moment
    environment.filters["short"] = lambda text: inert(str(text), LONGEST_HEADING)
    # Names of others may stand in a sentence of the first screen, and must not push all else off it.
    environment.filters["said"] = lambda text: " ".join(inert(word, LONGEST_NAME) for word in str(text).split(" "))
    return environment.get_template(template).render({**values, "css": css})


def script_json(value: object) -> str:
    """Write JSON that is safe within a script element: no ``<``, no line separators that JavaScript would see."""
    return to_json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _moment(created: str) -> str:
    """Write ``2026-11-23T06:46:23+00:00`` as people read it; a time in another zone stays as it is."""
    return f"{created[:16].replace('T', ' ')} UTC" if created.endswith("+00:00") else created


def _with_codes(text: str) -> "Markup":
    """Mark up our own ``text``, in which backquotes mark what is typed."""
    from markupsafe import Markup

    forms = (Markup("{}"), Markup("<code>{}</code>"))
    marked = (forms[at % 2].format(part) for at, part in enumerate(text.split("`")))
    return Markup("").join(marked)


def _finalize(value: object) -> object:
    """Make every text inert that a machine may have chosen; our own is ``Markup`` and stays."""
    return inert(value) if type(value) is str else value


def _safe(text: str) -> str:
    """Exempt from escaping our own CSS, scripts and drawings, and the output of ``script_json``: no other texts."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def _head(data: ReportData) -> dict[str, Any]:
    rows = data.summary.rows
    # Bytes that moved or did not are no question where none were to move.
    judged = [] if all(row.verdict == texts.NO_VERDICT for row in rows) else rows
    counted = [classify(row).name for row in judged]
    bar = [
        {"name": v.name, "label": v.label, "meaning": _meaning(v, data), "count": counted.count(v.name)}
        for v in present(judged)
    ]
    # The template's context lives until the next collection: it must not hold the rows.
    return {
        "created": data.summary.created,
        "soundness": soundness(data),
        "run_id": data.summary.run_id,
        "scope": texts.scope(data.view),
        "verdict_line": texts.verdict_line(rows),
        "verdict_bar": bar,
        "events": [(event, told(event)) for event in texts.events_once(data.summary.events)],
    }


def _meaning(verdict: VerdictClass, data: ReportData) -> str:
    """Return what a verdict means; phases are void by the rules of their benchmark too, not by physics alone."""
    if verdict.name == "invalid" and len(data.view.swept) < len(data.view.main):
        return "does not count; the table of phases says why"
    return verdict.meaning


def _tabs(data: ReportData, parts: Parts, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Return what the template shows of the tabs.

    Scores of a run of one suite stand on the first screen, those of several with their part. What is said of all suites
    together belongs to the run.
    """
    built = built_sections(data)
    sections = [(section, content) for section, content in built if section.order > LEAD]
    scores = [cards for section, content in built if section.name == _SCORES for cards in content.cards]
    several = bool(data.summary.parts)
    of_nodes = next(((section, content) for section, content in built if section.name == NODES.name), None)
    map_of_nodes = [one for one in drawn if one.chart is NODES] if of_nodes else []
    drawn = [one for one in drawn if one not in map_of_nodes]
    found = tabs(data.summary, parts, drawn, sections, scores if several else [])
    whole = [tab for tab in found if several and tab.part == OTHER and not (tab.charts or tab.sections)]
    found = [tab for tab in found if tab not in whole]
    best = [] if several else grid_of("", front_columns(data.view), front_rows(data.view.swept), whole=True)
    return {
        "nodes": of_nodes,
        "map_of_nodes": map_of_nodes,
        "lead_scores": [] if several else scores,
        "tabs": [_tab(data, parts, tab) for tab in found],
        "best": best[0] if best else None,
        "best_part": parts.usual if best and any(tab.part == parts.usual for tab in found) else "",
        "ran": what_was_run(data.summary)[0] if several else None,
        "of_whole": [(finding, told(finding)) for tab in whole for finding in tab.findings],
    }


def _tab(data: ReportData, parts: Parts, tab: Tab) -> dict[str, Any]:
    """Return what the template shows of a tab; its findings leave out what an answer or the first screen says."""
    changes = {id(finding) for finding in changes_of(data)}
    own = [answer for answer in answers(data.summary) if parts.of_suite(answer.suite) == tab.part]
    said = changes | {id(finding) for answer in own for finding in answer.told}
    return {
        "part": tab.part,
        "title": tab.title,
        "docs": tab.docs,
        "charts": tab.charts,
        "scores": tab.scores,
        "sections": tab.sections,
        "reached": reached(data.summary, parts, tab.part),
        "answers": [_answer(answer, changes) for answer in own],
        "findings": [(finding, told(finding)) for finding in tab.findings if id(finding) not in said],
        "moved": sum(id(finding) in changes for finding in tab.findings),
    }


def _answer(answer: Answer, left_out: Collection[int]) -> dict[str, Any]:
    """Return an answer for the page; a line that is the text of a finding has its title and severity too."""
    by_text = {finding.text: finding for finding in answer.told}
    found = [by_text.get(line, Finding(kind="", text=line)) for line in answer.lines]
    kept = [(finding, told(finding)) for finding in found if id(finding) not in left_out]
    return {"title": answer.title, "lines": kept, "notes": answer.notes}


def _tail(data: ReportData) -> dict[str, Any]:
    summary, request = data.summary, data.request
    seed = request.options.get("seed") if request else None
    pairs = [("run", summary.run_id), ("suite", summary.suite), *((("seed", str(seed)),) if seed is not None else ())]
    pairs.extend((f"version of {name}", version) for name, version in summary.versions.items())
    return {
        "command": shlex.join(summary.command),
        "reproduce": pairs,
        "launches": data.launches,
        "no_plan": _NO_PLAN,
        "facts": flatten(summary.system),
        "unreadable": data.unreadable[:50],
        "version": __version__,
    }
