# SPDX-License-Identifier: Apache-2.0
"""The lines of jq in docs/howto/use-the-numbers.md, run by the real jq on a recorded result."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from support import recorded_results
from support.data import some

HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "use-the-numbers.md"
LINES = re.findall(r"^    (jq .* summary\.json)$", HOWTO.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_every_line_finds_what_it_asks_for(tmp_path: Path) -> None:
    text = recorded_results.read_frozen("node_quick")["json"]
    (tmp_path / "summary.json").write_text(text, encoding="utf-8")
    assert len(LINES) == 5
    said: list[str] = []
    for line in some(LINES):
        done = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True, check=False)
        # With -e the code is the answer: 1 where the last value is false.
        assert done.returncode in ((0, 1) if " -e " in line else (0,)), done.stderr
        assert done.stderr == ""
        said.append(done.stdout)
    headline = json.loads(text)["headline"]
    assert json.loads(said[0]) == headline["memory"]["value"]
    assert said[1].splitlines()[0].split("\t")[0] in headline
    assert json.loads(said[2]) == {part: one["share"] for part, one in headline.items()}
    assert json.loads(said[3]) in (True, False)
