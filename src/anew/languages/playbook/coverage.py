"""Judge whether rules leave error outcomes to chance.

The rules are asked about one error of each sort that tools give. What a rule reads besides the
outcome may be anything, so a condition whose answer depends on it is not counted on.
"""

from __future__ import annotations

from anew.engine.outcome import error_of
from anew.expressions import ExpressionError, ProbeScope
from anew.program.policy import OutcomeStatus, Rule
from anew.values import Object

# One error of each sort: its kind, and what the tool adds (tools.md#error-kinds).
PROBED: tuple[tuple[str, Object], ...] = (
    ("server_error", {"http": {"status": 503, "headers": {}}}),
    ("rate_limit", {"http": {"status": 429, "headers": {}}}),
    ("not_found", {"http": {"status": 404, "headers": {}}}),
    ("client_error", {"http": {"status": 418, "headers": {}}}),
    ("connection", {}),
    ("timeout", {}),
    ("db_deadlock", {"pg": {"code": "40P01", "sqlstate": "40P01"}}),
    ("db_error", {"pg": {"code": "42601", "sqlstate": "42601"}}),
    ("python_error", {"py": {"exception": "e", "exception_type": "Unforeseen"}}),
    ("exit_code", {"shell": {"exit_code": 173}}),
    ("tool_error", {"result": {"status": "error", "message": "unforeseen"}}),
    ("expression", {}),
)
# The first attempt, and one after any number that a rule may count to.
_ATTEMPTS = (1, 1_000_000)


def covers_errors(rules: tuple[Rule, ...]) -> bool:
    """Whether every error outcome meets a rule that is sure to match it."""
    asked = [rule for rule in rules if rule.on is not OutcomeStatus.OK]
    return all(_is_covered(probe, asked) for probe in _PROBES)


def _probe(kind: str, helpers: Object, attempt: int) -> ProbeScope:
    """The scope of one error outcome."""
    error = error_of(kind, "unforeseen")
    meta = {"attempt": attempt, "duration_ms": 1.0}
    outcome: Object = {"status": "error", "error": error, "meta": meta, **helpers}
    output = {**outcome, "data": outcome.get("result")}
    return ProbeScope({"outcome": outcome, "output": output, "_attempt": attempt})


_PROBES = [_probe(*error, attempt) for error in PROBED for attempt in _ATTEMPTS]


def _is_covered(probe: ProbeScope, rules: list[Rule]) -> bool:
    return any(_matches(probe, rule) for rule in rules)


def _matches(probe: ProbeScope, rule: Rule) -> bool:
    probe.is_unsure = False
    if rule.when is None:
        return True
    try:
        holds = rule.when.holds(probe)
    except ExpressionError:
        # A condition that raises fails the task, so the error does not go by unseen.
        holds = True
    return holds and not probe.is_unsure
