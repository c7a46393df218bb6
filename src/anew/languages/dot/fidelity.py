"""How much of the run so far an agent is told: the mode, the thread, and the text before its task.

Reads the run's own record of ended steps and its context. Calls no model and keeps no state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from anew.expressions import Scope
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.scoped import object_of, text_of
from anew.languages.dot.settings import text
from anew.program.kinds import FIDELITIES
from anew.values import Object, Value, as_text

GRAPH_KEYS = ("default_fidelity", "context_fidelity_default")
FIDELITY_DEFAULT = "compact"
# Threads are part of the context, and written anew with every turn.
THREADS_MAX = 20
THREAD_CHARS_MAX = 50_000
TURN_CHARS_MAX = 20_000

_THREAD_KEYS = ("thread_id", "default_thread_id", "default_thread", "context_thread_default")
# About 600, 1,500 and 3,000 tokens of four characters each; compact is a short list.
_PREAMBLE_CHARS = {
    "compact": 4_000,
    "summary:low": 2_400,
    "summary:medium": 6_000,
    "summary:high": 12_000,
}
_VALUE_CHARS = {"compact": 200, "summary:low": 200, "summary:medium": 800, "summary:high": 3_000}


def fidelity_of(c: GraphCompilation, node: Node) -> str | None:
    """What node and graph say; None when neither does. An edge may say otherwise at run time."""
    said = (text(node, "fidelity"), text(c.graph, *GRAPH_KEYS))
    return next((word.strip() for word in said if word.strip() in FIDELITIES), None)


def chosen_fidelity(scope: Scope, static: str | None) -> str:
    """The edge's mode, else the node's, else the graph's."""
    said = text_of(object_of(scope, "args").get("fidelity"))
    return said if said in FIDELITIES else static or FIDELITY_DEFAULT


def thread_of(c: GraphCompilation, node: Node, scope: Scope) -> str:
    """The node's thread, the edge's, the graph's, that of its subgraph, else the node before."""
    edge = text_of(object_of(scope, "args").get("thread_id"))
    graph = text(c.graph, *_THREAD_KEYS)
    group = node.groups[0] if node.groups else ""
    before = text_of(object_of(scope, "_origin").get("step"))
    return text(node, "thread_id") or edge or graph or group or before or node.id


def preamble(scope: Scope, fidelity: str, *, goal: str) -> str:
    """What the agent reads before its task; nothing when it has the whole conversation."""
    run = str(scope.get("run_id") or "")
    if fidelity == "full":
        return ""
    if fidelity == "truncate":
        return "\n".join(filter(None, (f"Goal: {goal}" if goal else "", f"Run: {run}")))
    lines = chain(
        [f"Goal: {goal}"] if goal else [],
        _stages(object_of(scope, "_verdicts")),
        _values(object_of(scope, "ctx"), _VALUE_CHARS[fidelity]),
    )
    return _cut("\n".join(_first(lines, _PREAMBLE_CHARS[fidelity])), _PREAMBLE_CHARS[fidelity])


def _first(lines: Iterable[str], chars: int) -> Iterator[str]:
    """As many as have more than so many characters: a run has stages without end."""
    for line in lines:
        yield line
        chars -= len(line)
        if chars < 0:
            return


def _stages(verdicts: Mapping[str, Value]) -> Iterator[str]:
    if verdicts:
        yield "Stages so far:"
        yield from (f"- {step}: {verdict}" for step, verdict in verdicts.items())


def _values(ctx: Mapping[str, Value], chars: int) -> Iterator[str]:
    shown = {key: value for key, value in ctx.items() if not key.startswith(("_", "graph."))}
    if shown:
        yield "Context:"
        yield from (f"- {key}: {_cut(as_text(value), chars)}" for key, value in shown.items())


def _cut(words: str, chars: int) -> str:
    return words if len(words) <= chars else words[: chars - 1] + "…"


def history(scope: Scope, thread: str) -> list[Object]:
    """What was said earlier in a thread, oldest first, as `{role, text}`."""
    said = _threads(scope).get(thread)
    return list(said) if isinstance(said, list) else []


def with_turn(scope: Scope, thread: str, *, node: str, prompt: str, response: str) -> Object:
    """All threads, with one question and answer more in this one.

    The conversation is kept under the node's id as well: a node after it that names no thread goes
    on with the node before. What is oldest gives way.
    """
    turn = [
        {"role": "user", "text": _cut(prompt, TURN_CHARS_MAX)},
        {"role": "assistant", "text": _cut(response, TURN_CHARS_MAX)},
    ]
    # An answer that says nothing is no turn: models take none that is blank.
    said = _recent([*history(scope, thread), *(turn if response.strip() else ())])
    others = {name: one for name, one in _threads(scope).items() if name not in (thread, node)}
    threads = {**others, thread: said, node: said}
    return dict(list(threads.items())[-THREADS_MAX:])


def _threads(scope: Scope) -> Mapping[str, Value]:
    known = object_of(scope, "ctx").get("_threads")
    return known if isinstance(known, Mapping) else {}


def _recent(said: list[Object]) -> list[Object]:
    """The last turns, as far as a thread may be long; the very last one always."""
    chars, begin = 0, len(said)
    while begin > 0:
        chars += len(said[begin - 1]["text"]) + len(said[begin - 2]["text"])
        if chars > THREAD_CHARS_MAX and begin < len(said):
            break
        begin -= 2
    return said[begin:]
