# SPDX-License-Identifier: Apache-2.0
"""Whoever does what the refusal of an import advises is understood, sooner or later."""

import io
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from importers.test_storage_texts import IOR_2
from ullage.errors import UserError
from ullage.importers import load_importers, read
from ullage.model.summary import Row

TABLE = "target,access,ranks,block_bytes,bandwidth_mb_per_s\n"
PMBW = "RESULT\thost=n\tfuncname=Scan\tnthreads=1\tareasize=4096\tbandwidth=1e9\n"
PA1 = "workload,threads,block,measured_mb_s,iozone_mb_s,theoretical_mb_s\n"


def _tar(text: str) -> bytes:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("ior.log")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text.encode()))
    return tar.getvalue()


def _zip(text: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        zipped.writestr("ior.log", text)
    return packed.getvalue()


TEXTS: list[tuple[str, str]] = [
    ("x.csv", f"{TABLE}a,read,1,8,1.5\na,read,1,8,1.5\n"),
    ("x.csv", f"{TABLE}a,erase,1,8,1.5\n"),
    ("x.csv", f"{TABLE}a,read,none,8,1.5\n"),
    ("x.csv", f"{TABLE}a,read,1,8K,1.5\n"),
    ("x.csv", f"{TABLE}a,read,1,8,fast\n"),
    ("x.csv", f"{TABLE},read,1,8,1.5\n"),
    ("x.csv", f'{TABLE}"a,read,1,8,1.5\n'),
    ("x.csv", TABLE),
    ("x.csv", f"note,{TABLE}b,a,read,1,8,1.5\n"),
    ("x.csv", "target,access,bandwidth_mb_per_s\na,read,1.5\n"),
    ("x.log", PMBW.replace("funcname=Scan\t", "")),
    ("x.log", PMBW.replace("=4096", "=many")),
    ("x.log", PMBW.replace("=1e9", "=-1")),
    ("x.csv", f"{PA1}RS,0,1MB,1,1,1\n"),
    ("x.csv", f"{PA1}RS,1,1 mile,1,1,1\n"),
    ("x.csv", f"{PA1}RS,1,1MB,fast,1,1\n"),
    ("x.csv", f"{PA1}RS,1,1MB,1\n"),
    ("x.csv", f'{PA1}RS,1,1MB,"1,1,1\n'),
]


def _right_value(advice: str, wrong: str) -> str:
    """The value that an advice names: an example, one of a list, or a number of the kind it wants."""
    if match := re.search(r"for example (\S+)", advice):
        return match[1].rstrip(",;")
    if match := re.search(r"one of ([\w -]+)", advice):
        return match[1]
    if "whole number" in advice or "number" in advice:
        return "7"
    if "a name of at most" in advice:
        return "name"
    if match := re.match(r"write ([^ ,]+)", advice):
        return match[1]
    raise AssertionError(f"nobody can follow this advice for '{wrong}': {advice}")


def _columns(advice: str) -> list[str]:
    return advice.partition("columns are ")[2].split(",")


def _followed(text: str, error: UserError) -> str:
    """Return the text of a file after what its reader did because of ``error``."""
    lines, advice = text.splitlines(), error.right or ""
    number = int(found[1]) if (found := re.search(r":(\d+)", error.where)) else 0
    if "remove it" in advice:
        return "\n".join([*lines[: number - 1], *lines[number:]])
    if "close each quote" in advice:
        return text.replace('"', "")
    if advice.startswith("the columns are "):
        return "\n".join([",".join(_columns(advice)), "a,read,1,8,1.5"])
    if advice.startswith("a line for each cell"):
        return f"{text}a,read,1,8,1.5\n"
    if "write one for each column" in advice:
        missing = lines[0].count(",") - lines[number - 1].count(",")
        return "\n".join([*lines[: number - 1], lines[number - 1] + ",1" * missing, *lines[number:]])
    if match := re.search(r"name it, for example (\S+)", advice):
        return text.replace("RESULT\t", f"RESULT\t{match[1]}\t")
    return "\n".join([*lines[: number - 1], _with_value(lines[0], lines[number - 1], error), *lines[number:]])


def _with_value(head: str, line: str, error: UserError) -> str:
    advice = error.right or ""
    wrong = found[1] if (found := re.match(r"'(.*?)' is", error.what)) else ""
    right = _right_value(advice, wrong)
    if column := re.search(r"column (\d+)$", error.where):
        cells = line.split(",")
        cells[int(column[1]) - 1] = right
        return ",".join(cells)
    if named := re.search(r"a value of (\w+)$", error.what):
        return re.sub(rf"{named[1]}=\S+", f"{named[1]}={right}", line)
    cells = line.split(",")
    cells[head.split(",").index(error.where.rpartition(", ")[2])] = right
    return ",".join(cells)


@pytest.mark.parametrize(("name", "text"), TEXTS)
def test_the_advice_for_a_text_leads_to_rows(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for tries in range(5):
        path.write_text(text)
        try:
            assert read(path).rows
        except UserError as error:
            text = _followed(text, error)
        else:
            assert tries > 0, "this text was to be refused"
            return
    raise AssertionError(f"the advice goes in circles: {text}")


def _renamed(path: Path, error: UserError) -> Sequence[Path]:
    (ends,) = re.findall(r"ends with one of (.*)", error.right or "")
    return [path.rename(path.with_name(path.stem + end)) for end in ends.split(", ")[:1]]


def _unpacked(path: Path, error: UserError) -> Sequence[Path]:
    assert "unpack it" in (error.right or "")
    inner = path.with_name("inner")
    if "zstd" in error.what:
        subprocess.run(["zstd", "-q", "-d", str(path), "-o", str(inner)], check=True)
        return [inner]
    shutil.unpack_archive(path, inner, "zip")
    return [inner]


def test_the_advice_for_a_packed_file_leads_to_rows(tmp_path: Path) -> None:
    right = [row.repetitions for row in _rows([_written(tmp_path / "right.log", IOR_2.encode())])]
    for name, content, follow in (("tar.log", _tar(IOR_2), _renamed), ("zip.log", _zip(IOR_2), _unpacked)):
        path = _written(tmp_path / name, content)
        with pytest.raises(UserError) as caught:
            read([path])
        assert [row.repetitions for row in _rows(follow(path, caught.value))] == right


@pytest.mark.skipif(shutil.which("zstd") is None, reason="not available: zstd")
def test_the_advice_for_a_file_of_zstd_leads_to_rows(tmp_path: Path) -> None:
    plain, path = _written(tmp_path / "plain", IOR_2.encode()), tmp_path / "x.log"
    subprocess.run(["zstd", "-q", str(plain), "-o", str(path)], check=True)
    with pytest.raises(UserError) as caught:
        read([path])
    assert _rows(_unpacked(path, caught.value))


def test_two_files_of_one_name_can_be_imported_one_by_one_as_advised(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        _written(tmp_path / name / "x.log", IOR_2.encode())
    both = [tmp_path / name / "x.log" for name in ("a", "b")]
    with pytest.raises(UserError, match="import them one by one"):
        read(both)
    assert all(_rows([path]) for path in both)


def test_each_form_that_a_refusal_offers_is_one(tmp_path: Path) -> None:
    path = _written(tmp_path / "x.log", IOR_2.encode())
    with pytest.raises(UserError) as caught:
        read([path], "oir")
    offered = (caught.value.right or "").removeprefix("one of ").split(", ")
    assert "ior" in offered
    assert set(offered) == set(load_importers())
    assert read([path], "ior").rows


def test_a_format_of_which_a_text_is_not_is_refused_with_the_one_that_reads_it(tmp_path: Path) -> None:
    path = _written(tmp_path / "x.log", IOR_2.encode())
    with pytest.raises(UserError, match="is not of format iozone") as caught:
        read([path], "iozone")
    assert caught.value.right == "give --format ior, or no --format"
    assert read([path], "ior").rows


def test_the_formats_of_a_kind_that_a_refusal_names_are_read(tmp_path: Path) -> None:
    path = _written(tmp_path / "x.log", b"BT-IO Benchmark\n")
    with pytest.raises(UserError) as caught:
        read([path])
    named = (caught.value.right or "").removeprefix("what is read of storage: ").split(", ")
    assert "fio_json" in named
    assert set(named) <= set(load_importers())


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _rows(paths: Sequence[Path]) -> Sequence[Row]:
    return read(list(paths)).rows
