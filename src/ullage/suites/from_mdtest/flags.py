# SPDX-License-Identifier: Apache-2.0
"""The flags of mdtest: which are translated, which are answered in another way, which have no equivalent."""

from typing import Final

from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, answered, refused, translated

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
