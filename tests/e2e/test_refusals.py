# SPDX-License-Identifier: Apache-2.0
"""What every suite refuses on a real engine: one line, its exit code, and nothing is left behind.

The words of each option are refused in tests/suites. Here stands what an engine, a machine or its room decide.
"""

import re
from pathlib import Path

import pytest
from tests.e2e.commands import run_here

HERE, TWO = ("--target", "here={here}"), ("--target", "here={here}", "--ranks", "2")
SPILL = (*HERE, "--target", "b=/dev/shm", "--spill")

REFUSALS: list[tuple[str, tuple[str, ...], int, str]] = [
    ("checkpoint", (*HERE, "--model", "13B"), 2, "--model"),
    ("checkpoint", (*TWO, "--read-back", "other-node", "--layout", "rank"), 2, "--read-back other-node: 2 ranks are"),
    ("checkpoint", (*TWO, "--scale", "0.001", "--space", "1M"), 3, "give more --space, a smaller --scale, or"),
    ("collectives", ("--ranks", "1"), 2, "--ranks 1: 1 is too few; at least 2"),
    ("congestion", ("--ranks", "3"), 2, "--ranks"),
    ("cpu", ("--no-peer", "--threads", "4000"), 2, "usable CPU"),
    ("cpu", ("--no-peer", "--blas", "/no/such/lib.so"), 2, "no such file"),
    ("disk", ("--target", "x=/nonexistent/place"), 3, "target 'x' (/nonexistent/place): does not exist"),
    ("disk", (*HERE, "--volume", "1E"), 3, "target 'here' ({here}): needs 1.00 EiB, but only"),
    ("disk", (*HERE, "--backend", "libaio"), 2, "--backend: unknown word 'libaio'"),
    ("disk", (*HERE, "--launcher", "script"), 2, "--launcher script: batch scripts cannot probe"),
    ("io_bench", (*HERE, "--record", "64M", "--space", "1M"), 3, "needs 512 MiB"),
    ("loader", (*HERE, "--samples", "3", "--batch", "4"), 3, "are not two batches of 4"),
    ("loader", (*HERE, "--backend", "null"), 2, "backend 'null' uses no storage"),
    ("matrix", (*HERE, "--file", "64K", "--record", "1M"), 2, "no record of these fits"),
    ("matrix", ("--target", "here={here}/none"), 3, "does not exist"),
    ("matrix", ("--target", "m=model:"), 2, "target 'm' has no place for files"),
    ("matrix", (*HERE, "--file", "64K,1M", "--space", "128K"), 3, "needs 1.00 MiB"),
    ("memory", ("--working-set", "1000T"), 2, "a working set of 1000T, but only"),
    ("network", ("--block", "64K"), 2, "a datagram of a stream has 16 to 65507"),
    ("overlap", (*HERE, "--backend", "hdf5"), 2, "nothing can be measured"),
    ("overlap", (*HERE, "--backend", "posix", "--method", "nonblocking"), 2, "no call that only begins a transfer"),
    (
        "overlap",
        (*TWO, "--backend", "posix", "--size", "64K", "--bytes", "64M", "--space", "100M"),
        3,
        "a smaller --bytes fits",
    ),
    ("pairs", ("--hosts", "a,b", "--launcher", "script"), 2, "--hosts"),
    ("pio", (*HERE, "--calls", "collective", "--backend", "posix"), 2, "no case is left"),
    ("pio", (*HERE, "--directives", "/dev/null"), 2, "is no regular file"),
    ("pio", (*HERE, "--volume", "1G", "--space", "1M"), 3, "--volume"),
    ("pmem", ("--target", "here={here}/{{numb}}"), 2, "unknown word {{numb}} in a path"),
    ("pmem", (*HERE, "--volume", "64M", "--region", "64M", "--space", "1M"), 3, "a smaller --volume fits"),
    ("pmem", (*HERE, "--volume", "64M", "--region", "1G", "--space", "64M"), 3, "a smaller --region fits"),
    ("sar", (*HERE, "--scale", "0.05"), 2, "no room for sub-images of 64 pixels"),
    ("sar", (*TWO, "--scale", "1.0", "--space", "1M"), 3, "give more --space, a smaller --scale, or"),
    ("spio", (*HERE, "--ranks", "1", "--operation", "neighbour"), 2, "--ranks 1: a single rank has no neighbour"),
    ("spio", (*HERE, "--volume", "1G", "--space", "1M"), 3, "a smaller --volume fits"),
    ("spio", (*HERE, "--cache", "direct", "--backend", "stdio"), 2, "backend 'stdio' has no direct I/O"),
    ("spio", (*HERE, "--backend", "poxis"), 2, "poxis"),
    ("stepfile", (*HERE, "--order", "revolve:3", "--layout", "log"), 2, "order revolve overwrites states"),
    ("stepfile", (*HERE, "--steps", "4096", "--space", "1M"), 3, "a smaller --steps fits"),
    ("stepfile", (*HERE, "--spill"), 2, "name a further --target"),
    ("stepfile", (*SPILL, "--layout", "log"), 2, "choose another --layout"),
    ("stepfile", (*SPILL, "--space", "64K", "--layout", "flat"), 3, "may be used together"),
    ("sweep", (*TWO, "--nodes", "3"), 2, "--nodes: 2 ranks cannot use 3 nodes"),
    ("sweep", (*HERE, "--param", "posix.dirct=1"), 2, "posix.dirct: 'posix' has no parameter 'dirct'"),
    ("sweep", (*HERE, "--launcher", "ssh"), 2, "--launcher: unknown launcher 'ssh'"),
    ("sweep", (*HERE, "--flie", "shared"), 2, "No such option"),
    ("tile", (*HERE, "--tiles", "2x2", "--ranks", "3"), 2, "2x2 tiles need 4 ranks"),
]


@pytest.mark.parametrize(("suite", "words", "code", "expected"), REFUSALS)
def test_a_refusal_is_one_line_and_leaves_nothing(
    engine: Path, tmp_path: Path, suite: str, words: tuple[str, ...], code: int, expected: str
) -> None:
    here, result = tmp_path / "here", tmp_path / "result"
    here.mkdir()
    filled = [word.format(here=here) for word in words]
    returned, out, err = run_here("run", suite, *filled, "--result", str(result), "--engine", str(engine))
    assert (returned, out) == (code, "")
    assert expected.format(here=here) in err
    assert len(err.splitlines()) == 1
    assert not result.exists()
    assert list(here.iterdir()) == []


ADVISED = [(suite, words) for suite, words, _, told in REFUSALS if "a smaller --" in told]


def _scaled(value: str, factor: float) -> str:
    """``value``, a size such as 64M or a number, times ``factor``: a number with a point stays one."""
    if "." in value:
        return f"{float(value) * factor:g}"
    unit = {"K": 2**10, "M": 2**20, "G": 2**30}.get(value[-1], 1)
    return str(max(round(int(value.rstrip("KMG")) * unit * factor), 1))


@pytest.mark.parametrize(("suite", "words"), ADVISED)
def test_whoever_follows_the_advice_is_accepted(
    engine: Path, tmp_path: Path, suite: str, words: tuple[str, ...]
) -> None:
    filled, err = [word.format(here=tmp_path) for word in words], ""
    for _ in range(16):
        returned, _, err = run_here("plan", suite, *filled, "--engine", str(engine))
        if returned == 0:
            return
        named, factor = (
            ("--space", 4) if "give more --space" in err else (re.findall(r"a smaller (--\S+) fits", err)[0], 1 / 4)
        )
        at = filled.index(named) + 1
        filled[at] = _scaled(filled[at], factor)
    raise AssertionError(f"nobody can follow this advice: {err}")
