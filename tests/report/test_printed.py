# SPDX-License-Identifier: Apache-2.0
"""The page on paper, and the picture of the README, which is made by the same code."""

from pathlib import Path
from xml.etree import ElementTree as ET

from picture import PICTURE, draw
from support.sample_result import Shape, make_summary, write_result
from ullage.report.data import ReportData, load
from ullage.report.printed import printed_svg


def test_the_picture_of_the_readme_is_of_todays_page(tmp_path: Path) -> None:
    made = tmp_path / "front.svg"
    assert draw(made) == 0
    assert made.read_bytes() == PICTURE.read_bytes(), "run `python scripts/picture.py`"


def test_the_sheet_has_first_screen_answers_and_charts(tmp_path: Path) -> None:
    data = load(write_result(tmp_path / "r", Shape(ranks=(1, 2), blocks=(131072, 524288))), make_summary())
    drawing = ET.fromstring(printed_svg(data))
    texts = [element.text or "" for element in drawing.iter() if element.tag.endswith("text")]
    assert "node017" in texts
    assert "Disk" in texts
    assert any(text.startswith("Over ranks: nvme") for text in texts)
    charts = [element for element in drawing if element.tag.endswith("svg")]
    assert len(charts) >= 4
    tops = [float(chart.get("y", 0)) for chart in charts]
    assert max(tops) < float(drawing.get("height", 0))


def test_a_result_without_charts_is_its_first_screen() -> None:
    summary = make_summary().model_copy(update={"rows": []})
    assert "node017" in printed_svg(ReportData(summary))
