"""Say why a way was taken after a visit, and why the other ways were not."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.engine import events as e
from anew.engine.events.words import FailureEffect, RouteReason
from anew.program.program import Arc, RouteMode
from anew.values import Object
from anew.views.explain.errors import whole_error
from anew.views.explain.sources import Sources, condition_text, where
from anew.views.explain.values import values_text, writes_sentence
from anew.views.routing_words import listed
from anew.views.wording import writes_of

ARCS_SHOWN = 12
_SUCCESS_ONLY = "an arc without when answers success only"
_NO_CONDITION = "no condition"
# Reasons to prefer one of several arcs that could all be taken.
_AMONG_OPEN = (RouteReason.LABEL, RouteReason.SUGGESTED, RouteReason.WEIGHT, RouteReason.LEXICAL)
# What a failure that nobody handles does to the run, or to its branch.
_FAILURES = {
    FailureEffect.FAIL_FAST: "nothing new starts, what runs may end, then the run fails",
    FailureEffect.BEST_EFFORT: "the other tokens continue to their end, then the run fails",
    FailureEffect.BRANCH: "its branch ends failed",
}


class WayWords(Struct, frozen=True):
    sources: Sources

    def sentences(self, event: e.NextEvaluated, known: Object) -> Iterator[str]:
        """Everything about one look at the arcs; `known` is what their conditions could read."""
        if event.fails_run:
            yield "It leads nowhere, and the failure it took up is still one: the run fails."
            return
        if event.error is not None:
            yield self._raised(event)
            return
        yield writes_sentence("`set`", writes_of(event.patches))
        if event.reason == RouteReason.FORK:
            yield self._forked(event)
            return
        rows = event.arcs[:ARCS_SHOWN]
        taken = [row for row in rows if row["verdict"] and "dropped" not in row]
        for row in rows:
            yield self.answer(event, row, known)
        yield self._others(event, taken)
        yield from self._without_arc(event)
        if not event.tokens:
            yield self._nowhere(event)

    def _raised(self, event: e.NextEvaluated) -> str:
        return f"Its {self.sources.arc_word}s could not be asked: {whole_error(event.error)}."

    def refusals(self, event: e.NextEvaluated, known: Object) -> Iterator[tuple[str, str]]:
        """The steps that were not gone to though an arc leads there, and why."""
        if event.error is not None:
            step = self.sources.step(event.step)
            arcs = step.router.arcs if step is not None else ()
            for to in dict.fromkeys([arc.to for arc in arcs] + [row["to"] for row in event.arcs]):
                yield to, self._raised(event)
            return
        for row in event.arcs:
            if not row["verdict"] or "dropped" in row:
                yield row["to"], self.answer(event, row, known)

    def failed(self, event: e.StepFailed, *, is_told: bool) -> str:
        """How a visit failed, and what that means for the run where nobody handles it.

        `is_told`: the same paragraph has said the error.
        """
        step = self.sources.step_word.capitalize()
        why = "" if is_told else f": {whole_error(event.error)}"
        told = f"{step} {event.step} failed{why}."
        if event.handled or event.failure_mode is None:
            return told
        means = _FAILURES[event.failure_mode]
        return f"{told} Nobody handles it: {means} ({event.failure_mode})."

    def _forked(self, event: e.NextEvaluated) -> str:
        """All arcs in one sentence: none of them had to be asked."""
        ways = [
            f"{row['to']}{where(arc.span) if arc is not None else ''}"
            for row in event.arcs
            for arc in [self.sources.arc(event.step, row["arc"])]
        ]
        word = self.sources.arc_word
        return f"A split takes all its {word}s, each as a branch of its own: {listed(ways)}."

    def answer(self, event: e.NextEvaluated, row: Object, known: Object) -> str:
        """What one arc came to, with its reason."""
        arc = self.sources.arc(event.step, row["arc"])
        name = self._name(row, arc)
        if "dropped" in row:
            return f"{name} was chosen and dropped: {row['dropped']}."
        if row["verdict"]:
            return f"{name} was taken: {self._why(event, row, arc, known)}."
        return f"{name} was not taken: {self._refusal(row, arc, known)}."

    def _name(self, row: Object, arc: Arc | None) -> str:
        place = where(arc.span) if arc is not None else ""
        return f"{self.sources.arc_word.capitalize()} {row['arc']} to {row['to']}{place}"

    def _why(self, event: e.NextEvaluated, row: Object, arc: Arc | None, known: Object) -> str:
        if row["reason"] == _NO_CONDITION:
            return "it has no condition"
        match event.reason:
            case RouteReason.LABEL:
                return (
                    f"its label {arc.label!r} is what the outcome said" if arc else "by its label"
                )
            case RouteReason.SUGGESTED:
                return f"the outcome suggested {row['to']}"
            case RouteReason.WEIGHT:
                return self._weighed(event, arc)
            case RouteReason.LEXICAL:
                first = "by name" if self.sources.is_graph else "in the document"
                return f"others weigh as much, and it comes first {first}"
            case _:
                return self._holds(row, arc, known, word="true")

    def _weighed(self, event: e.NextEvaluated, arc: Arc | None) -> str:
        """An only way needs no weight."""
        others = len(self._open(event))
        word = self.sources.arc_word
        if arc is None or others > 1:
            return f"it has the greatest weight of the {word}s without a condition"
        return f"it is the only {word} without a condition"

    def _open(self, event: e.NextEvaluated) -> list[tuple[int, Arc]]:
        step = self.sources.step(event.step)
        refused = {row["arc"] for row in event.arcs if not row["verdict"]}
        arcs = enumerate(step.router.arcs, 1) if step is not None else ()
        return [(n, arc) for n, arc in arcs if arc.when is None and n not in refused]

    def _refusal(self, row: Object, arc: Arc | None, known: Object) -> str:
        if row["reason"] == _SUCCESS_ONLY:
            return "it is for success only"
        if arc is None or arc.when is None or not str(row["reason"]).endswith(" is false"):
            return str(row["reason"])
        return self._holds(row, arc, known, word="false")

    def _holds(self, row: Object, arc: Arc | None, known: Object, *, word: str) -> str:
        if arc is None or arc.when is None:
            return str(row["reason"])
        return f"{condition_text(arc.when)} is {word}{values_text(arc.when, known)}"

    def _others(self, event: e.NextEvaluated, taken: list[Object]) -> str:
        """The arcs that the log does not name: nobody looked at them, or they stood open too."""
        step = self.sources.step(event.step)
        if step is None or not taken:
            return ""
        told = {row["arc"] for row in event.arcs}
        left = [n for n in range(1, len(step.router.arcs) + 1) if n not in told]
        if not left:
            return ""
        open_ways = {number for number, _ in self._open(event)}
        if step.router.mode is RouteMode.PREFERRED:
            stood = [n for n in left if n in open_ways and event.reason in _AMONG_OPEN]
            left = [n for n in left if n not in stood]
            open_too = f"{self._named(stood)} was open too." if stood else ""
            rest = f" {self._named(left)} {_was(left)} not looked at." if left else ""
            return f"{open_too}{rest}".strip()
        return f"{self._named(left)} {_was(left)} not looked at."

    def _named(self, numbers: list[int]) -> str:
        word = self.sources.arc_word.capitalize()
        many = "" if len(numbers) == 1 else "s"
        return f"{word}{many} {listed([str(number) for number in numbers])}"

    def _without_arc(self, event: e.NextEvaluated) -> Iterator[str]:
        """Ways that no arc describes."""
        for token in event.tokens:
            via, to = token.get("via"), token["to"]
            if via == RouteReason.RETRY_TARGET:
                yield f"It goes to {to}, {self._target(event.step)}."
            elif via == RouteReason.FALLBACK:
                yield f"Nothing of its own takes the failure, so the fallback {to} does."
            elif via == RouteReason.GATE:
                yield f"It goes back to {to}, as the {self.sources.gate_word} asks."
            elif via is not None:
                yield f"It goes to {to} ({via})."

    def _target(self, step: str | None) -> str:
        word = "retry_target" if self.sources.is_graph else "failure.goto, or `to` of a retry"
        return f"where a failure of {step} goes ({word})"

    def _nowhere(self, event: e.NextEvaluated) -> str:
        word = self.sources.arc_word
        if event.reason == RouteReason.REPEATED:
            return "The same failure has come back too often (same_failures), so it goes nowhere."
        if event.event == "step.failed":
            return f"No {word} of {event.step} handles the failure, and nothing else takes it."
        if any("dropped" in row for row in event.arcs):
            return ""
        if not event.arcs:
            return f"There is no {word} to ask, so its token ends here."
        return f"No {word} holds, so its token ends here."


def _was(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"


def came_by(sources: Sources, event: e.NextEvaluated, token: Object) -> str:
    """How a token came about, for the visit it begins."""
    via = token.get("via")
    if via is not None:
        step = event.step
        ways = {
            RouteReason.RETRY_TARGET: f"A failure of {step} goes here",
            RouteReason.FALLBACK: f"It is the fallback, for nothing else takes {step}'s failure",
            RouteReason.GATE: "A gate that is not satisfied sent the run back here",
        }
        return ways.get(RouteReason(via), f"{step} sent the run here ({via})")
    numbers = [row["arc"] for row in event.arcs if row["verdict"] and row["to"] == token["to"]]
    number = f" {numbers[0]}" if len(numbers) == 1 else ""
    return f"{sources.arc_word.capitalize()}{number} of {event.step} leads here"
