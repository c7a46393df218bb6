"""What can be said about a condition before any run: for which verdicts it can hold, and which
of its words nothing ever says."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from anew.expressions import UNDEFINED
from anew.languages.dot.conditions.evaluation import UNKNOWN, Truth, truth
from anew.languages.dot.conditions.problems import ConditionProblem, Topic
from anew.languages.dot.conditions.subjects import (
    DOCS_WORDS,
    KNOWN_WORDS,
    RETRY_WORD,
    SPEC_WORDS,
    SYNONYMS,
)
from anew.languages.dot.conditions.tree import (
    All,
    AnyOf,
    Compare,
    ConditionLiteral,
    ContextKey,
    Not,
    Tree,
    comparisons_in,
)
from anew.languages.dot.graph import DotDialect
from anew.program.findings import Severity, near
from anew.program.policy import Verdict
from anew.values import Value

_ONE = ConditionLiteral("1")
# As for names of playbooks: `statu` is a slip, `state` may be a key.
_SLIP_LIKENESS = 0.75


class Reach(Struct, frozen=True):
    """For each verdict: True when the condition always holds, False when it never does."""

    by_verdict: dict[Verdict, Truth]

    @property
    def can_hold_on_failure(self) -> bool:
        return self.by_verdict[Verdict.FAILURE] is not False

    @property
    def can_hold_on_success(self) -> bool:
        return self.by_verdict[Verdict.SUCCESS] is not False


def reach_of(tree: Tree, dialect: DotDialect) -> Reach:
    return Reach({verdict: holds_for_status(tree, verdict, dialect=dialect) for verdict in Verdict})


def holds_for_status(tree: Tree, verdict: Verdict, *, dialect: DotDialect) -> Truth:
    """Whether it holds for this verdict whatever else is true; None when that depends."""
    known = _with_words_decided(tree, verdict, dialect)
    return truth(known, lambda key: _known(key, verdict, dialect), dialect)


def _known(key: ContextKey, verdict: Verdict, dialect: DotDialect) -> Value:
    is_docs = dialect is DotDialect.DOCS
    if key.path == "status" and is_docs and not key.is_prefixed:
        return DOCS_WORDS[verdict]
    is_error = key.segments[0] == "error" and is_docs and not key.is_prefixed
    if is_error and verdict is not Verdict.FAILURE:
        return UNDEFINED
    return UNKNOWN


def _with_words_decided(tree: Tree, verdict: Verdict, dialect: DotDialect) -> Tree:
    """Comparisons with the word of the handler put as true or false where the verdict decides."""
    match tree:
        case Compare():
            word = _handler_word(tree, dialect)
            worth = None if word is None else _says(word, verdict)
            if worth is None:
                return tree
            return Compare("==" if worth == (tree.sign == "==") else "!=", _ONE, _ONE)
        case Not():
            return Not(_with_words_decided(tree.inner, verdict, dialect))
        case All():
            parts = (_with_words_decided(part, verdict, dialect) for part in tree.parts)
            return All(tuple(parts))
        case AnyOf():
            parts = (_with_words_decided(part, verdict, dialect) for part in tree.parts)
            return AnyOf(tuple(parts))
        case _:
            return tree


def _handler_word(tree: Compare, dialect: DotDialect) -> str | None:
    """The text that the word of the handler is compared with, in the dialect that has one."""
    if dialect is DotDialect.DOCS or not isinstance(tree.right, ConditionLiteral):
        return None
    if (
        isinstance(tree.left, ContextKey)
        and tree.left.path == "outcome"
        and not tree.left.is_prefixed
    ):
        return str(tree.right.value)
    return None


def _says(word: str, verdict: Verdict) -> Truth:
    """Whether an outcome of this verdict answers to `word`; None when it may."""
    if verdict is Verdict.FAILURE:
        return True if word == SPEC_WORDS[verdict] else None if word == RETRY_WORD else False
    may_be_own_word = word.lower() not in KNOWN_WORDS and word != ""
    return None if may_be_own_word or word == SPEC_WORDS[verdict] else False


def word_problems(tree: Tree, dialect: DotDialect) -> list[ConditionProblem]:
    """Warnings for comparisons of the status with a word that it never is."""
    found = (_word_problem(part, dialect) for part in comparisons_in(tree))
    return [problem for problem in found if problem is not None]


def _word_problem(part: Compare, dialect: DotDialect) -> ConditionProblem | None:
    key, literal = part.left, part.right
    if (
        not isinstance(key, ContextKey)
        or key.is_prefixed
        or not isinstance(literal, ConditionLiteral)
    ):
        return None
    words = _listed(literal.value) if part.sign == "IN" else [literal.value]
    if key.path == "outcome" and dialect is DotDialect.DOCS:
        return _other_name(key, literal, words)
    if key.path == "status" and dialect is DotDialect.DOCS and part.sign in ("==", "!=", "IN"):
        wrong = [word for word in words if word not in DOCS_WORDS.values()]
        known = list(DOCS_WORDS.values())
    elif key.path in ("outcome", "status") and dialect is DotDialect.SPEC:
        known = [*SPEC_WORDS.values(), RETRY_WORD]
        said = str(literal.value)
        wrong = [said] if said.lower() in KNOWN_WORDS and said not in known else []
    else:
        return _misspelt(key, words, dialect)
    if not wrong:
        return None
    meant = _meant(wrong[0], dialect)
    suggestion = f"Did you mean {meant!r}?" if meant else f"Its words are {', '.join(known)}."
    message = f"{key.path!r} is never {wrong[0]!r}"
    return ConditionProblem(Severity.WARNING, Topic.WORD, message, literal.at, suggestion)


def _misspelt(key: ContextKey, words: list[Value], dialect: DotDialect) -> ConditionProblem | None:
    """A handler may write any key of the context: only what is compared with a status is a slip."""
    if not any(_meant(word, dialect) for word in words):
        return None
    meant = near(key.path, ["status" if dialect is DotDialect.DOCS else "outcome"], _SLIP_LIKENESS)
    if meant is None:
        return None
    message = f"nothing provides {key.path!r}, unless a handler writes it into the context"
    suggestion = f"Did you mean {meant!r}?"
    return ConditionProblem(Severity.WARNING, Topic.WORD, message, key.at, suggestion)


def _other_name(
    key: ContextKey, literal: ConditionLiteral, words: list[Value]
) -> ConditionProblem | None:
    """`outcome` is a key of the context here; compared with a status it is the other dialect's."""
    meant = [word for word in map(partial(_meant, dialect=DotDialect.DOCS), words) if word]
    if not meant:
        return None
    message = f"{key.path!r} is not the status in a docs graph: it is read from the context"
    suggestion = f"Write `status == '{meant[0]}'`."
    return ConditionProblem(Severity.WARNING, Topic.WORD, message, literal.at, suggestion)


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


def _meant(word: Value, dialect: DotDialect) -> str | None:
    """The word of this dialect for a verdict named in another way."""
    said = SYNONYMS.get(str(word).lower(), str(word).lower())
    words = DOCS_WORDS if dialect is DotDialect.DOCS else SPEC_WORDS
    for verdict, spec_word in SPEC_WORDS.items():
        if said in (verdict, spec_word):
            return words[verdict]
    return None
