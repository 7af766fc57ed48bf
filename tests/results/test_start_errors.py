# SPDX-License-Identifier: Apache-2.0
"""The lines that tell why ranks did not start, of what was really said."""

import pytest

from ullage.results.start_errors import telling_lines, why_apart

_MPICH = """Abort(538592528): Fatal error in internal_Init_thread: Internal MPI error!, error stack:
internal_Init_thread(71)........: MPI_Init_thread(argc=0x7fff, argv=0x7fff, required=3, provided=0x7fff) failed
check_MPIR_CVAR_PMI_VERSION(167):  Runtime environment uses unsupported PMI version PMIx. Aborting.
srun: error: n0: task 0: Exited with exit code 16
"""
_OPEN_MPI = """[n1:00388] OPAL ERROR: Unreachable in file ext3x_client.c at line 112
--------------------------------------------------------------------------
but OMPI was not built with SLURM's PMI support and therefore cannot
srun: error: n1: task 1: Exited with exit code 1
"""


@pytest.mark.parametrize(
    ("said", "line"), [(_MPICH, "unsupported PMI version PMIx"), (_OPEN_MPI, "not built with SLURM's PMI support")]
)
def test_a_pmi_that_does_not_fit_is_named_with_what_to_do(said: str, line: str) -> None:
    assert line in telling_lines(said)[0]
    assert "by srun with the PMI of that MPI" in why_apart(said)


def test_what_every_launch_says_is_never_the_reason_and_the_connection_is() -> None:
    noise = "srun: error: cluster configuration lacks support for cpu binding"
    causes = ("ssh: connect to host n1 port 22: No route to host", "Host key verification failed.",
              "ssh: Could not resolve hostname n9: Name or service not known")  # fmt: skip
    for cause in causes:
        assert telling_lines(f"{noise}\n{cause}\nORTE_ERROR_LOG: not found\n") == [cause]
    assert telling_lines(f"{noise}\nslow end\n") == ["slow end"]


def test_consequences_do_not_tell_and_the_last_line_does_where_none_else_does() -> None:
    assert telling_lines("slurmstepd: error: oom-kill event\nsrun: error: n0: task 1: Killed\n") == [
        "slurmstepd: error: oom-kill event"
    ]
    assert telling_lines("a\n-----\n") == ["a"]
    assert telling_lines("") == []
    assert why_apart("a") == ""
