"""A time budget, and what a metric takes at a larger size."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from textgauge.errors import InputError, TextgaugeError
from textgauge.parallel import one_blas_thread

LEAST = 15.0  # seconds that the smallest run may take, models to load included, whatever the budget
GRACE = 2.0  # seconds that quick metrics may take where a slow start has used up the time
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}
_SHORTEST = 5.0


def seconds_of(text: str | float) -> float:
    """A length of time in seconds: a number, or a text such as 90s, 2m, 1h30m.

    >>> seconds_of("2m"), seconds_of("1m30s"), seconds_of(45)
    (120.0, 90.0, 45.0)
    """
    if isinstance(text, int | float):
        found = float(text)
    else:
        parts = re.findall(r"(\d+\.?\d*|\.\d+)\s*([hms]?)", text.strip().lower())
        if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", text.lower()):
            raise InputError(f"a budget is a time such as 90s, 2m or 1h, not {text!r}")
        found = sum(float(amount) * _UNITS[unit] for amount, unit in parts)
    if not _SHORTEST <= found < float("inf"):
        raise InputError(f"a budget is at least {_SHORTEST:.0f} seconds, not {text!r}")
    return found


@dataclass(frozen=True)
class Clock:
    """A budget of seconds that began when the clock was made."""

    budget: float
    now: Callable[[], float] = time.monotonic
    start: float = field(default=float("nan"))

    def __post_init__(self) -> None:
        if np.isnan(self.start):
            object.__setattr__(self, "start", self.now())

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return self.now() - self.start

    @property
    def left(self) -> float:
        """Seconds left; negative once the budget is exceeded."""
        return self.budget - self.spent

    def until(self, share: float) -> float:
        """Seconds until this share of the budget is spent."""
        return share * self.budget - self.spent

    @property
    def patient(self) -> Clock:
        """The same clock with the time that the smallest run may take, where the budget is shorter than that."""
        return Clock(max(self.budget, LEAST), self.now, self.start)

    def room(self, share: float) -> float:
        """Seconds that the smallest run may take until this share of its time is spent; a few in any case."""
        return max(self.patient.until(share), GRACE)

    def part(self, seconds: float) -> Clock:
        """A clock of its own for the next seconds."""
        return Clock(seconds, self.now)

    def time(self, work: Callable[[], object]) -> float:
        """The seconds that some work takes; errors of a metric's own are left to the run, which reports them."""
        before = self.spent
        try:
            with one_blas_thread():
                work()
        except TextgaugeError:
            raise
        except Exception:  # noqa: S110
            pass
        return self.spent - before

    @property
    def account(self) -> list[str]:
        """How much was spent, and whether so short a budget could be kept at all, as sentences."""
        short = f"{LEAST:.0f} s is what the smallest run may take: a budget of {self.budget:.0f} s may be exceeded"
        spent = f"this took {self.spent:.1f} s of a budget of {self.budget:.0f} s"
        return [*([short] if self.budget < LEAST else []), spent]


def extrapolate(
    sizes: Sequence[float], seconds: Sequence[float], size: float, growth: tuple[float, float] = (0.0, 2.5)
) -> float:
    """The time at a size, from times at smaller ones: the last one, grown as the last two did.

    The power of the size by which time grows lies within `growth`; it is 2 at most where there is only one time.

    >>> extrapolate([10, 20], [1.0, 4.0], 40)
    16.0
    """
    if len(sizes) < 2 or min(seconds[-2:]) <= 0:
        power = min(2.0, growth[1])
    else:
        power = float(np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2]))
    return float(seconds[-1] * (size / sizes[-1]) ** np.clip(power, *growth))
