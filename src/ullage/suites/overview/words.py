# SPDX-License-Identifier: Apache-2.0
"""The options of ``ullage run overview`` as people write them. Imported for every command: nothing heavy up here."""

from typing import TYPE_CHECKING, Annotated

import typer

from ullage.analysis.ceilings.words import MachineOption, machine_option
from ullage.runs.suite import ParsedOptions

if TYPE_CHECKING:
    from ullage.model.machine import MachineFile
    from ullage.runs.composite.options import PartRequest


def overview_words(
    *,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="A place to measure. Repeat it. Default: here=.", show_default=False),
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Suites to leave out: io500,sweep.", show_default=False)
    ] = None,
    machine: MachineOption = None,
) -> ParsedOptions:
    """Read the words; each mistake is a ``UserError`` before anything is touched."""
    from ullage.parameters import known_word
    from ullage.runs.composite.asking import asked_part, whole
    from ullage.runs.suite import Quick, load_suites
    from ullage.uri import parse_targets

    targets = parse_targets(target or ["here=."])
    forms = {name: suite for name, suite in load_suites().items() if isinstance(suite, Quick)}
    left_out = {known_word(word.strip(), forms, "--without") for word in (without.split(",") if without else [])}
    found = [(name, suite.quick(targets)) for name, suite in forms.items() if name not in left_out]
    declared = machine_option(machine)
    return whole(targets, [_declared(asked_part(name, asked), declared) for name, asked in found if asked is not None])


def _declared(part: "PartRequest", machine: "MachineFile | None") -> "PartRequest":
    """With the machine file, where the suite knows such a thing."""
    if machine is None or "machine" not in part.options:
        return part
    return part.model_copy(update={"options": {**part.options, "machine": machine.model_dump(mode="json")}})
