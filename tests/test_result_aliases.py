"""The other names of results (playbook.md#names-of-results)."""

import pytest

from anew.expressions import MappingScope, compile_template
from anew.result_aliases import MISSING, alias_in, body_field, may_have_aliases
from tests.play import play

HTTP = {"status_code": 200, "headers": {}, "url": "u", "elapsed": 0.1, "data": {"id": 7}}
ONE = {"rows": [{"n": 1}], "row_count": 1, "columns": ["n"], "statements": 1}
FIRST = {"rows": [{"a": 1}], "row_count": 1, "columns": ["a"]}
TWO = {**ONE, "statements": 2, "commands": [FIRST, {k: ONE[k] for k in FIRST}]}
LOOP = {"results": [1, None], "total": 2, "done": 1, "failed": 1}


@pytest.mark.parametrize(
    ("result", "key", "expected"),
    [
        (HTTP, "body", {"id": 7}),
        ({"data": 1}, "body", MISSING),
        (ONE, "command_0", ONE),
        (ONE, "command_1", MISSING),
        (TWO, "command_0", FIRST),
        (TWO, "command_1", TWO["commands"][1]),
        (TWO, "command_2", MISSING),
        (TWO, "command_x", MISSING),
        (TWO, "command_", MISSING),
        (TWO, "command_" + "9" * 5000, MISSING),
        ({"rows": []}, "command_0", MISSING),
        (LOOP, "stats", {"total": 2, "success": 1, "failed": 1}),
        ({"results": []}, "stats", MISSING),
        (HTTP, "anything", MISSING),
    ],
)
def test_results_are_read_by_other_names(result, key, expected):
    assert alias_in(result, key) == expected


@pytest.mark.parametrize("result", [HTTP, ONE, TWO, LOOP])
def test_results_are_told_from_other_mappings(result):
    assert may_have_aliases(result)
    assert not may_have_aliases({"data": 1, "rows": [], "results": [], "total": 0})


def test_a_field_of_the_body_is_read_of_http_results_only():
    assert body_field(HTTP, "id") == 7
    assert body_field({**HTTP, "data": "text"}, "id") is MISSING
    assert body_field({"status_code": 1, "data": {"id": 7}, "mine": 2}, "id") is MISSING
    assert body_field({"data": {"id": 7}}, "id") is MISSING


def value(expression, **names):
    return compile_template(f"{{{{ {expression} }}}}").value(MappingScope(names))


def test_templates_read_them_at_any_depth():
    assert value("r.body.id", r=HTTP) == 7
    assert value("r.id", r=HTTP) == 7
    assert value("r['id']", r=HTTP) == 7
    assert value("list[0].id", list=[HTTP]) == 7
    assert value("deep.r.command_0.rows[0].a", deep={"r": TWO}) == 1
    assert value("r.stats.success", r=LOOP) == 1
    assert value("r | map(attribute='id') | list", r=[HTTP]) == [7]


def test_known_keys_win_over_the_body():
    shadowed = {**HTTP, "data": {"url": "mine", "status_code": 3}}
    assert value("r.url", r=shadowed) == "u"
    assert value("r.status_code", r=shadowed) == 200


def test_what_authors_write_is_no_result():
    like = {"status_code": 200, "data": {"x": 1}}
    assert value("ctx.x", ctx=like) is None
    assert value("workload.x", workload=like) is None


STEPS = """
workflow:
- step: fetch
  tool: {kind: http, url: http://x}
  next: many
- step: many
  loop: {in: [1, 2], iterator: n}
  tool: {kind: noop, result: 1}
  next: two
- step: two
  tool:
  - page: {kind: http, url: http://x}
  - plain: {kind: noop}
  - probe: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {seen: "EXPRESSION"}}}}]}}}
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{{ fetch.id }}", 7),
        ("{{ fetch.body.id }}", 7),
        ("{{ fetch.data.id }}", 7),
        ("{{ fetch.results.fetch.status_code }}", 200),
        ("{{ page.id }}", 7),
        ("{{ page.body.id }}", 7),
        ("{{ plain.data }}", "p"),
        ("{{ plain.other }}", None),
        ("{{ probe.data.v }}", 1),
        ("{{ outcome.result.v }}", 1),
        ("{{ many.stats }}", {"total": 2, "success": 2, "failed": 0}),
        ("{{ many.data }}", [1, 1]),
    ],
)
def test_steps_and_labels(expression, expected):
    answer = {"result": {**HTTP, "data": {"id": 7, "results": "hidden"}}}
    outcomes = {"fetch": [answer], "page": [answer], "plain": [{"result": "p"}]}
    outcomes |= {"probe": [{"result": {"v": 1}}], "many": [{"result": 1}]}
    report = play(STEPS.replace("EXPRESSION", expression), outcomes=outcomes)
    assert report["ctx"]["seen"] == expected
