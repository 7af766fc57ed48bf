# SPDX-License-Identifier: Apache-2.0
"""The flags of mdtest: which are translated, which are answered in another way, which have no equivalent."""

from typing import Final

from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, answered, refused, switch, value

_IN_RECORDS = "every result holds it: `ullage report`, and --format mdtest for mdtest's table"
_ONE_LAYOUT = "give one command line for each number of ranks"
_NO_COMMANDS = "no foreign command is started between phases; run it before or after"
_NO_GPU = "buffers lie in the nodes' memory; leave it out"

_ITEMS: Final = (
    *map(value, ("-a", "-n", "-I", "-z", "-b", "-d", "-w", "-e", "-N", "--random-seed", "-i", "-W")),
    *map(switch, ("-L", "-u", "-R", "-y", "-Y", "-X", "-D", "-F", "-C", "-T", "-E", "-r", "-U", "--posix.odirect")),
    # A line of one rank, or of directories, does what these ask for anyway; see `conditional`.
    *map(switch, ("-c", "-S", "-k")),
)
_ANSWERED: Final = (
    answered(
        "-x", takes_value=True, note="what every rank made is in the dataset's manifest, and later phases go by it"
    ),
    answered("-t", note="no phase changes the working directory, so there is no such time to include"),
    answered("-G", takes_value=True, note="what files hold follows from run, rank and item, and needs no seed"),
    answered("--dataPacketType", takes_value=True, note="what files hold follows from run, rank and item"),
    answered("-P", "-Z", "--print-rate-and-time", note=_IN_RECORDS),
    answered("--print-all-procs", "--showRankStatistics", note="fastest and slowest ranks are in every phase record"),
    answered("--saveRankPerformanceDetails", takes_value=True, note="fastest and slowest ranks are recorded"),
    answered(
        "--savePerOpDataCSV",
        takes_value=True,
        note="latency histograms and rates over time are recorded for every phase",
    ),
    answered("-v", note=_IN_RECORDS),
    answered("-V", takes_value=True, note=_IN_RECORDS),
    answered("--warningAsErrors", note="an error always fails its case and the run"),
)
_REFUSED: Final = (
    refused("-B", why="phases always begin and end together; leave it out"),
    refused("-f", takes_value=True, why=_ONE_LAYOUT),
    refused("-l", takes_value=True, why=_ONE_LAYOUT),
    refused("-s", takes_value=True, why=_ONE_LAYOUT),
    refused("-p", takes_value=True, why="there is no pause before an iteration; leave it out"),
    refused("-g", takes_value=True, why="set the layout on the target's folder with the file system's own tool"),
    refused("--verify-write", why="what was written is checked by reading it: add -E and -X"),
    refused("--run-cmd-before-phase", takes_value=True, why=_NO_COMMANDS),
    refused("--run-cmd-after-phase", takes_value=True, why=_NO_COMMANDS),
    refused("--allocateBufferOnGPU", takes_value=True, why=_NO_GPU),
    refused("--gpuDirect", why=_NO_GPU),
    refused("--gpuID", takes_value=True, why=_NO_GPU),
)

TABLE: Final = FlagTable("mdtest", (*_ITEMS, *_ANSWERED, *_REFUSED, *FILE_SYSTEMS), {})
