# SPDX-License-Identifier: Apache-2.0
"""Commands of the user as parameters: they prepare the folder of a trial before the run makes its dataset in it.

A command is a list of arguments, and no shell reads it. What a file system gives to new names in a folder (stripes,
a pool, flags) then holds for all that the run makes.
"""

import re
import shlex
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.cleaning import PREFIX, find_run_folders, remove
from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT, UserError, one_line
from ullage.model.plan import Target
from ullage.model.tuning import TuneCommand
from ullage.peers import PeerError
from ullage.peers.place import marked_folder
from ullage.peers.started import run_to_end
from ullage.uri import target_path

_VALUE, _PLACE = "{}", "{path}"
_GAP: Final = re.compile(r"\{path\}|\{\}")
_FORM: Final = "write cmd:'lfs setstripe -c {} {path}'=1,4,16"
_KIND, _NAME = "tune", "setting"
_LONGEST_S: Final = 60.0
_LONGEST_SAID: Final = 200


@dataclass(frozen=True)
class SetCommand:
    """The ``words`` of a command with gaps for ``value`` and for the folder."""

    words: tuple[str, ...]
    value: str

    def argv(self, folder: Path) -> list[str]:
        """Return the arguments for ``folder``. A value that looks like a gap stays as it is."""
        filled = {_VALUE: self.value, _PLACE: str(folder)}
        return [_GAP.sub(lambda gap: filled[gap[0]], word) for word in self.words]


def read_command(text: str) -> tuple[str, ...]:
    """Split a command as a shell does, which may stand in quotes as a whole.

    Raise ``UserError`` where that cannot be done, it has no gap for the value, or its program is not found.
    """
    try:
        words = shlex.split(text)
        if len(words) == 1 and words[0] != text:
            words = shlex.split(words[0])
    except ValueError as error:
        raise UserError(f"not a command: {error}", f"'{text}'", _FORM) from error
    if not any(_VALUE in word for word in words):
        raise UserError("the command has no {} for its value", f"'{text}'", _FORM)
    if shutil.which(words[0]) is None:
        raise UserError(f"there is no program '{words[0]}'", f"'{text}'", "install it, or give its path")
    return tuple(words)


@contextmanager
def prepared_targets(
    targets: Sequence[Target],
    run_id: str,
    commands: Sequence[SetCommand],
    ran: list[TuneCommand],
    engine: Path,
    seconds: float,
) -> Generator[list[Target]]:
    """Give the targets for a run: each with a path is a new folder there, in which ``commands`` were run.

    The folders are in the marked folder of ``run_id``, and go with it. ``ran``: is told each command. ``seconds``: that
    they may take together. Raise ``UserError`` for a command that fails, and where a folder cannot be made or removed.
    """
    ends_at = time.monotonic() + min(_LONGEST_S, seconds)
    try:
        with ExitStack() as folders:
            found: list[Target] = []
            for target in targets:
                path = target_path(target)
                if path is None:
                    found.append(target)
                    continue
                _clear(path, run_id, engine)
                folder = folders.enter_context(marked_folder(path, run_id, _NAME, 1, kind=_KIND))
                for command in commands:
                    ran.append(_run(command, folder, ends_at - time.monotonic()))
                    if ran[-1].code != 0:
                        raise UserError(sentence(ran[-1]), code=EXIT_CASE_FAILED)
                found.append(target.model_copy(update={"uri": f"posix:{folder}"}))
            yield found
    except PeerError as error:
        raise UserError(str(error), code=EXIT_ENVIRONMENT) from error


def folder_of(target: Target, run_id: str) -> Path | None:
    """Return the folder that commands prepare at ``target``, or None where it has no path."""
    path = target_path(target)
    return None if path is None else path / f"{PREFIX}{run_id}" / f"c-{_KIND}-{_NAME}"


def _clear(path: Path, run_id: str, engine: Path) -> None:
    """Remove what an earlier process of the same search has left there."""
    for folder in find_run_folders(path, run_id):
        why = folder.refused or remove(engine, folder)
        if why is not None:
            raise UserError(f"cannot be removed: {why}", str(folder.path), "", EXIT_ENVIRONMENT)


def _run(command: SetCommand, folder: Path, seconds: float) -> TuneCommand:
    argv, began = command.argv(folder), time.monotonic()
    code: int | None = None
    try:
        ended = run_to_end(argv, folder, {}, max(0.0, seconds))
        code, said = ended.code, ended.err.strip() or ended.out.strip()
    except PeerError as error:
        said = str(error)
    said = one_line(next(iter(said.splitlines()), ""), _LONGEST_SAID)
    return TuneCommand(argv=argv, value=command.value, code=code, seconds=time.monotonic() - began, said=said)


def sentence(ran: TuneCommand) -> str:
    """Say how a command ended."""
    shown = shlex.join(ran.argv)
    if ran.code is None:
        return f"the command `{shown}` failed: {ran.said}"
    more = f": {ran.said}" if ran.said else ""
    return f"the command `{shown}` ended with exit code {ran.code}{more}"
