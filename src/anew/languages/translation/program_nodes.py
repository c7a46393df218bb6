"""A step's task as the attributes of a node (docs dialect): shape, texts, retries, goals.

What a node cannot say is reported; the node then stands for the step and does other work.
"""

from __future__ import annotations

import re
from typing import assert_never

from msgspec import Struct

from anew.expressions import MappingScope, holds_template
from anew.languages.dot.agents import AGENT_KIND
from anew.languages.dot.commands import COMMAND_KIND
from anew.languages.dot.delays import (
    DELAY_SECONDS_MAX,
    DOCS_KEY,
    DOCS_PRESETS,
    JITTER_DEFAULT,
    Preset,
)
from anew.languages.translation.findings import Differences
from anew.languages.translation.graph_patches import AUTOMATIC
from anew.languages.translation.graph_tasks import RETRY_CONDITIONS
from anew.program.check import is_else
from anew.program.kind import OutcomeSource
from anew.program.policy import Break, Continue, Fail, Jump, Retry, Rule, Verdict
from anew.program.program import JoinPolicy, RouteMode, Step, Task
from anew.program.retry import ANY_ERROR, Backoff, JitterKind
from anew.values import Object, Value

AGENT_ATTRIBUTES = {
    "backend": "backend",
    "model": "llm_model",
    "provider": "llm_provider",
    "reasoning_effort": "reasoning_effort",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "system": "system",
    "auth": "auth",
    "base_url": "base_url",
    "command": "command",
    "cwd": "cwd",
    "status_file": "status_file",
    "auto_status": "auto_status",
    "thread": "thread_id",
}
_TEMPLATE = re.compile(r"\{\{\s*(?:ctx|workload)\.([A-Za-z_]\w*)\s*\}\}")
# A variable of a graph as `graph_texts` puts it, with what was written at its end.
_VARIABLE = re.compile(r"\{\{ \((.+?)\) if \(\1\) is defined else '(\$[^']+)'(?: \| string)? \}\}")
_FIDELITY = re.compile(r"\{\{ args\.fidelity \| default\('([\w:]+)'\) \}\}")
_PASSED_ON = {"outcome": "{{ _origin.outcome }}"}
_ON_ERROR = frozenset({"outcome.status == 'error'"})
_ON_OK = frozenset({"outcome.status == 'ok'"})


class NodeWriter(Struct, frozen=True):
    notes: Differences

    def attributes(self, step: Step) -> dict[str, Value]:
        """The attributes of the node that stands for the step, without its place in the graph."""
        task = step.tasks[0]
        self._report_step(step)
        if step.loop is not None or len(step.tasks) > 1:
            return {"shape": "box", "label": step.name}
        found = self._work(step, task)
        if found.get("shape") != "diamond":
            found |= self._policy(step, task)
        elif task.policy.rules:
            self.lost(step, "its rules")
        if isinstance(task.timeout, int | float):
            found["timeout"] = task.timeout
        if task.exactly_once:
            self.lost(step, "that its changes are made once")
        return found

    def lost(self, step: Step, what: str, remedy: str = "Keep the playbook for that.") -> None:
        message = f"step {step.name!r}: a graph cannot say {what}"
        self.notes.report(step.span, message, remedy)

    def _report_step(self, step: Step) -> None:
        if step.loop is not None:
            self.lost(step, "its loop; the box represents it")
        elif len(step.tasks) > 1:
            self.lost(step, f"its {len(step.tasks)} tasks; the box represents them")
        if step.admit:
            self.lost(step, "its admission rules")
        if step.failure is not None:
            self.lost(step, "its failure mode")
        if step.deadline_seconds is not None:
            self.lost(step, "its deadline")
        if step.pool is not None:
            self.lost(step, "its pool")
        if step.compensation is not None:
            self.lost(step, "how it is undone when the run fails")
        ended = [*step.patches, *(patch for arc in step.router.arcs for patch in arc.patches)]
        for name in sorted({".".join(patch.path) for patch in ended}):
            self.lost(step, f"that it sets {name!r} in ctx when it ends")

    # --- what it does ----------------------------------------------------------------------------

    def _work(self, step: Step, task: Task) -> dict[str, Value]:
        inputs = _inputs(task)
        match task.outcome_from:
            case OutcomeSource.RELAY:
                return self._relay(step, inputs)
            case OutcomeSource.INPUTS:
                if inputs.get("result") is not None:
                    self.lost(step, "its result")
                return {"shape": "diamond"}
            case OutcomeSource.PERSON:
                return self._human(step, inputs)
            case OutcomeSource.CHILD if isinstance(inputs.get("file"), str):
                return self._child(step, inputs)
            case OutcomeSource.WORLD if task.kind == AGENT_KIND:
                return self._agent(step, inputs)
            case OutcomeSource.WORLD if task.kind == COMMAND_KIND:
                return self._shell(step, inputs)
            case _:
                pass
        self.lost(step, f"a task of kind {task.kind}; the box represents it")
        return {"shape": "box", "label": f"{step.name}: {task.kind}"}

    def _relay(self, step: Step, inputs: Object) -> dict[str, Value]:
        if step.gather is not None or step.router.mode is RouteMode.FORK:
            return {}
        if inputs and inputs != _PASSED_ON:
            self.lost(step, "the outcome of its relay; a diamond passes on the one before")
        return {"shape": "diamond"}

    def _agent(self, step: Step, inputs: Object) -> dict[str, Value]:
        found: dict[str, Value] = {"shape": "box"}
        for key, value in inputs.items():
            if key == "prompt":
                found["prompt"] = self._text(step, value)
            elif key in AGENT_ATTRIBUTES and not isinstance(value, dict | list):
                found[AGENT_ATTRIBUTES[key]] = value
            elif key == "fidelity" and (mode := _FIDELITY.fullmatch(str(value))):
                found["fidelity"] = mode.group(1)
            elif key == "goal":
                found["goal"] = value
            else:
                self.lost(step, f"the input `{key}` of its agent")
        if found.get("fidelity") == "compact":
            del found["fidelity"]
        return found

    def _human(self, step: Step, inputs: Object) -> dict[str, Value]:
        arcs = step.router.arcs
        labels = {arc.label or arc.to for arc in arcs if arc.when is None or arc.label is not None}
        choices = inputs.get("choices")
        if not isinstance(choices, list) or sorted(map(str, choices)) != sorted(labels):
            self.lost(step, "choices that are not the labels of its arcs")
        found = {"shape": "house", "label": self._text(step, inputs.get("question"))}
        if inputs.get("timeout_action") == "retry":
            self.lost(step, "that a question is asked again when nobody answers")
            inputs = {key: value for key, value in inputs.items() if key != "timeout_action"}
        for key in ("timeout", "timeout_action"):
            if inputs.get(key) is not None:
                found[key] = inputs[key]
        default = inputs.get("default")
        to = [arc.to for arc in step.router.arcs if default is not None and arc.label == default]
        return {**found, "human.default_choice": to[0]} if to else found

    def _shell(self, step: Step, inputs: Object) -> dict[str, Value]:
        command = inputs.get("command")
        if isinstance(command, list):
            self.lost(step, "several commands; the node runs them as one")
            command = " && ".join(map(str, command))
        if holds_template(str(command)):
            self.lost(step, "a command with templates")
        for key in inputs.keys() - {"command"}:
            self.lost(step, f"the input `{key}` of its command")
        return {"shape": "component", "tool_command": str(command)}

    def _child(self, step: Step, inputs: Object) -> dict[str, Value]:
        if inputs.keys() - {"file"} and inputs.get("args") != "{{ ctx }}":
            self.lost(step, "what it gives to the other document")
        return {"shape": "tab", "stack.child_dotfile": inputs["file"]}

    def _text(self, step: Step, value: Value) -> str:
        """A text with `{{ ctx.x }}` as `${ctx.x}`; other templates stay and are reported."""
        text = str(value or "")
        written = _VARIABLE.findall(text)
        text = _VARIABLE.sub("\0", text).replace("$", "$$")
        text = _TEMPLATE.sub(lambda found: f"${{ctx.{found.group(1)}}}", text)
        for _, variable in written:
            text = text.replace("\0", variable, 1)
        if holds_template(text):
            self.lost(step, "a template other than {{ ctx.name }} in its text")
        return text

    # --- its policy ------------------------------------------------------------------------------

    def _policy(self, step: Step, task: Task) -> dict[str, Value]:
        found: dict[str, Value] = {}
        covers_errors = task.policy.fail_unmatched_errors or not task.policy.rules
        self._report_patches(step, task)
        for rule in task.policy.rules:
            asked = _condition(rule)
            match rule.then:
                case Retry():
                    found |= self._retry(step, rule.then, asked)
                case Fail() if is_else(rule) or asked in _ON_ERROR:
                    covers_errors = True
                case Continue() | Break() if asked in _ON_OK or (is_else(rule) and covers_errors):
                    pass
                case Continue() if asked in _ON_ERROR and rule.then.verdict is Verdict.SUCCESS:
                    found["on_failure"], covers_errors = "succeed", True
                case Continue() | Break() | Fail() | Jump():
                    self.lost(step, f"its rule in line {rule.span.line}")
                case _:
                    assert_never(rule.then)
        if not covers_errors:
            self.lost(step, "that an error which no rule matches is as good as a success")
        return found

    def _report_patches(self, step: Step, task: Task) -> None:
        policy = task.policy
        patches = [*policy.patches, *(patch for rule in policy.rules for patch in rule.patches)]
        names = {".".join(patch.path) for patch in patches} - AUTOMATIC
        for name in sorted(names):
            self.lost(step, f"that it sets {name!r} in ctx")

    def _retry(self, step: Step, retry: Retry, asked: str | None) -> dict[str, Value]:
        if not isinstance(retry.attempts, int):
            self.lost(step, "attempts that a template gives")
            return {}
        if asked not in RETRY_CONDITIONS:
            self.lost(step, "which errors it retries; a node retries all but TERMINAL ones")
        found: dict[str, Value] = {"max_retries": retry.attempts - 1, **self._backoff(step, retry)}
        if asked == RETRY_CONDITIONS[1]:
            found["retry_on_timeout"] = False
        spent = retry.on_exhausted
        if spent is not None and spent.then == Continue(Verdict.SUCCESS, spent.then.span):
            found["on_failure"] = "succeed"
        elif spent is not None:
            self.lost(step, "what happens when its retries are spent")
        return found

    def _backoff(self, step: Step, retry: Retry) -> dict[str, Value]:
        backoff = retry.backoff_for(None)[1]
        named = {row: _delays(row_backoff) for row, row_backoff in retry.by_error}
        name = named.pop(ANY_ERROR, None) or _delays(backoff)
        is_jitter_sayable = backoff.jitter.kind in (JitterKind.NONE, JitterKind.ADDED) and all(
            other.jitter == backoff.jitter for other in retry.backoffs
        )
        is_known = name is not None and None not in named.values()
        if not is_known or not is_jitter_sayable or retry.max_elapsed is not None:
            self.lost(step, "how long its retries wait; a node has presets and lists of delays")
        fraction = backoff.jitter.fraction if backoff.jitter.kind is JitterKind.ADDED else 0.0
        found: dict[str, Value] = {DOCS_KEY: name or "exponential"}
        found |= {f"{DOCS_KEY}.{row}": text for row, text in named.items() if text is not None}
        usual = 0.0 if backoff.table else JITTER_DEFAULT
        return found if fraction == usual else {**found, "retry_jitter": fraction}


def join_attributes(step: Step) -> dict[str, Value]:
    """The attributes of the node at which the branches of a fork meet."""
    if step.gather is None:
        return {"shape": "invhouse"}
    found: dict[str, Value] = {"shape": "invhouse", "join_policy": step.gather.policy.value}
    return {**found, "k": step.gather.k} if step.gather.policy is JoinPolicy.K_OF_N else found


def _delays(backoff: Backoff) -> str | None:
    """What a node says for these delays: a preset, or the list itself."""
    if not backoff.table:
        return next((name for name, preset in DOCS_PRESETS.items() if _is(preset, backoff)), None)
    known = [delay for delay in backoff.table if isinstance(delay, float)]
    is_plain = len(known) == len(backoff.table) and backoff.cap is None
    return ", ".join(f"{delay:g}s" for delay in known) if is_plain else None


def _is(preset: Preset, backoff: Backoff) -> bool:
    if preset.kind is not backoff.kind:
        return False
    is_capped = backoff.cap in (None, DELAY_SECONDS_MAX)
    same_growth = preset.factor in (backoff.factor, 1.0)
    return preset.first == 0.0 or (backoff.first == preset.first and same_growth and is_capped)


def _condition(rule: Rule) -> str | None:
    """What a rule asks, without its braces."""
    if rule.when is None:
        return None
    text = " ".join(str(rule.when.source).split())
    return text.removeprefix("{{").removesuffix("}}").strip()


def _inputs(task: Task) -> Object:
    """The inputs as they were written."""
    if task.inputs.is_constant:
        value = task.inputs.value(MappingScope({}))
        return value if isinstance(value, dict) else {}
    source = task.inputs.source
    return source if isinstance(source, dict) else {}
