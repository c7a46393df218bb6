"""Conditions put into the other dialect, and into the expressions of playbooks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.expressions import MappingScope
from anew.expressions import compile_condition as compile_expression
from anew.languages.dot.conditions import Names, Topic, compile_condition, to_jinja
from anew.languages.dot.graph import DotDialect
from anew.values import Object, Value

DOCS = Names(DotDialect.DOCS, pipeline="it's", gates=("review",))
SPEC = Names(DotDialect.SPEC, pipeline="it's", gates=("review",))


@pytest.mark.parametrize(
    ("spec", "docs"),
    [
        ("outcome=success && context.x=1", "status == 'SUCCESS' AND x == '1'"),
        ("outcome=fail", "status == 'FAILURE'"),
        ("outcome!=success", "status != 'SUCCESS'"),
        ("outcome=needs_dod", "outcome == 'needs_dod'"),
        ("outcome=fail && context.x!=a", "status == 'FAILURE' AND NOT (x == 'a')"),
        ("x=it's", r"x == 'it\'s'"),
        ("x= && y", "NOT x AND y"),
        ("preferred_label=Fix it", "preferred_label == 'Fix it'"),
    ],
)
def test_a_spec_condition_in_a_docs_graph_is_translated(spec: str, docs: str) -> None:
    [problem] = compile_condition(spec, DOCS).problems
    assert (problem.topic, problem.fix) == (Topic.OTHER_DIALECT, docs)
    assert compile_condition(docs, DOCS).condition is not None


@pytest.mark.parametrize(
    ("docs", "spec"),
    [
        ("status == 'SUCCESS' AND x == '1'", "outcome=success && x=1"),
        ("status != 'FAILURE' AND x == '1'", "outcome!=fail && x=1"),
        ("NOT (status == 'PARTIAL')", "outcome!=partial_success"),
        ("context.x == true", "context.x=true"),
        ("x == 'a && b' AND y", "x='a && b' && y"),
        ("NOT NOT x", "x"),
        ("status IN ['SUCCESS']", "outcome=success"),
        ("3 == n", "n=3"),
    ],
)
def test_a_docs_condition_in_a_spec_graph_is_translated(docs: str, spec: str) -> None:
    [problem] = compile_condition(docs, SPEC).problems
    assert (problem.topic, problem.fix) == (Topic.OTHER_DIALECT, spec)
    assert compile_condition(spec, SPEC).condition is not None


@pytest.mark.parametrize(
    ("docs", "reason"),
    [
        ("a == 1 OR b == 1", "one edge for each side"),
        ("n > 3", "only = and !="),
        ("x CONTAINS 'a'", "only = and !="),
        ("NOT x", "key!=true"),
        ("status IN ['SUCCESS', 'PARTIAL']", "one edge for each value"),
    ],
)
def test_what_spec_cannot_say_is_told(docs: str, reason: str) -> None:
    [problem] = compile_condition(docs, SPEC).problems
    assert (problem.topic, problem.fix) == (Topic.OTHER_DIALECT, None)
    assert reason in str(problem.suggestion)


@pytest.mark.parametrize("text", ["x", "context.x", "x == '1 && 2'", "x == 'a=b'"])
def test_a_condition_of_docs_is_not_taken_for_one_of_spec(text: str) -> None:
    assert not compile_condition(text, DOCS).problems


@pytest.mark.parametrize("text", ["x", "x='a == b'", 'x="p AND q"', "x=NOT now", "x=a > b"])
def test_a_condition_of_spec_is_not_taken_for_one_of_docs(text: str) -> None:
    assert not compile_condition(text, SPEC).problems


def jinja_of(text: str, names: Names) -> str | None:
    made = compile_condition(text, names)
    assert made.tree is not None, made.problems
    return to_jinja(made.tree, names).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("status == 'FAILURE'", "event.outcome.verdict == 'failure'"),
        ("status IN ['SUCCESS', 'PARTIAL']", "event.outcome.verdict in ['success', 'partial']"),
        ("x == 'a'", "ctx.x == 'a'"),
        ("my-key STARTS_WITH 'a'", "ctx['my-key'] is string and ctx['my-key'].startswith('a')"),
        ("x < 3", "ctx.x is number and ctx.x is not boolean and ctx.x < 3"),
        (
            "tool.output == 'ok'",
            "(ctx['tool.output'] if 'tool.output' in ctx else ctx.tool.output) == 'ok'",
        ),
    ],
)
def test_an_expression_of_a_playbook_is_readable(text: str, expected: str) -> None:
    assert jinja_of(text, DOCS) == expected


@pytest.mark.parametrize(
    "text",
    ["x == context.y", "x.0 == 1", "x CONTAINS 1", "error", "outcome == 'fail'", "a.body == 1",
     "internal.retry_count.a == 1", "_goal_gates", "retryable.x", "context.status == 'a'"],
)  # fmt: skip
def test_what_a_playbook_cannot_say_has_a_reason(text: str) -> None:
    made = compile_condition(text, DOCS)
    assert made.tree is not None
    found = to_jinja(made.tree, DOCS)
    assert found.text is None
    assert found.reasons


KEYS = ["x", "y.z", "context.x", "a-b.c", "preferred_label", "error.type", "error.message", "status",
        "error.retryable", "retry_count", "_retry_count", "_branch_id", "_goal_gates.review",
        "_pipeline_name", "error_type", "_previous_node", "last_stage"]  # fmt: skip
TEXTS = ["", "a", "ab", "it's", "true", "False", "0", "1", "SUCCESS", "FAILURE", "failure", "null",
         "TIMEOUT", "UNKNOWN", "PENDING", "{{ x }}", "back\\slash", "new\nline", "left"]  # fmt: skip
SCALARS = st.one_of(
    st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1.0]), st.sampled_from(TEXTS)
)


def docs_literal(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(docs_literal, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


DOCS_LEAVES = st.one_of(
    st.sampled_from(KEYS),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(KEYS),
        st.sampled_from(
            ["==", "!=", "<", "<=", ">", ">=", "CONTAINS", "STARTS_WITH", "ENDS_WITH", "IN"]
        ),
        st.one_of(SCALARS, st.lists(SCALARS, max_size=3)).map(docs_literal),
    ),
    st.builds("{} IN {}".format, SCALARS.map(docs_literal), st.sampled_from(KEYS)),
)
DOCS_TEXTS = st.recursive(
    DOCS_LEAVES,
    lambda inner: st.one_of(
        st.builds("NOT ({})".format, inner),
        st.builds("({}) AND ({})".format, inner, inner),
        st.builds("({}) OR ({})".format, inner, inner),
    ),
    max_leaves=4,
)
SPEC_TEXTS = st.lists(
    st.one_of(
        st.sampled_from(KEYS),
        st.builds(
            "{}{}{}".format,
            st.sampled_from([*KEYS, "outcome", "outcome", "context.outcome", "current_node"]),
            st.sampled_from(["=", "!="]),
            st.sampled_from([*TEXTS, "success", "fail", "retry", "own", "Own", "skipped", "partial_success"]).map(
                lambda text: docs_literal(text) if text else text
            ),
        ),
    ),
    min_size=1, max_size=3,
).map(" && ".join)  # fmt: skip
VALUES = st.one_of(
    SCALARS, st.none(), st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["z", "c", "a"]), SCALARS, max_size=2),
)  # fmt: skip
ERRORS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["timeout", "db_timeout", "auth"]), "retryable": st.sampled_from([True, False, None])},
        optional={"type": st.sampled_from([None, "TERMINAL", "UNKNOWN"]), "message": st.sampled_from(TEXTS)},
    ),
)  # fmt: skip
OUTCOMES = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["success", "failure", "partial", "skipped"])},
    optional={
        "word": st.sampled_from([None, "", "own", "Own", "retry", "RETRY", "success", "FAIL"]),
        "label": st.sampled_from([None, "", *TEXTS]),
    },
)
SCOPES = st.fixed_dictionaries(
    {
        "ctx": st.dictionaries(
            st.sampled_from(["x", "y", "y.z", "a-b", "a-b.c", "retry_count", "error_type", "status", "last_stage"]),
            VALUES,
        ),
        "event": st.fixed_dictionaries({"outcome": OUTCOMES, "error": ERRORS}),
    },
    optional={
        "_retries": st.integers(0, 2), "_branch": st.sampled_from([None, "left"]),
        "_verdicts": st.sampled_from([{}, {"review": "success"}]), "_step": st.sampled_from(["a", "ab"]),
        "_origin": st.sampled_from([{"step": "a"}, {}]),
    },
)  # fmt: skip


def agree(text: str, names: Names, scope: Object) -> None:
    made = compile_condition(text, names)
    assert made.tree is not None, made.problems
    assert made.condition is not None
    found = to_jinja(made.tree, names)
    if found.text is None:
        assert found.reasons
        return
    expected = made.condition.holds(MappingScope(scope))
    assert compile_expression(found.text).holds(MappingScope(scope)) is expected, found.text


@settings(max_examples=300)
@given(DOCS_TEXTS, SCOPES)
def test_a_docs_condition_and_its_expression_agree(text: str, scope: Object) -> None:
    agree(text, DOCS, scope)


@settings(max_examples=300)
@given(SPEC_TEXTS, SCOPES)
def test_a_spec_condition_and_its_expression_agree(text: str, scope: Object) -> None:
    agree(text, SPEC, scope)
