"""The schema of what holds for a dependency, in `executor.spec.dependencies`."""

from __future__ import annotations

from anew.languages.schema.forms import Schema, about, nullable, table
from anew.languages.schema.scalars import FLAG, SECONDS_ABOVE_0, TEXT
from anew.program.guard_rules import RULE_KEYS
from anew.program.guards import RATE_COUNT_MAX

# Of guards, numbers are numbers: a file and an operator write the very same rules as JSON.
_WHOLE: Schema = {"type": "integer", "minimum": 1}
_TOKENS: Schema = {"type": "number", "minimum": 0}


def guard_rule() -> Schema:
    shapes = {
        "concurrency": about("Calls at the same time.", _WHOLE),
        "rate": about("`{count: 100, per: 1s}`: calls that start in any window.", _rate()),
        "fair_by": about("Held calls take turns by this; by default runs do.", TEXT),
        "budget": about("Tokens that retries take, and successes give back.", _budget()),
        "breaker": about("When failures hold all calls, and how they start again.", _breaker()),
        "cooldown": about("true: a Retry-After holds every call.", FLAG),
    }
    assert shapes.keys() == RULE_KEYS.keys()
    return table(RULE_KEYS, {key: nullable(shape) for key, shape in shapes.items()})


def _rate() -> Schema:
    shapes = {
        "count": about("How many calls.", {**_WHOLE, "maximum": RATE_COUNT_MAX}),
        "per": about("The length of the window.", SECONDS_ABOVE_0),
    }
    return {**table(shapes, shapes), "required": ["count", "per"]}


def _budget() -> Schema:
    shapes = {
        "capacity": about("Tokens of a full bucket. Default 500.", _TOKENS),
        "retry": about("What a retry takes. Default 14.", _TOKENS),
        "throttled": about("What it takes after a rate limit. Default 5.", _TOKENS),
        "refund": about("What a success of a first attempt gives back. Default 1.", _TOKENS),
        "refill": about("Tokens that come back each second. Default 0.", _TOKENS),
        "on_empty": about(
            "fail (default): there is no retry; wait: it is held.", {"enum": ["fail", "wait"]}
        ),
    }
    return table(shapes, shapes)


def _breaker() -> Schema:
    ratio = {"type": "number", "minimum": 0, "maximum": 1}
    shapes = {
        "failures": about("As many failures open it, at least. Default 10.", _WHOLE),
        "ratio": about("And this share of the calls that ended. Default 0.5.", ratio),
        "window": about("Within this time. Default 60s.", SECONDS_ABOVE_0),
        "open": about("How long it holds all calls. Default 30s.", SECONDS_ABOVE_0),
        "probes": about("How many calls are then tried. Default 1.", _WHOLE),
        "cohort": about("How many held calls start first after that. Default 2.", _WHOLE),
        "growth": about(
            "How much larger each cohort is. Default 2.", {"type": "number", "minimum": 1}
        ),
        "every": about("The time between cohorts. Default 1s.", SECONDS_ABOVE_0),
    }
    return table(shapes, shapes)
