"""Write the rules of a task that could not be brought to the canonical words, in its own form.

Migration keeps such a step as it is and says why. Its conditions mean what they say only in the
dialect they were written in, so that the form has to show it: `eval`, or a `retry` block.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.languages.expanding.policies import PolicyWriter
from anew.languages.playbook.directive_values import directive_values, jitter_value, source_of
from anew.languages.yaml_writer import Path
from anew.program.policy import Policy, Retry, Rule
from anew.program.program import Dialect
from anew.program.span import Span
from anew.values import Object

OLDER = frozenset({Dialect.EVAL, Dialect.RETRY})


def write_older(
    writer: PolicyWriter, policy: Policy, places: Sequence[Span | None], path: Path
) -> Object:
    """`{eval: […]}` or `{retry: {…}}` (with `spec.backoff`), to stand beside the task's inputs."""
    notes = writer.notes
    if writer.dialect is Dialect.RETRY:
        notes.place((*path, "retry"), places[0] if places else None, "rules of a retry block")
        return _block(policy)
    rows = []
    for index, (rule, place) in enumerate(zip(policy.rules, places, strict=True)):
        where = (*path, "eval", index)
        notes.place(where, place, f"rule {index + 1}", on="expr" if rule.when else "else")
        rows.append(_row(writer, rule, where))
    return {"eval": rows}


def _row(writer: PolicyWriter, rule: Rule, path: Path) -> Object:
    if rule.when is None:
        return {"else": writer.then(rule.then, rule.patches, (*path, "else"))}
    return {"expr": rule.when.source, **writer.then(rule.then, rule.patches, path)}


def _block(policy: Policy) -> Object:
    retry = next(rule.then for rule in policy.rules if isinstance(rule.then, Retry))
    asked = {rule.name: rule.when.source for rule in policy.rules if rule.when is not None}
    found: Object = {"max_attempts": source_of(retry.attempts)}
    if retry.by_error:
        rows = directive_values(retry)["backoff"]
        return {"retry": {**found, **asked}, "spec": {"backoff": rows}}
    found["initial_delay"] = source_of(retry.backoff.first)
    found["backoff_multiplier"] = retry.backoff.factor
    found["jitter"] = jitter_value(retry.backoff.jitter)
    if retry.backoff.cap is not None:
        found["max_delay"] = source_of(retry.backoff.cap)
    return {"retry": {**found, **asked}}
