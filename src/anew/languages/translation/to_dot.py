"""Say a program as a DOT graph (docs dialect) that Anew can load again.

What a graph cannot say is reported, and the graph still shows it. That the rest means the same is
not taken on trust: the graph is compiled, and what came out otherwise is reported too.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from anew.expressions import MappingScope
from anew.languages.dot.attributes import typed
from anew.languages.dot.graph import Attribute, Edge, Graph, Node
from anew.languages.dot.loading import load_dot
from anew.languages.dot.write import write_dot
from anew.languages.translation.comparing import differences
from anew.languages.translation.docs_conditions import CannotSay, docs_condition
from anew.languages.translation.findings import Differences
from anew.languages.translation.program_nodes import NodeWriter, join_attributes
from anew.program.findings import Finding, errors_in
from anew.program.kind import OutcomeSource
from anew.program.program import Arc, FailureMode, Limits, Program, RouteMode, Step
from anew.program.span import NOWHERE
from anew.values import Value

_LIMITS = {
    "steps_per_run": "max_steps",
    "visits_per_step": "max_visits",
    "same_failures": "max_same_failures",
    "restarts": "max_restarts",
}
_MIRRORED = "graph."
# A task that gives what its inputs say, and with none of them nothing.
_IDLE = (OutcomeSource.RELAY, OutcomeSource.INPUTS)
_NOT_FAILED = "status != 'FAILURE'"
_FAILED = "status == 'FAILURE'"


class Translated(Struct, frozen=True):
    """The graph's text, and what it says otherwise than the program."""

    text: str
    findings: list[Finding]


def program_to_dot(program: Program) -> Translated:
    """The graph of a program; its first lines are comments that tell what it cannot say."""
    notes = Differences()
    writer = _Writer(program, notes, NodeWriter(notes))
    text = write_dot(writer.whole())
    loaded = load_dot(text, f"{program.name}.dot")
    if loaded.program is None:
        errors = (found.message for found in errors_in(loaded.findings))
        message = f"the graph is a picture that cannot be run: {next(errors, '')}"
        notes.report(program.span, message, "Keep the playbook.")
    else:
        for place, message in differences(program, loaded.program):
            notes.report(place, message, "Keep the playbook for that.")
    comments = [f"// {' '.join(found.message.split())}" for found in notes.found]
    return Translated("\n".join([*comments, text]), notes.found)


class _Writer(Struct, frozen=True):
    """`ends` are the nodes that stand for no step: start, exit, forks and joins beside steps."""

    program: Program
    notes: Differences
    nodes: NodeWriter
    graph: Graph = field(default_factory=lambda: Graph("", NOWHERE))
    ends: dict[str, str] = field(default_factory=dict)

    def whole(self) -> Graph:
        self.graph.name = self.program.name
        self._settings()
        steps = [step for step in self.program.steps.values() if _restarted(step) is None]
        steps = [step for step in steps if step.compensates is None]
        for step in steps:
            self._place(step)
        if "start" in self.ends:
            self._connect(self.ends["start"], self.program.entry, {})
        for step in steps:
            self._edges(step)
        return self.graph

    # --- the graph -------------------------------------------------------------------------------

    def _settings(self) -> None:
        program, attributes = self.program, self.graph.attributes
        attributes.update(_attributes({"dialect": "docs"}))
        if program.fallback is not None:
            attributes.update(_attributes({"fallback": program.fallback}))
        given, usual = program.limits, Limits()
        for name, key in _LIMITS.items():
            if getattr(given, name) is not None and getattr(given, name) != getattr(usual, name):
                attributes.update(_attributes({key: getattr(given, name)}))
        for key, value in program.workload.items():
            if key.startswith(_MIRRORED) and not isinstance(value, dict | list):
                attributes.setdefault(key.removeprefix(_MIRRORED), _attribute("", value))
            else:
                self._lost(f"the default of workload.{key}; give it with --set")
        self._report_settings()

    def _report_settings(self) -> None:
        program = self.program
        for name in ("tasks_per_step_run", "deliveries", "loop_iterations"):
            if getattr(program.limits, name) != getattr(Limits(), name):
                self._lost(f"the limit {name}")
        if program.failure is not FailureMode.FAIL_FAST:
            self._lost("the failure mode of the run")
        if program.return_step is not None:
            self._lost("which step's result is the run's")
        if program.workbook:
            self._lost("the workbook")
        if program.keychain:
            self._lost("the keychain")
        if program.ctx is not None:
            self._lost("what ctx starts with")

    def _lost(self, what: str) -> None:
        message = f"a graph cannot say {what}"
        self.notes.report(self.program.span, message, "Keep the playbook for that.")

    # --- nodes -----------------------------------------------------------------------------------

    def _place(self, step: Step) -> None:
        """The node of a step, and those that a graph needs beside it."""
        if step.name == self.program.entry:
            self._place_start(step)
        if step.is_exit and self._is_bare(step) and "exit" not in self.ends:
            self.ends["exit"] = step.name
        attributes = self._attributes_of(step)
        if step.gather is not None and not self._is_bare_join(step):
            self._add(self._free(step, "join"), join_attributes(step))
            self._connect(self.ends[f"join {step.name}"], step.name, {})
        if step.name not in self.graph.nodes:
            self._add(step.name, attributes)
        if step.router.mode is RouteMode.FORK and not self._is_bare_fork(step):
            self._add(self._free(step, "fork"), _fork(step))

    def _place_start(self, step: Step) -> None:
        is_start = self._is_bare(step) and not self.program.incoming[step.name]
        if not is_start or step.is_exit:
            name = self._free_name("start")
            self.ends["start"] = name
            self._add(name, {"shape": "ellipse"})

    def _attributes_of(self, step: Step) -> dict[str, Value]:
        if self._is_end(step):
            return {"shape": "ellipse"}
        attributes = self.nodes.attributes(step)
        if _routes_all(step) and attributes.get("shape") != "diamond":
            attributes.setdefault("on_failure", "route")
        if self._is_bare_join(step):
            attributes = join_attributes(step)
        elif self._is_bare_fork(step):
            attributes = _fork(step)
        return attributes | self._goals(step)

    def _is_end(self, step: Step) -> bool:
        is_start = step.name == self.program.entry and "start" not in self.ends
        return is_start or self.ends.get("exit") == step.name

    def _goals(self, step: Step) -> dict[str, Value]:
        found: dict[str, Value] = {}
        if step.visits_max is not None:
            found["max_visits"] = step.visits_max
        if step.rescue is not None:
            found["retry_target"] = step.rescue
            if step.rescue not in step.rescues[:-2]:
                found["retry_target_mode"] = "after"
        if step.gate is not None and not any(s.is_exit for s in self.program.steps.values()):
            self.nodes.lost(step, "a gate that is never asked, because it has no exit")
        elif step.gate is not None:
            found["goal_gate"] = True
            if step.gate.shares_budget or not step.gate.most:
                return found
            most = _attribute("max_goal_gate_redirects", step.gate.most)
            self.graph.attributes.setdefault(most.key, most)
        return found

    def _is_bare(self, step: Step) -> bool:
        """Whether a step does nothing at all and always succeeds."""
        (task, *more) = step.tasks
        is_idle = task.outcome_from in _IDLE and task.inputs.is_constant
        if not is_idle or more or task.policy.rules or task.inputs.value(MappingScope({})):
            return False
        return step.loop is None and not step.admit and step.pool is None

    def _is_bare_fork(self, step: Step) -> bool:
        is_fork = step.router.mode is RouteMode.FORK
        return is_fork and self._is_bare(step) and step.gather is None

    def _is_bare_join(self, step: Step) -> bool:
        return step.gather is not None and step.is_relay and step.router.mode is not RouteMode.FORK

    def _free(self, step: Step, what: str) -> str:
        return self.ends.setdefault(f"{what} {step.name}", self._free_name(f"{step.name}_{what}"))

    def _free_name(self, name: str) -> str:
        while name in self.program.steps or name in self.graph.nodes:
            name = f"{name}_"
        return name

    def _add(self, name: str, attributes: dict[str, Value]) -> None:
        self.graph.nodes[name] = Node(name, NOWHERE, _attributes(attributes))

    # --- edges -----------------------------------------------------------------------------------

    def _edges(self, step: Step) -> None:
        router = step.router
        if router.mode is RouteMode.FORK:
            fork = self.ends.get(f"fork {step.name}")
            if fork is not None:
                self._connect(step.name, fork, {})
            for arc in router.arcs:
                self._connect(fork or step.name, self._entered(arc.to), {})
            return
        if router.mode is RouteMode.INCLUSIVE and len(router.arcs) > 1:
            self.nodes.lost(step, "that all its arcs are taken that hold; an edge is one way")
        ordered = [arc for _, arc in router.ranked]
        weights = {id(arc): len(ordered) - number for number, arc in enumerate(ordered)}
        for arc in sorted(ordered, key=lambda arc: self._offered(step, arc)):
            self._edge(step, arc, weight=weights[id(arc)])
        is_exit = self.ends.get("exit") == step.name
        if not is_exit and self._may_end_here(step):
            self._connect(step.name, self._exit(), {})
        if step.is_exit and not is_exit and router.arcs:
            self.nodes.lost(step, "an exit that the run continues from")

    def _offered(self, step: Step, arc: Arc) -> int:
        """The place of an arc among a person's choices: a graph offers its edges in file order."""
        source = step.tasks[0].inputs.source
        choices = source.get("choices") if isinstance(source, dict) else None
        if step.tasks[0].outcome_from is not OutcomeSource.PERSON or not isinstance(choices, list):
            return 0
        return choices.index(arc.label) if arc.label in choices else len(choices)

    def _may_end_here(self, step: Step) -> bool:
        """Whether a visit that went well may find no arc, and the token ends."""
        if step.name == self.program.fallback and not step.router.arcs:
            return False  # it ends the run with the failure that led to it, in a graph as well
        return not step.router.must_choose and all(arc.when for arc in step.router.arcs)

    def _edge(self, step: Step, arc: Arc, *, weight: int) -> None:
        entry = _restarted(self.program.steps[arc.to])
        target = self._entered(arc.to if entry is None else entry)
        attributes: dict[str, Value] = dict(self._conditions(step, arc, target))
        if entry is not None:
            attributes["loop_restart"] = True
        plain = [other for other in step.router.arcs if other.when is None]
        if arc.when is None and len(plain) > 1:
            attributes["weight"] = weight
        if arc.label is not None:
            attributes["label"] = arc.label
        if arc.most is not None:
            attributes["max_retries"] = arc.most
        self._connect(step.name, target, attributes | self._args(step, arc))
        is_choice = self._is_diamond(target) or self._is_diamond(step.name)
        if not arc.answers_failure or arc.when is not None or is_choice or _routes_all(step):
            return
        if len(plain) > 1:
            self.nodes.lost(step, f"that of its arcs only some take failures, as to {arc.to!r}")
        self._connect(step.name, target, {"condition": _FAILED})

    def _conditions(self, step: Step, arc: Arc, target: str) -> Iterator[tuple[str, Value]]:
        if arc.when is not None:
            yield "condition", self._condition(step, arc)
        elif self._is_diamond(target) and not arc.answers_failure and self._can_fail(step):
            # A plain edge into a diamond would take failures too; with others beside it, a
            # condition would be asked before their labels.
            if len([other for other in step.router.arcs if other.when is None]) == 1:
                yield "condition", _NOT_FAILED
            else:
                self.nodes.lost(step, f"that its failures do not go to {arc.to!r}")

    def _condition(self, step: Step, arc: Arc) -> str:
        assert arc.when is not None
        try:
            return docs_condition(str(arc.when.source))
        except CannotSay as problem:
            why = f"the condition of its arc to {arc.to!r}, because {problem}; it never holds"
            self.nodes.lost(step, why)
            return "false"

    def _args(self, step: Step, arc: Arc) -> dict[str, Value]:
        if arc.args is None:
            return {}
        given = arc.args.source if isinstance(arc.args.source, dict) else {}
        if not arc.args.is_constant or given.keys() - {"fidelity", "thread_id"}:
            self.nodes.lost(step, f"the arguments of its arc to {arc.to!r}")
            return {}
        return dict(given)

    def _is_diamond(self, name: str) -> bool:
        found = self.graph.nodes[name].attributes.get("shape")
        return found is not None and found.raw == "diamond"

    def _can_fail(self, step: Step) -> bool:
        return not self._is_diamond(step.name) and not self._is_bare(step)

    def _entered(self, name: str) -> str:
        """The node through which a step is reached."""
        return self.ends.get(f"join {name}", name)

    def _exit(self) -> str:
        if "exit" not in self.ends:
            self.ends["exit"] = self._free_name("exit")
            self._add(self.ends["exit"], {"shape": "ellipse"})
        return self.ends["exit"]

    def _connect(self, source: str, target: str, attributes: dict[str, Value]) -> None:
        edge = Edge(source, target, NOWHERE, NOWHERE, _attributes(attributes))
        self.graph.edges.append(edge)


def _restarted(step: Step) -> str | None:
    """The step at which a new run begins, when that is all this step does."""
    (task, *more) = step.tasks
    if task.outcome_from is not OutcomeSource.RESTART or more or not task.inputs.is_constant:
        return None
    inputs = task.inputs.value(MappingScope({}))
    return inputs.get("entry") if isinstance(inputs, dict) else None


def _routes_all(step: Step) -> bool:
    """Whether failures take the same arcs as successes."""
    plain = [arc for arc in step.router.arcs if arc.when is None]
    return bool(plain) and all(arc.answers_failure for arc in plain)


def _fork(step: Step) -> dict[str, Value]:
    found: dict[str, Value] = {"shape": "hexagon"}
    return found if step.router.width is None else {**found, "max_parallel": step.router.width}


def _attributes(values: dict[str, Value]) -> dict[str, Attribute]:
    return {key: _attribute(key, value) for key, value in values.items()}


def _attribute(key: str, value: Value) -> Attribute:
    if isinstance(value, bool):
        raw = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        raw = str(int(value))
    else:
        raw = str(value)
    return Attribute(key, typed(raw), raw, NOWHERE, NOWHERE)
