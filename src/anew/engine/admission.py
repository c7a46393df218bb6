"""Ask a step's gate whether tokens may enter."""

from __future__ import annotations

from anew.engine.events import GateChecked
from anew.engine.record import Recorder
from anew.engine.render import Rejected, holds
from anew.engine.scope import RunScope
from anew.engine.state import Token
from anew.program.program import Step
from anew.values import Object


def admits(recorder: Recorder, step: Step, tokens: list[Token], args: Object) -> bool:
    """First matching rule wins; no rule matches: let in. An expression that raises fails the run.

    A step without a gate writes nothing.
    """
    if not step.admit:
        return True
    scope = RunScope(recorder, step.dialect, args=args, branch=tokens[0].branch)
    verdict = GateChecked(step=step.name, tokens=[t.id for t in tokens], allow=True)
    try:
        for number, rule in enumerate(step.admit, 1):
            if holds(rule.when, scope, f"admission rule {number} of {step.name}"):
                verdict.allow, verdict.rule = rule.allow, number
                break
    except Rejected as rejected:
        verdict.allow, verdict.rule, verdict.error = False, number, rejected.error
    verdict.draws = recorder.taken_draws()
    recorder.emit(verdict)
    return verdict.allow
