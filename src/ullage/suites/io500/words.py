# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run io500`` as people write them. Imported for every command: nothing heavy up here."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ullage.model.plan import Target
    from ullage.suites.io500.options import OfficialConfig

_HINT: Final = re.compile(r"(?:(?P<phase>[\w-]+):)?(?P<key>\w+)=(?P<value>\S+)", re.ASCII)


def io500_words(  # noqa: PLR0913 - each is an option of the command line
    *,
    target: Annotated[list[str], typer.Option(metavar="NAME=PATH", help="A place to measure. Repeat it for others.")],
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Ranks of every phase. Default: usable cores.", show_default=False)
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes of the run.", show_default=False)] = None,
    ranks_per_node: Annotated[int | None, typer.Option(min=1, help="Most ranks on a node.", show_default=False)] = None,
    mode: Annotated[str, typer.Option(help="standard or extended (md-workbench, find-easy, find-hard).")] = "standard",
    stonewall: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="How long writing phases write; the rules want 300. Default: that of --config, else 300.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The official tool's INI file, as it is.", show_default=False),
    ] = None,
    hint: Annotated[
        list[str] | None,
        typer.Option(metavar="[PHASE:]KEY=VALUE", help="An MPI-IO hint, for all MPIIO phases or one. Repeat it."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Rounds; from 2 on the score has an interval.")] = 1,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="For all measurement; what walls leave of it may go into wear-out. Default: no limit.",
            show_default=False,
        ),
    ] = None,
    cache: Annotated[
        str, typer.Option(help="Before reads: none, advise (fsync, then drop the data), drop (all caches; root).")
    ] = "advise",
    verify: Annotated[str, typer.Option(help="Data that is read, outside the timer: full or none.")] = "full",
    space: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Most to take of a target. Default: half of what is free.", show_default=False
        ),
    ] = None,
    watchdog: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A rank without progress for this long hangs.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the datasets of the last round in place.")] = False,
    resumable: Annotated[
        bool,
        typer.Option("--resumable", help="Leave the datasets also when interrupted: `ullage resume` then goes on."),
    ] = False,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.parameters import known_word
    from ullage.suites.io500.config import read_config
    from ullage.suites.io500.options import Io500Options, OfficialConfig, default_stonewall_s
    from ullage.suites.sweep.words import duration
    from ullage.system.cpu import ranks_by_default
    from ullage.units import parse_size
    from ullage.uri import parse_targets

    targets = parse_targets(target)
    official = OfficialConfig() if config is None else read_config(config)
    check_data_folder(official, targets)
    chosen_ranks = ranks_by_default() if ranks is None else ranks
    check_find_ranks(official, chosen_ranks)
    options = Io500Options.model_validate(
        {
            "ranks": chosen_ranks,
            "nodes": nodes,
            "ranks_per_node": ranks_per_node,
            "mode": known_word(mode, ("standard", "extended"), "--mode"),
            "stonewall_s": default_stonewall_s(official) if stonewall is None else duration("--stonewall", stonewall),
            "repeat": repeat,
            "time_s": None if time is None else duration("--time", time),
            "verify": known_word(verify, ("full", "none"), "--verify"),
            "cache": _cache(cache, official),
            "hints": _hints(hint or []),
            "space": None if space is None else parse_size(space),
            "watchdog_s": None if watchdog is None else duration("--watchdog", watchdog),
            "keep": keep,
            "resumable": resumable,
            "config": official,
        }
    )
    return ParsedOptions(targets, options.model_dump(mode="json"))


def check_data_folder(official: "OfficialConfig", targets: "Sequence[Target]") -> None:
    """A file that names another place than the targets was made for another run."""
    from ullage.errors import UserError
    from ullage.uri import target_path

    if not official.data_folder:
        return
    asked = Path(official.data_folder).expanduser().absolute()
    if all(target_path(target) != asked for target in targets):
        right = f"write --target NAME={official.data_folder}, or leave datadir out"
        raise UserError(f"datadir {official.data_folder} is not among the targets", official.file, right)


def check_find_ranks(official: "OfficialConfig", ranks: int) -> None:
    """Find runs on every rank of the run."""
    from ullage.errors import UserError

    for section, count in official.find_ranks.items():
        if count != ranks:
            what = f"[{section}] nproc {count}: find runs on all {ranks} ranks"
            raise UserError(what, official.file, f"leave it out, or run with --ranks {count}")


def _cache(word: str, official: "OfficialConfig") -> str:
    """``drop-caches`` of the file is that of the command line, said in other words."""
    from ullage.parameters import known_word

    chosen = known_word(word, ("none", "advise", "drop"), "--cache")
    return "drop" if official.drop_caches else chosen


def _hints(texts: "Iterable[str]") -> dict[str, dict[str, str]]:
    """By phase; those for all MPI-IO phases under an empty name."""
    from ullage.errors import UserError
    from ullage.parameters import suggest
    from ullage.suites.io500.phases import BY_NAME

    found: dict[str, dict[str, str]] = {}
    for text in texts:
        match = _HINT.fullmatch(text)
        if match is None:
            raise UserError("not a hint", f"--hint {text}", "write KEY=VALUE or PHASE:KEY=VALUE")
        phase = match["phase"] or ""
        if phase and phase not in BY_NAME:
            raise UserError(f"unknown phase '{phase}'", f"--hint {text}", suggest(phase, BY_NAME))
        found.setdefault(phase, {})[match["key"]] = match["value"]
    return found
