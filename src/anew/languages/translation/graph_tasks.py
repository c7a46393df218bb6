"""A node's task in the words of a playbook: kind, inputs, timeout and rules."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.expressions import MappingScope
from anew.languages.dot.agents import AGENT_KIND
from anew.languages.dot.commands import COMMAND_KIND, command_of
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.fidelity import FIDELITY_DEFAULT, fidelity_of
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Role
from anew.languages.dot.settings import flag, text
from anew.languages.playbook.directive_values import USUAL, directive_values
from anew.languages.translation.findings import Differences
from anew.languages.translation.graph_patches import Written, written_by
from anew.languages.translation.graph_texts import (
    command_inputs,
    literal,
    literal_value,
    template_of,
)
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import (
    Directive,
    Fail,
    GraphRule,
    OutcomeStatus,
    Patch,
    Rule,
)
from anew.program.program import Task
from anew.program.retry import BackoffKind
from anew.values import Object, Value

_ERROR = "outcome.status == 'error'"
_TYPE = "(outcome.error.type | default('') | upper)"
_RETRYABLE = (
    f"(outcome.error.retryable is true or (outcome.error.retryable is none "
    f"and {_TYPE} != 'TERMINAL'))"
)
# Without an own type, a timeout is known by its kind, and the table calls it retryable.
_TIMED_OUT = (
    f"((outcome.error.type is undefined and outcome.error.kind in ['timeout', 'db_timeout']) "
    f"or (outcome.error.retryable is none and {_TYPE} == 'TIMEOUT'))"
)
# What a retry of a graph asks: with timeouts, and without them.
RETRY_CONDITIONS = (
    f"{_ERROR} and {_RETRYABLE}",
    f"{_ERROR} and {_RETRYABLE} and not {_TIMED_OUT}",
)
_ASKS = "outcome.word == 'retry'"
_ALL_FAILED = "args.join.verdict == 'failure'"
_PASSED_ON = {"outcome": "{{ _origin.outcome }}"}
_JOINED: Object = {"verdict": "{{ args.join.verdict }}", "error": "{{ args.join.error }}"}
# Inputs that are texts of the node, with variables in them.
_TEXTS = ("prompt", "question")
# A task is known by its step.
_OWN_NAME = "node"


class TaskWriter(Struct, frozen=True):
    c: GraphCompilation
    notes: Differences

    def task(self, task: Task, node: Node | None) -> Object:
        """The task of a node, or of a step that no node stands for."""
        found: Object = {"kind": task.kind, **self._inputs(task, node)}
        spec: Object = {}
        if task.timeout is not None:
            spec["timeout"] = task.timeout
        if task.exactly_once:
            spec["exactly_once"] = True
        rules = list(self._rules(task, node))
        if rules:
            is_whole = any("else" in rule for rule in rules)
            spec["policy"] = {"rules": rules} if is_whole else {**_FAIL_OTHERS, "rules": rules}
        return {**found, "spec": spec} if spec else found

    # --- inputs ----------------------------------------------------------------------------------

    def _inputs(self, task: Task, node: Node | None) -> Object:
        if task.outcome_from is OutcomeSource.RELAY:
            return self._relayed(task, node)
        if task.inputs.is_constant or node is None:
            return _static(task, _object(task.inputs.value(MappingScope({}))))
        source = task.inputs.source
        if task.kind == COMMAND_KIND:
            found = command_of(self.c, node)
            others = {key: value for key, value in _object(source).items() if key != "command"}
            command = command_inputs(self.c, node, found.raw if found else "", self.notes)
            return {**command, **_static(task, others)}
        if not isinstance(source, dict):
            message = f"the inputs of node {node.id!r} are computed by code and were left out"
            self.notes.report(node.span, message, "Write them as templates.")
            return {}
        taken = {
            key: value
            for key, value in source.items()
            if value != "" and self._takes(task, key, node)
        }
        inputs = _static(task, taken)
        for key in _TEXTS:
            if isinstance(written := taken.get(key), str):
                inputs[key] = template_of(self.c, node, written, self.notes)
        if task.kind == AGENT_KIND:
            inputs |= self._agent_context(node)
        if task.outcome_from is OutcomeSource.CHILD:
            inputs["args"] = "{{ ctx }}"
        return inputs

    def _takes(self, task: Task, key: str, node: Node) -> bool:
        """Whether a task of this kind can be given this in a playbook; else it is reported."""
        if kind_named(task.kind).knows(key):
            return True
        if key != _OWN_NAME:
            message = f"`{key}` of node {node.id!r} has no place in a task of kind {task.kind}"
            self.notes.report(node.span, message, "Say it in another way, or do without.")
        return False

    def _relayed(self, task: Task, node: Node | None) -> Object:
        if task.inputs.is_constant:
            return {}
        role = self.c.role(node.id) if node is not None else Role.JOIN
        if role is Role.CHOICE:
            return _PASSED_ON
        if role is not Role.JOIN:
            return {}
        if node is None or not self.c.is_docs:
            return {"outcome": _JOINED}
        self._reshaped("_branch_results", node)
        return {"outcome": {**_JOINED, "updates": {"_branch_results": "{{ args.join.results }}"}}}

    def _agent_context(self, node: Node) -> Object:
        """What an agent is given beside its task; how the run went so far is no part of it."""
        message = "agents of a graph get a summary of the run so far; tasks of a playbook do not"
        self.notes.report(self.c.graph.span, message, "Put what an agent needs into its prompt.")
        mode = fidelity_of(self.c, node) or FIDELITY_DEFAULT
        thread = text(node, "thread_id")
        inputs: Object = {"fidelity": f"{{{{ args.fidelity | default('{mode}') }}}}"}
        return {**inputs, "thread": literal(thread)} if thread else inputs

    # --- rules -----------------------------------------------------------------------------------

    def _rules(self, task: Task, node: Node | None) -> Iterator[Object]:
        """Rules that always match carry what is written with every outcome."""
        always = self._written(task, task.policy.patches, node)
        done: Object = {}
        for rule in task.policy.rules:
            own = self._written(task, rule.patches, node)
            if rule.name == GraphRule.DONE and rule.on is OutcomeStatus.OK:
                done = own
                continue
            when = self._condition(rule, node)
            if when is not None:
                yield {"when": f"{{{{ {when} }}}}", "then": _then(rule.then, {**always, **own})}
        if not always and not done:
            return
        if always:
            failing = {"do": "fail", "set_ctx": always}
            yield {"when": f"{{{{ {_ERROR} }}}}", "then": failing}
            yield {"else": {"then": {"do": "continue", "set_ctx": {**always, **done}}}}
        else:
            then = {"do": "continue", "set_ctx": done}
            yield {"when": "{{ outcome.status == 'ok' }}", "then": then}

    def _written(self, task: Task, patches: tuple[Patch, ...], node: Node | None) -> Object:
        found: Written = written_by(task, patches)
        place = node.span if node is not None else task.span
        for key in found.reshaped:
            self._reshaped(key, node)
        for key in found.lost:
            message = f"{key!r}, which node {task.label!r} writes to the context, was left out"
            self.notes.report(place, message, "Write it with `set_ctx` in a rule.")
        return found.values

    def _reshaped(self, key: str, node: Node | None) -> None:
        place = node.span if node is not None else self.c.graph.span
        message = f"{key!r} describes the branches in another form: verdict, written and error"
        self.notes.report(place, message, "Read `ctx` accordingly where it is used.")

    def _condition(self, rule: Rule, node: Node | None) -> str | None:
        """What a rule asks, by its name; None when (reported) it cannot be said."""
        if rule.name == GraphRule.ASKED:
            return f"{_ERROR} and {_ASKS}"
        if rule.name == GraphRule.RETRY:
            return RETRY_CONDITIONS[0 if self._retries_timeouts(node) else 1]
        if rule.when is None:
            return _ERROR if rule.on is OutcomeStatus.ERROR else "outcome.status == 'ok'"
        if isinstance(rule.then, Fail):
            return _ALL_FAILED
        message = f"a rule of node {node.id if node else ''!r} is decided by code and was left out"
        self.notes.report(rule.span, message, "Write it as a rule with `when`.")
        return None

    def _retries_timeouts(self, node: Node | None) -> bool:
        own = flag(node, "retry_on_timeout") if node is not None else None
        return (flag(self.c.graph, "retry_on_timeout") if own is None else own) is not False


_FAIL_OTHERS: Object = {"on_unmatched": "fail"}


def _object(value: Value) -> Object:
    return value if isinstance(value, dict) else {}


def _static(task: Task, inputs: Object) -> Object:
    """Inputs that no variable is in: a graph has no templates, so what looks like one is text."""
    verbatim = kind_named(task.kind).verbatim
    return {
        key: value if key in verbatim else literal_value(value) for key, value in inputs.items()
    }


def _then(then: Directive, patches: Object) -> Object:
    """A directive with what an author of a playbook would have to write of it."""
    values = directive_values(then)
    # What it says is made by code of the graph, which no template is.
    values.pop("message", None)
    if values.get("backoff") == BackoffKind.NONE.value:
        del values["delay"]
    found = {k: v for k, v in values.items() if k in _ALWAYS_SAID or v != USUAL.get(k)}
    return {**found, "set_ctx": patches} if patches else found


_ALWAYS_SAID = frozenset({"do", "attempts", "backoff", "delay", "multiplier"})
