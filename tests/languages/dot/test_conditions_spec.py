"""The condition language of the spec dialect: what it accepts, and what it is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.expressions import MappingScope
from anew.languages.dot.conditions import CompiledCondition, Names, Topic, compile_condition
from anew.languages.dot.graph import DotDialect
from anew.program.findings import Severity
from anew.program.policy import Verdict
from anew.values import Object, Value

NAMES = Names(DotDialect.SPEC, pipeline="deploy", gates=("review",))


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
        ("outcome=success", {}),
        ("outcome = success && context.x = 1", {"x": 1}),
        ("x=1", {"x": "1"}),
        ("x=1.5", {"x": 1.5}),
        ("x=true", {"x": True}),
        ("x!=true", {"x": False}),
        ("x=two words", {"x": "two words"}),
        ("x='a && b'", {"x": "a && b"}),
        ('x="a=b"', {"x": "a=b"}),
        ("x=a=b", {"x": "a=b"}),
        ("x=Don't && y=can't", {"x": "Don't", "y": "can't"}),
        ("x=", {}),
        ("x=", {"x": None}),
        ("x!=", {"x": 0}),
        ("x!=a", {}),
        ("x", {"x": "no"}),
        ("x && y", {"x": 1, "y": [0]}),
        ('x=["a", 1]', {"x": ["a", 1]}),
        ("context.tool.output=ok", {"tool.output": "ok"}),
        ("a.b.0=1", {"a": {"b": [1]}}),
        ("tests-passed=yes", {"tests-passed": "yes"}),
        ("context.x=1", {"context.x": 1, "x": 2}),
        ("x=SIGN IN now", {"x": "SIGN IN now"}),
    ],
)
def test_a_condition_holds(text: str, ctx: Object) -> None:
    assert holds(text, ctx)


@pytest.mark.parametrize(
    ("text", "ctx"),
    [
        ("x=1", {}),
        ("x!=", {}),
        ("x", {}),
        ("x", {"x": "false"}),
        ("x", {"x": False}),
        ("x", {"x": 0}),
        ("x", {"x": "0"}),
        ("x=a && y=b", {"x": "a"}),
        ("x=True", {"x": True}),
        ("x=1", {"x": 1.0}),
    ],
)
def test_a_condition_does_not_hold(text: str, ctx: Object) -> None:
    assert not holds(text, ctx)


@pytest.mark.parametrize(
    ("verdict", "word", "expected"),
    [
        ("success", None, "success"),
        ("partial", None, "partial_success"),
        ("skipped", None, "skipped"),
        ("failure", None, "fail"),
        ("success", "needs_dod", "needs_dod"),
        ("success", "Needs", "Needs"),
        ("success", "SUCCESS", "success"),
        ("partial", "PARTIAL", "partial_success"),
        ("failure", "FAILURE", "fail"),
        ("failure", "retry", "retry"),
        ("failure", "RETRY", "retry"),
    ],
)
def test_outcome_is_the_word_of_the_handler(verdict: str, word: str | None, expected: str) -> None:
    outcome = {"word": word}
    assert holds(f"outcome={expected}", {"outcome": "stale"}, verdict, outcome=outcome)
    assert not holds(f"outcome!={expected}", {}, verdict, outcome=outcome)
    assert not holds("outcome=other", {}, verdict, outcome=outcome)


def test_a_failure_that_asked_for_a_retry_is_still_a_failure() -> None:
    assert holds("outcome=fail", verdict="failure", outcome={"word": "retry"})
    assert not holds("outcome!=fail", verdict="failure", outcome={"word": "retry"})


def test_an_own_word_is_no_success_for_an_edge() -> None:
    assert not holds("outcome=success", outcome={"word": "needs_dod"})


def test_the_run_answers_for_reserved_keys() -> None:
    assert holds("current_node=work", {"current_node": "old"}, _step="work")
    assert holds("internal.retry_count.work=2", _step="work", _retries=2)
    assert holds("internal.retry_count.other=5", {"internal.retry_count.other": 5}, _step="work")
    assert holds("preferred_label=Yes", {"preferred_label": "No"}, outcome={"label": "Yes"})
    assert holds("context.outcome=success", {"outcome": "stale"})
    assert holds("last_stage=work", _step="work")
    assert holds("last_stage=agent", {"last_stage": "agent"}, _step="work")
    assert holds("_goal_gates.review=PENDING && status=fail", verdict="failure")
    assert holds("graph.goal=ship", {"graph.goal": "ship"})


def test_before_the_end_of_a_visit_the_outcome_is_that_of_the_step_before() -> None:
    condition = compiled("outcome=fail && last_stage=plan").condition
    assert condition is not None
    origin = {"step": "plan", "outcome": {"verdict": "failure"}}
    assert condition.holds(MappingScope({"ctx": {}, "_origin": origin, "_step": "work"}))


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("x=1 || y=2", "one edge for each"),
        ("!x", "x!=true"),
        ("x=1 AND y=2", "&&"),
        ("x==1 && y=2", "Write one '='"),
        ("x ~ 1", "key=value"),
        ("(x=1)", "key=value"),
        ("x='a", "End it with '"),
        ("x='a' b", "End it with '"),
        ("x=1 &&", "Remove it"),
        ("&& x=1", "Remove it"),
        ("", "Remove it"),
    ],
)
def test_a_mistake_gets_a_remedy(text: str, suggestion: str) -> None:
    [problem] = compiled(text).problems
    assert problem.severity is Severity.ERROR
    assert suggestion in str(problem.suggestion)


def test_a_status_word_of_another_spelling_gets_a_warning() -> None:
    for text in ("outcome=FAILURE", "outcome=failed", "status != 'FAILURE'"):
        [problem] = compiled(text).problems
        assert (problem.severity, problem.topic) == (Severity.WARNING, Topic.WORD)
        assert problem.suggestion == "Did you mean 'fail'?"
    assert not compiled("outcome=needs_dod").problems
    assert not compiled("outcome=retry").problems


@pytest.mark.parametrize(
    ("text", "on_failure", "always", "only"),
    [
        ("outcome=fail", True, True, True),
        ("outcome!=success", True, True, False),
        ("outcome=success", False, False, False),
        ("outcome=retry", True, False, True),
        ("outcome=needs_dod", False, False, False),
        ("outcome!=fail", False, False, False),
        ("outcome=fail && context.x=1", True, False, True),
        ("context.x=1", True, False, False),
        ("outcome=partial_success", False, False, False),
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


def test_a_success_may_go_by_another_word() -> None:
    reach = compiled("outcome=success").reach
    assert reach is not None
    assert reach.by_verdict[Verdict.SUCCESS] is None
    assert reach.by_verdict[Verdict.PARTIAL] is False


CLAUSES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["outcome", "context.x", "y", "preferred_label", "status"]),
    st.sampled_from(["=", "!="]),
    st.sampled_from(["success", "fail", "retry", "skipped", "partial_success", "own", "1", ""]),
)
CONDITIONS = st.lists(CLAUSES, min_size=1, max_size=3).map(" && ".join)


@given(
    CONDITIONS,
    st.sampled_from(list(Verdict)),
    st.sampled_from([None, "own", "retry", "SUCCESS"]),
    st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from([1, "1", None, True, [1], ""])),
)
def test_checks_agree_with_runs(text: str, verdict: Verdict, word: str | None, ctx: Object) -> None:
    made = compiled(text)
    worth = holds(text, ctx, verdict.value, outcome={"word": word})
    assert made.reach is not None
    told = made.reach.by_verdict[verdict]
    assert told is None or told is worth


@given(st.text(alphabet="x1 '\"()=!<>&|.ANDOR\\\n", max_size=30))
def test_no_text_raises(text: str) -> None:
    made = compiled(text)
    assert (made.condition is None) == any(p.severity is Severity.ERROR for p in made.problems)
    assert all(0 <= problem.at <= len(text) for problem in made.problems)
