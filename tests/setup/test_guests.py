# SPDX-License-Identifier: Apache-2.0
"""Files below integrations/ that plug Ullage into other programs, run by these programs; docs/howto/other-tools.md.

JUBE and Ramble are in no package index: theirs run where they are installed, and are looked through where not.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from prometheus_client.parser import text_string_to_metric_families

from steps.process import ROOT
from support import recorded_results
from support.data import some

HERE = ROOT / "integrations"
GUESTS = ROOT / ".venv-guests" / "bin"
OWN = ROOT / ".venv" / "bin"
# A simulated device: little work, and a known answer.
OPTIONS = ["--target", "m=model:", "--ranks", "1", "--block", "1M", "--volume", "16M", "--max-repetitions", "6"]
# What Prometheus' own format can say of a family.
PLAIN_TYPES = {"counter", "gauge", "summary", "untyped", "unknown", "histogram"}


def guest(name: str) -> str:
    """Return a program of .venv-guests, or of the machine; skip the test without it."""
    found = shutil.which(name, path=f"{GUESTS}:{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"not available: {name} is not installed")
    return found


def said(argv: list[str | Path], folder: Path) -> str:
    """Return what a program prints that finds ``ullage`` on its PATH; fail where it does."""
    env = {**os.environ, "PATH": f"{OWN}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def headline_of(result: Path) -> dict[str, Any]:
    headline: dict[str, Any] = json.loads((result / "summary.json").read_text(encoding="utf-8"))["headline"]
    return headline


@pytest.mark.usefixtures("engine")
def test_reframe_has_the_headlines_as_performance_variables(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["-S", "suite=sweep", "-S", f"options={','.join(OPTIONS)}", "--keep-stage-files", "--prefix", tmp_path]
    argv = [guest("reframe"), "-c", HERE / "reframe" / "ullage_check.py", "-r", *words, "--report-file", report]
    assert "PASSED" in said(argv, tmp_path)
    [case] = json.loads(report.read_text())["runs"][0]["testcases"]
    told = {name.rpartition(":")[2]: [found[0], found[4]] for name, found in case["perfvalues"].items()}
    [result] = tmp_path.glob("stage/**/result")
    known = {part: [one["value"], one["unit"]] for part, one in headline_of(result).items() if one["grade"] != "C"}
    assert told == known


@pytest.mark.usefixtures("engine")
def test_reframe_fails_where_the_run_fails(tmp_path: Path) -> None:
    words = ["-S", "suite=sweep", "-S", "options=--target,m=/proc/none", "--prefix", tmp_path]
    argv = [guest("reframe"), "-c", HERE / "reframe" / "ullage_check.py", "-r", *words]
    env = {**os.environ, "PATH": f"{OWN}:{os.environ['PATH']}"}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ullage ended with exit code" in done.stdout


def frozen(form: str) -> list[str]:
    """Return what `ullage report --format FORM` says of all recorded results."""
    return [recorded_results.read_frozen(name)[form] for name in recorded_results.names()]


def of_benchmark() -> list[tuple[str, list[dict[str, Any]]]]:
    texts = frozen("github-action-benchmark")
    return some([(text, json.loads(text)) for text in texts if len(text) > 5])


def test_jube_finds_the_headlines_of_every_result() -> None:
    benchmark = ET.parse(HERE / "jube" / "ullage.xml").getroot()
    patterns = {one.get("name"): one.text or "" for one in benchmark.iter("pattern")}
    assert [one.text for one in benchmark.iter("column")] == ["suite", *patterns]
    for text, entries in some(of_benchmark()):
        known = {entry["name"].rpartition("/")[2]: entry["value"] for entry in entries}
        found = {name: re.findall(pattern, text, re.MULTILINE) for name, pattern in patterns.items()}
        assert {name: [float(value) for value in values] for name, values in found.items() if values} == {
            name: [value] for name, value in known.items() if name in patterns
        }


@pytest.mark.usefixtures("engine")
def test_jube_makes_a_table_of_headlines(tmp_path: Path) -> None:
    jube = guest("jube")
    text = (HERE / "jube" / "ullage.xml").read_text(encoding="utf-8")
    asked = text.replace(">node<", ">sweep<").replace(">--quick<", f">{' '.join(OPTIONS)}<")
    (tmp_path / "ullage.xml").write_text(asked, encoding="utf-8")
    said([jube, "run", "ullage.xml"], tmp_path)
    table = said([jube, "result", "-a", "ullage_runs"], tmp_path).splitlines()
    [result] = tmp_path.glob("ullage_runs/**/work/result")
    lines = [line.split(",") for line in table if line.count(",") > 3]
    told = dict(zip([name.partition("[")[0] for name in lines[0]], lines[1], strict=True))
    assert told["suite"] == "sweep"
    assert float(told["disk_writes"]) == headline_of(result)["disk_writes"]["value"]


def test_ramble_finds_the_headlines_of_every_result() -> None:
    text = (HERE / "ramble" / "applications" / "ullage" / "application.py").read_text(encoding="utf-8")
    compile(text, "application.py", "exec")
    [context] = re.findall(r"figure_of_merit_context\([^)]*regex=r'([^']+)'", text)
    [value] = re.findall(r"fom_regex=r'(\\s\*\"value[^']+)'", text)
    for text, entries in some(of_benchmark()):
        lines = text.splitlines()
        names = [found["part"] for line in lines if (found := re.match(context, line))]
        values = [float(found["value"]) for line in lines if (found := re.match(value, line))]
        assert dict(zip(some(names), values, strict=True)) == {entry["name"]: entry["value"] for entry in entries}


@pytest.mark.usefixtures("engine")
def test_ramble_runs_the_workspace(tmp_path: Path) -> None:
    ramble = guest("ramble")
    said([ramble, "repo", "add", HERE / "ramble"], tmp_path)
    said([ramble, "workspace", "create", "-d", "w"], tmp_path)
    text = (HERE / "ramble" / "ramble.yaml").read_text(encoding="utf-8")
    asked = text.replace('["cpu", "memory"]', "[sweep]").replace("--quick", " ".join(OPTIONS))
    (tmp_path / "w" / "configs" / "ramble.yaml").write_text(asked, encoding="utf-8")
    for words in (["workspace", "setup"], ["on"], ["workspace", "analyze"]):
        said([ramble, "-D", "w", *words], tmp_path)
    told = "".join(path.read_text() for path in tmp_path.glob("w/results.*.txt"))
    [result] = tmp_path.glob("w/experiments/**/result")
    assert f"value = {headline_of(result)['disk_writes']['value']}" in told


def test_the_collector_gets_a_whole_file_in_a_format_that_it_reads(tmp_path: Path) -> None:
    result = recorded_results.unpack("node_quick", tmp_path)
    place = tmp_path / "collector"
    place.mkdir()
    script = HERE / "prometheus" / "ullage-textfile.sh"
    said([script, result, place], tmp_path)
    assert [path.name for path in place.iterdir()] == ["ullage.prom"]
    families = list(text_string_to_metric_families((place / "ullage.prom").read_text(encoding="utf-8")))
    assert {one.type for one in some(families)} <= PLAIN_TYPES
    [rows] = [one for one in families if one.name == "ullage_row_info"]
    assert {"memory", "cores"} <= {sample.labels["part"] for sample in rows.samples}
    missing = subprocess.run([script, tmp_path / "none", place], env=os.environ, capture_output=True, check=False)
    assert missing.returncode != 0
    assert [path.name for path in place.iterdir()] == ["ullage.prom"]


DASHBOARD = HERE / "grafana" / "ullage.json"
# Run by the Python that has Grafana's types. What these do not know is lost on the way through them.
THROUGH_TYPES = """
import json, sys
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
register_default_plugins()
print(json.dumps(Dashboard.from_json(json.load(open(sys.argv[1]))), cls=JSONEncoder))
"""


def leaves(value: object, path: str = "") -> dict[str, object]:
    """Return all plain values in a document, by their paths."""
    if isinstance(value, dict):
        inner = list(cast("dict[str, object]", value).items())
    elif isinstance(value, list):
        inner = [(str(place), one) for place, one in enumerate(cast("list[object]", value))]
    else:
        return {path: value}
    return {name: leaf for key, one in inner for name, leaf in leaves(one, f"{path}/{key}").items()}


def test_the_dashboard_is_of_grafanas_types(tmp_path: Path) -> None:
    guest("reframe")  # is installed with these types
    text = said([GUESTS / "python", "-c", THROUGH_TYPES, DASHBOARD], tmp_path)
    written, kept = leaves(json.loads(DASHBOARD.read_text())), leaves(json.loads(text))
    assert {name: kept.get(name) for name in written} == written


def test_the_dashboard_has_a_panel_for_each_part() -> None:
    panels = [one for one in json.loads(DASHBOARD.read_text())["panels"] if one["type"] == "timeseries"]
    shown = {re.findall(r'part="(\w+)"', one["targets"][0]["expr"])[0]: one for one in panels}
    [wanted] = {re.findall(r'__name__=~"([^"]+)"', one["targets"][0]["expr"])[0] for one in panels}
    met: set[str] = set()
    for text in frozen("openmetrics"):
        families = re.findall(r'^(\w+)\{.*?id="([^"]+)"', text, re.MULTILINE)
        parts = dict(re.findall(r'^ullage_row_info\{id="([^"]+)".*part="(\w+)"', text, re.MULTILINE))
        named = {parts[own]: name for name, own in families if own in parts and name != "ullage_row_info"}
        assert [name for name in named.values() if not re.fullmatch(wanted, name)] == []
        met |= named.keys()
    assert met == shown.keys()
    assert {one["fieldConfig"]["defaults"]["unit"] for one in panels} == {"ops", "Bps", "percentunit"}
