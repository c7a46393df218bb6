"""Nodes that ask a model to work: the prompt, and all a backend needs to know about the node."""

from __future__ import annotations

from collections.abc import Mapping

from anew.expressions import Scope, Template, constant
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.fidelity import (
    chosen_fidelity,
    fidelity_of,
    history,
    preamble,
    thread_of,
    with_turn,
)
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Work
from anew.languages.dot.scoped import computed, object_of, text_of, writes
from anew.languages.dot.settings import flag, given, seconds, text
from anew.languages.dot.texts import expanded, goal_of
from anew.program.policy import Patch
from anew.values import Object, Value

# The kind of task that such a node becomes.
AGENT_KIND = "agent"
RESPONSE_CHARS_MAX = 200
# What a backend is told, and under which attributes a node says it.
_PASSED: Mapping[str, tuple[str, ...]] = {
    "backend": ("backend",),
    "model": ("llm_model", "model"),
    "provider": ("llm_provider", "provider"),
    "reasoning_effort": ("reasoning_effort", "effort"),
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "system": ("system", "system_prompt"),
    "auth": ("auth",),
    "base_url": ("base_url",),
    "command": ("command",),
    "cwd": ("cwd", "workdir"),
    "status_file": ("status_file",),
}
AGENT_KEYS = frozenset(key for keys in _PASSED.values() for key in keys)
_DOCS_TASK = ("goal", "prompt", "llm_prompt", "label")
_SPEC_TASK = ("prompt", "llm_prompt", "label", "goal")
_NAMES = ("args", "ctx", "run_id", "_origin", "_verdicts")


def build_agent(c: GraphCompilation, node: Node) -> Work:
    prompt = expanded(c, node, task_text(c, node))
    static, mode, goal = _static(c, node), fidelity_of(c, node), goal_of(c, node)

    def inputs(scope: Scope) -> Value:
        fidelity, thread = chosen_fidelity(scope, mode), thread_of(c, node, scope)
        told: Object = {
            "prompt": prompt.value(scope),
            **static,
            "fidelity": fidelity,
            "thread": thread,
            "preamble": preamble(scope, fidelity, goal=goal),
        }
        return {**told, "history": history(scope, thread)} if fidelity == "full" else told

    return Work(
        AGENT_KIND,
        computed({"prompt": prompt.source, **static}, inputs, *_NAMES, *prompt.names),
        when_done=_kept(c, node, prompt),
        timeout_seconds=seconds(node, "timeout"),
    )


def task_text(c: GraphCompilation, node: Node) -> str:
    """What the node asks for, before variables are put in."""
    return text(node, *(_DOCS_TASK if c.is_docs else _SPEC_TASK)) or node.id


def _static(c: GraphCompilation, node: Node) -> Object:
    """What is known when the graph is compiled; the stylesheet has been applied by then."""
    found: Object = {"node": node.id, "goal": goal_of(c, node)}
    for name, keys in _PASSED.items():
        attribute = given(node, *keys)
        if attribute is not None:
            found[name] = attribute.raw
    if node.classes:
        found["classes"] = list(node.classes)
    if flag(node, "auto_status") is not None:
        found["auto_status"] = flag(node, "auto_status")
    hooks = {key: text(c.graph, f"tool_hooks.{key}") for key in ("pre", "post")}
    if any(hooks.values()):
        found["tool_hooks"] = {key: said for key, said in hooks.items() if said}
    return found


def _kept(c: GraphCompilation, node: Node, prompt: Template) -> tuple[Patch, ...]:
    stage = writes("last_stage", constant(node.id), span=node.span)
    response = writes("last_response", _LAST_RESPONSE, span=node.span)
    if not c.uses_full_fidelity:
        return stage, response

    def turn(scope: Scope) -> Value:
        thread = thread_of(c, node, scope)
        asked = text_of(prompt.value(scope))
        return with_turn(scope, thread, node=node.id, prompt=asked, response=_response(scope))

    # First, so that a prompt that quotes the last response is kept as it was sent.
    threads = computed("(threads)", turn, "outcome", *_NAMES)
    return writes("_threads", threads, span=node.span), stage, response


def _response(scope: Scope) -> str:
    """The text of an agent's answer."""
    result = object_of(scope, "outcome").get("result")
    if isinstance(result, Mapping):
        result = next((result[key] for key in ("text", "response", "output") if key in result), "")
    return text_of(result)


_LAST_RESPONSE = computed(
    "(last response)", lambda scope: _response(scope)[:RESPONSE_CHARS_MAX], "outcome"
)
