# SPDX-License-Identifier: Apache-2.0
"""Recorded results in archives, and what the command line made of them, frozen.

Nothing in here imports the package under test: it goes through ``ullage``'s command line alone, so it outlives every
change of what stands behind that. Run as a program it adds a result to those that are recorded:

    python tests/support/recorded_results.py NAME RESULT [OLD=NEW ...]
"""

import base64
import hashlib
import io
import json
import lzma
import re
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import cache
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "golden" / "results"
# A result without what is made again from the rest.
LEFT_OUT = ("summary.json", "report.html", "tables")
# Forms of `ullage report` that are text, by their names.
TEXTS = ("json", "md", "csv", "terminal", "openmetrics", "github-action-benchmark")
_MOST_DIFFERENCES = 60
_XZ: dict[str, Any] = {"preset": 9 | lzma.PRESET_EXTREME}

Frozen = dict[str, Any]
Command = Callable[[list[str]], str]


def names() -> list[str]:
    """Return the names of all recorded results."""
    return sorted(path.name.removesuffix(".tar.xz") for path in RECORDED.glob("*.tar.xz"))


def unpack(name: str, folder: Path) -> Path:
    """Write the recorded result below ``folder`` and return its path. Only plain files are taken."""
    result = folder / name
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None, f"{member.name} is no plain file"
            path = result / member.name
            assert path.resolve().is_relative_to(result.resolve()), member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
    return result


def pack(name: str, result: Path, rewrites: Sequence[tuple[str, str]] = ()) -> Path:
    """Write the archive of ``result``: the same bytes whenever and by whomever it is made."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in result.rglob("*") if path.is_file()):
            inner = path.relative_to(result)
            if any(part in LEFT_OUT for part in inner.parts):
                continue
            content = path.read_bytes()
            for old, new in rewrites:
                content = content.replace(old.encode(), new.encode())
            member = tarfile.TarInfo(inner.as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    made = RECORDED / f"{name}.tar.xz"
    made.write_bytes(lzma.compress(plain.getvalue(), **_XZ))
    return made


def outputs(result: Path, command: Command, version: str) -> Frozen:
    """What the command line says of ``result``. ``command`` runs ``ullage`` and returns what it wrote to stdout."""
    page = result.parent / "page" / "report.html"
    page.parent.mkdir()
    command(["report", str(result), "--format", "html", "--output", str(page)])
    html = without_folder(page.read_text(encoding="utf-8"), result)
    texts = {form: without_folder(command(["report", str(result), "--format", form]), result) for form in TEXTS}
    return {**texts, "page": visible_lines(html, version), "charts": charts(html)}


def without_folder(text: str, result: Path) -> str:
    """``text`` with a fixed word for the folder of the result, which is another in each run of the tests."""
    return text.replace(str(result), "FOLDER")


def visible_lines(html: str, version: str) -> list[str]:
    """What a reader of the page sees, a block a line, with the hints behind cells and without our own version."""
    page = _Page()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.text).split("\n"))
    return [line.replace(f"Ullage {version}", "Ullage VERSION") for line in lines if line]


def charts(html: str) -> list[list[str]]:
    """Name and digest of every chart of the page, in its order."""
    (found,) = re.findall(r'<script type="text/plain" id="figures">(.*?)</script>', html)
    figures = json.loads(zlib.decompress(base64.b64decode(found)))
    return [[name, _digest(spec)] for name, spec in [("config", figures["config"]), *figures["specs"].items()]]


def _digest(spec: object) -> str:
    canonical = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


class _Page(HTMLParser):
    """Collects text; the tags that stand within a line leave no trace."""

    _INLINE = frozenset({"a", "abbr", "b", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup"})
    _UNSEEN = frozenset({"script", "style"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in self._UNSEEN
        self._break(tag)
        self.text.extend(f"[{value}] " for name, value in attrs if name == "title" and value)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in self._UNSEEN
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            # A line of the source is no line of the page.
            self.text.append(data.replace("\n", " "))

    def _break(self, tag: str) -> None:
        if tag not in self._INLINE:
            self.text.append("\n")


def read_frozen(name: str) -> Frozen:
    """As ``write_frozen`` has left it."""
    return json.loads(lzma.decompress((RECORDED / f"{name}.json.xz").read_bytes()))


@cache
def frozen_summaries() -> tuple[tuple[str, Frozen], ...]:
    """The name and the frozen summary of every recorded result and import. Nobody changes them: they are read once."""
    places = sorted(
        path.relative_to(RECORDED).as_posix().removesuffix(".json.xz") for path in RECORDED.rglob("*.json.xz")
    )
    found = ((name, read_frozen(name)["json"]) for name in places)
    return tuple((name, json.loads(summary) if isinstance(summary, str) else summary) for name, summary in found)


def write_frozen(name: str, found: Mapping[str, Any]) -> None:
    """Take ``found`` for right from now on."""
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (RECORDED / f"{name}.json.xz").write_bytes(lzma.compress(text.encode(), **_XZ))


def differences(frozen: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Lines for people that say where ``found`` is not what was frozen; none where every byte is the same."""
    return [line for key in sorted({*frozen, *found}) for line in _difference(key, frozen.get(key), found.get(key))]


def _difference(key: str, frozen: object, found: object) -> Iterator[str]:
    if frozen == found:
        return
    before, after = _lines(frozen), _lines(found)
    yield f"== {key}: {len(before)} lines were frozen, {len(after)} lines are found"
    changed = unified_diff(before, after, "frozen", "found", n=1, lineterm="")
    yield from islice(changed, _MOST_DIFFERENCES)


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        # With their ends, so that a line that lost its own is seen.
        return [repr(line) for line in value.splitlines(keepends=True)]
    return [str(item) for item in value] if isinstance(value, list) else [repr(value)]


if __name__ == "__main__":
    asked_name, asked_result, *asked_rewrites = sys.argv[1:]
    split = [rewrite.partition("=") for rewrite in asked_rewrites]
    sys.stdout.write(f"{pack(asked_name, Path(asked_result), [(old, new) for old, _, new in split])}\n")
