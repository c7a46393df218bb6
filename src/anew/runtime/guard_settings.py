"""What operators have set on dependencies, as it is kept: rules by pattern, and pauses.

Their rules come before those of any file or document. Knows no state of a guard.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from anew.program.guard_rules import read_rule
from anew.program.guards import GuardRule
from anew.values import Object


class OperatorSettings(Struct, omit_defaults=True):
    """`rules` as a document would write them, by pattern. `paused` are moments."""

    rules: dict[str, Object] = field(default_factory=dict)
    paused: dict[str, int] = field(default_factory=dict)


def rules_of(settings: OperatorSettings) -> tuple[GuardRule, ...]:
    """What can be read of them; what was set was read before."""
    found = []
    for pattern in {**settings.rules, **settings.paused}:
        rule, _ = read_rule(pattern, settings.rules.get(pattern, {}))
        if rule is not None:
            found.append(replace(rule, pause_until=settings.paused.get(pattern)))
    return tuple(found)
