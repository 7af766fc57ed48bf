# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``matrix``, as they stand in request.json, and the tests of IOzone that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Final, Literal, cast

from pydantic import Field

from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import QuickOnCommandLine, RunOptions
from ullage.runs.options.kinds import ALL, Kind, RawValue, Share, SizeAxis
from ullage.runs.options.model import OptionError

Labels = Mapping[str, str]
POSIX: Final = "posix"
STDIO: Final = "stdio"
FIRST: Final = "write"


@dataclass(frozen=True)
class Job:
    """What one case does for tests of IOzone.

    ``labels``: of each test, what its phases are called by IOzone's users, in the order of execution.

    ``backend`` and ``workload``: parameters besides sizes, caches and the phases.
    """

    backend_name: str
    labels: Mapping[int, Labels]
    backend: Parameters
    workload: Parameters

    @property
    def tests(self) -> tuple[int, ...]:
        """Numbers as IOzone's ``-i`` has them."""
        return tuple(self.labels)

    def phases(self, tests: Sequence[int]) -> list[str]:
        """Return the phases of a case that does this job's part of ``tests``: the file is made first."""
        wanted = [phase for test in self.labels if test in tests for phase in self.labels[test]]
        return list(dict.fromkeys([FIRST, *wanted]))

    def label(self, phase: str, tests: Sequence[int]) -> str:
        """Return what a phase measures; empty for one that only makes the file, or is none of ``tests``."""
        return next(
            (self.labels[test][phase] for test in self.labels if test in tests and phase in self.labels[test]), ""
        )

    def test_of(self, label: str) -> int:
        """Return the number of the test whose phase is called ``label``."""
        return next(test for test, labels in self.labels.items() if label in labels.values())


def jobs(stride: int, read_share: float, pieces: int) -> list[Job]:
    """Return all jobs. ``stride`` in records, ``read_share`` of the random mix, ``pieces`` of a transfer by pwritev."""
    seeking: Parameters = {"positioned": False}
    whole: Parameters = {"write_order": "sequential"}
    streams: dict[int, Labels] = {
        6: {"write": "fwrite", "rewrite": "refwrite"},
        7: {"read": "fread", "reread": "refread"},
    }
    plain: dict[int, Labels] = {0: {"write": "write", "rewrite": "rewrite"}, 1: {"read": "read", "reread": "reread"}}
    at: dict[int, Labels] = {
        9: {"write": "pwrite", "rewrite": "re-pwrite"},
        10: {"read": "pread", "reread": "re-pread"},
    }
    vectors: dict[int, Labels] = {
        11: {"write": "pwritev", "rewrite": "re-pwritev"},
        12: {"read": "preadv", "reread": "re-preadv"},
    }
    return [
        Job(POSIX, plain, seeking, {}),
        Job(POSIX, {2: {"read": "random read", "rewrite": "random write"}}, seeking, {"order": "random", **whole}),
        Job(POSIX, {3: {"read": "backward read"}}, seeking, {"order": "backward", **whole}),
        Job(POSIX, {4: {"rewrite": "record rewrite"}}, seeking, {"order": "repeat", **whole}),
        Job(POSIX, {5: {"read": "stride read"}}, seeking, {"order": "strided", "stride": stride, **whole}),
        Job(STDIO, streams, {}, {}),
        Job(POSIX, {8: {"mixed": "random mix"}}, {}, {"read_share": read_share}),
        Job(POSIX, at, {}, {}),
        Job(POSIX, vectors, {"vector_pieces": pieces}, {}),
    ]


TESTS: Final = tuple(range(13))
LABELS: Final = tuple(label for job in jobs(17, 0.5, 16) for names in job.labels.values() for label in names.values())
"""The labels of all tests, in the order of a report."""


METRIC: Final = "file_bandwidth"
# IOzone's rule: from this size of file on, records below the least one of a large file need ``--all-records``.
LARGE_FILE: Final = 16 << 20
LEAST_RECORD_OF_LARGE: Final = 64 << 10


@dataclass(frozen=True)
class TestNumbers(Kind):
    """Numbers of IOzone's tests, or ``all``."""

    _: KW_ONLY
    metavar: str = "NUMBERS"

    def parse(self, raw: RawValue) -> object:
        """Read the numbers of tests, in rising order; raise ``UserError`` for what is no test, or given twice."""
        if raw == ALL:
            return list(TESTS)
        known = {str(test): test for test in TESTS}
        texts = [text.strip() for text in str(raw).split(",")]
        for text in texts:
            if text not in known:
                raise UserError("not a test of IOzone", f"'{text}'", "write all, or numbers of 0 to 12 like 0,1,5")
            if texts.count(text) > 1:
                raise UserError("is given twice", f"'{text}'", "write each number once")
        return sorted(known[text] for text in texts)

    def format(self, value: object) -> str:
        """Write the numbers separated by commas, or ``all``."""
        return ALL if value == list(TESTS) else ",".join(str(test) for test in cast("list[int]", value))


@dataclass(frozen=True)
class Thousandths(Share):
    """A share in the steps that the engine has."""

    def parse(self, raw: RawValue) -> object:
        """Read a share in steps of a thousandth."""
        share = cast("float", super().parse(raw))
        if abs(1000 * share - round(1000 * share)) > 1e-6:
            raise UserError("is not a multiple of 0.1%", f"'{raw}'", "write 50% or 0.5")
        return round(share, 3)


class MatrixOptions(QuickOnCommandLine, RunOptions):
    """The options of suite ``matrix``.

    Sizes in bytes. ``stride`` in records; ``pieces`` of a transfer by pwritev and preadv.
    """

    metrics = METRIC
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Measure in this folder. Repeat the option to measure in several folders."),
        "time_s": Change(usual="30m", quick="30s"),
        "quick": Change("Take a first look in 30 s: files 256K:16M:x4, records 4K:1M:x16."),
    }

    files: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(8),
        Option(
            "Use files of these sizes.",
            name="--file",
            usual="64K:512M:x2",
            quick="256K:16M:x4",
            sets=("file_bytes", "volume"),
        ),
    ]
    records: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(8),
        Option("Transfer records of these sizes.", name="--record", usual="4K:16M:x2", quick="4K:1M:x16"),
    ]
    tests: Annotated[
        list[Annotated[int, Field(ge=0, le=max(TESTS))]],
        TestNumbers(),
        Option("Run these tests of IOzone (0 to 12), for example 0,1,5 or all.", usual=ALL),
    ]
    all_records: Annotated[bool, Option("Also combine records below 64K with files of 16M and more.")] = False
    direct: Annotated[bool, Option("Bypass the page cache (O_DIRECT), except in tests 6 and 7.")] = False
    cache: Annotated[
        Literal["none", "advise", "drop"],
        Field(description="before reads; not with direct"),
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the file), or drop "
            "(all caches, root only).",
            unsaid="advise",
        ),
    ] = "advise"
    sync: Annotated[
        Literal["none", "close"],
        Option("Include an fsync before close in the time of writes (close), or do not (none)."),
    ] = "close"
    stride: Annotated[int, Field(ge=1), Option("Move this many records from one strided read to the next.")] = 17
    read_share: Annotated[
        float,
        Field(ge=0, le=1),
        Thousandths("no share between 0 and 1"),
        Option("Read in this share of the random mix.", name="--mix"),
    ] = 0.5
    pieces: Annotated[
        int, Field(ge=2, le=1024), Option("Split a record into this many pieces for pwritev and preadv.")
    ] = 16

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Refuse ``--cache`` with ``--direct``, which bypasses the cache."""
        if said.get("direct") and "cache" in said:
            raise OptionError("cache", "has no effect with --direct, which bypasses the cache", "leave one of them out")
        return super().settle(said)
