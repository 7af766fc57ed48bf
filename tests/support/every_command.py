# SPDX-License-Identifier: Apache-2.0
"""All commands of Ullage with their options, made once for the tests that read them."""

from functools import cache

from ullage.cli.app import make_app
from ullage.cli.command_tree import Command, commands


@cache
def every_command() -> dict[tuple[str, ...], Command]:
    """By the words of the command, ``ullage`` first."""
    return {one.path: one for one in commands(make_app())}
