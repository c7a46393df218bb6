"""Find the values that templates put into shell text: those that can change what is executed, and
secrets, which other users of the machine can read in the list of processes.

Reads shell text simply: quotes, comments and substitutions are followed, here-documents are not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field

from anew.expressions import DEFAULT_LIMITS, ExpressionError, syntax
from anew.expressions.reads import chain_of
from anew.expressions.statements import parse_statements
from anew.expressions.tokens import scan_template
from anew.languages.nodes import ScalarNode, scalars
from anew.languages.playbook.compilation import Compilation, place_in
from anew.program.kind import OutcomeSource
from anew.program.names import PUBLIC_CREDENTIAL_FIELDS
from anew.program.program import Step, Task

_QUOTING = "shquote"
# What these give has no character that means something to a shell.
_PLAIN_FILTERS = frozenset("int float bool abs round length count len wordcount b64encode".split())
# Numbers that only the engine sets, unless the template gives the name another value.
_PLAIN_NAMES = frozenset({"_attempt", "execution_id", "run_id"})
_KEYCHAIN = "keychain"
_PIECE = re.compile(r"\\.|\$?\(|[)'\"`\n]|#", re.DOTALL)
# In these a word of `shquote` is not read as one.
_ENCLOSING = frozenset("'\"`#")

_ENV_FORM = 'Pass the value with `env` and write "$NAME"'


def check_shell_texts(c: Compilation, steps: Mapping[str, Step]) -> None:
    """Warn of each value that stands unquoted in shell text, and of each secret."""
    for text in c.shell_texts:
        secrets = _secret_names(text.step, steps)
        for scalar in scalars(text.node):
            statements = _statements_in(scalar)
            judging = _Judging(_PLAIN_NAMES.difference(_bound_in(statements)))
            for value in _values(statements, _Reading()):
                _check(c, scalar, value, judging, secrets=secrets, is_words=text.is_words)


def _secret_names(name: str, steps: Mapping[str, Step]) -> frozenset[str]:
    """The names by which the step reads credentials."""
    giving = {step.name for step in steps.values() if _gives_secret(step)}
    step = steps.get(name)
    own = {task.label for task in step.tasks if _is_secret(task)} if step else set()
    return frozenset({_KEYCHAIN, *giving, *own})


def _gives_secret(step: Step) -> bool:
    return bool(step.tasks) and _is_secret(step.tasks[-1])


def _is_secret(task: Task) -> bool:
    return task.outcome_from is OutcomeSource.SECRET


class _Value(Struct, frozen=True):
    """A value in a text; `is_enclosed`: it stands between quotes or in a comment."""

    expression: syntax.Expression
    is_enclosed: bool = False
    is_written: bool = True


def _statements_in(scalar: ScalarNode) -> Sequence[syntax.Statement]:
    if not isinstance(scalar.value, str) or "{" not in scalar.text:
        return ()
    try:
        return parse_statements(
            scalar.text, scan_template(scalar.text), depth_max=DEFAULT_LIMITS.depth_max
        )
    except (ExpressionError, RecursionError):  # reported where it is compiled
        return ()


def _bound_in(statements: Iterable[syntax.Statement]) -> Iterator[str]:
    """The names to which the template itself gives values."""
    for node in chain.from_iterable(map(syntax.descendants, statements)):
        if isinstance(node, syntax.Set | syntax.For):
            yield from node.targets
        elif isinstance(node, syntax.SetText):
            yield node.target


def _values(statements: Iterable[syntax.Statement], reading: _Reading) -> Iterator[_Value]:
    for statement in statements:
        match statement:
            case syntax.Text():
                reading.read(statement.text)
            case syntax.Output():
                yield _Value(statement.expression, reading.is_enclosed)
            case syntax.Set():
                yield _Value(statement.value, is_written=False)
            case syntax.SetText():
                for value in _values(statement.body, _Reading()):
                    yield _Value(value.expression, is_written=False)
            case syntax.If():
                for branch in statement.branches:
                    yield from _values(branch.body, reading)
                yield from _values(statement.otherwise, reading)
            case syntax.For():
                yield from _values(statement.body, reading)
                yield from _values(statement.otherwise, reading)


class _Reading(Struct):
    """How far a shell would have read: what is open, the innermost last."""

    opened: list[str] = field(default_factory=list)
    last: str = "\n"

    @property
    def is_enclosed(self) -> bool:
        return not _ENCLOSING.isdisjoint(self.opened[-1:]) or "`" in self.opened

    def read(self, text: str) -> None:
        for found in _PIECE.finditer(text):
            before = text[found.start() - 1] if found.start() else self.last
            self._take(found.group(), before)
        self.last = text[-1:] or self.last

    def _take(self, piece: str, before: str) -> None:
        innermost = self.opened[-1] if self.opened else ""
        if innermost == "#":
            if piece == "\n":
                self.opened.pop()
        elif innermost == "'":
            if piece.endswith("'"):  # a backslash means nothing here
                self.opened.pop()
        elif piece in ("'", '"', "`"):
            self._turn(piece, innermost)
        elif piece == "$(" or (piece == "(" and innermost != '"'):
            self.opened.append("(")
        elif piece == ")" and innermost == "(":
            self.opened.pop()
        elif piece == "#" and innermost != '"' and before in " \t\n;&|(":
            self.opened.append("#")

    def _turn(self, quote: str, innermost: str) -> None:
        if quote == innermost:
            self.opened.pop()
        elif quote != "'" or innermost != '"':
            self.opened.append(quote)


def _check(
    c: Compilation,
    scalar: ScalarNode,
    value: _Value,
    judging: _Judging,
    *,
    secrets: Collection[str],
    is_words: bool,
) -> None:
    expression = value.expression
    if judging.is_plain(expression):
        return
    place = place_in(scalar, _begin(expression))
    secret = _secret_in(expression, secrets)
    if secret is not None:
        message = f"{secret} is in the text of a command, which every user can see in `ps`"
        remedy = "Pass it with `env`." if is_words else f"{_ENV_FORM}, or with `stdin`."
        c.report("shell.secret", place, message, remedy)
    elif is_words or not value.is_written:
        return
    elif not judging.is_quoted(expression):
        message = "a template is spliced into shell text, which lets a value run other commands"
        remedy = f"{_ENV_FORM}, or quote it: `{{{{ … | {_QUOTING} }}}}`."
        c.report("shell.template", place, message, remedy)
    elif value.is_enclosed:
        message = (
            f"the result of `{_QUOTING}` is inside other quotes or a comment, "
            "so it is not protected"
        )
        c.report("shell.template", place, message, "Remove the quotes around `{{ … }}`.")


def _begin(expression: syntax.Expression) -> int:
    """Where its text begins: that of a filter or a path is where its target stands."""
    return min(getattr(node, "at", expression.at) for node in syntax.descendants(expression))


class _Judging(Struct, frozen=True):
    """Says which values cannot change what is executed; `plain` names are among them."""

    plain: frozenset[str]

    def is_quoted(self, expression: syntax.Expression) -> bool:
        """Whether each part that is no constant goes through `shquote` last."""
        match expression:
            case syntax.Filter():
                return expression.name == _QUOTING
            case syntax.Choice():
                return all(map(self._is_safe, (expression.then, expression.otherwise)))
            case syntax.Concat() | syntax.Logic():
                return all(map(self._is_safe, expression.parts))
            case _:
                return False

    def _is_safe(self, expression: syntax.Expression | None) -> bool:
        return expression is None or self.is_plain(expression) or self.is_quoted(expression)

    def is_plain(self, expression: syntax.Expression | None) -> bool:
        """Whether the value is the author's own, or has only letters and digits."""
        match expression:
            case (
                None
                | syntax.Constant()
                | syntax.ComparisonChain()
                | syntax.Negation()
                | syntax.Test()
            ):
                return True
            case syntax.Filter():
                return expression.name in _PLAIN_FILTERS
            case syntax.Name():
                return expression.name in self.plain
            case syntax.Choice():
                return self.is_plain(expression.then) and self.is_plain(expression.otherwise)
            case syntax.Concat() | syntax.Logic():
                return all(map(self.is_plain, expression.parts))
            case _:
                return False


def _secret_in(expression: syntax.Expression, secrets: Collection[str]) -> str | None:
    """How the expression calls a secret part of a credential that it reads."""
    public: set[int] = set()
    for node in syntax.descendants(expression):
        if isinstance(node, syntax.GetAttribute):
            root, keys = chain_of(node)
            if isinstance(root, syntax.Name) and root.name in secrets and id(root) not in public:
                names = [root.name, *map(str, keys)]
                if not _is_public(names):
                    return ".".join(names)
                public.add(id(root))
        elif isinstance(node, syntax.Name) and node.name in secrets and id(node) not in public:
            return node.name
    return None


def _is_public(names: list[str]) -> bool:
    """Whether it is a field that may be shown; the first names are those of the credential."""
    fields = names[2:] if names[0] == _KEYCHAIN else names[1:]
    return any(name.lower() in PUBLIC_CREDENTIAL_FIELDS for name in fields)
