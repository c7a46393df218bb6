"""What the simulated world saw of a run, whatever the engine wrote about it.

Which calls began, with which key and inputs, which of them had their effect, what was told the
engine and when by which clock. The auditor holds the log against this.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from anew.engine.outcome import Outcome
from anew.engine.state import StepRunKey
from anew.program.kinds import kind_named
from anew.values import Value, json_text

# How code and commands name the key they are given.
_KEY_WORDS = re.compile(r"\b(?:_key|ANEW_IDEMPOTENCY_KEY)\b")


class StartedCall(Struct):
    """One call that a worker really began.

    `seen` is how long the log was then. `effect_at` is when it has its effect, None for a call that
    fails; a worker that dies before that leaves none. In the very moment, `is_quick` decides.
    """

    key: StepRunKey
    label: str
    kind: str
    attempt: int
    started: int
    idempotency_key: str
    inputs: Value
    outcome: Outcome
    seen: int
    effect_at: int | None = None
    is_quick: bool = True
    dead_at: int | None = None

    @property
    def has_effect(self) -> bool:
        if self.effect_at is None or self.dead_at is None:
            return self.effect_at is not None
        return self.effect_at < self.dead_at or (self.effect_at == self.dead_at and self.is_quick)

    @property
    def known_as(self) -> str | None:
        """The key by which the other side tells this call from others; None: it cannot."""
        given = self.inputs.get("idempotency_key") if isinstance(self.inputs, dict) else None
        if given is True:
            return self.idempotency_key
        if isinstance(given, (str, int)) and given not in ("", False):
            return str(given)
        text = json_text(self.inputs)
        is_given = self.idempotency_key in text
        if kind_named(self.kind).is_code:
            is_given = is_given or _KEY_WORDS.search(text) is not None
        return self.idempotency_key if is_given else None


class DecidedTurn(Struct, frozen=True):
    """One decision of the engine: the log's length before and after it, and the clock.

    `started` is the execution whose report it answers, if it answers one.
    """

    before: int
    after: int
    now: int
    shown: int
    started: int | None = None


class FaultLedger(Struct):
    """Of one run."""

    executions: list[StartedCall] = field(default_factory=list)
    turns: list[DecidedTurn] = field(default_factory=list)
    seen: int = 0


def effects(ledgers: Iterable[FaultLedger], names: Mapping[tuple[str, str], str]) -> dict[str, int]:
    """How often each task had its effect; where the other side knows a key, once for the key."""
    counts = Counter(dict.fromkeys(names.values(), 0))
    known: set[tuple[str, str]] = set()
    for ledger in ledgers:
        for execution in ledger.executions:
            name = names.get((execution.key.step, execution.label))
            if name is None or not execution.has_effect:
                continue
            key = execution.known_as
            if key is None or (name, key) not in known:
                counts[name] += 1
            if key is not None:
                known.add((name, key))
    return dict(counts)
