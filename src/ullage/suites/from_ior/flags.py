# SPDX-License-Identifier: Apache-2.0
"""The flags of IOR: which are translated, which are answered in another way, which have no equivalent."""

from typing import Final

from ullage.command_lines.flags import FILE_SYSTEMS, FlagTable, answered, refused, translated

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
