# SPDX-License-Identifier: Apache-2.0
"""Results of others as results of ours. A module sets ``FORMS``, declared by the kit in ``forms``, or ``IMPORTERS``.

Forms of what one suite measures stand in its ``importer.py``, all others here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, cast

import ullage
from ullage.analysis.findings.phrasing import finding
from ullage.discovery import gathered, modules_in, suite_modules
from ullage.errors import UserError
from ullage.harmless import harmless_json
from ullage.identity import new_run_id
from ullage.importers.forms import Form, documents, summary_of
from ullage.importers.rows import IMPORT_SUITE, Importer, with_machine
from ullage.importers.sources import Source, lines_of, marks_in, opened, sources_of, whole_text
from ullage.model.machine import MachineFile
from ullage.model.request import Request, read_option
from ullage.model.summary import Summary
from ullage.quantity import listing
from ullage.reading import open_regular
from ullage.results.folder import BESIDE, ResultFolder, is_result

_FOLDER: Final = "imported"
# Between the names of forms in a request, where files have several.
_AND: Final = "+"
_BEGIN: Final = 16
_MOST_NAMED: Final = 2
Reader = Importer | Form


@dataclass(frozen=True, slots=True)
class _Known:
    """A text and what reads it, each with what stands before its lines."""

    source: Source
    readers: tuple[tuple[Reader, str], ...]


def load_importers() -> dict[str, Reader]:
    """Return all importers by name: those of this package, and those of suites that have a form of their own."""
    modules = [*modules_in(__name__), *suite_modules("importer")]
    found: list[Reader] = [*gathered(modules, "IMPORTERS"), *gathered(modules, "FORMS")]
    return {importer.name: importer for importer in sorted(found, key=lambda importer: importer.name)}


def read(path: Path | Sequence[Path], form: str | None = None, machine: MachineFile | None = None) -> Summary:
    """Read files in known forms (by their content, or as ``form`` says); raise ``UserError`` for an unknown form.

    A folder stands for the files that an importer knows it by, else for all below it, here as in the functions below.
    ``machine``: what is declared of the system that they are of.
    """
    return _read(_sources(path), form, machine)


def _read(sources: Sequence[Source], form: str | None, machine: MachineFile | None = None) -> Summary:
    known = _known(sources, form)
    # Texts of JSON may have escapes, so what was read is cleaned and not the file.
    found = harmless_json(_summary(known).model_dump_json().encode())
    changed = datetime.fromtimestamp(known[0].source.path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    summary = Summary.model_validate_json(found)
    rows = with_machine(summary.rows, machine)
    return summary.model_copy(update={"created": changed, "run_id": "imported", "rows": rows})


def _summary(known: Sequence[_Known]) -> Summary:
    """Read all texts: together where their importer takes several at once, else one by one."""
    first = known[0].readers[0][0]
    if isinstance(first, Importer) and first.read_all is not None:
        return first.read_all({one.source.shown: whole_text(one.source) for one in known})
    found: list[tuple[_Known, Summary]] = []
    left: list[UserError] = []
    for one in known:
        for reader in one.readers:
            try:
                found.append((one, _read_by(one.source, *reader)))
            except UserError as error:
                left.append(error)
    if not found:
        raise left[0]
    if len(found) == 1 and not left:
        return found[0][1]
    scored = next((one for one, summary in found if summary.scores), None)
    if scored is not None:
        raise UserError("has scores, which belong to one result", scored.source.shown, "import it by itself")
    rows = [row for _, summary in found for row in summary.rows]
    if len(known) > 1:
        of_file = [(row, one.source.shown) for one, summary in found for row in summary.rows]
        rows = [row.model_copy(update={"params": {**row.params, "file": file}}) for row, file in of_file]
    versions = {name: version for _, summary in found for name, version in summary.versions.items()}
    said = [finding("import-remark", "", f"{error.where} is passed over: {error.what}.", "warning") for error in left]
    findings = [*said, *(one for _, summary in found for one in summary.findings)]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", versions=versions, rows=rows, findings=findings)


def _read_by(source: Source, reader: Reader, before: str) -> Summary:
    if isinstance(reader, Importer):
        return reader.read(whole_text(source), source.shown)
    if reader.read_stream is not None:
        with opened(source) as stream:
            return summary_of(reader, reader.read_stream(stream), source.shown)
    if reader.read is not None:
        return summary_of(reader, reader.read(lines_of(source, before)), source.shown)
    of_each = reader.read_document
    texts = documents(whole_text(source), source.shown)
    return summary_of(reader, (one for text in texts if of_each for one in of_each(text)), source.shown)


def write_import(
    path: Path | Sequence[Path], place: Path | None, options: dict[str, object], command: list[str]
) -> ResultFolder:
    """Make a result in ``place`` with copies of the files; ``options``: of ``import_options``."""
    import shutil

    now = datetime.now(UTC)
    request = Request(
        run_id=new_run_id(now),
        suite=IMPORT_SUITE,
        created=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        command=command,
        options=options,
        versions={"ullage": ullage.__version__},
    )
    result = ResultFolder.create(place, request)
    for source in {source.name: source for source in _sources(path)}.values():
        if source.name in cast("list[str]", options["files"]):
            copy = result.path / _FOLDER / source.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.path, copy)
    return result


def import_options(
    path: Path | Sequence[Path], form: str | None = None, machine: MachineFile | None = None
) -> dict[str, object]:
    """Make the options of an import's request; read the whole files first, so that a bad one leaves no result."""
    import hashlib

    known = _known(_sources(path), form)
    _summary(known)
    names = sorted({reader.name for one in known for reader, _ in one.readers})
    digests: list[str] = []
    for file in _files(known).values():
        with open_regular(file) as stream:
            digest = hashlib.sha256()
            for piece in iter(partial(stream.read, 1 << 20), b""):
                digest.update(piece)
            digests.append(digest.hexdigest())
    declared = {} if machine is None else {"machine": machine.model_dump(mode="json", exclude_defaults=True)}
    return {"form": _AND.join(names), "files": list(_files(known)), "sha256": digests, **declared}


def imported_summary(result: ResultFolder, request: Request) -> Summary:
    """Make the summary of an imported result again, from the copies of its files."""
    named, form = request.options.get("files"), request.options.get("form")
    names = [str(name) for name in cast("list[object]", named)] if isinstance(named, list) else []
    if not names or not all(map(_is_below, names)) or not isinstance(form, str):
        raise UserError("is damaged: it names no imported file", str(result.path / "request.json"), "import it again")
    sources = [source for name in names for source in sources_of(result.path / _FOLDER / name, name)]
    summary = _read(sources, form, read_option(MachineFile, request, "machine"))
    own = request.model_dump(include={"run_id", "created", "command"})
    return summary.model_copy(update={**own, "versions": {**summary.versions, **request.versions}})


def with_beside(summary: Summary, result: ResultFolder) -> Summary:
    """Return ``summary`` with the rows of another program that a run was asked to show beside its own, if any."""
    if not is_result(result.path / BESIDE):
        return summary
    other = ResultFolder(result.path / BESIDE)
    request = other.read_request()
    name = listing(cast("list[str]", request.options["files"]), _MOST_NAMED)
    return summary.model_copy(update={"beside": {name: imported_summary(other, request).rows}})


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and "\x00" not in name


def _files(known: Sequence[_Known]) -> dict[str, Path]:
    """Return the files by the names under which a result keeps them; an archive is kept whole."""
    return {one.source.name: one.source.path for one in known}


def _sources(path: Path | Sequence[Path]) -> list[Source]:
    """Return the texts that are asked for; raise ``UserError`` for two files of one name."""
    asked = [path] if isinstance(path, Path) else list(path)
    found = [source for part in asked for source in (_in_folder(part) if part.is_dir() else sources_of(part))]
    names = Counter(source.shown for source in found)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise UserError("two files have the same name", twice, "import them one by one")
    return found


def _in_folder(folder: Path) -> list[Source]:
    """Return the files by whose names an importer knows the folder, else all that are below it."""
    importers = [one for one in load_importers().values() if isinstance(one, Importer)]
    for importer in importers:
        found = [folder / name for name in importer.files if (folder / name).is_file()]
        if found:
            return [Source(one, one.name) for one in (found if importer.read_all is not None else found[:1])]
    if all_below := sources_of(folder):
        return all_below
    raise UserError("contains no file", str(folder), "name a file to import, or a folder with such")


def _known(sources: Sequence[Source], form: str | None) -> list[_Known]:
    """Return the texts with what reads each. Of several files, those of no known form are passed over."""
    importers = load_importers()
    if form is not None:
        for name in form.split(_AND):
            if name not in importers:
                raise UserError("no such form", f"'{name}'", f"one of {', '.join(importers)}")
        importers = {name: importers[name] for name in form.split(_AND)}
    found: list[_Known] = []
    for source in sources:
        try:
            found.append(_Known(source, _readers(source, importers, is_named=form is not None)))
        except UserError:
            if len(sources) == 1:
                raise
    if not found:
        names = [name for one in importers.values() if isinstance(one, Importer) for name in one.files]
        where = str(sources[0].path) if sources else ""
        right = f"name a file, or a folder with {' or '.join(names)}"
        raise UserError("contains no result that can be imported", where, right)
    return found


def _readers(source: Source, importers: Mapping[str, Reader], *, is_named: bool) -> tuple[tuple[Reader, str], ...]:
    """Return what reads a text: the importer that claims it, all forms whose marks it has, or the first importer."""
    with opened(source) as stream:
        begin = stream.read(_BEGIN)
    for one in importers.values():
        if isinstance(one, Form) and one.head and re.match(one.head, begin):
            return ((one, ""),)
    marks = [mark for importer in importers.values() for mark in importer.marks]
    seen = marks_in(source, marks)
    older = [one for one in importers.values() if isinstance(one, Importer)]
    claiming = [one for one in older if any(mark in seen for mark in one.marks)]
    forms = [one for one in importers.values() if isinstance(one, Form) and any(mark in seen for mark in one.marks)]
    hidden = {name for one in forms for name in one.hides}
    if forms and not claiming:
        shown = [one for one in forms if one.name not in hidden]
        return tuple((one, one.before(seen)) for one in shown)
    text = whole_text(source)
    found = [one for one in (*claiming, *older) if one.recognises(text)]
    if found:
        return ((found[0], ""),)
    if not is_named:
        raise _refusal(text, source.where, load_importers().values())
    (named,) = importers.values()
    try:
        other, _ = _readers(source, load_importers(), is_named=False)[0]
    except UserError:
        return ((named, ""),)
    raise UserError(f"is not of format {named.name}", source.where, f"give --format {other.name}, or no --format")


# Words of outputs that are not read, what they are of, and what that program measures.
_SEEN: Final = (
    ("stress-ng:", "stress-ng, whose bogus operations compare with nothing", "processors"),
    ("proc'd:", "gpu-burn", "accelerators"),
    ("BT-IO Benchmark", "BT-IO", "storage"),
    ("bandwidthTest", "bandwidthTest of CUDA", "accelerators"),
    ("RDMA_Write BW Test", "perftest", "messages"),
    ("#bytes     #iterations", "perftest", "messages"),
    ("(g=0): rw=", "fio's text; run fio with --output-format=json", "storage"),
    ("3;fio-", "fio's terse form; run fio with --output-format=json", "storage"),
    ("MD-Workbench", "md-workbench", "storage"),
    ("=== Model Options ===", "trtexec", "accelerators"),
    ("==PROF==", "Nsight Compute", "accelerators"),
    ("vendid=0x", "ibnetdiscover", "messages"),
    ("# darshan log version", "darshan-parser", "applications"),
    ("Performance counter stats for", "perf stat", "processors"),
    ("io500_info_", "the system information of IO500", "storage"),
)
_INI: Final = re.compile(r"^\s*\[[\w. -]+\]\s*$", re.MULTILINE)
_LONGEST: Final = 60
_HEAD: Final = 1 << 16


def _refusal(text: str, place: str, importers: Iterable[Reader]) -> UserError:
    what, kind = _what(text)
    names = [one.name for one in importers if kind and one.kind == kind]
    right = f"what is read of {kind}: {', '.join(names)}" if names else "`ullage import --help` names what is read"
    return UserError(f"has no format that can be imported: {what}", place, right)


def _what(text: str) -> tuple[str, str]:
    head = text[:_HEAD]
    for words, program, kind in _SEEN:
        if words in head:
            return f"it is of {program}", kind
    first = next((line.strip() for line in head.splitlines() if line.strip()), "")
    if not first:
        return "it is empty", ""
    if first[0] in "{[" and first[1:2] in ('"', "{", "", " ", "}"):
        return "it is JSON with none of the names that are known", ""
    if _INI.search(head) and "=" in head:
        return "it is a file of settings", ""
    shown = first if len(first) <= _LONGEST else f"{first[: _LONGEST - 3]}..."
    return f"it begins with '{shown}'", ""
