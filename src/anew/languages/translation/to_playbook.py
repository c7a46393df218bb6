"""Rewrite a DOT graph as a canonical playbook that means the same.

Works from the compiled graph: what the dialect left unsaid is written out. The result is loaded
again, so that what is returned always is a valid playbook.
"""

from __future__ import annotations

from msgspec import Struct

from anew.languages.dot.beside import Beside
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions import to_jinja
from anew.languages.dot.ends import types_of
from anew.languages.dot.goals import goal_condition
from anew.languages.dot.graph import DotDialect, Node
from anew.languages.dot.loading import load_dot
from anew.languages.dot.node_types import Known
from anew.languages.dot.prompt_files import apply_prompt_files
from anew.languages.dot.read import read_graph
from anew.languages.dot.routes import CompiledEdge, routes_of
from anew.languages.dot.texts import names_of
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import Migrated
from anew.languages.translation.findings import Differences
from anew.languages.translation.graph_tasks import TaskWriter
from anew.languages.translation.graph_texts import literal_value
from anew.languages.yaml_writer import YamlWriter
from anew.program.findings import errors_in
from anew.program.policy import Verdict
from anew.program.program import (
    Arc,
    Gate,
    Gather,
    JoinPolicy,
    Limits,
    Program,
    RouteMode,
    Router,
    Step,
)
from anew.program.span import Span
from anew.values import Object, Value

# What is always read line by line, however short it is.
WRITER = YamlWriter(100, blocks=frozenset({"workflow", "rules", "workload"}), depth_max=4)


def graph_to_playbook(text: str | bytes, file: str, *, dialect: str | None = None) -> Migrated:
    """The playbook, and what it says otherwise than the graph; no text when the graph is wrong."""
    loaded = load_dot(text, file, dialect=dialect)
    if loaded.program is None:
        return Migrated(None, errors_in(loaded.findings))
    beside = Beside(file, loaded.files)
    read = read_graph(text, file, dialect=DotDialect(loaded.program.dialect), beside=beside)
    assert read.graph is not None
    apply_prompt_files(read.graph, beside)
    c = GraphCompilation(
        read.graph, read.dialect, types_of(read.graph, read.dialect, Known()), source=read.source
    )
    notes = Differences()
    writer = _Writer(c, loaded.program, notes, TaskWriter(c, notes))
    return _verified(WRITER.document(writer.document()), file, notes, read.graph.span)


def _verified(result: str, file: str, notes: Differences, place: Span) -> Migrated:
    again = load_playbook(result, f"{file} (as a playbook)")
    if again.program is None:
        return Migrated(None, [*notes.found, *errors_in(again.findings)])
    # A workload is text and has no escape; only what names the run is rendered in it.
    for path in again.program.workload_templates:
        message = f"`{'.'.join(map(str, path))}` of the graph is a text; a playbook renders it"
        notes.report(place, message, "Write it without braces around `run_id` and `job`.")
    return Migrated(result, notes.found)


class _Writer(Struct, frozen=True):
    c: GraphCompilation
    program: Program
    notes: Differences
    tasks: TaskWriter

    def document(self) -> Object:
        document: Object = {"metadata": {"name": self.program.name}}
        document["executor"] = {"spec": self._executor()}
        if self.program.workload:
            document["workload"] = self.program.workload
        document["workflow"] = [self._step(step) for step in self.program.steps.values()]
        return document

    def _executor(self) -> Object:
        spec: Object = {"entry_step": self.program.entry}
        if self.program.workload_is_ctx:
            spec["ctx"] = "workload"
        if self.program.fallback is not None:
            spec["policy"] = {"failure": {"fallback": self.program.fallback}}
        given, usual = self.program.limits, Limits()
        limits = {
            name: getattr(given, name)
            for name in Limits.__struct_fields__
            if getattr(given, name) != getattr(usual, name)
        }
        if limits.get("restarts") == 0:
            message = "a run that must not be restarted may be restarted once in a playbook"
            self.notes.report(self.c.graph.span, message, "Remove the edge with loop_restart.")
            limits["restarts"] = 1
        return {**spec, "limits": limits} if limits else spec

    # --- steps -----------------------------------------------------------------------------------

    def _step(self, step: Step) -> Object:
        node = self.c.graph.nodes.get(step.name)
        found: Object = {"step": step.name}
        if node is not None and node.text("label"):
            found["desc"] = node.text("label")
        found["tool"] = self.tasks.task(step.tasks[0], node)
        spec = self._spec(step)
        if spec:
            found["spec"] = spec
        routing = self._next(step, node)
        return {**found, "next": routing} if routing else found

    def _spec(self, step: Step) -> Object:
        spec: Object = {}
        if step.rescue is not None:
            spec["policy"] = {"failure": {"goto": step.rescue}}
        if step.gather is not None:
            spec["join"] = _join(step.gather)
        elif self._has_forks:
            spec["join"] = step.join.value
        if step.gate is not None:
            spec["gate"] = self._gate(step, step.gate)
        if step.is_exit:
            spec["exit"] = True
        if step.visits_max is not None:
            spec["visits_max"] = step.visits_max
        return spec

    @property
    def _has_forks(self) -> bool:
        """Without forks there is one token, and how tokens join makes no difference."""
        return any(step.router.mode is RouteMode.FORK for step in self.program.steps.values())

    # --- routing ---------------------------------------------------------------------------------

    def _next(self, step: Step, node: Node | None) -> Object:
        router = step.router
        routes = {route.number: route for route in routes_of(self.c, node)} if node else {}
        ordered = (
            router.ranked
            if router.mode is RouteMode.PREFERRED
            else [(number, arc) for number, arc in enumerate(router.arcs, 1)]
        )
        is_labelled = len([arc for arc in router.arcs if arc.when is None]) > 1
        is_labelled = is_labelled or bool(_choices(step))
        arcs = [
            self._arc(step, arc, routes.get(number - 1), is_labelled=is_labelled)
            for number, arc in ordered
        ]
        spec = _router_spec(router, is_labelled=is_labelled)
        kept = [arc for arc in arcs if arc is not None]
        if not kept and not spec:
            return {}
        return {"spec": spec, "arcs": kept} if spec else {"arcs": kept}

    def _gate(self, step: Step, gate: Gate) -> Value:
        found = _gate(gate)
        if gate.when is None:
            return found
        node = self.c.graph.nodes[step.name]
        asked = goal_condition(self.c, node.attributes["goal_gate"])
        tree = asked.tree if asked is not None else None
        said = to_jinja(tree, names_of(self.c, node)) if tree is not None else None
        if said is None or said.text is None:
            message = f"the condition of the goal gate {step.name!r} cannot be expressed"
            self.notes.report(gate.span, message, "Write `when` of its `gate`.")
            return found
        return {**(found if isinstance(found, dict) else {}), "when": f"{{{{ {said.text} }}}}"}

    def _arc(
        self, step: Step, arc: Arc, route: CompiledEdge | None, *, is_labelled: bool
    ) -> Object | None:
        if arc.most == 0:
            message = (
                f"the edge from {step.name!r} to {arc.to!r} may never be taken; it is left out"
            )
            self.notes.report(arc.span, message, "Remove it.")
            return None
        found: Object = {"step": arc.to}
        if arc.when is not None:
            found["when"] = self._condition(step, arc, route)
        is_offered = arc.when is None or arc.label in _choices(step)
        if is_labelled and step.router.mode is RouteMode.PREFERRED and is_offered:
            found["label"] = arc.label
        if arc.answers_failure and arc.when is None and step.router.mode is not RouteMode.FORK:
            found["on_failure"] = True
        if arc.most is not None:
            found["most"] = arc.most
        if arc.args is not None:
            found["args"] = literal_value(arc.args.source)
        return found

    def _condition(self, step: Step, arc: Arc, route: CompiledEdge | None) -> str:
        tree = route.condition.tree if route is not None and route.condition else None
        node = self.c.graph.nodes[step.name]
        said = to_jinja(tree, names_of(self.c, node)) if tree is not None else None
        if said is not None and said.text is not None:
            return f"{{{{ {said.text} }}}}"
        why = f": {'; '.join(said.reasons)}" if said is not None and said.reasons else ""
        message = (
            f"the condition of the edge from {step.name!r} to {arc.to!r} cannot be expressed{why}"
        )
        self.notes.report(arc.span, f"{message}. The arc is never taken", "Write its `when`.")
        return "{{ false }}"


def _choices(step: Step) -> list[Value]:
    """What a person may answer, where the step asks one."""
    source = step.tasks[0].inputs.source
    choices = source.get("choices") if isinstance(source, dict) else None
    return choices if isinstance(choices, list) else []


def _router_spec(router: Router, *, is_labelled: bool) -> Object:
    spec: Object = {}
    if router.mode is RouteMode.FORK:
        spec = {"mode": "fork", "join": router.join}
        if router.width is not None:
            spec["max_in_flight"] = router.width
        return spec
    if is_labelled:
        spec["mode"] = "preferred"
    # An arc without a condition is always there to be taken.
    if router.must_choose and all(arc.when is not None or arc.most for arc in router.arcs):
        spec["must_choose"] = True
        if router.gives_up:
            spec["gives_up"] = True
    return spec


def _join(gather: Gather) -> Value:
    found: Object = {"policy": gather.policy.value}
    if gather.policy is JoinPolicy.K_OF_N and gather.k is not None:
        found["k"] = gather.k
    if not gather.merges:
        found["merge"] = False
    if gather.lenient:
        found["lenient"] = True
    return gather.policy.value if len(found) == 1 else found


def _gate(gate: Gate) -> Value:
    found: Object = {}
    if gate.accepts != (Verdict.SUCCESS,):
        found["accepts"] = [verdict.value for verdict in gate.accepts]
    if gate.to is not None and gate.most:
        found["to"] = gate.to
        found["most"] = gate.most
    if not gate.is_owed:
        found["visited_only"] = True
    if gate.shares_budget and gate.most:
        found["budget"] = "step"
    return found or True
