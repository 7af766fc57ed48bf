# SPDX-License-Identifier: Apache-2.0
"""IOzone's thirteen tests as jobs of our engine: tests that work on one file in turn share a job. Pure tables.

A job's first phase makes the file, in sequential order whatever the test's own, as IOzone's test 0 does for the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Parameters

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
    """Return all jobs.

    ``stride`` in records, ``read_share`` of the random mix, ``pieces`` of a transfer by pwritev.
    """
    seeking: Parameters = {"positioned": False}
    from_whole: Parameters = {"write_order": "sequential"}
    return [
        Job(
            POSIX,
            {0: {"write": "write", "rewrite": "rewrite"}, 1: {"read": "read", "reread": "reread"}},
            seeking,
            {},
        ),
        Job(
            POSIX,
            {2: {"read": "random read", "rewrite": "random write"}},
            seeking,
            {"order": "random", **from_whole},
        ),
        Job(POSIX, {3: {"read": "backward read"}}, seeking, {"order": "backward", **from_whole}),
        Job(POSIX, {4: {"rewrite": "record rewrite"}}, seeking, {"order": "repeat", **from_whole}),
        Job(POSIX, {5: {"read": "stride read"}}, seeking, {"order": "strided", "stride": stride, **from_whole}),
        Job(
            STDIO,
            {6: {"write": "fwrite", "rewrite": "refwrite"}, 7: {"read": "fread", "reread": "refread"}},
            {},
            {},
        ),
        Job(POSIX, {8: {"mixed": "random mix"}}, {}, {"read_share": read_share}),
        Job(
            POSIX,
            {9: {"write": "pwrite", "rewrite": "re-pwrite"}, 10: {"read": "pread", "reread": "re-pread"}},
            {},
            {},
        ),
        Job(
            POSIX,
            {11: {"write": "pwritev", "rewrite": "re-pwritev"}, 12: {"read": "preadv", "reread": "re-preadv"}},
            {"vector_pieces": pieces},
            {},
        ),
    ]


TESTS: Final = tuple(range(13))
LABELS: Final = tuple(label for job in jobs(17, 0.5, 16) for names in job.labels.values() for label in names.values())
"""The labels of all tests, in the order of a report."""
