# SPDX-License-Identifier: Apache-2.0
"""Turn a setting into what the suite is given: options, the files that these name, the environment, and commands.

Commands of the user prepare the folder of a trial before the run makes its dataset in it. A command is a list of
arguments, and no shell reads it. What a file system gives to new names in a folder (stripes, a pool, flags) then holds
for all that the run makes.
"""

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from ullage.cleaning import PREFIX, find_run_folders, remove
from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT, UserError, one_line
from ullage.identity import canonical_json
from ullage.ini import with_values
from ullage.model.plan import Target
from ullage.model.tuning import TuneCommand
from ullage.peers import PeerError
from ullage.peers.place import marked_folder
from ullage.peers.started import run_to_end
from ullage.reading import read_text
from ullage.results.folder import write_atomically
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import Declared, declared
from ullage.runs.options.kinds import ConvertedList
from ullage.runs.options.model import SuiteOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.tuning.options import UNSET, How, OptionValue, TunedParameter
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
                for left in find_run_folders(path, run_id):  # of an earlier process of the same search
                    if (why := left.refused or remove(engine, left)) is not None:
                        raise UserError(f"cannot be removed: {why}", str(left.path), "", EXIT_ENVIRONMENT)
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


# A probe of the first trial settles these fields, and all other trials take them over.
_SETTLED = ("volume", "small_volume")
_ANY_PLACE = Path("{path}")
# The name of the set of hints of a setting, for suites that name their sets.
_SET = "tuned"
# Trials run without other tools beside them, which would take their time.
_LEFT_OUT = {"no_peer": True}
# These options change how well a value is known, and not what it is.
_OF_PRECISION = frozenset({"time_s", "seed", "interval", "min_repetitions", "max_repetitions", "watchdog_s"})


@dataclass(frozen=True)
class TrialInputs:
    """What a trial asks of its suite.

    ``options`` of the suite, ``files`` that they name by path, ``environment``: variables by name.
    ``commands``: what prepares a folder of its own for the run; None where it needs no such folder.
    """

    options: dict[str, OptionValue]
    files: dict[Path, str]
    environment: dict[str, str]
    commands: list[SetCommand] | None = None


@dataclass(frozen=True)
class TrialInputsMaker:
    """Makes what is asked of a suite. ``options``: those of all trials; ``hosts``: how many are named.

    ``folder``: where the files of settings lie; ``usual``: options that the search chooses for trials where nobody did.
    """

    model: type[SuiteOptions]
    options: Mapping[str, OptionValue]
    overs: Sequence[TunedParameter]
    hosts: int
    folder: Path
    usual: Mapping[str, OptionValue] = field(default_factory=dict[str, OptionValue])

    def of(self, setting: Mapping[str, str], settled: Mapping[str, object] | None = None) -> TrialInputs:
        """Return what is asked of the suite for ``setting``.

        ``settled``: options of the first trial's request, as far as they are known.
        """
        options = self._common(settled or {})
        ranks_per_node: int | None = None
        found: dict[How, dict[str, str]] = {"hint": {}, "section": {}, "environment": {}, "command": {}}
        for over in self.overs:
            text = setting[over.name]
            if text == UNSET:
                continue
            if over.how in found:
                found[over.how][over.word] = text
            elif over.how == "parameter":
                options["param"] = [*_list(options.get("param")), f"{over.word}={text}"]
            elif over.how == "ppn":
                ranks_per_node = int(text)
            else:
                options[over.word] = [text] if self._by_keyword[over.word].kind.repeated else text
        if ranks_per_node is not None:
            # Nodes may be a parameter, too, so they have to be known first.
            nodes = options.get("nodes") or max(1, self.hosts)
            options |= {"ranks_per_node": ranks_per_node, "ranks": ranks_per_node * int(cast("int | str", nodes))}
        files = {**self._hints(options, found["hint"]), **self._sections(options, found["section"])}
        commands = [SetCommand(read_command(text), value) for text, value in found["command"].items()]
        takes_commands = any(over.how == "command" for over in self.overs)
        return TrialInputs(options, files, found["environment"], commands if takes_commands else None)

    def _common(self, settled: Mapping[str, object]) -> dict[str, OptionValue]:
        usual = {**_LEFT_OUT, **self.usual}
        options = {**{name: value for name, value in usual.items() if name in self._by_keyword}, **self.options}
        for one in self._by_keyword.values():
            value = settled.get(one.field)
            if one.field in _SETTLED and one.keyword not in options and value is not None:
                options[one.keyword] = one.kind.format(value)
        return options

    def parsed(self, asked: TrialInputs) -> ParsedOptions:
        """Return what is asked as the suite reads it; write the files first.

        Raise ``UserError`` for what the suite refuses.
        """
        for path, text in asked.files.items():
            if not path.is_file():
                write_atomically(path, text)
        return parse_options(self.model, self.hosts, **asked.options)

    @property
    def _by_keyword(self) -> dict[str, Declared]:
        return {one.keyword: one for one in declared(self.model).values()}

    def _hints(self, options: dict[str, OptionValue], hints: Mapping[str, str]) -> dict[Path, str]:
        """Add hints to ``options``; return the text of their file by its path, for a suite that reads them from one."""
        if not hints:
            return {}
        fields = declared(self.model)
        if "hint_sets" in fields and isinstance(fields["hint_sets"].kind, ConvertedList):
            # Sets are written on the command line: a name, and what the set has.
            own = fields["hint_sets"].keyword
            options[own] = [f"{_SET}:{','.join(f'{key}={value}' for key, value in hints.items())}"]
            return {}
        if "hint_sets" in fields:
            text = "".join(f"all all all on_open {key} {value}\n" for key, value in hints.items())
            path = self.folder / f"{_digest(text)}.hints"
            options["hints"] = [str(path)]
            return {path: text}
        if "hints" in fields:
            before = _list(options.get("hint"))
            options["hint"] = [*before, *(f"{key}={value}" for key, value in hints.items())]
            return {}
        all_hints = ",".join(f"{key}={value}" for key, value in hints.items())
        options["param"] = [*_list(options.get("param")), f"mpiio.hints={all_hints}"]
        return {}

    def _sections(self, options: dict[str, OptionValue], sections: Mapping[str, str]) -> dict[Path, str]:
        """Name in ``options`` a copy of the configuration file, if any, with ``sections``; return its text."""
        if not sections:
            return {}
        text = _ini(options.get("config"), sections)
        path = self.folder / f"{_digest(text)}.ini"
        options["config"] = str(path)
        return {path: text}


def _ini(base: object, sections: Mapping[str, str]) -> str:
    text = read_text(Path(base), "name an INI file", f"--config {base}") if isinstance(base, str) else ""
    values = {(head, key): value for place, value in sections.items() for head, _, key in [place.partition(".")]}
    return with_values(text, f"--config {base}", values)


def key_of(
    suite: str, parsed: ParsedOptions, environment: Mapping[str, str], commands: Sequence[SetCommand] = ()
) -> str:
    """Return a key that is equal for equal requests, however they were typed and whatever their time."""
    targets = [target.model_dump(mode="json") for target in parsed.targets]
    options = {name: value for name, value in parsed.options.items() if name not in _OF_PRECISION}
    asked: dict[str, object] = {"suite": suite, "targets": targets, "options": options}
    asked["environment"] = dict(environment)
    if commands:
        asked["commands"] = [one.argv(_ANY_PLACE) for one in commands]
    return hashlib.sha256(canonical_json(asked)).hexdigest()[:16]


def command_of(suite: str, model: type[SuiteOptions], options: Mapping[str, OptionValue]) -> list[str]:
    """Return the command ``ullage run SUITE`` with these options."""
    by_keyword = {one.keyword: one for one in declared(model).values()}
    found = ["ullage", "run", suite]
    for name, value in options.items():
        one = by_keyword[name]
        for text in value if isinstance(value, list) else [value]:
            found += [str(text)] if one.option.argument else [one.name] if one.is_flag else [one.name, str(text)]
    return found


def shell_line(environment: Mapping[str, str], preparation: Sequence[Sequence[str]], command: Sequence[str]) -> str:
    """Return one line for a shell that runs ``command`` with ``environment`` after the commands of ``preparation``."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return " && ".join([*exports, *(shlex.join(argv) for argv in (*preparation, command))])


@contextlib.contextmanager
def environment_with(variables: Mapping[str, str]) -> Generator[None]:
    """Set ``variables`` for what is started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _list(value: OptionValue | None) -> list[str]:
    return value if isinstance(value, list) else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
