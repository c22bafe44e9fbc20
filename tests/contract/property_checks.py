"""What a property of a generated corpus must keep: bounds, an interval around the value, no matter the order."""

import math
import re
from functools import cache

from textgauge.measure.describing import Measuring, load_corpora

_TRAIN = [
    f"the {colour} {animal} sleeps" for colour in ("red", "old", "big") for animal in ("cat", "dog", "cow", "bird")
]
_TEST = [f"the {colour} {animal} runs" for colour in ("red", "new", "big") for animal in ("cat", "fox", "cow")]
_GENERATED = [*_TRAIN[:4], *_TEST[:3], "a blue whale sings", "a blue whale sings", "it rains", "we sail home at noon"]
_LEVEL = 0.95
_ROUNDING = 1e-9


@cache
def _measured(backwards=False):
    """A small generated corpus next to train and test; grammar, which needs a service, is left out."""
    texts = _GENERATED[::-1] if backwards else _GENERATED
    corpora = load_corpora({"generated": list(texts)}, _TRAIN, _TEST)
    (found,) = Measuring(corpora, "wordllama", None, "kneser-ney").generated
    return found


def _value(known, *, backwards=False):
    found, reason = known.of(_measured(backwards), _LEVEL)
    return None if reason is not None else found


def check_declared(known):
    """It has a name of lower-case words, a sentence that says what it is, and bounds in order."""
    assert re.fullmatch(r"[a-z][a-z0-9_]*", known.name), f"{known.name!r} is no name"
    assert known.about.strip(), "it says nothing about itself"
    assert known.bounds[0] < known.bounds[1], f"bounds {known.bounds}"
    assert known.version >= 1, f"version {known.version}"


def check_bounds(known):
    """The value lies within its bounds, or there is a reason why it does not exist."""
    found, reason = known.of(_measured(), _LEVEL)
    assert reason or not math.isnan(found.value), "NaN without a reason"
    low, high = known.bounds
    assert reason or low - _ROUNDING <= found.value <= high + _ROUNDING, f"{found.value} is outside {known.bounds}"


def check_interval(known):
    """The value lies in its interval, where it has one."""
    found = _value(known)
    if found is not None and not math.isnan(found.low):
        assert found.low - _ROUNDING <= found.value <= found.high + _ROUNDING, f"{found} misses its own interval"


def check_order(known):
    """The order of the generated texts does not matter."""
    first, second = _value(known), _value(known, backwards=True)
    if first is not None and second is not None:
        same = math.isclose(first.value, second.value, rel_tol=1e-6, abs_tol=_ROUNDING)
        assert same, f"{first.value} becomes {second.value} in another order"


PROPERTY_CHECKS = (check_declared, check_bounds, check_interval, check_order)


def check_property(known):
    """Run every check on a property of generated corpora."""
    for check in PROPERTY_CHECKS:
        check(known)
