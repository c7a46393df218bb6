"""The variables of texts and commands: `$name`, `${key}`, `${ctx.key}`, `$context.key`, `$goal`.

A text is expanded in one pass: values are put in and never read again. A name is as long as it
can be, `$$` is a dollar, and what nothing knows is left as it is with a warning.

A command is never put together from values. Its variables are the shell's own, and the values are
given to it in the environment: what a model wrote cannot become a command. Forms a shell does not
know are rewritten to a variable that it does know; a missing one ends the command with a message,
because an empty one can do harm (`rm -rf ${ctx.dir}/*`). Nothing is expanded between single quotes,
and `$$` is the shell's. What this cannot fix is a command that itself makes code out of text:
`eval`, `sh -c "… $name"`, and arithmetic in bash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from anew.expressions import DEFAULT_LIMITS, UNDEFINED, ExpressionError, Scope, Template
from anew.expressions.evaluation import Evaluation
from anew.languages.dot.conditions.evaluation import text_of
from anew.languages.dot.conditions.subjects import Names, reader
from anew.languages.dot.environment import is_risky
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.shell_text import shell_variables
from anew.values import Value

# Linux refuses a variable of 128 KiB, its name included, and all of them from about 2 MiB on.
_VARIABLE_BYTES_MAX = 120 * 1024
_ENVIRONMENT_BYTES_MAX = 1024 * 1024
_GENERATED = "CTX_"

_VARIABLE = re.compile(
    r"\$\$|\$\{([^\W\d][\w.-]*)\}|\$((?:context|ctx)(?:\.\w+)+)|\$([^\W\d]\w*)", re.ASCII
)
_PREFIX = re.compile(r"(?:context|ctx)\.")
_WORD = re.compile(r"\w+", re.ASCII)

# What a command assigns: `name=`, `name+=`, `for name`, and each word of a line behind `read`.
_ASSIGNED = re.compile(r"\b(\w++)(?=\+?=)|\bfor(?=\s++(\w++))")
_LINE = re.compile(r"[^;\n]+")
_READ = re.compile(r"\bread\b")
_NAME = re.compile(r"\w+")

_Read: TypeAlias = Callable[[Scope], Value]


class Variable(Struct, frozen=True):
    """`key` is what is read, without `ctx.` or `context.`; `at` counts characters from 0."""

    key: str
    at: int
    written: str
    is_prefixed: bool = False

    @property
    def is_plain(self) -> bool:
        """`$name` and `${name}`, which a shell knows too."""
        return not self.is_prefixed and "." not in self.key and "-" not in self.key

    @property
    def is_cut(self) -> bool:
        """The beginning of a form that only shells have: `${name` of `${name:-none}`."""
        return self.written.startswith("${") and not self.written.endswith("}")


def variables_in(text: str) -> list[Variable]:
    """The variables of a text, in order."""
    return [_variable(found) for found in _VARIABLE.finditer(text) if found.group() != "$$"]


def variables_in_command(text: str) -> list[Variable]:
    """The variables of a command, in order; a plain one may be the shell's own."""
    return [_variable(found) for found in shell_variables(text)]


def _variable(found: re.Match[str]) -> Variable:
    written = found.group()
    name = written.strip("${#}")
    key = _PREFIX.sub("", name, count=1) if _PREFIX.match(name) else name
    return Variable(key, found.start(), written, is_prefixed=key != name)


def _reader(variable: Variable, names: Names) -> _Read:
    """How the value of a variable is read."""
    read = reader(variable.key, names, is_prefixed=variable.is_prefixed)
    if variable.key != "goal" or variable.is_prefixed:
        return read
    if names.dialect is DotDialect.DOCS:
        return (lambda _: names.goal) if names.goal else read
    in_graph = reader("graph.goal", names)

    def goal(scope: Scope) -> Value:
        for value in (in_graph(scope), names.goal or UNDEFINED):
            if value is not UNDEFINED:
                return value
        return read(scope)

    return goal


# Texts


def compile_text(text: str, names: Names) -> Template:
    """A text whose variables are expanded when it is used."""
    pieces = list(_pieces(text, names))
    if all(isinstance(piece, str) for piece in pieces):
        return Template(text, None, constant="".join(map(str, pieces)))

    def run(scope: Scope) -> Value:
        paying, parts, size = Evaluation(scope), [], 0
        paying.spend(len(pieces))
        for piece in pieces:
            part = piece if isinstance(piece, str) else _expanded(piece, scope)
            size += len(part)
            if size > DEFAULT_LIMITS.text_chars_max:
                message = f"the text is longer than {DEFAULT_LIMITS.text_chars_max:,} characters"
                raise ExpressionError(message, source=text, offset=0)
            paying.spend_bulk(len(part))
            parts.append(part)
        return "".join(parts)

    return Template(text, run)


def _pieces(text: str, names: Names) -> Iterator[str | tuple[Variable, _Read]]:
    position = 0
    for found in _VARIABLE.finditer(text):
        yield text[position : found.start()]
        position = found.end()
        if found.group() == "$$":
            yield "$"
        else:
            variable = _variable(found)
            yield variable, _reader(variable, names)
    yield text[position:]


def _expanded(piece: tuple[Variable, _Read], scope: Scope) -> str:
    variable, read = piece
    value = read(scope)
    if value is not UNDEFINED:
        return text_of(value)
    _warn(scope, f"nothing gives a value for {variable.written}, so it was left as it is")
    return variable.written


def _warn(scope: Scope, message: str) -> None:
    warn = getattr(scope, "warn", None)
    if warn is not None:
        warn(message)


# Commands


class _Slot(Struct, frozen=True):
    """One variable of a command: what the shell reads, and whether only a given value changes it.

    `instead` replaces what was written; with `is_optional` only when there is a value.
    """

    variable: Variable
    read: _Read
    name: str
    instead: str
    is_optional: bool


def compile_command(text: str, names: Names) -> tuple[Template, Template]:
    """The command as the shell is given it, and the environment variables it needs."""
    slots = _slots(text, names)

    def command(scope: Scope) -> Value:
        return _rewritten(text, [slot for slot in slots if _is_used(slot, scope)])

    def environment(scope: Scope) -> Value:
        return _environment(text, slots, scope)

    if any(slot.is_optional and slot.instead != slot.variable.written for slot in slots):
        return Template(text, command), Template(text, environment)
    constant = _rewritten(text, slots)
    known = Template(text, None, constant=constant)
    return known, Template(text, environment) if slots else Template({}, None, constant={})


def _is_used(slot: _Slot, scope: Scope) -> bool:
    return not slot.is_optional or slot.read(scope) is not UNDEFINED


def _slots(text: str, names: Names) -> list[_Slot]:
    taken, assigned = set(_WORD.findall(text)), assigned_in(text)
    generated: dict[tuple[str, bool], str] = {}
    slots = []
    for variable in variables_in_command(text):
        is_own = variable.is_plain and is_risky(variable.key)
        if is_own and (variable.is_cut or variable.key in assigned):
            continue
        name = variable.key
        if is_own or not variable.is_plain:
            same = (variable.key, variable.is_prefixed)
            name = generated.get(same) or _generated_name(variable.key, taken)
            generated[same] = name
        slots.append(_slot(variable, name, names))
    return slots


def _slot(variable: Variable, name: str, names: Names) -> _Slot:
    read = _reader(variable, names)
    if not variable.is_plain:
        # The message is made of letters that mean nothing to a shell.
        instead = f"${{{name}?{variable.key} has no value}}"
        return _Slot(variable, read, name, instead, is_optional=False)
    instead = variable.written if name == variable.key else f"${{{name}}}"
    return _Slot(variable, read, name, instead, is_optional=True)


def assigned_in(text: str) -> set[str]:
    """The variables the command itself may give a value, so that it means its own."""
    found = {name for names in _ASSIGNED.findall(text) for name in names if name}
    for line in _LINE.findall(text):
        reads = _READ.search(line)
        if reads is not None:
            found.update(_NAME.findall(line, reads.end()))
    return found


def _generated_name(key: str, taken: set[str]) -> str:
    """A name for the environment that no word of the command is."""
    stem = _GENERATED + re.sub(r"[^A-Za-z0-9]", "_", key)
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name


def _rewritten(text: str, slots: list[_Slot]) -> str:
    parts, position = [], 0
    for slot in slots:
        parts += [text[position : slot.variable.at], slot.instead]
        position = slot.variable.at + len(slot.variable.written)
    return "".join([*parts, text[position:]])


def _environment(text: str, slots: list[_Slot], scope: Scope) -> Mapping[str, str]:
    given: dict[str, str] = {}
    for slot in slots:
        value = slot.read(scope)
        if value is not UNDEFINED:
            given[slot.name] = _checked(text_of(value), slot.variable, source=text)
        elif not slot.is_optional:
            _warn(scope, f"nothing gives a value for {slot.variable.written}")
    size = sum(len(name) + len(value.encode()) for name, value in given.items())
    if size > _ENVIRONMENT_BYTES_MAX:
        message = f"the variables are longer than {_ENVIRONMENT_BYTES_MAX:,} bytes together"
        raise ExpressionError(f"{message}; write them to a file first", source=text, offset=0)
    return given


def _checked(value: str, variable: Variable, *, source: str) -> str:
    """The value, unless no process could be given it."""
    problem = None
    if "\0" in value:
        problem = "holds a NUL character, which no environment variable can"
    elif len(value.encode()) > _VARIABLE_BYTES_MAX:
        problem = f"is longer than {_VARIABLE_BYTES_MAX:,} bytes; write it to a file first"
    if problem is not None:
        raise ExpressionError(
            f"the value of {variable.written} {problem}", source=source, offset=variable.at
        )
    return value
