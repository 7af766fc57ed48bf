# SPDX-License-Identifier: Apache-2.0
"""What binomial checkpointing computes again (Griewank and Walther, Algorithm 799, ACM TOMS 26, 2000). Pure."""

from math import comb


def repetitions(steps: int, checkpoints: int) -> int:
    """Return how often at most a step is computed: the least r with C(checkpoints + r, checkpoints) >= steps."""
    found = 0
    while comb(checkpoints + found, checkpoints) < steps:
        found += 1
    return found


def recomputations(steps: int, checkpoints: int) -> int:
    """Return the steps that are computed again when ``steps`` are reversed with ``checkpoints`` states kept."""
    often = repetitions(steps, checkpoints)
    advances = 0 if often == 0 else often * steps - comb(checkpoints + often, often - 1)
    return advances - (steps - 1)
