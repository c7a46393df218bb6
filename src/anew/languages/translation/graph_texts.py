"""Say the texts and commands of a graph as templates: `$name` becomes an expression."""

from __future__ import annotations

from anew.expressions import MappingScope, holds_template
from anew.languages.dot.compilation import Compilation
from anew.languages.dot.conditions.jinja_reads import CannotSay, expression_of, text
from anew.languages.dot.conditions.subjects import Names
from anew.languages.dot.conditions.tree import Key
from anew.languages.dot.graph import Node
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


def template_of(c: Compilation, node: Node, written: str, told: Differences) -> str:
    """A text of the node with its variables as expressions, and nothing else in it rendered."""
    names = names_of(c, node)
    variables = variables_in(written)
    if not variables:
        return literal(str(compile_text(written, names).value(MappingScope({}))))
    pieces, position = [], 0
    for variable in variables:
        pieces.append(_between(written[position : variable.at]))
        pieces.append(_variable(variable, names, node, told))
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


def _variable(variable: Variable, names: Names, node: Node, told: Differences) -> str:
    if variable.key == "goal" and not variable.is_prefixed and names.goal:
        return _between(names.goal)
    read = _read(variable, names, node, told)
    if read is None:
        return literal(variable.written)
    return f"{{{{ ({read}) if ({read}) is defined else {text(variable.written)} }}}}"


def _read(variable: Variable, names: Names, node: Node, told: Differences) -> str | None:
    """The expression that reads a variable; None when (reported) inputs have none."""
    try:
        read = expression_of(Key(variable.key, variable.is_prefixed), names)
    except CannotSay as problem:
        reason = str(problem)
    else:
        # In a graph the text of a node sees the outcome before it; inputs see `_origin`.
        said = read.replace("event.outcome.", "_origin.outcome.")
        if "event." not in said:
            return said
        reason = "it is a word of the outcome that the inputs of a task do not see"
    message = f"{variable.written} of node {node.id!r} was left as it is: {reason}"
    told.report(node.span, message, "Write the value with `set_ctx` in the step before.")
    return None


def command_inputs(c: Compilation, node: Node, written: str, told: Differences) -> Object:
    """A command and its environment; values never become part of the command."""
    names = names_of(c, node)
    variables = {variable.key: variable for variable in variables_in_command(written)}
    marks = {key: f"<{key}>" for key in variables}
    scope = MappingScope({"ctx": marks})
    command, env = compile_command(written, names)
    asked = env.value(scope)
    inputs: Object = {"command": literal(str(command.value(scope)))}
    given = {
        name: _environment_value(value, variables, names, node, told)
        for name, value in (asked if isinstance(asked, dict) else {}).items()
    }
    return {**inputs, "env": given} if given else inputs


def _environment_value(
    value: Value, variables: dict[str, Variable], names: Names, node: Node, told: Differences
) -> Value:
    variable = variables.get(str(value)[1:-1])
    if variable is None:
        return literal(str(value))
    read = _read(variable, names, node, told)
    return None if read is None else f"{{{{ {read} }}}}"
