# SPDX-License-Identifier: Apache-2.0
"""The page: complete, self-contained, and harmless whatever a machine calls its things."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import phase_result
from support.data import some
from support.flags import flags_of
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.errors import UserError
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Score
from ullage.report import html
from ullage.report.data import ReportData, load
from ullage.report.row_table import strongest_rows
from ullage.results.folder import ResultFolder

EVIL = """</script><script>alert(1)</script>"><img src=x onerror='alert(2)'>{{7*7}}\u2028\u2029<!--"""


SCRIPTS = 5
"""Charts, columns of all rows, the rows themselves, the chart library, our own."""


def unpacked(text: str) -> dict[str, Any]:
    """As the page unpacks it."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


class Page(HTMLParser):
    """Tags with their attributes, and the text of each script element."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._in: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] == "script":
            self.scripts[-1] += data
        elif "style" not in self._in:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def parse(text: str) -> Page:
    page = Page()
    page.feed(text)
    return page


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[ResultFolder, str]:
    result = write_result(tmp_path_factory.mktemp("html") / "result", Shape(repetitions=6))
    html.write_report(result, result.report_path)
    return result, result.report_path.read_text(encoding="utf-8")


def test_sections_stand_in_the_order_of_the_reader(written: tuple[ResultFolder, str]) -> None:
    ids = re.findall(r'<section id="(?!answer-)([\w-]+)"', written[1])
    charts = ["chart-lines", "chart-heatmap", "chart-comparison", "chart-latency", "chart-time_series"]
    about = ["events", "glossary", "reproduce", "system"]
    assert ids == [*charts, *about]
    # Of each part one picture and one table are open.
    assert re.findall(r"<details[^>]*><summary>([^<(]*)", written[1])[:2] == ["Best settings", "Ranks by block size "]
    panels = re.findall(r'<section class="panel" id="([\w-]+)"', written[1])
    assert panels == ["part-disk", "part-rows", "part-run"]


def test_the_page_says_what_was_run_and_what_it_is_worth(written: tuple[ResultFolder, str]) -> None:
    words = parse(written[1]).words
    assert "sweep of nvme and scratch" in words
    assert "Of 64 rows: 32 synced, 24 cold, 4 warm, 4 mixed." in words
    assert "scratch writes with 8M blocks and 2 ranks are 3.1x slower" in words
    assert "8 ranks share 4 cores" in words
    assert "ullage run sweep --target nvme=/local/tmp" in words
    assert "plans/001.json" in words


def test_every_number_has_its_verdict_beside_it(written: tuple[ResultFolder, str]) -> None:
    for table in some(re.findall(r"<table class=\"sortable\".*?</table>", written[1], re.DOTALL)):
        heads = re.findall(r"<th[^>]*>([^<]*)</th>", table)
        assert heads[heads.index("median") : heads.index("median") + 4] == [
            "median",
            "interval or range",
            "verdict",
            "grade",
        ]
        assert all(
            row.count("<td") == len(heads)
            for row in some(re.findall(r"<tr>(?:(?!</tr>).)*<td.*?</tr>", table, re.DOTALL))
        )


def test_the_page_is_one_file_that_loads_nothing(written: tuple[ResultFolder, str]) -> None:
    page = parse(written[1])
    assert len(written[1].encode()) < 2_000_000
    for tag, attributes in page.tags:
        assert tag not in {"link", "iframe", "object", "img", "base"}
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_every_figure_has_its_spec_and_its_fallback(written: tuple[ResultFolder, str]) -> None:
    page = parse(written[1])
    figures = unpacked(page.scripts[0])
    places = [attributes["data-figure"] for _, attributes in page.tags if "data-figure" in attributes]
    assert places == list(figures["specs"])
    assert len(places) == 18
    assert page.words.count("The tables hold the same numbers.") == len(places)


@pytest.fixture(scope="module")
def phases_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return html.render(load(phase_result.write_result(tmp_path_factory.mktemp("phases") / "result")))


def test_a_result_of_named_phases_has_their_tables_and_charts_instead(phases_page: str) -> None:
    ids = re.findall(r'<section id="(?!answer-)([\w-]+)"', phases_page)
    own = ["chart-phase_bars", "chart-phase_rates", "chart-phase_latency", "phases", "sensitivity", "operations"]
    assert ids == [*own[:3], "glossary", "reproduce", "system"]
    assert re.findall(r'<details id="([\w-]+)"', phases_page) == [*own[3:], "slow_ranks"]
    links = re.findall(r'<nav class="tabs".*?</nav>', phases_page, re.DOTALL)
    assert re.findall(r'href="#([\w-]+)"', links[0]) == ["part-metadata", "part-rows", "part-run"]
    assert len(phases_page.encode()) < 2_000_000


def test_a_score_that_does_not_count_is_loud_and_says_every_reason(phases_page: str) -> None:
    block = re.search(r'<div class="scores void">.*?</ul>', phases_page, re.DOTALL)
    assert block is not None
    words = parse(block.group()).words
    assert "total 4.679 [4.510, 4.800]" in words
    assert "INVALID" in words
    assert "the stonewall of 1 s is below the 300 s of the rules" in words
    valid = make_summary().model_copy(update={"scores": phase_result.make_scores(valid=True)})
    assert '<div class="scores void">' not in html.render(ReportData(valid))


def test_only_rates_that_can_change_their_scale_have_the_buttons(phases_page: str) -> None:
    before, found, after = phases_page.partition('<button type="button" data-scale="linear"')
    assert found
    assert '<section id="chart-phase_bars"' in before
    assert '<section id="chart-phase_rates"' in after
    assert "data-scale=" not in html.render(ReportData(phase_result.make_summary()))


def with_evil_names(record: PhaseRecord) -> PhaseRecord:
    assert record.by_rank is not None
    rank = record.by_rank.fastest.model_copy(update={"node": EVIL})
    ranks = record.by_rank.model_copy(update={"fastest": rank, "slowest": [rank]})
    return record.model_copy(update={"by_rank": ranks, "latency_parts": {EVIL: record.latency}})


def test_nothing_from_a_machine_becomes_markup_in_the_tables_of_phases(tmp_path: Path) -> None:
    data = load(phase_result.write_result(tmp_path / "r", phase_result.Course(repetitions=1)))
    rows = [
        row.model_copy(
            update={
                "target": EVIL,
                "params": {**row.params, "phase": EVIL + str(row.params["phase"])},
                "verdict_reasons": [EVIL],
            }
        )
        for row in data.summary.rows
    ]
    phases = {key: [with_evil_names(record) for record in records] for key, records in data.phases.items()}
    scores = [Score(name=EVIL, unit=EVIL, value=1.0, valid=False, reasons=[EVIL])]
    changed = data.summary.model_copy(update={"rows": rows, "scores": scores})
    page = parse(html.render(ReportData(changed, phases)))
    assert len(page.scripts) == SCRIPTS
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in page.tags)
    assert page.words.count("alert(1)") > 5 * len(rows)


def test_all_rows_are_in_the_csv_beside_it(written: tuple[ResultFolder, str]) -> None:
    lines = (written[0].path / "tables" / "rows.csv").read_text().splitlines()
    assert len(lines) == 1 + 64


def evil_data() -> ReportData:
    rows = [
        row.model_copy(
            update={
                "target": EVIL + row.target,
                "params": {**row.params, "backend": EVIL + str(index % 2)},
                "verdict": "mixed " + EVIL,
                "verdict_reasons": [EVIL],
                "flags": flags_of(EVIL),
                "ceiling": row.ceiling.model_copy(update={"source": EVIL}) if row.ceiling else None,
            }
        )
        for index, row in enumerate(make_rows(Shape()))
    ]
    finding = Finding(kind=EVIL, text=EVIL, severity="warning")
    summary = make_summary().model_copy(
        update={
            "suite": EVIL,
            "run_id": EVIL,
            "created": EVIL,
            "command": [EVIL],
            "versions": {EVIL: EVIL},
            "rows": rows,
            "findings": [finding] * 9,
            "events": [finding],
            "scores": [Score(name=EVIL, unit=EVIL, value=1.0, valid=False, reasons=[EVIL])],
            "system": {"host": EVIL, EVIL: {EVIL: EVIL}, "places": [{"target": EVIL, "path": EVIL}]},
        }
    )
    return ReportData(summary, unreadable=(EVIL,))


def test_nothing_from_a_machine_becomes_markup() -> None:
    text = html.render(evil_data())
    page = parse(text)
    assert len(page.scripts) == SCRIPTS
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in page.tags)
    assert "49" not in page.words.split()
    assert "alert(1)" not in "".join(page.scripts[1:])
    assert EVIL in json.dumps(unpacked(page.scripts[0]), ensure_ascii=False).replace('\\"', '"')
    assert page.words.count("alert(1)") > 40
    assert unpacked(page.scripts[2])["rows"][0][0] == "Disk"
    assert EVIL in unpacked(page.scripts[2])["rows"][0]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_script_json_is_the_same_value_and_cannot_end_its_element(value: object) -> None:
    text = html.script_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set(text) & set("<>&")


def test_many_rows_are_packed_and_a_few_stand_in_the_page() -> None:
    shape = Shape(ranks=tuple(range(1, 31)), blocks=tuple(131072 * index for index in range(1, 31)))
    data = ReportData(make_summary(shape))
    text = html.render(data)
    page = parse(text)
    assert "20 of 3,600 rows, the best of each kind" in page.words
    assert len(text.encode()) < 1_500_000
    packs = [unpacked(script) for script in page.scripts[2:-2]]
    assert [len(pack["rows"]) for pack in packs] == [2000, 1600]
    columns = json.loads(page.scripts[1])
    first = packs[0]["rows"][0]
    median = [heading for heading, _ in columns].index("median")
    numbers = [heading for heading, is_number in columns if is_number]
    assert first[len(columns) + numbers.index("median")] == pytest.approx(data.summary.rows[0].median, rel=1e-5)
    assert first[median].endswith("B/s")
    kept = strongest_rows(data.view, 100)
    assert len(kept) == 100
    assert data.view.panels[0].best in kept


def test_the_few_rows_that_stand_in_the_page_are_those_of_all_suites() -> None:
    summary = make_summary(Shape(ranks=(1, 2), blocks=tuple(131072 * index for index in range(1, 9))))
    half = len(summary.rows) // 2
    rows = [row.model_copy(update={"suite": "a" if at < half else "b"}) for at, row in enumerate(summary.rows)]
    kept = strongest_rows(ReportData(summary.model_copy(update={"rows": rows})).view, 2)
    assert [row.suite for row in kept] == ["a", "b"]


def test_an_empty_result_has_a_page(tmp_path: Path) -> None:
    result = write_result(
        tmp_path / "r",
        summary=make_summary().model_copy(update={"rows": [], "findings": [], "events": [], "system": {}}),
    )
    words = parse(html.render(load(result))).words
    assert "No row was measured." in words
    assert "No facts of the machine were kept." in words


def test_without_the_chart_library_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "chart_library", lambda: None)
    text = html.render(ReportData(make_summary()))
    assert "vl-convert-python" in text
    assert len(text) < 400_000


def test_unreadable_lines_of_the_records_are_shown(tmp_path: Path) -> None:
    result = write_result(tmp_path / "r")
    with result.records_path(1).open("ab") as stream:
        stream.write(b'{"kind": "phase", <script>')
    words = parse(html.render(load(result))).words
    assert "Unreadable lines of the records" in words
    assert "001.ndjson" in words


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    result = write_result(tmp_path / "r")
    (tmp_path / "file").write_text("")
    with pytest.raises((UserError, OSError)):
        html.write_report(result, tmp_path / "file" / "report.html")
