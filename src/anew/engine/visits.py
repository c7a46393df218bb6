"""How a visit ends, and where the run goes from there.

Arcs are asked first. A failure that none of them takes goes to the step's rescue, then to the
program's fallback; at an exit the gates are asked. Only what is written here starts new tokens.
"""

from __future__ import annotations

from anew.engine import compensating, gates, router
from anew.engine import events as e
from anew.engine.events.words import FailureEffect, RouteReason
from anew.engine.fold_visits import signature_of
from anew.engine.loops import close_loop, end_iteration
from anew.engine.next_actions import Ended
from anew.engine.outcome import error_of
from anew.engine.record import Recorder
from anew.engine.results import StepResult
from anew.engine.state import LoopVisit, StepRun, StepRunKey
from anew.program.policy import Verdict
from anew.values import Object


def end_step_run(recorder: Recorder, ended: Ended) -> None:
    key = ended.key
    if key.iteration is not None:
        visit = end_iteration(recorder, ended)
        if not visit.open:
            end_loop(recorder, StepRunKey(key.step, key.visit))
        return
    run = recorder.state.step_run(key)
    assert run is not None
    if run.compensates is not None:
        compensating.end(recorder, ended)
        return
    if ended.error is None:
        _finish_visit(recorder, run)
    elif ended.to is not None:
        routing = router.unrouted(recorder, key, "step.failed")
        router.send(recorder, key, routing, ended.to, RouteReason.RETRY_TARGET, error=ended.error)
        _emit_failed(recorder, key, ended.error, routing, is_handled=True)
        router.write(recorder, key, routing, handled=True)
    else:
        fail_visit(recorder, key, ended.error, args=run.args)


def _finish_visit(recorder: Recorder, run: StepRun) -> None:
    key = run.key
    fresh = {key.step: StepResult(key.visit, run.last, run.labels)}
    about = {"result": run.last}
    routing = router.route(recorder, key, "step.done", about, args=run.args, fresh=fresh)
    if routing.error is not None:
        _refuse_routing(recorder, key, routing)
        return
    _end_well(recorder, key, routing, verdict=run.summary.verdict)


def _end_well(
    recorder: Recorder,
    key: StepRunKey,
    routing: router.Routing,
    *,
    verdict: Verdict = Verdict.SUCCESS,
    handled: bool = False,
) -> None:
    """The visit is done; at an exit the gates are asked where the run goes."""
    step, rescued = recorder.program.steps[key.step], recorder.state.rescued
    if not routing.tokens and step.router.must_choose and step.router.arcs:
        message = f"step {key.step} ended {verdict} and none of its ways on fits"
        routing.drop_patches()
        _give_up_visit(recorder, key, error_of("no_route", message), routing, verdict=verdict)
        return
    if not routing.tokens and rescued is not None and rescued.step == key.step:
        # It did what there was to do about a failure, which is still one.
        routing.fails_run = not step.is_exit
        routing.error = rescued.error if routing.fails_run else None
    said = None if verdict is Verdict.SUCCESS else verdict
    recorder.emit(
        e.StepDone(
            step=key.step,
            visit=key.visit,
            verdict=said,
            relays=step.is_relay,
            gate=routing.gate,
            compensable=step.compensation is not None and step.loop is None,
        )
    )
    if step.is_exit and routing.branch is None and recorder.program.gates:
        target = gates.check(recorder, key)
        if target is not None:
            router.send(recorder, key, routing, target, RouteReason.GATE, error=None)
    router.write(recorder, key, routing, handled=handled)


def fail_visit(
    recorder: Recorder, key: StepRunKey, error: Object, *, args: Object, **about: int
) -> None:
    """End the visit failed. An arc whose `when` holds handles it; else the run will fail."""
    seen = {"error": error, **about}
    if _is_repeated(recorder, key, error):
        routing = router.unrouted(recorder, key, "step.failed")
        routing.reason = RouteReason.REPEATED
        error = {**error, "repeated": recorder.program.limits.same_failures}
        _give_up_visit(recorder, key, error, routing)
        return
    routing = router.route(recorder, key, "step.failed", seen, args=args, fresh={})
    if routing.error is not None:
        _refuse_routing(recorder, key, routing)
        return
    if not routing.tokens:
        _give_up_visit(recorder, key, error, routing)
        return
    _emit_failed(recorder, key, error, routing, is_handled=True)
    router.write(recorder, key, routing, handled=True)


def _is_repeated(recorder: Recorder, key: StepRunKey, error: Object) -> bool:
    """Whether a failure that trying again cannot help has come back once too often."""
    most = recorder.program.limits.same_failures
    owner = recorder.state.ctx_owner(recorder.state.active[key.step, key.visit].branch)
    step, known = key.step, owner.repeated.get(key.step)
    if most is None or known is None or error.get("retryable") is not False:
        return False
    if recorder.program.steps[step].is_relay:
        return False  # it only passes on what others failed with
    return known.times + 1 >= most and known.signature == signature_of(error)


def _give_up_visit(
    recorder: Recorder,
    key: StepRunKey,
    error: Object,
    routing: router.Routing,
    *,
    verdict: Verdict | None = None,
) -> None:
    """No arc takes the failure: the step's rescue, then the fallback, then nothing does."""
    is_final = routing.reason is RouteReason.REPEATED
    if error["kind"] == "no_route":
        is_final = recorder.program.steps[key.step].router.gives_up
    way = None if is_final else _way_out(recorder, key)
    if way is not None:
        said = verdict or Verdict.FAILURE
        router.send(recorder, key, routing, *way, error=error, verdict=said)
    else:
        origin = recorder.state.active[key.step, key.visit].origin
        if origin.via == RouteReason.FALLBACK and origin.outcome is not None:
            error = {**error, "cause": origin.outcome.get("error")}
    _emit_failed(recorder, key, error, routing, is_handled=way is not None, verdict=verdict)
    router.write(recorder, key, routing, handled=way is not None)


def _way_out(recorder: Recorder, key: StepRunKey) -> tuple[str, RouteReason] | None:
    program, step = recorder.program, recorder.program.steps[key.step]
    if step.rescue is not None:
        return step.rescue, RouteReason.RETRY_TARGET
    is_inside = recorder.state.active[key.step, key.visit].branch is not None
    if program.fallback is None or is_inside or program.fallback == key.step:
        return None
    return program.fallback, RouteReason.FALLBACK


def _refuse_routing(recorder: Recorder, key: StepRunKey, routing: router.Routing) -> None:
    """An arc that cannot be evaluated fails the step, and no arc can handle that."""
    assert routing.error is not None
    router.write(recorder, key, routing)
    _emit_failed(recorder, key, routing.error, routing, is_handled=False)


def _emit_failed(
    recorder: Recorder,
    key: StepRunKey,
    error: Object,
    routing: router.Routing,
    *,
    is_handled: bool,
    verdict: Verdict | None = None,
) -> None:
    mode = FailureEffect(recorder.program.steps[key.step].failure or recorder.program.failure)
    if recorder.state.active[key.step, key.visit].branch is not None:
        mode = FailureEffect.BRANCH
    recorder.emit(
        e.StepFailed(
            step=key.step,
            visit=key.visit,
            error=error,
            handled=is_handled,
            failure_mode=None if is_handled else mode,
            verdict=verdict,
            gate=routing.gate,
        )
    )


def end_loop(recorder: Recorder, key: StepRunKey) -> None:
    """Arcs are asked on `loop.done`; failures nobody counts fail the step (playbook.md#loop)."""
    visit = recorder.state.active[key.step, key.visit]
    assert isinstance(visit, LoopVisit)
    counts = close_loop(recorder, visit)
    about = {**counts, "result": visit.result}
    has_failures = visit.failed > 0
    routing = router.route(
        recorder,
        key,
        "loop.done",
        about,
        args=visit.args,
        fresh={},
        must_count_failures=has_failures,
    )
    if routing.error is not None:
        _refuse_routing(recorder, key, routing)
        return
    is_handled = has_failures and bool(routing.tokens)
    if not has_failures or is_handled:
        _end_well(recorder, key, routing, handled=is_handled)
        return
    router.write(recorder, key, routing)
    error = {**(visit.first_error or {}), "loop": counts}
    fail_visit(recorder, key, error, args=visit.args, **counts)
