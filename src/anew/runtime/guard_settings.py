"""What operators and a server's file say of dependencies, as it is kept; and who changed it.

The operator's rules come before those of the file, and those before a document's. Knows no state of
a guard.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from anew.program.guard_rules import read_rule
from anew.program.guards import GuardRule
from anew.values import Object

# Of changes that are kept, the newest last.
CHANGES_MAX = 200


class GuardChange(Struct, frozen=True, omit_defaults=True):
    """Who did what, and when, to the dependencies that a pattern names."""

    at: int
    do: str
    pattern: str
    by: str | None = None
    what: Object = {}


class OperatorSettings(Struct, omit_defaults=True):
    """`rules` and `file` as a document would write them, by pattern. `paused` are moments."""

    rules: dict[str, Object] = field(default_factory=dict)
    paused: dict[str, int] = field(default_factory=dict)
    file: dict[str, Object] = field(default_factory=dict)
    changes: list[GuardChange] = field(default_factory=list)

    def operator_rules(self) -> tuple[GuardRule, ...]:
        found = []
        for pattern in {**self.rules, **self.paused}:
            rule = _rule(pattern, self.rules.get(pattern, {}))
            if rule is not None:
                found.append(replace(rule, pause_until=self.paused.get(pattern)))
        return tuple(found)

    def file_rules(self) -> tuple[GuardRule, ...]:
        found = (_rule(pattern, said) for pattern, said in self.file.items())
        return tuple(rule for rule in found if rule is not None)

    def note(self, change: GuardChange) -> None:
        self.changes = [*self.changes, change][-CHANGES_MAX:]


def _rule(pattern: str, said: Object) -> GuardRule | None:
    """As far as it can be read: it was read before it was kept."""
    rule, _ = read_rule(pattern, said)
    return rule


_decoder = msgspec.json.Decoder(OperatorSettings)


def decode_settings(state: str | None) -> OperatorSettings:
    return OperatorSettings() if state is None else _decoder.decode(state)


def encode_settings(settings: OperatorSettings) -> str:
    return msgspec.json.encode(settings).decode()
