# SPDX-License-Identifier: Apache-2.0
"""A search that was checked against suite, engine and machine: what it would do."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from ullage.analysis.tuning.space import Space
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Needed, Session
from ullage.runs.suite import Explanation, Prepared, find_suite
from ullage.runs.tuning.budget import Budget
from ullage.runs.tuning.checks import fitted_options, shown_options, usual_options
from ullage.runs.tuning.journal import targets_alone
from ullage.runs.tuning.objective import Rule, read_rule
from ullage.runs.tuning.options import UNSET, TunedParameter, TuneOptions
from ullage.runs.tuning.trial_inputs import SetCommand, TrialInputsMaker, folder_of, read_command
from ullage.runs.tuning.tuned_parameters import space_of
from ullage.units import format_time, format_volume

Build: TypeAlias = Callable[[ResultFolder], Summary]
FILES: Final = "settings"


@dataclass(frozen=True)
class PreparedTune:
    """See ``Prepared``. ``first``: the default setting, prepared as a trial; ``build`` makes the summary of one.

    ``execute``: measures.
    """

    request: Request
    options: TuneOptions
    engine_context: EngineContext
    overs: Sequence[TunedParameter]
    first: Prepared
    budget: Budget
    build: Build
    needed: Needed
    execute: Callable[["PreparedTune", Session], int]

    @cached_property
    def space(self) -> Space:
        """The space of the search."""
        return space_of(self.overs)

    @property
    def rules(self) -> list[Rule]:
        """The rules of ``--keep``."""
        return [read_rule(text) for text in self.options.keep]

    @property
    def metrics(self) -> list[str]:
        """What is read of a trial, as people name it."""
        return [*self.options.objective, *(rule.metric for rule in self.rules)]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: what to measure next follows from what was measured."""
        return "settings by hand: a search cannot be a batch script"

    def inputs_maker(self, result: ResultFolder) -> TrialInputsMaker:
        """Return what turns settings into options of the suite; their files lie in ``result``."""
        model = find_suite(self.options.suite).options
        hosts, usual = len(self.request.hosts), usual_options(self.options)
        return TrialInputsMaker(model, self.options.words, self.overs, hosts, result.path / FILES, usual)

    @cached_property
    def shorter(self) -> dict[str, str]:
        """The options that make a trial short; none if the suite has none, they are varied, or all are to be full."""
        model, varied = find_suite(self.options.suite).options, {one.word for one in self.overs}
        short = {} if self.options.full else model.shorter(self.first.request.options)
        return {} if varied & short.keys() else short

    def explain(self) -> Explanation:
        rows = [[one.name, ", ".join(one.values), one.default] for one in self.overs]
        size = self.space.size
        room = min(self.budget.left([]), 2 * size + 30)
        what = " and ".join(self.options.objective)
        bounds = (
            f"Trials at most: {room}. Time at most: {format_time(self.budget.seconds)}. "
            f"Bytes written at most: {self._bytes_text(room)}."
        )
        fitted, each = shown_options(fitted_options(self.options)), self.budget.trial_s
        short = shown_options(self.shorter)
        head = [f"A search over {size} settings of suite {self.options.suite} for the best {what}.", bounds]
        tail = [
            "The default is measured first, and again between the other settings.",
            *([f"Trials have {fitted}, to fit into the budget. Repeat the best setting without it."] if fitted else []),
            *([f"Other settings are measured short first ({short}), the finalists in full."] if short else []),
            *([f"The whole grid, each setting once, would take about {format_time(each * size)}."] if each else []),
            *self._commands(),
        ]
        part = ("a trial with the default setting", self.first.explain())
        return Explanation(head, ["parameter", "values", "default"], rows, tail, [part])

    def _commands(self) -> list[str]:
        """Show the commands that prepare the folder of a trial, each with one of its values."""
        shown: list[str] = []
        folders = [folder for one in self.first.request.targets if (folder := folder_of(one, self.request.run_id))]
        for one in self.overs:
            value = next((text for text in one.values if text != UNSET), None)
            if one.how == "command" and value is not None:
                command = SetCommand(read_command(one.word), value)
                shown += [shlex.join(command.argv(folder)) for folder in folders]
        return [f"Before its dataset is made, a trial with that value runs: {text}" for text in shown]

    def _bytes_text(self, room: int) -> str:
        each = self.budget.trial_bytes
        if self.budget.bytes is not None:
            return format_volume(self.budget.bytes)
        return "not known before a trial" if each is None else format_volume(each * room)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: those of the first trial; the others follow from what it says."""
        return self.first.plans(result.part("trial-001"))

    def run(self, session: Session) -> int:
        with targets_alone(self.request.targets):
            return self.execute(self, session)
