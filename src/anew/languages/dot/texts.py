"""The texts of nodes with their variables, in the names the graph gives them."""

from __future__ import annotations

from anew.expressions import Scope, Template, constant
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions import Names
from anew.languages.dot.graph import Node
from anew.languages.dot.scoped import computed
from anew.languages.dot.settings import text
from anew.languages.dot.variables import compile_command, compile_text
from anew.values import Object, Value


def goal_of(c: GraphCompilation, node: Node) -> str:
    """What `$goal` stands for: the node's own goal in docs, the graph's in spec."""
    return text(node if c.is_docs else c.graph, "goal")


def names_of(c: GraphCompilation, node: Node) -> Names:
    return Names(c.dialect, c.graph.name, c.gates, goal_of(c, node))


def expanded(c: GraphCompilation, node: Node, written: str) -> Template:
    """A text of the node, with its variables put in when it is used."""
    key = (written, goal_of(c, node))
    if key not in c.texts:
        c.texts[key] = compile_text(written, names_of(c, node))
    return c.texts[key]


def command_inputs(c: GraphCompilation, node: Node, written: str) -> Template:
    """The inputs of a command: its text, and the values of its variables as environment."""
    key = (written, goal_of(c, node))
    if key not in c.commands:
        c.commands[key] = compile_command(written, names_of(c, node))
    command, env = c.commands[key]
    folder = text(node, "cwd", "workdir")
    static: Object = {"cwd": folder} if folder else {}
    if command.is_constant and env.is_constant:
        return constant({"command": command.source, **static})

    def inputs(scope: Scope) -> Value:
        return {"command": command.value(scope), "env": env.value(scope), **static}

    return computed({"command": written, **static}, inputs, "ctx")
