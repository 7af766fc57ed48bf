# SPDX-License-Identifier: Apache-2.0
"""How soon the page of a result can be read: ``python -m benchmarks.page_load RESULT/report.html``.

Chromium without a window opens the page several times, each time with an empty profile. Printed are the time
from the start of the navigation to the end of loading (median, least and most), the size, and the number of pages that
it prints on.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.e2e.browser import CHROMIUM, MISSING

_TIMES: Final = 7
_PROBE: Final = """<script>addEventListener("load", () => {
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = performance.now();
  document.body.append(out);
});</script>"""


def loaded_ms(page: Path) -> float:
    """Milliseconds from the start of the navigation to the end of loading, once."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*_chromium(Path(folder)), "--dump-dom", page.as_uri()]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    match = re.search(r'<pre id="seen">(.+?)</pre>', done.stdout)
    if match is None:
        sys.exit(f"the page said nothing: {done.stderr[-500:]}")
    return float(match.group(1))


def printed_pages(page: Path) -> int:
    """Sheets of A4 or letter paper, as Chromium prints by itself."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "page.pdf"
        words = [*_chromium(Path(folder)), f"--print-to-pdf={place}", "--no-pdf-header-footer"]
        words += ["--virtual-time-budget=20000", page.as_uri()]
        subprocess.run(words, capture_output=True, check=True, timeout=120)
        return len(re.findall(rb"/Type\s*/Page\b", place.read_bytes()))


def _chromium(folder: Path) -> list[str]:
    if CHROMIUM is None:
        sys.exit(MISSING)
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900"]
    return [CHROMIUM, *common, f"--user-data-dir={folder / 'profile'}"]


def main() -> None:
    """Measure the page that is named."""
    page = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        probed = Path(folder) / "page.html"
        # The page's own policy would stop the probe; it allows the page's own scripts, which still run.
        text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text(encoding="utf-8"))
        head, end, tail = text.rpartition("</body>")
        probed.write_text(head + _PROBE + end + tail, encoding="utf-8")
        times = [loaded_ms(probed) for _ in range(_TIMES)]
    print(f"load   {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f}, {_TIMES} times)")
    print(f"size   {page.stat().st_size / 1e6:.2f} MB")
    print(f"print  {printed_pages(page)} pages")


if __name__ == "__main__":
    main()
