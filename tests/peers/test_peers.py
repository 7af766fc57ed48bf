# SPDX-License-Identifier: Apache-2.0
"""Peers are found by walking their package."""

from ullage.peers import PeerError, load_peers


def test_peers_are_found_and_described() -> None:
    found = load_peers()
    assert {"fio", "mbw", "sysbench"} <= set(found)
    assert list(found) == sorted(found)
    assert all(peer.doc and peer.compared_on and name == peer.name for name, peer in found.items())


def test_an_error_is_one_harmless_line() -> None:
    assert str(PeerError("a\nb\x1b[2J")) == "a b\\x1b[2J"
    assert len(str(PeerError("x" * 1000))) <= 400
