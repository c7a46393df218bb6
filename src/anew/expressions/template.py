"""Templates and conditions: what the rest of Anew compiles once and evaluates often."""

from __future__ import annotations

from collections.abc import Callable

from anew.expressions.evaluation import evaluation_of
from anew.expressions.limits import DEFAULT_LIMITS, TemplateLimits
from anew.expressions.metering import TakesLong
from anew.expressions.problems import ExpressionError, OperationError, reason
from anew.expressions.reads import Path, Reads
from anew.expressions.rendering import is_bare_word, is_true, is_true_word
from anew.expressions.scope import Scope
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value

# Texts rendered side by side in one list or object; so few need no counting.
PARTS_CHARS_MAX = 32 * 1024 * 1024
PARTS_FREE = 16
# The truth of a text no longer than this is found in no time.
TRUTH_CHARS_FREE = 4_096
# A text within all limits has a truth: no more than this is counted.
_SCANNED_CHARS_MAX = 1024 * 1024

_MARKS = ("{{", "{%", "{#")


class Template:
    """A value computed from a scope. Safe to share between threads and runs."""

    __slots__ = (
        "_constant", "_run", "calls", "compares", "is_constant", "names", "paths", "source",
    )  # fmt: skip

    def __init__(
        self,
        source: Value,
        run: Callable[[Scope], Value] | None,
        *,
        constant: Value = None,
        reads: Reads | None = None,
    ) -> None:
        found = reads or Reads()
        # What was written, as it was written.
        self.source = source
        self.names = frozenset(found.names)
        self.paths: frozenset[Path] = frozenset(found.paths)
        self.calls = frozenset(found.calls)
        self.compares: frozenset[tuple[Path, str]] = frozenset(found.compares)
        self.is_constant = run is None
        self._constant = constant
        self._run = run

    def evaluate(self, scope: Scope) -> Value:
        """The value, or UNDEFINED. Raises ExpressionError and nothing else."""
        value = self.compute(scope)
        return UNDEFINED if value is UNDEFINED else plain(value)

    def value(self, scope: Scope) -> Value:
        """As `evaluate`, with None for UNDEFINED."""
        return plain(self.compute(scope))

    def compute(self, scope: Scope) -> Value:
        """As `evaluate`, but Words are left as they are."""
        run = self._run
        if run is None:
            return self._constant
        try:
            return run(scope)
        except (ExpressionError, TakesLong):
            raise
        except Exception as error:
            text = self.source if isinstance(self.source, str) else repr(self.source)
            raise ExpressionError(reason(error), source=text, offset=0) from error

    def __repr__(self) -> str:
        return f"Template({self.source!r})"


def constant(value: Value) -> Template:
    """A template that yields `value` as it is, braces and all."""
    return Template(value, None, constant=value)


class Condition:
    """A template asked for its truth."""

    __slots__ = ("_only_true_words", "compares", "is_constant", "names", "paths", "template")

    def __init__(self, template: Template, *, only_true_words: bool = False) -> None:
        self.template = template
        self.names = template.names
        self.paths = template.paths
        self.compares = template.compares
        self.is_constant = template.is_constant
        self._only_true_words = only_true_words

    @property
    def source(self) -> Value:
        return self.template.source

    @property
    def calls(self) -> frozenset[str]:
        return self.template.calls

    def holds(self, scope: Scope) -> bool:
        """Whether it is true in `scope`. Raises ExpressionError and nothing else."""
        value = self.template.compute(scope)
        if value is True or value is False:
            return bool(value)
        if isinstance(value, str) and len(value) > TRUTH_CHARS_FREE:
            self._pay(scope, value)
        if self._only_true_words:
            return self._is_true_word(value)
        return is_true(value)

    def _pay(self, scope: Scope, text: str) -> None:
        """White space around a long text is scanned for the word in it."""
        try:
            evaluation_of(scope, DEFAULT_LIMITS).spend_bulk(min(len(text), _SCANNED_CHARS_MAX))
        except OperationError as error:
            raise ExpressionError(reason(error), source=str(self.source), offset=0) from error

    def _is_true_word(self, value: Value) -> bool:
        try:
            return is_true_word(value, DEFAULT_LIMITS)
        except (OperationError, RecursionError) as error:
            raise ExpressionError(reason(error), source=str(self.source), offset=0) from error

    def __repr__(self) -> str:
        return f"Condition({self.source!r})"


def holds_template(text: str) -> bool:
    """Whether a text has something to render; without it, it is itself."""
    return any(mark in text for mark in _MARKS)


def compile_expression(text: str, *, limits: TemplateLimits = DEFAULT_LIMITS) -> Template:
    """A bare expression, without braces."""
    from anew.expressions.marked import expression_template  # noqa: PLC0415

    return expression_template(text, limits)


def compile_template(text: str, *, limits: TemplateLimits = DEFAULT_LIMITS) -> Template:
    """A text that may hold `{{ }}`, `{% %}` and `{# #}`.

    Exactly one `{{ expression }}` keeps its type; anything else renders to text. A newline at the
    end is kept, unlike Jinja's default: what is written is what is sent.
    """
    if not holds_template(text):
        return Template(text, None, constant=text)
    from anew.expressions.marked import text_template  # noqa: PLC0415

    return text_template(text, limits)


def compile_value(value: Value, *, limits: TemplateLimits = DEFAULT_LIMITS) -> Template:
    """Any JSON value whose texts may be templates. Keys are never rendered."""
    if isinstance(value, str):
        return compile_template(value, limits=limits)
    parts = _parts(value, limits)
    if all(part.is_constant for part in parts):
        return Template(value, None, constant=_container_of(value, parts))
    reads = Reads()
    for part in parts:
        reads.names |= part.names
        reads.paths |= part.paths
        reads.calls |= part.calls
        reads.compares |= part.compares
    return Template(value, _container_run(value, parts), reads=reads)


def _parts(value: Value, limits: TemplateLimits) -> list[Template]:
    if isinstance(value, dict):
        return [compile_value(item, limits=limits) for item in value.values()]
    if isinstance(value, list):
        return [compile_value(item, limits=limits) for item in value]
    return []


def _container_of(value: Value, parts: list[Template]) -> Value:
    """A value all of whose texts are known: `{{ 5 }}` in it is 5."""
    known = [plain(part._constant) for part in parts]
    if all(made is part.source for made, part in zip(known, parts, strict=True)):
        return value
    if isinstance(value, dict):
        return dict(zip(value, known, strict=True))
    return known if isinstance(value, list) else value


def _container_run(value: Value, parts: list[Template]) -> Callable[[Scope], Value]:
    # Each text is a rendering of its own: it is given the scope and counts for itself.
    if isinstance(value, list):
        return lambda scope: _rendered(parts, scope)
    keys = list(value)
    return lambda scope: dict(zip(keys, _rendered(parts, scope), strict=True))


def _rendered(parts: list[Template], scope: Scope) -> list[Value]:
    """The value of each part, as long as their texts together are not too much."""
    if len(parts) < PARTS_FREE:
        return [part.value(scope) for part in parts]
    values, chars = [], 0
    for part in parts:
        value = part.value(scope)
        chars += len(value) if type(value) is str else 0
        if chars > PARTS_CHARS_MAX:
            message = f"the texts of one value are longer than {PARTS_CHARS_MAX:,} characters"
            raise ExpressionError(message, source=str(part.source), offset=0)
        values.append(value)
    return values


def compile_condition(
    source: str | bool | int | float | None,
    *,
    only_true_words: bool = False,
    limits: TemplateLimits = DEFAULT_LIMITS,
) -> Condition:
    """A condition: an expression, or with braces a template; anything but text is constant.

    `only_true_words`: it holds for `true`, `1` and `yes` only, also where one stands alone.
    """
    is_word = only_true_words and isinstance(source, str) and is_bare_word(source)
    if not isinstance(source, str) or not source.strip() or is_word:
        template = Template(source, None, constant=source)
    elif "{{" in source or "{%" in source:
        from anew.expressions.marked import condition_template  # noqa: PLC0415

        template = condition_template(source, limits)
    else:
        template = compile_expression(source, limits=limits)
    return Condition(template, only_true_words=only_true_words)
