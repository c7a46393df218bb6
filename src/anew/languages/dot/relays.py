"""Nodes that do no work: start, exit, diamond, fork and fan-in. Their task is a `relay`.

A diamond hands on the outcome it was reached with; a fan-in makes one of what its branches did.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from anew.expressions import Condition, Scope, Template, constant
from anew.languages.dot.agents import build_agent
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions.subjects import DOCS_WORDS, SPEC_WORDS
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Work
from anew.languages.dot.scoped import computed, object_of, within, writes_all
from anew.languages.dot.settings import given
from anew.program.policy import Continue, Fail, GraphRule, Patch, Rule, Verdict
from anew.program.span import Span
from anew.values import Object, Value

_ALL_FAILED = "every branch failed"


def build_pass(_: GraphCompilation, __: Node) -> Work:
    """A plain success."""
    return Work("relay", constant({}))


def build_choice(_: GraphCompilation, node: Node) -> Work:
    """The outcome of the node before, as it was."""
    passed_on = computed("(the outcome before)", _passed_on, "_origin")
    return Work("relay", passed_on, rules=(_made_good(node.span),))


def _made_good(span: Span) -> Rule:
    """A failure that counts as a success goes on as one, with the error that edges may ask for."""
    when = Condition(computed("the failure before counts as a success", _is_good, "_origin"))
    return Rule(Continue(Verdict.SUCCESS), when=when, name=GraphRule.PASSED_ON.value, span=span)


def _is_good(scope: Scope) -> Value:
    before = within(object_of(scope, "_origin"), "outcome")
    return before.get("verdict") == Verdict.SUCCESS and bool(before.get("error"))


def _passed_on(scope: Scope) -> Value:
    before = within(object_of(scope, "_origin"), "outcome")
    return {"outcome": _relayed(before)} if before else {}


def _relayed(outcome: Object) -> Object:
    """An outcome as arcs see it, in the form a relay takes."""
    is_failed = outcome.get("verdict") == Verdict.FAILURE or outcome.get("status") == "error"
    kept = {key: outcome.get(key) for key in ("verdict", "word", "label", "suggested", "error")}
    found = {key: value for key, value in kept.items() if value}
    return {**found, "status": "error" if is_failed else "ok"}


def build_join(c: GraphCompilation, node: Node) -> Work:
    """What the branches amount to. With a prompt of its own, an agent judges their results."""
    if c.is_docs:
        return Work("relay", computed("(the branches)", _docs_joined, "args"))
    patches = join_patches(node.span)
    if given(node, "prompt", "llm_prompt") is not None:
        judged = build_agent(c, node)
        return replace(judged, patches=patches, rules=(_fails_with_all(node.span),))
    return Work("relay", joined_outcome(), patches)


def joined_outcome() -> Template:
    """The outcome of a join of the spec dialect."""
    return computed("(the branches)", _spec_joined, "args")


def join_patches(span: Span) -> tuple[Patch, ...]:
    """What a join of the spec dialect leaves in the context."""
    return writes_all(_KEPT, span=span)


def _docs_joined(scope: Scope) -> Value:
    joined = _joined(scope)
    if not joined:
        return {}
    results = {
        name: {
            "status": _word(told, DOCS_WORDS),
            **({"error": told["error"]} if told.get("error") else told.get("written") or {}),
        }
        for name, told in _by_branch(joined).items()
    }
    return {"outcome": {**_outcome(joined), "updates": {"_branch_results": results}}}


def _spec_joined(scope: Scope) -> Value:
    joined = _joined(scope)
    return {"outcome": _outcome(joined)} if joined else {}


def _outcome(joined: Object) -> Object:
    verdict = joined.get("verdict")
    if verdict != Verdict.FAILURE:
        return {"status": "ok", "verdict": verdict}
    error = joined.get("error") or {"kind": "failed", "message": _ALL_FAILED, "type": "UNKNOWN"}
    return {"status": "error", "error": error}


def _fails_with_all(span: Span) -> Rule:
    """Whatever an agent makes of it: where every branch failed there is nothing to choose from."""
    when = Condition(computed(_ALL_FAILED, _have_all_failed, "args"))
    return Rule(Fail(constant(_ALL_FAILED)), when=when, name=GraphRule.BRANCHES.value, span=span)


def _have_all_failed(scope: Scope) -> Value:
    return _joined(scope).get("verdict") == Verdict.FAILURE


def _results(scope: Scope) -> Value:
    """One entry per branch, in the order they came to their ends."""
    return [
        {
            "id": name,
            "status": _word(told, SPEC_WORDS),
            "outcome": told.get("word") or _word(told, SPEC_WORDS),
            "preferred_label": told.get("label"),
            "context_updates": told.get("written") or {},
            "failure_reason": within(told, "error").get("message"),
        }
        for name, told in _by_branch(_joined(scope)).items()
    ]


def _best_id(scope: Scope) -> Value:
    return _joined(scope).get("best")


def _best_outcome(scope: Scope) -> Value:
    joined = _joined(scope)
    told = _by_branch(joined).get(joined.get("best") or "", {})
    return _word(told, SPEC_WORDS) if told else None


def _word(told: Object, words: Mapping[str, str]) -> str:
    """The dialect's word for a verdict; a branch may also have been cancelled."""
    verdict = str(told.get("verdict"))
    return words.get(verdict, verdict.upper() if words is DOCS_WORDS else verdict)


def _joined(scope: Scope) -> Object:
    return within(object_of(scope, "args"), "join")


def _by_branch(joined: Object) -> dict[str, Object]:
    return {
        name: told for name, told in within(joined, "results").items() if isinstance(told, dict)
    }


_KEPT: Mapping[str, Template] = {
    "parallel.results": computed("(results)", _results, "args"),
    "parallel.fan_in.best_id": computed("(best id)", _best_id, "args"),
    "parallel.fan_in.best_outcome": computed("(best outcome)", _best_outcome, "args"),
}
