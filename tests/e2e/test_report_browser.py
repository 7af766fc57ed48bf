# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: everything is drawn, nothing foreign runs, tables sort and filter, it prints."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import phase_result
from support.b_eff_io_world import World, usual_options
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.report.html import write_report
from ullage.runs.summary import build_summary
from ullage.suites.b_eff_io.hints import HintSet

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
EVIL = """</script><script>document.title='broken'</script><img src=x onerror="document.title='broken'">'"\u2028"""
SECONDS = 90
pytestmark = [
    pytest.mark.any_mpi,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no chromium on this machine: the report is not looked at in a browser"
    ),
]


def browse(folder: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Load ``page`` as a person without a network would; console messages come back on stderr."""
    assert CHROMIUM is not None
    common = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]
    common += [
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=20000",
    ]
    words = [CHROMIUM, *common, *options, page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    shape = Shape(repetitions=6)
    rows = [row.model_copy(update={"target": row.target + EVIL, "verdict_reasons": [EVIL]}) for row in make_rows(shape)]
    summary = make_summary(shape).model_copy(update={"rows": rows})
    result = write_result(folder / "result", shape, summary)
    return write_report(result, result.report_path)


def with_script(page: str, script: str) -> str:
    """Put ``script`` at the end of the page; the chart library has a ``</body>`` of its own within."""
    head, end, tail = page.rpartition("</body>")
    return head + script + end + tail


def test_every_chart_is_drawn_and_nothing_foreign_runs(report: Path, tmp_path: Path) -> None:
    seen = browse(tmp_path, report, "--dump-dom")
    assert 'data-drawn="linear"' in seen.stdout
    assert "data-failed=" not in seen.stdout
    assert seen.stdout.count("<svg") >= seen.stdout.count("data-figure=") == 18
    assert "<title>broken" not in seen.stdout
    messages = [line for line in seen.stderr.splitlines() if "CONSOLE" in line]
    assert messages == []


def test_the_charts_of_named_phases_are_drawn(tmp_path: Path) -> None:
    result = phase_result.write_result(tmp_path / "result")
    seen = browse(tmp_path, write_report(result, result.report_path), "--dump-dom")
    assert "data-failed=" not in seen.stdout
    assert seen.stdout.count("<svg") >= seen.stdout.count("data-figure=") == 2 + len(phase_result.PHASES) + 1
    assert [line for line in seen.stderr.splitlines() if "CONSOLE" in line] == []


def test_tables_sort_and_filter_and_the_scale_changes(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    probe = """
    <script>
    (async () => {
      const table = document.getElementById("rows-table"), found = {};
      const head = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === "median");
      const column = head.cellIndex;
      const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.sort));
      const rising = (list) => list.every((value, index) => index === 0 || list[index - 1] <= value);
      head.firstChild.click();
      found.rising = rising(values());
      head.firstChild.click();
      found.falling = rising(values().reverse());
      const filter = document.querySelector("input[data-filters]");
      filter.value = "read 128K warm";
      filter.dispatchEvent(new Event("input"));
      found.left = [...table.tBodies[0].rows].filter((row) => !row.hidden).length;
      while (!document.documentElement.dataset.drawn) await new Promise((resolve) => setTimeout(resolve, 20));
      document.querySelector("button[data-scale=log]").click();
      while (document.documentElement.dataset.drawn !== "log") await new Promise((resolve) => setTimeout(resolve, 20));
      found.errors = document.querySelector("[data-failed]") !== null;
      document.title = JSON.stringify(found);
    })();
    </script>"""
    page = tmp_path / "probe.html"
    # The page's own policy would stop the probe, as it stops every script that is not the report's.
    page.write_text(with_script(re.sub(r"<meta http-equiv=[^>]*>", "", text), probe), encoding="utf-8")
    seen = browse(tmp_path, page, "--dump-dom")
    title = re.search(r"<title>(.*?)</title>", seen.stdout)
    assert title is not None
    assert title.group(1) == '{"rising":true,"falling":true,"left":4,"errors":false}'


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
    <script>
    (async () => {
      const found = {}, page = document.querySelector("figure [data-figure=b_eff_io-0]");
      const has = (text) => [...page.querySelectorAll("svg text")].some((one) => one.textContent === text);
      while (!document.documentElement.dataset.drawn) await new Promise((resolve) => setTimeout(resolve, 20));
      found.before = has("100000");
      page.querySelector("input[type=checkbox]").click();
      await new Promise((resolve) => setTimeout(resolve, 500));
      found.after = has("100000");
      found.errors = document.querySelector("[data-failed]") !== null;
      document.title = JSON.stringify(found);
    })();
    </script>"""
    page = tmp_path / "probe.html"
    page.write_text(with_script(re.sub(r"<meta http-equiv=[^>]*>", "", text), probe), encoding="utf-8")
    title = re.search(r"<title>(.*?)</title>", browse(tmp_path, page, "--dump-dom").stdout)
    assert title is not None
    assert title.group(1) == '{"before":false,"after":true,"errors":false}'
    seen = browse(tmp_path, result.report_path, "--dump-dom")
    assert [line for line in seen.stderr.splitlines() if "CONSOLE" in line] == []
