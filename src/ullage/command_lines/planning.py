# SPDX-License-Identifier: Apache-2.0
"""From a translation to the cases and the one plan of a run. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Draft, Translation
from ullage.engine import Kind, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.launch.base import choose_binding, place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.runs.room import SECTOR_BYTES

# Without progress for so long a launch is a timeout. The engine gives a stage more by what it moves in one call.
_PATIENCE_S: Final = 120.0
# A run may take this share of the room: what is free changes until the engine looks.
_CAUTION: Final = 0.9
_TRANSFER: Final = "transfer"


@dataclass(frozen=True)
class Bound:
    """A draft bound to its target, with what it moves over all ranks."""

    draft: Draft
    case: Case
    target: Target
    ranks: int

    @property
    def parameters(self) -> Parameters:
        """Parameters of the workload, also those that equal their defaults."""
        return self.draft.workload.parameters

    @property
    def phases(self) -> list[str]:
        """The phases in the order of execution."""
        words = self.parameters.get("phases", [])
        return words if isinstance(words, list) else []

    @property
    def makes(self) -> bool:
        """Whether it makes the dataset, and does not use one that is there."""
        return bool(self.phases) and self.phases[0] in ("write", "tree-create")

    @property
    def dataset_bytes(self) -> int:
        """What the case leaves at the target at most; of a use of another case's dataset, what it touches."""
        if self.draft.leaves is not None:
            return self.draft.leaves
        if self.draft.workload.name == "metadata":
            return self.ranks * count_of(self.parameters, "items") * count_of(self.parameters, "write_bytes")
        if self.draft.workload.name == "mixed-transfer":
            return self.ranks * count_of(self.parameters, "operations") * count_of(self.parameters, "transfer_bytes")
        return self.ranks * count_of(self.parameters, "segments") * count_of(self.parameters, "block_bytes")

    @property
    def items(self) -> int:
        """Files or directories, over all ranks."""
        if self.draft.leaves is not None:
            return 1
        if self.draft.workload.name == "metadata":
            return self.ranks * count_of(self.parameters, "items")
        return self.ranks if self.parameters.get("file_mode") == "per-process" else 1

    @property
    def wall_s(self) -> float:
        """0 without a wall."""
        wall = self.parameters.get("stonewall_s", 0.0)
        return float(wall) if isinstance(wall, (int, float)) else 0.0


def make_layout(translation: Translation, cores: int | None, hosts: int = 0) -> Layout:
    """Make the layout of the lines; bind ranks to cores where each gets one.

    ``cores``: usable ones of a node, None when not known. ``hosts``: how many are named.
    """
    if hosts:
        return place_ranks(translation.ranks, translation.nodes, translation.ranks_per_node, cores, hosts)
    on_a_node = translation.ranks_per_node
    binding = "none" if cores is None else choose_binding(on_a_node or translation.ranks, 1, cores)
    return Layout(ranks=translation.ranks, nodes=translation.nodes, ranks_per_node=on_a_node, binding=binding)


def bind(
    translation: Translation, layout: Layout, options: LineOptions, targets: Sequence[Target], description: Describe
) -> list[Bound]:
    """Bind all cases and check them against the engine; raise ``UserError`` for what it would refuse."""
    by_name = {target.name: target for target in targets}
    bound: list[Bound] = []
    for draft in translation.drafts:
        name = options.places.get(draft.place, "null") if draft.needs_path else "null"
        bound.append(_bind(draft, by_name[name], layout, description))
    ids = [item.case.id for item in bound]
    for index, identity in enumerate(ids):
        if identity in ids[:index]:
            what = f"line {bound[index].draft.line} does again what line {bound[ids.index(identity)].draft.line} does"
            raise UserError(what, "command lines", "request repetitions with -i")
    return bound


def _bind(draft: Draft, target: Target, layout: Layout, description: Describe) -> Bound:
    backend = _checked("backend", draft.backend, description)
    workload = _checked("workload", draft.workload, description)
    transfer = count_of(workload.parameters, "transfer_bytes")
    if backend.parameters.get("direct") and transfer % SECTOR_BYTES:
        what = f"line {draft.line}: O_DIRECT cannot move {transfer:,} bytes"
        raise UserError(what, "-t", f"only multiples of {SECTOR_BYTES}: change -t, or leave --posix.odirect out")
    identity = case_id(backend, workload, target, layout, draft.dataset)
    case = Case(id=identity, target=target.name, backend=backend, workload=workload, dataset=draft.dataset)
    return Bound(draft, case, target, layout.ranks)


def _checked(kind: Kind, thing: Named, description: Describe) -> Named:
    parameters = validate_parameters(description, kind, thing.name, thing.parameters)
    return Named(name=thing.name, parameters=parameters)


def fit(translation: Translation, rooms: Mapping[str, int]) -> tuple[Translation, list[str]]:
    """Cut volumes behind a wall to the room, with notes: they are upper bounds that nobody means to reach.

    ``rooms``: bytes that may be taken at each place. What is not behind a wall is left as asked.
    """
    groups = [draft.dataset or f"#{index}" for index, draft in enumerate(translation.drafts)]
    walled = {
        (draft.place, group) for draft, group in zip(translation.drafts, groups, strict=True) if _is_walled(draft)
    }
    drafts: list[Draft] = []
    notes: list[str] = []
    for draft, group in zip(translation.drafts, groups, strict=True):
        if (draft.place, group) not in walled or draft.place not in rooms or draft.workload.name != _TRANSFER:
            drafts.append(draft)
            continue
        shares = sum(1 for place, _ in walled if place == draft.place)
        cut, said = _cut(draft, int(_CAUTION * rooms[draft.place]) // shares // translation.ranks)
        drafts.append(cut)
        notes.extend(said)
    return replace(translation, drafts=tuple(drafts)), notes


def _is_walled(draft: Draft) -> bool:
    return draft.needs_path and draft.workload.name == _TRANSFER and bool(draft.workload.parameters.get("stonewall_s"))


def _cut(draft: Draft, room: int) -> tuple[Draft, list[str]]:
    """Cut a draft to ``room``, which is of one rank; return it with what a reader must know.

    Segments are cut first, then the only one's transfers.
    """
    parameters = draft.workload.parameters
    block, segments = count_of(parameters, "block_bytes"), count_of(parameters, "segments")
    transfer = count_of(parameters, "transfer_bytes")
    if block * segments <= room or room < transfer:
        return draft, []
    if block <= room:
        smaller: Parameters = {"segments": room // block}
    else:
        smaller = {"segments": 1, "block_bytes": room // transfer * transfer}
    note = (
        f"line {draft.line}: the volume is an upper bound behind the wall, and is cut to the room: "
        f"{_said(smaller, parameters)}"
    )
    workload = Named(name=draft.workload.name, parameters={**parameters, **smaller})
    return replace(draft, workload=workload), [note]


def _said(smaller: Parameters, before: Parameters) -> str:
    changed = {name: value for name, value in smaller.items() if before.get(name) != value}
    return ", ".join(f"{name} {before.get(name)} becomes {value}" for name, value in changed.items())


@dataclass(frozen=True)
class Work:
    """Everything a plan is made of. ``notes``: what a reader must know before it is carried out."""

    request: Request
    options: LineOptions
    translation: Translation
    layout: Layout
    bound: Sequence[Bound]
    notes: Sequence[str]


def make_plan(work: Work, records: str, prior: Mapping[str, dict[str, list[int]]]) -> Plan:
    """Make the plan of a launch. ``prior``: elapsed ns by case and phase of the rounds of earlier launches."""
    bound, translation = work.bound, work.translation
    used = {item.target.name: item.target for item in bound}
    return Plan(
        run_id=work.request.run_id,
        suite=work.request.suite,
        records=records,
        order="listed",
        layout=work.layout,
        targets=list(used.values()),
        stop_rule=Named(name="fixed", parameters={"count": translation.repetitions}),
        time_budget_s=translation.time_s,
        watchdog_s=work.options.watchdog_s or _PATIENCE_S,
        limits=Limits(space_bytes=work.options.space),
        keep=translation.keep or work.options.keep,
        cases=[item.case.model_copy(update={"prior_elapsed_ns": prior.get(item.case.id, {})}) for item in bound],
    )
