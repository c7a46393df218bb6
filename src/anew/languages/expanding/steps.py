"""Write one step with everything it does: tasks, admission, loop, join, failure and router."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from anew.expressions import Template
from anew.languages.expanding.annotations import Annotations, default_of
from anew.languages.expanding.older_policies import OLDER, write_older
from anew.languages.expanding.origins import Origins
from anew.languages.expanding.policies import PolicyWriter
from anew.languages.playbook.loops import MAX_IN_FLIGHT_DEFAULT
from anew.languages.playbook.patches import key_of
from anew.languages.yaml_writer import Path
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import Patch
from anew.program.program import (
    AdmitRule,
    Arc,
    Gate,
    Gather,
    Join,
    JoinPolicy,
    Loop,
    LoopMode,
    Program,
    RouteMode,
    Router,
    Step,
    Task,
)
from anew.values import Object, Value

# Words that say how a task is labelled, so that a label cannot be one of them.
_LABEL_WORDS = frozenset({"kind", "name", "tool"})


class StepWriter(Struct, frozen=True):
    program: Program
    origins: Origins
    notes: Annotations

    def step(self, step: Step, path: Path) -> Object:
        origin = self.origins.step(step.name)
        is_entry = step.name == self.program.entry
        word = "the entry step" if is_entry else ""
        self.notes.place(path, origin.span if origin else None, word, on="step")
        found: Object = {"step": step.name}
        if step.loop is not None:
            found["loop"] = self._loop(step, step.loop, (*path, "loop"))
        found["tool"] = self._tool(step, (*path, "tool"))
        undo = self.program.steps.get(step.compensation or "")
        if undo is not None:
            found["compensate"] = self._tool(undo, (*path, "compensate"))
            self.notes.remark((*path, "compensate"), "should the run fail or be cancelled")
        found["spec"] = self._spec(step, (*path, "spec"))
        if step.patches:
            found["set"] = _set(step.patches)
            self.notes.remark((*path, "set"), "written when a visit ends done")
        found["next"] = self._next(step, (*path, "next"))
        return found

    # --- tasks -----------------------------------------------------------------------------------

    def _tool(self, step: Step, path: Path) -> Value:
        """A lone task that has the name of its step needs no label."""
        if [task.label for task in step.tasks] == [step.name]:
            return self.task(step.tasks[0], path, step=step.name)
        return [self._labelled(task, (*path, n), step.name) for n, task in enumerate(step.tasks)]

    def _labelled(self, task: Task, path: Path, step: str) -> Object:
        if task.label in _LABEL_WORDS:
            return {"name": task.label, **self.task(task, path, step=step)}
        return {task.label: self.task(task, (*path, task.label), step=step)}

    def task(self, task: Task, path: Path, *, step: str) -> Object:
        """A task of a step, or of the workbook when the step is empty."""
        origin = self.origins.task(step, task.label)
        self.notes.place(path, origin.span if origin else None, on="kind")
        source = task.inputs.source
        inputs: Object = source if isinstance(source, dict) else {}
        spec: Object = {}
        timeout = self._timeout(task, (*path, "spec"))
        if timeout is not None:
            spec["timeout"] = timeout
        if task.exactly_once:
            spec["exactly_once"] = True
        if task.dependency is not None:
            spec["dependency"] = task.dependency.source
        if task.priority is not None:
            spec["priority"] = task.priority
        if task.hold_timeout is not None:
            spec["hold_timeout"] = task.hold_timeout
        places = self.origins.rules(origin, task.policy)
        writer = PolicyWriter(self.notes, task.dialect)
        more = writer.task_patches(task.policy.patches)
        if task.dialect in OLDER and task.policy.rules:
            older = write_older(writer, task.policy, places, path)
            spec |= older.pop("spec", {})
            more |= older
        else:
            spec["policy"] = writer.policy(task.policy, places, (*path, "spec", "policy"))
        return {"kind": task.kind, **inputs, **more, **({"spec": spec} if spec else {})}

    def _timeout(self, task: Task, path: Path) -> Value:
        """Of one attempt, in seconds. That of the tool is a remark: it is not the author's word."""
        if task.timeout is not None:
            self.notes.remark((*path, "timeout"), "seconds for one attempt")
            return task.timeout
        called = self._called(task)
        usual = kind_named(called.kind).timeout_seconds
        text = f"{usual:g} s for one attempt, the default of {called.kind}" if usual else "none"
        self.notes.absent(path, f"timeout: {text}")
        return None

    def _called(self, task: Task) -> Task:
        """What is executed: the task of the workbook that a call names."""
        source = task.inputs.source
        name = source.get("name") if isinstance(source, dict) else None
        if task.outcome_from is not OutcomeSource.WORKBOOK or not isinstance(name, str):
            return task
        return self.program.workbook.get(name, task)

    # --- loop ------------------------------------------------------------------------------------

    def _loop(self, step: Step, loop: Loop, path: Path) -> Object:
        origin = self.origins.step(step.name)
        place = origin.loop.span if origin is not None and origin.loop is not None else None
        self.notes.place(path, place)
        width = loop.max_in_flight
        said = width.source if isinstance(width, Template) else width
        self.notes.remark((*path, "spec", "mode"), default_of(loop.mode, LoopMode.SEQUENTIAL))
        usual = default_of(width, MAX_IN_FLIGHT_DEFAULT)
        idle = "without effect in sequence" if loop.mode is LoopMode.SEQUENTIAL else ""
        self.notes.remark((*path, "spec", "max_in_flight"), usual, idle)
        spec: Object = {"mode": loop.mode.value, "max_in_flight": said}
        return {"in": loop.source.source, "iterator": loop.iterator, "spec": spec}

    # --- spec ------------------------------------------------------------------------------------

    def _spec(self, step: Step, path: Path) -> Object:
        spec: Object = {"policy": self._step_policy(step, (*path, "policy"))}
        spec["join"] = self._join(step, (*path, "join"))
        if step.pool is not None:
            spec["pool"] = step.pool
        if step.gate is not None:
            spec["gate"] = self._gate(step, step.gate, (*path, "gate"))
        if step.is_exit:
            spec["exit"] = True
            self.notes.remark((*path, "exit"), "the gates are asked here")
        if step.visits_max is not None:
            spec["visits_max"] = step.visits_max
        return spec

    def _step_policy(self, step: Step, path: Path) -> Object:
        policy: Object = {}
        if step.admit:
            policy["admit"] = {"rules": self._admit(step, (*path, "admit", "rules"))}
        else:
            self.notes.absent(path, "admit: every token is let in")
        mode = step.failure or self.program.failure
        inherited = "the step's own" if step.failure else "as the executor says"
        self.notes.remark((*path, "failure", "mode"), inherited)
        policy["failure"] = {"mode": mode.value}
        if step.rescue is not None:
            policy["failure"]["goto"] = step.rescue
            self.notes.remark((*path, "failure", "goto"), "takes a failure that no arc takes")
        if step.deadline_seconds is not None:
            policy["lifecycle"] = {"timeout_s": step.deadline_seconds}
        else:
            self.notes.absent(path, "lifecycle.timeout_s: none, no deadline for the step-run")
        return policy

    def _admit(self, step: Step, path: Path) -> list[Value]:
        origin = self.origins.step(step.name)
        known = origin.admit if origin is not None else ()
        rows = []
        for number, rule in enumerate(step.admit):
            place = known[number].span if number < len(known) else None
            key = "else" if rule.when is None else "when"
            self.notes.place((*path, number), place, f"admission rule {number + 1}", on=key)
            rows.append(_admit_rule(rule))
        if all(rule.when is not None for rule in step.admit):
            self.notes.absent(path, "no rule matches: let in")
        return rows

    def _join(self, step: Step, path: Path) -> Value:
        if step.gather is None:
            self.notes.remark(path, default_of(step.join, Join.ALL))
            return step.join.value
        origin = self.origins.step(step.name)
        gather = origin.gather if origin is not None else None
        self.notes.place(path, gather.span if gather is not None else None)
        return _gather(step.gather)

    def _gate(self, step: Step, gate: Gate, path: Path) -> Value:
        origin = self.origins.step(step.name)
        known = origin.gate if origin is not None else None
        self.notes.place(path, known.span if known is not None else None)
        found: Object = {
            "accepts": [verdict.value for verdict in gate.accepts],
            "visited_only": not gate.is_owed,
            "budget": "step" if gate.shares_budget else "gate",
        }
        if gate.when is not None:
            found["when"] = str(gate.when.source)
        if gate.to is not None:
            found |= {"to": gate.to, "most": gate.most}
        return found

    # --- next ------------------------------------------------------------------------------------

    def _next(self, step: Step, path: Path) -> Object:
        router = step.router
        self.notes.remark((*path, "spec", "mode"), _mode_words(router))
        places = self.origins.arcs(step.name, router.arcs)
        arcs: list[Value] = []
        for number, (arc, place) in enumerate(zip(router.arcs, places, strict=True)):
            text = f"arc {number + 1}: {_arc_words(router, arc)}"
            self.notes.place((*path, "arcs", number), place, text, on="step")
            arcs.append(_arc(router, arc))
        if not arcs:
            self.notes.remark((*path, "arcs"), "the token ends here")
        return {"spec": _router_spec(router), "arcs": arcs}


def _admit_rule(rule: AdmitRule) -> Object:
    then: Object = {"allow": rule.allow}
    if rule.when is None:
        return {"else": {"then": then}}
    return {"when": rule.when.source, "then": then}


def _gather(gather: Gather) -> Object:
    found: Object = {"policy": gather.policy.value}
    if gather.policy is JoinPolicy.K_OF_N and gather.k is not None:
        found["k"] = gather.k
    return {**found, "merge": gather.merges, "lenient": gather.lenient}


def _router_spec(router: Router) -> Object:
    spec: Object = {"mode": router.mode.value}
    if router.mode is RouteMode.FORK:
        if router.join is not None:
            spec["join"] = router.join
        return spec if router.width is None else {**spec, "max_in_flight": router.width}
    spec["must_choose"] = router.must_choose
    return {**spec, "gives_up": router.gives_up} if router.must_choose else spec


def _arc(router: Router, arc: Arc) -> Object:
    found: Object = {"step": arc.to}
    if arc.when is not None:
        found["when"] = arc.when.source
    elif router.mode is not RouteMode.FORK:
        found["on_failure"] = arc.answers_failure
    if router.mode is RouteMode.PREFERRED:
        if arc.label is not None:
            found["label"] = arc.label
        found["weight"] = arc.weight
    if arc.most is not None:
        found["most"] = arc.most
    if arc.args is not None:
        found["args"] = arc.args.source
    if arc.patches:
        found["set"] = _set(arc.patches)
    return found


def _set(patches: Iterable[Patch]) -> Object:
    """What a step or an arc writes, all of it below `ctx`."""
    return {key_of(p.target, p.path): p.value.source for p in patches}


def _mode_words(router: Router) -> str:
    match router.mode:
        case RouteMode.EXCLUSIVE:
            return "the first arc that holds"
        case RouteMode.INCLUSIVE:
            return "every arc that holds"
        case RouteMode.PREFERRED:
            return "one arc: by condition, label, suggestion, weight, order"
        case RouteMode.FORK:
            return "every arc, each a branch of its own"


def _arc_words(router: Router, arc: Arc) -> str:
    if router.mode is RouteMode.FORK:
        return "a branch"
    if arc.when is not None:
        return "where its condition holds"
    return "success and failure" if arc.answers_failure else "success only"
