# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: it fits phones, screens and paper, can be read, and is worked by keys alone."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.browser import CHROMIUM, MISSING, browse, console, run_probe, run_probe_in_frames, with_script

from support import recorded_results
from support.flags import flags_of
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.model.summary import Finding, Gain, Score
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.html import render
from ullage.runs.summary import build_summary

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING)]
WIDTHS = (360, 1024, 1400)
HOSTILE = "</td><b>\"'&\n\u202egnp.exe \u05d0\u05d1\u05d2 " + "x" * 4096
MOST_PAGES = 45

# Elements of every tab that are wider than the window. Tables may scroll within their own frame, on a phone only.
WIDE = """
  found.width = innerWidth;
  found.wide = [];
  found.scrolling = [];
  for (const link of document.querySelectorAll("nav.tabs a")) {
    link.click();
    await pause(60);
    for (const one of document.body.querySelectorAll("*")) {
      if (!one.getClientRects().length || one.closest("svg") || one.parentElement.closest(".wrap")) continue;
      const box = one.getBoundingClientRect();
      const name = `${link.textContent}: ${one.tagName}.${one.className}`;
      if (box.right > innerWidth + 1 || (box.left < -1 && !one.matches(".skip"))) found.wide.push(name);
      if (one.matches(".wrap") && one.scrollWidth > one.clientWidth + 1) found.scrolling.push(name);
    }
  }
  found.page = document.documentElement.scrollWidth;
"""

PHONE_HEIGHT = 800
PHONE = """
  const tops = [...document.querySelectorAll(".vessels li")].map((one) => one.getBoundingClientRect().top);
  found.in_a_row = tops.filter((top) => top === tops[0]).length;
  found.changes = document.querySelector("#change-first li").getBoundingClientRect().top + scrollY;
"""

CONTRAST = """
  const parsed = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const linear = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => rgb.slice(0, 3).map((one) => linear(one / 255))
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = parsed(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const pale = new Map();
  found.checked = 0;
  const check = (one, color, back, least) => {
    const known = ratio(parsed(color), back);
    found.checked += 1;
    if (known < least) pale.set(`${one.tagName}.${one.getAttribute("class")} ${color} on ${back}`, known.toFixed(2));
  };
  for (const link of document.querySelectorAll("nav.tabs a")) {
    link.click();
    await pause(60);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const one = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !one.getClientRects().length) continue;
      if (one.closest("script, svg, .plot, .skip")) continue;
      const style = getComputedStyle(one), size = parseFloat(style.fontSize);
      check(one, style.color, behind(one), size >= 24 || (size >= 18.6 && style.fontWeight >= 600) ? 3 : 4.5);
    }
  }
  for (const label of document.querySelectorAll("svg.vessel text")) {
    const inside = label.getAttribute("y") === "68";
    const filled = label.parentElement.querySelector("path");
    const halo = label.getAttribute("stroke") && parsed(getComputedStyle(label).stroke);
    const back = halo || (inside ? parsed(getComputedStyle(filled).fill) : behind(label.closest("li")));
    check(label, getComputedStyle(label).fill, back, 4.5);
  }
  found.pale = [...pale];
"""

KEYS = """
  const tabs = [...document.querySelectorAll("nav.tabs [role=tab]")];
  const press = (one, key) => one.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const chosen = () => tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  tabs[0].focus();
  press(tabs[0], "ArrowRight");
  await pause(50);
  found.second = chosen() === 1 && document.activeElement === tabs[1];
  press(tabs[1], "ArrowLeft");
  await pause(50);
  found.first = chosen() === 0 && document.activeElement === tabs[0];
  found.shown = document.querySelectorAll(".panel:not(.folded)").length;
  const vessel = document.querySelector(".vessels a[href='#part-memory']");
  vessel.click();
  await pause(50);
  found.vessel = tabs[chosen()].textContent;
  found.unreachable = [...document.querySelectorAll("[role=button], button, select, input, summary, .vessels a")]
    .filter((one) => one.tabIndex < 0 || one.getAttribute("tabindex") > 0).length;
  const head = document.querySelector("#rows-table th [role=button]");
  tabs.find((tab) => tab.textContent === "All rows").click();
  await pause(300);
  press(head, "Enter");
  await pause(100);
  found.sorted = head.parentElement.getAttribute("aria-sort");
  const named = (one) => one.querySelector("title").textContent && one.querySelector("desc").textContent;
  found.nameless = [...document.querySelectorAll("svg.vessel")]
    .filter((one) => one.getAttribute("role") !== "img" || !named(one)).length;
"""


# Contrast is looked at above, in a tenth of the time. A chart is a picture to axe, with a name.
AXE = """
  const met = new Set(), options = { resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } };
  for (const one of document.querySelectorAll(".plot svg.marks:not([role=img][aria-label])")) met.add("a chart");
  for (const more of document.querySelectorAll("details:not(.numbers)")) more.open = true;
  for (const link of document.querySelectorAll("nav.tabs a")) {
    link.click();
    await pause(60);
    const seen = await axe.run({ exclude: [["svg"]] }, options);
    found.passed = (found.passed || 0) + seen.passes.length;
    for (const one of seen.violations) for (const node of one.nodes) met.add(`${one.id}: ${node.target.join(" ")}`);
  }
  found.met = [...met];
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a recorded run of five suites."""
    result = FinishedResult(recorded_results.unpack("node_quick", tmp_path_factory.mktemp("layout")))
    return render(load(result, build_summary(result)))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of which every name is one that nobody should choose."""
    rows = [
        row.model_copy(
            update={"target": HOSTILE + row.target, "verdict_reasons": [HOSTILE], "flags": flags_of(HOSTILE)}
        )
        for row in make_rows(Shape(repetitions=3))
    ]
    change = Finding(
        kind=HOSTILE,
        title=HOSTILE,
        text=HOSTILE,
        change=HOSTILE,
        gain=Gain(factor=2, low=1.5, high=3),
        severity="advice",
    )
    summary = make_summary().model_copy(
        update={
            "rows": rows,
            "findings": [change] * 3,
            "events": [change],
            "run_id": HOSTILE,
            "command": [HOSTILE],
            "versions": {"mpi": HOSTILE},
            "scores": [Score(name=HOSTILE, unit=HOSTILE, value=1.0, valid=False, reasons=[HOSTILE])],
            "system": {"host": HOSTILE, "cpu": {"model": HOSTILE}, "places": [{"target": HOSTILE, "path": HOSTILE}]},
        }
    )
    return render(load(write_result(tmp_path_factory.mktemp("hostile") / "r", Shape(repetitions=3)), summary))


def test_nothing_is_wider_than_the_page(node: str, tmp_path: Path) -> None:
    at = run_probe_in_frames(tmp_path, node, f"{PHONE}; {WIDE}", WIDTHS, "--window-size=1400,900")
    assert "error" not in at
    phone = at[str(WIDTHS[0])]
    assert phone["in_a_row"] == 2
    assert phone["changes"] < 2 * PHONE_HEIGHT
    for width in WIDTHS:
        found = at[str(width)]
        assert found["width"] == width
        assert found["wide"] == []
        assert found["page"] <= width
    assert at[str(WIDTHS[-1])]["scrolling"] == []


def test_hostile_names_do_not_break_the_layout(hostile: str, tmp_path: Path) -> None:
    probe = f"{WIDE}; found.high = document.querySelector('header.top').getBoundingClientRect().height;"
    widths = (WIDTHS[0], WIDTHS[-1])
    at = run_probe_in_frames(tmp_path, hostile, probe, widths, "--window-size=1400,900")
    for width in widths:
        found = at[str(width)]
        assert found["width"] == width
        assert found["wide"] == []
        assert found["page"] <= width
        assert found["high"] < 3 * 900
    assert "\u202e" not in hostile


FIRST_SCREEN = """
  const bottom = (name) => document.querySelector(name).getBoundingClientRect().bottom;
  found.bottoms = [".judgement", ".vessels", "#change-first h2"].map(bottom);
  const vessels = [...document.querySelectorAll(".vessels li")];
  found.rows = new Set(vessels.map((one) => one.getBoundingClientRect().top)).size;
  found.vessels = vessels.length;
"""

CHARTS = """
  found.charts = document.querySelectorAll("[data-figure]").length;
  for (const one of document.querySelectorAll("details.numbers")) one.open = true;
  await pause(300);
  const behind = [...document.querySelectorAll("details.numbers")];
  found.empty = behind.filter((one) => !one.querySelector("tbody td")).length;
  found.tables = behind.length;
"""

SCHEME = f"{CONTRAST}; found.dark = matchMedia('(prefers-color-scheme: dark)').matches;"


@pytest.fixture(scope="module")
def seen(node: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What several probes find one after the other: the page is loaded and drawn once for all of them."""
    probes = {"screen": FIRST_SCREEN, "keys": KEYS, "light": SCHEME, "charts": CHARTS}
    each = "".join(
        f"found.{name} = {{}}; await (async (found) => {{ {probes[name]} }})(found.{name});" for name in probes
    )
    return run_probe(tmp_path_factory.mktemp("seen"), node, each, "--window-size=1400,900")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_texts_can_be_read(seen: dict[str, Any], node: str, scheme: str, tmp_path: Path) -> None:
    found = seen["light"]
    if scheme == "dark":
        dark = "--blink-settings=preferredColorScheme=0"
        found = run_probe(tmp_path, node, SCHEME, "--window-size=1400,900", dark)
    assert found["dark"] == (scheme == "dark")
    assert found["pale"] == []
    assert found["checked"] > 500


def test_the_page_is_worked_by_keys_alone(seen: dict[str, Any]) -> None:
    assert seen["keys"] == {
        "second": True,
        "first": True,
        "shown": 1,
        "vessel": "Memory",
        "unreachable": 0,
        "sorted": "ascending",
        "nameless": 0,
    }


@pytest.mark.parametrize("name", ["node_quick", "io500", "pairs"])
def test_axe_finds_nothing_to_mend(name: str, tmp_path: Path) -> None:
    result = FinishedResult(recorded_results.unpack(name, tmp_path))
    script = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = with_script(render(load(result, build_summary(result))), f"<script>{script}</script>")
    found = run_probe(tmp_path, page, AXE, "--window-size=1400,900")
    assert found["met"] == []
    assert found["passed"] > 50


def test_every_chart_has_its_numbers_behind_it(seen: dict[str, Any]) -> None:
    found = seen["charts"]
    assert found["charts"] == found["tables"] > 10
    assert found["empty"] == 0


def test_the_first_screen_holds_machine_sentence_and_picture(seen: dict[str, Any]) -> None:
    found = seen["screen"]
    assert max(found["bottoms"]) < 900
    assert found["rows"] == 1
    assert found["vessels"] >= 5


def test_rows_beyond_the_first_are_unpacked_when_somebody_asks(tmp_path: Path) -> None:
    shape = Shape(ranks=tuple(range(1, 31)), blocks=tuple(131072 * index for index in range(1, 31)))
    text = render(ReportData(make_summary(shape)))
    probe = """
      document.querySelector("nav.tabs a[href='#part-rows']").click();
      const count = document.getElementById("rows-count"), search = document.getElementById("rows-search");
      while (!count.textContent) await pause(20);
      found.first = count.textContent;
      search.value = "scratch read";
      search.dispatchEvent(new Event("input"));
      while (count.textContent === found.first) await pause(20);
      found.searched = count.textContent;
    """
    assert run_probe(tmp_path, text, probe) == {
        "first": "200 of 2,000 rows shown (of the first 2,000, 3,600 in all)",
        "searched": "200 of 900 rows shown",
    }


def test_it_prints_on_few_pages_and_says_nothing_on_the_console(node: str, tmp_path: Path) -> None:
    page, pdf = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(node, encoding="utf-8")
    seen = browse(tmp_path, page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert console(seen) == []
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= MOST_PAGES


def test_without_scripts_everything_is_there_to_read(node: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(re.sub(r"<script.*?</script>", "", node, flags=re.DOTALL), encoding="utf-8")
    shown = browse(tmp_path, page, "--dump-dom").stdout
    assert "folded" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    assert (
        shown.count('class="panel"')
        == len(re.findall(r'<nav class="tabs".*?</nav>', node, re.DOTALL)[0].split("<a ")) - 1
    )
