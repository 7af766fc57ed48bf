# SPDX-License-Identifier: Apache-2.0
"""The flags of IOR, and the backend and the parameters of the workload ``transfer`` that they ask for.

What is a mistake of IOR's is not copied: ``-Y`` is one fsync a write, ``-z`` a different order on each rank, all ranks
have the same load, and data is checked outside the timer. Pure, but for the hints file that a flag names.
"""

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, ParsedFlags, answered, refused, translated
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters, Scalar
from ullage.parameters import suggest
from ullage.reading import read_text

_IN_RECORDS = "every result holds it: `ullage report`, and --format ior for IOR's tables"
_ONE_PATH = "all ranks use one target; give one command line a path"
_MEMORY = "memory is not filled; `ullage run sweep --cache drop` empties the caches before reads"
_NO_GPU = "buffers lie in the nodes' memory; leave it out"
_ONE_OFFSET = "every transfer is one explicit offset; leave it out"

_TRANSLATED: Final = translated(
    """
    -a api VALUE, -b blockSize VALUE, -t transferSize VALUE, -s segmentCount VALUE, -N numTasks VALUE, -F filePerProc,
    -u uniqueDir, -c --collective collective, -o testFile VALUE, -w writeFile, -r readFile, -W checkWrite, -R checkRead,
    -E useExistingTestFile, -k keepFile, -K keepFileWithError, -i repetitions VALUE, -T maxTimeDuration VALUE,
    -D deadlineForStonewalling VALUE, stoneWallingWearOut, -e fsync, -Y fsyncPerWrite,
    -z randomOffset, --random-offset-seed randomOffsetSeed VALUE, -C reorderTasksConstant reorderTasks,
    -Q taskPerNodeOffset VALUE, -Z reorderTasksRandom, -X reorderTasksRandomSeed VALUE,
    --posix.odirect useO_DIRECT, --mpiio.hintsFileName --hdf5.hintsFileName hintsFileName VALUE,
    --mpiio.preallocate preallocate, --mmap.madv_pattern, --hdf5.collectiveMetadata,
    --hdf5.setAlignment setAlignment VALUE, -l --dataPacketType VALUE, -O VALUE
    """
)
_ANSWERED: Final = answered(
    {
        "-G setTimeStampSignature VALUE": "the payload is keyed by run, rank and offset in every 512 bytes and needs "
        "no signature",
        "-g intraTestBarriers": "open, transfer, sync and close are stamped apart on calibrated clocks; no barrier is "
        "put between them",
        "-m multiFile": "every repetition writes new files",
        "-v verbose": _IN_RECORDS,
        "-A refNum VALUE": "a result has its run id",
        "-j outlierThreshold VALUE": "the slowest ranks are named in every phase record",
        "--hdf5.noFill noFill": "nothing is written to the file but data",
        "platform debug VALUE": "it changes nothing that is measured",
        "summaryAlways": _IN_RECORDS,
        "storeFileOffset": "every payload is keyed by its offset",
        "--warningAsErrors quitOnError": "an error always fails its case and the run",
        "--mpiio.showHints --showHints --hdf5.showHints": "hints given and granted are in every phase record",
        "summaryFile VALUE": _IN_RECORDS,
        "summaryFormat VALUE": "--format ior, ior-json or csv of `ullage report`",
        "saveRankPerformanceDetailsCSV VALUE": "fastest and slowest ranks are recorded",
        "savePerOpDataCSV VALUE": "latency histograms and rates over time are recorded for every phase",
        "stoneWallingStatusFile VALUE": "what every rank wrote is in the dataset's manifest, and reads use it",
    }
)
_REFUSED: Final = refused(
    {
        "-d interTestDelay VALUE": "there is no pause between phases; leave it out",
        "-f VALUE": "the name of a script follows as a separate word; write -f FILE",
        "-M memoryPerNode VALUE": _MEMORY,
        "memoryPerTask VALUE": _MEMORY,
        "-x singleXferAttempt": "a short transfer is always continued; leave it out",
        "-y dualMount": _ONE_PATH,
        "--dryRun": "`ullage plan from-ior` explains and starts nothing",
        "--randomPrefill VALUE": "write the file by a separate command line first",
        "--posix.rangelocks": "no backend locks ranges; leave it out",
        "--mpiio.useStridedDatatype useStridedDatatype": _ONE_OFFSET,
        "--mpiio.useFileView useFileView": _ONE_OFFSET,
        "--mpiio.useSharedFilePointer useSharedFilePointer": _ONE_OFFSET,
        "--hdf5.individualDataSets individualDataSets": "ranks share a dataset; leave it out",
        "--hdf5.chunkSize VALUE": "a dataset lies in one piece; leave it out",
        "--mmap.madv_dont_need": "`ullage run sweep --cache advise` drops pages before reads; leave it out",
        "numNodes nodes VALUE": "write --nodes N behind the command line",
        "numTasksOnNode0 VALUE": "write --ranks-per-node N behind the command line",
        "--gpuDirect": _NO_GPU,
        "allocateBufferOnGPU VALUE": _NO_GPU,
        "GPUid VALUE": _NO_GPU,
        "interIODelay VALUE": "ranks do not pause between operations; leave it out",
        "minTimeDuration VALUE": "a phase goes through its volume once; raise -s, with -D",
        "stoneWallingWearOutIterations VALUE": "the count is the largest any rank reached; set the volume with -b and "
        "-s",
    }
)
_ADVICE: Final = {
    "-B": "now it is --posix.odirect",
    "-U": "now it is --mpiio.hintsFileName=FILE",
    "-H": "now it is --mpiio.showHints",
    "-V": "as --mpiio.useFileView of today it has no equivalent; leave it out",
    "-S": "as --mpiio.useStridedDatatype of today it has no equivalent; leave it out",
    "-p": "now it is --mpiio.preallocate",
    "-I": "it has no effect in current releases; leave it out",
    "-J": "now it is --hdf5.setAlignment=BYTES",
    "-P": "it works in no release; leave it out",
    "-q": "an error always fails its case and the run; leave it out",
    "-n": "it was HDF5's no-fill; leave it out",
}
TABLE: Final = FlagTable("ior", (*_TRANSLATED, *_ANSWERED, *_REFUSED, *FILE_SYSTEMS), _ADVICE)


_TOOL: Final = "ior"
A_FILE: Final = "name a text file that you may read"
# All lines that work on one file must agree on these.
LAYOUT: Final = {"block_bytes": "-b", "segments": "-s", "file_mode": "-F", "directory_per_process": "-u"}
_PATTERNS: Final = ("t", "timestamp", "o", "offset", "i", "incompressible", "r", "random")
_DEFAULT_TRANSFER: Final = 256 << 10
_DEFAULT_BLOCK: Final = 1 << 20


def workload_of(given: ParsedFlags, ranks: int, notes: list[str]) -> Parameters:
    """Return the parameters of the workload without its phases; add to the ``notes`` for the reader."""
    seed = given.count("--random-offset-seed", 1)
    order: Parameters = {"order": "random", "order_seed": seed} if given.has("-z") else {}
    return {**_data_model(given), **order, **_read_back(given, ranks, notes), **_conditions(given, notes)}


def _data_model(given: ParsedFlags) -> Parameters:
    transfer, block = given.size("-t", _DEFAULT_TRANSFER), given.size("-b", _DEFAULT_BLOCK)
    if transfer == 0 or transfer % 8 or block % 8:
        right = f"-t {transfer} -b {block} are not: write -t 256k -b 1m, or others that are"
        raise UserError("-t and -b must be multiples of 8 bytes", _TOOL, right)
    if block < transfer or block % transfer:
        right = "write a multiple: a block is made of whole transfers"
        raise UserError(f"-b {block} is not a multiple of -t {transfer}", _TOOL, right)
    per_process = given.has("-F")
    if given.has("-u") and not per_process:
        raise UserError("-u needs -F: a shared file has one folder", _TOOL, "add -F or leave -u out")
    return {
        "transfer_bytes": transfer,
        "block_bytes": block,
        "segments": given.count("-s", 1, least=1),
        "file_mode": "per-process" if per_process else "shared",
        "directory_per_process": given.has("-u"),
    }


def _read_back(given: ParsedFlags, ranks: int, notes: list[str]) -> Parameters:
    if given.has("-C") and given.has("-Z"):
        right = "leave one out: -C is for another node's data, -Z for another rank's"
        raise UserError("-C and -Z exclude each other", _TOOL, right)
    if given.has("-Q") and not given.has("-C"):
        notes.append("-Q has no effect without -C")
    if given.has("-C"):
        notes.append(
            "-C: ranks read what another node wrote, by true topology; on a single node each reads data of its own "
            "node, and the result says so"
        )
        return {"read_back": "other-node", "read_shift": given.count("-Q", 1, least=1)}
    if not given.has("-Z"):
        return {}
    seed = given.count("-X", 0)
    if ranks == 1:
        notes.append("-Z: a single rank reads its own data")
        return {}
    shift = random.Random(seed).randrange(1, ranks)  # noqa: S311 - an order, not a secret
    notes.append(f"-Z: every rank reads the data of the rank {shift} places further: each is read once, as with -Z -Z")
    return {"read_back": "other-rank", "read_shift": shift}


def _conditions(given: ParsedFlags, notes: list[str]) -> Parameters:
    _note_pattern(given, notes)
    wall = given.seconds("-D")
    only_reads = given.has("-r") and not given.has("-w")
    if given.has("stoneWallingWearOut") and wall == 0 and (given.has("-D") or only_reads):
        notes.append("stoneWallingWearOut has no effect without -D")
    elif given.has("stoneWallingWearOut") and wall == 0:
        raise UserError("stoneWallingWearOut needs -D", _TOOL, "add -D SECONDS, the time of the wall")
    if given.has("-R") or given.has("-W"):
        notes.append("-W, -R: all data is read again and checked after the phase, outside its timer")
    notes.append("IOR does nothing about caches, nor does the plan: the verdict says what a read really measured")
    if given.has("-Y"):
        notes.append("-Y: exactly one fsync after each write")
    return {
        "sync": "every" if given.has("-Y") else "close" if given.has("-e") else "none",
        "stonewall_s": wall,
        "wear_out": given.has("stoneWallingWearOut") and wall > 0,
        "cache": "none",
        "verify": "full" if given.has("-R") or given.has("-W") else "kept",
    }


def _note_pattern(given: ParsedFlags, notes: list[str]) -> None:
    if not given.has("-l"):
        return
    if given.text("-l") not in _PATTERNS:
        said = f"{_TOOL} {given.written['-l']}"
        raise UserError(f"unknown data pattern '{given.text('-l')}'", said, f"one of {', '.join(_PATTERNS)}")
    notes.append("-l: every payload here is keyed by its offset and does not compress, at memory speed")


def random_picks(given: ParsedFlags, workload: Parameters) -> Named:
    """Return the workload of as many transfers at positions of what is there: each once, with ``-z -z`` any."""
    pick = "random" if given.times("-z") > 1 else "permutation"
    transfer, block = given.size("-t", _DEFAULT_TRANSFER), given.size("-b", _DEFAULT_BLOCK)
    carried = ("transfer_bytes", "read_back", "read_shift", "stonewall_s", "wear_out", "cache")
    parameters: Parameters = {name: workload[name] for name in carried if name in workload}
    operations = block // transfer * given.count("-s", 1, least=1)
    seed = given.count("--random-offset-seed", 1)
    return Named(
        name="mixed-transfer",
        parameters={**parameters, "read_share": 1.0, "pick": pick, "operations": operations, "seed": seed},
    )


NULL: Final = "null"
BACKENDS: Final[Mapping[str, str]] = {
    "POSIX": "posix",
    "MPIIO": "mpiio",
    "HDF5": "hdf5",
    "MMAP": "mmap",
    "PMDK": "pmem",
    "DUMMY": NULL,
}
_WITHOUT: Final = (
    *("AIO", "NCMPI", "DFS", "RADOS", "CEPHFS", "IME", "Gfarm", "CHFS", "FINCHFS", "LIBNFS", "HDFS"),
    *("S3-libs3", "S3-4c", "S3_plus", "S3_EMC", "S3-curl"),
)
COLLECTIVE: Final = ("mpiio", "hdf5")
_FLAGS_OF_BACKENDS: Final = (
    ("--posix.odirect", ("posix",)),
    ("--mpiio.hintsFileName", COLLECTIVE),
    ("--mpiio.preallocate", ("mpiio",)),
    ("--mmap.madv_pattern", ("mmap",)),
    ("--hdf5.collectiveMetadata", ("hdf5",)),
    ("--hdf5.setAlignment", ("hdf5",)),
)
_HINT_WORD: Final = re.compile(r"IOR_HINT__(MPI|GPFS)__(\w+)")


def backend_of(given: ParsedFlags, environment: Mapping[str, str]) -> Named:
    """Return the backend with its parameters; raise ``UserError`` for an API or flag that no backend serves.

    ``environment``: the variables set before the command.
    """
    api = given.text("-a", "POSIX")
    if api in _WITHOUT:
        raise UserError(f"no backend supports {api}", f"{_TOOL} -a", f"one of {', '.join(BACKENDS)}")
    if api.upper() not in BACKENDS:
        raise UserError(f"unknown API '{api}'", f"{_TOOL} -a", suggest(api.upper(), BACKENDS))
    name = BACKENDS[api.upper()]
    if given.has("-c") and name not in COLLECTIVE:
        said = given.written["-c"]
        raise UserError(f"{said} needs -a MPIIO or HDF5", _TOOL, f"change -a, or leave {said} out")
    for flag, backends in _FLAGS_OF_BACKENDS:
        if given.has(flag) and name not in backends:
            said = given.written[flag]
            raise UserError(f"{said} needs -a {backends[0].upper()}", _TOOL, f"change -a, or leave {said} out")
    parameters = _own_parameters(given, name)
    if hints := _hints(given, environment):
        parameters["hints"] = hints
    return Named(name=name, parameters=parameters)


def _own_parameters(given: ParsedFlags, name: str) -> Parameters:
    switches = {
        "-c": "collective",
        "--posix.odirect": "direct",
        "--mpiio.preallocate": "preallocate",
        "--hdf5.collectiveMetadata": "collective_metadata",
    }
    parameters: Parameters = {parameter: True for flag, parameter in switches.items() if given.has(flag)}
    if given.has("--mmap.madv_pattern"):
        parameters["advice"] = "random" if given.has("-z") else "sequential"
    if given.has("--hdf5.setAlignment"):
        parameters["alignment_bytes"] = given.size("--hdf5.setAlignment", 1)
    if name == "pmem":
        if not given.has("-F"):
            raise UserError("-a PMDK needs -F", _TOOL, "add -F: IOR maps a file for each process")
        # With -Y transfers are drained by the sync after each, else one by one.
        parameters["store"] = "nodrain" if given.has("-Y") else "persist"
    return parameters


def _hints(given: ParsedFlags, environment: Mapping[str, str]) -> dict[str, Scalar]:
    """Return the hints of the hints file and of the environment, which takes precedence."""
    hints: dict[str, Scalar] = {}
    if given.has("--mpiio.hintsFileName"):
        place = given.text("--mpiio.hintsFileName")
        for number, line in enumerate(read_text(Path(place), A_FILE).splitlines(), start=1):
            text = line.partition("#")[0].strip()
            name, joined, value = (part.strip() for part in text.partition("="))
            if text and not joined:
                raise UserError("is not a hint", f"{place}:{number}", "write IOR_HINT__MPI__KEY = VALUE")
            if text:
                hints[_hint(name)] = value
    for name, value in environment.items():
        if not name.startswith("IOR_HINT__"):
            raise UserError(
                f"{name} before the command is not carried to the ranks", _TOOL, "export it for `ullage run`"
            )
        hints[_hint(name)] = value
    return hints


def _hint(name: str) -> str:
    match = _HINT_WORD.fullmatch(name)
    if match is not None and match[1] == "GPFS":
        raise UserError(f"{name}: only MPI hints have an equivalent", _TOOL, "leave it out")
    return name if match is None else match[2]
