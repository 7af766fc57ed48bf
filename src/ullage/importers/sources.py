# SPDX-License-Identifier: Apache-2.0
"""Files as importers get them: found in folders, unpacked, decoded, and without what terminals and launchers add.

A file may be packed (gzip, bzip2, xz, or one text of a tar or zip archive) and in UTF-8, UTF-16 or Latin-1. Lines are
read one at a time, so that a log may be larger than the memory.
"""

import codecs
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple, cast

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.reading import TABLE_BYTES, open_regular

_MOST_FILES: Final = 20_000
_HEAD_BYTES: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 20
_UNREAD: Final = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_LARGEST_ARCHIVE: Final = 8 << 30
_ARCHIVES: Final = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz", ".zip")
_BROKEN: Final = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
# What a terminal acts on, and what no line of a log has.
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CHUNK: Final = 1 << 20


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text: a file, or one that is in the archive ``path``. ``name``: as people see it, below what they named."""

    path: Path
    name: str
    member: str = ""

    @property
    def shown(self) -> str:
        """The name as errors have it."""
        return f"{self.name}:{self.member}" if self.member else self.name

    @property
    def where(self) -> str:
        """The path, with that in the archive."""
        return f"{self.path}:{self.member}" if self.member else str(self.path)


def sources_of(path: Path, name: str = "") -> list[Source]:
    """Return the texts that ``path`` stands for: itself, those of an archive, or all below a folder, in order."""
    if not path.is_dir():
        return _of_file(path, name or path.name)
    files = sorted(one for one in path.rglob("*") if one.is_file() and not _is_hidden(one.relative_to(path)))
    _check_count(path, len(files))
    return [source for one in files for source in _of_file(one, one.relative_to(path).as_posix())]


def _check_count(path: Path, files: int) -> None:
    if files > _MOST_FILES:
        raise UserError(f"has {files} files", str(path), f"import at most {_MOST_FILES} files at once")


def _is_hidden(path: PurePosixPath | Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _of_file(path: Path, name: str) -> list[Source]:
    if not path.name.lower().endswith(_ARCHIVES):
        return [Source(path, name)]
    names = sorted({one for one in _members(path, name) if not _is_hidden(PurePosixPath(one))})
    _check_count(path, len(names))
    return [Source(path, name, one) for one in names]


def _members(path: Path, shown: str) -> list[str]:
    with _readable(path, shown) as stream:
        if stream.read(4) == b"PK\x03\x04":
            stream.seek(0)
            with zipfile.ZipFile(stream) as packed:
                return [one.filename for one in packed.infolist() if not one.is_dir()]
    with _readable(path, shown):
        return [one.name for one in _tar(path, path.stat().st_mtime_ns) if one.isfile()]


@lru_cache(maxsize=1)
def _tar(path: Path, _changed_ns: int) -> tarfile.TarFile:
    """Return an archive, unpacked into a file without a name: in a packed one each step back begins at its start."""
    import tempfile
    import weakref

    with ExitStack() as undone:
        plain = undone.enter_context(tempfile.TemporaryFile())
        with _readable(path, str(path)) as stream:
            packed = _decompressed(stream)
            while chunk := packed.read(_CHUNK):
                plain.write(chunk)
                if plain.tell() > _LARGEST_ARCHIVE:
                    raise UserError("is too large unpacked", str(path), "unpack it, and give the folder")
            plain.seek(0)
            archive = tarfile.open(fileobj=plain)  # noqa: SIM115 - it is closed when nobody has it any more
        undone.pop_all()
    weakref.finalize(archive, plain.close)
    return archive


@contextmanager
def _readable(path: Path, shown: str) -> Generator[IO[bytes]]:
    """Open a file that somebody named; turn what is wrong with it into ``UserError``."""
    try:
        with open_regular(path) as stream:
            yield stream
    except _BROKEN as error:
        code = EXIT_ENVIRONMENT if isinstance(error, PermissionError) else EXIT_BAD_INPUT
        said = (error.strerror if isinstance(error, OSError) else None) or f"cannot be unpacked: {error}"
        raise UserError(said, shown, "name a file to import, whole", code) from error


@contextmanager
def opened(source: Source) -> Generator[IO[bytes]]:
    """Open the bytes of ``source`` unpacked; raise ``UserError`` for what cannot be."""
    shown = source.where
    with _readable(source.path, shown) as stream, ExitStack() as open_ones:
        if source.member and source.path.name.lower().endswith(".zip"):
            archive = open_ones.enter_context(zipfile.ZipFile(stream))
            yield open_ones.enter_context(_unpacked(archive.open(source.member), shown))
        elif source.member:
            packed = _tar(source.path, source.path.stat().st_mtime_ns)
            yield open_ones.enter_context(_unpacked(cast("IO[bytes]", packed.extractfile(source.member)), shown))
        else:
            yield open_ones.enter_context(_unpacked(stream, shown))


def _unpacked(stream: IO[bytes], shown: str) -> IO[bytes]:
    head = stream.read(512)
    stream.seek(0)
    unread = next((name for begin, name in _UNREAD.items() if head.startswith(begin)), "")
    if unread:
        raise UserError(f"is packed by {unread}", shown, "unpack it, and give the file or folder in it")
    if head[257:262] == b"ustar":
        raise UserError("is an archive", shown, f"name it so that it ends with one of {', '.join(_ARCHIVES)}")
    return _decompressed(stream)


def _decompressed(stream: IO[bytes]) -> IO[bytes]:
    import bz2
    import gzip

    head = stream.read(8)
    stream.seek(0)
    ways = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
    return next((cast("IO[bytes]", way(stream)) for begin, way in ways.items() if head.startswith(begin)), stream)


def _encoding(head: bytes, shown: str) -> str:
    """Return how a text that begins with ``head`` is encoded; raise ``UserError`` for what is no text."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    odd, even = head[1::2].count(0), head[::2].count(0)
    if max(odd, even) > len(head) // 8 and min(odd, even) < max(odd, even) // 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    if b"\x00" in head:
        raise UserError("is no text", shown, "give what the program has printed")
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


@contextmanager
def text_of(source: Source) -> Generator[IO[str]]:
    """Open ``source`` as text. A byte that is no character is shown as ``\\xNN``."""
    with opened(source) as stream:
        buffered = io.BufferedReader(cast("io.RawIOBase", stream), _HEAD_BYTES)
        head = buffered.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        yield io.TextIOWrapper(buffered, _encoding(head, source.shown), "backslashreplace", newline=None)


def whole_text(source: Source) -> str:
    """Return the text of ``source``, of at most ``TABLE_BYTES`` characters."""
    with text_of(source) as stream:
        text = stream.read(TABLE_BYTES + 1)
    if len(text) > TABLE_BYTES:
        raise UserError(f"is larger than {TABLE_BYTES >> 20} MiB", str(source.path), "name a file to import")
    return text


def marks_in(source: Source, marks: Sequence[str]) -> dict[str, str]:
    """Return those of ``marks`` that are in ``source``, in the order of ``marks``, each with the line up to its end."""
    found: dict[str, str] = {}
    open_marks, rest = list(marks), ""
    with text_of(source) as stream:
        while chunk := stream.read(_CHUNK):
            text = rest + chunk
            for mark in [mark for mark in open_marks if mark in text]:
                up_to = text[: text.index(mark) + len(mark)].rpartition("\n")[2]
                found[mark] = _ESCAPES.sub("", up_to)
                open_marks.remove(mark)
            rest = text[-_HEAD_BYTES // 16 :]
    return {mark: found[mark] for mark in marks if mark in found}


def lines_of(source: Source, before: str = "") -> Iterator[Line]:
    """Yield the lines without escapes, and without beginnings like ``before``, which launchers and logs put there."""
    prefix = _like(before)
    with text_of(source) as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            if "\x1b" in line:
                line = _ESCAPES.sub("", line)
            line = line.rstrip("\n")
            if prefix is not None and (match := prefix.match(line)):
                line = line[match.end() :]
            yield Line(line, number)


def _like(before: str) -> re.Pattern[str] | None:
    """Return a pattern of texts like ``before``: other digits for digits, other letters for letters."""
    if not before.strip() or len(before) > 128:
        return None
    parts = re.findall(r"\d+|[^\W\d_]+|\s+|.", before.lstrip())
    # Blanks at the end are no more than there: those that follow are the program's own.
    blanks = rf"\s{{0,{len(parts.pop())}}}" if parts[-1].isspace() else ""
    return re.compile("".join([r"\s*", *(_alike(part) for part in parts), blanks]))


def _alike(part: str) -> str:
    if part.isspace():
        return r"\s+"
    return r"\d+" if part.isdigit() else r"[^\W\d_]+" if part.isalpha() else re.escape(part)
