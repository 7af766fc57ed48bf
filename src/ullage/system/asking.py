# SPDX-License-Identifier: Apache-2.0
"""What a command says that is asked for something, such as those of batch systems."""

from collections.abc import Mapping, Sequence

_TIMEOUT_S = 10.0


def said_by(
    words: Sequence[str],
    timeout_s: float = _TIMEOUT_S,
    environment: Mapping[str, str] | None = None,
    *,
    also_errors: bool = False,
) -> str:
    """Return what a command says on stdout; empty where there is none, and where it fails or takes too long.

    ``also_errors``: what it says on stderr follows, also where it fails.
    """
    import subprocess

    try:
        done = subprocess.run(
            words,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if also_errors:
        return (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
