# SPDX-License-Identifier: Apache-2.0
"""What all charts share: palette, configuration, small pieces of Vega-Lite, and the way to pixels.

A spec is a plain dict. Strings from a machine go into its data, titles and labels only, never into an expression.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ullage.errors import UserError
from ullage.model.plan import Scalar
from ullage.report.verdicts import CLASSES

Spec = dict[str, Any]

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
VEGA_LITE_VERSION: Final = "6.4"
INK: Final = "#1b2430"
MUTED: Final = "#5b6673"
GRID: Final = "#e6eaee"
ACCENT: Final = "#1f5f8b"
# This is "viridis" without its lightest fifth: lightness rises, so that an order is seen as one, in grey too.
_ORDERED: Final = ("#440154", "#472f7d", "#38598c", "#2a788e", "#1e9b8a", "#3bbb75", "#86d049")
FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"

CONFIG: Final[Spec] = {
    "background": "white",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "labelFontSize": 11,
        "gridColor": GRID,
        "domainColor": "#aab3bd",
        "tickColor": "#aab3bd",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "labelFontSize": 11,
    },
    "title": {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "offset": 10, "subtitleColor": MUTED},
}


def ordered_colors(count: int) -> list[str]:
    """Return ``count`` colours from dark to light for values that have an order."""
    if count <= 1:
        return [ACCENT]
    return [_mix(index * (len(_ORDERED) - 1) / (count - 1)) for index in range(count)]


def _mix(position: float) -> str:
    low = min(int(position), len(_ORDERED) - 2)
    part = position - low
    first, second = (bytes.fromhex(_ORDERED[i][1:]) for i in (low, low + 1))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(first, second, strict=True))


def ordinal(field: str, labels: Sequence[str], title: str, **more: object) -> Spec:
    """Return an ordinal channel whose values stand in the order of ``labels``."""
    return {"field": field, "type": "ordinal", "sort": list(labels), "title": title, **more}


def verdict_shape() -> Spec:
    """Return marker shape and filling by the fields ``measured`` and ``hollow``.

    The caption says what the shapes mean.
    """
    scale = {"domain": [verdict.label for verdict in CLASSES], "range": [verdict.shape for verdict in CLASSES]}
    filling = {"condition": {"test": "datum.hollow", "value": 0}, "value": 1}
    return {"shape": {"field": "measured", "type": "nominal", "legend": None, "scale": scale}, "fillOpacity": filling}


def rank_axis(values: Sequence[Scalar], field: str, title: str) -> Spec:
    """Return a logarithmic axis with a tick at each number; plain steps for words, or numbers not above 0."""
    numbers = [float(value) for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) < len(values) or not numbers or min(numbers) <= 0:
        return {"field": field, "type": "ordinal", "sort": list(values), "title": title}
    pad = 2 ** (0.04 * max(1.0, math.log2(max(numbers) / min(numbers))))
    scale = {"type": "log", "base": 2, "domain": [min(numbers) / pad, max(numbers) * pad], "nice": False}
    axis = {"values": numbers, "format": "~f", "grid": False, "labelOverlap": True}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}


def time_axis(seconds: Sequence[float], field: str, title: str) -> Spec:
    """Return a logarithmic axis of times in s, ticks at powers of ten, and at 2 and 5 where there are few of them."""
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    values = [step * 10.0**power for power in range(low, high + 1) for step in steps]
    within = [value for value in values if min(seconds) / 1.5 <= value <= max(seconds) * 1.5]
    label = "datum.value >= 0.999 ? format(datum.value, '.2~f') + ' s'"
    label += " : datum.value >= 9.99e-4 ? round(datum.value * 1e3) + ' ms'"
    label += " : datum.value >= 9.99e-7 ? round(datum.value * 1e6) + ' us' : round(datum.value * 1e9) + ' ns'"
    axis = {"labelExpr": label, "values": within or values, "labelOverlap": True}
    scale = {"type": "log", "domain": [min(seconds) / 1.3, max(seconds) * 1.3], "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}


def tooltip(words: str, **titles: str) -> list[Spec]:
    """Return tooltip lines of words ``FIELD[=TITLE]`` with ``_`` for a blank; the fields hold ready text.

    A title that may have other characters stands in ``titles``.
    """
    said = {"verdict": "really measured", **titles}
    pairs = (word.partition("=") for word in words.split())
    lines = [(field, said.get(field, field) if not title else title.replace("_", " ")) for field, _, title in pairs]
    return [{"field": field, "type": "nominal", "title": title} for field, title in lines]


def with_config(spec: Mapping[str, Any], title: str, caption: str) -> Spec:
    """Return ``spec`` as a document of its own, with title, caption and look inside it."""
    heading: Spec = {"text": title, **({"subtitle": caption} if caption else {})}
    return {"$schema": SCHEMA, **spec, "title": heading, "config": CONFIG, "padding": 14}


def to_svg(spec: Mapping[str, Any]) -> str:
    """Draw a document of ``with_config`` without a browser or a network."""
    return _converter().vegalite_to_svg(dict(spec), vl_version=VEGA_LITE_VERSION, allowed_base_urls=[])


def to_png(spec: Mapping[str, Any], scale: float = 2.0) -> bytes:
    """Draw as ``to_svg`` does, in pixels; ``scale`` 2 is sharp in print."""
    return _converter().vegalite_to_png(dict(spec), vl_version=VEGA_LITE_VERSION, scale=scale, allowed_base_urls=[])


def svg_to_png(drawing: str, scale: float = 2.0) -> bytes:
    """Convert a drawing of our own to pixels; raise ``UserError`` where vl-convert is not installed."""
    return _converter().svg_to_png(drawing, scale=scale)


def svg_to_pdf(drawing: str) -> bytes:
    """Convert a drawing as ``svg_to_png`` does, to a page of a document."""
    return _converter().svg_to_pdf(drawing)


def _converter() -> Any:  # noqa: ANN401 - a library without types
    try:
        import vl_convert
    except ImportError:
        raise UserError(
            "not available: vl-convert-python is not installed",
            "--format",
            "`pip install vl-convert-python` adds it; the first screen as --format svg needs no other program",
        ) from None
    return vl_convert
