# SPDX-License-Identifier: Apache-2.0
"""Whole command lines are split as a shell would, and the launcher's words are understood."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.command_lines.translation import CommandLine, split_line
from ullage.errors import UserError

WORDS = st.text(st.characters(exclude_characters="$`\0", exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda word: word not in {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1", ":"}
)


@given(st.lists(WORDS, max_size=6))
def test_words_with_quotes_and_blanks_come_back_whole(words: list[str]) -> None:
    assert split_line(shlex.join(["ior", *words]), "ior").words == tuple(words)


@given(st.text(max_size=40))
def test_whatever_is_written_is_split_or_refused(text: str) -> None:
    try:
        line = split_line(text, "ior")
    except UserError:
        return
    assert isinstance(line, CommandLine)


@pytest.mark.parametrize(
    ("text", "ranks", "nodes", "ranks_per_node"),
    [
        ("ior -t 1m", None, None, None),
        ("mpirun -np 8 ior -t 1m", 8, None, None),
        ("mpirun -n8 /opt/ior/bin/ior -t 1m", 8, None, None),
        ("/usr/bin/mpiexec --np=4 -ppn 2 ior -t 1m", 4, None, 2),
        ("mpirun -np 8 -N 4 ior -t 1m", 8, None, 4),
        ("srun -N 2 --ntasks-per-node=4 ior -t 1m", 8, 2, 4),
        ("srun --nodes 3 -n 6 ior -t 1m", 6, 3, None),
        ("srun -J ior -n 2 ior -t 1m", 2, None, None),
    ],
)
def test_launchers_say_the_layout(text: str, ranks: int | None, nodes: int | None, ranks_per_node: int | None) -> None:
    line = split_line(text, "ior")
    assert (line.ranks, line.nodes, line.ranks_per_node) == (ranks, nodes, ranks_per_node)
    assert line.words == ("-t", "1m")


def test_other_words_of_the_launcher_are_named() -> None:
    line = split_line("A=1 mpirun --map-by core -np 2 --host a,b ior -w", "ior")
    assert line.environment == {"A": "1"}
    (note,) = line.notes
    assert "--map-by core --host a,b" in note


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mdtest -n 5", "not a command line of ior"),
        ("", "not a command line of ior"),
        ("ior -o 'a", "close every quote"),
        ("aprun -n 4 ior -w", "'aprun' before ior is not a known launcher"),
        ("mpirun -np many ior -w", "'many' is not a number"),
        ("mpirun -np ior -w", "not a number|no number|not a command"),
        ("ior -o $SCRATCH/a", "is not expanded here"),
        ("ior -w > out.txt", "'>' belongs to a shell"),
        ("mpirun -np 1 ior -w : -np 1 ior -r", "':' belongs to a shell or a launcher"),
    ],
)
def test_what_is_no_command_line_of_the_tool_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        split_line(text, "ior")


@pytest.mark.parametrize(
    "launcher",
    [
        "IOR_HINT__MPI__cb_nodes=4 mpirun -np 2",
        "mpirun -np 2 -x IOR_HINT__MPI__cb_nodes=4",
        "mpiexec -n 2 -genv IOR_HINT__MPI__cb_nodes 4",
        "mpiexec -n 2 -env IOR_HINT__MPI__cb_nodes=4",
        "srun -n 2 --export=ALL,IOR_HINT__MPI__cb_nodes=4",
        "mpirun -np 2 -x IOR_HINT__MPI__cb_nodes=4 -x OMP_PLACES=0,1",
    ],
)
def test_a_variable_of_the_tool_counts_wherever_it_stands(launcher: str) -> None:
    line = split_line(f"{launcher} ior -w", "ior")
    assert line.environment == {"IOR_HINT__MPI__cb_nodes": "4"}
    assert line.ranks == 2


def test_other_exported_variables_are_a_note() -> None:
    line = split_line("mpirun -x PATH -x A=1 -np 2 ior -w", "ior")
    assert line.environment == {}
    assert "-x PATH -x A=1" in line.notes[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mpirun -np 2 --mca io romio321 ior -w", "OMPI_MCA_io chooses how files .*`export OMPI_MCA_io=romio321`"),
        ("mpirun -x ROMIO_FSTYPE_FORCE=testfs: -np 2 ior -w", "ROMIO_FSTYPE_FORCE chooses how files are accessed"),
        ("srun -n 2 --export=ALL,MPICH_MPIIO_HINTS=x ior -w", "MPICH_MPIIO_HINTS chooses"),
        ("mpirun -np 4 numactl --membind=1 ior -w", "'--membind=1' of numactl makes another measurement"),
        ("mpirun -np 4 numactl -m 1 ior -w", "'-m' of numactl"),
        ("srun -n 4 --mem-bind=local ior -w", "'--mem-bind=local' of srun"),
        ("mpirun -np 4 ionice -c3 ior -w", "'-c3' of ionice"),
    ],
)
def test_words_that_change_what_is_measured_are_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        split_line(text, "ior")


def test_words_that_bind_or_choose_a_network_are_a_note() -> None:
    line = split_line("mpirun -np 4 --mca btl tcp,self numactl --cpunodebind=0 ior -w", "ior")
    assert "--mca btl tcp,self numactl --cpunodebind=0" in line.notes[0]
