# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference anew: commands from help texts, metrics from their registry, the engine from `describe`.

Also the snapshot of the engine's parameters, from which options take their limits, words and help: run it twice, and
scripts/option_tables.py after it, where help of the engine has changed.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from ullage.analysis.metrics import load_metrics
from ullage.cli.app import make_app
from ullage.cli.command_tree import Command, Parameter, commands
from ullage.engine import KINDS, describe, find_engine, registered
from ullage.model.describe import Describe, Registered
from ullage.parameters import format_range, format_value
from ullage.runs.options.engine import SNAPSHOT
from ullage.runs.suite import load_suites

REFERENCE: Final = Path(__file__).parent.parent / "docs" / "reference"
_WRITTEN_BY: Final = "<!-- Written by scripts/reference.py: change the help texts, not this page. -->\n"
_EXIT_CODES: Final = """
## Exit codes
| code | meaning |
|---|---|
| 0 | The command succeeded. |
| 2 | A word, file or plan is wrong. Nothing was touched. |
| 3 | The machine or its MPI does not allow the command. |
| 4 | A case of the run failed. The other cases are complete. |
| 5 | The run was interrupted or ended by a time limit. `ullage resume` continues it. |
"""


def commands_page() -> str:
    """Write every verb with its options; the options of suites stand on the pages of the suites."""
    every = [one for one in commands(make_app()) if len(one.path) < 3 or one.path[1] not in {"run", "plan"}]
    parts = ["# Commands\n", _WRITTEN_BY, *(_command(one) for one in every), _EXIT_CODES]
    return "\n".join(parts)


def _command(one: Command) -> str:
    text = "\n\n".join(_escaped(paragraph) for paragraph in one.doc)
    below = (
        "\nThe options of each suite stand on [its page](suites.md).\n" if one.path[1:] in {("run",), ("plan",)} else ""
    )
    return f"## `{one.name}`\n{text}\n{below}{_parameters(one.parameters)}"


def _parameters(parameters: Iterable[Parameter]) -> str:
    rows = [f"| `{_cell(one.typed)}` | {_cell(one.help)} | {_cell(one.note)} |" for one in parameters]
    return "\n".join(["", "| word | what it does | default, limits |", "|---|---|---|", *rows, ""]) if rows else ""


def suites_page(suites_folder: Path) -> str:
    """Write every suite with its question and its page, which holds its table of options."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(suites_folder.parent.rglob("*.md"))}
    parts = ["# Suites\n", _WRITTEN_BY]
    for name, suite in load_suites().items():
        mark = f"<!-- options of {name} -->"
        page = next(path for path, text in pages.items() if mark in text)
        link = page.relative_to(suites_folder.parent)
        question, _, rest = suite.doc.strip().partition("\n\n")
        parts.append(
            f"## `{name}`\n**{_line(question)}** {_line(rest)}\n\n"
            f"[How it measures, its numbers, its options](../{link})\n"
        )
    return "\n".join(parts)


def metrics_page() -> str:
    """Write every metric: its name, its unit, which direction is better, and the formula."""
    rows = [
        f"| `{one.name}` | {one.unit} | {one.better} | {_cell(_sentence(one.doc))} |" for one in load_metrics().values()
    ]
    head = "A metric is a formula from the records of one repetition to one number. "
    head += "A row gives its median over the repetitions.\n"
    return "\n".join(
        ["# Metrics\n", _WRITTEN_BY, head, "| metric | unit | better | formula |", "|---|---|---|---|", *rows, ""]
    )


def engine_page(description: Describe) -> str:
    """Write backends, workloads, probes and stop rules with their parameters, as any build of the engine names them."""
    head = (
        "`ullage describe` prints the same for the engine that is installed, and says what this build lacks and why.\n"
    )
    parts = ["# Engine\n", _WRITTEN_BY, head]
    for kind in KINDS:
        parts.append(f"## {str(kind).capitalize()}s\n")
        parts += [_thing(thing) for thing in sorted(registered(description, kind), key=lambda one: one.name)]
    return "\n".join(parts)


def snapshot(description: Describe) -> str:
    """Write the parameters of each backend and workload, a parameter a line."""
    things = sorted([*description.backends, *description.workloads], key=lambda one: one.name)
    texts = [
        f"{json.dumps(thing.name)}: [\n"
        + ",\n".join(one.model_dump_json(exclude_defaults=True) for one in thing.parameters)
        + "\n]"
        for thing in things
    ]
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _thing(thing: Registered) -> str:
    lines = [f"### `{thing.name}`", f"{_escaped(_sentence(thing.doc))}\n"]
    if thing.parameters:
        lines += ["| parameter | type | default | values | what it does |", "|---|---|---|---|---|"]
        for one in thing.parameters:
            kind = one.type + (f" ({one.unit})" if one.unit else "")
            values = ", ".join(one.choices) or format_range(one).strip()
            cells = (f"`{one.name}`", kind, format_value(one, one.default), values, _sentence(one.doc))
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join([*lines, ""])


def _sentence(text: str) -> str:
    """Return ``text`` with a capital letter and a full stop; names of parameters stay as they are."""
    first = text[:1].upper() + text[1:] if text[:1].isalpha() and "_" not in text.partition(" ")[0] else text
    return first if first.endswith((".", "?")) or not first else f"{first}."


def _line(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _cell(text: str) -> str:
    return _escaped(text.replace("|", r"\|"))


def _escaped(text: str) -> str:
    """Escape angle brackets, which are no elements of HTML."""
    return text.replace("<", "&lt;")


def pages(engine: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page."""
    yield "commands.md", commands_page()
    yield "suites.md", suites_page(REFERENCE.parent / "suites")
    yield "metrics.md", metrics_page()
    yield "engine.md", engine_page(describe(engine or find_engine(None)))


def write(folder: Path, written: Mapping[str, str]) -> None:
    """Write ``written``, texts by name, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(describe(find_engine(None))), encoding="utf-8")
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else REFERENCE, dict(pages()))
