"""Say which rule answered an outcome, why that one, and what it asked for."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine.events.words import RetryLimit
from anew.program.policy import Budget, DirectiveKind, GraphRule, OutcomeStatus, Retry, Rule
from anew.program.program import Task
from anew.values import Object
from anew.views.explain.errors import whole_error
from anew.views.explain.sources import Sources, condition_text, where
from anew.views.explain.values import outcome_values, values_text, writes_sentence
from anew.views.wording import counted, exact_seconds, failure_text, one_line, writes_of

RetryEvent: TypeAlias = e.TaskRetryScheduled | e.TaskRetryExhausted


def outcome_text(event: e.TaskProcessed) -> str:
    """`ended with HTTP 503 (server_error)`, `succeeded`."""
    outcome = event.outcome
    if outcome.error is None:
        said = f", saying {one_line(outcome.word)}" if outcome.word else ""
        how = f"ended with the verdict {outcome.verdict}" if outcome.verdict else "succeeded"
        return f"{how}{said}"
    told = failure_text(outcome)
    if told.endswith("…"):
        told = whole_error(outcome.error)  # the cause may stand at its end
    kind = str(outcome.error.get("kind"))
    is_told = told.startswith(kind) or f"({kind.replace('_', ' ')})" in told
    return f"ended with {told}" if is_told else f"ended with {told} ({kind})"


class RuleWords(Struct, frozen=True):
    sources: Sources

    def matched(self, event: e.TaskProcessed, known: Object) -> str:
        """Which rule took the outcome, and what it asked; `known` is what else it could read."""
        label = event.task or ""
        if event.rule is None:
            return self._unmatched(event, label, known)
        rule = self.sources.rule(event.step, event.task, event.rule)
        if rule is None:
            return f"Rule {event.rule} of {label} matches"
        if self.sources.is_graph and rule.name:
            return _node_rule(rule, label)
        values = values_text(rule.when, {**known, **outcome_values(event.outcome, event.attempt)})
        place = f"of {label}{where(rule.span)}"
        if rule.name:  # the author wrote a condition, not the rule that it became
            holds = f"holds: {condition_text(rule.when)}{values}" if rule.when else ""
            return f"{rule.name} {place} {holds or f'takes every {_kind(rule)}'}"
        start = f"Rule {event.rule} {place}"
        if rule.when is None:
            return f"{start} takes every {'other ' if event.rule > 1 else ''}{_kind(rule)}"
        first = "is the first that matches" if event.rule > 1 else "matches"
        return f"{start} {first}: {condition_text(rule.when)}{values}"

    def _unmatched(self, event: e.TaskProcessed, label: str, known: Object) -> str:
        task = self.sources.task(event.step, event.task)
        what = "an error" if event.outcome.is_error else "an ok outcome"
        if task is None:
            return f"No rule matches {what}"
        if self.sources.is_graph and event.outcome.is_error:
            has_retries = any(isinstance(rule.then, Retry) for rule in task.policy.rules)
            return "The error is not retryable" if has_retries else f"{label} has no max_retries"
        many = len(task.policy.rules)
        if not many:
            return f"{label} has no rule for {what}"
        if task.policy.unmatched:
            return _unmet(task, {**known, **outcome_values(event.outcome, event.attempt)})
        asked = "Its rule does not match" if many == 1 else f"None of its {many} rules matches"
        return f"{asked} {what}"

    def decided(self, event: e.TaskProcessed, known: Object) -> str:
        """Which rule took an outcome that is not retried, and what follows from it."""
        if self.sources.is_graph and event.rule_name == GraphRule.DONE:
            return ""
        if event.rule is not None or event.directive is DirectiveKind.CONTINUE:
            return f"{self.matched(event, known)}, {self.directive(event)}."
        return f"{self.matched(event, known)}, and so the {self._whole(event)} fails."

    def directive(self, event: e.TaskProcessed | e.TaskRetryExhausted) -> str:
        """What follows: `so the step goes on`, `which fails the step`."""
        whole = self._whole(event)
        wait = "" if event.delay_seconds is None else f" after {exact_seconds(event.delay_seconds)}"
        match event.directive:
            case DirectiveKind.CONTINUE:
                counts = f" and it counts as {event.verdict}" if event.verdict else ""
                return f"so it continues{counts}"
            case DirectiveKind.BREAK:
                return f"which ends the {whole} here, done"
            case DirectiveKind.JUMP:
                return f"which jumps to {event.to}{wait}"
            case DirectiveKind.FAIL | DirectiveKind.RETRY:
                # The error of an exhausted retry is the outcome's, which has been told.
                own = event.error if isinstance(event, e.TaskProcessed) else None
                why = f": {whole_error(own)}" if own is not None else ""
                return f"which fails the {whole}{why}"
            case other:
                assert_never(other)

    def _whole(self, event: e.Event) -> str:
        """What a directive ends: in a loop that is an iteration, and the step goes on."""
        return self.sources.step_word if event.iteration is None else "iteration"

    def allowance(self, event: e.TaskRetryScheduled) -> str:
        """`it allows 5 attempts, 1 was made`."""
        if self._is_shared(event, event.count):
            return f"{self._shared(event)}, and this is number {event.count or event.attempt}"
        return f"it allows {counted(event.attempts, 'attempt')}, {_made(event.attempt or 1)}"

    def spent(self, event: e.TaskRetryExhausted, count: int | None) -> str:
        """Why a retry rule that matches does not retry any more, and what happens instead.

        `count` has the executions that count where all visits of the step share one budget.
        """
        retry = self._retry(event)
        stated = "on_exhausted says so" if retry is not None and retry.on_exhausted else ""
        told = f"{self._why_spent(event, count)}, {self.directive(event)}"
        return f"{told} ({stated})." if stated else f"{told}."

    def _why_spent(self, event: e.TaskRetryExhausted, count: int | None) -> str:
        made = event.attempt or 1
        if event.reason is RetryLimit.BUDGET:
            return f"The retry budget of its dependency is empty; {_made(made)}"
        if event.reason is RetryLimit.MAX_ELAPSED:
            return f"The next attempt would start past its max_elapsed; {_made(made)}"
        if not self._is_shared(event, count):
            allowed = f"It allows {counted(event.attempts, 'attempt')} and {_made(made)}"
            return f"{allowed}: they are spent"
        allowed, retries = self._shared(event).capitalize(), (count or made) - 1
        return f"{allowed}, and {_made(retries)}: none is left"

    def _is_shared(self, event: RetryEvent, count: int | None) -> bool:
        """Whether all visits of the step share one budget; without the program, `count` tells."""
        retry = self._retry(event)
        return count is not None if retry is None else retry.budget is Budget.STEP

    def _shared(self, event: RetryEvent) -> str:
        """Executions that begin a visit cost nothing of such a budget, so its retries are told."""
        many = counted(event.attempts - 1, "retry")
        return f"it allows {many} over all visits of the {self.sources.step_word}"

    def _retry(self, event: RetryEvent) -> Retry | None:
        rule = self.sources.rule(event.step, event.task, event.rule)
        return rule.then if rule is not None and isinstance(rule.then, Retry) else None

    def writes(self, patches: Object, event: e.TaskProcessed | None = None) -> str:
        """`It writes ctx.page = 2.`; what nodes write by themselves is no news."""
        is_automatic = self.sources.is_graph and event is not None
        own = event.outcome.updates or {} if event is not None else {}
        told = writes_of(patches, only=own if is_automatic else None)
        return writes_sentence("It", told)


def _unmet(task: Task, values: Object) -> str:
    """`retry_when of a is false: …`: the conditions of a retry block, as they were written."""
    asked = {rule.name: rule.when for rule in task.policy.rules if rule.name and rule.when}
    told = [f"{condition_text(when)}{values_text(when, values)}" for when in asked.values()]
    verb = "is" if len(asked) == 1 else "are"
    return f"{' and '.join(asked)} of {task.label} {verb} false: {', '.join(told)}"


def _made(many: int) -> str:
    return f"{many} {'was' if many == 1 else 'were'} made"


def _kind(rule: Rule) -> str:
    match rule.on:
        case OutcomeStatus.ERROR:
            return "error"
        case OutcomeStatus.OK:
            return "ok outcome"
        case None:
            return "outcome"


def _node_rule(rule: Rule, label: str) -> str:
    """The rules of a node, in the words of its attributes."""
    match rule.name:
        case GraphRule.RETRY:
            return f"max_retries of node {label}{where(rule.span)} applies: the error is retryable"
        case GraphRule.ASKED:
            return f"Node {label} asks to be retried{where(rule.span)}"
        case GraphRule.DONE:
            return f"That is how node {label} is done"
        case _:
            return f"Rule {rule.name} of node {label}{where(rule.span)} applies"
