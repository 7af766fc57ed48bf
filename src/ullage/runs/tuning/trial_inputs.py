# SPDX-License-Identifier: Apache-2.0
"""A setting as what is asked of the suite: words of its command line, files that these name, and the environment."""

import configparser
import contextlib
import hashlib
import io
import os
import shlex
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ullage.errors import UserError
from ullage.identity import canonical_json
from ullage.results.folder import write_atomically
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import Declared, declared
from ullage.runs.options.kinds import ConvertedList
from ullage.runs.options.model import SuiteOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.tuning.commands import SetCommand, read_command
from ullage.runs.tuning.options import How, TunedParameter, Word
from ullage.runs.tuning.tuned_parameters import UNSET

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

    ``words`` of the suite, ``files`` that they name by path, ``environment``: variables by name.
    ``commands``: what prepares a folder of its own for the run; None where it needs no such folder.
    """

    words: dict[str, Word]
    files: dict[Path, str]
    environment: dict[str, str]
    commands: list[SetCommand] | None = None


@dataclass(frozen=True)
class TrialInputsMaker:
    """Makes what is asked of a suite. ``words``: those of all trials; ``hosts``: how many are named.

    ``folder``: where the files of settings lie; ``usual``: words that the search chooses for trials where nobody did.
    """

    model: type[SuiteOptions]
    words: Mapping[str, Word]
    overs: Sequence[TunedParameter]
    hosts: int
    folder: Path
    usual: Mapping[str, Word] = field(default_factory=dict[str, Word])

    def of(self, setting: Mapping[str, str], settled: Mapping[str, object] | None = None) -> TrialInputs:
        """Return what is asked of the suite for ``setting``.

        ``settled``: options of the first trial's request, as far as they are known.
        """
        words = self._common(settled or {})
        ranks_per_node: int | None = None
        found: dict[How, dict[str, str]] = {"hint": {}, "section": {}, "environment": {}, "command": {}}
        for over in self.overs:
            text = setting[over.name]
            if text == UNSET:
                continue
            if over.how in found:
                found[over.how][over.word] = text
            elif over.how == "ppn":
                ranks_per_node = int(text)
            else:
                self._say(words, over, text)
        if ranks_per_node is not None:
            # Nodes may be a parameter, too, so they have to be known first.
            words |= {"ranks_per_node": ranks_per_node, "ranks": ranks_per_node * self._nodes(words)}
        files = {**self._hints(words, found["hint"]), **self._sections(words, found["section"])}
        commands = [SetCommand(read_command(text), value) for text, value in found["command"].items()]
        takes_commands = any(over.how == "command" for over in self.overs)
        return TrialInputs(words, files, found["environment"], commands if takes_commands else None)

    def _common(self, settled: Mapping[str, object]) -> dict[str, Word]:
        """Return the words of all trials."""
        usual = {**_LEFT_OUT, **self.usual}
        words = {**{name: word for name, word in usual.items() if name in self._by_word}, **self.words}
        for one in self._by_word.values():
            value = settled.get(one.field)
            if one.field in _SETTLED and one.word not in words and value is not None:
                words[one.word] = one.kind.format(value)
        return words

    def _say(self, words: dict[str, Word], over: TunedParameter, text: str) -> None:
        if over.how == "parameter":
            words["param"] = [*_list(words.get("param")), f"{over.word}={text}"]
        else:
            words[over.word] = [text] if self._by_word[over.word].kind.repeated else text

    def parsed(self, asked: TrialInputs) -> ParsedOptions:
        """Return what is asked as the suite reads it; write the files first.

        Raise ``UserError`` for what the suite refuses.
        """
        for path, text in asked.files.items():
            if not path.is_file():
                write_atomically(path, text)
        return parse_options(self.model, self.hosts, **asked.words)

    @property
    def _by_word(self) -> dict[str, Declared]:
        return {one.word: one for one in declared(self.model).values()}

    def _nodes(self, words: Mapping[str, Word]) -> int:
        """Return the nodes that ``words`` name: a number as a command line has it, or the text of a parameter."""
        said = words.get("nodes")
        return int(said) if isinstance(said, (int, str)) else max(1, self.hosts)

    def _hints(self, words: dict[str, Word], hints: Mapping[str, str]) -> dict[Path, str]:
        """Add hints to ``words``; return the text of their file by its path, for a suite that reads them from one."""
        if not hints:
            return {}
        fields = declared(self.model)
        if "hint_sets" in fields and isinstance(fields["hint_sets"].kind, ConvertedList):
            # Sets are written on the command line: a name, and what the set has.
            own = fields["hint_sets"].word
            words[own] = [f"{_SET}:{','.join(f'{key}={value}' for key, value in hints.items())}"]
            return {}
        if "hint_sets" in fields:
            text = "".join(f"all all all on_open {key} {value}\n" for key, value in hints.items())
            path = self.folder / f"{_digest(text)}.hints"
            words["hints"] = [str(path)]
            return {path: text}
        if "hints" in fields:
            before = _list(words.get("hint"))
            words["hint"] = [*before, *(f"{key}={value}" for key, value in hints.items())]
            return {}
        all_hints = ",".join(f"{key}={value}" for key, value in hints.items())
        words["param"] = [*_list(words.get("param")), f"mpiio.hints={all_hints}"]
        return {}

    def _sections(self, words: dict[str, Word], sections: Mapping[str, str]) -> dict[Path, str]:
        """Name in ``words`` a copy of the configuration file, if one was named, with ``sections``; return its text."""
        if not sections:
            return {}
        text = _ini(words.get("config"), sections)
        path = self.folder / f"{_digest(text)}.ini"
        words["config"] = str(path)
        return {path: text}


def _ini(base: object, sections: Mapping[str, str]) -> str:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=False)
    parser.optionxform = str  # type: ignore[assignment] - keys of the official tool have capitals
    if isinstance(base, str):
        try:
            parser.read_string(Path(base).read_text(encoding="utf-8"))
        except (OSError, configparser.Error, UnicodeDecodeError) as error:
            raise UserError("cannot be read", f"--config {base}", "name an INI file") from error
    for place, value in sections.items():
        section, _, key = place.partition(".")
        if not parser.has_section(section):
            parser.add_section(section)
        parser.set(section, key, value)
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue()


def key_of(
    suite: str, parsed: ParsedOptions, environment: Mapping[str, str], commands: Sequence[SetCommand] = ()
) -> str:
    """Return a key that is the same for what is asked alike, whatever the words and the time to measure it."""
    targets = [target.model_dump(mode="json") for target in parsed.targets]
    options = {name: value for name, value in parsed.options.items() if name not in _OF_PRECISION}
    asked: dict[str, object] = {"suite": suite, "targets": targets, "options": options}
    asked["environment"] = dict(environment)
    if commands:
        asked["commands"] = [one.argv(_ANY_PLACE) for one in commands]
    return hashlib.sha256(canonical_json(asked)).hexdigest()[:16]


def command_of(suite: str, model: type[SuiteOptions], words: Mapping[str, Word]) -> list[str]:
    """Return the command ``ullage run SUITE`` with these words."""
    by_word = {one.word: one for one in declared(model).values()}
    found = ["ullage", "run", suite]
    for name, word in words.items():
        one = by_word[name]
        for text in word if isinstance(word, list) else [word]:
            found += [str(text)] if one.option.argument else [one.name] if one.is_flag else [one.name, str(text)]
    return found


def shell_line(environment: Mapping[str, str], preparation: Sequence[Sequence[str]], command: Sequence[str]) -> str:
    """Return one line for a shell that runs ``command`` with ``environment`` after the commands of ``preparation``."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return " && ".join([*exports, *(shlex.join(words) for words in (*preparation, command))])


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


def _list(word: Word | None) -> list[str]:
    return word if isinstance(word, list) else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
