"""The schema of playbooks accepts and refuses what the checker does, as far as shapes go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest

from anew.languages.schema import playbook_schema
from anew.program.kinds import KINDS
from tests.generated import playbooks as generated_playbooks
from tests.languages.documents import EVERYTHING
from tests.languages.schema_documents import (
    ROOT,
    SHAPE_RULES,
    changed,
    playbooks,
    rules_of,
    validator,
    value_of,
)
from tests.suites import tried

CHANGES_EACH = 2


@pytest.mark.parametrize(("name", "text"), [pytest.param(*one, id=one[0]) for one in playbooks()])
def test_a_playbook_is_valid_exactly_when_its_shape_is(name: str, text: str) -> None:
    problems = [f"{list(e.instance_path)}: {e.message}" for e in errors(value_of(text))]
    assert bool(problems) == bool(rules_of(text) & SHAPE_RULES), problems


def errors(value: Any) -> list[jsonschema_rs.ValidationError]:
    return list(validator().iter_errors(value))


def test_hardly_any_playbook_of_the_project_is_refused() -> None:
    refused = {name for name, text in playbooks() if errors(value_of(text))}
    assert {"docs/examples/broken.yaml", "examples/own_tool/roll.yaml"} <= refused
    assert len(refused) < 10


def test_small_changes_are_seen_by_both_or_by_neither() -> None:
    seen = 0
    for name, text in playbooks():
        chance = Random(name)
        for _ in range(CHANGES_EACH):
            value = changed(value_of(text), chance)
            rules, is_valid = rules_of(json.dumps(value)), validator().is_valid(value)
            if rules & SHAPE_RULES:
                assert not is_valid, (name, rules & SHAPE_RULES, value)
                seen += 1
            # What only the schema sees would be red in the editor and fine everywhere else.
            assert is_valid or rules, (name, value)
    assert seen > 250


@tried(generated_playbooks(), examples=15, long=(45,))
def test_a_generated_playbook_is_valid_exactly_when_its_shape_is(text: str) -> None:
    assert validator().is_valid(json.loads(text)) == (not rules_of(text) & SHAPE_RULES)


# --- what is refused, one by one -----------------------------------------------------------------

HTTP = "workflow: [{step: a, tool: [{call: {kind: http, url: x, %s}}]}]"
RULE = HTTP % "spec: {policy: {rules: [%s]}}"
THEN = RULE % "{when: x, then: {%s}}"
STEP = "workflow: [{step: a, %s}]"
BROKEN = {
    "no workflow": "metadata: {name: x}",
    "an empty workflow": "workflow: []",
    "a workflow that is a mapping": "workflow: {a: {step: a}}",
    "a key of the document": "workflows: [{step: a}]\nworkflow: [{step: a}]",
    "a step without a name": "workflow: [{tool: {kind: noop}}]",
    "a key of a step": STEP % "nxt: b",
    "a kind": STEP % "tool: {kind: htp, url: x}",
    "a kind as a string": STEP % "tool: htp",
    "no kind": STEP % "tool: {url: x}",
    "no kind under a label": STEP % "tool: [{call: {url: x}}]",
    "an empty pipeline": STEP % "tool: []",
    "an input": HTTP % "methd: GET",
    "an input of another kind": HTTP % "question: Why?",
    "an input next to a string tool": STEP % "tool: http, url: x, headrs: {}",
    "a missing input": STEP % "tool: {kind: http}",
    "a missing input next to a string tool": STEP % "tool: http, method: GET",
    "a missing input of one that has two": STEP % "tool: {kind: postgres, command: SELECT 1}",
    "an input that is empty": STEP % "tool: {kind: http, url: null}",
    "an input under two names": HTTP % "endpoint: y",
    "two bodies": HTTP % "json: {}, form: {}",
    "a text that is a list": STEP % "tool: {kind: http, url: [x]}",
    "a spec that is a word": HTTP % "spec: fast",
    "a key of a task's spec": HTTP % "spec: {timout: 3}",
    "a timeout": HTTP % "spec: {timeout: soon}",
    "a phase of a timeout": HTTP % "spec: {timeout: {conect: 1}}",
    "a policy that is a list": HTTP % "spec: {policy: [{else: {then: {do: fail}}}]}",
    "a policy without rules": HTTP % "spec: {policy: {on_unmatched: fail}}",
    "a word of on_unmatched": HTTP % "spec: {policy: {rules: [], on_unmatched: stop}}",
    "two ways to decide": HTTP % "retry: 3, eval: []",
    "a rule that is a word": RULE % "retry",
    "a rule that does nothing": RULE % "{when: x}",
    "a rule with both": RULE % "{when: x, else: {do: fail}}",
    "a key of a rule": RULE % "{wen: x, then: {do: fail}}",
    "an empty condition": RULE % "{when: '', then: {do: fail}}",
    "a do": THEN % "do: retyr",
    "a key of then": THEN % "do: retry, attemps: 3",
    "a backoff": THEN % "do: retry, backoff: exp",
    "a jitter": THEN % "do: retry, jitter: fulll",
    "no attempts": THEN % "do: retry, attempts: 0",
    "attempts that are a word": THEN % "do: retry, attempts: many",
    "a delay": THEN % "do: retry, delay: soon",
    "a delay below 0": THEN % "do: retry, delay: -1",
    "a multiplier": THEN % "do: retry, multiplier: 0",
    "a flag": THEN % "do: retry, honor_retry_after: yes please",
    "a retry when attempts are spent": THEN % "do: retry, on_exhausted: {do: retry}",
    "a jump to nowhere": THEN % "do: jump",
    "a setting of another directive": THEN % "do: fail, attempts: 3",
    "a verdict": THEN % "do: continue, verdict: failure",
    "a budget": THEN % "do: retry, budget: run",
    "a patch that is a list": THEN % "do: continue, set_ctx: [a]",
    "a retry block": HTTP % "retry: {max_attempt: 3}",
    "an older retry": HTTP % "retry: {on_error: {}}",
    "an eval that is a mapping": HTTP % "eval: {expr: x, do: fail}",
    "a next": STEP % "next: {spec: {mode: exclusive}}",
    "a mode of next": STEP % "next: {spec: {mode: random}, arcs: []}",
    "an arc without a step": STEP % "next: {arcs: [{when: x}]}",
    "a key of an arc": STEP % "next: {arcs: [{step: a, wen: x}]}",
    "the weight of an arc": STEP % "next: {spec: {mode: preferred}, arcs: [{step: a, weight: x}]}",
    "an arc that sets iter": STEP % "next: {arcs: [{step: a, set: {iter.x: 1}}]}",
    "a step that sets iter": STEP % "set: {iter.x: 1}",
    "a step that sets all of ctx": STEP % "set: {ctx: {x: 1}}",
    "a policy of a router": STEP % "next: {spec: {policy: {rules: []}}, arcs: []}",
    "a loop without in": STEP % "loop: {iterator: x}",
    "a loop without an iterator": STEP % "loop: {in: '{{ [1] }}'}",
    "a loop over a word": STEP % "loop: {in: rows, iterator: x}",
    "the mode of a loop": STEP % "loop: {in: [1], iterator: x, spec: {mode: both}}",
    "the width of a loop": STEP % "loop: {in: [1], iterator: x, spec: {max_in_flight: 0}}",
    "an iterator": STEP % "loop: {in: [1], iterator: index}",
    "a join": STEP % "spec: {join: some}",
    "a join without k": STEP % "spec: {join: {policy: k_of_n}}",
    "a gate": STEP % "spec: {gate: {accepts: [fine]}}",
    "a rule in a step's policy": STEP % "spec: {policy: {rules: []}}",
    "a failure mode": STEP % "spec: {policy: {failure: {mode: slow}}}",
    "a deadline": STEP % "spec: {policy: {lifecycle: {timeout_s: soon}}}",
    "an admission rule": STEP % "spec: {policy: {admit: {rules: [{when: x, then: {do: fail}}]}}}",
    "retry on a step with two tasks": STEP
    % "retry: 3, tool: [{a: {kind: noop}}, {b: {kind: noop}}]",
    "a name next to a label": STEP % "tool: [{call: {kind: noop, name: x}}]",
    "a name in a lone tool": STEP % "tool: {kind: noop, name: x}",
    "a tool next to a kind": STEP % "tool: [{call: {kind: noop, tool: {}}}]",
    "two tasks in one": STEP % "tool: [{call: {kind: noop}, other: {kind: noop}}]",
    "an older form": STEP % "case: [{then: {sink: {}}}]",
    "a save": STEP % "tool: noop, save: {storage: floppy}",
    "a limit": "executor: {spec: {limits: {deliveries: 0}}}\nworkflow: [{step: a}]",
    "a key of limits": "executor: {spec: {limits: {delivery: 3}}}\nworkflow: [{step: a}]",
    "a start of ctx": "executor: {spec: {ctx: full}}\nworkflow: [{step: a}]",
    "a credential without a name": "keychain: [{kind: x}]\nworkflow: [{step: a}]",
    "a timeout action": STEP
    % "tool: {kind: human, question: Q, timeout: 1m, timeout_action: wait}",
    "choices": STEP % "tool: {kind: human, question: Q, choices: Yes}",
    "the seconds of a sleep": STEP % "tool: {kind: sleep, seconds: -1}",
    "the name of a signal": STEP % "tool: {kind: wait, signal: order paid}",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in BROKEN.items()])
def test_what_is_broken_is_refused_by_both(text: str) -> None:
    assert rules_of(text), "the checker has nothing against it"
    assert errors(value_of(text)), "the schema has nothing against it"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "spec: {timeout: {connect: 5, read: 15}}",
        "spec: {timeout: 2m}",
        "eval: [{expr: x, do: retry, attempts: '{{ n }}', delay: '{{ d }}'}, {else: {do: continue}}]",
        "eval: [{else: fail}]",
        "retry: true",
        "retry: {max_attempts: 5, initial_delay: 500ms, retry_when: '{{ error }}', jitter: Full}",
        "spec: {policy: {rules: [{when: x, do: jump, to: call}, {else: {then: break}}]}}",
        "set: {ctx.page: 2}",
        "timeout: 5, args: {a: 1}, credential: shop, idempotency_key: true",
    ],
)
def test_every_spelling_of_a_task_is_accepted(more: str) -> None:
    for form in (
        HTTP,
        STEP % "tool: {kind: http, url: x, %s}",
        STEP % "tool: [{kind: http, url: x, %s}]",
    ):
        text = (form % more).replace("to: call", "to: a" if form is not HTTP else "to: call")
        text = text.replace("to: a", "to: task_0") if "[{kind" in form else text
        assert not rules_of(text) & SHAPE_RULES, text
        assert errors(value_of(text)) == [], text


@pytest.mark.parametrize(
    "more",
    [
        "next: a",
        "next: [a, {step: a, with: {n: 1}}]",
        "next: {step: a}",
        "next: {step: a, when: x, input: {n: 1}}",
        "next: {arcs: [a, {step: a, most: 2, on_failure: true}]}",
        "next: {spec: {mode: preferred}, arcs: [{step: a, label: x, weight: 3}]}",
        "next: {spec: {mode: fork, join: a, max_in_flight: 2}, arcs: [a]}",
        "next: null",
        "next: {arcs: null}",
        "next: [{when: x, then: [a]}, {when: y, then: {step: a, args: {}}}, {else: a}]",
        "case: [{when: x, then: {next: [{step: a}], result: 1}}, {else: [{step: a}]}]",
        "tool: [{name: call, tool: {kind: http, url: x}}]",
        "tool: [{tool: {kind: http}, url: x}]",
        "tool: [{call: {tool: {kind: http, spec: {url: x}}}}]",
        "tool: [{kind: workbook, name: w, args: {}}, {kind: secrets, name: s}]",
        "type: http, endpoint: x",
        "tool: human, question: Why?, timeout: 1m, timeout_action: first",
        "tool: noop, save: {storage: event}",
        "tool: {kind: noop}, retry: 3, set: {ctx.a: 1}",
        "tool: noop, set: {iter.x: 1, y: 2}, set_ctx: {z: 3}",
        "next: {arcs: [{step: a, set: {x: 1, step.y.z: 2}}]}, vars: {a.b: 1}",
        "spec: {gate: true, exit: true, join: each, pool: heavy, visits_max: 3}",
        "spec: {gate: {accepts: [success, partial], most: 2, budget: step}}",
        "spec: {join: {policy: k_of_n, k: 2, merge: false, lenient: true}}",
        "spec: {policy: {admit: {rules: [{when: x, allow: true}, {else: {allow: false}}]}}}",
        "loop: {in: [1, 2], iterator: x, mode: parallel, max_in_flight: '{{ n }}'}",
    ],
)
def test_every_spelling_of_a_step_is_accepted(more: str) -> None:
    text = f"workbook: [{{name: w, tool: {{kind: noop}}}}]\n{STEP % more}"
    assert not rules_of(text) & SHAPE_RULES, rules_of(text)
    assert errors(value_of(text)) == []


def test_one_document_may_use_everything_in_every_dialect() -> None:
    assert errors(value_of(EVERYTHING)) == []


def test_a_tool_that_others_install_takes_any_input() -> None:
    text = (ROOT / "examples/own_tool/roll.yaml").read_text(encoding="utf-8")
    schema = jsonschema_rs.Draft7Validator(playbook_schema({"dice"}))
    assert schema.is_valid(value_of(text))
    assert not schema.is_valid(value_of(text.replace("attempts: 20", "attempts: none")))


# --- the schema itself ---------------------------------------------------------------------------


def test_it_is_a_schema_that_needs_no_other() -> None:
    schema = playbook_schema()
    jsonschema_rs.meta.validate(schema)
    for each in mappings(schema):
        if "$ref" in each:
            assert each["$ref"].removeprefix("#/definitions/") in schema["definitions"]
            assert len(each) == 1, "what is next to $ref is not read in draft 7"


def test_nothing_is_defined_that_nobody_uses() -> None:
    schema = playbook_schema()
    used = {
        each["$ref"].removeprefix("#/definitions/") for each in mappings(schema) if "$ref" in each
    }
    assert used == set(schema["definitions"])


def test_every_key_has_a_text_to_show() -> None:
    schema = playbook_schema()
    told = set().union(*(described(each, schema) for each in mappings(schema)))
    named = set().union(*({*each} for each in property_tables(schema)))
    assert named - told == set()
    for kind in KINDS.values():
        assert kind.spellings <= described(schema["definitions"][f"inputs-{kind.name}"], schema)


def described(each: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """The keys of a mapping that have a description, or are defined as something that has."""
    shapes = each.get("properties", {}).items() if is_mapping_shape(each) else ()
    return {key for key, shape in shapes if isinstance(shape, dict) and has_text(shape, schema)}


def has_text(shape: dict[str, Any], schema: dict[str, Any]) -> bool:
    name = shape.get("$ref", "").removeprefix("#/definitions/")
    return "description" in (schema["definitions"][name] if name else shape)


def property_tables(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What closes a mapping, or opens one: everything that an author may write as a key."""
    for each in mappings(schema):
        if each.get("additionalProperties") is False:
            yield {key: shape for key, shape in each["properties"].items() if shape is not False}


def is_mapping_shape(each: dict[str, Any]) -> bool:
    return isinstance(each.get("properties"), dict)


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from mappings(part)
