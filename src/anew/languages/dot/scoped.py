"""Values that are computed from a scope by Python code, in the forms a Program takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anew.expressions import Scope, Template, constant
from anew.expressions.reads import Reads
from anew.program.policy import Patch, PatchTarget
from anew.program.span import Span
from anew.values import Object, Value


def unable(message: str) -> Template:
    """The inputs of a relay in place of a call that its author did not say enough about."""
    error = {"kind": "config", "type": "TERMINAL", "retryable": False, "message": message}
    return constant({"outcome": {"verdict": "failure", "error": error}})


def computed(source: Value, run: Callable[[Scope], Value], *names: str) -> Template:
    """A template whose value is what `run` gives; `names` are those it reads."""
    return Template(source, run, reads=Reads(names=set(names)))


def writes(key: str, value: Template, *, span: Span) -> Patch:
    """Writes one key of the context. Context keys are flat: a dot in one is part of it."""
    return Patch(PatchTarget.CTX, (key,), value, span)


def writes_all(values: Mapping[str, Template], *, span: Span) -> tuple[Patch, ...]:
    """Written with every outcome: what an earlier visit left must not be taken for news."""
    return tuple(writes(key, value, span=span) for key, value in values.items())


def object_of(scope: Scope, name: str) -> Mapping[str, Value]:
    """What a name holds, where it holds an object; else an empty one."""
    value = scope.get(name)
    return value if isinstance(value, Mapping) else {}


def within(value: Mapping[str, Value], key: str) -> Object:
    """The object below a key; else an empty one."""
    found = value.get(key)
    return dict(found) if isinstance(found, Mapping) else {}


def text_of(value: Value) -> str:
    return value if isinstance(value, str) else ""
