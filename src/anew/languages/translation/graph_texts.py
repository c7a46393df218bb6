"""Say the texts and commands of a graph as templates: `$name` becomes an expression."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.expressions import MappingScope, holds_template
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions.jinja_reads import NotExpressible, expression_of, is_there, text
from anew.languages.dot.conditions.subjects import Names
from anew.languages.dot.conditions.tree import ContextKey
from anew.languages.dot.environment import is_risky
from anew.languages.dot.graph import DotDialect, Node
from anew.languages.dot.texts import names_of
from anew.languages.dot.variables import (
    Variable,
    compile_command,
    compile_text,
    variables_in,
    variables_in_command,
)
from anew.languages.translation.findings import Differences
from anew.values import Object, Value

# Arcs speak of the visit that ended; the inputs of a task, of the one before it.
_AS_INPUTS_SEE_IT = (
    ("event.outcome.", "_origin.outcome."),
    (" else _step)", " else _origin.step)"),
)


def template_of(c: GraphCompilation, node: Node, written: str, notes: Differences) -> str:
    """A text of the node with its variables as expressions, and nothing else in it rendered."""
    names = names_of(c, node)
    variables = variables_in(written)
    if not variables:
        return literal(str(compile_text(written, names).value(MappingScope({}))))
    pieces, position = [], 0
    for variable in variables:
        pieces.append(_between(written[position : variable.at]))
        pieces.append(_variable(variable, names, node, notes))
        position = variable.at + len(variable.written)
    pieces.append(_between(written[position:]))
    found = "".join(pieces)
    is_alone = len(variables) == 1 and written == variables[0].written
    # Alone, an expression would keep its own type; a text is what is asked for.
    return found.replace(" }}", " | string }}") if is_alone and found.endswith(" }}") else found


def literal(written: str) -> str:
    """A text that a template leaves as it is."""
    return _escaped(written) if holds_template(written) else written


def literal_value(value: Value) -> Value:
    """A value whose texts a template leaves as they are; keys are never rendered."""
    match value:
        case str():
            return literal(value)
        case list():
            return [literal_value(item) for item in value]
        case dict():
            return {key: literal_value(item) for key, item in value.items()}
        case _:
            return value


def _between(written: str) -> str:
    """A literal with something after it: a brace at its end must not meet the next one."""
    text = written.replace("$$", "$")
    return _escaped(text) if text.endswith("{") else literal(text)


def _escaped(written: str) -> str:
    return written.replace("{", "{{ '\\x7b' }}")


def _variable(variable: Variable, names: Names, node: Node, notes: Differences) -> str:
    if variable.key == "goal" and not variable.is_prefixed and names.goal:
        return _between(names.goal)
    read = _read(variable, names, node, notes)
    if read is None:
        return literal(variable.written)
    return f"{{{{ ({read}) if {is_there(f'({read})')} else {text(variable.written)} }}}}"


def _read(variable: Variable, names: Names, node: Node, notes: Differences) -> str | None:
    """The expression that reads a variable; None when (reported) inputs have none."""
    try:
        said = _expression(variable, names)
    except NotExpressible as problem:
        reason = str(problem)
    else:
        for in_arcs, in_inputs in _AS_INPUTS_SEE_IT:
            said = said.replace(in_arcs, in_inputs)
        if "event." not in said:
            return said
        reason = "it is a word of the outcome that the inputs of a task do not see"
    message = f"{variable.written} of node {node.id!r} was left as it is: {reason}"
    notes.report(node.span, message, "Write the value with `set_ctx` in the step before.")
    return None


def _expression(variable: Variable, names: Names) -> str:
    """What an arc would write for it."""
    own = expression_of(ContextKey(variable.key, variable.is_prefixed), names)
    if variable.key != "goal" or variable.is_prefixed:
        return own
    stated = text(names.goal) if names.goal else own
    if names.dialect is DotDialect.DOCS:
        return stated
    in_graph = expression_of(ContextKey("graph.goal", is_prefixed=False), names)
    return f"({in_graph} if {is_there(in_graph)} else {stated})"


def command_inputs(c: GraphCompilation, node: Node, written: str, notes: Differences) -> Object:
    """A command and its environment; values never become part of the command.

    What the graph reads when a task begins is an expression here, which is read at that time too.
    """
    names = names_of(c, node)
    given: Object = {}
    pieces, position = [], 0
    for slot in _slots(written, names):
        if slot.name not in given:
            given[slot.name] = _environment_value(slot.variable, names, node, notes)
        pieces += [written[position : slot.variable.at], slot.instead]
        position = slot.variable.at + len(slot.variable.written)
    command = literal("".join([*pieces, written[position:]]))
    return {"command": command, "env": given} if given else {"command": command}


class _Slot(Struct, frozen=True):
    """A variable of a command: the name the shell knows it by, and what stands there instead."""

    variable: Variable
    name: str
    instead: str


def _slots(written: str, names: Names) -> Iterator[_Slot]:
    """The variables that get a value from the environment."""
    variables = variables_in_command(written)
    # With a value for every key, each variable has the name the graph would give it.
    everything = MappingScope({"ctx": {variable.key: variable.key for variable in variables}})
    command = str(compile_command(written, names)[0].value(everything))
    for variable, renamed in zip(variables, variables_in_command(command), strict=True):
        if not variable.is_plain:
            instead = f"${{{renamed.key}?{variable.key} has no value}}"
            yield _Slot(variable, renamed.key, instead)
        elif renamed.key != variable.key:
            # A name that shells have themselves: theirs, unless the context has one.
            yield _Slot(variable, renamed.key, f"${{{renamed.key}-{variable.written}}}")
        elif not is_risky(variable.key):
            yield _Slot(variable, variable.key, variable.written)


def _environment_value(variable: Variable, names: Names, node: Node, notes: Differences) -> Value:
    read = _read(variable, names, node, notes)
    return None if read is None else f"{{{{ {read} }}}}"
