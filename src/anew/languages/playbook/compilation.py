"""What is gathered while a document becomes a Program: findings, and who reads which names.

Knows nodes and expressions. Does not know what a step or a rule is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum, auto
from typing import TypeAlias, TypeVar

from msgspec import Struct, field

from anew.expressions import (
    Condition,
    ExpressionError,
    Template,
    TemplateLimits,
    compile_condition,
    compile_template,
    compile_value,
    constant,
    holds_template,
)
from anew.languages.limits import rendering_limits
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_null, plain, scalars
from anew.languages.playbook.composing import object_of, result_of
from anew.languages.playbook.desugar.canonical import LabelNode
from anew.languages.playbook.keys import PATCH_KEYS
from anew.languages.rules import finding
from anew.program.findings import Finding, Suggestions
from anew.program.kind import Kind
from anew.program.span import Span

# Stands for a condition that was reported, so that no later check takes its rule for an `else`.
BROKEN = Condition(constant(False))
# What a message quotes of a value; a whole document may be one text.
_SHOWN_CHARACTERS = 120
# Of all different templates: compiling takes about 10 µs for each name, literal or sign.
DOCUMENT_TOKENS_MAX = 250_000
_CODE = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_NONE: Mapping[str, str] = {}
Word = TypeVar("Word", bound=StrEnum)
Path: TypeAlias = tuple[str, ...]


class Site(StrEnum):
    """Where an expression stands, which decides the names it may read.

    `ARC` is what an arc asks and passes on, `VISIT_SET` what it or its step writes; `ROUTING` is
    what a gate asks. `TASK_SET` is what a task itself writes, `POLICY` what its rules say.
    """

    INPUTS = auto()
    POLICY = auto()
    TASK_SET = auto()
    VISIT_SET = auto()
    RETRY = auto()
    ROUTING = auto()
    ARC = auto()
    LOOP = auto()
    START = auto()


class NameRead(Struct, frozen=True):
    """An expression and where it stands; `step` is empty outside steps.

    `compares` are the texts that a condition compares paths with; templates leave it empty.
    `is_condition`: what it reads decides, so that an undefined name decides silently.
    """

    node: Node
    names: frozenset[str]
    place: Site
    step: str
    paths: frozenset[Path] = frozenset()
    compares: frozenset[tuple[Path, str]] = frozenset()
    is_condition: bool = False


class ShellText(Struct, frozen=True):
    """An input that is given to a shell, or (`is_words`) a list of a program's arguments."""

    node: Node
    step: str
    is_words: bool


class CodeText(Struct, frozen=True):
    """Code of a task that holds braces which may be meant as a template."""

    node: ScalarNode
    step: str


class Compilation(Struct):
    """`step` is the step being compiled; reads are filed under it.

    `guessed_targets` are the steps that misspelt arcs probably mean; `lost_loops` those whose loop
    was reported and left out; `has_lost_routes`: it is not known where some arc leads. Where it
    `is_for_bash`, so are commands that name no shell. `steps` are the names of all steps, known
    before any is compiled. `kinds` are tools that code brings, `scripts` files read at a call.
    """

    file: str
    findings: list[Finding] = field(default_factory=list)
    strict: list[Finding] = field(default_factory=list)
    reads: list[NameRead] = field(default_factory=list)
    shell_texts: list[ShellText] = field(default_factory=list)
    scripts: list[tuple[str, Span]] = field(default_factory=list)
    codes: list[CodeText] = field(default_factory=list)
    ctx_keys: set[str] = field(default_factory=set)
    guessed_targets: set[str] = field(default_factory=set)
    lost_loops: set[str] = field(default_factory=set)
    has_lost_routes: bool = False
    uses_policy: bool = False
    is_for_bash: bool = False
    suggestions: Suggestions = field(default_factory=Suggestions)
    workbook: frozenset[str] | None = None  # None until it has been read
    steps: frozenset[str] = frozenset()
    step: str = ""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    backoff: MapNode | None = None  # of the task being compiled
    _limits: TemplateLimits = field(default_factory=rendering_limits)
    _tokens: int = 0
    _is_too_long: bool = False
    _templates: dict[str, Template] = field(default_factory=dict)
    _conditions: dict[tuple[str, bool], Condition] = field(default_factory=dict)

    # --- findings --------------------------------------------------------------------------------

    def report(self, rule: str, place: Span, message: str, remedy: str) -> None:
        self.findings.append(finding(rule, place, message, remedy))

    def noncanonical(self, rule: str, place: Span, message: str, canonical: str) -> None:
        self.strict.append(finding(rule, place, message, f"Write {canonical}."))

    def check_keys(
        self, node: MapNode, known: Collection[str], what: str, *, idle: Mapping[str, str] = _NONE
    ) -> None:
        """Refuse keys that are not known; tell of the `idle` ones, each with its remedy."""
        for entry in node:
            if entry.key in idle:
                self.without_effect(entry, idle[entry.key])
            elif entry.key not in known:
                self.unknown_key(entry, known, what, beside=node.entries)

    def unknown_key(
        self,
        entry: Entry,
        known: Collection[str],
        what: str,
        *,
        beside: Collection[str] = (),
        is_input: bool = False,
    ) -> None:
        """Refuse a key that is not known; `beside` are those that stand next to it.

        `is_input`: it stands where a key without meaning changes nothing of what is run.
        """
        # Only a document with a mistake pays for the table.
        from anew.languages.playbook.places import judge_key  # noqa: PLC0415

        judged = judge_key(entry.key, known, beside, self.suggestions, is_input=is_input)
        effect = "; it has no effect" if judged.is_idle else ""
        message = f"{what} has no key {entry.key!r}{effect}"
        rule = "input.unknown" if judged.is_idle else "key.unknown"
        self.report(rule, entry.place, message, judged.remedy)

    def without_effect(self, entry: Entry, remedy: str) -> None:
        """Tell of a key of another runtime, which is accepted."""
        for below in entry.node if isinstance(entry.node, MapNode) else ():
            if below.key in PATCH_KEYS:
                self.unknown_key(below, (), f"`{entry.key}`")
        message = f"`{entry.key}` is accepted and has no effect"
        self.report("key.without-effect", entry.place, message, remedy)

    def ignored(self, entry: Entry, why: str, remedy: str) -> None:
        """Warn of a key that another one makes pointless."""
        self.report("key.unused", entry.place, f"`{entry.key}` has no effect {why}", remedy)

    def lose_route(self, meant: str | None = None) -> None:
        """Remember an arc that was reported, so that no step counts as unreachable for it."""
        if meant is None:
            self.has_lost_routes = True
        else:
            self.guessed_targets.add(meant)

    def known_step(
        self, entry: Entry | None, *, rule: str, what: str, is_way: bool = True
    ) -> str | None:
        """The step that an entry names; one that does not exist is reported under `rule`.

        An entry that is empty names none. `is_way`: the run may come to the step by it.
        """
        if entry is None or is_null(entry.node):
            return None
        name = self.text(entry, entry.key)
        if name is None or name in self.steps:
            return name
        message = f"{what} {name!r}, which is not a step"
        meant = self.suggestions.near(name, self.steps)
        self.report(rule, entry.node.span, message, self.suggestions.sentence(meant, self.steps))
        if is_way:
            self.lose_route(meant)
        return None

    # --- typed values ----------------------------------------------------------------------------

    def mapping(self, entry: Entry | None, what: str) -> MapNode | None:
        """The mapping an entry holds; None when absent, empty or (reported) something else."""
        if entry is None or is_null(entry.node):
            return None
        if isinstance(entry.node, MapNode):
            return entry.node
        self.wrong_type(entry.node, what, "a mapping")
        return None

    def sequence(self, entry: Entry | None, what: str) -> ListNode | None:
        if entry is None or is_null(entry.node):
            return None
        if isinstance(entry.node, ListNode):
            return entry.node
        self.wrong_type(entry.node, what, "a list")
        return None

    def text(self, entry: Entry | None, what: str) -> str | None:
        """The text of a scalar; numbers and booleans as they were written."""
        if entry is None:
            return None
        node = entry.node
        if isinstance(node, ScalarNode) and node.value is not None:
            return node.text
        self.wrong_type(node, what, "a text")
        return None

    def flag(self, entry: Entry | None, what: str) -> bool | None:
        if entry is None:
            return None
        if isinstance(entry.node, ScalarNode) and isinstance(entry.node.value, bool):
            return entry.node.value
        self.wrong_type(entry.node, what, "true or false")
        return None

    def whole_number(self, entry: Entry | None, what: str, *, rule: str) -> int | None:
        """A constant of at least 1; anything else is reported under `rule`."""
        if entry is None:
            return None
        number = _int_of(entry.node)
        if number is not None and number >= 1:
            return number
        message = f"{what} must be a whole number of at least 1; found {shown(entry.node)}"
        self.report(rule, entry.node.span, message, f"Write a number: `{entry.name.text}: 3`.")
        return None

    def word(self, entry: Entry | None, words: type[Word], *, rule: str, what: str) -> Word | None:
        """One of the words of an enum; another is reported with the nearest one."""
        if entry is None:
            return None
        try:
            return words(entry.node.text if isinstance(entry.node, ScalarNode) else "")
        except ValueError:
            self.unknown_word(entry.node, [word.value for word in words], rule=rule, what=what)
            return None

    def unknown_word(self, node: Node, words: list[str], *, rule: str, what: str) -> None:
        problem = f"{what} is empty" if is_null(node) else f"{what} {shown(node)} is unknown"
        message = f"{problem}; it is one of {', '.join(words)}"
        if isinstance(node, ScalarNode) and not is_null(node):
            remedy = self.suggestions.remedy(node.text, words)
        else:
            remedy = f"Write one of {', '.join(words)}."
        self.report(rule, node.span, message, remedy)

    def wrong_type(self, node: Node, what: str, wanted: str) -> None:
        message = f"{what} must be {wanted}; found {shown(node)}"
        self.report("value.type", node.span, message, _FORMS[wanted])

    # --- expressions -----------------------------------------------------------------------------

    def template(self, node: Node, place: Site) -> Template:
        """The compiled value of a node; an error is reported and gives a constant null."""
        if not any(holds_template(scalar.text) for scalar in scalars(node)):
            return constant(plain(node))
        if isinstance(node, LabelNode):
            return result_of(node.label)
        try:
            template = self._compiled(node)
        except ExpressionError:
            self._report_templates(node)
            return constant(None)
        if template.names:
            self.reads.append(NameRead(node, template.names, place, self.step, template.paths))
        return template

    def _compiled(self, node: Node) -> Template:
        if not isinstance(node, ScalarNode):
            for scalar in scalars(node):
                if holds_template(scalar.text):
                    self._count(scalar.text)
            return compile_value(plain(node), limits=self._limits)
        # Documents repeat themselves: the same few expressions stand at every task.
        known = self._templates.get(node.text)
        if known is None:
            self._count(node.text)
            known = self._templates[node.text] = compile_template(node.text, limits=self._limits)
        return known

    def inputs(self, entries: Mapping[str, Entry], *, verbatim: frozenset[str]) -> Template:
        """One template of several named values; those in `verbatim` are never rendered."""
        rendered = {name: entry for name, entry in entries.items() if name not in verbatim}
        literal = {name: plain(entry.node) for name, entry in entries.items() if name in verbatim}
        parts: dict[str, Template] = {name: constant(value) for name, value in literal.items()}
        for name, entry in rendered.items():
            parts[name] = self.template(entry.node, Site.INPUTS)
        return object_of(parts)

    def condition(self, node: Node, place: Site, *, what: str) -> Condition:
        """A compiled condition, or BROKEN when (reported) it cannot be one."""
        if not isinstance(node, ScalarNode) or node.value is None:
            self.wrong_type(node, what, "an expression")
            return BROKEN
        if not node.text.strip():
            message = f"`{what}` is empty, so it never holds"
            self.report("condition.empty", node.span, message, f"Write it, or remove `{what}`.")
        text = node.value if isinstance(node.value, str) else node.text.lower()
        try:
            condition = self._compiled_condition(text, only_true_words=place is Site.RETRY)
        except ExpressionError as error:
            self._report_expression(node, error)
            return BROKEN
        if condition.names:
            found = condition.names, place, self.step, condition.paths, condition.compares
            self.reads.append(NameRead(node, *found, is_condition=True))
        return condition

    def _compiled_condition(self, text: str, *, only_true_words: bool) -> Condition:
        known = self._conditions.get((text, only_true_words))
        if known is None:
            self._count(text)
            known = compile_condition(text, only_true_words=only_true_words, limits=self._limits)
            self._conditions[text, only_true_words] = known
        return known

    def _count(self, text: str) -> None:
        """Refuse the first text that makes the document too long to compile."""
        codes = _CODE.findall(text) or (() if holds_template(text) else (text,))
        self._tokens += sum(len(_TOKEN.findall(code)) for code in codes)
        if self._tokens > DOCUMENT_TOKENS_MAX:
            message = f"the document has more than {DOCUMENT_TOKENS_MAX:,} names, literals and "
            raise ExpressionError(f"{message}signs. Split it", source=text, offset=0)

    def _report_templates(self, node: Node) -> None:
        if self._tokens > DOCUMENT_TOKENS_MAX:
            try:
                self._count("")
            except ExpressionError as error:
                self._report_expression(next(scalars(node)), error)
            return
        for scalar in scalars(node):
            try:
                compile_template(scalar.text)
            except ExpressionError as error:
                self._report_expression(scalar, error)

    def _report_expression(self, node: ScalarNode, error: ExpressionError) -> None:
        if self._tokens > DOCUMENT_TOKENS_MAX:
            if self._is_too_long:
                return  # told once, where it became too long
            self._is_too_long = True
        if self._is_refused(node, error):
            return
        problem, remedy = _with_remedy(error)
        message = f"the expression cannot be parsed: {problem}"
        self.report("expression.syntax", place_in(node, error.offset), message, remedy)

    def _is_refused(self, node: ScalarNode, error: ExpressionError) -> bool:
        # Only a document with a mistake pays for the table.
        from anew.languages.playbook.refusals import report_token  # noqa: PLC0415

        return report_token(self, node, error)


# What was wanted, and how it is written.
_FORMS: Mapping[str, str] = {
    "a mapping": "Write it as `key: value` lines below, or as `{key: value}`.",
    "a list": "Write it as lines that start with `- `, or as `[a, b]`.",
    "a text": "Write a text, in quotes where it is not a plain word.",
    "true or false": "Write `true` or `false`.",
    "an expression": "Write an expression in quotes: \"{{ outcome.status == 'error' }}\".",
}
_EXPRESSION_FORM = "Write an expression: \"{{ outcome.status == 'error' and ctx.tries < 3 }}\"."
# Signs of other languages, and the word or sign for each here.
_SIGNS: Mapping[str, str] = {"&&": "and", "||": "or", "=": "==", "!": "not"}


def _with_remedy(error: ExpressionError) -> tuple[str, str]:
    """What is wrong with an expression, and how to write it right."""
    # A message about an unknown word goes on with the words there are.
    problem, _, known = error.message.partition(". ")
    if known:
        return problem, known if known.endswith(("?", ".")) else f"{known}."
    before, after = error.source[: error.offset], error.source[error.offset :]
    if after[:1] in (".", "`") and before.rstrip().endswith("{{"):
        # As the templates of Go, which docker and kubectl are given.
        return error.message, "Keep what another program reads: `{% raw %}{{.Name}}{% endraw %}`."
    for sign, right in _SIGNS.items():
        # The parser stops at the second `|`, having taken the first for a filter.
        if after.startswith(sign) or (sign == "||" and before.endswith("|") and after[:1] == "|"):
            return error.message, f"Use `{right}` instead of `{sign}`."
    return error.message, _EXPRESSION_FORM


def place_in(node: ScalarNode, offset: int) -> Span:
    """Where an offset into a scalar's text stands; the scalar's start when lines were folded."""
    if not node.is_inline:
        return node.span
    quote = 1 if node.style else 0
    inside = max(0, min(offset, len(node.text)))
    return Span(node.span.file, node.span.line, node.span.column + quote + inside)


def shown(node: Node) -> str:
    """A value as it appears in a message."""
    match node:
        case ScalarNode():
            return "nothing" if node.value is None else _quoted(node.text)
        case ListNode():
            return "a list"
        case MapNode():
            return "a mapping"


def _quoted(text: str) -> str:
    is_short = len(text) <= _SHOWN_CHARACTERS
    return repr(text if is_short else f"{text[: _SHOWN_CHARACTERS - 1]}…")


def _int_of(node: Node) -> int | None:
    if not isinstance(node, ScalarNode) or isinstance(node.value, bool):
        return None
    if isinstance(node.value, int):
        return node.value
    text = node.text
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
