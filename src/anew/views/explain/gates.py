"""Say who was let into a step, whether a run may end at an exit, and how branches part and meet."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.engine import events as e
from anew.engine.gates import PENDING
from anew.values import Object
from anew.views.explain.errors import whole_error
from anew.views.explain.sources import Sources, condition_text, where
from anew.views.explain.values import values_text
from anew.views.routing_words import forked_text, is_past_limit, joined_text, listed
from anew.views.wording import counted


class GateWords(Struct, frozen=True):
    sources: Sources

    # --- admission -------------------------------------------------------------------------------

    def admission(self, event: e.GateChecked, known: Object) -> str:
        """Why tokens were let into a step, or not."""
        name, who = event.step, _tokens(len(event.tokens))
        if event.error is not None and is_past_limit(event):
            return f"{name} was not started: {whole_error(event.error)}."
        if event.error is not None:
            return f"The admission rules of {name} could not be asked: {whole_error(event.error)}."
        verdict = "let in" if event.allow else "not let in"
        if event.rule is None:
            return f"{who} {_was(event)} {verdict}: no admission rule of {name} matches."
        rule = self.sources.admission(event.step, event.rule)
        if rule is None:
            return f"{who} {_was(event)} {verdict}: admission rule {event.rule} of {name} says so."
        start = f"{who} {_was(event)} {verdict}: admission rule {event.rule} of {name}"
        if rule.when is None:
            return f"{start}{where(rule.span)} takes every other case."
        values = values_text(rule.when, known)
        return f"{start}{where(rule.span)} holds: {condition_text(rule.when)}{values}."

    # --- the end of a run ------------------------------------------------------------------------

    def exit_check(self, event: e.GateChecked) -> Iterator[str]:
        """What an exit heard from the gates, and what follows from it."""
        word = self.sources.gate_word
        if not event.goals:
            yield f"{event.step} is an exit, and there is no {word}: the run may end."
            return
        for name, verdict in event.goals.items():
            yield self._goal(name, verdict, is_met=name not in event.unsatisfied)
        if event.allow:
            yield "So the run may end."
        elif event.to is not None:
            yield self._redirect(event)
        else:
            spent = (
                whole_error(event.error) if event.error is not None else "nothing is left to try"
            )
            yield f"So the run cannot succeed: {spent}."

    def _goal(self, name: str, verdict: str, *, is_met: bool) -> str:
        step = self.sources.step(name)
        gate = step.gate if step is not None else None
        place = where(gate.span) if gate is not None else ""
        stands = "was never visited" if verdict == PENDING else f"is {verdict}"
        accepts = listed([one.value for one in gate.accepts]) if gate is not None else ""
        asks = f", and it accepts {accepts}" if accepts and not is_met else ""
        if gate is not None and gate.when is not None and not is_met:
            asks += f" where {condition_text(gate.when)} holds"
        met = "is satisfied" if is_met else "is not satisfied"
        return f"The {self.sources.gate_word} {name}{place} {met}: it {stands}{asks}."

    def _redirect(self, event: e.GateChecked) -> str:
        step = self.sources.step(event.gate)
        gate = step.gate if step is not None else None
        used = event.count or event.redirects or 1
        of = f" of {gate.most}" if gate is not None and gate.most else ""
        return f"So {event.gate} sends the run back to {event.to}, time {used}{of}."

    # --- branches --------------------------------------------------------------------------------

    def forked(self, event: e.BranchForked) -> str:
        if event.fork is None:
            return f"{counted(len(event.tokens), 'token')} continue side by side."
        return f"Its branches are {forked_text(event)}."

    def joined(self, event: e.BranchJoined) -> str:
        if event.fork is None:
            return f"{counted(len(event.tokens), 'token')} met here, and no other can still come."
        return f"The branches of split {event.fork} have met: {joined_text(event)}."


def _tokens(many: int) -> str:
    return "Its token" if many == 1 else f"Its {many} tokens"


def _was(event: e.GateChecked) -> str:
    return "was" if len(event.tokens) == 1 else "were"
