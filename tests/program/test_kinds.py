"""The table of kinds is the one place that knows kinds by name: everybody else reads its columns."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from anew.errors import ConfigError
from anew.program.kind import OutcomeSource
from anew.program.kinds import HELPERS, KINDS, find_kind, kind_named
from anew.runtime.toolbox import Toolbox

SRC = Path(__file__).resolve().parents[2] / "src" / "anew"
TABLE = SRC / "program" / "kinds.py"
# Modules in which the same words mean something else.
OTHER_WORDS = {
    "engine/held_calls.py": "the schemes of addresses, and their ports",
    "languages/dot/node_types.py": "what other engines call the types of nodes",
    "program/transfer.py": "the types of the sides of a transfer, each a row of its own",
}


def kinds_among(nodes: list[ast.expr]) -> set[str]:
    """The kinds that these expressions name outright; a text may hold several, to be split."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            found |= kinds_among(node.elts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= KINDS.keys() & {node.value}
    return found


def listed(node: ast.AST) -> list[ast.expr]:
    """What stands together: the items of a collection, the keys of a table, the cases of a match."""
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            return items
        case ast.Dict(keys=keys):
            return [key for key in keys if key is not None]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            return [ast.Constant(word) for word in text.split()]
        case ast.Match(cases=cases):
            inner = [one for case in cases for one in ast.walk(case.pattern)]
            return [one.value for one in inner if isinstance(one, ast.MatchValue)]
        case ast.BoolOp(values=values):
            return [one for value in values for one in compared(value)]
        case ast.If():
            return list(asked_in_turn(node))
    return []


def compared(test: ast.expr) -> list[ast.expr]:
    compares = [one for one in ast.walk(test) if isinstance(one, ast.Compare)]
    return [side for one in compares for side in (one.left, *one.comparators)]


def asked_in_turn(chain: ast.If) -> Iterator[ast.expr]:
    """What `if`, `elif`, `elif` compare with."""
    yield from compared(chain.test)
    if len(chain.orelse) == 1 and isinstance(chain.orelse[0], ast.If):
        yield from asked_in_turn(chain.orelse[0])


def is_kind(node: ast.expr) -> bool:
    """`kind`, `task.kind` or `kind.name`."""
    text = ast.unparse(node)
    return text == "kind" or text.endswith((".kind", "kind.name"))


def offences(text: str) -> list[str]:
    """Where a module knows kinds by name, as the lines that say so."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        line = getattr(node, "lineno", 0)
        names = kinds_among(listed(node))
        if len(names) > 1:
            found[line] = f"line {line} lists {', '.join(sorted(names))}"
        if isinstance(node, ast.Compare) and any(map(is_kind, (node.left, *node.comparators))):
            names = kinds_among([node.left, *node.comparators])
            if names:
                found[line] = f"line {line} asks whether a kind is {', '.join(sorted(names))}"
    return list(found.values())


def modules() -> list[str]:
    paths = sorted(path for path in SRC.rglob("*.py") if path != TABLE)
    return [path.relative_to(SRC).as_posix() for path in paths]


def test_kinds_are_known_by_name_in_the_table_only() -> None:
    told = {name: offences((SRC / name).read_text(encoding="utf-8")) for name in modules()}
    found = {name: lines for name, lines in told.items() if lines}
    assert found.keys() - OTHER_WORDS == set(), {
        name: lines for name, lines in found.items() if name not in OTHER_WORDS
    }
    assert found.keys() >= OTHER_WORDS.keys(), "an exception that nobody needs"


@pytest.mark.parametrize(
    "text",
    [
        '_SQL = frozenset({"postgres", "sqlite"})',
        '_SQL = ("postgres", "sqlite")',
        '_SQL = "postgres sqlite".split()',
        '_PATHS = {"python": "script", "shell": "cwd"}',
        '_SHAPES = {("sleep", "seconds"): 1, ("wait", "signal"): 2}',
        'match task.kind:\n    case "human" | "wait":\n        pass',
        'match x:\n    case "human":\n        pass\n    case "wait":\n        pass',
        'is_wait = x == "human" or x == "wait"',
        'if x == "human":\n    pass\nelif x == "wait":\n    pass',
        'is_child = task.kind == "playbook"',
        'is_child = "playbook" != kind.name',
        'is_child = kind in ("playbook",)',
    ],
)
def test_knowing_kinds_by_name_is_found(text: str) -> None:
    assert offences(text)


@pytest.mark.parametrize(
    "text",
    [
        'Task("save", "noop", inputs)',
        '_SCHEMES = ("http", "https")',
        'is_file = kind_of(url) == "sqlite"',
        'is_late = error.kind == "timeout"',
        "is_child = task.outcome_from is OutcomeSource.CHILD",
    ],
)
def test_making_a_task_or_meaning_something_else_is_fine(text: str) -> None:
    assert not offences(text)


def test_every_kind_has_a_tool_or_is_served_by_anew() -> None:
    for kind in KINDS.values():
        is_served = kind.outcome_from not in (OutcomeSource.WORLD, OutcomeSource.INPUTS)
        assert is_served is (kind.tool is None), kind.name
        if kind.tool is not None:
            assert Toolbox().get(kind.name) is not None


def test_every_word_of_a_row_is_one_of_its_inputs() -> None:
    for kind in KINDS.values():
        known = kind.inputs.keys() | {"auth", "args"}
        groups = {name for group in (*kind.required, *kind.choices) for name in group}
        sets = kind.texts | kind.verbatim | kind.sql | kind.shell | kind.words
        single = {*kind.paths, kind.method, kind.save, kind.script_for, *kind.save_inputs} - {None}
        named = {*(kind.target.inputs if kind.target else ()), *kind.aliases.values()}
        assert groups | sets | single | named <= known, kind.name
        assert kind.title, kind.name
        assert all(kind.inputs.values()), kind.name


def test_a_helper_is_described_once() -> None:
    helpers = [kind.helper for kind in KINDS.values() if kind.helper is not None]
    assert all(HELPERS[helper.name] == helper for helper in helpers)


def test_a_kind_of_others_has_the_defaults_of_any() -> None:
    kind = kind_named("kafka")
    assert (kind.name, kind.is_open, kind.outcome_from) == ("kafka", True, OutcomeSource.WORLD)
    assert find_kind("kafka") is None


def test_an_extra_is_one_of_the_package_and_says_how_it_is_installed() -> None:
    offered = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = offered["project"]["optional-dependencies"]
    found = [kind.extra for kind in KINDS.values() if kind.extra is not None]
    assert found
    for extra in found:
        assert {re.split(r"[\[><=]", line)[0] for line in extras[extra.name]} >= set(extra.modules)
        assert extra.command == f"pip install 'anew[{extra.name}]'"


def test_a_tool_whose_extra_is_missing_says_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r"not installed here\. Install it: pip install 'anew\[d"):
        Toolbox().get("duckdb")
