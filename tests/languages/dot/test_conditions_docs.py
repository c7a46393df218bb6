"""The condition language of the docs dialect: what it accepts, and what it is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.expressions import MappingScope
from anew.languages.dot.conditions import CompiledCondition, Names, Topic, compile_condition
from anew.languages.dot.conditions.docs_grammar import parse_docs
from anew.languages.dot.conditions.translation import docs_literal
from anew.languages.dot.conditions.tree import (
    All,
    AnyOf,
    Compare,
    ConditionLiteral,
    ContextKey,
    Holds,
    Not,
    Operand,
    Tree,
    key_of,
)
from anew.languages.dot.graph import DotDialect
from anew.program.findings import Severity
from anew.program.policy import Verdict
from anew.values import Object, Value

NAMES = Names(DotDialect.DOCS, pipeline="deploy", gates=("review", "test"))


def compiled(text: str) -> CompiledCondition:
    return compile_condition(text, NAMES)


def holds(text: str, ctx: Object | None = None, verdict: str = "success", **names: Value) -> bool:
    made = compiled(text)
    assert made.condition is not None, made.problems
    outcome = {"verdict": verdict, **names.pop("outcome", {})}
    event = {"outcome": outcome, "error": names.pop("error", None)}
    return made.condition.holds(MappingScope({"ctx": ctx or {}, "event": event, **names}))


@pytest.mark.parametrize(
    ("text", "ctx"),
    [
        ("x == 1", {"x": 1}),
        ("x == 1.0", {"x": 1}),
        ("x != 2", {"x": 1}),
        ("x < 2", {"x": 1.5}),
        ("x <= -1", {"x": -1}),
        ("x > 2 AND x >= 3", {"x": 3}),
        ("x == 'a b'", {"x": "a b"}),
        ('x == "it\'s"', {"x": "it's"}),
        (r"x == 'it\'s'", {"x": "it's"}),
        ("x < 'b'", {"x": "a"}),
        ("x CONTAINS 'ell'", {"x": "hello"}),
        ("x CONTAINS 'b'", {"x": ["a", "b"]}),
        ("x CONTAINS 'k'", {"x": {"k": 0}}),
        ("x STARTS_WITH 'he'", {"x": "hello"}),
        ("x ENDS_WITH 'lo'", {"x": "hello"}),
        ("x IN ['a', 'b']", {"x": "b"}),
        ("x IN [1, 2,]", {"x": 2}),
        ("'b' IN x", {"x": ["a", "b"]}),
        ("'ell' IN x", {"x": "hello"}),
        ("x == true", {"x": True}),
        ("x == true", {"x": "true"}),
        ("x == 'true'", {"x": True}),
        ("x IN ['false']", {"x": False}),
        ("x == 1 OR y == 1", {"y": 1}),
        ("(x == 1 OR y == 1) AND z", {"y": 1, "z": "yes"}),
        ("a OR b AND c", {"a": True}),
        ("NOT x == 1", {"x": 2}),
        ("NOT NOT x", {"x": 1}),
        ("context.x == 1", {"x": 1}),
        ("x == context.y", {"x": 1, "y": 1}),
        ("1 < x", {"x": 2}),
        ("true", {}),
        ("x == []", {"x": []}),
        ("my-key == 1", {"my-key": 1}),
    ],
)
def test_a_condition_holds(text: str, ctx: Object) -> None:
    assert holds(text, ctx)


@pytest.mark.parametrize(
    ("text", "ctx"),
    [
        ("x == 1", {"x": "1"}),
        ("x == '1'", {"x": 1}),
        ("x == 1", {"x": True}),
        ("x == true", {"x": 1}),
        ("x < 2", {"x": "1"}),
        ("x < 2", {"x": True}),
        ("x < 'b'", {"x": 1}),
        ("x CONTAINS 1", {"x": "1"}),
        ("x CONTAINS 1", {"x": [True, "1"]}),
        ("x STARTS_WITH 'a'", {"x": ["a"]}),
        ("x IN [1]", {"x": True}),
        ("x", {"x": 0}),
        ("x", {"x": ""}),
        ("x", {"x": []}),
        ("x", {"x": "False"}),
        ("x", {"x": None}),
        ("false", {}),
        ("x == 1 AND y == 1", {"x": 1}),
    ],
)
def test_a_condition_does_not_hold(text: str, ctx: Object) -> None:
    assert not holds(text, ctx)


@pytest.mark.parametrize(
    "text", [f"gone {sign} 1" for sign in ("==", "!=", "<", "<=", ">", ">=", "CONTAINS")]
    + ["gone IN [1]", "gone STARTS_WITH ''", "gone ENDS_WITH ''", "1 IN gone", "gone",
       "gone == context.gone", "NOT (NOT gone)"],
)  # fmt: skip
def test_every_comparison_with_a_missing_key_is_false(text: str) -> None:
    assert not holds(text)
    assert not holds(text, {"gone": None})
    assert holds(f"NOT ({text})")


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        ("success", "SUCCESS"),
        ("failure", "FAILURE"),
        ("partial", "PARTIAL"),
        ("skipped", "SKIPPED"),
    ],
)
def test_status_is_the_word_of_the_verdict(verdict: str, word: str) -> None:
    assert holds(f"status == '{word}'", {"status": "mine"}, verdict)
    assert holds("context.status == 'mine'", {"status": "mine"}, verdict)
    assert not holds(f"status != '{word}'", {}, verdict)


def test_an_error_is_read_with_its_type() -> None:
    told = {"type": "TRANSIENT", "retryable": True, "message": "busy", "details": {"code": [503]}}
    assert holds("error.type == 'TRANSIENT' AND error.retryable", error=told)
    assert holds("error.details.code.0 == 503", error=told)
    assert not holds("error.details.code.1 == 503", error=told)
    assert holds("NOT error.type")


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ({"kind": "timeout", "retryable": True}, "TIMEOUT"),
        ({"kind": "db_timeout", "retryable": True}, "TIMEOUT"),
        ({"kind": "server_error", "retryable": True}, "TRANSIENT"),
        ({"kind": "auth", "retryable": False}, "TERMINAL"),
        ({"kind": "exit_code", "retryable": None}, "UNKNOWN"),
        ({"type": None, "message": ""}, "UNKNOWN"),
    ],
)
def test_an_error_without_a_type_has_the_one_of_its_kind(error: Object, word: str) -> None:
    assert holds(f"error.type == '{word}' AND error_type == '{word}'", error=error)


def test_aliases_stand_in_where_the_context_has_no_such_key() -> None:
    error = {"type": "TERMINAL", "message": "no", "retryable": False}
    text = "retry_count == 2 AND error_message == 'no' AND error_type == 'TERMINAL'"
    assert holds(f"{text} AND retryable == false", error=error, _retries=2)
    assert holds("retry_count == 9", {"retry_count": 9}, _retries=2)
    assert holds("outcome == 'fail'", verdict="failure")
    assert holds("outcome == 'mine'", {"outcome": "mine"})


def test_the_run_answers_for_reserved_keys_whatever_the_context_says() -> None:
    names: Object = {
        "_retries": 3, "_step": "work", "_origin": {"step": "plan"}, "run_id": "r1",
        "_branch": "left", "_began": {"run": "2026-01-01", "step": "2026-01-02"},
        "_verdicts": {"review": "failure", "other": "success"},
    }  # fmt: skip
    expected: Object = {
        "_retry_count": 3, "_current_node": "work", "_previous_node": "plan", "_run_id": "r1",
        "_branch_id": "left", "_start_time": "2026-01-01", "_node_start_time": "2026-01-02",
        "_pipeline_name": "deploy", "_goal_gates.review": "FAILURE", "_goal_gates.test": "PENDING",
    }  # fmt: skip
    for key, value in expected.items():
        literal = value if isinstance(value, int) else f"'{value}'"
        assert holds(f"{key} == {literal}", {key: "written by a handler"}, **names), key
        assert holds(f"context.{key} == {literal}", {key: "written by a handler"}, **names), key
    assert not holds("_goal_gates.other", **names)


def test_a_key_is_read_flat_first_and_then_inside() -> None:
    ctx = {"tool.output": "flat", "tool": {"output": "deep", "code": 7}, "a.b": {"c": [1, 2]}}
    assert holds("tool.output == 'flat' AND tool.code == 7 AND a.b.c.1 == 2", ctx)
    assert not holds("a.b.x OR a.b.c.2 OR tool.code.x", ctx)


def test_the_label_is_that_of_the_outcome() -> None:
    assert holds("preferred_label == 'Yes'", {"preferred_label": "No"}, outcome={"label": "Yes"})
    assert holds("NOT preferred_label", outcome={"label": None})


@pytest.mark.parametrize(
    ("text", "at", "suggestion"),
    [
        ("x == 1 and y", 7, "'AND'"),
        ("x or y", 2, "'OR'"),
        ("not x", 0, "'NOT'"),
        ("x in [1]", 2, "'IN'"),
        ("x Contains 'a'", 2, "'CONTAINS'"),
        ("x starts_with 'a'", 2, "'STARTS_WITH'"),
        ("x == FOO", 5, "'FOO'"),
        ("x || y", 2, "'OR'"),
        ("!x", 0, "'NOT'"),
        ("x == 'a", 5, "at its end"),
        ("x == 1 == 2", 7, "AND"),
        ("x = = 1", 2, "'=='"),
        ("x MATCHES 'a'", 2, "Operators are"),
    ],
)
def test_a_mistake_is_placed_and_gets_a_remedy(text: str, at: int, suggestion: str) -> None:
    [problem] = compiled(text).problems
    assert (problem.severity, problem.at) == (Severity.ERROR, at)
    assert suggestion in str(problem.suggestion)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "(", "x ==", "AND", "x AND", "(x", "x)", "[1]]", "x IN [1 2]", "x IN [y]", "1..2",
     "'a' 'b'", "(x == 1) == 2", "x == ?", "1" * 5000, "9e999 == x", "NOT", "[", "x == [[1]]"],
)  # fmt: skip
def test_what_is_no_condition_is_an_error_and_no_exception(text: str) -> None:
    made = compiled(text)
    assert made.condition is None
    assert made.problems[0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("text", "use"),
    [("x == null", "Use NOT x."), ("x != null", "Use x."), ("NULL", "Use NOT key.")],
)
def test_null_is_refused_with_what_to_write_instead(text: str, use: str) -> None:
    [problem] = compiled(text).problems
    assert (problem.topic, problem.suggestion) == (Topic.NULL, use)


def test_a_bare_not_before_a_comparison_gets_a_hint() -> None:
    [problem] = compiled("a AND NOT b == 1").problems
    assert (problem.severity, problem.topic, problem.at) == (Severity.INFO, Topic.NOT_SCOPE, 6)
    assert not compiled("NOT (b == 1)").problems
    assert not compiled("NOT b").problems


def test_a_status_that_never_is_gets_a_warning() -> None:
    for text in ("status == 'success'", "status IN ['SUCCESS', 'success']"):
        [problem] = compiled(text).problems
        assert (problem.severity, problem.topic) == (Severity.WARNING, Topic.WORD)
        assert problem.suggestion == "Did you mean 'SUCCESS'?"
    assert not compiled("status IN ['SUCCESS', 'PARTIAL']").problems


def test_deep_nesting_is_refused_and_long_chains_are_not() -> None:
    assert "nested deeper" in compiled("(" * 5000 + "x" + ")" * 5000).problems[0].message
    assert "nested deeper" in compiled("NOT " * 5000 + "x").problems[0].message
    assert holds(" AND ".join(["x == 1"] * 5000), {"x": 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", (0, 1)),
        ("status == 'FAILURE'", (1, 1)),
        ("status == 'FAILURE' AND error.type == 'TIMEOUT'", (3, 3)),
        ("NOT (context.a.b == 1)", (2, 2)),
        ("a OR b OR c", (2, 3)),
        ("x IN ['a', 'b']", (1, 1)),
    ],
)
def test_specificity_counts_operators_then_segments(text: str, expected: tuple[int, int]) -> None:
    assert compiled(text).specificity == expected


def test_what_is_read_is_told_without_the_prefix() -> None:
    assert compiled("context.a == 1 AND NOT b.c AND 'x' IN d").reads == {"a", "b.c", "d"}


def test_a_place_is_given_inside_the_value() -> None:
    made = compiled("x == 1\n  and y")
    [problem] = made.problems
    assert made.text[problem.at :] == "and y"
    assert "Did you mean 'AND'" in str(made.remedy_of(problem))


@pytest.mark.parametrize(
    ("text", "on_failure", "always", "only"),
    [
        ("status == 'FAILURE'", True, True, True),
        ("status != 'SUCCESS'", True, True, False),
        ("status == 'FAILURE' AND x == 1", True, False, True),
        ("status == 'SUCCESS' AND x == 1", False, False, False),
        ("x == 1", True, False, False),
        ("error.type == 'TIMEOUT'", True, False, True),
        ("NOT error.type", True, False, False),
        ("status IN ['FAILURE', 'PARTIAL']", True, True, False),
        ("x == 1 OR status == 'FAILURE'", True, True, False),
        ("NOT (status == 'FAILURE')", False, False, False),
        ("true", True, True, False),
    ],
)
def test_what_can_hold_for_a_failure_is_known_before_any_run(
    text: str, on_failure: bool, always: bool, only: bool
) -> None:
    made = compiled(text)
    assert made.can_hold_on_failure is on_failure
    assert made.reach is not None
    worth = made.reach.by_verdict
    assert (worth[Verdict.FAILURE] is True) is always
    others = [worth[verdict] for verdict in Verdict if verdict is not Verdict.FAILURE]
    assert (on_failure and all(one is False for one in others)) is only


KEYS = st.sampled_from(["x", "y.z", "status", "error.type", "context.x", "tool.output.0"])
LITERALS = st.one_of(
    st.booleans(), st.integers(-5, 5), st.floats(-5, 5), st.text(max_size=4),
    st.sampled_from(["true", "SUCCESS"]), st.lists(st.sampled_from([1, True, "a"]), max_size=2),
)  # fmt: skip
SIGNS = st.sampled_from(
    ["==", "!=", "<", "<=", ">", ">=", "CONTAINS", "STARTS_WITH", "ENDS_WITH", "IN"]
)


def trees() -> st.SearchStrategy[Tree]:
    key, literal = KEYS.map(key_of), LITERALS.map(ConditionLiteral)
    leaf = st.one_of(
        st.builds(Holds, st.one_of(key, literal)),
        st.builds(Compare, SIGNS, st.one_of(key, literal), literal),
    )
    # Bounded, as conditions are: one that is nested too deep is refused, and told elsewhere.
    return st.recursive(leaf, _nested, max_leaves=12)


def _nested(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    chain = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Not, inner), st.builds(All, chain), st.builds(AnyOf, chain))


def without_places(tree: Tree) -> str:
    import re

    return re.sub(r"at=\d+", "", repr(tree))


def written_in_docs(tree: Tree) -> str:
    """A docs tree as docs text; parsing it gives the tree again."""
    match tree:
        case Compare():
            return f"{_docs_side(tree.left)} {tree.sign} {_docs_side(tree.right)}"
        case Holds():
            return _docs_side(tree.operand)
        case Not():
            return f"NOT {_bracketed(tree.inner)}"
        case All():
            return " AND ".join(map(_bracketed_in_chain, tree.parts))
        case AnyOf():
            return " OR ".join(map(_bracketed_in_chain, tree.parts))


def _bracketed(tree: Tree) -> str:
    text = written_in_docs(tree)
    return text if isinstance(tree, Holds) else f"({text})"


def _bracketed_in_chain(tree: Tree) -> str:
    text = written_in_docs(tree)
    return f"({text})" if isinstance(tree, All | AnyOf) else text


def _docs_side(side: Operand) -> str:
    if isinstance(side, ContextKey):
        return f"context.{side.path}" if side.is_prefixed else side.path
    return docs_literal(side.value)


@given(trees())
def test_what_is_written_is_read_back(tree: Tree) -> None:
    read, _ = parse_docs(written_in_docs(tree))
    assert without_places(read) == without_places(tree)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-3, 3), st.sampled_from(["", "a", "true", "SUCCESS"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["z", "0"]), inner, max_size=2)),
    max_leaves=5,
)  # fmt: skip
CONTEXTS = st.dictionaries(st.sampled_from(["x", "y", "y.z", "tool.output", "tool"]), VALUES)


@given(trees(), CONTEXTS, st.sampled_from(["success", "failure", "partial", "skipped"]))
def test_no_context_makes_a_condition_raise_and_checks_agree_with_runs(
    tree: Tree, ctx: Object, verdict: str
) -> None:
    made = compiled(written_in_docs(tree))
    error = {"kind": "exit_code", "retryable": None} if verdict == "failure" else None
    worth = holds(made.text, ctx, verdict, error=error)
    assert made.reach is not None
    told = made.reach.by_verdict[verdict]  # type: ignore[index]
    assert told is None or told is worth


@given(st.text(alphabet="x1 '\"()[]=!<>&|,.ANDORNOTINnull\\\n$-", max_size=30))
def test_no_text_raises(text: str) -> None:
    made = compiled(text)
    assert (made.condition is None) == any(p.severity is Severity.ERROR for p in made.problems)
    assert all(0 <= problem.at <= len(text) for problem in made.problems)
