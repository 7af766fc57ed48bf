# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window and without a network, for the tests that look at pages."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any, Final

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
MISSING = "no chromium on this machine: the report is not looked at in a browser"
_SECONDS = 90


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
    return subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=True)


def console(seen: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page's scripts had to say."""
    return [line for line in seen.stderr.splitlines() if "CONSOLE" in line]


def with_script(page: str, script: str) -> str:
    """Put ``script`` at the end of the page."""
    head, end, tail = page.rpartition("</body>")
    return head + script + end + tail


def run_probe(folder: Path, page: str, probe: str, *options: str) -> dict[str, Any]:
    """What ``probe`` leaves in ``found`` when all charts are drawn.

    The page's own policy would stop the probe, as it stops every script that is not the report's.
    """
    return _probed(folder, with_script(_open(page, _posting(probe)), _KEPT), *options)


def run_probe_in_frames(folder: Path, page: str, probe: str, widths: Sequence[int], *options: str) -> dict[str, Any]:
    """The same in a frame of each of ``widths`` in turn, by the width: no window of Chromium is as narrow as a phone.

    The frame is within the document: time of a page of its own would not be Chromium's virtual time.
    """
    style = f"body {{ margin: 0 }} iframe {{ border: 0; width: {widths[0]}px; height: 100vh }}"
    at_each = f"""
      const all = found, frame = parent.document.querySelector("iframe");
      for (const width of {json.dumps(widths)}) {{
        const found = all[width] = {{}};
        frame.style.width = `${{width}}px`;
        await pause(100);
        {probe}
      }}"""
    framed = escape(_open(page, _posting(at_each)))
    outer = f'<!DOCTYPE html><style>{style}</style><body>{_KEPT}<iframe srcdoc="{framed}"></iframe>'
    return _probed(folder, outer, *options)


def _open(page: str, script: str) -> str:
    return with_script(re.sub(r"<meta http-equiv=[^>]*>", "", page), script)


def _posting(probe: str) -> str:
    return f"""<script>(async () => {{
      const found = {{}}, pause = (ms) => new Promise((go) => setTimeout(go, ms));
      while (!document.documentElement.dataset.drawn) await pause(20);
      try {{ {probe} }} catch (error) {{ found.error = String(error); }}
      top.postMessage(JSON.stringify(found), "*");
    }})();</script>"""


def _probed(folder: Path, page: str, *options: str) -> dict[str, Any]:
    place = folder / "probe.html"
    place.write_text(page, encoding="utf-8")
    seen = browse(folder, place, "--dump-dom", *options)
    match = re.search(r'<pre id="found">(.+?)</pre>', seen.stdout, re.DOTALL)
    assert match is not None, seen.stderr[-2000:]
    return json.loads(unescape(match.group(1)))


_KEPT: Final = """<script>addEventListener("message", (event) => {
  if (typeof event.data !== "string" || event.data[0] !== "{") return;
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = event.data;
  document.body.append(out);
});</script>"""
