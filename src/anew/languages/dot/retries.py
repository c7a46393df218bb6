"""Compile when and how often a failing node is executed again, and what its failure then means."""

from __future__ import annotations

from anew.expressions import Condition, Scope
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.delays import (
    DOCS_KEY,
    PRESET_KEYS,
    backoff_by_error,
    backoff_of,
    stated_preset,
)
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.languages.dot.scoped import computed, object_of, within
from anew.languages.dot.settings import flag, given, whole, word
from anew.program.policy import (
    Budget,
    Continue,
    Exhausted,
    GraphRule,
    OutcomeStatus,
    Policy,
    Retry,
    Rule,
    Verdict,
)
from anew.program.span import Span
from anew.values import Value

# A delay that may be eleven times as long is none anybody chose.
JITTER_MAX = 10.0
RETRY_WORD = "retry"
ON_FAILURE = ("exit", "route", "succeed")
TARGET_MODES = ("redirect", "after")
_TIMEOUT_KINDS = ("timeout", "db_timeout")
DEFAULT_KEYS = ("default_max_retries", "default_max_retry")


def max_retries(c: GraphCompilation, node: Node) -> int:
    """Executions beyond the first: the node's number, its preset's, else the graph's."""
    own = whole(node, "max_retries")
    if own is not None:
        return own
    preset = stated_preset(c, node)
    if preset is not None and preset.attempts is not None:
        return preset.attempts - 1
    return whole(c.graph, *DEFAULT_KEYS) or 0


def on_failure(c: GraphCompilation, node: Node) -> str:
    holder = _failure_holder(c, node)
    return word(holder, "on_failure", ON_FAILURE) or "exit"


def _failure_holder(c: GraphCompilation, node: Node) -> Node | Graph:
    return c.graph if word(node, "on_failure", ON_FAILURE) is None else node


def retry_target(c: GraphCompilation, node: Node) -> str | None:
    """The node a failure goes back to; a node that names itself means the default."""
    target = c.target(node, "retry_target")
    return None if target == node.id else target


def redirected_to(c: GraphCompilation, node: Node) -> str | None:
    """Where retries go instead of to the node itself, if anywhere."""
    return retry_target(c, node) if _redirects(c, node) else None


def rescuing(c: GraphCompilation, node: Node) -> Attribute | None:
    """What says where a failure goes that no edge takes."""
    is_own = retry_target(c, node) is not None
    return c.targeting(node, "retry_target" if is_own else "fallback_retry_target")


def policy_of(c: GraphCompilation, node: Node) -> Policy:
    """The rules of a node that does work, without what it writes."""
    retries = max_retries(c, node)
    rules: list[Rule] = []
    if not c.is_docs:
        rules += _requested_retries(c, node, retries)
    if retries:
        rules.append(
            Rule(
                _retry(c, node, retries, exhausted=_forgiven(c, node)),
                when=_WITH_TIMEOUTS if _retries_timeouts(c, node) else _WITHOUT_TIMEOUTS,
                on=OutcomeStatus.ERROR,
                name=GraphRule.RETRY.value,
                span=_span(c, node),
            )
        )
    forgiven = _forgiven(c, node)
    if forgiven is not None:
        rules.append(Rule(forgiven, on=OutcomeStatus.ERROR, span=forgiven.span))
    return Policy(tuple(rules), span=node.span)


def _requested_retries(c: GraphCompilation, node: Node, retries: int) -> list[Rule]:
    """A handler that asks for a retry gets it, whatever its error says, while there are any."""
    partial = given(node, "allow_partial") if flag(node, "allow_partial") else None
    spent = Continue(Verdict.PARTIAL, partial.span) if partial else _forgiven(c, node)
    then = _retry(c, node, retries, exhausted=spent) if retries else spent
    if then is None:
        return []
    return [
        Rule(then, when=_ASKS, on=OutcomeStatus.ERROR, name=GraphRule.ASKED.value, span=then.span)
    ]


def _forgiven(c: GraphCompilation, node: Node) -> Continue | None:
    said = given(_failure_holder(c, node), "on_failure")
    if said is None or on_failure(c, node) != "succeed":
        return None
    return Continue(Verdict.SUCCESS, said.span)


def _retry(c: GraphCompilation, node: Node, retries: int, *, exhausted: Continue | None) -> Retry:
    return Retry(
        attempts=1 + retries,
        backoff=backoff_of(c, node, _span(c, node)),
        by_error=backoff_by_error(c, node, _span(c, node)),
        on_exhausted=Exhausted(exhausted) if exhausted is not None else None,
        budget=Budget.STEP,
        to=redirected_to(c, node),
        span=_span(c, node),
    )


def _redirects(c: GraphCompilation, node: Node) -> bool:
    mode = word(node, "retry_target_mode", TARGET_MODES)
    mode = mode or word(c.graph, "retry_target_mode", TARGET_MODES)
    return c.is_docs if mode is None else mode == "redirect"


# --- which errors --------------------------------------------------------------------------------


def _retries_timeouts(c: GraphCompilation, node: Node) -> bool:
    own = flag(node, "retry_on_timeout")
    said = flag(c.graph, "retry_on_timeout") if own is None else own
    return True if said is None else said


def _asks(scope: Scope) -> Value:
    return object_of(scope, "outcome").get("word") == RETRY_WORD


def _retryable(*, with_timeouts: bool) -> Condition:
    def holds(scope: Scope) -> Value:
        error = within(object_of(scope, "outcome"), "error")
        stated = error.get("retryable")
        # A tool of ours names a kind, and what it says of retries is the table's word, not its own.
        if "type" not in error and error.get("kind") in _TIMEOUT_KINDS:
            return with_timeouts
        if stated is not None:
            return bool(stated)
        kind = str(error.get("type") or "").strip().upper()
        return with_timeouts if kind == "TIMEOUT" else kind != "TERMINAL"

    return Condition(computed("(is retryable)", holds, "outcome"))


_ASKS = Condition(computed("(asks for a retry)", _asks, "outcome"))
_WITH_TIMEOUTS, _WITHOUT_TIMEOUTS = _retryable(with_timeouts=True), _retryable(with_timeouts=False)


def _span(c: GraphCompilation, node: Node) -> Span:
    """Where retries are said: at the node, else as a default of the graph."""
    own = given(node, "max_retries", *PRESET_KEYS, DOCS_KEY)
    found = own or given(c.graph, *DEFAULT_KEYS)
    return node.span if found is None else found.span
