"""What code is handed reads as templates do (tools/python.md#inputs)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from anew.tools.python.handed import ResultMapping, StepMapping, context_of, parsed
from anew.tools.python.json_forms import plain
from anew.values import Value
from tests.tools.code_calls import python

HTTP = {"status_code": 200, "headers": {}, "url": "u", "elapsed": 0.1, "data": {"id": 7}}
FIRST = {"rows": [{"a": 1}], "row_count": 1, "columns": ["a"]}
SQL = {**FIRST, "statements": 2, "commands": [FIRST, FIRST]}
LOOP = {"results": [HTTP], "total": 1, "done": 1, "failed": 0}


def handed(value: Any) -> Any:
    return parsed(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("result", "key", "expected"),
    [
        (HTTP, "body", {"id": 7}),
        (SQL, "command_1", FIRST),
        (LOOP, "stats", {"total": 1, "success": 1, "failed": 0}),
    ],
)
def test_a_result_has_its_other_names(result: Any, key: str, expected: Any) -> None:
    mapping = handed({"deep": [result]})["deep"][0]
    assert (mapping[key], mapping.get(key), key in mapping) == (expected, expected, True)
    match mapping:
        case {"no_such": _}:
            raise AssertionError
    assert (mapping.get("no_such"), mapping.get("no_such", 3), 5 in mapping) == (None, 3, False)
    with pytest.raises(KeyError, match="no_such"):
        mapping["no_such"]


@pytest.mark.parametrize("result", [HTTP, SQL, LOOP])
def test_a_result_holds_only_its_own_keys(result: Any) -> None:
    mapping = handed(result)
    assert isinstance(mapping, ResultMapping)
    assert mapping == result
    assert json.loads(json.dumps(mapping)) == plain(mapping) == copy.deepcopy(mapping) == result
    assert {**mapping} == result


def test_other_mappings_are_plain() -> None:
    mapping = handed({"results": [{"status_code": 1}], "total": 3})
    assert type(mapping) is dict
    assert type(mapping["results"][0]) is dict


def test_results_of_steps_have_data_in_context() -> None:
    steps = {"fetch": HTTP, "gen": {"n": 1}, "each": LOOP, "text": "t", "query": SQL}
    parts = {"workload": {}, "ctx": {}, "steps": steps, "execution_id": "1"}
    context = context_of(handed(parts))
    assert context["fetch"]["data"] == context["fetch"]["body"] == {"id": 7}
    assert context["gen"]["data"] == {"n": 1}
    assert context["each"]["data"] == [HTTP]
    assert context["query"]["data"]["command_0"] == FIRST
    assert context["text"] == "t"
    assert isinstance(context["gen"], StepMapping)
    assert plain(context["gen"]) == {"n": 1}


def test_code_reads_them_and_the_result_does_not_have_them(tmp_path: Path) -> None:
    args: Value = {"page": HTTP, "query": SQL, "each": LOOP}
    code = "result = [page['body'], query['command_0']['rows'], each['stats']['success'], page]"
    assert python(tmp_path, code, args=args).result == [{"id": 7}, [{"a": 1}], 1, HTTP]
