# SPDX-License-Identifier: Apache-2.0
"""Flags are read in every form that is in use, and none is skipped."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.command_lines.flags import FlagTable, ParsedFlags, answered, read_size, refused, translated
from ullage.errors import UserError
from ullage.suites.from_ior.parameters import TABLE as IOR
from ullage.suites.from_mdtest.translation import TABLE as MDTEST

TABLE: Final = FlagTable(
    "tool",
    (
        *translated("-t transferSize VALUE, -s VALUE, -w writeFile, -F, --long, --size VALUE, -O VALUE"),
        *answered({"-v verbose": "is in every record"}),
        *refused({"-y dualMount VALUE": "one path only"}),
    ),
    {"-B": "now it is --long"},
)


def read(*words: str) -> ParsedFlags:
    return TABLE.read(words)


@pytest.mark.parametrize(
    "words", [["-t", "1m"], ["-t=1m"], ["-t1m"], ["-wFt", "1m"], ["-wFt1m"], ["-O", "transferSize=1m"]]
)
def test_a_value_is_found_in_every_form(words: list[str]) -> None:
    assert read(*words).size("-t", 0) == 1 << 20


def test_switches_may_be_joined_repeated_and_turned_off() -> None:
    assert read("-wFw").times("-w") == 2
    assert read("--long").has("--long")
    assert not read("--long=0").has("--long")
    assert not read("-O", "WRITEFILE=0").has("-w")
    assert read("-O", "writefile=1,transfersize=8").size("-t", 0) == 8


def test_a_long_flag_takes_its_value_in_both_forms() -> None:
    assert read("--size", "4k").size("--size", 0) == read("--size=4k").size("--size", 0) == 4096


def test_what_is_answered_in_another_way_is_said_once() -> None:
    assert read("-v", "-v").notes == ("-v: is in every record",)
    assert not read("-v").has("-v")


def test_a_refused_flag_that_asks_for_nothing_does_no_harm() -> None:
    assert read("-y", "0").values == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-q"], "unknown flag '-q'"),
        (["--lnog"], "unknown flag '--lnog'; did you mean '--long'"),
        (["-y", "2"], "-y has no equivalent: one path only"),
        (["-O", "dualmount=2"], "-O dualMount has no equivalent"),
        (["-O", "speed=9"], "unknown directive 'speed=9'"),
        (["-O", "writeFile"], "write -O writeFile=VALUE"),
        (["-O", "writeFile=maybe"], "'maybe' is not a value"),
        (["-B"], "-B belongs to another release; now it is --long"),
        (["-t"], "-t needs a value"),
        (["-t", "-w"], "-t needs a value"),
        (["file"], "'file' is not a flag"),
        (["-F=perhaps"], "'perhaps' is not a value of -F"),
    ],
)
def test_nothing_is_skipped(words: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(*words)


@given(st.integers(0, 2**63 - 1), st.sampled_from(["", "k", "m", "g", "t", "K", "M", "G", "T"]))
def test_sizes_are_binary(number: int, suffix: str) -> None:
    expected = number * 1024 ** "kmgt".index(suffix.lower()) * 1024 if suffix else number
    assert read_size(f"{number}{suffix}") == (expected if expected < 2**63 and number < 10**18 else None)


@pytest.mark.parametrize("text", ["1MB", "1MiB", "1.5m", "-1", "", "m", "0x10"])
def test_what_the_tools_would_read_differently_is_no_size(text: str) -> None:
    assert read_size(text) is None
    with pytest.raises(UserError, match="is not a value of -t"):
        read(f"-t={text}").size("-t", 0)


@pytest.mark.parametrize("table", [IOR, MDTEST])
def test_tables_are_consistent(table: FlagTable) -> None:
    names = [name for flag in table.flags for name in flag.names]
    directives = [flag.directive.lower() for flag in table.flags if flag.directive]
    assert len(set(names)) == len(names)
    assert len(set(directives)) == len(directives)
    assert not set(names) & set(table.advice)


@pytest.mark.parametrize("table", [IOR, MDTEST])
def test_every_flag_without_an_equivalent_is_refused_with_a_reason(table: FlagTable) -> None:
    refusing = [flag for flag in table.flags if flag.refusal]
    assert refusing
    for flag in refusing:
        words = [flag.names[0], *(["7"] if flag.takes_value else [])] if flag.names else ["-O", f"{flag.directive}=1"]
        with pytest.raises(UserError, match=r"has no equivalent: .+"):
            table.read(words)


def test_all_short_flags_of_the_tools_are_known_by_name() -> None:
    ior = "abcdefgijklmorstuvwxyzACDEFGKMNOQRTWXYZ"
    mdtest = "abcdefgiklnprstuvwxyzBCDEFGILNPRSTUVWXYZ"
    assert {f"-{letter}" for letter in ior} <= set(IOR.by_name)
    assert {f"-{letter}" for letter in mdtest} <= set(MDTEST.by_name)


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (["-z", "-z"], 2),
        (["-zz"], 2),
        (["-z=2"], 2),
        (["-O", "randomOffset=2"], 2),
        (["-O", "randomOffset=1", "-O", "randomOffset=1"], 1),
        (["-z", "-z=0"], 0),
        (["-O=-z=1"], 1),
    ],
)
def test_a_number_behind_a_switch_is_how_often_it_stands(words: list[str], times: int) -> None:
    """As IOR's option.c has it: a flag alone adds one, with a number it is set to that."""
    assert IOR.read(words).times("-z") == times


IOR_DIRECTIVES = (
    "api refNum debug platform testFile dualMount allocateBufferOnGPU GPUid GPUDirect deadlineForStonewalling "
    "stoneWallingWearOut stoneWallingWearOutIterations stoneWallingStatusFile maxTimeDuration minTimeDuration "
    "outlierThreshold numNodes numTasks numTasksOnNode0 repetitions interTestDelay interIODelay readFile writeFile "
    "filePerProc taskPerNodeOffset reorderTasksConstant reorderTasksRandom reorderTasksRandomSeed reorderTasks "
    "checkWrite checkRead keepFile keepFileWithError multiFile warningAsErrors segmentCount blockSize transferSize "
    "singleXferAttempt intraTestBarriers verbose collective setTimeStampSignature dataPacketType uniqueDir "
    "useExistingTestFile fsyncPerWrite fsync randomOffset memoryPerTask memoryPerNode summaryAlways summaryFile "
    "summaryFormat saveRankPerformanceDetailsCSV savePerOpDataCSV useO_DIRECT nodes hintsFileName showHints "
    "preallocate useFileView useStridedDatatype useSharedFilePointer individualDataSets noFill setAlignment "
    "storeFileOffset quitOnError lustreStripeCount lustreStripeSize lustreStartOST lustreIgnoreLocks gpfsHintAccess "
    "gpfsReleaseToken beegfsNumTargets beegfsChunkSize"
)
LONG_OPTIONS = (
    "collective dataPacketType randomPrefill random-offset-seed warningAsErrors dryRun gpuDirect posix.odirect "
    "posix.rangelocks mpiio.hintsFileName mpiio.showHints mpiio.preallocate mpiio.useStridedDatatype "
    "mpiio.useFileView mmap.madv_dont_need mmap.madv_pattern hdf5.hintsFileName hdf5.showHints "
    "hdf5.collectiveMetadata hdf5.individualDataSets hdf5.setAlignment hdf5.noFill hdf5.chunkSize"
)


def test_every_directive_and_long_option_of_every_release_of_ior_is_known() -> None:
    """The names in parse_options.c and the backends of hpc/ior at 3.0.1, 3.1.0, 3.2.1, 3.3.0, 4.0.0 and 5fcf0ba."""
    assert {name.lower() for name in IOR_DIRECTIVES.split()} <= set(IOR.by_directive)
    assert {f"--{name}" for name in LONG_OPTIONS.split()} <= set(IOR.by_name)


def test_an_option_of_an_api_that_nobody_serves_is_not_called_a_typing_error() -> None:
    with pytest.raises(UserError, match=r"--dfs\.pool has no equivalent: no backend has this option of dfs"):
        IOR.read(["--dfs.pool=x"])
    with pytest.raises(UserError, match=r"unknown flag '--posix.odirekt'; did you mean '--posix.odirect'"):
        IOR.read(["--posix.odirekt"])
