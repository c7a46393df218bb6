"""Decide which arcs fire when a visit ends, and what the step and those arcs write.

Knows the program and the run's state. Does not know time, stores or tools.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from anew.engine.events import BranchForked, NextEvaluated
from anew.engine.events.words import RouteReason
from anew.engine.questions import same_label
from anew.engine.record import Recorder
from anew.engine.render import Rejected, excerpt, holds, patches_of, value_of
from anew.engine.results import StepResult
from anew.engine.scope import RunScope
from anew.engine.state import SUCCESS, LoopVisit, OutcomeSummary, StepRun, StepRunKey
from anew.expressions import Condition, WordAliases
from anew.program.policy import OutcomeStatus, Verdict
from anew.program.program import Arc, RouteMode, Router, Step
from anew.values import Object, Value

# Each boundary event answers to all of these in a condition; the first is its name.
EVENT_WORDS = {
    "step.done": WordAliases("step.done", "call.done", "step.exit"),
    "step.failed": WordAliases("step.failed", "call.error", "step.exit"),
    "loop.done": WordAliases("loop.done", "step.exit"),
}
_FAILED = "step.failed"
_NOTHING: Object = {}
_NO_COUNTER = "the loop has failures, and no chosen arc reads event.failed"
_SUCCESS_ONLY = "an arc without when answers success only"


class Routing(Struct):
    """What the router saw and chose on one boundary event; `chosen` has arcs with their numbers."""

    event: str
    branch: int | None = None
    verdicts: list[Object] = field(default_factory=list)
    chosen: list[tuple[int, Arc]] = field(default_factory=list)
    tokens: list[Object] = field(default_factory=list)
    reason: RouteReason | None = None
    error: Object | None = None
    fails_run: bool = False
    patches: Object = field(default_factory=dict)
    own: Object = field(default_factory=dict)  # what the step writes, whichever way is taken
    gate: bool | None = None  # whether the condition of a goal gate holds

    def drop_patches(self) -> None:
        """Of a visit that fails nothing stays."""
        self.patches, self.own = {}, {}

    def note(self, number: int, arc: Arc, reason: str, *, is_chosen: bool) -> None:
        """Record the verdict on one arc."""
        said = {"arc": number, "to": arc.to, "verdict": is_chosen, "reason": reason}
        self.verdicts.append(said)
        if is_chosen:
            self.chosen.append((number, arc))


def unrouted(recorder: Recorder, key: StepRunKey, event: str) -> Routing:
    """Nothing seen and nothing chosen yet; a condition that was not asked does not hold."""
    gate = recorder.program.steps[key.step].gate
    branch = recorder.state.active[key.step, key.visit].branch
    return Routing(event, branch, gate=None if gate is None or gate.when is None else False)


def route(
    recorder: Recorder,
    key: StepRunKey,
    event: str,
    about: Mapping[str, Value],
    *,
    args: Object,
    fresh: Mapping[str, StepResult],
    must_count_failures: bool = False,
) -> Routing:
    """Evaluate the step's `set` and arcs on a boundary event. Writes nothing.

    With `must_count_failures` the choice is dropped unless an arc in it reads `event.failed`.
    """
    step = recorder.program.steps[key.step]
    visit = recorder.state.active[key.step, key.visit]
    routing = Routing(event, visit.branch)
    goal = step.gate.when if step.gate is not None else None
    if not step.router.arcs and not step.patches and goal is None:
        return routing
    ending = _Ending(recorder, step, visit, event, about, args, fresh)
    try:
        if step.patches and not ending.has_failed:
            written = _of_step(ending, must_count_failures=must_count_failures)
            ending.written = routing.own = written
        if goal is not None:
            routing.gate = ending.asked(goal, f"the gate of {step.name}")
        _choose(ending, routing)
        if must_count_failures and not any(arc.counts_failures for _, arc in routing.chosen):
            _drop(routing)
        else:
            routing.patches = _with_arcs(ending, routing)
        written = routing.patches
        routing.tokens = [ending.token(number, arc, written) for number, arc in routing.chosen]
    except Rejected as rejected:
        routing.error = {**rejected.error, "during": event}
        routing.chosen, routing.tokens, routing.reason = [], [], None
        routing.drop_patches()
    return routing


def _of_step(ending: _Ending, *, must_count_failures: bool) -> Object:
    """What the step's `set` writes, if the visit turns out to be done."""
    step = ending.step
    try:
        return patches_of(step.patches, ending.scope(ending.event, error=ending.last_error))
    except Rejected:
        # A loop whose failures no arc counts fails with them, whatever its `set` says.
        if must_count_failures and not any(arc.counts_failures for arc in step.router.arcs):
            return {}
        raise


def _with_arcs(ending: _Ending, routing: Routing) -> Object:
    """What the step writes, then each chosen arc; no arc sees what another one writes."""
    written = ending.written
    chosen = [arc for _, arc in routing.chosen if arc.patches]
    if not chosen:
        return written
    scope = ending.scope(ending.event, written)
    for arc in chosen:
        written = patches_of((), scope, written, patches_of(arc.patches, scope))
    return written


class _Ending(Struct):
    """A visit that ends, and what its arcs may read of it."""

    recorder: Recorder
    step: Step
    visit: StepRun | LoopVisit
    event: str
    about: Mapping[str, Value]
    args: Object
    fresh: Mapping[str, StepResult]
    written: Object = field(default_factory=dict)  # by the step's `set`

    @property
    def has_failed(self) -> bool:
        return self.event == _FAILED

    @property
    def summary(self) -> OutcomeSummary:
        return self.visit.summary if isinstance(self.visit, StepRun) else SUCCESS

    @property
    def last_error(self) -> Object | None:
        """Of the last outcome, even where the author lets it count as a success."""
        return self.visit.error if isinstance(self.visit, StepRun) else None

    def holds(self, condition: Condition, arc: Arc) -> bool:
        return self.asked(condition, f"when of the arc {self.step.name} -> {arc.to}")

    def asked(self, condition: Condition, what: str) -> bool:
        return holds(condition, self.scope(EVENT_WORDS[self.event], self.written), what)

    def is_spent(self, number: int, arc: Arc) -> bool:
        """Whether the run has taken the arc as often as it may."""
        if arc.most is None:
            return False
        return self.recorder.state.arcs_taken.get(f"{self.step.name}:{number}", 0) >= arc.most

    def token(self, number: int, arc: Arc, written: Object) -> Object:
        token: Object = {"to": arc.to, "args": {}}
        if arc.args is not None:
            scope = self.scope(self.event, written)
            token["args"] = value_of(arc.args, scope, f"args of {arc.to}")
        if self.visit.branch is not None:
            token["branch"] = self.visit.branch
        if arc.most is not None:
            token["arc"] = number
        if self.has_failed or self.summary != SUCCESS or self._leads_to_relay(arc):
            token["outcome"] = self._outcome()
        return token

    def _leads_to_relay(self, arc: Arc) -> bool:
        """A relay passes on what it is told; others take a plain success for granted."""
        return self.recorder.program.steps[arc.to].is_relay

    def scope(
        self, name: str | WordAliases, written: Object = _NOTHING, error: Object | None = None
    ) -> RunScope:
        """What may be read here once this is written; `error` is what `output` answers with.

        `event.name` answers to all its words in conditions, and is the first elsewhere.
        """
        key, visit = self.visit.key, self.visit
        seen = {"name": name, "step": key.step, "visit": key.visit, "outcome": self._outcome()}
        result = visit.last if isinstance(visit, StepRun) else visit.result
        failure = self.about.get("error")
        scope = RunScope(
            self.recorder,
            self.step.dialect,
            visit=visit,
            args=self.args,
            extra={"event": {**seen, **self.about}, "output": result},
            fresh=self.fresh,
            beside=self._beside(result, error or failure),
            lowest={"result": result, "response": result, "error": failure},
        )
        return scope.patched(written) if written else scope

    def _beside(self, result: Value, error: Value) -> Object:
        """What `output` has beside the keys of the result."""
        helpers = (self.visit.helpers or _NOTHING) if isinstance(self.visit, StepRun) else _NOTHING
        status = OutcomeStatus.ERROR if self.has_failed or error else OutcomeStatus.OK
        return {**helpers, "status": status.value, "error": error, "data": result}

    def _outcome(self) -> Object:
        said, error = self.summary, self.about.get("error")
        if error is None and isinstance(self.visit, StepRun):
            error = self.visit.error  # of a failure that its author lets count as something else
        return _outcome(said, Verdict.FAILURE if self.has_failed else said.verdict, error)


def send(
    recorder: Recorder,
    key: StepRunKey,
    routing: Routing,
    to: str,
    via: RouteReason,
    *,
    error: Object | None,
    verdict: Verdict = Verdict.FAILURE,
) -> None:
    """Choose a way that no arc describes. Writes nothing.

    `error` is why; the step's own `verdict` may be a good one all the same.
    """
    token: Object = {"to": to, "args": {}, "via": via.value}
    visit = recorder.state.active.get((key.step, key.visit))
    if routing.branch is not None:
        token["branch"] = routing.branch
    if error is not None:
        said = visit.summary if isinstance(visit, StepRun) else SUCCESS
        token["outcome"] = _outcome(said, verdict, error)
    # No chosen arc is taken, so none of them writes.
    routing.tokens, routing.reason, routing.patches = [token], via, routing.own


def _outcome(said: OutcomeSummary, verdict: Verdict, error: Value) -> Object:
    """How a visit went, as its arcs and the next step see it."""
    return {
        "verdict": verdict.value,
        "word": said.word,
        "label": said.label,
        "suggested": list(said.suggested),
        "error": error,
    }


def write(recorder: Recorder, key: StepRunKey, routing: Routing, *, handled: bool = False) -> None:
    """Record what was chosen; its tokens now exist."""
    made = recorder.state.tokens_made
    router = recorder.program.steps[key.step].router
    tokens = [{"id": made + n, **token} for n, token in enumerate(routing.tokens, 1)]
    is_fork = routing.reason is RouteReason.FORK
    if is_fork:
        first = recorder.state.branches_made + 1
        tokens = [{**token, "branch": first + n} for n, token in enumerate(tokens)]
    recorder.emit(
        NextEvaluated(
            step=key.step,
            visit=key.visit,
            event=routing.event,
            mode=router.mode,
            arcs=routing.verdicts,
            tokens=tokens,
            handled=handled,
            reason=routing.reason,
            fails_run=routing.fails_run,
            branch=routing.branch,
            error=routing.error,
            patches=routing.patches,
            draws=recorder.taken_draws(),
        )
    )
    if is_fork:
        _fork(recorder, key, router, tokens, routing.branch)
    elif len(tokens) > 1:
        ids = [token["id"] for token in tokens]
        recorder.emit(BranchForked(step=key.step, visit=key.visit, tokens=ids))


def _fork(
    recorder: Recorder, key: StepRunKey, router: Router, tokens: list[Object], parent: int | None
) -> None:
    branches: list[Object] = []
    for token in tokens:
        # Two ways to one step are two branches.
        again = sum(before["to"] == token["to"] for before in tokens[: len(branches)])
        name = f"{token['to']}#{again + 1}" if again else token["to"]
        branches.append({"id": token["branch"], "name": name})
    recorder.emit(
        BranchForked(
            step=key.step,
            visit=key.visit,
            tokens=[token["id"] for token in tokens],
            fork=recorder.state.branch_groups_made + 1,
            join=router.join,
            parent=parent,
            width=router.width,
            branches=branches,
        )
    )


def _choose(ending: _Ending, routing: Routing) -> None:
    mode = ending.step.router.mode
    if mode is RouteMode.PREFERRED:
        _choose_preferred(ending, routing)
        return
    if mode is RouteMode.FORK and not ending.has_failed:
        routing.reason = RouteReason.FORK
        for number, arc in enumerate(ending.step.router.arcs, 1):
            routing.note(number, arc, "a branch of the fork", is_chosen=True)
        return
    for number, arc in enumerate(ending.step.router.arcs, 1):
        verdict, reason = _verdict(ending, number, arc)
        routing.note(number, arc, reason, is_chosen=verdict)
        if verdict and mode is not RouteMode.INCLUSIVE:
            return


def _verdict(ending: _Ending, number: int, arc: Arc) -> tuple[bool, str]:
    if ending.is_spent(number, arc):
        return False, f"taken {arc.most} times, its limit"
    if arc.when is None:
        if ending.has_failed and not arc.answers_failure:
            return False, _SUCCESS_ONLY
        return True, "no condition"
    source = excerpt(str(arc.when.source))
    verdict = ending.holds(arc.when, arc)
    return verdict, f"{source} is {'true' if verdict else 'false'}"


def _choose_preferred(ending: _Ending, routing: Routing) -> None:
    """One arc: by its condition, by the outcome's label, by its suggestions, else by rank.

    Of a failed visit only arcs with a condition, and those that answer failures, are looked at.
    """
    open_ways: list[tuple[int, Arc]] = []
    for number, arc in ending.step.router.ranked:
        verdict, reason = _verdict(ending, number, arc)
        if verdict and arc.when is None:
            open_ways.append((number, arc))
            continue
        routing.note(number, arc, reason, is_chosen=verdict)
        if verdict:
            routing.reason = RouteReason.FAIL_EDGE if ending.has_failed else RouteReason.CONDITION
            return
    if open_ways:
        number, arc, routing.reason = _preferred(open_ways, ending.summary)
        routing.note(number, arc, f"chosen by {routing.reason.value}", is_chosen=True)


def _preferred(ways: list[tuple[int, Arc]], said: OutcomeSummary) -> tuple[int, Arc, RouteReason]:
    if said.label is not None:
        labelled = [(number, arc) for number, arc in ways if arc.label is not None]
        # What was chosen word for word comes before what only means the same.
        exact = [way for way in labelled if way[1].label == said.label]
        for number, arc in exact or labelled:
            if same_label(arc.label or "", said.label):
                return number, arc, RouteReason.LABEL
    for name in said.suggested:
        for number, arc in ways:
            if arc.to == name:
                return number, arc, RouteReason.SUGGESTED
    number, first = ways[0]
    is_tied = len(ways) > 1 and ways[1][1].weight == first.weight
    return number, first, RouteReason.LEXICAL if is_tied else RouteReason.WEIGHT


def _drop(routing: Routing) -> None:
    """A loop's failures must be counted by somebody; otherwise its arcs are not taken."""
    for verdict in routing.verdicts:
        if verdict["verdict"]:
            verdict["dropped"] = _NO_COUNTER
    routing.chosen = []
    routing.drop_patches()
    if routing.reason is RouteReason.FORK:
        routing.reason = None
