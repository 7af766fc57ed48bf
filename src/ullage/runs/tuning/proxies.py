# SPDX-License-Identifier: Apache-2.0
"""Short trials that come before full ones, where a suite offers them: they tell which settings are worth a full one.

Default and other settings are measured short alike. A short value counts as its share of the default's short values,
times the default's full ones. Once a setting was measured in full, its short trials count no more. So the finalists
are judged by full trials alone, and the pairs are full always. Trials that an earlier search has measured count by
its default alike.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from ullage.model.tuning import Purpose, TuneTrial

# These purposes are served by short trials; a default that is repeated is one of them, but not the first.
_SHORT: Final = frozenset({"default", "start", "search"})
_MOST_KEPT: Final = 14
_LEAST_KEPT: Final = 7
_KEPT_SHARE: Final = 0.6
Setting = Mapping[str, str]


def is_short_one(purpose: Purpose, done: Sequence[TuneTrial], default: Setting) -> bool:
    """Tell whether a trial for ``purpose`` is to be short: after the first full trial, as long as no default failed."""
    own = [one for one in done if one.setting == default]
    has_full = any(not one.is_proxy and not one.reason for one in own)
    return purpose in _SHORT and has_full and not any(one.is_proxy and one.reason for one in own)


def lacks_default(done: Sequence[TuneTrial], default: Setting) -> bool:
    """Tell whether the default has to be measured short before other settings are."""
    return not any(one.is_proxy for one in done if one.setting == default)


def counted(trials: Sequence[TuneTrial], default: Setting) -> list[TuneTrial]:
    """Return the trials that count, short ones with the values of full ones as far as the default tells these."""
    full = {key(one.setting) for one in trials if not one.is_proxy and not one.reason and one.setting != default}
    # The first short default tells the scale alone; those that repeat it show how the machine drifts.
    first = next((one.number for one in trials if one.is_proxy and one.setting == default), 0)
    short, whole = (_means(trials, default, is_proxy=side) for side in (True, False))
    found: list[TuneTrial] = []
    for one in trials:
        if one.default_there:
            found.append(one.model_copy(update={"values": _rescaled(one.values, one.default_there, whole)}))
        elif not one.is_proxy:
            found.append(one)
        elif one.number != first and key(one.setting) not in full and one.values.keys() <= short.keys() & whole.keys():
            found.append(one.model_copy(update={"values": _rescaled(one.values, short, whole)}))
    return found


def _rescaled(values: Mapping[str, float], there: Mapping[str, float], here: Mapping[str, float]) -> dict[str, float]:
    """Return ``values`` as shares of the default's values ``there``, times those ``here``."""
    shared = [name for name in values if name in there and name in here]
    return {name: values[name] * here[name] / there[name] for name in shared}


def _means(trials: Sequence[TuneTrial], default: Setting, *, is_proxy: bool) -> dict[str, float]:
    """Return the geometric means of the default's values in short or in full trials."""
    good = [one for one in trials if one.setting == default and one.is_proxy == is_proxy and not one.reason]
    names = [name for name in good[0].values if all(one.values.get(name, 0.0) > 0 for one in good)] if good else []
    return {name: math.exp(fmean(math.log(one.values[name]) for one in good)) for name in names}


def room(left: int, full: float, short: float) -> int:
    """Return how many trials there is room for while short ones come, where ``left`` full ones would fit.

    ``full`` and ``short``: seconds or bytes of a trial. What finalists and pairs need is kept for full ones.
    """
    kept = min(left, max(_LEAST_KEPT, min(_MOST_KEPT, math.floor(_KEPT_SHARE * left))))
    if short <= 0 or full <= short:
        return left
    return kept + math.floor((left - kept) * full / short)


def key(setting: Setting) -> tuple[tuple[str, str], ...]:
    """Return the same for equal settings."""
    return tuple(sorted(setting.items()))
