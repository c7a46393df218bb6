"""Compile the condition of an edge: text to what the engine asks, with all that checks want.

Raises nothing: what is wrong is in the problems.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from anew.expressions import Condition, Scope, Template
from anew.expressions.costs import spend_for
from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import BULK
from anew.expressions.sizes import SIZED
from anew.languages.dot.attributes import excerpt, shown
from anew.languages.dot.conditions.checking import Reach, reach_of, word_problems
from anew.languages.dot.conditions.docs_grammar import parse_docs
from anew.languages.dot.conditions.evaluation import truth
from anew.languages.dot.conditions.problems import ConditionError, ConditionProblem, Topic
from anew.languages.dot.conditions.spec_grammar import parse_spec
from anew.languages.dot.conditions.subjects import Names, reader
from anew.languages.dot.conditions.translation import in_other_dialect, translate
from anew.languages.dot.conditions.tree import ContextKey, Tree, keys_in, specificity
from anew.languages.dot.graph import DotDialect
from anew.program.findings import Severity
from anew.values import Value

# Enough to know a condition again, and to read a suggestion; a generated one may have 100 KB.
_CONDITION_CHARS_MAX = 120
_MESSAGE_CHARS_MAX = 500


class CompiledCondition(Struct, frozen=True):
    """`condition`, `tree` and `reach` are None exactly when a problem is an error.

    `reads` has the keys without `context.`.
    """

    text: str
    condition: Condition | None = None
    tree: Tree | None = None
    problems: tuple[ConditionProblem, ...] = ()
    specificity: tuple[int, int] = (0, 0)
    reads: frozenset[str] = frozenset()
    reach: Reach | None = None

    @property
    def can_hold_on_failure(self) -> bool:
        return self.reach is not None and self.reach.can_hold_on_failure

    @property
    def can_hold_on_success(self) -> bool:
        return self.reach is not None and self.reach.can_hold_on_success

    def message_of(self, problem: ConditionProblem) -> str:
        """What is wrong, with the condition it is wrong in; a long one is only begun."""
        said = excerpt(problem.message, most=_MESSAGE_CHARS_MAX)
        return f"condition {shown(self.text, most=_CONDITION_CHARS_MAX)}: {said}"

    def remedy_of(self, problem: ConditionProblem) -> str | None:
        written = f"Write {problem.fix}" if problem.fix else None
        remedy = problem.suggestion or written
        return None if remedy is None else excerpt(remedy, most=_MESSAGE_CHARS_MAX)


def compile_condition(text: str, names: Names) -> CompiledCondition:
    """The condition `text` of an edge, in the dialect of `names`."""
    try:
        tree, hints = _parsed(text, names.dialect)
    except ConditionError as error:
        problem = _of_other_dialect(text, names.dialect) or error.problem
        return CompiledCondition(text, problems=(problem,))
    problems = (*hints, *word_problems(tree, names.dialect))
    return CompiledCondition(
        text,
        condition=Condition(Template(text, _run(tree, names))),
        tree=tree,
        problems=problems,
        specificity=specificity(tree),
        reads=frozenset(key.path for key in keys_in(tree)),
        reach=reach_of(tree, names.dialect),
    )


def _parsed(text: str, dialect: DotDialect) -> tuple[Tree, list[ConditionProblem]]:
    if dialect is DotDialect.DOCS:
        return parse_docs(text)
    return parse_spec(text), []


def _of_other_dialect(text: str, dialect: DotDialect) -> ConditionProblem | None:
    tree = in_other_dialect(text, dialect)
    if tree is None:
        return None
    other = DotDialect.SPEC if dialect is DotDialect.DOCS else DotDialect.DOCS
    message = f"this is written in the {other} dialect, but the graph is in {dialect}"
    made = translate(tree, dialect)
    if made.text is None:
        suggestion = f"It has no translation: {'; '.join(made.reasons)}."
    else:
        suggestion = f"Write {made.text}"
    return ConditionProblem(Severity.ERROR, Topic.OTHER_DIALECT, message, 0, suggestion, made.text)


def _run(tree: Tree, names: Names) -> Callable[[Scope], Value]:
    readers = {key: reader(key.path, names, is_prefixed=key.is_prefixed) for key in keys_in(tree)}

    def run(scope: Scope) -> Value:
        paying: list[Evaluation] = []

        def read(key: ContextKey) -> Value:
            return readers[key](scope)

        def pay(left: Value, right: Value) -> None:
            # Nearly all are words and numbers, which cost nothing.
            for value in (left, right):
                if type(value) in SIZED and (type(value) is not str or len(value) > BULK):
                    if not paying:
                        paying.append(Evaluation(scope))
                    spend_for(paying[0], value)

        return truth(tree, read, names.dialect, pay) is True

    return run
