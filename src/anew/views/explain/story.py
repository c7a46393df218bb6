"""Follow a log event by event and write a paragraph for everything that needs a reason.

Keeps what a later sentence has to know: how each token came about, which retry was decided, what
ctx held. The state itself is the engine's own fold.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from anew.engine import events as e
from anew.engine.events.runs import RunEvent
from anew.engine.fold import ENTRY_TOKEN, evolve
from anew.engine.state import RunState
from anew.program.program import LoopMode
from anew.program.span import Span
from anew.values import Object, patched, path_text
from anew.views.explain.attempts import AttemptStory
from anew.views.explain.errors import whole_error
from anew.views.explain.gates import GateWords
from anew.views.explain.loops import LoopStory
from anew.views.explain.paragraph import About, Paragraph, paragraph_for, sentence_of
from anew.views.explain.run_words import run_sentences
from anew.views.explain.sources import Sources, where
from anew.views.explain.ways import WayWords, came_by
from anew.views.routing_words import is_exit_check
from anew.views.wording import counted, lesser_verdict, one_line, place_text

Visit: TypeAlias = tuple[str | None, int | None]


class Story:
    """Feed it every event of a log, in order; then `close` it and read what it has told.

    A loop is told in a block: its opening, then one iteration after another, however they ran.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.state = RunState()
        self.paragraphs: list[Paragraph] = []
        self.blocks: list[list[Paragraph]] = []
        self.loops: dict[Visit, LoopStory] = {}
        self.refusals: dict[str, list[str]] = {}  # by step, why it was not gone to
        self._attempts = AttemptStory(self)
        self._ways, self._gates = WayWords(sources), GateWords(sources)
        self._came: dict[int, str] = {ENTRY_TOKEN: "It is where the run starts"}
        self._entered: dict[Visit, Paragraph] = {}  # not told yet: the first attempt does
        self._ends: dict[Visit, Paragraph] = {}
        self._gate_events: dict[str | None, Paragraph] = {}
        self._counts: dict[Visit, Object] = {}  # how the iterations of a loop ended
        self._run: Paragraph | None = None
        self._errors: dict[Visit, Object] = {}
        self._failures: dict[str | None, str] = {}  # by step, why nothing took its last failure

    def feed(self, event: e.Event) -> None:
        """Tell of an event, as the run stood just before it."""
        self._add(event)
        evolve(self.state, event)

    def close(self) -> None:
        """Bring out what no later event has told."""
        self._attempts.close()
        self.blocks += [list(loop.paragraphs()) for loop in self.loops.values()]
        self.loops.clear()
        self.paragraphs += self._entered.values()
        self._entered.clear()
        for end in self._ends.values():
            end.add_sentence(
                "" if end.sentences else "Where the run goes from here is not decided yet."
            )

    # --- events ----------------------------------------------------------------------------------

    def _add(self, event: e.Event) -> None:
        match event:
            case (
                e.TaskStarted()
                | e.TaskProcessed()
                | e.TaskRetryScheduled()
                | e.TaskRetryExhausted()
                | e.StepRedelivered()
                | e.HumanWaiting()
                | e.HumanAnswered()
                | e.HumanTimedOut()
                | e.SignalWaiting()
                | e.SignalTimedOut()
                | e.WaitSkipped()
                | e.TaskHeld()
            ):
                self._attempts.feed(event)
            case e.SignalReceived():
                self._signal(event)
            case (
                e.RunRequested()
                | e.RunStarted()
                | e.RunPaused()
                | e.RunResumed()
                | e.RunCompensating()
                | e.RunDone()
                | e.RunFailed()
                | e.RunCancelled()
            ):
                self._add_run(event)
            case e.LoopStarted() | e.LoopIterationDone() | e.LoopIterationFailed() | e.LoopDone():
                self._add_loop(event)
            case e.StepScheduled() | e.StepStarted() | e.BranchJoined():
                self._add_entry(event)
            case e.StepDone() | e.StepFailed() | e.NextEvaluated() | e.BranchForked():
                self._add_end(event)
            case e.GateChecked():
                self._gate(event)
            case e.StepRefused() | e.StepSkipped():
                self._dropped(event)
            case _:
                assert_never(event)

    # --- the run ---------------------------------------------------------------------------------

    def _add_run(self, event: RunEvent) -> None:
        untaken = next(reversed(self._failures.values()), "")
        if not isinstance(event, e.RunStarted) or self._run is None:
            self._run = paragraph_for(About.RUN, "the run", event)
            self.paragraphs.append(self._run)
        self._run.add(event, *run_sentences(event, untaken=untaken))
        if isinstance(event, e.RunPaused) and event.shared_with is not None:
            self._attempts.resume_later(event.later_by or 0)

    # --- visits ----------------------------------------------------------------------------------

    def _add_entry(self, event: e.StepScheduled | e.StepStarted | e.BranchJoined) -> None:
        visit: Visit = (event.step, event.visit)
        entry = self._entered.get(visit)
        if entry is None:
            entry = paragraph_for(About.ATTEMPT, place_text(event), event)
            self._entered[visit] = entry
        match event:
            case e.StepScheduled():
                entry.add(event, self._why_entered(event))
            case e.BranchJoined():
                entry.add(event, self._gates.joined(event))
            case e.StepStarted():
                entry.add(event)

    def _why_entered(self, event: e.StepScheduled) -> str:
        ways = [self._came.pop(token, "") for token in event.tokens]
        told = list(dict.fromkeys(way for way in ways if way))
        return f"{'; '.join(told)}." if told else ""

    def entry_of(self, event: e.Event) -> Paragraph | None:
        """How the visit of an event began, if that was not told yet."""
        return self._entered.pop((event.step, event.visit), None)

    def _add_end(self, event: e.StepDone | e.StepFailed | e.NextEvaluated | e.BranchForked) -> None:
        self._attempts.settle(event)
        visit: Visit = (event.step, event.visit)
        end = self._ends.get(visit)
        if end is None:
            end = paragraph_for(About.ROUTE, f"after {event.step}", event)
            self._ends[visit] = end
            self.paragraphs.append(end)
        match event:
            case e.StepDone():
                verdict = lesser_verdict(event)
                end.add(event, f"{event.step} counts as {verdict}." if verdict else "")
            case e.StepFailed():
                self._errors[visit] = event.error
                told = end.says(whole_error(event.error))
                end.add(event, self._ways.failed(event, is_told=told))
            case e.NextEvaluated():
                self._routed(event, end)
            case e.BranchForked():
                end.add(event, self._gates.forked(event))

    def _routed(self, event: e.NextEvaluated, end: Paragraph) -> None:
        known = self.known(event)
        sentences = list(self._ways.sentences(event, known))
        end.add(event, *sentences)
        self._came |= {t["id"]: came_by(self.sources, event, t) for t in event.tokens}
        end.span = self._place_of(event)
        for to, why in self._ways.refusals(event, known):
            self.refusals.setdefault(to, []).append(f"After {event.step}: {why}")
        if event.event == "step.failed" and not event.tokens:
            self._failures[event.step] = " ".join(sentence for sentence in sentences if sentence)

    def _place_of(self, event: e.NextEvaluated) -> Span | None:
        taken = next((row["arc"] for row in event.arcs if row["verdict"]), None)
        arc = self.sources.arc(event.step, taken) if taken is not None else None
        return arc.span if arc is not None else None

    # --- gates -----------------------------------------------------------------------------------

    def _gate(self, event: e.GateChecked) -> None:
        if is_exit_check(event):
            told = paragraph_for(About.GATE, f"the end at {event.step}", event)
            told.add(event, *self._gates.exit_check(event))
            self.paragraphs.append(told)
            return
        sentence = self._gates.admission(event, self.known(event))
        known = self._gate_events.get(event.step)
        if known is not None and known.sentences[0] == sentence:
            known.add(event)  # asked again, with the same answer
            return
        told = paragraph_for(About.GATE, f"the gate of {event.step}", event)
        told.add(event, sentence)
        rule = self.sources.admission(event.step, event.rule)
        told.span = rule.span if rule is not None else None
        self._gate_events[event.step] = told
        self.paragraphs.append(told)

    def _dropped(self, event: e.StepRefused | e.StepSkipped) -> None:
        told = paragraph_for(About.TOKEN, place_text(event), event)
        told.add(event, sentence_of(event))
        self.paragraphs.append(told)

    def _signal(self, event: e.SignalReceived) -> None:
        if event.step is not None:
            self._attempts.feed(event)
            return
        told = paragraph_for(About.SIGNAL, f"the signal {one_line(event.signal)}", event)
        told.add(event, sentence_of(event))
        self.paragraphs.append(told)

    # --- loops -----------------------------------------------------------------------------------

    def _add_loop(
        self, event: e.LoopStarted | e.LoopIterationDone | e.LoopIterationFailed | e.LoopDone
    ) -> None:
        visit: Visit = (event.step, event.visit)
        match event:
            case e.LoopStarted():
                self.loops[visit] = LoopStory(self._loop_opening(event), len(event.items))
            case e.LoopIterationDone() | e.LoopIterationFailed():
                self._iteration_ended(event)
            case e.LoopDone():
                loop = self.loops.pop(visit, None)
                if loop is None:
                    return
                counts = {"total": event.total, "done": event.done, "failed": event.failed}
                self._counts[visit] = counts
                ended = f"{event.done:,} of {counted(event.total, 'item')} succeeded"
                loop.opening.add(event, f"{ended}, {event.failed:,} failed.")
                self.blocks.append(list(loop.paragraphs()))

    def _loop_opening(self, event: e.LoopStarted) -> Paragraph:
        opening = paragraph_for(About.LOOP, f"{event.step}, its loop", event)
        entry = self.entry_of(event)
        if entry is not None:
            opening.sentences, opening.events = entry.sentences, entry.events
        step = self.sources.step(event.step)
        place = step.loop.span if step is not None and step.loop is not None else None
        opening.span = place
        width = (
            f"{event.max_in_flight} at a time" if event.mode is LoopMode.PARALLEL else "one by one"
        )
        items = f"It goes through {counted(len(event.items), 'item')}{where(place)}, {width}."
        opening.add(event, items)
        return opening

    def _iteration_ended(self, event: e.LoopIterationDone | e.LoopIterationFailed) -> None:
        self._attempts.settle(event)
        loop = self.loops.get((event.step, event.visit))
        if loop is None:
            return
        iteration = loop.iteration(event.iteration or 0)
        iteration.has_ended = True
        last = iteration.paragraphs[-1] if iteration.paragraphs else None
        if last is None:
            last = paragraph_for(About.ATTEMPT, place_text(event), event)
            iteration.paragraphs.append(last)
        if isinstance(event, e.LoopIterationFailed):
            iteration.is_odd = iteration.has_failed = True
            error = whole_error(event.error)
            last.add(event, "" if last.says(error) else f"The iteration failed: {error}.")
        else:
            last.add(event)

    # --- for the attempts ------------------------------------------------------------------------

    def add(self, paragraph: Paragraph, *, is_odd: bool = False) -> None:
        """A paragraph of a step-run; that of an iteration is kept with its loop."""
        loop = self.loops.get((paragraph.step, paragraph.visit))
        if paragraph.iteration is None or loop is None:
            self.paragraphs.append(paragraph)
            return
        iteration = loop.iteration(paragraph.iteration)
        iteration.paragraphs.append(paragraph)
        iteration.is_odd = iteration.is_odd or is_odd

    def mark_odd(self, event: e.Event) -> None:
        loop = self.loops.get((event.step, event.visit))
        if loop is not None and event.iteration is not None:
            loop.iteration(event.iteration).is_odd = True

    def known(self, event: e.Event) -> Object:
        """What a condition could read at this event, as far as the log tells."""
        found: Object = {"workload": self.state.workload, "ctx": self.state.ctx}
        if isinstance(event, e.NextEvaluated):
            found["ctx"] = patched(self.state.ctx, self._set_before(event))
            visit: Visit = (event.step, event.visit)
            found["event"] = {"name": event.event, "step": event.step, "visit": event.visit}
            found["event"] |= self._counts.get(visit, {})
            if event.event == "step.failed" and visit in self._errors:
                found["event"]["error"] = self._errors[visit]
        return found

    def _set_before(self, event: e.NextEvaluated) -> Object:
        """What the step's own `set` wrote; what a chosen arc writes, no condition has read."""
        step = self.sources.step(event.step) if event.patches else None
        if step is None:
            return {}
        by_arcs = {patch.path for arc in step.router.arcs for patch in arc.patches}
        own = {path_text(p.path) for p in step.patches if p.path not in by_arcs}
        return {path: value for path, value in event.patches["ctx"].items() if path in own}

    def shared_executions(self, event: e.Event) -> int | None:
        """The step's retries and this execution, as the engine counts them; None with no retry."""
        run = self.state.active.get((event.step or "", event.visit or 0))
        retries = self.state.ctx_owner(run.branch).retries if run is not None else {}
        return retries[event.step] + 1 if event.step in retries else None
