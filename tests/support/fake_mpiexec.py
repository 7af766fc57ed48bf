#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts `-n N PROGRAM ...` as MPICH's mpiexec does: each rank in a session of its own, with $PMI_RANK."""

import os
import signal
import subprocess
import sys

if sys.argv[1:] == ["--version"]:
    sys.stdout.write("HYDRA build details: none, this is a fake\n")
    sys.exit(0)

words = sys.argv[1:]
count = int(words[words.index("-n") + 1])
program = words[words.index("-bind-to") + 2 :]
ranks = [
    subprocess.Popen(program, env={**os.environ, "PMI_RANK": str(rank)}, start_new_session=True)
    for rank in range(count)
]
signal.signal(signal.SIGTERM, lambda *_: [rank.kill() for rank in ranks])
code = 0
while ranks:
    pid, status = os.wait()
    ranks = [rank for rank in ranks if rank.pid != pid]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        sys.stderr.write(
            "===\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
            f"=   PID {pid} RUNNING AT {os.uname().nodename}\n"
            f"=   EXIT CODE: {number}\n=   CLEANING UP REMAINING PROCESSES\n===\n"
            f"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: {signal.strsignal(number)} (signal {number})\n"
        )
        for rank in ranks:
            rank.kill()
        sys.exit(number)
    code = max(code, os.WEXITSTATUS(status))
sys.exit(code)
