# SPDX-License-Identifier: Apache-2.0
"""Which backend serves a target, and what it leaves of the options on caches, verification and formats."""

import pytest

from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.model.describe import Describe, Parameter, Registered
from ullage.model.plan import Target
from ullage.runs.cells.backends import (
    cache_and_verify,
    direct_of,
    hdf5_left_out,
    storage_backend,
    storage_backends,
    ways_of_formats,
)

PLACE = Target(name="a", uri="posix:/tmp/a")
NOWHERE = Target(name="b", uri="null:")


def made(name: str, *capabilities: str, parameters: tuple[str, ...] = (), available: bool = True) -> Registered:
    known = [Parameter(name=one, type="flag", doc="", default=False) for one in parameters]
    return Registered(name=name, doc="", available=available, capabilities=list(capabilities), parameters=known)


STORED = made("stored", "path", "data", parameters=("direct", "collective"))
PLAIN = made("plain", "path", "data")
NOTHING = made("nothing")


def described(*backends: Registered) -> Describe:
    return DESCRIBE.model_copy(update={"backends": list(backends)})


def test_a_target_without_a_path_has_the_backend_of_its_scheme() -> None:
    known = described(STORED, made("null"))
    assert storage_backend(PLACE, "stored", known).name == "stored"
    assert storage_backend(NOWHERE, "stored", known).name == "null"
    assert [found.name for found in storage_backends(NOWHERE, ["stored"], known)] == ["null"]


def test_a_backend_without_storage_is_refused_where_a_path_is() -> None:
    with pytest.raises(UserError, match="backend 'nothing' uses no storage, so it cannot measure target 'a'"):
        storage_backend(PLACE, "nothing", described(NOTHING))


def test_direct_io_is_refused_where_there_is_none_and_left_out_where_no_data_is_held() -> None:
    assert direct_of(STORED, "direct") == {"direct": True}
    assert direct_of(STORED, "advise") == direct_of(NOTHING, "direct") == {}
    with pytest.raises(UserError, match="backend 'plain' has no direct I/O"):
        direct_of(PLAIN, "direct")


def test_what_holds_no_data_has_no_cache_and_nothing_to_verify() -> None:
    assert cache_and_verify(STORED, "drop", None, "kept") == {"cache": "drop", "verify": "kept"}
    assert cache_and_verify(STORED, "direct", "full", "kept") == {"cache": "none", "verify": "full"}
    assert cache_and_verify(NOTHING, "drop", None, "kept") == {"cache": "none", "verify": "none"}
    with pytest.raises(UserError, match="stores no data to verify"):
        cache_and_verify(NOTHING, "drop", "full", "kept")


def test_each_format_is_written_independently_and_collectively_where_its_backend_can() -> None:
    known = described(made("mpiio", "path", parameters=("collective",)), made("hdf5", "path"))
    ways = ways_of_formats(PLACE, ["raw", "hdf5"], ["independent", "collective"], known)
    assert [(backend.name, collective) for backend, collective in ways] == [
        ("mpiio", False),
        ("mpiio", True),
        ("hdf5", False),
    ]
    with pytest.raises(UserError, match="has no collective transfers"):
        ways_of_formats(PLACE, ["hdf5"], ["collective"], known)


def test_a_note_says_that_hdf5_was_left_out_only_where_it_is_there() -> None:
    (note,) = hdf5_left_out(["raw"], described(made("hdf5")))
    assert note.code == "hdf5-left-out"
    assert hdf5_left_out(["raw", "hdf5"], described(made("hdf5"))) == []
    assert hdf5_left_out(["raw"], described(made("hdf5", available=False))) == []
