# SPDX-License-Identifier: Apache-2.0
"""``ullage machine``: the facts of this machine, as they are frozen into every result. ``ullage draft``: first
drafts of the files that options read."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.cli.options import EngineOption, JsonOption, option
from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.model.describe import Describe
    from ullage.model.plan import Target
    from ullage.model.system import Place, SystemFacts


def machine(
    places: Annotated[
        list[str] | None, typer.Argument(metavar="PATH|NAME=PATH", help="Also describe these places.")
    ] = None,
    *,
    as_json: JsonOption = False,
    declare: Annotated[
        Path | None,
        option("Write a draft of machine.toml for this machine. Complete it from the datasheets.", metavar="FILE"),
    ] = None,
    engine: EngineOption = None,
) -> None:
    """Show the facts of this machine.

    They are read without root rights. A fact that cannot be read is shown as unknown.
    """
    from ullage.system import facts
    from ullage.terminal import print_table

    named = places or ["."]
    if declare is not None:
        write_draft(machine_draft(named, engine), declare, f"ullage run SUITE --machine {declare}")
        return
    found = facts([_place(text) for text in named], _description(engine))
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
    else:
        rows = [*_rows(found), *(row for place in found.places for row in _place_rows(place))]
        print_table(("fact", "value"), rows)


def _place(text: str) -> "Target":
    """Read a target; a path alone is named by itself."""
    from ullage.uri import parse_target

    if "=" in text.partition("/")[0]:
        return parse_target(text)
    return parse_target(f"place={text}").model_copy(update={"name": text[:64]})


def write_draft(text: str, path: Path | None, afterwards: str) -> None:
    """Write a draft, and what to do with it; what somebody has edited is never replaced."""
    from ullage.results.outputs import is_stream, write_outputs
    from ullage.terminal import print_line

    if path is None or is_stream(path):
        sys.stdout.write(text)
        return
    write_outputs({path.name: text}, path.parent, replace=False)
    print_line(f"written  {path}")
    print_line(f"complete it, then: {afterwards}")


def machine_draft(places: Sequence[str], engine: Path | None = None) -> str:
    """Draft machine.toml for this node and the drives below ``places``."""
    from ullage.analysis.ceilings import machine_file
    from ullage.system import facts

    return machine_file.draft(facts([_place(text) for text in places], _description(engine)))


def _description(engine: Path | None) -> "Describe | None":
    """Describe the engine, or return None without one: facts need none, but one that was named must work."""
    from ullage.engine import describe, find_engine

    try:
        return describe(find_engine(engine))
    except UserError:
        if engine is not None:
            raise
        return None


def _rows(found: "SystemFacts") -> list[tuple[str, str]]:
    from ullage.units import format_volume

    switches = ", ".join(f"{one.name} ({', '.join(one.nodes or one.switches)})" for one in found.switches)
    memory, kernel, limits, around = found.memory, found.kernel, found.limits, found.environment
    cpu = found.cpu
    model = f"{_or_unknown(cpu.model)} ({_or_unknown(cpu.architecture)})"
    cores, cpus, usable = (_or_unknown(n) for n in (cpu.physical_cores, cpu.logical_cpus, cpu.usable_cpus))
    quota = "none" if limits.cpu_quota is None else f"{limits.cpu_quota:g} CPUs"
    ceiling = "none" if limits.memory_bytes is None else format_volume(limits.memory_bytes)
    return [
        ("host", _or_unknown(found.host)),
        ("processor", f"{model}: {cores} cores, {cpus} CPUs, {usable} usable"),
        ("caches", ", ".join(f"{name} {format_volume(size)}" for name, size in found.cpu.caches.items()) or "unknown"),
        ("memory", "unknown" if memory.total_bytes is None else format_volume(memory.total_bytes)),
        ("NUMA nodes", str(len(found.numa)) if found.numa else "unknown"),
        ("kernel", f"{_or_unknown(kernel.release)}, {_or_unknown(kernel.distribution)}, {_or_unknown(kernel.libc)}"),
        ("control groups", f"{_or_unknown(limits.cgroup)}; memory limit {ceiling}, CPU limit {quota}"),
        ("container, hypervisor", f"{around.container or 'none that shows'}, {around.hypervisor or 'none that shows'}"),
        ("batch system", around.scheduler or "no allocation"),
        ("network", ", ".join(f"{link.name} ({_or_unknown(link.state)})" for link in found.network) or "unknown"),
        *([("switches", switches)] if switches else []),
        ("MPI", "unknown: no engine" if found.mpi is None else found.mpi.library),
        ("variables", ", ".join(f"{name}={value}" for name, value in around.variables.items()) or "none that matter"),
        ("versions", ", ".join(f"{name} {version}" for name, version in found.versions.items())),
    ]


def _place_rows(place: "Place") -> list[tuple[str, str]]:
    from ullage.units import format_volume

    head = f"place {place.target}"
    if not place.exists:
        return [(head, f"{place.path}: does not exist")]
    free = "unknown" if place.free_bytes is None else format_volume(place.free_bytes)
    nature = {True: "network file system", False: "local", None: "local or remote: unknown"}[place.is_remote]
    nature = "memory, not storage" if place.is_memory else nature
    mount = f"{_or_unknown(place.file_system)} on {_or_unknown(place.source)} ({nature})"
    device = place.device
    below = "" if device is None else f", drive {device.name} ({device.model or 'model unknown'})"
    return [(head, f"{place.path}: {mount}{below}; {free} free")]


def _or_unknown(value: str | int | None) -> str:
    return "unknown" if value is None else str(value)


_READ_BY: Final = {"floors": "--require", "hints": "--hints", "machine": "--machine"}


def draft(
    what: Annotated[str, typer.Argument(metavar="floors|hints|machine", help="Draft this file.", show_default=False)],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RESULT|PATH]",
            help="Take floors from the headlines of this result. Describe the drive below this path (machine).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, option("Write to this new file, for example reqs.toml. Default: stdout.", metavar="FILE")
    ] = None,
) -> None:
    """Draft a file for --require, --hints or --machine.

    floors: each bound is 10 % worse than the result. hints: sets of MPI-IO hints, to choose from. machine: what the
    datasheets say, with the six most important lines first.
    """
    from ullage.parameters import suggest

    if what not in _READ_BY:
        raise UserError(f"nothing to draft is called '{what}'", "draft", suggest(what, _READ_BY))
    write_draft(_text(what, source), output, f"ullage run SUITE {_READ_BY[what]} {output}")


def _text(what: str, source: Path | None) -> str:
    from ullage.discovery import suite_modules

    if what == "machine":
        return machine_draft([str(source or ".")])
    if what == "hints":
        return next(text for module in suite_modules("hints") if (text := getattr(module, "DRAFT", "")))
    if source is None:
        raise UserError("floors are drafted from a result", "draft floors", "add the folder that `ullage run` printed")
    from ullage.analysis.acceptance import draft_floors
    from ullage.report.headlines import headlines_of
    from ullage.results.folder import ResultFolder
    from ullage.runs.summary import build_summary

    summary = build_summary(ResultFolder.open(source))
    lines = list(summary.headline.values()) or headlines_of(summary)
    chosen = [summary.rows[line.row] for line in lines]
    if not chosen:
        raise UserError("has no number to take a floor from", str(source), "name a result with rows")
    return draft_floors(chosen, summary.rows)


VERBS = (draft, machine)
