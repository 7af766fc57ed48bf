# SPDX-License-Identifier: Apache-2.0
"""The parameters of the workload ``metadata`` that mdtest's flags ask for. Pure.

What is a mistake of mdtest's is not copied: a failed stat is a failure, ``-Y`` is one syncfs a node inside its own
stamp, and what is read is checked outside the timer.
"""

from collections.abc import Collection
from typing import Final, Literal

from ullage.command_lines.flags import ParsedFlags
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters

TOOL: Final = "mdtest"
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
    "-c": (
        "every rank makes its own items; --ranks 1 makes all with one",
        "a single rank makes all items anyway",
    ),
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
        if given.has(flag):
            notes.append(f"{flag}: {usual}")
    if given.has("-k"):
        makes_files = not given.has("-D") and (given.has("-C") or not any(map(given.has, ("-T", "-E", "-U", "-r"))))
        if makes_files:
            why = "files are made by open and close, as applications make them, and not by mknod; leave it out"
            raise UserError(f"-k has no equivalent: {why}", TOOL)
        notes.append("-k: this line makes no files")
    return notes


def items_of(given: ParsedFlags) -> tuple[int, int, str]:
    """Return the items of a rank, how many of them are in a directory, and a note for the reader, if any.

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
        return items, in_each, ""
    if in_each and items and items != in_each * holding:
        what = f"-I {in_each} in {holding} directories are {in_each * holding} items, and -n says {items}"
        raise UserError(what, TOOL, "give one of -n and -I")
    if in_each:
        return in_each * holding, in_each, ""
    if not items:
        raise UserError("neither -n nor -I says how many items a rank makes", TOOL, "add -n ITEMS")
    if items < holding:
        raise UserError(f"-n {items} are fewer items than the {holding} directories of the tree", TOOL, "raise -n")
    rounded = items // holding * holding
    note = f"-n {items} becomes {rounded}, as with mdtest: {items // holding} in each of {holding} directories"
    return rounded, items // holding, note if rounded != items else ""


def workload_of(
    given: ParsedFlags, item: Literal["directory", "file"], phases: Collection[str]
) -> tuple[Parameters, list[str]]:
    """Return the parameters of the workload without phases and wall, and notes for the reader.

    ``phases``: those over items that are asked for.
    """
    items, in_each, note = items_of(given)
    notes = [note] if note else []
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
    if item == "file":
        parameters |= _content(given, phases, notes)
    return parameters, notes


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
