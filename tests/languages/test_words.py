"""Typos in closed vocabularies: words that are compared, keys that are read, keys that are given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from anew.languages.playbook import load_playbook
from anew.program.findings import Finding
from anew.program.names import RETRY_WORDS

ROOT = Path(__file__).parents[2]
WORKFLOW = "workflow:\n- step: a\n"
LOOP = "  loop: {in: [1], iterator: row}\n"
RULES_OF_WORDS = ("event.word", "outcome.word", "outcome.key", "name.unknown")


def found_in(text: str, rule: str) -> list[Finding]:
    return [found for found in load_playbook(text, "f.yaml").findings if found.rule == rule]


def remedies(text: str, rule: str) -> list[str | None]:
    return [found.suggestion for found in found_in(text, rule)]


def arc(condition: str, *, more: str = "") -> str:
    return f'{WORKFLOW}{more}  next:\n    arcs:\n    - step: a\n      when: "{condition}"\n'


def rule(condition: str, *, kind: str = "noop") -> str:
    return (
        f"{WORKFLOW}  tool:\n  - t:\n      kind: {kind}\n      spec: {{policy: {{rules: [\n"
        f'        {{when: "{condition}", then: {{do: fail}}}}, {{else: {{then: {{do: break}}}}}}]}}}}\n'
    )


def retried(condition: str) -> str:
    return f'{WORKFLOW}  tool: http\n  url: u\n  retry: {{retry_when: "{condition}"}}\n'


def evaluation(condition: str) -> str:
    return f'{WORKFLOW}  tool: {{kind: noop, eval: [{{expr: "{condition}", do: fail}}]}}\n'


def url(template: str, *, loop: str = "", before: str = "") -> str:
    return f'{before}{WORKFLOW}{loop}  tool: {{kind: http, url: "{template}"}}\n'


# --- event.name ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("event.name == 'step.don'", "step.done"),
        ("event.name != 'step.fialed'", "step.failed"),
        ("event.name in ['call.eror', 'step.exit']", "call.error"),
        ("event.name not in ['loop.dne']", "loop.done"),
        ("'step.error' == event.name", "step.failed"),
    ],
)
def test_a_misspelt_event_word_is_told_with_the_one_that_was_meant(
    condition: str, meant: str
) -> None:
    assert remedies(arc(condition), "event.word") == [f"Did you mean {meant!r}?"]


def test_an_event_word_like_no_other_is_told_with_all_there_are_at_its_place() -> None:
    (found,) = found_in(arc("event.name == 'zzz'"), "event.word")
    assert found.message.endswith(
        "step.done, call.done, step.exit, step.failed, call.error, loop.done"
    )
    assert (found.place.line, found.place.column) == (6, 29)


@pytest.mark.parametrize("word", ["step.done", "call.done"])
def test_a_step_with_a_loop_is_not_asked_on_the_end_of_a_step(word: str) -> None:
    expected = ["A loop is asked on 'loop.done'."]
    assert remedies(arc(f"event.name == '{word}'", more=LOOP), "event.word") == expected
    assert remedies(arc(f"event.name == '{word}'"), "event.word") == []


def test_a_step_without_a_loop_is_not_asked_on_the_end_of_a_loop() -> None:
    expected = ["A step without a loop is asked on 'step.done'."]
    assert remedies(arc("event.name == 'loop.done'"), "event.word") == expected
    assert remedies(arc("event.name == 'loop.done'", more=LOOP), "event.word") == []


def test_a_misspelt_end_on_a_loop_is_corrected_to_the_end_of_a_loop() -> None:
    assert remedies(arc("event.name == 'step.don'", more=LOOP), "event.word") == [
        "Did you mean 'loop.done'?"
    ]


@pytest.mark.parametrize("more", ["", LOOP])
@pytest.mark.parametrize(
    "condition",
    [
        "event.name in ['step.done', 'loop.done']",
        "event.name == 'step.exit'",
        "event.name == 'step.failed' or event.name == 'call.error'",
        "event.name == ctx.word",
    ],
)
def test_arcs_that_can_hold_are_not_told(condition: str, more: str) -> None:
    assert remedies(arc(condition, more=more), "event.word") == []


def test_a_loop_that_was_reported_is_not_taken_for_none() -> None:
    text = arc("event.name == 'loop.done'", more="  loop: {cursor: {}}\n")
    assert remedies(text, "dialect.unsupported") != []
    assert remedies(text, "event.word") == []


# --- outcome.status ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (rule("outcome.status == 'success'"), "Did you mean 'ok'?"),
        (rule("outcome.status == 'failed'"), "Did you mean 'error'?"),
        (rule("output.status != 'OK'"), "Did you mean 'ok'?"),
        (rule("outcome.status == 'eror'"), "Did you mean 'error'?"),
        (rule("outcome.status == 'zzz'"), "Write one of the two."),
        (evaluation("outcome.status == 'ok'"), "Did you mean 'success'?"),
        (evaluation("outcome.status == 'sucess'"), "Did you mean 'success'?"),
        (evaluation("output.status == 'success'"), "Did you mean 'ok'?"),
        (retried("output.status == 'success'"), "Did you mean 'ok'?"),
        (retried("outcome.status == 'failed'"), "Did you mean 'error'?"),
    ],
)
def test_a_status_that_never_is_is_told(text: str, remedy: str) -> None:
    assert remedies(text, "outcome.word") == [remedy]


@pytest.mark.parametrize(
    "text",
    [
        rule("outcome.status in ['ok', 'error']"),
        rule("outcome.status in ['error', 'failed']"),
        rule("outcome.result.status == 'failed'"),
        evaluation("outcome.status == 'success'"),
        evaluation("outcome.status == 'success' and output.status == 'ok'"),
        retried("output.status == 'ok'"),
    ],
)
def test_a_status_that_can_be_is_not_told(text: str) -> None:
    assert remedies(text, "outcome.word") == []


# --- keys of outcomes and events -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (rule("outcome.stauts == 'ok'"), "Did you mean 'outcome.status'?"),
        (rule("outcome.data.x == 1"), "Did you mean 'outcome.result'?"),
        (rule("output.result.x == 1"), "Did you mean 'output.data'?"),
        (rule("outcome.status_code == 1"), "Did you mean 'outcome.http.status'?"),
        (rule("outcome.http.staus == 1"), "Did you mean 'outcome.http.status'?"),
        (rule("outcome['meta'].atempt == 1"), "Did you mean 'outcome.meta.attempt'?"),
        (rule("outcome.zzzz"), "Read one of the keys it has."),
        (arc("event.faild > 0"), "Did you mean 'event.failed'?"),
    ],
)
def test_a_key_that_outcomes_and_events_lack_is_told(text: str, remedy: str) -> None:
    assert remedies(text, "outcome.key") == [remedy]


def test_an_unknown_key_is_told_where_it_is_read() -> None:
    (found,) = found_in(rule("outcome.error and outcome.http.staus == 1"), "outcome.key")
    assert (found.place.line, found.place.column) == (7, 35)
    assert found.message == "outcome.http has no key 'staus'; it has status, headers"


@pytest.mark.parametrize(
    "text",
    [
        rule("outcome.result.stauts == 1 and outcome.error.knd and outcome.pg.code"),
        rule("outcome.http.headers.retry == 1 and outcome.meta.trace_id"),
        rule("outcome.parcel.weight > 2", kind="workbook\n      name: other"),
        arc("event.result.anything and event.total"),
    ],
)
def test_keys_of_open_values_are_not_told(text: str) -> None:
    assert remedies(text, "outcome.key") == []


def test_an_outcome_outside_rules_is_told_once_as_out_of_place() -> None:
    text = arc("outcome.stauts == 'ok'")
    assert len(found_in(text, "name.scope")) == 1
    assert found_in(text, "outcome.key") == []


# --- keys that the document itself gives ---------------------------------------------------------

WORKLOAD = "workload: {api_url: u, page_1: 1}\n"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (url("{{ workload.api_ulr }}", before=WORKLOAD), "workload.api_url"),
        (url("{{ workload['api_ulr'] }}", before=WORKLOAD), "workload.api_url"),
        (url("{{ iter.indx }}", loop=LOOP), "iter.index"),
        (url("{{ iter.rows }}", loop=LOOP), "iter.row"),
    ],
)
def test_a_key_nearly_like_a_given_one_is_told(text: str, meant: str) -> None:
    assert remedies(text, "name.unknown") == [f"Did you mean {meant!r}?"]


@pytest.mark.parametrize(
    "text",
    [
        url("{{ workload.elsewhere }}", before=WORKLOAD),
        url("{{ workload.page_2 }}", before=WORKLOAD),
        url("{{ workload.anything }}"),
        url("{{ iter.anything }}", loop=LOOP),
        url("{{ iter.rows }}"),
        url("{{ ctx.anything }}"),
        url("{{ ctx.api_ulr }}", before=WORKLOAD),
    ],
)
def test_keys_that_the_request_may_give_are_not_told(text: str) -> None:
    assert remedies(text, "name.unknown") == []


PATCHES = (
    "workload: {limit_of_pages: 3}\nworkflow:\n- step: a\n" + LOOP + "  tool:\n  - t:\n"
    "      kind: noop\n      spec: {policy: {rules: [\n"
    "        {when: outcome.error, then: {do: retry, on_exhausted:"
    " {do: break, set_iter: {gave_up: true}}}},\n"
    '        {else: {then: {do: break, set_ctx: {cursor: 1}, set_iter: {page: "%s"}}}}]}}\n'
)


@pytest.mark.parametrize(
    ("template", "meant"),
    [
        ("{{ ctx.cusror }}", "ctx.cursor"),
        ("{{ iter.pagee }}", "iter.page"),
        ("{{ iter.gaveup }}", "iter.gave_up"),
        ("{{ output.data and ctx.limit_of_page }}", "ctx.limit_of_pages"),
    ],
)
def test_keys_that_rules_set_are_known(template: str, meant: str) -> None:
    assert remedies(PATCHES % template, "name.unknown") == [f"Did you mean {meant!r}?"]
    right = "{{ output.data and " + meant + " }}"
    assert remedies(PATCHES % right, "name.unknown") == []


def test_one_undeclared_key_costs_one_search_however_often_it_is_read() -> None:
    steps = "".join(
        f'- step: s{i}\n  tool: {{kind: http, url: "{{{{ workload.elsewhere }}}}"}}\n'
        for i in range(60)
    )
    typo = "- step: z\n  tool: {kind: http, url: '{{ workload.api_ulr }}'}\n"
    text = f"{WORKLOAD}workflow:\n{steps}{typo}"
    assert remedies(text, "name.unknown") == ["Did you mean 'workload.api_url'?"]


# --- the corpora hold what they are meant to hold ------------------------------------------------

# Documents that compare or read something wrong because they say what happens then.
DELIBERATE = {
    "own-retry-delay-bad-null": "a delay that is `null`, which is no name",
    "own-retry-attempts-bad-null": "attempts that are `null`, which is no name",
    "own-eval-status": "each dialect has its own word for ok",
    "own-policy-status": "each dialect has its own word for ok",
    "own-words-184": "an unknown word never matches",
    "own-words-185": "an unknown word never matches",
    "own-words-194": "an unknown word never matches",
    "own-words-195": "an unknown word never matches",
    "own-words-198": "a step without a loop does not answer to loop.done",
    "own-words-199": "a step without a loop does not answer to loop.done",
    "own-words-loop": "a loop does not answer to step.done or call.done",
    "own-s3-truth-154": "a name that nothing provides is false",
    "own-when-not": "a key that nothing writes is false",
    "own-join-long-branch": "an arc that is never taken reads a key that nothing writes",
    "own-join-mutual-tie": "an arc that is never taken reads a key that nothing writes",
    "own-gate-raises": "a gate that raises reads a key that is not there",
    "own-gate-raise-later": "a gate that raises reads a key that is not there",
    "own-gate-raise-sibling": "a gate that raises reads a key that is not there",
    "own-loop-arc-raise": "an arc that raises reads a key that is not there",
}


def documents() -> list[tuple[str, str]]:
    cases = [
        case
        for name in ("playbook", "own")
        for case in json.loads((ROOT / f"tests/conformance/{name}.json").read_text("utf-8"))
    ]
    pages = [path for path in (ROOT / "examples").rglob("*.yaml") if ".script" not in path.suffixes]
    found = [(str(case["id"]), str(case["yaml"])) for case in cases]
    return found + [(path.stem, path.read_text("utf-8")) for path in pages]


def test_documents_that_are_right_are_not_told_of() -> None:
    texts = documents()
    told = {name for name, text in texts for word in RULES_OF_WORDS if found_in(text, word)}
    assert len(texts) > 400
    assert told == DELIBERATE.keys()


# --- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (WORKFLOW + "  tasks: []\n", "Did you mean 'tool'?"),
        (WORKFLOW + "  tools: []\n", "Did you mean 'tool'?"),
        ("workflow:\n- name: a\n", "Did you mean 'step'?"),
        ("workflow:\n- id: a\n", "Did you mean 'step'?"),
        ("steps: []\n" + WORKFLOW.replace("workflow", "workflows"), "Did you mean 'workflow'?"),
        (WORKFLOW + "  tool: {kind: noop, retry: {delay: 1}}\n", "Did you mean 'initial_delay'?"),
    ],
)
def test_keys_of_other_formats_are_translated(text: str, remedy: str) -> None:
    assert remedies(text, "key.unknown")[0] == remedy


def test_a_translated_key_that_is_there_already_is_not_offered_again() -> None:
    (remedy,) = remedies(WORKFLOW + "  name: title\n", "input.unknown")
    assert remedy is not None
    assert remedy.startswith("Known are 'step', 'tool', 'next', 'loop', 'spec', ")


def test_the_common_keys_are_listed_first_and_refused_ones_never() -> None:
    (remedy,) = remedies("zzz: 1\n" + WORKFLOW, "input.unknown")
    assert remedy == (
        "Known are 'workflow', 'metadata', 'workload', 'executor', 'keychain', 'workbook', "
        "'apiVersion', 'ctx', …."
    )


def test_a_label_whose_task_is_not_indented_is_recognised() -> None:
    text = (
        WORKFLOW + "  tool:\n  - insert:\n    kind: postgres\n    auth: x\n    command: SELECT 1\n"
    )
    expected = ["If it is the task's label, indent the lines below it."]
    assert remedies(text, "input.unknown") == expected
    (after,) = remedies(text.replace("insert:\n    ", "") + "    insert:\n", "input.unknown")
    assert after != expected[0]
    assert remedies(text.replace("insert:", "comand:"), "input.unknown") == [
        "Did you mean 'command'?"
    ]


def test_a_spec_beside_its_label_is_sent_below_it() -> None:
    text = WORKFLOW + "  tool:\n  - insert:\n      kind: noop\n    spec: {timeout: 3}\n"
    (found,) = found_in(text, "key.unknown")
    assert found.suggestion == "Indent it: `spec` belongs under 'insert', next to `kind`."
    assert found.place.line == 6


# --- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "remedy"),
    [
        ("ctx.a && ctx.b", "Use `and` instead of `&&`."),
        ("ctx.a || ctx.b", "Use `or` instead of `||`."),
        ("!ctx.a", "Use `not` instead of `!`."),
        ("ctx.a = 1", "Use `==` instead of `=`."),
        ("{{ ctx.a === 1 }}", "Use `==` instead of `=`."),
        ("ctx.a | lenght", "Did you mean 'length'?"),
    ],
)
def test_signs_of_other_languages_are_translated(condition: str, remedy: str) -> None:
    assert remedies(arc(condition), "expression.syntax") == [remedy]


def test_an_unknown_test_is_told_with_those_there_are_and_nothing_else() -> None:
    (found,) = found_in(arc("ctx.a is zzz"), "expression.syntax")
    assert found.message.endswith("unknown test 'zzz'")
    assert found.suggestion is not None
    assert found.suggestion.startswith("Known: ")
    assert "Write an expression" not in found.suggestion


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (retried("statuscode == 503"), "Did you mean 'status_code'?"),
        (rule("status_code == 503"), "Did you mean 'outcome.http.status'?"),
        (evaluation("atempt == 1 and attempt == 2"), "Did you mean '_attempt'?"),
        (arc("flag"), "Give it a default: `workload: {flag: …}`."),
        (retried("flag"), "Give it a default: `workload: {flag: …}`."),
    ],
)
def test_a_name_in_a_condition_that_nothing_provides_is_a_warning(text: str, remedy: str) -> None:
    assert remedy in remedies(text, "name.unknown")


@pytest.mark.parametrize("made", [arc, rule, retried, evaluation])
@pytest.mark.parametrize(
    ("root", "remedy"),
    [
        ("workload: {zebra: 1}\n", "Did you mean 'workload.zebra'?"),
        ("workload: {zebras: 1}\n", "Did you mean 'workload.zebras'?"),
        ("workload: {y: 1}\n", "Write it with `set: {ctx.zebra: …}`, or read another name."),
        ("ctx: {y: 1}\n", "Write it with `set: {ctx.zebra: …}`, or read another name."),
        ("ctx: {zebras: 1}\n", "Did you mean 'ctx.zebras'?"),
    ],
)
def test_a_key_of_ctx_that_decides_and_that_nothing_writes_is_a_warning(
    made: Callable[[str], str], root: str, remedy: str
) -> None:
    assert remedies(root + made("ctx.zebra == 5 or ctx.zebra == 6"), "name.unknown") == [remedy]


@pytest.mark.parametrize(
    "text",
    [
        arc("ctx.zebra is defined and ctx.zebra == 1"),
        arc("(ctx.zebra or 0) == 1"),
        arc("ctx['zebra'].x | default(0) == 1"),
        arc("ctx.get('zebra') == 1"),
        "ctx: {zebra: 1}\n" + arc("ctx.zebra == 1"),
        "executor: {spec: {ctx: workload}}\n" + arc("ctx.zebra == 1"),
        "workload: {zebra: 1}\n" + rule("output.status == 'ok' and ctx.zebra == 1"),
        arc("ctx.zebra == 1", more="  set: {zebra: 1}\n"),
        arc("ctx.zebra == 1", more="  tool: {kind: agent, prompt: x}\n"),
        url("{{ ctx.zebra }}"),
    ],
)
def test_a_key_of_ctx_that_may_be_there_is_not_told(text: str) -> None:
    assert remedies(text, "name.unknown") == []


@pytest.mark.parametrize("word", sorted(RETRY_WORDS))
def test_the_words_of_a_retry_condition_are_provided(word: str) -> None:
    assert remedies(retried(f"{word} == 1"), "name.unknown") == []


# --- names that exist at one place only ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (f"{WORKFLOW}{LOOP}  tool: {{kind: noop, eval: [{{expr: '{{{{ roww == 2 }}}}', do: fail}}]}}", "row"),
        (f"{WORKFLOW}{LOOP}  tool: {{kind: noop, result: '{{{{ loop_indx }}}}'}}", "loop_index"),
        (f"{WORKFLOW}  tool: {{kind: noop, set: {{total: 1}}, eval: [{{expr: 'totl > 1', do: fail}}]}}", "total"),
        (arc("reslt.ok"), "result"),
        (retried("statuscode >= 500"), "status_code"),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_told_with_the_nearest_of_its_own_place(text: str, meant: str) -> None:
    assert remedies(text, "name.unknown") == [f"Did you mean {meant!r}?"]


def test_no_name_is_suggested_that_does_not_exist_at_the_place() -> None:
    (found,) = found_in(evaluation("evnt == 1"), "name.unknown")
    assert "event" not in str(found.suggestion)


# --- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (evaluation("outcome.error.kin == 'timeout'"), "outcome.error.kind"),
        (evaluation("outcome.error.retriable"), "outcome.error.retryable"),
        (arc("event.error.mesage != none"), "event.error.message"),
    ],
)
def test_a_misspelt_key_of_an_error_is_told(text: str, name: str) -> None:
    assert remedies(text, "name.unknown") == [f"Did you mean {name!r}?"]


def test_keys_that_a_tool_may_add_to_an_error_are_not() -> None:
    assert remedies(evaluation("outcome.error.request_id == 'x'"), "name.unknown") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (evaluation("outcome.error.kind == 'ratelimit'"), "rate_limit"),
        (evaluation("outcome.error.kind in ['time_out', 'connection']"), "timeout"),
        (arc("event.error.kind != 'not_fuond'"), "not_found"),
    ],
)
def test_a_misspelt_kind_of_error_is_told(text: str, kind: str) -> None:
    assert remedies(text, "outcome.word") == [f"Did you mean {kind!r}?"]


def test_kinds_that_a_tool_may_have_are_not() -> None:
    assert remedies(evaluation("outcome.error.kind == 'card_declined'"), "outcome.word") == []


# --- what the document provides below a name -------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("outcome.pg.cod == '40001'", "outcome.pg.code"),
        ("outcome.py.exception_typ == 'ValueError'", "outcome.py.exception_type"),
        ("outcome.shell.exitcode == 3", "outcome.shell.exit_code"),
    ],
)
def test_a_misspelt_key_of_a_helper_is_told(condition: str, meant: str) -> None:
    assert remedies(evaluation(condition), "outcome.key") == [f"Did you mean {meant!r}?"]


def test_a_misspelt_key_of_a_loop_is_told() -> None:
    text = f"{WORKFLOW}{LOOP}  tool: [{{t: {{kind: noop}}}}]\n  next: [{{step: a, when: 'a.faild > 0'}}]"
    assert remedies(text, "name.unknown") == ["Did you mean 'a.failed'?"]
    known = text.replace("faild > 0", "results and a.stats and a.data")
    assert remedies(known, "name.unknown") == []


def test_a_credential_that_is_not_declared_is_told_wherever_it_is_read() -> None:
    declared = "keychain: [{name: github}]\n"
    read = url("http://x/{{ keychain.githb.token }}", before=declared)
    assert remedies(read, "name.unknown") == ["Did you mean 'keychain.github'?"]
    read = url("http://x/{{ keychain.slack.token }}", before=declared)
    (found,) = found_in(read, "name.unknown")
    assert found.message == "the document declares no credential 'slack'; it would be undefined"
    assert found.suggestion == "Add `keychain: [{name: slack}]`."
    assert (
        remedies(url("http://x/{{ keychain.github.token }}", before=declared), "name.unknown") == []
    )
