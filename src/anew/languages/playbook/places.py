"""Where each key of a playbook belongs, for those that stand somewhere else.

Asked only about keys that are unknown where they stand.
"""

from __future__ import annotations

from collections.abc import Mapping

_RULES = "`spec: {policy: {rules: […]}}`"
_PLACES: Mapping[str, str] = {
    "policy": "`spec: {policy: …}`",
    "rules": f"a task's {_RULES}",
    "on_unmatched": "a task's `spec: {policy: {on_unmatched: fail, rules: […]}}`",
    "retry": "the task, beside `kind`",
    "eval": "the task, beside `kind`",
    "timeout": "the `spec` of a task",
    "do": "a rule of a task: `{when: …, then: {do: …}}`",
    "set_ctx": "a rule of a task: `then: {do: continue, set_ctx: {…}}`",
    "set_iter": "a rule of a task: `then: {do: continue, set_iter: {…}}`",
    "attempts": "a rule of a task: `then: {do: retry, attempts: 3}`",
    "backoff": "a rule of a task: `then: {do: retry, backoff: exponential}`",
    "on_exhausted": "a rule of a task: `then: {do: retry, on_exhausted: {do: continue}}`",
    "then": "a rule of a task: `{when: …, then: {do: …}}`",
    "tool": "the step, beside `step`",
    "loop": "the step, beside `tool`",
    "next": "the step, beside `tool`",
    "iterator": "`loop: {in: …, iterator: item}` of the step",
    "max_in_flight": "`loop: {spec: {max_in_flight: 4}}` of the step",
    "mode": "`loop: {spec: {mode: parallel}}` or `next: {spec: {mode: exclusive}}`",
    "arcs": "`next: {arcs: […]}` of the step",
    "admit": "`spec: {policy: {admit: {rules: […]}}}` of the step",
    "lifecycle": "`spec: {policy: {lifecycle: {timeout_s: 60}}}` of the step",
    "failure": "`spec: {policy: {failure: {mode: best_effort}}}`",
    "join": "`spec: {join: each}` of the step",
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


def right_place(key: str) -> str | None:
    """A sentence that says where the key belongs; None for words that belong nowhere."""
    place = _PLACES.get(key)
    return f"Move `{key}` to {place}." if place is not None else None
