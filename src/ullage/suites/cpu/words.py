# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run cpu`` as people write them. Imported for every command: nothing heavy up here."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ullage.analysis.ceilings.words import MachineOption
from ullage.runs.suite import ParsedOptions

# A widespread course calls them by their width: quarter, half, single and double precision.
SEED_TYPES: Final = {"QP": "int8", "HP": "int16", "SP": "fp32", "DP": "fp64"}
# Beside single precision stand the integers of its width.
_BESIDE: Final = {"SP": ("fp32", "int32")}
_USUAL_TIME: Final = "6m"
_QUICK_TIME: Final = "50s"
_USUAL_REPETITIONS: Final = 6


def cpu_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    threads: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="1,2,all or 1:8:x2. Default: powers of 2 up to the cores, and all.", show_default=False
        ),
    ] = None,
    type_: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="NAMES", help="QP,HP,SP,DP or int8,fp16,fp64 ... Default: all.", show_default=False
        ),
    ] = None,
    isa: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="scalar,avx2,avx512 ... Default: all that run here.", show_default=False),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="For our own measurement. Default: 6m.", show_default=False),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Of every case.")] = _USUAL_REPETITIONS,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: the best kernel of each type with 1 and all threads.")
    ] = False,
    no_peer: Annotated[bool, typer.Option("--no-peer", help="Do not run hpcc beside, even where it is.")] = False,
    blas: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Library for gemm and solve. Default: the site's and ours.", show_default=False
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=8, metavar="N", help="Rows of the solve's matrix. Default: by time and memory.", show_default=False
        ),
    ] = None,
    machine: MachineOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the order.")] = 1,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.analysis.ceilings.words import machine_option
    from ullage.runs.kernels.cases import CPU
    from ullage.runs.kernels.resources import read_resources
    from ullage.runs.kernels.words import thread_counts, typed
    from ullage.suites.cpu.options import CpuOptions
    from ullage.suites.sweep.words import duration

    options = typed(
        CpuOptions,
        threads=thread_counts(threads, read_resources(), quick=quick),
        types=_types(type_),
        isas=_names(isa, "--isa"),
        every_count=threads is not None,
        time_s=duration("--time", time or (_QUICK_TIME if quick else _USUAL_TIME)),
        repetitions=repetitions,
        quick=quick,
        peer=not no_peer,
        blas=None if blas is None else str(_library(blas)),
        size=size,
        machine=machine_option(machine),
        seed=seed,
    )
    return ParsedOptions([CPU], options.model_dump(mode="json"))


def _types(text: str | None) -> list[str]:
    """The engine's names; what it does not know is found when it is asked."""
    found: dict[str, None] = {}
    for name in _names(text, "--type"):
        seed = name.upper()
        found.update(dict.fromkeys(_BESIDE.get(seed, (SEED_TYPES.get(seed, name),))))
    return list(found)


def _names(text: str | None, option: str) -> list[str]:
    from ullage.errors import UserError

    names = [word.strip() for word in text.split(",")] if text is not None else []
    if not all(names) or len(set(names)) < len(names):
        raise UserError("an empty or repeated word", f"{option} {text}", "write each name once, separated by commas")
    return names


def _library(path: Path) -> Path:
    from ullage.errors import UserError

    if not path.is_file():
        raise UserError("no such file", f"--blas {path}", "name a shared library such as libopenblas.so.0")
    return path.absolute()
