# SPDX-License-Identifier: Apache-2.0
"""From the records of an IO500 run to rows, scores and findings; and the bound of the phases that work on names.

That is the same calls by the same ranks on tmpfs, right after a round: what the kernel does for a name in memory it
does for a name on any device too. The launches lie in ``probe/`` of the result and give no rows: only ceilings of the
rows of the targets.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final

from ullage.analysis.attribution import Attribution, attribution_text
from ullage.analysis.ceilings.measured import with_measured
from ullage.analysis.findings import Failed, make_study
from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.nodes import often_last
from ullage.analysis.findings.phrasing import finding
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.identity import case_id
from ullage.model.plan import Case, Layout, Plan, Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row, Score
from ullage.quantity import plural
from ullage.reading import read_bytes
from ullage.results.events import failed_cases
from ullage.results.folder import PROBE, ResultFolder
from ullage.results.records import read_records
from ullage.results.rows import RowContext
from ullage.runs.execution import LaunchSpec
from ullage.runs.no_device import FOLDER, NAME, PATIENCE_S, SAMPLES, find_tmpfs, names_bound, next_folder, note_missing
from ullage.runs.options.reading import read_options
from ullage.runs.remains import folders_of
from ullage.runs.room import Room
from ullage.runs.session import Ended, Session
from ullage.runs.suite import SuiteSummary
from ullage.suites.io500.explain import Explained
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import BY_NAME, Mode, OfficialPhase, phases_of
from ullage.suites.io500.planning import SMALL_FILE_BYTES, Step, make_plan, make_steps
from ullage.suites.io500.rounds import Attempt, Digest, Round, attempts_of, digest, phase_rows, read_rounds
from ullage.suites.io500.score import IMPROVEMENT, explain, families, movers, number, score, sensitivity, summary_scores
from ullage.suites.io500.validity import Validity

# Names of all ranks together in each dataset, or of each where there are many.
_ITEMS: Final = 3_000
_ITEMS_OF_A_RANK: Final = 100
# A launch takes about this long. The bounds may add this share to the time of the round.
_LAUNCH_S: Final = 1.0
_SHARE: Final = 0.1
_MOST_LAUNCHES: Final = 2
_INODE_BYTES: Final = 2048
_WORKLOADS: Final = ("metadata", "find")


def bounded_phases(options: Io500Options) -> list[OfficialPhase]:
    """Return the phases that work on names alone, with what they need, in official order."""
    return [
        phase
        for phase in phases_of(options.mode)
        if phase.workload in _WORKLOADS and phase.name not in options.config.skipped
    ]


def why_not(run: Explained) -> str:
    """Return why the same calls cannot be made on a tmpfs of all ranks; nothing where they can."""
    options = run.options
    if (run.layout.nodes or 1) > 1 or options.hosts:
        return "ranks on several nodes have no file system in memory in common"
    if not any(phase.scored for phase in bounded_phases(options)):
        return "no phase works on names"
    own = options.config.apis
    apis = {own[phase.name].backend for phase in bounded_phases(options) if phase.name in own}
    return f"the phases go through {', '.join(sorted(apis))}" if apis - {"posix"} else ""


def measure_bound(run: Explained, session: Session, target: Target, seconds: float) -> Ended | None:
    """Measure what the calls of a round on ``target`` give without a device; ``seconds``: of that round.

    Return the end of a launch that was stopped, and None of others: what goes wrong here is a note alone.
    """
    options, own = run.options, next((one for one in run.machine.places if one.target == target.name), None)
    if _SHARE * seconds < _LAUNCH_S or (own is not None and own.is_memory):
        return None
    if why := why_not(run):
        return note_missing(session, why)
    items = max(_ITEMS // options.ranks, _ITEMS_OF_A_RANK)
    names = 2 * items * options.ranks
    place = find_tmpfs(run.machine.memory, Room(names * (_INODE_BYTES + SMALL_FILE_BYTES), names))
    if isinstance(place, str):
        return note_missing(session, place)
    left_s, ended = _SHARE * seconds, None
    for _ in range(_MOST_LAUNCHES):
        if left_s < (_LAUNCH_S if ended is None else ended.seconds):
            break
        ended = _launch(run, session, target, Path(place.path), items, left_s)
        left_s -= ended.seconds
        if ended.was_stopped:
            return ended
        if not ended.may_go_on:
            return note_missing(session, ended.message or "the launch failed")
    return None


def _launch(run: Explained, session: Session, target: Target, path: Path, items: int, seconds: float) -> Ended:
    folder = next_folder(session.result, target.name)
    place = Target(name=NAME, uri=f"posix:{path}")
    steps = bound_steps(run.options, place, run.layout, session, items)
    spec = LaunchSpec(0, str(folder / "records.ndjson"), seconds)
    asked = run.options.model_copy(update={"keep": False, "resumable": False, "space": None})
    plan = make_plan(run.request, asked, steps, run.layout, spec)
    run_id = folders_of(run.request.run_id)[1]
    session.progress.stage("names without a device", 0, _LAUNCH_S)
    return session.launch_apart(folder, plan.model_copy(update={"run_id": run_id, "watchdog_s": PATIENCE_S}))[0]


def bound_steps(options: Io500Options, place: Target, layout: Layout, session: Session, items: int) -> list[Step]:
    """Return the steps of all sets, one set after the other, so that a find meets the names of its own set alone."""
    wanted = {phase.name for phase in bounded_phases(options)}
    skipped = sorted(phase.name for phase in phases_of(options.mode) if phase.name not in wanted)
    config = options.config.model_copy(update={"skipped": skipped, "files_per_directory": None})
    reduced = options.model_copy(update={"config": config, "stonewall_s": PATIENCE_S})
    sizes = Sizes(block_bytes=config.transfer_bytes, segments=1, easy_items=items, hard_items=items)
    steps = make_steps(reduced, place, sizes, layout, session.engine_context.description, PATIENCE_S)
    found: list[Step] = []
    for turn, step in product(range(1, SAMPLES + 1), steps):
        made = _on(step.case, lambda name, turn=turn: f"{name}-{turn}")
        own = case_id(made.backend, made.workload, step.target, layout, made.dataset)
        found.append(replace(step, case=made.model_copy(update={"id": own})))
    return found


def _on(case: Case, renamed: Callable[[str], str]) -> Case:
    """Return ``case`` on the datasets that have these names instead."""
    workload = case.workload
    if within := workload.parameters.get("within"):
        workload = workload.model_copy(update={"parameters": {**workload.parameters, "within": renamed(str(within))}})
    return case.model_copy(update={"workload": workload, "dataset": renamed(case.dataset) if case.dataset else ""})


def under_bounds(rows: Sequence[Row], result: ResultFolder, target: str, context: RowContext) -> list[Row]:
    """Return ``rows`` of ``target`` in their order, those of names under what the same calls gave without a device."""
    bounds = list(_bound_rows(result, target, context))
    if not bounds:
        return list(rows)
    at, giving = bounds[0][0], [row for _, row in bounds]
    rule = names_bound(lambda row: row.word("phase"))
    return with_measured([*rows, *giving], [rule], at)[: len(rows)]


def _bound_rows(result: ResultFolder, target: str, context: RowContext) -> Iterator[tuple[str, Row]]:
    """Yield the rates without a device, a row for each phase, and when they were measured."""
    top = result.path / PROBE / FOLDER
    attempts = [one for folder in sorted(top.glob(f"{target}-*")) for one in _attempts(folder)]
    for name, some in grouped((one.phase.name, one) for one in attempts).items():
        for row in phase_rows(BY_NAME[name], some, context):
            if row.metric == "operation_rate":
                yield some[0].run.started, row.model_copy(update={"target": NAME})


def _attempts(folder: Path) -> list[Attempt]:
    """Read what a launch measured. The sets are samples of one case, which the name of the phase stands for."""
    try:
        plan = Plan.model_validate_json(read_bytes(folder / "plan.json"))
        records = read_records(folder / "records.ndjson").records
    except (OSError, UserError, ValueError):
        return []
    # On the datasets that the phases have in a round.
    plain = plan.model_copy(update={"cases": [_on(case, lambda name: name.rpartition("-")[0]) for case in plan.cases]})
    found: list[Attempt] = []
    for one in attempts_of(plain, records):
        case = one.case.model_copy(update={"case": one.phase.name, "target": NAME})
        phases = tuple(phase.model_copy(update={"case": one.phase.name}) for phase in one.phases)
        found.append(replace(one, case=case, phases=phases))
    return found


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(Io500Options, request)
    failed = failed_cases(file.records for file in result.read_records())
    digests = digest_all(request, options, read_rounds(result), failed, context)
    several = len(digests) > 1
    findings = find_failures(make_study([], failed))
    if reasons := options.conditions.reasons:
        text = f"INVALID by the rules of IO500: {'; '.join(reasons)}. Do not quote the numbers as a result."
        title = "The IO500 score does not count as a result"
        findings = [finding("io500-invalid", title, text, "warning", reasons=reasons), *findings]
    scores: list[Score] = []
    for found in digests:
        label = found.target.name if several else ""
        # Of these nothing may be concluded; the score counts them, as the official one does.
        disturbed = frozenset(row.word("phase") for row in found.rows if row.grade == "C")
        own = summary_scores(found.samples, found.validity.run, options.mode, label)
        # A look is a score against which only what was asked for speaks.
        asked = set(options.conditions.reasons)
        looks = [bool(one.reasons) and not one.valid and asked.issuperset(one.reasons) for one in own]
        scores += [one.model_copy(update={"look": look}) for one, look in zip(own, looks, strict=True)]
        findings += void_findings(found.validity, label)
        counts = all(one.valid for one in own)
        findings += score_findings(found.values, options.mode, label, disturbed, counts=counts)
        findings += slow_ranks(found.rounds, disturbed, label)
    rows = [row for found in digests for row in under_bounds(found.rows, result, found.target.name, context)]
    return SuiteSummary(rows, findings, scores)


def digest_all(
    request: Request, options: Io500Options, rounds: Sequence[Round], failed: Iterable[Failed], context: RowContext
) -> list[Digest]:
    """Return a digest for each target of the request, also for one at which nothing has run yet."""
    errors = {case.case: f"{case.text}{f' ({case.where})' if case.where else ''}" for case in failed}
    return [
        digest(target, [one for one in rounds if one.target.name == target.name], options, context, errors)
        for target in request.targets
    ]


def slow_ranks(rounds: Iterable[Round], disturbed: Collection[str], label: str = "") -> Iterator[Finding]:
    """Name the ranks that are often the last; phases in ``disturbed`` do not count."""
    sound = [attempt.scored for one in rounds for name, attempt in one.counted().items() if name not in disturbed]
    for one in often_last(phase for phase in sound if phase is not None):
        where = f"{label}: rank {one.rank} on {one.node}" if label else f"Rank {one.rank} on {one.node}"
        unequal = plural(one.unequal, "phase")
        yield finding(
            "slow-rank",
            f"{where} is often the slowest",
            f"{where} was the slowest in {one.phases} of {unequal} with unequal ranks. Check what else runs there.",
            "advice",
            target=label,
            rank=one.rank,
            node=one.node,
            phases=one.phases,
            unequal=one.unequal,
        )


# -- findings; ``target`` goes before the sentences where a result has several -----------------------------------------


def score_findings(
    values: Mapping[str, float],
    mode: Mode = "standard",
    target: str = "",
    doubted: Collection[str] = (),
    *,
    counts: bool = True,
) -> list[Finding]:
    """Say where the score of ``values`` comes from, one finding a sentence; the first holds all the numbers.

    ``doubted``: phases that were disturbed or contradict themselves, on which no sentence may rest.
    """
    sentences = explain(values, mode, doubted)
    if not sentences:
        return []
    whole, influences, groups = score(values, mode), sensitivity(values, mode), families(values, mode, doubted)
    lead = f"{target}: " if target else ""
    article = "the" if target else "The"
    first = sentences[0].replace("The ", f"{article} ", 1)
    if not counts:
        first = f"{'n' if target else 'N'}ot valid as a result: {first[:1].lower()}{first[1:]}"
    total = "unknown" if whole.total is None else number(whole.total)
    title = f"{lead}{article} IO500 score is {total}{'' if counts else ', not valid as a result'}"
    head = finding(
        "io500-score",
        title,
        f"{lead}{first}",
        target=target,
        total=whole.total,
        bandwidth_gib_per_s=whole.bandwidth,
        metadata_kiops=whole.metadata,
        phase=[influence.phase for influence in influences],
        value=[influence.value for influence in influences],
        power=[influence.power for influence in influences],
        improvement=IMPROVEMENT,
        gain=[influence.gain for influence in influences],
        family=[group.name for group in groups],
        loss=[group.loss for group in groups],
    )
    return [
        head,
        *(
            finding("io500-score", f"{lead}{group.name} lowers the score", f"{lead}{text}", target=target)
            for group, text in zip(groups, sentences[1:], strict=False)
        ),
    ]


def void_findings(validity: Validity, target: str = "") -> Iterator[Finding]:
    """Yield a finding for every phase that does not count, with its reasons and what else it voids."""
    for name, reasons in validity.phases.items():
        phase = BY_NAME[name]
        # What else a void phase voids, where that is not the run.
        reach = ". Only the extended score is void" if phase.mode == "extended" else ""
        if phase.pilot:
            reach = ". It is an unscored pilot: the run is valid without it"
        title = f"{f'{target}: ' if target else ''}{name} does not count"
        text = f"{title}: it {'; it '.join(reasons)}{reach}."
        yield finding("io500-void", title, text, "warning", target=target, phase=name, reasons=reasons)


def change_finding(
    first: Mapping[str, float],
    second: Mapping[str, float],
    names: tuple[str, str],
    mode: Mode = "standard",
    doubted: Collection[str] = (),
) -> Finding:
    """Say which phases moved the total from the run of the first name to that of the second, by what factor."""
    found = movers(first, second, mode, doubted)
    text = attribution_text(Attribution("IO500", "", *names, 1.0, math.prod(one.factor for one in found), found))
    return finding(
        "io500-change",
        f"What changed the score from {names[0]} to {names[1]}",
        text,
        target=names[1],
        against=names[0],
        phase=[one.name for one in found],
        ratio=[one.ratio for one in found],
        moved=[one.factor for one in found],
    )
