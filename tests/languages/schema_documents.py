"""Every playbook of the project, and small changes to them, for the tests of the schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs

from anew.languages import load_text
from anew.languages.document import read_yaml
from anew.languages.nodes import plain
from anew.languages.schema import playbook_schema
from anew.program.findings import Severity
from tests.languages.documents import EVERYTHING, SEEDS
from tests.test_conformance import NOT_YET

ROOT = Path(__file__).resolve().parents[2]
# What the checker says of the shape of a document, which the schema must see too. Whatever it says
# besides is about names, expressions, or what one part means for another.
SHAPE_RULES = frozenset(
    "admit.rule set.iter set.name arc.step-missing arc.weight condition.empty ctx.start failure.mode "
    "gate.accepts gate.budget gate.most human.choices human.timeout-action input.unknown join.k key.unknown "
    "keychain.name limit.value loop.in loop.in-missing loop.iterator-missing loop.max-in-flight "
    "loop.mode next.mode next.shape policy.misplaced policy.shape policy.unmatched-word "
    "rule.attempts rule.backoff rule.budget rule.delay rule.do rule.jitter rule.jump-to-missing "
    "rule.multiplier rule.on-exhausted rule.shape rule.then-missing rule.verdict save.mode "
    "save.storage step.join step.name tool.input-missing tool.input-word tool.kind tool.kind-missing "
    "tool.shape value.type workflow.empty workflow.missing".split()
)
# What else may stand in a document, and in a place where it means nothing.
_WORDS = (
    "kind tool step next retry eval spec policy rules do to attempts when then else timeout args "
    "with name loop mode arcs set join gate url endpoint code seconds label type delay jitter"
).split()
_VALUES: tuple[Any, ...] = (
    *(None, 5, -1, 0, 3.5, True, "zzz", "", "retry", "5s", "{{ x }}"),
    *([], {}, ["a"], {"a": 1}),
)


def playbooks() -> Iterator[tuple[str, str]]:
    """The examples, those of the docs, the seeds' own and the conformance cases, by name."""
    for folder in ("examples", "docs/examples"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            if not path.name.endswith((".script.yaml", ".scenario.yaml")):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    yield from ((f"seed {number}", text) for number, text in enumerate(SEEDS))
    yield "everything", EVERYTHING
    for path in sorted((ROOT / "tests/conformance").glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            if "yaml" in case and case["id"] not in NOT_YET:
                yield case["id"], case["yaml"]


@cache
def validator() -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(playbook_schema())


def value_of(text: str) -> Any:
    return plain(read_yaml(text, "flow.yaml")[0])


def rules_of(text: str) -> set[str]:
    """The rules that the checker finds broken; a hint is none."""
    found = load_text(text, "flow.yaml").findings
    return {each.rule for each in found if each.severity is not Severity.INFO}


def changed(value: Any, chance: Random) -> Any:
    """The document with one small change: a value, a key, something left out or put in."""
    value = copy.deepcopy(value)
    path = chance.choice([path for path in _paths(value) if path])
    holder = _at(value, path[:-1])
    key, other = path[-1], chance.choice(_VALUES)
    match chance.randrange(4):
        case 0:
            holder[key] = other
        case 1 if isinstance(key, str):
            holder[f"{key}x"] = holder.pop(key)
        case 2 if isinstance(holder[key], dict):
            holder[key][chance.choice(_WORDS)] = other
        case _:
            del holder[key]
    return value


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from _paths(value[key], (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
