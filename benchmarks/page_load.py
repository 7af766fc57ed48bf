# SPDX-License-Identifier: Apache-2.0
"""How soon the page of a result can be read and used: ``python -m benchmarks.page_load RESULT/report.html``.

Chromium without a window opens the page several times, each time with an empty profile. Printed are (median, least and
most) the times from the start of the navigation to the end of loading, the first paint, the first chart and the last
one; how long it takes to open the table of all rows, to search it for the first time and again, to sort it, and to show
more rows; the size, and the number of pages that it prints on. A page without rows or charts is not for this.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

from tests.e2e.browser import CHROMIUM, MISSING

_TIMES: Final = 7
_PATIENCE_S: Final = 120
_BEFORE: Final = """<script>const seen = {};
addEventListener("load", () => { seen["end of loading"] = performance.now(); });
new MutationObserver((_, self) => {
  if (!document.querySelector("[data-figure] svg")) return;
  seen["first chart"] = performance.now();
  self.disconnect();
}).observe(document, { subtree: true, childList: true });
</script>"""
_AFTER: Final = """<script>(async () => {
  const byId = (id) => document.getElementById(id), pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const until = async (holds) => { while (!holds()) await pause(2); };
  const painted = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const timed = async (name, act, holds) => {
    const start = performance.now();
    act();
    await until(holds);
    await painted();
    seen[name] = performance.now() - start;
  };
  const table = byId("rows-table"), first = () => table.tBodies[0].rows[0];
  const search = (word) => { byId("rows-search").value = word; byId("rows-search").dispatchEvent(new Event("input")); };
  await until(() => document.documentElement.dataset.drawn);
  seen["last chart"] = performance.now();
  seen["first paint"] = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const link = document.querySelector("nav.tabs a[href='#part-rows']");
  await timed("open the rows", () => link.click(), () => table.dataset.ready !== undefined);
  for (const [name, word] of [["first search", "1"], ["another search", "2"]]) {
    const before = first();
    await timed(name, () => search(word), () => first() !== before);
  }
  const before = first(), count = table.tBodies[0].rows.length;
  await timed("sort", () => table.tHead.querySelector("[role=button]").click(), () => first() !== before);
  if (!byId("rows-more").parentElement.hidden)
    await timed("more rows", () => byId("rows-more").click(), () => table.tBodies[0].rows.length !== count);
  fetch(ADDRESS, { method: "POST", mode: "no-cors", body: JSON.stringify(seen) });
})();</script>"""


class _Listener(HTTPServer):
    """Takes what the page says of itself."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.timeout = _PATIENCE_S
        self.said: dict[str, float] = {}


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def do_POST(self) -> None:
        self.server.said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        del format, args


def times_ms(page: Path, listener: _Listener) -> dict[str, float]:
    """Open ``page`` once; return its times in ms by name."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [*_chromium(Path(folder)), "--remote-debugging-port=0", page.as_uri()]
        browser = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listener.said = {}
        listener.handle_request()
        browser.terminate()
        browser.wait()
    return listener.said or sys.exit("the page said nothing")


def printed_pages(page: Path) -> int:
    """Sheets of A4 or letter paper, as Chromium prints by itself."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "page.pdf"
        words = [*_chromium(Path(folder)), f"--print-to-pdf={place}", "--no-pdf-header-footer"]
        words += ["--virtual-time-budget=20000", page.as_uri()]
        subprocess.run(words, capture_output=True, check=True, timeout=_PATIENCE_S)
        return len(re.findall(rb"/Type\s*/Page\b", place.read_bytes()))


def _chromium(folder: Path) -> list[str]:
    if CHROMIUM is None:
        sys.exit(MISSING)
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900"]
    return [CHROMIUM, *common, f"--user-data-dir={folder / 'profile'}"]


def _probed(text: str, address: str) -> str:
    """Return the page with the probe in it, and without its own policy, which would stop the probe."""
    text = re.sub(r"<meta http-equiv=[^>]*>", "", text).replace("<head>", f"<head>{_BEFORE}", 1)
    head, end, tail = text.rpartition("</body>")
    return head + _AFTER.replace("ADDRESS", json.dumps(address)) + end + tail


def main() -> None:
    """Measure the page that is named."""
    page = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, _Listener() as listener:
        probed = Path(folder) / "page.html"
        address = f"http://127.0.0.1:{listener.server_address[1]}/"
        probed.write_text(_probed(page.read_text(encoding="utf-8"), address), encoding="utf-8")
        seen = [times_ms(probed, listener) for _ in range(_TIMES)]
    for name in seen[0]:
        times = [one[name] for one in seen if name in one]
        print(
            f"{name:<16}{statistics.median(times):6.0f} ms ({min(times):.0f} to {max(times):.0f}, {len(times)} times)"
        )
    print(f"{'size':<16}{page.stat().st_size / 1e6:6.2f} MB")
    print(f"{'print':<16}{printed_pages(page):6} pages")


if __name__ == "__main__":
    main()
