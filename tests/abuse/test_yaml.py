"""There is one reader of YAML, with limits; nothing goes around it, and nothing breaks it."""

from __future__ import annotations

import ast
import base64
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anew.credentials.credential import read_credential
from anew.errors import ConfigError
from anew.lab.scenario import read_scenario
from anew.lab.script import read_script
from anew.languages import load_text
from tests.abuse.documents import BYTES, GRAPHS, PLAYBOOKS, TAIL
from tests.abuse.one_server import Target, one_server

SOURCES = Path(__file__).resolve().parents[2] / "src"
ONE_READER = SOURCES / "anew" / "languages" / "document.py"
# What the one reader may have of the library: its events, its errors, and a loader it steps through.
READER_MAY = frozenset(
    "AliasEvent CSafeLoader DocumentStartEvent MappingEndEvent MappingStartEvent SafeLoader "
    "ScalarEvent SequenceEndEvent SequenceStartEvent StreamEndEvent YAMLError".split()
)
RAW_READERS = (
    "load load_all safe_load safe_load_all full_load full_load_all unsafe_load unsafe_load_all "
    "compose compose_all parse scan Loader SafeLoader CSafeLoader FullLoader UnsafeLoader "
    "BaseLoader CLoader CBaseLoader CFullLoader CUnsafeLoader SafeConstructor".split()
)
SPELLINGS = (
    "import yaml\nyaml.{name}(text)",
    "import yaml as y\ny.{name}(text)",
    "from yaml import {name}\n{name}(text)",
    "from yaml import {name} as read\nread(text)",
    "import yaml.{name}",
    "import ruamel.yaml",
    "from yaml.loader import *",
    "import importlib\nimportlib.import_module('yaml').{name}(text)",
    "__import__('yaml').{name}(text)",
)


def ways_to_yaml(text: str) -> set[str]:
    """Everything in a source by which it could read YAML: imports, and names as texts."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names if _is_library(one.name)}
            case ast.ImportFrom(module=str(module), level=0) if _is_library(module):
                found.add(module)
            case ast.Call(func=func, args=[ast.Constant(value=str(module)), *_]):
                if ast.unparse(func).endswith(("import_module", "__import__")):
                    found |= {module} if _is_library(module) else set()
    return found


def _is_library(module: str) -> bool:
    return bool({"yaml", "ruamel", "_yaml", "strictyaml", "oyaml"} & set(module.split(".")))


def used_of_yaml(text: str) -> set[str]:
    """The names of the library that a source uses."""
    names = {
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "yaml"
    }
    asked = {
        node.args[1].value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and isinstance(node.args[1], ast.Constant)
    }
    return names | {name for name in asked if name in READER_MAY or name in RAW_READERS}


def test_no_source_but_the_one_reader_knows_yaml() -> None:
    others = [path for path in SOURCES.rglob("*.py") if path != ONE_READER]
    assert len(others) > 100
    texts = {path.name: path.read_text(encoding="utf-8") for path in others}
    named = {name: text for name, text in texts.items() if "yaml" in text or "ruamel" in text}
    assert {name for name, text in named.items() if ways_to_yaml(text)} == set()


def test_the_one_reader_steps_through_events_and_builds_nothing() -> None:
    text = ONE_READER.read_text(encoding="utf-8")
    assert ways_to_yaml(text) == {"yaml"}
    assert used_of_yaml(text) <= READER_MAY


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_goes_around_the_reader(spelling: str) -> None:
    assert ways_to_yaml(spelling.format(name="load"))


@pytest.mark.parametrize("name", sorted(set(RAW_READERS) - READER_MAY))
def test_every_raw_reader_would_be_noticed_in_the_reader(name: str) -> None:
    assert used_of_yaml(f"import yaml\nyaml.{name}(text)") == {name}
    assert name not in READER_MAY


# --- what a reader is told -----------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_a_hostile_playbook_is_answered(name: str) -> None:
    text, rule = PLAYBOOKS[name]
    loaded = load_text(text, "flow.yaml")
    if rule is not None:
        assert loaded.program is None
        assert rule in {found.rule for found in loaded.findings}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_hostile_graph_is_answered_and_has_no_path(name: str) -> None:
    loaded = load_text(GRAPHS[name], "flow.dot")
    assert loaded.program is None or loaded.program.path is None


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_that_says_it_is_a_playbook_is_refused(name: str) -> None:
    assert load_text(GRAPHS[name], "flow.yaml").program is None


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_no_text_are_refused(name: str) -> None:
    for file in ("flow.yaml", "flow.dot", "flow"):
        loaded = load_text(BYTES[name], file)
        assert loaded.program is None
        assert loaded.findings


@pytest.mark.parametrize("name", [name for name in PLAYBOOKS if "levels" in name])
def test_a_bomb_in_a_script_is_answered(name: str) -> None:
    _answered_in_words(read_script, PLAYBOOKS[name][0], "flow.script.yaml")


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_a_hostile_scenario_is_answered(name: str) -> None:
    _answered_in_words(read_scenario, PLAYBOOKS[name][0], "flow.scenario.yaml")


@pytest.mark.parametrize("name", BYTES)
def test_a_scenario_that_is_no_text_is_answered(name: str) -> None:
    with pytest.raises(ConfigError):
        read_scenario(BYTES[name], "flow.scenario.yaml")


@pytest.mark.parametrize("name", BYTES)
def test_a_credential_that_is_no_text_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        read_credential(BYTES[name], "credential.json", ref="mine")


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 60_000, '{"type": ' + "[" * 60_000])
def test_a_deep_credential_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_credential(text, "credential.json", ref="mine")


def _answered_in_words(read: Any, *asked: object) -> None:
    with suppress(ConfigError):  # any other error is a traceback to whoever asked
        read(*asked)


# --- the doors of a server -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with one_server(tmp_path_factory.mktemp("server"), works=False) as target:
        yield target


ANSWERED = (200, 201, 400, 413, 422)


@pytest.mark.parametrize("name", [*PLAYBOOKS, *GRAPHS])
def test_a_server_registers_or_refuses_and_goes_on(target: Target, name: str) -> None:
    text = GRAPHS[name] if name in GRAPHS else PLAYBOOKS[name][0]
    answer = target.client.post("/api/v1/programs", json={"document": text})
    assert answer.status_code in ANSWERED, answer.text[:500]
    assert target.is_well()


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_that_was_registered_does_not_break_the_catalog(target: Target, name: str) -> None:
    sent = {"document": GRAPHS[name], "file": "flow.dot"}
    answer = target.client.post("/api/v1/programs", json=sent)
    assert answer.status_code in ANSWERED, answer.text[:500]
    entries = target.client.post("/api/catalog/list").json()["entries"]
    assert "stolen" not in {entry["path"] for entry in entries}
    assert target.client.get("/api/catalog/playbook?path=stolen").status_code == 404


@pytest.mark.parametrize("name", [*PLAYBOOKS, *GRAPHS])
def test_the_catalog_of_noetl_takes_or_refuses_and_goes_on(target: Target, name: str) -> None:
    text = GRAPHS[name] if name in GRAPHS else PLAYBOOKS[name][0]
    content = base64.b64encode(text.encode()).decode()
    answer = target.client.post("/api/catalog/register", json={"content": content})
    assert answer.status_code in ANSWERED, answer.text[:500]
    assert target.is_well()


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_a_check_at_a_server_is_answered(target: Target, name: str) -> None:
    text, rule = PLAYBOOKS[name]
    answer = target.client.post("/api/v1/check", json={"document": text, "file": "flow.yaml"})
    assert answer.status_code in ANSWERED, answer.text[:500]
    if rule is not None and answer.status_code == 200:
        assert rule in {found["rule"] for found in answer.json()}


@pytest.mark.parametrize("name", BYTES)
def test_a_body_that_is_no_text_is_refused(target: Target, name: str) -> None:
    body = b'{"document": "' + BYTES[name] + b'"}'
    headers = {"Content-Type": "application/json"}
    answer = target.client.post("/api/v1/programs", content=body, headers=headers)
    assert answer.status_code == 400
    assert target.is_well()


def test_paths_are_kept_when_a_playbook_is_registered(target: Target) -> None:
    document = f"metadata: {{name: kept, path: team/kept}}\n{TAIL}"
    target.client.post("/api/v1/programs", json={"document": document})
    entries = target.client.post("/api/catalog/list").json()["entries"]
    assert ("team/kept", "kept") in {(entry["path"], entry["name"]) for entry in entries}
    found = target.client.get("/api/catalog/playbook?path=team/kept").json()
    assert found["content"] == document


# --- the command line ----------------------------------------------------------------------------


def test_the_command_line_checks_every_hostile_file(tmp_path: Path) -> None:
    for number, (text, _) in enumerate(PLAYBOOKS.values()):
        path = tmp_path / f"p{number}.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for number, text in enumerate(GRAPHS.values()):
        (tmp_path / f"g{number}.dot").write_text(text)
    for number, data in enumerate(BYTES.values()):
        (tmp_path / f"b{number}.yaml").write_bytes(data)
    command = [sys.executable, "-m", "anew", "check", "--json", *sorted(tmp_path.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr[-2_000:]
    assert "Traceback" not in done.stderr
