# SPDX-License-Identifier: Apache-2.0
"""Suite pmem on real files with the real engine: in memory, on ext4 and on xfs, none of which grants MAP_SYNC."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.commands import command, run
from tests.places.loop_image import loop_image

from ullage.results.folder import ResultFolder

KIB, MIB = 1 << 10, 1 << 20
_SIZES = ("--transfer", "64,4104,1M", "--region", "1M", "--volume", "2M", "--block", "256K", "--ranks", "1,2")


@pytest.fixture(params=["tmpfs", "ext4", "xfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    if request.param == "tmpfs":
        folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
        yield request.param, folder
        folder.rmdir()
        return
    with loop_image(tmp_path, request.param, 3 << 30) as folder:
        yield request.param, folder


def test_interfaces_are_measured_and_what_is_behind_them_is_said(
    engine: Path, place: tuple[str, Path], tmp_path: Path
) -> None:
    kind, folder = place
    result, before = tmp_path / "result", sorted(folder.iterdir())
    words = ["run", "pmem", "--target", f"here={folder}", *_SIZES, "--max-repetitions", "1", "--time", "60s"]
    code, out, err = run(command(engine, *words, "--all", "--result", str(result)))
    assert code == 0, err
    summary = ResultFolder.open(result).read_summary()
    rows = [row for row in summary.rows if row.metric == "bandwidth"]
    interfaces = {str(row.params["interface"]) for row in rows}
    assert interfaces >= ({"posix", "mmap"} if kind == "tmpfs" else {"posix", "mmap", "direct"})
    odd = {str(row.params["interface"]) for row in rows if row.params["block_bytes"] == 4104}
    assert odd >= {"posix", "mmap"}, "a size that is no multiple of the page"
    assert not any(row.is_invalid for row in rows)
    (persistence,) = [one for one in summary.findings if one.kind == "persistence"]
    assert persistence.numbers["file_system"] == kind
    assert persistence.numbers["map_sync"] == []
    assert ("Nothing at here is persistent" if kind == "tmpfs" else "refuses MAP_SYNC to mmap") in (
        persistence.title + persistence.text
    )
    assert "time of a transfer without open, sync and close" in out
    assert sorted(folder.iterdir()) == before


def test_each_rank_writes_to_the_folder_that_its_words_stand_for(engine: Path, tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"rank{rank}").mkdir()
    result, target = tmp_path / "result", f"here={tmp_path}/rank{{rank}}"
    words = ["run", "pmem", "--target", target, *_SIZES, "--interface", "mmap", "--max-repetitions", "1", "--keep"]
    code, _, err = run(command(engine, *words, "--result", str(result)))
    assert code == 0, err
    for rank in range(2):
        names = {path.name for path in (tmp_path / f"rank{rank}").glob("*/c-*/data*")}
        assert names == {f"data.{rank:08}"}
        shutil.rmtree(tmp_path / f"rank{rank}")
