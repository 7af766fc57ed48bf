# SPDX-License-Identifier: Apache-2.0
"""How large a planted cause is, by small programs that know nothing of Ullage.

``python bare.py WORK ...`` prints a rate.

The same work runs in turn with the plant and without it; the ratio of the medians is the right size.
"""

import mmap
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

_TURNS: Final = 3
_BLOCK: Final = 1 << 20
_SECONDS: Final = 0.6
VOLUME: Final = 96 << 20
"""Bytes of a file that is written."""


def rate(prefix: Sequence[str], words: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Run one work in a process of its own, behind ``prefix``, and return its rate."""
    argv = [*prefix, sys.executable, __file__, *words]
    env = {**os.environ, **(environment or {})}
    return float(subprocess.run(argv, env=env, check=True, capture_output=True, text=True, timeout=120).stdout)


def left_by(planted: Callable[[], float], without: Callable[[], float]) -> float:
    """Return what the plant leaves of a rate, in turns of both."""
    pairs = [(planted(), without()) for _ in range(_TURNS)]
    return median(bad for bad, _ in pairs) / median(good for _, good in pairs)


def spin(cpus: str) -> float:
    """Count loops of a process on each of ``cpus``: ``0,1``, the same one twice, too.

    Each counts as much as the slowest: a program that divides its work evenly has to wait for that one.
    """
    children: list[tuple[int, int]] = []
    for cpu in cpus.split(","):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.sched_setaffinity(0, {int(cpu)})
            os.write(writer, str(_spin()).encode())
            os._exit(0)
        os.close(writer)
        children.append((child, reader))
    rates: list[float] = []
    for child, reader in children:
        os.waitpid(child, 0)
        rates.append(float(os.read(reader, 64)))
        os.close(reader)
    return len(rates) * min(rates)


def _spin() -> float:
    began, done = time.monotonic(), 0
    while (now := time.monotonic()) - began < _SECONDS:
        for _ in range(20_000):
            done += 1
    return done / (now - began)


def write(folder: str, block: str, way: str) -> float:
    """Write files of one size in blocks: ``direct``; ``synced`` after each; or ``plain``, with one sync at the end."""
    path, size = Path(folder) / f"bare-{os.getpid()}", int(block)
    flags = os.O_CREAT | os.O_WRONLY | (os.O_DIRECT if way == "direct" else 0)
    data, done, spent_s = mmap.mmap(-1, size), 0, 0.0
    while spent_s < _SECONDS:
        file = os.open(path, flags, 0o600)
        began = time.monotonic()
        try:
            for start in range(0, VOLUME, size):
                done += os.pwrite(file, data, start)
                if way == "synced":
                    os.fdatasync(file)
            os.fsync(file)
            spent_s += time.monotonic() - began
        finally:
            os.close(file)
            path.unlink()
    return done / spent_s


def read(folder: str, block: str, depth: str) -> float:
    """Read random blocks past the page cache, so many requests at a time."""
    path, size, volume = Path(folder) / f"bare-{os.getpid()}", int(block), 64 << 20
    counts = [0] * int(depth)
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600)
    try:
        chunk = mmap.mmap(-1, _BLOCK)
        for start in range(0, volume, _BLOCK):
            os.pwrite(file, chunk, start)
        os.fsync(file)
        began = time.monotonic()

        def work(index: int) -> None:
            place, data = index * 7919, mmap.mmap(-1, size)
            while time.monotonic() - began < _SECONDS:
                place = (place * 1103515245 + 12345) % (volume // size)
                os.preadv(file, [data], place * size)
                counts[index] += 1

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(counts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts) / (time.monotonic() - began)
    finally:
        os.close(file)
        path.unlink()


if __name__ == "__main__":
    print({one.__name__: one for one in (spin, write, read)}[sys.argv[1]](*sys.argv[2:]))
