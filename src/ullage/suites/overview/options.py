# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``overview``: what is asked of each part is what stands in request.json."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, cast

from ullage.parameters import suggest
from ullage.runs.composite.options import CompositeOptions, PartRequest, goes_between_hosts, part_of
from ullage.runs.composite.steps import scaled
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import MachineOptions, TimeBudgetOptions
from ullage.runs.options.kinds import Names
from ullage.runs.options.model import OptionError
from ullage.runs.suite import Quick, UsualQuickSuite, load_suites

if TYPE_CHECKING:
    from ullage.model.machine import MachineFile
    from ullage.model.plan import Target

# What the quick forms of all suites take together.
_USUAL_S: Final = 260.0


class OverviewOptions(CompositeOptions, TimeBudgetOptions, MachineOptions):
    """Every suite with a quick form is a part."""

    changes = {
        "targets": Change(usual="here=.", required=False),
        "time_s": Change(
            "Limit the time of the whole run, other tools included. What does not fit is left out.", usual="4m20s"
        ),
    }

    without: Annotated[list[str], Names(), Option("Leave out these suites, for example io500,sweep.")] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Make a request of each part that is not left out; raise ``OptionError`` for an unknown part."""
        values = super().settle(said)
        suites = load_suites()
        forms = {name: suite for name, suite in suites.items() if isinstance(suite, Quick)}
        without = cast("list[str]", values.get("without", []))
        unknown = next((name for name in without if name not in suites), None)
        if unknown is not None:
            raise OptionError("without", f"unknown word '{unknown}'", suggest(unknown, suites))
        targets = cast("list[Target]", values["targets"])
        hosts = cast("int", values.get("hosts", 0))
        found = [_part(name, suite, targets, hosts) for name, suite in forms.items() if name not in without]
        declared = cast("MachineFile | None", values.get("machine"))
        share = cast("float", values["time_s"]) / _USUAL_S
        parts = [_declared(part, declared) for part in found if part is not None]
        shorter = [part.model_copy(update={"options": scaled(part.options, share)}) for part in parts]
        return {**values, "parts": shorter}


def _part(name: str, suite: Quick, targets: "Sequence[Target]", hosts: int) -> PartRequest | None:
    """Return the suite's request in its quick form, or None where no target is for it.

    A suite that measures between hosts gets all ``hosts``.
    """
    if hosts and isinstance(suite, UsualQuickSuite) and goes_between_hosts(suite):
        return part_of(name, suite.quick_between(hosts), on_hosts=True)
    asked = suite.quick(targets)
    return None if asked is None else part_of(name, asked)


def _declared(part: PartRequest, machine: "MachineFile | None") -> PartRequest:
    if machine is None or "machine" not in part.options:
        return part
    return part.model_copy(update={"options": {**part.options, "machine": machine.model_dump(mode="json")}})
