# SPDX-License-Identifier: Apache-2.0
"""The options of a suite that is made of others: what it asks of each, as it stands in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, cast

from pydantic import Field

from ullage.model.base import Strict
from ullage.model.plan import Target
from ullage.parameters import suggest
from ullage.runs.inputs import ParsedOptions
from ullage.runs.options.declared import Option, declared
from ullage.runs.options.each_node import EachNodeOptions
from ullage.runs.options.groups import RequireOptions, Seconds, TargetsOptions
from ullage.runs.options.kinds import Names
from ullage.runs.options.model import COMMAND_LINE_ONLY, OptionError
from ullage.runs.options.reading import settled
from ullage.runs.suite import Suite, load_suites

PARTS: Final = "parts"


class PartRequest(Strict):
    """A part, or ``why_not`` it is none here. ``options`` are its suite's own.

    ``on_hosts``: its ranks go to all hosts that are named; the others measure the node that Ullage is started on.
    """

    suite: str
    targets: list[Target] = []
    options: dict[str, object] = {}
    why_not: str = ""
    on_hosts: bool = False


class PartsOptions(EachNodeOptions):
    """What a suite of suites runs, in this order. ``care``: suites and parts of the machine whose gains rank first.

    ``time_s``: for all parts together, with what runs beside them; null: as long as each takes.
    """

    parts: list[PartRequest]
    care: list[str] = []
    time_s: Seconds | None = None


class CompositeOptions(TargetsOptions, RequireOptions):
    """Options of such a suite, of which only what each part is asked for is kept.

    ``hosts``: how many the verb's ``--hosts`` names. They are for the parts that send messages between nodes.
    """

    uses_hosts: ClassVar[bool] = True
    hosts: Annotated[int, Field(ge=0), COMMAND_LINE_ONLY] = 0
    parts: list[PartRequest] = []
    care: Annotated[
        list[str], Names(), Option("Rank the gains of these suites or parts of the machine first: disk,metadata.")
    ] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle all options; raise ``OptionError`` for a word of ``care`` that the report does not know."""
        values = super().settle(said)
        for word in cast("list[str]", values.get("care", [])):
            if word not in (known := cared_words()):
                raise OptionError("care", f"unknown word '{word}'", suggest(word, known))
        return values

    def kept(self) -> dict[str, object]:
        left_out: set[str] = set() if self.care else {"care"}
        own = {name: value for name, value in self if name in PartsOptions.model_fields}
        return PartsOptions.model_validate(own).model_dump(mode="json", exclude=left_out)


def cared_words() -> list[str]:
    """Return what ``care`` may name, sorted."""
    from ullage.report.tabs import TITLES

    return sorted({*TITLES, *load_suites()} - {"other"})


def asked_of(suite: Suite, values: Mapping[str, object]) -> ParsedOptions:
    """Return what ``suite`` makes of those of ``values`` that are options of it; leave out the others, and None."""
    known = declared(suite.options)
    return settled(
        suite.options, **{name: value for name, value in values.items() if name in known and value is not None}
    )


def part_of(suite: str, asked: ParsedOptions, *, on_hosts: bool = False) -> PartRequest:
    """Return what is asked of a part, in the form in which the request of the whole keeps it."""
    return PartRequest(suite=suite, targets=asked.targets, options=asked.options, on_hosts=on_hosts)


def goes_between_hosts(suite: Suite) -> bool:
    """Tell whether all named hosts take part: storage may be of one node alone, and its path missing elsewhere."""
    return suite.options.uses_hosts and "targets" not in suite.options.model_fields
