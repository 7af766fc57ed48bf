# SPDX-License-Identifier: Apache-2.0
"""The flags of IOR: which are translated, which are answered in another way, which have no equivalent."""

from typing import Final

from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, answered, refused, switch, value

_IN_RECORDS = "every result holds it: `ullage report`, and --format ior for IOR's tables"
_ONE_PATH = "all ranks use one target; give one command line a path"
_MEMORY = "memory is not filled; `ullage run sweep --cache drop` empties the caches before reads"
_NO_GPU = "buffers lie in the nodes' memory; leave it out"

_WORK: Final = (
    value("-a", directive="api"),
    value("-b", directive="blockSize"),
    value("-t", directive="transferSize"),
    value("-s", directive="segmentCount"),
    value("-N", directive="numTasks"),
    switch("-F", directive="filePerProc"),
    switch("-u", directive="uniqueDir"),
    switch("-c", "--collective", directive="collective"),
    value("-o", directive="testFile"),
    switch("-w", directive="writeFile"),
    switch("-r", directive="readFile"),
    switch("-W", directive="checkWrite"),
    switch("-R", directive="checkRead"),
    switch("-E", directive="useExistingTestFile"),
    switch("-k", directive="keepFile"),
    switch("-K", directive="keepFileWithError"),
    value("-i", directive="repetitions"),
    value("-T", directive="maxTimeDuration"),
    value("-D", directive="deadlineForStonewalling"),
    switch(directive="stoneWallingWearOut"),
    switch("-e", directive="fsync"),
    switch("-Y", directive="fsyncPerWrite"),
)
_ORDER: Final = (
    switch("-z", directive="randomOffset"),
    value("--random-offset-seed", directive="randomOffsetSeed"),
    switch("-C", directive="reorderTasksConstant", also=("reorderTasks",)),
    value("-Q", directive="taskPerNodeOffset"),
    switch("-Z", directive="reorderTasksRandom"),
    value("-X", directive="reorderTasksRandomSeed"),
)
_BACKENDS: Final = (
    switch("--posix.odirect", directive="useO_DIRECT"),
    value("--mpiio.hintsFileName", "--hdf5.hintsFileName", also=("hintsFileName",)),
    switch("--mpiio.preallocate", directive="preallocate"),
    switch("--mmap.madv_pattern"),
    switch("--hdf5.collectiveMetadata"),
    value("--hdf5.setAlignment", also=("setAlignment",)),
)
_ANSWERED: Final = (
    value("-l", "--dataPacketType"),
    answered(
        "-G",
        directive="setTimeStampSignature",
        takes_value=True,
        note="the payload is keyed by run, rank and offset in every 512 bytes and needs no signature",
    ),
    answered(
        "-g",
        directive="intraTestBarriers",
        note="open, transfer, sync and close are stamped apart on calibrated clocks; no barrier is put between them",
    ),
    answered("-m", directive="multiFile", note="every repetition writes new files"),
    answered("-v", directive="verbose", note=_IN_RECORDS),
    answered("-A", directive="refNum", takes_value=True, note="a result has its run id"),
    answered(
        "-j", directive="outlierThreshold", takes_value=True, note="the slowest ranks are named in every phase record"
    ),
    answered("--hdf5.noFill", also=("noFill",), note="nothing is written to the file but data"),
    answered(directive="platform", also=("debug",), takes_value=True, note="it changes nothing that is measured"),
    answered(directive="summaryAlways", note=_IN_RECORDS),
    answered(directive="storeFileOffset", note="every payload is keyed by its offset"),
    answered("--warningAsErrors", also=("quitOnError",), note="an error always fails its case and the run"),
    answered(
        "--mpiio.showHints", "--showHints", "--hdf5.showHints", note="hints given and granted are in every phase record"
    ),
    answered(directive="summaryFile", takes_value=True, note=_IN_RECORDS),
    answered(directive="summaryFormat", takes_value=True, note="--format ior, ior-json or csv of `ullage report`"),
    answered(
        directive="saveRankPerformanceDetailsCSV", takes_value=True, note="fastest and slowest ranks are recorded"
    ),
    answered(
        directive="savePerOpDataCSV",
        takes_value=True,
        note="latency histograms and rates over time are recorded for every phase",
    ),
    answered(
        directive="stoneWallingStatusFile",
        takes_value=True,
        note="what every rank wrote is in the dataset's manifest, and reads use it",
    ),
)
_REFUSED: Final = (
    refused("-d", directive="interTestDelay", takes_value=True, why="there is no pause between phases; leave it out"),
    refused("-f", takes_value=True, why="the name of a script follows as a separate word; write -f FILE"),
    refused("-M", directive="memoryPerNode", takes_value=True, why=_MEMORY),
    refused(directive="memoryPerTask", takes_value=True, why=_MEMORY),
    refused("-x", directive="singleXferAttempt", why="a short transfer is always continued; leave it out"),
    refused("-y", directive="dualMount", why=_ONE_PATH),
    refused("--dryRun", directive="dryRun", why="`ullage plan from-ior` explains and starts nothing"),
    refused("--randomPrefill", takes_value=True, why="write the file by a separate command line first"),
    refused("--posix.rangelocks", why="no backend locks ranges; leave it out"),
    *(
        refused(f"--mpiio.{name}", also=(name,), why="every transfer is one explicit offset; leave it out")
        for name in ("useStridedDatatype", "useFileView", "useSharedFilePointer")
    ),
    refused("--hdf5.individualDataSets", also=("individualDataSets",), why="ranks share a dataset; leave it out"),
    refused("--hdf5.chunkSize", takes_value=True, why="a dataset lies in one piece; leave it out"),
    refused("--mmap.madv_dont_need", why="`ullage run sweep --cache advise` drops pages before reads; leave it out"),
    refused(directive="numNodes", also=("nodes",), takes_value=True, why="write --nodes N behind the command line"),
    refused(directive="numTasksOnNode0", takes_value=True, why="write --ranks-per-node N behind the command line"),
    refused("--gpuDirect", why=_NO_GPU),
    refused(directive="allocateBufferOnGPU", takes_value=True, why=_NO_GPU),
    refused(directive="GPUid", takes_value=True, why=_NO_GPU),
    refused(directive="interIODelay", takes_value=True, why="ranks do not pause between operations; leave it out"),
    refused(
        directive="minTimeDuration", takes_value=True, why="a phase goes through its volume once; raise -s, with -D"
    ),
    refused(
        directive="stoneWallingWearOutIterations",
        takes_value=True,
        why="the count is the largest any rank reached; set the volume with -b and -s",
    ),
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

DIRECTIVES: Final = value("-O")
TABLE: Final = FlagTable(
    "ior", (*_WORK, *_ORDER, *_BACKENDS, *_ANSWERED, *_REFUSED, *FILE_SYSTEMS, DIRECTIVES), _ADVICE
)
