# SPDX-License-Identifier: Apache-2.0
"""The flags of mdtest, and its command lines as cases of the workload ``metadata``. Pure.

Lines without ``-C`` use what an earlier line with the same ``-d`` made and left; where there is none, their case makes
it first. ``-W`` walls only the creation of files, so what follows it is a case of its own.

What is a mistake of mdtest's is not copied: a failed stat is a failure, ``-Y`` is one syncfs a node inside its own
stamp, and what is read is checked outside the timer.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.command_lines import translation
from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, ParsedFlags, answered, refused, translated
from ullage.command_lines.options import LineOptions
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters
from ullage.runs.options.declared import Change

_IN_RECORDS = "every result holds it: `ullage report`, and --format mdtest for mdtest's table"
_ONE_LAYOUT = "give one command line for each number of ranks"
_NO_COMMANDS = "no foreign command is started between phases; run it before or after"
_NO_GPU = "buffers lie in the nodes' memory; leave it out"

# A line of one rank, or of directories, does what -c, -S and -k ask for anyway; see `conditional`.
_TRANSLATED: Final = translated(
    """
    -a VALUE, -n VALUE, -I VALUE, -z VALUE, -b VALUE, -d VALUE, -w VALUE, -e VALUE, -N VALUE, --random-seed VALUE,
    -i VALUE, -W VALUE, -L, -u, -R, -y, -Y, -X, -D, -F, -C, -T, -E, -r, -U, --posix.odirect, -c, -S, -k
    """
)
_ANSWERED: Final = answered(
    {
        "-x VALUE": "what every rank made is in the dataset's manifest, and later phases go by it",
        "-t": "no phase changes the working directory, so there is no such time to include",
        "-G VALUE": "what files hold follows from run, rank and item, and needs no seed",
        "--dataPacketType VALUE": "what files hold follows from run, rank and item",
        "-P -Z --print-rate-and-time": _IN_RECORDS,
        "--print-all-procs --showRankStatistics": "fastest and slowest ranks are in every phase record",
        "--saveRankPerformanceDetails VALUE": "fastest and slowest ranks are recorded",
        "--savePerOpDataCSV VALUE": "latency histograms and rates over time are recorded for every phase",
        "-v": _IN_RECORDS,
        "-V VALUE": _IN_RECORDS,
        "--warningAsErrors": "an error always fails its case and the run",
    }
)
_REFUSED: Final = refused(
    {
        "-B": "phases always begin and end together; leave it out",
        "-f VALUE": _ONE_LAYOUT,
        "-l VALUE": _ONE_LAYOUT,
        "-s VALUE": _ONE_LAYOUT,
        "-p VALUE": "there is no pause before an iteration; leave it out",
        "-g VALUE": "set the layout on the target's folder with the file system's own tool",
        "--verify-write": "what was written is checked by reading it: add -E and -X",
        "--run-cmd-before-phase VALUE": _NO_COMMANDS,
        "--run-cmd-after-phase VALUE": _NO_COMMANDS,
        "--allocateBufferOnGPU VALUE": _NO_GPU,
        "--gpuDirect": _NO_GPU,
        "--gpuID VALUE": _NO_GPU,
    }
)

TABLE: Final = FlagTable("mdtest", (*_TRANSLATED, *_ANSWERED, *_REFUSED, *FILE_SYSTEMS), {})


TOOL: Final = "mdtest"
Item: TypeAlias = Literal["directory", "file"]
# All lines that work on one tree must agree on these.
LAYOUT: Final = {
    "items": "-n",
    "items_per_directory": "-I",
    "depth": "-z",
    "branching": "-b",
    "leaf_only": "-L",
    "unique_directory": "-u",
}


def backend_of(given: ParsedFlags) -> Named:
    """Return the backend that works on names; raise ``UserError`` for another API than POSIX."""
    api = given.text("-a", "POSIX")
    if api.upper() != "POSIX":
        raise UserError(f"no backend works on names through {api}", f"{TOOL} -a", "write -a POSIX")
    return Named(name="posix", parameters={"direct": True} if given.has("--posix.odirect") else {})


def directories(depth: int, branching: int, *, leaf_only: bool) -> int:
    """Count the directories of one tree that hold items: all, or the leaves only."""
    if leaf_only:
        return branching**depth
    return depth + 1 if branching == 1 else (branching ** (depth + 1) - 1) // (branching - 1)


_OF_SEVERAL_RANKS: Final = {
    "-c": ("every rank makes its own items; --ranks 1 makes all with one", "a single rank makes all items anyway"),
    "-S": (
        "every rank works on items of its own; for one file that all ranks share use from-ior without -F",
        "a single rank shares its items with nobody",
    ),
}


def conditional(given: ParsedFlags, ranks: int) -> list[str]:
    """Return notes on flags that ask for what is done anyway; raise ``UserError`` where they ask for other work."""
    notes: list[str] = []
    for flag, (why, usual) in _OF_SEVERAL_RANKS.items():
        if given.has(flag) and ranks > 1:
            raise UserError(f"{flag} has no equivalent on {ranks} ranks: {why}", TOOL, "or leave it out")
        notes += [f"{flag}: {usual}"] if given.has(flag) else []
    if given.has("-k"):
        if not given.has("-D") and (given.has("-C") or not any(map(given.has, ("-T", "-E", "-U", "-r")))):
            why = "files are made by open and close, as applications make them, and not by mknod; leave it out"
            raise UserError(f"-k has no equivalent: {why}", TOOL)
        notes.append("-k: this line makes no files")
    return notes


def items_of(given: ParsedFlags, notes: list[str]) -> tuple[int, int]:
    """Return the items of a rank, and how many of them are in a directory.

    mdtest's rule: ``-n`` is rounded down to the same number in every directory; ``-I`` is that number itself. With both
    and without a tree, a directory is filled after the other.
    """
    depth, branching = given.count("-z", 0), given.count("-b", 1, least=1)
    if depth > 64 or branching > 1_000_000:
        raise UserError("the tree is too large", f"{TOOL} -z {depth} -b {branching}", "at most -z 64 -b 1000000")
    holding = directories(depth, branching, leaf_only=given.has("-L"))
    in_each = given.count("-I", 0)
    items = given.count("-n", 0)
    if in_each and items and holding == 1 and items % in_each == 0:
        return items, in_each
    if in_each and items and items != in_each * holding:
        what = f"-I {in_each} in {holding} directories are {in_each * holding} items, and -n says {items}"
        raise UserError(what, TOOL, "give one of -n and -I")
    if in_each:
        return in_each * holding, in_each
    if not items:
        raise UserError("neither -n nor -I says how many items a rank makes", TOOL, "add -n ITEMS")
    if items < holding:
        raise UserError(f"-n {items} are fewer items than the {holding} directories of the tree", TOOL, "raise -n")
    in_each, left = divmod(items, holding)
    if left:
        notes.append(f"-n {items} becomes {items - left}, as with mdtest: {in_each} in each of {holding} directories")
    return items - left, in_each


def workload_of(given: ParsedFlags, item: Item, phases: Collection[str], notes: list[str]) -> Parameters:
    """Return the parameters of the workload without phases and wall; add to the ``notes`` for the reader.

    ``phases``: those over items that are asked for.
    """
    items, in_each = items_of(given, notes)
    depth, branching, leaf_only = given.count("-z", 0), given.count("-b", 1, least=1), given.has("-L")
    if items > in_each * directories(depth, branching, leaf_only=leaf_only):
        depth, branching, leaf_only = 1, items // in_each, True
        notes.append(f"-n with -I: {branching} directories side by side, each with {in_each} items of a rank")
        if given.has("-u"):
            raise UserError("mdtest takes -n and -I together only without -u", TOOL, "give one of -n and -I")
    parameters: Parameters = {
        "items": items,
        "items_per_directory": in_each,
        "depth": depth,
        "branching": branching,
        "leaf_only": leaf_only,
        "unique_directory": given.has("-u"),
        "stride": given.count("-N", 0),
    }
    if given.has("-R"):
        parameters |= {"order": "random", "order_seed": given.count("--random-seed", 1)}
        notes.append("-R: all phases but the making of items visit them in random order, different on each rank")
    if given.has("-N"):
        notes.append("-N: items of other ranks are used, of other nodes where there are several, by true topology")
    if given.has("-Y"):
        parameters["sync"] = "filesystem"
        notes.append(
            "-Y: one syncfs a node after a phase that changes something, in its own stamp; never a sync of all"
        )
    return parameters | _content(given, phases, notes) if item == "file" else parameters


def _content(given: ParsedFlags, phases: Collection[str], notes: list[str]) -> Parameters:
    written, read = given.size("-w", 0), given.size("-e", 0)
    if "read" not in phases:
        read = min(read, written)
    elif read > written and "create" not in phases and not given.has("-w"):
        written = read
        notes.append(f"-e without -w: the files are taken to hold {read} bytes")
    elif read > written:
        raise UserError(f"-e {read} reads more than -w {written} writes", TOOL, "raise -w or lower -e")
    content: Parameters = {"write_bytes": written, "read_bytes": read, "verify": "full"}
    if given.has("-y") and not given.has("-Y"):
        content["sync"] = "file"
    elif given.has("-y"):
        raise UserError("-y and -Y together have no equivalent", TOOL, "-y: fsync of each file; -Y: one syncfs a node")
    if given.has("-X"):
        notes.append("-X: what is read is checked outside the timer")
    return content


# Each phase is listed under the flag that selects it; mdtest reads no directories and renames no files.
_PHASES: Final[dict[Item, dict[str, str]]] = {
    "directory": {"-C": "mkdir", "-T": "stat", "-U": "rename", "-r": "rmdir"},
    "file": {"-C": "create", "-T": "stat", "-E": "read", "-r": "unlink"},
}
_SELECT: Final = ("-C", "-T", "-E", "-U", "-r")


@dataclass(frozen=True)
class Job:
    """One command line, read, for one kind of item. ``number`` counts from 1."""

    number: int
    item: Item
    given: ParsedFlags

    @property
    def asked(self) -> list[str]:
        """Phases over items, in mdtest's order."""
        chosen = [flag for flag in _SELECT if self.given.has(flag)] or list(_SELECT)
        phases = _PHASES[self.item]
        return [phases[flag] for flag in phases if flag in chosen]

    @property
    def makes(self) -> str:
        """The phase that makes items."""
        return _PHASES[self.item]["-C"]

    @property
    def removes(self) -> bool:
        """Whether nothing is left behind."""
        return _PHASES[self.item]["-r"] in self.asked

    @property
    def key(self) -> tuple[str, Item]:
        """What later lines find it by."""
        return self.given.text("-d"), self.item


def translate(lines: Sequence[translation.CommandLine], wanted: translation.WantedLayout) -> translation.Translation:
    """See ``Translator``."""
    layout = translation.agreed_layout(lines, wanted)
    for name in (name for line in lines for name in line.environment):
        raise UserError(f"{name} before the command is not carried to the ranks", TOOL, "export it for `ullage run`")
    read = [TABLE.read(line.words) for line in lines]
    jobs = [job for number, given in enumerate(read, start=1) for job in _jobs(number, given)]
    books = _Books(jobs)
    drafts = [draft for job in jobs for draft in books.drafts_of(job)]
    translation.check_shared(TOOL, drafts, LAYOUT)
    said = [
        note
        for line, given in zip(lines, read, strict=True)
        for note in (*line.notes, *given.notes, *conditional(given, layout.ranks or 1))
    ]
    return translation.Translation(
        drafts=tuple(drafts),
        ranks=layout.ranks or 1,
        repetitions=translation.one_of(TOOL, "-i", [given.count("-i", 1, least=1) for given in read]) or 1,
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        notes=tuple(dict.fromkeys([*said, *books.notes])),
    )


def _jobs(number: int, given: ParsedFlags) -> list[Job]:
    if "@" in given.text("-d"):
        raise UserError("several paths with @ have no equivalent: all ranks use one target", TOOL, "give -d one path")
    if given.has("-D") and given.has("-F"):
        raise UserError("-D and -F exclude each other", TOOL, "leave both out for directories and files")
    items: list[Item] = ["directory"] if given.has("-D") else ["file"] if given.has("-F") else ["directory", "file"]
    jobs = [Job(number, item, given) for item in items]
    asking = [job for job in jobs if job.asked]
    if not asking:
        what = "renames only directories" if given.has("-U") else "reads only files"
        raise UserError(f"line {number} requests no work: mdtest {what}", TOOL, "add -C, -T or -r")
    return asking


class _Books:
    """Which dataset each job makes and uses. ``notes``: what a reader must know of the cases made so far."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._names = translation.DatasetNames()
        self._left: dict[tuple[str, Item], str] = {}
        self.notes: list[str] = []

    def drafts_of(self, job: Job) -> list[translation.Draft]:
        """Return the cases of ``job`` in their order."""
        workload = workload_of(job.given, job.item, job.asked, self.notes)
        phases = self._phases(job)
        dataset = self._left.pop(job.key, "")
        stays = not job.removes and self._is_used_later(job)
        wall = job.given.seconds("-W") if job.item == "file" else 0.0
        # The wall ends the making of files; a job that makes none has nothing before it.
        end = phases.index("create") + 1 if "create" in phases else 0
        made, rest = (phases[:end], phases[end:]) if wall else (phases, [])
        if not dataset and (stays or rest):
            dataset = self._names.make(job.given.text("-d"), f"{job.item}s")
        if stays:
            self._left[job.key] = dataset
        elif not job.removes:
            self.notes.append("what mdtest would leave is removed at the end of the run, unless --keep is given")
        walled: Parameters = {"stonewall_s": wall, "wear_out": True} if wall else {}
        drafts = [self._draft(job, {**workload, **walled, "phases": made}, dataset)] if made else []
        return [*drafts, self._draft(job, {**workload, "phases": rest}, dataset)] if rest else drafts

    def _phases(self, job: Job) -> list[str]:
        """Return the phases of ``job``: the making of the items first, where it makes and finds none."""
        asked = job.asked
        if job.makes not in asked and job.key not in self._left:
            asked = [job.makes, *asked]
            what = "directories" if job.item == "directory" else "files"
            self.notes.append(
                f"line {job.number} makes no {what}, and no line before it leaves any: they are made first"
            )
        head = ["tree-create"] if job.makes in asked else []
        return [*head, *asked, *(["tree-remove"] if job.removes else [])]

    def _is_used_later(self, job: Job) -> bool:
        later = [other for other in self._jobs if other.number > job.number and other.key == job.key]
        return bool(later) and later[0].makes not in later[0].asked

    def _draft(self, job: Job, parameters: Parameters, dataset: str) -> translation.Draft:
        workload = Named(name="metadata", parameters={**parameters, "item": job.item})
        return translation.Draft(job.number, backend_of(job.given), workload, job.given.text("-d"), dataset)


class FromMdtestOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = TOOL
    metrics = "operation_rate unsynced_operation_rate latency_p50 latency_p99"
    translate = staticmethod(translate)
    changes = {
        "lines": Change(
            'Measure what these command lines do. Put each in quotes: "mdtest ..." or "mpirun -np 8 mdtest ...".'
        )
    }
