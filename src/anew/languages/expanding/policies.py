"""Write a task's rules with every setting: what is retried, how often, how long, and what then.

Reads the compiled policy, so what an author left out is there with the value the engine uses.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.languages.expanding.annotations import Annotations, default_of
from anew.languages.playbook.directive_values import USUAL, directive_values
from anew.languages.playbook.patches import SET_NAMES
from anew.languages.yaml_writer import Path
from anew.program.policy import (
    Directive,
    Exhausted,
    Fail,
    Patch,
    PatchTarget,
    Policy,
    Retry,
    Rule,
)
from anew.program.program import Dialect
from anew.program.span import Span
from anew.values import Object, Value

_WITH_DEFAULT = USUAL.keys() - {"on_exhausted"}
_DEFAULT_SPENT = "the default: the last error, with error.retry"


class PolicyWriter(Struct, frozen=True):
    """`dialect` is that of the task, where migration had to keep an older one."""

    notes: Annotations
    dialect: Dialect

    def policy(self, policy: Policy, places: Sequence[Span | None], path: Path) -> Object:
        """`{on_unmatched, rules}`; `places` has where each rule stands in the author's document."""
        self.notes.remark((*path, "on_unmatched"), _last_words(policy))
        rules = [
            self._rule(rule, place, (*path, "rules", index), f"rule {index + 1}")
            for index, (rule, place) in enumerate(zip(policy.rules, places, strict=True))
        ]
        unmatched = "fail" if policy.fail_unmatched_errors else "continue"
        return {"on_unmatched": unmatched, "rules": rules}

    def _rule(self, rule: Rule, place: Span | None, path: Path, name: str) -> Object:
        if rule.when is None:
            self.notes.place(path, place, f"{name}: every other outcome", on="else")
            return {"else": {"then": self.then(rule.then, rule.patches, (*path, "else", "then"))}}
        self.notes.place(path, place, name, on="when")
        then = self.then(rule.then, rule.patches, (*path, "then"))
        return {"when": rule.when.source, "then": then}

    def then(self, then: Directive, patches: Sequence[Patch], path: Path) -> Object:
        """A directive with all its settings, and what is written before it."""
        values = directive_values(then)
        if isinstance(then, Retry):
            self._remark_on_retry(then, values, path)
            spent = then.on_exhausted or Exhausted(Fail())
            values["on_exhausted"] = self.then(spent.then, spent.patches, (*path, "on_exhausted"))
        return {**values, **self._patches(patches)}

    def _remark_on_retry(self, retry: Retry, values: Object, path: Path) -> None:
        for key, value in values.items():
            usual = default_of(value, USUAL[key]) if key in _WITH_DEFAULT else ""
            self.notes.remark((*path, key), _unit(key, value), usual)
        if retry.backoff.cap is None:
            self.notes.absent(path, "max_delay: none")
        if retry.max_elapsed is None:
            self.notes.absent(path, "max_elapsed: none, attempts may continue for any time")
        if retry.on_exhausted is None:
            self.notes.remark((*path, "on_exhausted"), _DEFAULT_SPENT)

    # --- patches ---------------------------------------------------------------------------------

    def _patches(self, patches: Sequence[Patch]) -> Object:
        """What a rule writes; what only older dialects can write is said in their words."""
        found: Object = {}
        for patch in patches:
            is_plain = len(patch.path) == 1 and self.dialect is not Dialect.OUTPUT
            key = SET_NAMES[patch.target] if is_plain else "set"
            name = patch.path[0] if is_plain else self._dotted(patch)
            found.setdefault(key, {})[name] = patch.value.source
        return found

    def task_patches(self, patches: Sequence[Patch]) -> Object:
        """What a task writes with every outcome."""
        found: Object = {}
        for patch in patches:
            name = ".".join(patch.path)
            key = SET_NAMES[patch.target]
            if key != "set" and (len(patch.path) > 1 or self.dialect is Dialect.OUTPUT):
                key, name = "set", f"{patch.target.value}.{name}"
            found.setdefault(key, {})[name] = patch.value.source
        return found

    def _dotted(self, patch: Patch) -> str:
        """The target in the key makes a task one of the `output` dialect, and nothing else may."""
        path = ".".join(patch.path)
        is_named = self.dialect is Dialect.OUTPUT or patch.target is not PatchTarget.CTX
        return f"{patch.target.value}.{path}" if is_named else path


def _last_words(policy: Policy) -> str:
    """What happens to an outcome that no rule matches."""
    if any(rule.when is None and rule.on is None for rule in policy.rules):
        return "never needed: a rule takes every other outcome"
    error = "fails" if policy.fail_unmatched_errors else "continues too"
    return f"no rule matches: ok continues, an error {error}"


def _unit(key: str, value: Value) -> str:
    if key == "attempts":
        return "executions in all"
    if key not in ("delay", "max_delay"):
        return ""
    if isinstance(value, list):
        return "seconds, in order, the last one again and again"
    return "computed for each attempt" if isinstance(value, str) else "seconds"
