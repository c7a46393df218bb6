"""Every accepted spelling gives the same program."""

from __future__ import annotations

import pytest

from anew.expressions import MappingScope
from anew.languages.playbook import load_playbook
from anew.program.policy import (
    Break,
    Continue,
    Exhausted,
    Fail,
    Jump,
    OutcomeStatus,
    PatchTarget,
    Retry,
    Rule,
)
from anew.program.program import Dialect, FailureMode, Join, LoopMode, Program, RouteMode, Task
from anew.program.retry import Backoff, BackoffKind, Jitter, JitterKind
from tests.languages.spanless import spanless

NOTHING = MappingScope({})


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def step_of(body: str) -> str:
    lines = "".join(f"  {line}\n" for line in body.splitlines())
    return f"workflow:\n- step: a\n{lines}- step: b\n- step: c\n"


def tasks_of(body: str) -> tuple[Task, ...]:
    return spanless(load(step_of(body)).steps["a"].tasks)


def rules_of(rules: str) -> tuple[Rule, ...]:
    task = f"- t:\n    kind: noop\n    spec: {{policy: {{rules: {rules}}}}}\n"
    return tasks_of("tool:\n" + task + "- u: {kind: noop}")[0].policy.rules


def retry_of(then: str) -> Retry:
    (rule,) = rules_of(f"[{{else: {{then: {{do: retry, {then}}}}}}}]")
    assert isinstance(rule.then, Retry)
    return rule.then


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("tool: {kind: http, url: u}", "a"),
        ("tool: [{name: t, kind: http, url: u}]", "t"),
        ("tool: [{t: {kind: http, url: u}}]", "t"),
        ("tool: [{t: {tool: {kind: http, url: u}}}]", "t"),
        ("tool: [{name: t, tool: {kind: http, url: u}}]", "t"),
        ("tool: [{kind: http, url: u}]", "task_0"),
        ("tool: http\nurl: u", "a"),
        ("type: http\nurl: u", "a"),
        ("tool: {kind: http, endpoint: u}", "a"),
        ("tool: {kind: http, spec: {url: u}}", "a"),
        ("tool: {kind: http, url: u, spec: {url: ignored}}", "a"),
    ],
)
def test_a_tool_means_the_same_in_every_form(body: str, label: str) -> None:
    (task,) = tasks_of(body)
    assert (task.label, task.kind) == (label, "http")
    assert task.inputs.value(NOTHING) == {"url": "u"}


def test_a_step_without_a_tool_does_nothing() -> None:
    (task,) = tasks_of("next: b")
    assert (task.label, task.kind) == ("a", "noop")


@pytest.mark.parametrize(
    ("kind", "written", "canonical"),
    [
        ("postgres, auth: pg", "query", "command"),
        ("postgres, auth: pg", "queries", "command"),
        ("postgres, credential: pg", "commands", "command"),
        ("shell", "cmd", "command"),
        ("shell", "cmds", "command"),
        ("python, code: x", "with", "args"),
        ("python, code: x", "input", "args"),
    ],
)
def test_inputs_are_known_by_their_canonical_names(kind: str, written: str, canonical: str) -> None:
    (task,) = tasks_of(f"tool: {{kind: {kind}, {written}: x}}")
    inputs = task.inputs.value(NOTHING)
    assert inputs[canonical] == "x"
    assert written not in inputs
    assert "credential" not in inputs


def test_code_is_never_rendered() -> None:
    (task,) = tasks_of('tool: {kind: python, code: "x = \'{{ y }}\'", args: {n: "{{ 1 + 1 }}"}}')
    assert task.inputs.value(NOTHING) == {"code": "x = '{{ y }}'", "args": {"n": 2}}


def test_arguments_on_the_step_are_defaults_of_its_tasks() -> None:
    (task,) = tasks_of("args: {x: 1, y: 2}\ntool: {kind: python, code: c, args: {y: 3}}")
    assert task.inputs.value(NOTHING)["args"] == {"x": 1, "y": 3}


# --- next ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("next_", "mode", "targets"),
    [
        ("b", RouteMode.EXCLUSIVE, ["b"]),
        ("[b, c]", RouteMode.INCLUSIVE, ["b", "c"]),
        ("[{step: b}, {step: c}]", RouteMode.INCLUSIVE, ["b", "c"]),
        ("[{step: b, when: ctx.x}, c]", RouteMode.EXCLUSIVE, ["b", "c"]),
        ("{step: b, when: ctx.x}", RouteMode.EXCLUSIVE, ["b"]),
        ("{arcs: [{step: b}, {step: c}]}", RouteMode.EXCLUSIVE, ["b", "c"]),
        ("{spec: {mode: inclusive}, arcs: [{step: b}, c]}", RouteMode.INCLUSIVE, ["b", "c"]),
        ("", RouteMode.EXCLUSIVE, []),
    ],
)
def test_next_in_every_form(next_: str, mode: RouteMode, targets: list[str]) -> None:
    router = load(step_of(f"next: {next_}")).steps["a"].router
    assert router.mode is mode
    assert [arc.to for arc in router.arcs] == targets


@pytest.mark.parametrize("key", ["args", "input", "with"])
def test_an_arc_passes_arguments_under_every_word(key: str) -> None:
    (arc,) = load(step_of(f"next: [{{step: b, {key}: {{x: 1}}}}]")).steps["a"].router.arcs
    assert arc.args is not None
    assert arc.args.value(NOTHING) == {"x": 1}


@pytest.mark.parametrize(
    ("when", "counts"),
    [("event.failed > 0", True), ("event.name == 'loop.done'", False), ("event.failed.x", True)],
)
def test_an_arc_that_reads_the_failures_of_a_loop_counts_them(when: str, counts: bool) -> None:
    (arc,) = load(step_of(f'next: [{{step: b, when: "{when}"}}]')).steps["a"].router.arcs
    assert arc.counts_failures is counts


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        "[{else: {then: {do: break}}}]",
        "[{else: {do: break}}]",
        "[{else: null, then: {do: break}}]",
        "[{then: {do: break}}]",
        "[{else: break}]",
        "[{else: {then: break}}]",
    ],
)
def test_else_in_every_form(rules: str) -> None:
    (rule,) = rules_of(rules)
    assert (rule.when, rule.on, rule.then) == (None, None, Break())


def test_then_without_do_continues_and_a_bool_is_a_condition() -> None:
    (rule,) = rules_of("[{when: true, then: {set_ctx: {x: 1}}}]")
    assert rule.then == Continue()
    assert rule.when is not None
    assert rule.when.holds(NOTHING)


def test_eval_rules_carry_their_directive_themselves() -> None:
    (task,) = tasks_of(
        "tool:\n- t:\n    kind: noop\n    eval:\n"
        "    - {expr: \"{{ outcome.status == 'error' }}\", do: fail, message: no}\n"
        "    - else: {do: continue, set_vars: {x: 1}}"
    )
    first, last = task.policy.rules
    assert task.dialect is Dialect.EVAL
    assert task.policy.fail_unmatched_errors
    assert isinstance(first.then, Fail)
    assert last.when is None
    assert [(p.target, p.path) for p in last.patches] == [(PatchTarget.CTX, ("x",))]


def test_unmatched_errors_continue_in_a_policy_unless_asked_otherwise() -> None:
    body = "tool:\n- t:\n    kind: noop\n    spec: {policy: {rules: []%s}}"
    assert not tasks_of(body % "")[0].policy.fail_unmatched_errors
    assert tasks_of(body % ", on_unmatched: fail")[0].policy.fail_unmatched_errors


def test_set_writes_where_its_dotted_keys_say() -> None:
    (rule,) = rules_of("[{else: {then: {set: {ctx.a.b: 1, iter.i: 2, step.s: 3, bare: 4}}}}]")
    assert [(p.target, p.path) for p in rule.patches] == [
        (PatchTarget.CTX, ("a", "b")),
        (PatchTarget.ITER, ("i",)),
        (PatchTarget.CTX, ("s",)),
        (PatchTarget.CTX, ("bare",)),
    ]


def test_a_task_sets_with_every_outcome() -> None:
    (task,) = tasks_of('tool: [{name: t, kind: noop, set: {x: "{{ output }}"}}]')
    assert task.dialect is Dialect.OUTPUT
    assert [(p.target, p.path) for p in task.policy.patches] == [(PatchTarget.LOCAL, ("x",))]


def test_a_jump_may_wait() -> None:
    (rule,) = rules_of("[{else: {then: {do: jump, to: u, delay: 5s}}}]")
    assert rule.then == Jump("u", 5.0)


# --- retry directives ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "backoff"),
    [
        ("attempts: 3", Backoff(BackoffKind.NONE)),
        ("delay: 2", Backoff(BackoffKind.FIXED, 2.0)),
        ("backoff: none, delay: 2", Backoff(BackoffKind.NONE, 2.0)),
        ("backoff: linear", Backoff(BackoffKind.LINEAR, 1.0)),
        ("backoff: exponential, delay: 500ms", Backoff(BackoffKind.EXPONENTIAL, 0.5)),
        ("multiplier: 3, delay: 1", Backoff(BackoffKind.EXPONENTIAL, 1.0, 3.0)),
        ("max_delay: 1m30s", Backoff(BackoffKind.NONE, cap=90.0)),
        ("jitter: true", Backoff(jitter=Jitter(JitterKind.PLUS_MINUS_HALF))),
        ("jitter: false", Backoff()),
        ("jitter: 0.1", Backoff(jitter=Jitter(JitterKind.ADDED, 0.1))),
        ("jitter: full", Backoff(jitter=Jitter(JitterKind.FULL))),
        ("jitter: equal", Backoff(jitter=Jitter(JitterKind.EQUAL))),
        ("jitter: decorrelated", Backoff(jitter=Jitter(JitterKind.DECORRELATED))),
        ("honor_retry_after: true", Backoff(honor_retry_after=True)),
    ],
)
def test_a_retry_rule_waits_as_written(then: str, backoff: Backoff) -> None:
    assert retry_of(then).backoff == backoff


def test_attempts_default_to_three_and_may_be_an_expression() -> None:
    assert retry_of("delay: 1").attempts == 3
    assert retry_of('attempts: "7"').attempts == 7
    attempts = retry_of('attempts: "{{ workload.n }}"').attempts
    assert not isinstance(attempts, int)
    assert attempts.names == {"workload"}


@pytest.mark.parametrize("delay", ['"{{ rand() }}"', '"Wed, 21 Oct 2015 07:28:00 GMT"'])
def test_a_delay_that_is_known_later_stays_a_template(delay: str) -> None:
    assert not isinstance(retry_of(f"delay: {delay}").backoff.first, float)


@pytest.mark.parametrize(
    ("written", "exhausted"),
    [
        ("continue", Exhausted(Continue())),
        ("{do: break}", Exhausted(Break())),
        ("{do: jump, to: u}", Exhausted(Jump("u"))),
    ],
)
def test_what_follows_spent_attempts(written: str, exhausted: Exhausted) -> None:
    assert retry_of(f"on_exhausted: {written}").on_exhausted == exhausted


def test_spent_attempts_may_carry_patches() -> None:
    found = retry_of("on_exhausted: {do: continue, set_ctx: {gave_up: true}}").on_exhausted
    assert found is not None
    assert [patch.path for patch in found.patches] == [("gave_up",)]


# --- retry blocks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "tool: http\nurl: u\nretry: %s",
        "tool: {kind: http, url: u, retry: %s}",
        "tool: {kind: http, url: u}\nretry: %s",
        "tool: [{t: {kind: http, url: u, retry: %s}}]",
    ],
)
@pytest.mark.parametrize(("written", "attempts"), [("true", 3), ("5", 5), ("{max_attempts: 4}", 4)])
def test_a_plain_retry_block_retries_errors(body: str, written: str, attempts: int) -> None:
    (task,) = tasks_of(body % written)
    (rule,) = task.policy.rules
    assert task.dialect is Dialect.RETRY
    assert task.policy.fail_unmatched_errors
    assert (rule.on, rule.when, rule.name) == (OutcomeStatus.ERROR, None, "retry")
    backoff = Backoff(
        BackoffKind.EXPONENTIAL, 1.0, 2.0, 60.0, jitter=Jitter(JitterKind.PLUS_MINUS_HALF)
    )
    assert rule.then == Retry(attempts, backoff)


def test_retry_false_leaves_the_default() -> None:
    (task,) = tasks_of("tool: http\nurl: u\nretry: false")
    assert task.policy.rules == ()


def test_a_full_retry_block_asks_stop_when_first() -> None:
    (task,) = tasks_of(
        "tool: http\nurl: u\nretry: {retry_when: '{{ status_code >= 500 }}', initial_delay: 2,\n"
        " stop_when: success, max_delay: 9, backoff_multiplier: 3, jitter: false}"
    )
    rules = task.policy.rules
    assert [(rule.name, rule.on) for rule in rules] == [
        ("stop_when", OutcomeStatus.ERROR),
        ("stop_when", OutcomeStatus.OK),
        ("retry_when", OutcomeStatus.ERROR),
        ("retry_when", OutcomeStatus.OK),
    ]
    backoff = Backoff(BackoffKind.EXPONENTIAL, 2.0, 3.0, 9.0)
    assert [rule.then for rule in rules] == [
        Fail(),
        Continue(),
        Retry(3, backoff),
        Retry(3, backoff, on_exhausted=Exhausted(Continue())),
    ]


def test_a_retry_condition_is_true_for_true_words_only() -> None:
    (task,) = tasks_of('tool: http\nurl: u\nretry: {retry_when: "{{ workload.word }}"}')
    when = task.policy.rules[0].when
    assert when is not None
    assert when.holds(MappingScope({"workload": {"word": "Yes"}}))
    assert not when.holds(MappingScope({"workload": {"word": "maybe"}}))


# --- steps and the document ----------------------------------------------------------------------


def test_a_step_says_who_enters_how_it_joins_and_how_long_it_may_take() -> None:
    step = load(
        step_of(
            "spec:\n  join: each\n  policy:\n    failure: {mode: best_effort}\n"
            "    lifecycle: {timeout_s: 90}\n    admit:\n      rules:\n"
            "      - {when: ctx.x, then: {allow: true}}\n      - else: {then: {allow: false}}"
        )
    ).steps["a"]
    assert (step.join, step.failure, step.deadline_seconds) == (
        Join.EACH,
        FailureMode.BEST_EFFORT,
        90.0,
    )
    assert [(rule.allow, rule.when is None) for rule in step.admit] == [
        (True, False),
        (False, True),
    ]


def test_an_older_when_on_a_step_is_a_gate() -> None:
    step = load(step_of("when: ctx.x\ntool: {kind: noop}")).steps["a"]
    assert [(rule.allow, rule.when is None) for rule in step.admit] == [
        (True, False),
        (False, True),
    ]


def test_a_loop_is_sequential_unless_it_says_otherwise() -> None:
    plain = load(step_of('loop: {in: "{{ workload.x }}", iterator: row}')).steps["a"].loop
    fast = (
        load(step_of("loop: {in: [1], iterator: row, spec: {mode: parallel, max_in_flight: 4}}"))
        .steps["a"]
        .loop
    )
    assert plain is not None
    assert fast is not None
    assert (plain.iterator, plain.mode, plain.max_in_flight) == ("row", LoopMode.SEQUENTIAL, 32)
    assert (fast.mode, fast.max_in_flight) == (LoopMode.PARALLEL, 4)


@pytest.mark.parametrize(
    ("head", "names", "entry"),
    [
        ("executor: {spec: {entry_step: b}}\n", ["a", "start", "b"], "b"),
        ("", ["a", "start"], "start"),
        ("", ["a", "b"], "a"),
    ],
)
def test_the_entry_is_named_or_called_start_or_first(
    head: str, names: list[str], entry: str
) -> None:
    steps = "".join(f"- step: {name}\n" for name in names)
    assert load(f"{head}workflow:\n{steps}").entry == entry


def test_workload_defaults_that_name_the_run_are_templates_and_others_stay_text() -> None:
    program = load(
        "workload:\n  id: 'r-{{ run_id }}'\n  deep: {job: '{{ job.uuid }}', keep: '{{ now() }}'}\n"
        "  other: '{{ ctx.x }}'\n  broken: '{{ 1 +'\n  mixed: '{{ run_id }}{{ now() }}'\n"
        "workflow: [{step: a}]\n"
    )
    assert set(program.workload_templates) == {("id",), ("deep", "job")}
    assert program.workload["other"] == "{{ ctx.x }}"
    assert program.workload["broken"] == "{{ 1 +"


@pytest.mark.parametrize(
    "workbook",
    [
        "[{name: w, tool: {kind: noop}}]",
        "[{name: w, kind: noop}]",
        "{w: {kind: noop}}",
        "{tasks: {w: {kind: noop}}}",
        "{w: {tool: {kind: noop}}}",
    ],
)
def test_a_workbook_in_every_form(workbook: str) -> None:
    text = f"workbook: {workbook}\nworkflow: [{{step: a, tool: {{kind: workbook, name: w}}}}]\n"
    assert load(text).workbook["w"].kind == "noop"


def test_limits_failure_and_result_of_a_program() -> None:
    program = load(
        "metadata: {name: demo}\nexecutor:\n  spec:\n    return_step: a\n"
        "    limits: {tasks_per_step_run: 7}\n    policy: {failure: {mode: best_effort}}\n"
        "workflow: [{step: a}]\n"
    )
    assert (program.name, program.return_step, program.failure) == (
        "demo",
        "a",
        FailureMode.BEST_EFFORT,
    )
    assert (program.limits.tasks_per_step_run, program.limits.deliveries) == (7, 3)


def test_the_digest_is_that_of_the_bytes() -> None:
    import hashlib

    text = "workflow: [{step: ä}]\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert load_playbook(text, "f").program.digest == digest  # type: ignore[union-attr]
    assert load_playbook(text.encode(), "f").program.digest == digest  # type: ignore[union-attr]


def test_tasks_of_different_dialects_make_a_mixed_program() -> None:
    text = (
        "workflow:\n- {step: a, tool: http, url: u, retry: 2, next: b}\n"
        "- {step: b, tool: [{t: {kind: noop, eval: [{else: {do: break}}]}}]}\n"
    )
    program = load(text)
    assert program.dialect == "mixed"
    assert [task.dialect for step in program.steps.values() for task in step.tasks] == [
        Dialect.RETRY,
        Dialect.EVAL,
    ]


def test_arcs_speak_output_when_a_task_of_their_step_does() -> None:
    rules = "[{when: \"output.status == 'ok'\", then: {}}]"
    body = f"tool: [{{t: {{kind: noop, spec: {{policy: {{rules: {rules}}}}}}}}}]"
    assert load(step_of(body)).steps["a"].dialect is Dialect.OUTPUT
    assert load(step_of("tool: {kind: python, code: c, input: {}}")).steps["a"].dialect is (
        Dialect.POLICY
    )


def test_timeouts_of_an_attempt() -> None:
    assert tasks_of("tool: {kind: http, url: u, spec: {timeout: 5}}")[0].timeout == 5.0
    two = tasks_of("tool: {kind: http, url: u, spec: {timeout: {connect: 5, read: 1m}}}")[0].timeout
    assert two == {"connect": 5.0, "read": 60.0}
    assert tasks_of("tool: http\nurl: u\nspec: {timeout: 5}")[0].timeout == 5.0
    waiting = tasks_of("tool: {kind: wait, signal: s, timeout: 5}")[0]
    assert (waiting.timeout, waiting.inputs.value(NOTHING)["timeout"]) == (None, 5)


@pytest.mark.parametrize("key", ["timeout", "timeout_seconds"])
def test_a_timeout_beside_the_inputs(key: str) -> None:
    (task,) = tasks_of(f"tool: {{kind: shell, command: ls, {key}: 5}}")
    assert (task.timeout, task.inputs.value(NOTHING)) == (5.0, {"command": "ls"})


@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        ("http, endpoint: u", "url", "u"),
        ("http, url: u, verify_ssl: false", "verify", False),
        ("sqlite, cmd: SELECT 1", "command", "SELECT 1"),
        ("duckdb, cmds: [SELECT 1]", "command", ["SELECT 1"]),
        ("postgres, credential: pg, query: SELECT 1", "auth", "pg"),
        ("shell, cmds: [ls]", "command", ["ls"]),
        ("playbook, path: p, payload: {a: 1}", "args", {"a": 1}),
        ("playbook, path: p, result_step: s", "return_step", "s"),
        ("workbook, task: w", "name", "w"),
    ],
)
def test_an_input_under_its_other_name(tool: str, name: str, value: object) -> None:
    text = f"workbook: [{{name: w, tool: {{kind: noop}}}}]\n{step_of(f'tool: {{kind: {tool}}}')}"
    (task,) = load(text).steps["a"].tasks
    assert task.inputs.value(NOTHING)[name] == value


def test_a_named_call_of_the_workbook_may_say_which_task_beside_its_label() -> None:
    text = (
        "workbook: [{name: w, tool: {kind: noop}}]\n"
        "workflow: [{step: a, tool: [{name: label, kind: workbook, task: w}]}]\n"
    )
    (task,) = load(text).steps["a"].tasks
    assert (task.label, task.inputs.value(NOTHING)) == ("label", {"name": "w"})
