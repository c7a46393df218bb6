"""Checkpoints: what was true of a run after each node, before each retry, and at its end.

A fold of the log, event by event. The context is the one the node worked with: its branch's where
it is in one. Lists that grow with the run are cut in the numbered checkpoints and whole in the
latest one. Nobody resumes from these: the log does that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.moments import moment_text
from anew.engine.state import RunState, key_of
from anew.program.policy import Verdict
from anew.program.program import Program
from anew.values import Object, patched
from anew.views.context import NodePassage, context_of
from anew.views.export.attempts import Attempts, verdict_word
from anew.views.export.changes import Change, Write, json_data
from anew.views.export.contexts import Contexts
from anew.views.export.names import NodeNames
from anew.views.log_lines import LogLines

# How many of the latest nodes, retries, gates and log lines a numbered checkpoint has. Whole lists
# in each would make an export of ten thousand nodes grow with their square.
CHECKPOINT_ENTRIES_MAX = 25

LATEST = "checkpoint.json"
_NUMBER_DIGITS = 3
_PENDING = "pending"
# Told of the node that was started last, which need not be the one of this branch.
_KEYS_OF_THE_RUN = ("_previous_node", "_node_start_time")
_NO_OUTCOME: Object = {"status": "ok", "verdict": None, "error": None, "result": None}

V = TypeVar("V")


class Checkpoints:
    """Keep this up with the log: `before` an event is folded, then `after`.

    `about` is what every checkpoint begins with.
    """

    def __init__(
        self, names: NodeNames, attempts: Attempts, *, about: Object, program: Program | None
    ) -> None:
        self.count = 0
        self._program = program
        self._passage = NodePassage()
        self._names, self._attempts = names, attempts
        self._contexts = Contexts()
        self._lines = LogLines(program)
        self._logs: deque[str] = deque(maxlen=CHECKPOINT_ENTRIES_MAX)
        steps = program.steps.values() if program is not None else ()
        self._goals = {step.name: _PENDING for step in steps if step.gate is not None}
        self._about = about
        self._history: list[tuple[str, str]] = []
        self._retries: dict[str, int] = {}
        self._branch: int | None = None
        # The newest checkpoint: it waits for the way that was chosen, then it is written.
        self._newest: Object = {}
        self._newest_context: Object = {}
        self._newest_retries: dict[str, int] = {}
        self._is_written = True

    def before(self, state: RunState, event: e.Event) -> None:
        """Look at what the event will end."""
        visit = state.active.get((event.step or "", event.visit or 0))
        self._branch = None if visit is None else visit.branch

    def after(self, state: RunState, event: e.Event) -> Iterator[Change]:
        """Note the event; write the checkpoint that is complete now, keep the one it makes."""
        if self._program is not None:
            self._passage.feed(self._program, event)
        if not self._is_written and not self._adds_edges(event):
            yield self._numbered()
        told = self._lines.line(event)
        if told is not None:
            self._logs.append(f"{moment_text(event.at)} {told}")
        match event:
            case e.GateChecked():
                self._goals |= event.goals
            case e.StepScheduled():
                self._entered(state, event)
            case e.TaskRetryScheduled():
                self._retrying(state, event)
            case e.StepDone():
                self._completed(state, event, event.verdict or Verdict.SUCCESS)
            case e.StepFailed():
                self._completed(state, event, Verdict.FAILURE, error=event.error)
            case e.RunDone() | e.RunFailed() | e.RunCancelled():
                self._ended(state, event)
            case e.NextEvaluated() if event.patches and not self._is_written:
                # What a step writes at its end belongs to the checkpoint of that end.
                self._branch = event.branch
                self._newest_context = self._seen(state, event, state.ctx_owner(event.branch).ctx)
            case _:
                pass

    def finish(self) -> Iterator[Change]:
        """Write what still waits, and the newest checkpoint with its whole context and lists."""
        if not self._is_written:
            yield self._numbered()
        if self.count:
            whole = {**self._newest, **self._lists(None), "context": self._newest_context}
            yield Write(LATEST, json_data(whole))

    def _entered(self, state: RunState, event: e.StepScheduled) -> None:
        """Retries are counted anew once a node has gone well and is come to again."""
        step = event.step or ""
        owner = state.ctx_owner(event.branch)
        if owner.verdicts.get(step) == Verdict.SUCCESS and step not in owner.unmet_gates:
            self._retries.pop(step, None)

    def _retrying(self, state: RunState, event: e.TaskRetryScheduled) -> None:
        assert event.step is not None
        self._retries.pop(event.step, None)  # so that the latest stands last
        self._retries[event.step] = event.count or event.attempt or 1
        retry = {
            "attempts": event.attempts,
            "delay_seconds": event.delay_seconds,
            "not_before": moment_text(event.not_before),
            "to": event.to,
        }
        outcome = self._attempts.outcome(event)
        self._keep(state, event, {"saved": "retrying", "outcome": outcome, "retry": retry})

    def _completed(
        self, state: RunState, event: e.Event, verdict: Verdict, *, error: Object | None = None
    ) -> None:
        assert event.step is not None
        if event.step in self._goals:
            self._goals[event.step] = verdict.value
        outcome = dict(self._attempts.outcome(event) or _NO_OUTCOME)
        if outcome["verdict"] != verdict:
            word = verdict_word(self._attempts.dialect, verdict)
            outcome |= {"verdict": verdict.value, "outcome": word}
        if error is not None:
            outcome |= {"status": "error", "error": error}
        self._history.append((event.step, outcome["outcome"]))
        self._keep(state, event, {"saved": "completed", "outcome": outcome})

    def _ended(self, state: RunState, event: e.RunDone | e.RunFailed | e.RunCancelled) -> None:
        error = event.error if isinstance(event, e.RunFailed) else None
        is_done = isinstance(event, e.RunDone)
        verdict = Verdict.SUCCESS if is_done else Verdict.FAILURE
        outcome = {
            "status": "ok" if is_done else "error",
            "verdict": verdict.value,
            "outcome": verdict_word(self._attempts.dialect, verdict),
            "error": error,
        }
        self._keep(state, event, {"saved": "ended", "outcome": outcome})

    def _keep(self, state: RunState, event: e.Event, what: Object) -> None:
        owner = state.ctx_owner(self._branch)
        self.count += 1
        node = event.step or (self._history[-1][0] if self._history else None)
        place = {
            "current_node": node,
            "visit": event.visit,
            "iteration": event.iteration,
            "attempt": event.attempt,
            "branch": None if self._branch is None else state.branches[self._branch].name,
        }
        self._newest_context = self._seen(state, event, owner.ctx)
        self._newest_retries = {**self._retries, **owner.retries}
        self._newest = {
            **self._about,
            "number": self.count,
            "timestamp": moment_text(event.at),
            "seq": event.seq,
            "run_status": state.status.value,
            **place,
            **what,
            "selected_edges": None,
            "fidelity_state": self._attempts.fidelity(event),
        }
        self._is_written = False

    def _seen(self, state: RunState, event: e.Event, ctx: Object) -> Object:
        """The context as the step-run sees it: a parallel iteration has written its own."""
        if event.iteration is not None:
            run = state.step_run(key_of(event))
            ctx = patched(ctx, run.own_ctx) if run is not None and run.own_ctx else ctx
        if self._branch is None:
            return context_of(self._program, self._passage, ctx)
        seen = context_of(self._program, replace(self._passage, node=event.step), ctx)
        return {key: value for key, value in seen.items() if key not in _KEYS_OF_THE_RUN}

    def _adds_edges(self, event: e.Event) -> bool:
        """Whether the event says how the run goes on from the newest checkpoint."""
        newest = self._newest
        if (event.step, event.visit) != (newest["current_node"], newest["visit"]):
            return False
        match event:
            case e.NextEvaluated():
                ways = [(token["to"], event.reason) for token in event.tokens]
            case e.GateChecked():
                ways = [] if event.to is None else [(event.to, RouteReason.GATE)]
            case _:
                return False
        edges = [{"from": event.step, "to": to, "reason": reason} for to, reason in ways]
        newest["selected_edges"] = edges or newest["selected_edges"] or []
        return True

    def _numbered(self) -> Change:
        node = self._newest["current_node"]
        name = "" if node is None else f"_{self._names.of(node)}"
        file = f"{self.count:0{_NUMBER_DIGITS}d}{name}.json"
        context = self._contexts.entry(self._newest_context, file)
        self._is_written = True
        told = {**self._newest, **self._lists(CHECKPOINT_ENTRIES_MAX), **context}
        return Write(f"checkpoints/{file}", json_data(told))

    def _lists(self, most: int | None) -> Object:
        """What grows with the run: the latest entries, and how much of the history is left out."""
        start = 0 if most is None else max(0, len(self._history) - most)
        history = self._history[start:]
        return {
            "node_history": history,
            "node_history_left_out": start,
            "completed_nodes": [node for node, _ in history],
            "node_retries": _latest_of(self._newest_retries, most),
            "goal_gate_status": _latest_of(self._goals, most),
            "logs": list(self._logs),
        }


def _latest_of(entries: dict[str, V], most: int | None) -> dict[str, V]:
    start = 0 if most is None else max(0, len(entries) - most)
    return dict(islice(entries.items(), start, None))
