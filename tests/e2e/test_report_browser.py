# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: everything is drawn, nothing foreign runs, tables sort and filter, it prints."""

import re
from pathlib import Path

import pytest
from tests.e2e.browser import CHROMIUM, MISSING, browse, console, run_probe, with_script

from support import phase_result
from support.b_eff_io_world import World, usual_options
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.report.html import write_report
from ullage.runs.summary import build_summary
from ullage.suites.b_eff_io.hints import HintSet

EVIL = """</script><script>document.title='broken'</script><img src=x onerror="document.title='broken'">'"\u2028"""
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    shape = Shape(repetitions=6)
    rows = [row.model_copy(update={"target": row.target + EVIL, "verdict_reasons": [EVIL]}) for row in make_rows(shape)]
    summary = make_summary(shape).model_copy(update={"rows": rows})
    result = write_result(folder / "result", shape, summary)
    return write_report(result, result.report_path)


def test_every_chart_is_drawn_and_nothing_foreign_runs(report: Path, tmp_path: Path) -> None:
    seen = browse(tmp_path, report, "--dump-dom")
    assert 'data-drawn="linear"' in seen.stdout
    assert "data-failed=" not in seen.stdout
    assert seen.stdout.count("<svg") >= seen.stdout.count("data-figure=") == 18
    assert "<title>broken" not in seen.stdout
    assert console(seen) == []


def test_the_charts_of_named_phases_are_drawn(tmp_path: Path) -> None:
    result = phase_result.write_result(tmp_path / "result")
    seen = browse(tmp_path, write_report(result, result.report_path), "--dump-dom")
    assert "data-failed=" not in seen.stdout
    assert seen.stdout.count("<svg") >= seen.stdout.count("data-figure=") == 2 + len(phase_result.PHASES) + 1
    assert console(seen) == []


def test_tables_sort_and_filter_and_the_scale_changes(report: Path, tmp_path: Path) -> None:
    probe = """
      document.querySelector("nav.tabs a[href='#part-rows']").click();
      const table = document.getElementById("rows-table");
      while (table.dataset.ready === undefined) await pause(20);
      const head = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === "median");
      const scales = { kB: 1e3, MB: 1e6, GB: 1e9 };
      const values = () => [...table.tBodies[0].rows].map((row) => {
        const [number, unit] = row.cells[head.cellIndex].textContent.split(" ");
        return parseFloat(number) * scales[unit.slice(0, 2)];
      });
      const rising = (list) => list.every((value, index) => index === 0 || list[index - 1] <= value);
      head.firstChild.click();
      await pause(100);
      found.rising = rising(values());
      head.firstChild.click();
      await pause(100);
      found.falling = rising(values().reverse());
      found.all = table.tBodies[0].rows.length;
      const search = document.getElementById("rows-search");
      search.value = "read 128K warm";
      search.dispatchEvent(new Event("input"));
      await pause(300);
      found.left = table.tBodies[0].rows.length;
      search.value = "";
      const verdict = document.getElementById("rows-verdict");
      verdict.value = "warm";
      verdict.dispatchEvent(new Event("change"));
      await pause(100);
      found.warm = table.tBodies[0].rows.length;
      document.querySelector("button[data-scale=log]").click();
      while (document.documentElement.dataset.drawn !== "log") await pause(20);
      found.failed = document.querySelector("[data-failed]") !== null;
    """
    found = run_probe(tmp_path, report.read_text(encoding="utf-8"), probe)
    assert found == {"rising": True, "falling": True, "all": 64, "left": 4, "warm": 4, "failed": False}


def test_the_policy_stops_a_script_that_is_not_ours(report: Path, tmp_path: Path) -> None:
    page = tmp_path / "injected.html"
    text = report.read_text(encoding="utf-8")
    page.write_text(with_script(text, "<script>document.title = 'broken'</script>"), encoding="utf-8")
    seen = browse(tmp_path, page, "--dump-dom")
    assert "<title>broken" not in seen.stdout
    assert "Content Security Policy" in seen.stderr


def test_the_page_prints(report: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "report.pdf"
    browse(tmp_path, report, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) >= 3


def test_the_plots_of_b_eff_io_take_the_originals_axis(tmp_path: Path) -> None:
    sets = [HintSet(name=name) for name in ("default", "large")]
    result = World(usual_options(partitions=[2], rewrite=False, hint_sets=sets)).write(tmp_path / "result")
    result.write_summary(build_summary(result))
    text = write_report(result, result.report_path).read_text(encoding="utf-8")
    probe = """
      const page = document.querySelector("figure [data-figure=b_eff_io-0]");
      const has = (text) => [...page.querySelectorAll("svg text")].some((one) => one.textContent === text);
      found.before = has("100000");
      page.querySelector("input[type=checkbox]").click();
      await pause(500);
      found.after = has("100000");
      found.failed = document.querySelector("[data-failed]") !== null;
    """
    assert run_probe(tmp_path, text, probe) == {"before": False, "after": True, "failed": False}
    seen = browse(tmp_path, result.report_path, "--dump-dom")
    assert console(seen) == []
