"""The schema of scenarios accepts and refuses what reading a scenario does."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
import pytest

from anew.errors import ConfigError
from anew.lab.scenario import scenario_of
from anew.lab.schema import scenario_schema
from anew.languages.document import read_yaml
from anew.languages.nodes import plain

ROOT = Path(__file__).resolve().parents[2]
VALIDATOR = jsonschema_rs.Draft7Validator(scenario_schema())
CHANGES_OF_FULL = 500
# Every key there is, so that changes reach them all.
FULL: dict[str, Any] = {
    "document": "flow.yaml",
    "dialect": "docs",
    "description": "all of it",
    "workload": {"n": 1},
    "outcomes": {
        "fetch": [{"error": {"kind": "timeout", "message": "t"}, "times": 2, "takes": "400ms"}, {}],
        "fetch#2[0].call": {"result": 1, "http": {"status": 200, "headers": {}}},
        "gate": [{"answer": "Y", "takes": 3}],
        "build": [{"status": "FAILURE", "context": {"a": 1}, "suggested": ["b"], "label": "x"}],
        "paid": [{"signal": {"amount": 3}}],
    },
    "signals": [{"signal": "paid", "payload": 1, "id": "a", "at": 3}],
    "random": {"draws": [0.1, 0.9]},
    "now": "2001-02-03T04:05:06Z",
    "lags": {"fetch#1": [0.5]},
    "invariants": ["run.status == 'done'"],
    "expect": {
        "status": "done",
        "exit_status": 0,
        "visits": ["a"],
        "branches": [["a", "b"]],
        "attempts": {"fetch": 3},
        "delays": [1.0, {"task": "fetch", "seconds": 2}],
        "elapsed": 3.5,
        "ctx": {"a": 1},
        "noctx": ["b"],
        "error": None,
        "error_kind": None,
        "result": {"a": 1},
        "handled": ["a"],
        "parallel": True,
    },
}
VALUES: tuple[Any, ...] = (
    *(None, 5, -1, 3.5, 0.5, True, "zzz", "5s", "2001-02-03"),
    *(["a"], {"a": 1}, [1], [["a"]], {"seed": 1}),
)


def scenarios() -> Iterator[tuple[str, Any]]:
    """Every script and scenario of the project, and the conformance cases, by name."""
    for folder in ("examples", "docs/examples"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            if path.name.endswith((".script.yaml", ".scenario.yaml")):
                name = path.relative_to(ROOT).as_posix()
                yield name, plain(read_yaml(path.read_bytes(), name)[0])
    for path in sorted((ROOT / "tests/conformance").glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            beside = {key: case[key] for key in ("parallel", "loops", "branches") if key in case}
            yield case["id"], {**case["script"], "expect": {**case["expect"], **beside}}
    yield "everything", FULL


def is_read(value: Any) -> bool:
    try:
        scenario_of(copy.deepcopy(value))
    except ConfigError:
        return False
    return True


def test_every_scenario_of_the_project_is_valid_where_it_can_be_read() -> None:
    found = list(scenarios())
    assert len(found) > 500
    wrong = [name for name, value in found if VALIDATOR.is_valid(value) != is_read(value)]
    assert wrong == []
    assert sum(is_read(value) for _, value in found) > 500


def test_small_changes_are_seen_by_both_or_by_neither() -> None:
    refused = 0
    full = [(f"everything {number}", FULL) for number in range(CHANGES_OF_FULL)]
    for name, value in (*scenarios(), *full):
        # Each its own, so that another example changes nothing about the others.
        chance = Random(name)
        for _ in range(2):
            odd = changed(value, chance)
            refused += not is_read(odd)
            assert VALIDATOR.is_valid(odd) == is_read(odd), (name, odd)
    assert refused > 500


def changed(value: Any, chance: Random) -> Any:
    value = copy.deepcopy(value)
    path = chance.choice([path for path in paths(value) if path])
    holder: Any = value
    for key in path[:-1]:
        holder = holder[key]
    match chance.randrange(3):
        case 0:
            holder[path[-1]] = chance.choice(VALUES)
        case 1 if isinstance(holder, dict):
            holder[f"{path[-1]}x"] = holder.pop(path[-1])
        case _:
            del holder[path[-1]]
    return value


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from paths(value[key], (*path, key))


@pytest.mark.parametrize(
    "said",
    [
        {"outcome": {}},
        {"outcomes": {"fetch": []}},
        {"outcomes": {"fetch": [{"reslt": 1}]}},
        {"outcomes": {"fetch": [{"times": 0}]}},
        {"outcomes": {"fetch": [{"takes": "soon"}]}},
        {"outcomes": {"fetch": [{"error": 503}]}},
        {"outcomes": {"fetch": [{"status": 1}]}},
        {"random": 2},
        {"random": {"seed": "x"}},
        {"random": {"draws": [2]}},
        {"random": {"seed": 1, "draws": [0.5]}},
        {"now": "soon"},
        {"signals": [{"payload": 1}]},
        {"signals": [{"signal": "order paid"}]},
        {"lags": {"fetch#1": 3}},
        {"invariants": "x"},
        {"document": 3},
        {"expect": {"stats": "done"}},
        {"expect": {"status": "ok"}},
        {"expect": {"status": "new"}},
        {"expect": {"attempts": {"fetch": "three"}}},
        {"expect": {"delays": ["1"]}},
        {"expect": {"visits": "a"}},
        {"expect": {"parallel": "yes"}},
    ],
    ids=json.dumps,
)
def test_what_is_broken_is_refused_by_both(said: Any) -> None:
    assert not is_read(said)
    assert not VALIDATOR.is_valid(said)


def test_it_is_a_schema_in_which_every_key_has_a_text_to_show() -> None:
    schema = scenario_schema()
    jsonschema_rs.meta.validate(schema)
    tables = [schema, *schema["definitions"].values()]
    shapes = [shape for each in tables for shape in each.get("properties", {}).values()]
    assert len(shapes) > 40
    assert all("description" in shape for shape in shapes)
    entry = schema["definitions"]["entry"]["properties"]
    assert entry["label"]["description"] == "Which arc the outcome prefers."
    assert entry["preferred_label"]["description"] == "Another name for `label`."
