"""The faults there are: their names, what each does, and how often unless it is said."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from anew.errors import ConfigError
from anew.program.findings import did_you_mean

KILL, DUPLICATE, SLOW, REFUSE, CLOCK = "kill", "duplicate", "slow", "429", "clock"
EVERY = "all"


class Fault(Struct, frozen=True):
    """`rate` is from 0 to 1; `of` says what it is a share of."""

    rate: float
    of: str
    meaning: str


FAULTS: Mapping[str, Fault] = {
    KILL: Fault(
        0.05,
        "of the calls",
        "the worker dies or is cut off in the middle of a call, sometimes its whole machine",
    ),
    DUPLICATE: Fault(
        0.1,
        "of the deliveries",
        "a report, a due time, a job, a signal or an answer comes twice, at once or later",
    ),
    SLOW: Fault(
        0.1,
        "of the calls, and of the times a worker is needed",
        "a call takes 5 times as long or far longer; a worker comes late",
    ),
    REFUSE: Fault(
        0.1,
        "of the time, for each dependency",
        "the other side is out for a while: 429 with Retry-After, or what its kind says then",
    ),
    CLOCK: Fault(
        0.1,
        "of the things that happen",
        "the clock is off: by parts of a second, or set forward or back by minutes",
    ),
}


def read_faults(text: str) -> dict[str, float]:
    """The rates that `kill,429=0.3` says; `all` are all others, at one rate or their own."""
    rates: dict[str, float] = {}
    for part in text.split(","):
        name, _, said = (piece.strip() for piece in part.partition("="))
        if name not in (*FAULTS, EVERY):
            hint = did_you_mean(name, FAULTS) or f"Known are {', '.join(FAULTS)} and {EVERY}."
            raise ConfigError(f"there is no fault {name!r}. {hint}")
        meant = [each for each in FAULTS if each not in rates] if name == EVERY else [name]
        rate = _rate(name, said) if said else None
        rates |= {each: FAULTS[each].rate if rate is None else rate for each in meant}
    return rates


def _rate(name: str, said: str) -> float:
    try:
        rate = float(said)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ConfigError(f"the rate of {name} must be a number from 0 to 1, not {said!r}")
    return rate
