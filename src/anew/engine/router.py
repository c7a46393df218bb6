"""Decide which arcs fire when a visit ends.

Knows the program and the run's state. Does not know time, stores or tools.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from anew.engine.events import BranchForked, NextEvaluated
from anew.engine.record import Recorder
from anew.engine.render import Rejected, excerpt, holds, value_of
from anew.engine.scope import Scope
from anew.engine.state import Key, StepResult
from anew.expressions import Words
from anew.program.program import Arc, RouteMode, Step
from anew.values import Object, Value

# Each boundary event answers to all of these in a condition; the first is its name.
EVENT_WORDS = {
    "step.done": Words("step.done", "call.done", "step.exit"),
    "step.failed": Words("step.failed", "call.error", "step.exit"),
    "loop.done": Words("loop.done", "step.exit"),
}


class Routing(Struct):
    """What the router saw and chose on one boundary event."""

    event: str
    verdicts: list[Object] = field(default_factory=list)
    chosen: list[Arc] = field(default_factory=list)
    tokens: list[Object] = field(default_factory=list)
    error: Object | None = None


def route(
    recorder: Recorder,
    key: Key,
    event: str,
    about: Mapping[str, Value],
    *,
    args: Object,
    fresh: Mapping[str, StepResult],
    must_count_failures: bool = False,
) -> Routing:
    """Evaluate the step's arcs on a boundary event. Writes nothing.

    With `must_count_failures` the choice is dropped unless an arc in it reads `event.failed`.
    """
    step = recorder.program.steps[key.step]
    seen = {"name": EVENT_WORDS[event], "step": key.step, "visit": key.visit, **about}
    routing = Routing(event)
    scope = Scope(recorder, step.dialect, args=args, extra={"event": seen}, fresh=fresh)
    try:
        _choose(step, scope, routing)
        if must_count_failures and not any(arc.counts_failures for arc in routing.chosen):
            _drop(routing)
        plain = {"event": {**seen, "name": event}}
        for arc in routing.chosen:
            token_args: Value = {}
            if arc.args is not None:
                scope = Scope(recorder, step.dialect, args=args, extra=plain, fresh=fresh)
                token_args = value_of(arc.args, scope, f"args of {arc.to}")
            routing.tokens.append({"to": arc.to, "args": token_args})
    except Rejected as rejected:
        routing.error = {**rejected.error, "during": event}
        routing.chosen, routing.tokens = [], []
    return routing


def write(recorder: Recorder, key: Key, routing: Routing, *, handled: bool = False) -> None:
    """Record what was chosen; its tokens now exist."""
    made = recorder.state.tokens_made
    tokens = [{"id": made + n, **token} for n, token in enumerate(routing.tokens, 1)]
    recorder.emit(
        NextEvaluated(
            step=key.step,
            visit=key.visit,
            event=routing.event,
            mode=recorder.program.steps[key.step].router.mode.value,
            arcs=routing.verdicts,
            tokens=tokens,
            handled=handled,
            error=routing.error,
            draws=recorder.taken_draws(),
        )
    )
    if len(tokens) > 1:
        ids = [token["id"] for token in tokens]
        recorder.emit(BranchForked(step=key.step, visit=key.visit, tokens=ids))


def _choose(step: Step, scope: Scope, routing: Routing) -> None:
    for number, arc in enumerate(step.router.arcs, 1):
        verdict, reason = _verdict(step, arc, scope, routing.event)
        routing.verdicts.append({"arc": number, "to": arc.to, "verdict": verdict, "reason": reason})
        if not verdict:
            continue
        routing.chosen.append(arc)
        if step.router.mode is RouteMode.EXCLUSIVE:
            return


def _drop(routing: Routing) -> None:
    """A loop's failures must be counted by somebody; otherwise its arcs are not taken."""
    for verdict in routing.verdicts:
        if verdict["verdict"]:
            verdict["dropped"] = "the loop has failures, and no chosen arc reads event.failed"
    routing.chosen = []


def _verdict(step: Step, arc: Arc, scope: Scope, event: str) -> tuple[bool, str]:
    if arc.when is None:
        if event == "step.failed":
            return False, "an arc without when answers success only"
        return True, "no condition"
    source = excerpt(str(arc.when.source))
    verdict = holds(arc.when, scope, f"when of the arc {step.name} -> {arc.to}")
    return verdict, f"{source} is {'true' if verdict else 'false'}"
