"""Say what happened to a run as a whole: it was asked for, paused, cancelled, it ended."""

from __future__ import annotations

from typing import assert_never

from anew.engine import events as e
from anew.engine.events.runs import RunEvent
from anew.views.explain.errors import whole_error
from anew.views.explain.paragraph import as_sentence, sentence_of
from anew.views.explain.values import writes_sentence
from anew.views.wording import counted, one_line, writes_of


def run_sentences(event: RunEvent, *, untaken: str = "") -> tuple[str, ...]:
    """The sentences of an event; `untaken` says why nobody took the failure a run ends with."""
    match event:
        case e.RunRequested():
            after = f"It continues in place of run {event.continues}." if event.continues else ""
            return f"Run {event.run} of {event.program} was asked for.", after
        case e.RunStarted():
            wrong = as_sentence(whole_error(event.error)) if event.error is not None else ""
            told = writes_sentence("The document's `ctx`", writes_of({"ctx": event.ctx}))
            return f"It starts at {event.entry}.", told, wrong
        case e.RunPaused() if event.shared_with is not None:
            shared = f"Up to here its log is that of run {event.shared_with}."
            other = "Another program or input decided it." if event.decided_by else ""
            return shared, other, as_sentence(one_line(event.reason or ""))
        case e.RunPaused():
            return sentence_of(event), "Nothing new starts."
        case e.RunResumed() | e.RunCancelled():
            return (sentence_of(event),)
        case e.RunCompensating():
            ends = "It was cancelled" if event.is_cancelled else "It will fail"
            why = "" if event.error is None else f": {whole_error(event.error)}"
            what = counted(event.count, "step-run")
            begin = f"First, what {what} did is undone, in reverse order."
            return f"{ends}{why}.", begin, untaken
        case e.RunDone():
            return ("It is done: no token is left, and every failure was handled.",)
        case e.RunFailed():
            gates = f"Not satisfied: {', '.join(event.unsatisfied)}." if event.unsatisfied else ""
            return f"It failed: {whole_error(event.error)}.", untaken, gates
        case _:
            assert_never(event)
