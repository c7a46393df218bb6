"""What is refused in words, and what an unknown key is at each level of a document."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.keys import ABOUT_WORDS, CONTROL_WORDS
from anew.languages.playbook.refusals import FOREIGN_KINDS
from anew.program.findings import Finding
from anew.program.kinds import KINDS

STEP = "workflow:\n- step: a\n"
RULE = STEP + "  tool: {kind: noop, spec: {policy: {rules: [%s]}}}\n"
# A document for each level, with %s where a key can be added.
DECIDING = {
    "step": STEP + "  tool: {kind: noop}\n  %s: 1\n",
    "spec of a step": STEP + "  spec: {%s: 1}\n",
    "policy of a step": STEP + "  spec: {policy: {%s: 1}}\n",
    "gate": STEP + "  spec: {policy: {admit: {%s: 1, rules: []}}}\n",
    "rule of a gate": STEP
    + "  spec: {policy: {admit: {rules: [{when: true, then: {allow: true}, %s: 1}]}}}\n",
    "loop": STEP + "  loop: {in: [1], iterator: x, %s: 1}\n",
    "spec of a loop": STEP + "  loop: {in: [1], iterator: x, spec: {%s: 1}}\n",
    "policy of a loop": STEP + "  loop: {in: [1], iterator: x, spec: {policy: {%s: 1}}}\n",
    "router": STEP + "  next: {arcs: [], %s: 1}\n",
    "spec of a router": STEP + "  next: {arcs: [], spec: {%s: 1}}\n",
    "arc": STEP + "  next: {arcs: [{step: a, when: false, %s: 1}]}\n",
    "branch": STEP + "  next: [{when: false, then: [a], %s: 1}]\n",
    "rule": RULE % "{else: {then: {do: continue}}, %s: 1}",
    "then": RULE % "{else: {then: {do: continue, %s: 1}}}",
    "on_exhausted": RULE % "{else: {then: {do: retry, on_exhausted: {do: fail, %s: 1}}}}",
    "retry block": STEP + "  tool: {kind: noop, retry: {max_attempts: 2, %s: 1}}\n",
    "policy of a task": STEP
    + "  tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue}}}], %s: 1}}}\n",
    "executor": "executor: {%s: 1}\n" + STEP,
    "spec of the executor": "executor: {spec: {%s: 1}}\n" + STEP,
    "policy of the executor": "executor: {spec: {policy: {%s: 1}}}\n" + STEP,
    "limits": "executor: {spec: {limits: {%s: 1}}}\n" + STEP,
}
PASSING = {
    "document": "%s: 1\n" + STEP,
    "task": STEP + "  tool: {kind: noop, %s: 1}\n",
    "step with a string tool": STEP + "  tool: noop\n  %s: 1\n",
}


def found_in(text: str) -> list[tuple[str, str]]:
    return [(f.severity.value, f.rule) for f in load_playbook(text, "f.yaml").findings]


def refusal(text: str) -> Finding:
    (found,) = load_playbook(text, "f.yaml").findings
    assert found.rule == "dialect.unsupported"
    assert found.suggestion
    return found


# --- unknown keys --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", DECIDING)
def test_an_unknown_key_is_an_error_where_keys_decide(level: str) -> None:
    assert found_in(DECIDING[level] % "zzz") == [("error", "key.unknown")]
    assert found_in(DECIDING[level] % "note") == [("warning", "input.unknown")]


@pytest.mark.parametrize("level", PASSING)
def test_an_unknown_key_is_a_warning_where_nothing_depends_on_it(level: str) -> None:
    assert found_in(PASSING[level] % "zzz") == [("warning", "input.unknown")]


@pytest.mark.parametrize("level", ["document", "task"])
@pytest.mark.parametrize("word", ["on_failure", "catch", "if", "set_vars", "on_faillure"])
def test_a_word_that_decides_is_an_error_there_too(level: str, word: str) -> None:
    assert found_in(PASSING[level] % word) == [("error", "key.unknown")]


def test_a_section_that_an_expression_reads_is_an_error() -> None:
    text = "shop: {open: yes}\n" + STEP + "  next: [{step: a, when: '{{ shop.open }}'}]\n"
    assert ("error", "key.unknown") in found_in(text)
    assert ("error", "key.unknown") not in found_in("workload: {shop: {open: yes}}\n" + text)


def test_a_word_decides_or_is_for_readers() -> None:
    assert not CONTROL_WORDS & ABOUT_WORDS


def test_a_condition_under_another_name_is_recognised() -> None:
    (found,) = load_playbook(STEP + "  next: {arcs: [{step: a, cond: x}]}\n", "f.yaml").findings
    assert (found.rule, found.suggestion) == ("key.unknown", "Did you mean 'when'?")


# --- kinds, words and documents ------------------------------------------------------------------


@pytest.mark.parametrize("kind", FOREIGN_KINDS)
def test_a_kind_that_needs_another_system_names_it_and_the_way_to_add_it(kind: str) -> None:
    assert kind not in KINDS
    found = refusal(f"{STEP}  tool: {{kind: {kind}, query: x}}\n")
    assert FOREIGN_KINDS[kind][0] in found.message
    assert "`anew.tools`" in str(found.suggestion)


def test_a_token_in_a_template_is_answered_with_auth() -> None:
    text = STEP + "  tool: {kind: http, url: u, headers: {A: \"Bearer {{ token('x') }}\"}}\n"
    found = refusal(text)
    assert "auth" in str(found.suggestion)
    assert found.place.line == 3


def test_a_reference_is_answered_with_the_result_itself() -> None:
    text = STEP + '  tool: {kind: noop}\n  next: b\n- step: b\n  tool: {kind: noop, result: "%s"}\n'
    found = refusal(text % "{{ a._ref is defined }}")
    assert found.suggestion == "Read the result itself: `a`."
    assert refusal(text % "{{ a.data._ref.uri }}").suggestion == (
        "Read the result itself: `a.data`."
    )


def test_a_subscription_is_no_playbook() -> None:
    found = refusal("apiVersion: noetl.io/v2\nkind: Subscription\nspec: {source: {kind: nats}}\n")
    assert found.place.line == 2


@pytest.mark.parametrize("where", ["  pipe: []\n", "  tool: {kind: noop, pipe: []}\n"])
def test_a_pipe_is_answered_with_a_pipeline(where: str) -> None:
    assert "tool: [{label: {kind: …}}, …]" in str(refusal(STEP + where).suggestion)


def test_a_cursor_is_answered_with_a_loop_through_rows() -> None:
    found = refusal(STEP + "  loop: {cursor: {kind: postgres}, iterator: row}\n")
    assert "loop: {in:" in str(found.suggestion)


def test_pages_asked_for_after_a_success_are_answered_with_a_jump() -> None:
    found = refusal(STEP + "  tool: {kind: http, url: u, retry: {on_success: {while: x}}}\n")
    assert "do: jump" in str(found.suggestion)
