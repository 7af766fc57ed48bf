# SPDX-License-Identifier: Apache-2.0
"""The files that a batch system takes: good and suspect nodes, in its own words and one name a line."""

from ullage.model.nodes import Nodes
from ullage.results.folder import ResultFolder, write_atomically
from ullage.system.node_lists import words_against, words_for

FOLDER = "nodes"


def good_nodes(nodes: Nodes) -> list[str]:
    """Return the nodes that were measured, and are neither worse than the others nor below a floor."""
    return nodes.named("good")


def suspect_nodes(nodes: Nodes) -> list[str]:
    """Return all others: a node that was not measured has not shown that it is good."""
    return [node.name for node in nodes.nodes if node.state != "good"]


def write_lists(result: ResultFolder, nodes: Nodes) -> None:
    """Write the lists; those of a system that has no words for them are left out."""
    good, suspect = good_nodes(nodes), suspect_nodes(nodes)
    texts = {
        "good.txt": "".join(f"{name}\n" for name in good),
        "suspect.txt": "".join(f"{name}\n" for name in suspect),
        "good.args": words_for(nodes.batch_system, good),
        "suspect.args": words_against(nodes.batch_system, suspect),
    }
    for name, text in texts.items():
        if text or name.endswith(".txt"):
            write_atomically(result.path / FOLDER / name, text if text.endswith("\n") or not text else f"{text}\n")
