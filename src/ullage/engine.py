# SPDX-License-Identifier: Apache-2.0
"""The engine as the front end sees it: where it is, what it says it can do, and values checked against that."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from ullage.errors import EXIT_ENVIRONMENT, NotInThisEngineError, UserError, one_line
from ullage.harmless import harmless_json
from ullage.model.base import first_mistake
from ullage.model.describe import Describe, Devices, Needs, Registered
from ullage.model.plan import Layout, Named, Parameters
from ullage.parameters import check_parameters, suggest

FormT = TypeVar("FormT")
Kind: TypeAlias = Literal["backend", "workload", "probe", "stop rule"]

KINDS: Final[tuple[Kind, ...]] = ("backend", "workload", "probe", "stop rule")
ENGINE_NAME: Final = "ullage-engine"
# A wheel has it in the package.
_INSTALLED: Final = Path(__file__).parent / "bin" / ENGINE_NAME
_ANSWER_TIMEOUT_S: Final = 60


def find_engine(explicit: Path | None = None) -> Path:
    """Return the engine to use: ``explicit``, else $ULLAGE_ENGINE, else the one beside this Python or in the package.

    Raise UserError (exit code 3) when it is not there or cannot be executed.
    """
    named = os.environ.get("ULLAGE_ENGINE")
    beside = Path(sys.executable).parent / ENGINE_NAME
    places = (
        ("--engine", explicit),
        ("$ULLAGE_ENGINE", Path(named) if named else None),
        ("of this installation", _INSTALLED if _INSTALLED.exists() and not beside.exists() else beside),
    )
    source, path = next((source, path) for source, path in places if path is not None)
    if not path.is_file() or not os.access(path, os.X_OK):
        what = "the engine is not an executable file" if path.exists() else "the engine was not found"
        raise UserError(
            f"{what} ({source})",
            str(path),
            "see `ullage doctor`; the wheel has one, `make setup` in a checkout builds one, $ULLAGE_ENGINE names one",
            EXIT_ENVIRONMENT,
        )
    return path.absolute()


def describe(engine: Path) -> Describe:
    """Return what ``engine`` says of itself. It is asked once in a process for each state of the file."""
    status = engine.stat()
    return _describe(engine, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _describe(engine: Path, mtime_ns: int, size_bytes: int) -> Describe:  # noqa: ARG001 - the state of the file is the key
    return _answer(engine, "describe", Describe, "ullage.describe/1 document")


def needs_of(engine: Path, cases: Iterable[tuple[Layout, Named]]) -> Sequence[Needs]:
    """Return what each workload with its layout takes of a target. A process asks once for the same cases."""
    asked = [{"layout": layout.model_dump(), "workload": workload.model_dump()} for layout, workload in cases]
    return _needs(engine, json.dumps(asked)) if asked else []


@lru_cache(maxsize=8)
def _needs(engine: Path, asked: str) -> Sequence[Needs]:
    return _answer(engine, "needs", list[Needs], "list of needs", asked)


def devices_of(engine: Path) -> Devices:
    """Return the accelerators that ``engine`` finds on this node."""
    return _answer(engine, "devices", Devices, "list of devices")


def _answer(engine: Path, verb: str, form: type[FormT], document: str, asked: str = "") -> FormT:
    """Return what ``engine`` prints for a verb that needs no MPI; ``asked`` is its input."""

    def refusal(what: str) -> UserError:
        return UserError(
            what, str(engine), "see `ullage doctor`; `make setup` in a checkout rebuilds it", EXIT_ENVIRONMENT
        )

    try:
        done = subprocess.run(
            [str(engine), verb], input=asked.encode(), capture_output=True, timeout=_ANSWER_TIMEOUT_S, check=False
        )
    except OSError as error:
        raise refusal(f"the engine cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise refusal(f"the engine gave no answer within {_ANSWER_TIMEOUT_S} s") from error
    if done.returncode != 0:
        said = one_line(done.stderr.decode("utf-8", "replace"), 200) or "nothing on stderr"
        raise refusal(f"`{verb}` ended with {done.returncode}: {said}")
    try:
        return TypeAdapter(form).validate_json(harmless_json(done.stdout))
    except ValidationError as error:
        place, why = first_mistake(error)
        raise refusal(f"`{verb}` gave no {document}: {place}: {why}") from error


def registered(description: Describe, kind: Kind) -> list[Registered]:
    """Return everything of one kind, such as all backends."""
    return {
        "backend": description.backends,
        "workload": description.workloads,
        "probe": description.probes,
        "stop rule": description.stop_rules,
    }[kind]


def find_registered(description: Describe, kind: Kind, name: str) -> Registered:
    """Return the thing called ``name``; raise UserError with a guess when there is none, or why this build lacks it."""
    things = {thing.name: thing for thing in registered(description, kind)}
    found = things.get(name)
    if found is None:
        raise UserError(f"unknown {kind} '{name}'", "", suggest(name, things))
    if not found.available:
        why = found.reason or "this build does not contain it"
        raise NotInThisEngineError(f"{kind} '{name}' is not available here", "", why, EXIT_ENVIRONMENT)
    return found


def validate_parameters(description: Describe, kind: Kind, name: str, given: Parameters) -> Parameters:
    """Check ``given`` by what the engine states for the thing ``name``; return it in the engine's own types.

    What equals its default is left out, so that saying a default aloud does not change a case's id. Raise UserError as
    ``find_registered`` does, and for an unknown name or a bad value.
    """
    return check_parameters(find_registered(description, kind, name).parameters, given, f"{kind} '{name}'")
