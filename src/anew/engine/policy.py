"""Turn a task's outcome into what the log says about it: rule, patches, directive, delay.

First match wins. An expression that cannot be evaluated fails the task and never matches.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from anew.engine.events import TaskProcessed, TaskRetryExhausted, TaskRetryScheduled
from anew.engine.events.words import RetryLimit
from anew.engine.guarding import CallEnded, tell_end
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome, error_of
from anew.engine.record import Recorder
from anew.engine.render import Rejected, count_of, holds, patches_of, seconds_of, text_of
from anew.engine.retry import (
    DELAY_SECONDS_MAX,
    bounds_of,
    delay_of,
    due_at,
    is_too_late,
    jitter_word,
)
from anew.engine.scope import RunScope, outcome_names, retry_words, set_names
from anew.engine.state import StepRun, place_of
from anew.guards.keeper import RetryCost
from anew.program.policy import (
    Break,
    Budget,
    Continue,
    Directive,
    DirectiveKind,
    Exhausted,
    Fail,
    Jump,
    OutcomeStatus,
    Retry,
    Rule,
    Verdict,
)
from anew.program.program import Dialect, Task
from anew.values import Object, path_text

_CONTINUE, _FAIL = Continue(), Fail()
_FREE = RetryCost()
_NOTHING: Object = {}


class Settled(Struct, frozen=True):
    """A directive that needs no more thought."""

    directive: DirectiveKind
    to: str | None = None
    error: Object | None = None
    delay_seconds: float | None = None
    not_before: int | None = None
    verdict: Verdict | None = None


def apply_policy(recorder: Recorder, run: StepRun, task: Task, outcome: Outcome) -> None:
    """Write what the policy decides: `task.processed`, and the sequel of a retry."""
    guards, ended = recorder.moment.guards, None
    if guards is not None:
        ended = tell_end(guards, recorder.state, run, outcome, recorder.moment.now)
    _Judgement(recorder, run, task, outcome, ended).write()


class _Judgement(Struct):
    recorder: Recorder
    run: StepRun
    task: Task
    outcome: Outcome
    ended: CallEnded | None = None  # where guards know the call

    def write(self) -> None:
        policy = self.task.policy
        if not policy.rules and not policy.patches:
            self._processed(None, self._settle(self._unmatched(), None, None), self._updates())
            return
        names = outcome_names(self.recorder, self.run, self.outcome, self.task.dialect)
        scope = self._scope(names, self._beside)
        number, own = None, _NOTHING
        try:
            if policy.patches:
                own = patches_of(policy.patches, self._setting(names))
                scope = scope.patched(own)
            number, rule = self._match(self._asking(scope, names, own))
            patches = patches_of(rule.patches if rule else (), scope, self._updates(), own)
        except Rejected as rejected:
            self._processed(number, Settled(DirectiveKind.FAIL, error=rejected.error), own)
            return
        self._follow(number, rule, patches, scope.patched(patches) if patches else scope)

    @property
    def _beside(self) -> Object:
        """What `output` answers to besides, in rules."""
        return {"response": self.outcome.result}

    def _scope(self, names: Object, beside: Object) -> RunScope:
        return RunScope(self.recorder, self.task.dialect, run=self.run, extra=names, beside=beside)

    def _setting(self, names: Object) -> RunScope:
        """The scope of the task's own `set`."""
        return self._scope(*set_names(self.recorder, self.run, self.outcome, names))

    def _updates(self) -> Object:
        """What the tool itself writes to ctx, before anything the author wrote."""
        updates = self.outcome.updates
        return (
            {"ctx": {path_text((key,)): value for key, value in updates.items()}} if updates else {}
        )

    def _asking(self, scope: RunScope, names: Object, own: Object) -> RunScope:
        """The scope of conditions: those of a retry block have words of their own."""
        if self.task.dialect is not Dialect.RETRY:
            return scope
        asking = self._scope({**names, **retry_words(self.run, self.outcome)}, self._beside)
        return asking.patched(own) if own else asking

    def _match(self, scope: RunScope) -> tuple[int | None, Rule | None]:
        for number, rule in enumerate(self.task.policy.rules, 1):
            if rule.on is not None and rule.on is not self.outcome.status:
                continue
            asked = rule.name or f"rule {number}"
            if isinstance(rule.then, Jump) and self._is_spent(rule.then, number, scope):
                continue
            if holds(rule.when, scope, f"{asked} of {self.task.label}"):
                return number, rule
        return None, None

    def _is_spent(self, jump: Jump, number: int, scope: RunScope) -> bool:
        """Whether a rule has jumped as often, or for as long, as it may."""
        if not jump.is_limited:
            return False
        now = self.recorder.moment.now
        count, first_at = self.run.jumps.get((self.task.label, number), (0, now))
        if jump.most is not None and count >= jump.most:
            return True
        if jump.max_elapsed is None:
            return False
        most = seconds_of(jump.max_elapsed, scope, "max_elapsed", now=now)
        delay = 0.0 if jump.delay is None else seconds_of(jump.delay, scope, "delay", now=now)
        return due_at(now, delay) - first_at > round(most * NANOSECONDS)

    def _unmatched(self) -> Directive:
        failed = self.outcome.status is OutcomeStatus.ERROR
        return _FAIL if failed and self.task.policy.fail_unmatched_errors else _CONTINUE

    def _follow(
        self, number: int | None, rule: Rule | None, patches: Object, scope: RunScope
    ) -> None:
        then = rule.then if rule else self._unmatched()
        try:
            if isinstance(then, Retry):
                assert number is not None
                self._retry(number, then, patches, scope)
                return
            settled = self._settle(then, scope, rule)
        except Rejected as rejected:
            settled = Settled(DirectiveKind.FAIL, error=rejected.error)
        self._processed(number, settled, patches)

    def _settle(
        self,
        then: Continue | Break | Fail | Jump | Retry,
        scope: RunScope | None,
        rule: Rule | None,
    ) -> Settled:
        match then:
            case Continue():
                return Settled(DirectiveKind.CONTINUE, verdict=then.verdict)
            case Break():
                return Settled(DirectiveKind.BREAK)
            case Fail():
                return Settled(DirectiveKind.FAIL, error=self._failure(then, scope, rule))
            case Jump():
                return self._jump(then, scope)
            case Retry():
                return Settled(DirectiveKind.RETRY)
            case _:
                assert_never(then)

    def _failure(self, then: Fail, scope: RunScope | None, rule: Rule | None) -> Object | None:
        """The step's error when it is not the outcome's own."""
        if self.outcome.is_error:
            return None
        if then.message is not None and scope is not None:
            return error_of("failed", text_of(then.message, scope, "message"))
        why = str(rule.when.source) if rule and rule.when else "failed by the else rule"
        return error_of("failed", why)

    def _jump(self, then: Jump, scope: RunScope | None) -> Settled:
        if then.delay is None or scope is None:
            return Settled(DirectiveKind.JUMP, to=then.to)
        now = self.recorder.moment.now
        seconds = min(seconds_of(then.delay, scope, "delay", now=now), DELAY_SECONDS_MAX)
        return Settled(DirectiveKind.JUMP, then.to, None, seconds, due_at(now, seconds))

    def _processed(self, number: int | None, settled: Settled, patches: Object) -> None:
        self.recorder.emit(
            TaskProcessed(
                **place_of(self.run),
                outcome=self.outcome,
                directive=settled.directive,
                rule=number,
                rule_name=self._rule_name(number, settled),
                to=settled.to,
                error=settled.error,
                verdict=settled.verdict,
                patches=patches,
                delay_seconds=settled.delay_seconds,
                not_before=settled.not_before,
                draws=self.recorder.taken_draws(),
            )
        )

    def _rule_name(self, number: int | None, settled: Settled) -> str | None:
        """The author's word for what decided; for a failure, which words did not hold."""
        policy = self.task.policy
        if number is not None:
            return policy.rules[number - 1].name or None
        is_plain = settled.directive is DirectiveKind.FAIL and settled.error is None
        return policy.unmatched or None if is_plain else None

    def _retry(self, number: int, retry: Retry, patches: Object, scope: RunScope) -> None:
        attempts = count_of(retry.attempts, scope, "attempts")
        executions = self._executions(retry)
        cools = self.ended is not None and self.ended.cools and retry.backoff.honor_retry_after
        if executions >= attempts and not cools:
            self._processed(number, Settled(DirectiveKind.RETRY), patches)
            self._exhausted(number, retry, attempts, RetryLimit.ATTEMPTS, scope)
            return
        now = self.recorder.moment.now
        error = self.outcome.error
        row, backoff = retry.backoff_for(None if error is None else error["kind"])
        bounds = bounds_of(retry, backoff, scope, now, after=executions)
        self._processed(number, Settled(DirectiveKind.RETRY), patches)
        delay = delay_of(backoff, bounds, self.run, self.outcome, self.recorder, after=executions)
        not_before = due_at(now, delay.seconds)
        if is_too_late(bounds, self.run, not_before):
            self._exhausted(number, retry, attempts, RetryLimit.MAX_ELAPSED, scope)
            return
        cost = self._cost(now)
        if cost.is_empty:
            self._exhausted(number, retry, attempts, RetryLimit.BUDGET, scope)
            return
        self.recorder.taken_draws()  # the jitter's, which the event names `draw`
        self.recorder.emit(
            TaskRetryScheduled(
                **place_of(self.run),
                rule=number,
                backoff=backoff.kind,
                base_seconds=delay.base,
                jitter=jitter_word(backoff.jitter),
                draw=delay.draw,
                cap_seconds=bounds.cap,
                retry_after_seconds=delay.retry_after,
                spread_seconds=delay.spread,
                delay_seconds=delay.seconds,
                not_before=not_before,
                attempts=attempts,
                last_error=error["message"] if error else None,
                count=executions if retry.budget is Budget.STEP else None,
                to=retry.to,
                backoff_row=row,
                entry=min(executions, len(backoff.table)) or None,
                took=cost.took or None,
                owes=cost.owes or None,
                cools=cools,
            )
        )

    def _cost(self, now: int) -> RetryCost:
        """What this retry takes from the budget of its dependency."""
        ended, guards = self.ended, self.recorder.moment.guards
        if ended is None or guards is None:
            return _FREE
        return guards.retry_cost(ended.dependency, is_throttled=ended.is_throttled, now=now)

    def _executions(self, retry: Retry) -> int:
        """How many executions count so far: those of this visit, or the step's retries plus one."""
        if retry.budget is Budget.VISIT:
            return self.run.attempt - self.run.cooled
        owner = self.recorder.state.ctx_owner(self.run.branch)
        return owner.retries.get(self.run.key.step, 0) + 1

    def _exhausted(
        self, number: int, retry: Retry, attempts: int, reason: RetryLimit, scope: RunScope
    ) -> None:
        sequel = retry.on_exhausted or Exhausted(_FAIL)
        patches: Object = {}
        try:
            patches = patches_of(sequel.patches, scope)
            after = scope.patched(patches)
            error = self._spent_error(sequel.then, after)
            is_failing = isinstance(sequel.then, Fail)
            settled = (
                Settled(DirectiveKind.FAIL)
                if is_failing
                else self._settle(sequel.then, after, None)
            )
        except Rejected as rejected:
            settled, error = Settled(DirectiveKind.FAIL), self._with_count(rejected.error)
        self.recorder.emit(
            TaskRetryExhausted(
                **place_of(self.run),
                rule=number,
                attempts=attempts,
                reason=reason,
                directive=settled.directive,
                to=settled.to,
                error=error,
                verdict=settled.verdict,
                patches=patches,
                delay_seconds=settled.delay_seconds,
                not_before=settled.not_before,
                draws=self.recorder.taken_draws(),
            )
        )

    def _spent_error(self, then: Directive, scope: RunScope) -> Object | None:
        """The last error, or for an ok outcome that never satisfied the rule, one of its own."""
        if self.outcome.error is not None:
            return self._with_count(self.outcome.error)
        if not isinstance(then, Fail):
            return None
        message = f"{self.task.label} was still not accepted after {self.run.attempt} attempts"
        if then.message is not None:
            message = text_of(then.message, scope, "message")
        return self._with_count(error_of("retry_exhausted", message))

    def _with_count(self, error: Object) -> Object:
        return {**error, "retry": {"attempts": self.run.attempt, "exhausted": True}}
