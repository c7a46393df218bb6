"""Say why each execution of a task was made, how it ended, and what was decided about it."""

from __future__ import annotations

from typing import Protocol, TypeAlias, assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import StepRunKey, key_of
from anew.program.policy import DirectiveKind, GraphRule
from anew.program.span import Span
from anew.values import Object
from anew.views.explain.delays import delay_parts, delay_sentence
from anew.views.explain.errors import whole_error
from anew.views.explain.paragraph import About, Paragraph, paragraph_for, sentence_of
from anew.views.explain.rules import RuleWords, outcome_text
from anew.views.explain.sources import Sources
from anew.views.wording import exact_seconds, one_line, place_text

TaskEvent: TypeAlias = (
    e.TaskStarted
    | e.TaskProcessed
    | e.TaskRetryScheduled
    | e.TaskRetryExhausted
    | e.StepRedelivered
    | e.HumanWaiting
    | e.HumanAnswered
    | e.HumanTimedOut
    | e.SignalWaiting
    | e.SignalReceived
    | e.SignalTimedOut
    | e.WaitSkipped
    | e.TaskHeld
)


class ParagraphKeeper(Protocol):
    """Who keeps the paragraphs, and knows what stands beside an execution."""

    sources: Sources

    def add(self, paragraph: Paragraph, *, is_odd: bool = False) -> None:
        """Keep a paragraph of a step-run."""

    def mark_odd(self, event: e.Event) -> None:
        """Note that an iteration is worth telling."""

    def entry_of(self, event: e.Event) -> Paragraph | None:
        """How the visit of an event began, if that was not told yet."""

    def known(self, event: e.Event) -> Object:
        """What a condition could read at this event."""

    def shared_executions(self, event: e.Event) -> int | None:
        """How many executions count against the budget that all visits of a step share."""


class _Processed(Struct):
    """An outcome that is told with what follows from it."""

    event: e.TaskProcessed
    matched: str


class AttemptStory:
    """Follows every step-run, and gives its paragraphs to `story`."""

    def __init__(self, story: ParagraphKeeper) -> None:
        self._story = story
        self._rules = RuleWords(story.sources)
        self._open: dict[StepRunKey, Paragraph] = {}
        self._next: dict[StepRunKey, Paragraph] = {}  # why there will be one more execution
        self._outcome: dict[StepRunKey, _Processed] = {}
        self._previous: dict[StepRunKey, float] = {}  # the delay drawn last
        self._ended_at: dict[StepRunKey, int] = {}

    def feed(self, event: TaskEvent) -> None:
        match event:
            case e.TaskStarted():
                self._started(event)
            case e.TaskProcessed():
                self._processed(event)
            case e.TaskRetryScheduled():
                self._scheduled(event)
            case e.TaskRetryExhausted():
                self._exhausted(event)
            case e.StepRedelivered():
                self._redelivered(event)
            case e.HumanWaiting() | e.HumanAnswered() | e.HumanTimedOut():
                self._waited(event)
            case e.SignalWaiting() | e.SignalReceived() | e.SignalTimedOut():
                self._waited(event)
            case e.WaitSkipped():
                self._skipped(event)
            case e.TaskHeld():
                self._held(event)
            case _:
                assert_never(event)

    def resume_later(self, later_by: int) -> None:
        """As `engine.shared_logs`: a wait for others is moved, one for a moment is not."""
        for told in self._open.values():
            told.until = None if told.until is None else told.until + later_by

    def settle(self, event: e.Event) -> None:
        """A visit or an iteration has ended: whatever its step-runs left untold is told."""
        for place in [place for place in self._next if self._is_over(place, event)]:
            self._story.add(self._next.pop(place), is_odd=True)
        for place in [place for place in self._open if self._is_over(place, event)]:
            del self._open[place]

    def _is_over(self, place: StepRunKey, event: e.Event) -> bool:
        is_here = (place.step, place.visit) == (event.step, event.visit)
        return is_here and (event.iteration is None or place.iteration == event.iteration)

    def close(self) -> None:
        for waiting in self._next.values():
            self._story.add(waiting, is_odd=True)
        self._next.clear()

    # --- executions ------------------------------------------------------------------------------

    def _started(self, event: e.TaskStarted) -> None:
        place = key_of(event)
        told = self._next.pop(place, None)
        is_retry = told is not None and told.delay is not None
        if told is None:
            told = self._story.entry_of(event) or paragraph_for(About.ATTEMPT, "", event)
        told.head = f"{_visit_text(event)}, attempt {event.attempt}"
        told.at, told.task, told.attempt = event.at, event.task, event.attempt
        told.iteration = event.iteration
        ended = self._ended_at.get(place)
        if ended is not None:
            what = f"attempt {(event.attempt or 2) - 1}" if is_retry else "the outcome before"
            told.relation = f"{exact_seconds((event.at - ended) / NANOSECONDS)} after {what}"
        if event.attempt == 1:
            self._previous.pop(place, None)
        workbook = f"It executes {event.workbook} of the workbook." if event.workbook else ""
        told.add(event, workbook, *(f"Warning: {one_line(text)}." for text in event.warnings))
        if not told.sentences:
            is_first = event.iteration is not None and event.task_visit == 1
            item = f"Item {event.iteration} of the loop starts."
            told.add_sentence(item if is_first else "It is the next task of the step-run.")
        told.until = None
        self._open[place] = told
        self._story.add(told, is_odd=is_retry)

    def _processed(self, event: e.TaskProcessed) -> None:
        place = key_of(event)
        self._ended_at[place] = event.at
        known = self._story.known(event)
        if event.directive is DirectiveKind.RETRY:  # told with the sequel, which follows at once
            self._outcome[place] = _Processed(event, self._rules.matched(event, known))
            return
        told = self._current(event)
        if event.error is not None and event.error.get("kind") == "expression":
            told.add(event, f"It {outcome_text(event)}.", *self._broken(event))
        elif self._is_plain(event):
            told.add(event, "" if self._story.sources.is_relay(event.step) else "It succeeded.")
        else:
            told.add(event, f"It {outcome_text(event)}.", self._rules.decided(event, known))
        told.add_sentence(self._rules.writes(event.patches, event))
        told.span = self._span(event, event.rule) or told.span
        self._follow(event)

    def _is_plain(self, event: e.TaskProcessed) -> bool:
        """What went well and on, with nothing to be said about it."""
        is_well = not event.outcome.is_error and event.directive is DirectiveKind.CONTINUE
        is_usual = event.rule is None or (
            self._story.sources.is_graph and event.rule_name == GraphRule.DONE
        )
        return is_well and is_usual and event.verdict is None and event.outcome.verdict is None

    def _broken(self, event: e.TaskProcessed) -> list[str]:
        error = event.error or {}
        return [f"Deciding about it failed, which fails the task: {whole_error(error)}."]

    def _follow(self, event: e.TaskProcessed | e.TaskRetryExhausted) -> None:
        """The next task of the step-run, if there is one, has this for its reason."""
        match event.directive:
            case DirectiveKind.BREAK | DirectiveKind.FAIL | DirectiveKind.RETRY:
                return
            case DirectiveKind.CONTINUE | DirectiveKind.JUMP:
                pass
            case other:
                assert_never(other)
        place = key_of(event)
        self._open.pop(place, None)
        step = self._story.sources.step(event.step)
        is_last = step is None or event.task == step.tasks[-1].label
        if event.directive is DirectiveKind.CONTINUE and is_last:
            return
        told = paragraph_for(About.ATTEMPT, place_text(event), event)
        if event.directive is DirectiveKind.JUMP:
            self._story.mark_odd(event)
            wait = "" if event.delay_seconds is None else " after its delay"
            told.sentences.append(f"{event.task} jumped here{wait}.")
            told.head, told.until = f"{event.step}, before {event.to}", event.not_before
        else:
            told.sentences.append(f"It follows {event.task}, which continued.")
        self._next[place] = told

    # --- retries ---------------------------------------------------------------------------------

    def _scheduled(self, event: e.TaskRetryScheduled) -> None:
        place = key_of(event)
        told = paragraph_for(About.ATTEMPT, f"{_visit_text(event)}, before the next attempt", event)
        rule = self._story.sources.rule(event.step, event.task, event.rule)
        told.delay = delay_parts(event, rule, self._previous.get(place))
        told.span = rule.span if rule is not None else None
        self._add_outcome(told, event, f"; {self._rules.allowance(event)}.")
        told.add(event, delay_sentence(told.delay))
        told.until = event.not_before
        self._previous[place] = event.spread_seconds
        self._open.pop(place, None)
        if event.to is not None:
            told.sentences.append(f"The next attempt comes by way of {event.to}.")
        self._next[place] = told

    def _exhausted(self, event: e.TaskRetryExhausted) -> None:
        told = self._current(event)
        self._add_outcome(told, event, ".", is_this=True)
        spent = self._rules.spent(event, self._story.shared_executions(event))
        told.add(event, spent, self._rules.writes(event.patches))
        told.span = self._span(event, event.rule) or told.span
        self._story.mark_odd(event)
        self._follow(event)

    def _add_outcome(
        self,
        told: Paragraph,
        event: e.TaskRetryScheduled | e.TaskRetryExhausted,
        rest: str,
        *,
        is_this: bool = False,
    ) -> None:
        """How the attempt ended that a retry rule answered, and which rule that was."""
        processed = self._outcome.pop(key_of(event), None)
        if processed is None:
            return
        who = "It" if is_this else f"Attempt {event.attempt}"
        ended = f"{who} {outcome_text(processed.event)}."
        writes = self._rules.writes(processed.event.patches, processed.event)
        told.add(processed.event, ended, f"{processed.matched}{rest}", writes)

    # --- lost workers, people, signals -----------------------------------------------------------

    def _redelivered(self, event: e.StepRedelivered) -> None:
        why = "handed it back" if event.delivery == 1 else "was lost"
        sentence = (
            f"Its worker {why}: another one continues from the last outcome in the log, "
            "which costs no attempt."
        )
        self._story.mark_odd(event)
        waiting = self._next.get(key_of(event))
        if waiting is not None:
            waiting.add(event, sentence)
            return
        told = paragraph_for(About.ATTEMPT, place_text(event), event)
        told.add(event, sentence)
        self._next[key_of(event)] = told

    def _waited(
        self,
        event: e.HumanWaiting
        | e.HumanAnswered
        | e.HumanTimedOut
        | e.SignalWaiting
        | e.SignalReceived
        | e.SignalTimedOut,
    ) -> None:
        told = self._current(event)
        self._story.mark_odd(event)
        told.add(event, sentence_of(event))
        told.until = event.deadline if isinstance(event, e.HumanWaiting | e.SignalWaiting) else None

    def _held(self, event: e.TaskHeld) -> None:
        """A call that is held has not begun: the next attempt tells of it."""
        place = key_of(event)
        told = self._next.get(place)
        if told is None:
            told = self._story.entry_of(event) or paragraph_for(About.ATTEMPT, "", event)
            told.head = f"{_visit_text(event)}, held"
            self._next[place] = told
        self._story.mark_odd(event)
        guard = event.guard.value.capitalize()
        told.add(event, f"{guard} of {event.scope} held it: {event.reason}.")
        told.until = event.until

    def _skipped(self, event: e.WaitSkipped) -> None:
        """Before a retry or a jump it is told with what comes next, else with what slept."""
        told = self._next.get(key_of(event))
        if told is None:
            told = self._current(event)
        self._story.mark_odd(event)
        told.add(event, sentence_of(event))
        told.until = None

    # --- paragraphs ------------------------------------------------------------------------------

    def _current(self, event: e.Event) -> Paragraph:
        """The paragraph of the execution that is at work."""
        found = self._open.get(key_of(event))
        if found is None:
            found = self._story.entry_of(event)
            if found is None:
                found = paragraph_for(About.ATTEMPT, place_text(event), event)
            self._open[key_of(event)] = found
            self._story.add(found)
        return found

    def _span(self, event: e.Event, number: int | None) -> Span | None:
        rule = self._story.sources.rule(event.step, event.task, number)
        return rule.span if rule is not None else None


def _visit_text(event: e.Event) -> str:
    """`fetch`, `fetch, visit 2`."""
    again = f", visit {event.visit}" if event.visit not in (None, 1) else ""
    return f"{place_text(event)}{again}"
