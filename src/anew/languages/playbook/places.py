"""Where each key of a playbook belongs, and which keys to offer in place of an unknown one.

Asked only about keys that are unknown where they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from anew.languages.playbook.keys import ABOUT_WORDS, CONTROL_WORDS
from anew.program.findings import Suggestions

# A word as alike as this to one that decides something was meant to be it.
_SLIP_LIKENESS_MIN = 0.85
_RULES = "`spec: {policy: {rules: […]}}`"
_PLACES: Mapping[str, str] = {
    "policy": "`spec: {policy: …}`",
    "rules": f"a task's {_RULES}",
    "on_unmatched": "a task's `spec: {policy: {on_unmatched: fail, rules: […]}}`",
    "retry": "the task, next to `kind`",
    "eval": "the task, next to `kind`",
    "timeout": "the `spec` of a task",
    "do": "a rule of a task: `{when: …, then: {do: …}}`",
    "set": "a step, a task, an arc or a rule: `set: {ctx.name: …}`",
    "set_ctx": "a rule of a task: `then: {do: continue, set_ctx: {…}}`",
    "set_iter": "a rule of a task: `then: {do: continue, set_iter: {…}}`",
    "attempts": "a rule of a task: `then: {do: retry, attempts: 3}`",
    "backoff": "a rule of a task: `then: {do: retry, backoff: exponential}`",
    "on_exhausted": "a rule of a task: `then: {do: retry, on_exhausted: {do: continue}}`",
    "then": "a rule of a task: `{when: …, then: {do: …}}`",
    "tool": "the step, next to `step`",
    "loop": "the step, next to `tool`",
    "next": "the step, next to `tool`",
    "iterator": "`loop: {in: …, iterator: item}` of the step",
    "max_in_flight": "`loop: {spec: {max_in_flight: 4}}` of the step",
    "mode": "`loop: {spec: {mode: parallel}}` or `next: {spec: {mode: exclusive}}`",
    "arcs": "`next: {arcs: […]}` of the step",
    "admit": "`spec: {policy: {admit: {rules: […]}}}` of the step",
    "lifecycle": "`spec: {policy: {lifecycle: {timeout_s: 60}}}` of the step",
    "failure": "`spec: {policy: {failure: {mode: best_effort}}}`",
    "join": "`spec: {join: each}` of the step, or `next: {spec: {mode: fork, join: …}}`",
    "gate": "`spec: {gate: true}` of the step",
    "exit": "`spec: {exit: true}` of the step",
    "goto": "`spec: {policy: {failure: {goto: …}}}` of the step",
    "fallback": "`executor: {spec: {policy: {failure: {fallback: …}}}}`",
    "must_choose": "`next: {spec: {must_choose: true}}` of the step",
    "on_failure": "an arc: `{step: …, on_failure: true}`",
    "weight": "an arc of `next: {spec: {mode: preferred}}`",
    "verdict": "a rule of a task: `then: {do: continue, verdict: partial}`",
    "budget": "a rule of a task: `then: {do: retry, budget: step}`",
    "choices": "a task of kind human",
    "signal": "a task of kind wait",
    "workload": "the top of the playbook",
    "workflow": "the top of the playbook",
    "workbook": "the top of the playbook",
    "keychain": "the top of the playbook",
    "executor": "the top of the playbook",
    "entry_step": "`executor: {spec: {entry_step: …}}`",
    "return_step": "`executor: {spec: {return_step: …}}`",
    "limits": "`executor: {spec: {limits: {…}}}`",
    "when": "an arc, a rule or an admission rule",
}
# What other formats call a key; it counts where the key is known and not yet given.
_SYNONYMS: Mapping[str, str] = {
    "tasks": "tool",
    "tools": "tool",
    "task": "tool",
    "name": "step",
    "id": "step",
    "steps": "workflow",
    "delay": "initial_delay",
    "attempts": "max_attempts",
    "multiplier": "backoff_multiplier",
    "cond": "when",
    "condition": "when",
    "if": "when",
    "items": "in",
    "item": "iterator",
    "vars": "set",
    "script": "command",
}
# The keys that most mappings need, in the order they are usually written.
_COMMON = (
    "workflow metadata workload executor keychain workbook url method command query code seconds "
    "path signal question step tool next loop spec when then else do args desc"
).split()
# Accepted only to say that they are not run, or in some dialects.
_REFUSED = frozenset({"case", "save", "sink", "vars"})


class JudgedKey(Struct, frozen=True):
    """What to write instead of an unknown key; `is_idle`: leaving it out changes nothing."""

    remedy: str
    is_idle: bool


def judge_key(
    key: str,
    known: Collection[str],
    beside: Collection[str],
    suggestions: Suggestions,
    *,
    is_input: bool,
) -> JudgedKey:
    """Whether a key that is not known could have decided something, and what was meant by it."""
    meant = _meant_key(key, known, beside)
    if meant is not None:
        remedy = suggestions.sentence(meant, known)
    else:
        remedy = _right_place(key) or suggestions.remedy(key, _offered(known))
    if meant is not None:
        return JudgedKey(remedy, is_idle=False)
    if not is_input:
        return JudgedKey(remedy, key in ABOUT_WORDS)
    decides = key in CONTROL_WORDS or suggestions.near(key, CONTROL_WORDS, _SLIP_LIKENESS_MIN)
    return JudgedKey(remedy, not decides)


def _meant_key(key: str, known: Collection[str], beside: Collection[str]) -> str | None:
    """The key that other formats call by this word, if it is missing here."""
    meant = _SYNONYMS.get(key)
    return meant if meant in known and meant not in beside else None


def _offered(known: Collection[str]) -> list[str]:
    """The known keys that are worth a try, the common ones first."""
    first = [key for key in _COMMON if key in known]
    return first + sorted(set(known) - _REFUSED.union(first))


def _right_place(key: str) -> str | None:
    """A sentence that says where the key belongs; None for words that belong nowhere."""
    place = _PLACES.get(key)
    return f"Move `{key}` to {place}." if place is not None else None
