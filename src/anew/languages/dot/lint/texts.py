"""Check the variables of texts: that something in the graph, or the run itself, gives them a value.

Any agent may write any key, so that this can only be a warning. Of commands only the forms are
looked at that a shell does not know: any other name may be the shell's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from anew.languages.dot.agents import task_text
from anew.languages.dot.attributes import excerpt
from anew.languages.dot.commands import command_of
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.prompt_files import FILE_KEY
from anew.languages.dot.settings import text
from anew.languages.dot.variables import Variable, variables_in, variables_in_command

_TEXT_KEYS = ("goal", "prompt", "llm_prompt", "label")
_WRITTEN = frozenset(
    "goal outcome preferred_label status last_stage last_response current_node retry_count "
    "error_type error_message retryable failure_reason tool_stdout score".split()
)
_WRITTEN_BELOW = ("_", "graph.", "tool.", "human.gate.", "parallel.", "internal.", "stack.child.")
# The keys with dots that nodes of the built-in types write.
_DOTTED_KEYS = frozenset(
    "tool.output tool.exit_code tool.last_line human.gate.selected human.gate.label "
    "parallel.results parallel.fan_in.best_id parallel.fan_in.best_outcome "
    "stack.child.status".split()
)
_DOTTED = re.compile(r"(?:\.\w+){1,3}", re.ASCII)
_SHOWN_MAX = 120
_READERS = ("codergen", "wait.human", "parallel.fan_in")


def check_texts(c: GraphCompilation) -> None:
    known = {*_WRITTEN, *(f"graph.{key}" for key in c.graph.attributes)}
    known.update(key for kind in c.types.values() for key in kind.writes)
    for node in c.graph.nodes.values():
        used = _used_text(c, node)
        if used is not None and c.is_first("unused-variables", used):
            missing = _missing(variables_in(used.raw), known)
            remedy = "Give it with --set {}=…, or write $$ for a dollar sign."
            _report(c, node, used, missing, known=known, remedy=remedy)
        command = command_of(c, node) if c.types[node.id].name == "tool" else None
        if command is not None and c.is_first("unused-variables in a command", command):
            missing = _missing(variables_in_command(command.raw), known)
            remedy = "Give it with --set {}=…; without it the command fails."
            own = [variable for variable in missing if not variable.is_plain]
            _report(c, node, command, own, known=known, remedy=remedy)


def _used_text(c: GraphCompilation, node: Node) -> Attribute | None:
    """The attribute whose text the node says to an agent or a person."""
    kind = c.types[node.id].name
    if kind not in _READERS:
        return None
    said = task_text(c, node) if kind != "wait.human" else text(node, "label", "goal", "prompt")
    texts = (node.attributes.get(key) for key in _TEXT_KEYS)
    return next((found for found in texts if found is not None and found.raw == said), None)


def _missing(variables: Iterable[Variable], known: Collection[str]) -> list[Variable]:
    return [
        variable
        for variable in variables
        if variable.key not in known and not variable.key.startswith(_WRITTEN_BELOW)
    ]


def _report(
    c: GraphCompilation,
    node: Node,
    attribute: Attribute,
    missing: Sequence[Variable],
    *,
    known: Collection[str],
    remedy: str,
) -> None:
    if not missing:
        return
    # The text of a file has no places in the document.
    is_here = attribute.key != FILE_KEY
    place = c.places(attribute) if is_here else lambda _: attribute.span
    for variable in missing:
        near = c.suggestions.near(variable.key, known)
        written = excerpt(variable.written, most=_SHOWN_MAX)
        message = f"nothing in the graph gives {written} of node {node.id!r} a value"
        said = remedy.format(excerpt(variable.key, most=_SHOWN_MAX))
        said = f"Did you mean ${near}?" if near else said
        said = _with_braces(attribute.raw, variable, known) or said
        c.report("unused-variables", place(variable.at), message, said)


def _with_braces(text: str, variable: Variable, known: Collection[str]) -> str | None:
    """What to write for a key with dots: without braces, a name ends at the first of them."""
    rest = _DOTTED.match(text, variable.at + len(variable.written))
    if rest is None or variable.written.startswith("${"):
        return None
    key = variable.key + rest.group()
    while "." in key and key not in known and key not in _DOTTED_KEYS:
        key = key.rpartition(".")[0]
    return f"Did you mean ${{{key}}}?" if "." in key else None
