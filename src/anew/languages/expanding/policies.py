"""Write a task's rules with every setting: what is retried, how often, how long, and what then.

Reads the compiled policy, so what an author left out is there with the value the engine uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from msgspec import Struct

from anew.expressions import Template
from anew.languages.expanding.annotations import Annotations, default_of
from anew.languages.playbook.patches import SET_NAMES
from anew.languages.yaml_writer import Path
from anew.program.policy import (
    Break,
    Budget,
    Continue,
    Directive,
    Exhausted,
    Fail,
    Jump,
    Patch,
    PatchTarget,
    Policy,
    Retry,
    Rule,
)
from anew.program.program import Dialect
from anew.program.retry import ATTEMPTS_DEFAULT, Backoff, BackoffKind, Jitter, JitterKind
from anew.program.span import Span
from anew.values import Object, Value

_USUAL = Backoff()
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
        return {**dict(self._settings(then, path)), **self._patches(patches)}

    def _settings(self, then: Directive, path: Path) -> Iterator[tuple[str, Value]]:
        match then:
            case Continue():
                yield "do", "continue"
                if then.verdict is not None:
                    yield "verdict", then.verdict.value
            case Break():
                yield "do", "break"
            case Fail():
                yield "do", "fail"
                if then.message is not None:
                    yield "message", then.message.source
            case Jump():
                yield "do", "jump"
                yield "to", then.to
                if then.delay is not None:
                    yield "delay", source_of(then.delay)
            case Retry():
                yield "do", "retry"
                yield from self._retry(then, path)
            case _:
                assert_never(then)

    def _retry(self, retry: Retry, path: Path) -> Iterator[tuple[str, Value]]:
        yield "attempts", source_of(retry.attempts)
        usual = default_of(retry.attempts, ATTEMPTS_DEFAULT)
        self.notes.remark((*path, "attempts"), "executions in all", usual)
        yield from self._backoff(retry.backoff, path)
        if retry.max_elapsed is not None:
            yield "max_elapsed", source_of(retry.max_elapsed)
        else:
            self.notes.absent(path, "max_elapsed: none, attempts may continue for any time")
        yield "budget", retry.budget.value
        self.notes.remark((*path, "budget"), default_of(retry.budget, Budget.VISIT))
        if retry.to is not None:
            yield "to", retry.to
        spent = retry.on_exhausted or Exhausted(Fail())
        yield "on_exhausted", self.then(spent.then, spent.patches, (*path, "on_exhausted"))
        if retry.on_exhausted is None:
            self.notes.remark((*path, "on_exhausted"), _DEFAULT_SPENT)

    def _backoff(self, backoff: Backoff, path: Path) -> Iterator[tuple[str, Value]]:
        remark = self.notes.remark
        yield "backoff", backoff.kind.value
        remark((*path, "backoff"), default_of(backoff.kind, BackoffKind.NONE))
        yield "delay", source_of(backoff.first)
        remark((*path, "delay"), _unit(backoff.first), default_of(backoff.first, _USUAL.first))
        if backoff.kind.has_factor:
            yield "multiplier", backoff.factor
            remark((*path, "multiplier"), default_of(backoff.factor, _USUAL.factor))
        if backoff.cap is None:
            self.notes.absent(path, "max_delay: none")
        else:
            yield "max_delay", source_of(backoff.cap)
            remark((*path, "max_delay"), _unit(backoff.cap))
        yield "jitter", jitter_value(backoff.jitter)
        remark((*path, "jitter"), default_of(backoff.jitter, _USUAL.jitter))
        yield "honor_retry_after", backoff.honor_retry_after
        usual = default_of(backoff.honor_retry_after, _USUAL.honor_retry_after)
        remark((*path, "honor_retry_after"), usual)

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


def jitter_value(jitter: Jitter) -> Value:
    """A jitter as documents write it."""
    match jitter.kind:
        case JitterKind.NONE:
            return False
        case JitterKind.PLUS_MINUS_HALF:
            return True
        case JitterKind.ADDED:
            return jitter.fraction
        case _:
            return jitter.kind.value


def source_of(value: float | int | Template) -> Value:
    """A number, or the template that yields it."""
    return value.source if isinstance(value, Template) else value


def _unit(value: float | Template) -> str:
    return "computed for each attempt" if isinstance(value, Template) else "seconds"
