# SPDX-License-Identifier: Apache-2.0
"""Lists of nodes as batch systems write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.system.node_lists import compressed, expanded, words_against, words_for


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n0", ["n0"]),
        ("n[0-3,7]", ["n0", "n1", "n2", "n3", "n7"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("r[1-2]n[0-1],login1", ["r1n0", "r1n1", "r2n0", "r2n1", "login1"]),
        ("n[1-2].cluster.org", ["n1.cluster.org", "n2.cluster.org"]),
        ("", []),
    ],
)
def test_a_list_is_expanded_in_its_order(text: str, names: list[str]) -> None:
    assert expanded(text) == names


@pytest.mark.parametrize("text", ["n[0-3", "n0]", "n[]", "n[a-b]", "n[3-1]", "n[0-99999999999]"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is no list of nodes"):
        expanded(text)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["n3"], "n3"),
        (["n2", "n0", "n1", "n7"], "n[0-2,7]"),
        (["n08", "n09", "n10"], "n[08-09],n10"),
        (["a1", "login", "a2"], "a[1-2],login"),
        (["n1.x", "n2.x", "n2.y"], "n[1-2].x,n2.y"),
    ],
)
def test_names_are_compressed(names: list[str], text: str) -> None:
    assert compressed(names) == text


_NAMES = st.lists(st.from_regex(r"[a-z]{1,3}(0|[0-9]{1,4})?(\.[a-z]{1,3})?", fullmatch=True), unique=True, max_size=30)


@given(_NAMES)
def test_what_is_compressed_expands_to_the_same_nodes(names: list[str]) -> None:
    assert sorted(expanded(compressed(names))) == sorted(names)


def test_each_system_has_its_own_words() -> None:
    names = ["n0", "n1", "n3"]
    assert words_for("slurm", names) == "--nodelist=n[0-1,3]"
    assert words_against("slurm", ["n3"]) == "--exclude=n3"
    assert words_for("flux", names) == "--requires=host:n[0-1,3]"
    assert words_against("flux", ["n3"]) == "--requires=-host:n3"
    assert words_for("lsf", names) == '-m "n0 n1 n3"'
    assert words_against("lsf", ["n2", "n3"]) == "-R \"select[hname!='n2' && hname!='n3']\""
    assert words_for("pbs", names) == "-l select=1:host=n0+1:host=n1+1:host=n3"
    assert words_against("pbs", names) == ""
    assert words_for("", names) == "--hosts n0,n1,n3"
    assert [words_for("slurm", []), words_against("slurm", [])] == ["", ""]
