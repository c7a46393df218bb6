"""The one door to all languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from anew.errors import ConfigError
from anew.languages import load, load_text
from anew.program.policy import NO_POLICY
from anew.program.program import Router
from anew.program.span import NOWHERE, Span

PLAYBOOK = "workflow: [{step: a}]\n"


@pytest.mark.parametrize("name", ["p.yaml", "p.yml", "p.YAML", "p", "p.txt"])
def test_a_file_is_loaded_under_the_name_the_user_gave(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(PLAYBOOK)
    program = load(path).program
    assert program is not None
    assert program.name == "p"
    assert program.steps["a"].span.file == str(path)


def test_json_is_a_playbook_too() -> None:
    assert load_text('{"workflow": [{"step": "a"}]}', "p.json").program is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.dot", ""), ("g.gv", "digraph {}"), ("g", "// c\nstrict digraph G { a -> b }")],
)
def test_a_dot_graph_is_refused_clearly(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match="DOT graphs are not supported yet"):
        load_text(text, name)


def test_a_playbook_about_graphs_is_no_graph() -> None:
    assert load_text("graph: {a: 1}\n" + PLAYBOOK, "p").program is not None


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_the_operators_turn(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / name)


def test_a_huge_file_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(1 << 33)
    (found,) = load(path).findings
    assert found.rule == "yaml.size"


def parts_of(part: object) -> Iterator[Struct]:
    """Every struct below a part of the model."""
    if isinstance(part, tuple):
        for item in part:
            yield from parts_of(item)
    elif isinstance(part, Struct) and not isinstance(part, Span):
        yield part
        for field in part.__struct_fields__:
            yield from parts_of(getattr(part, field))


@pytest.mark.parametrize(
    "name",
    [
        "dialects/mixed",
        "flaky_api",
        "save/save_result",
        "workbook/workbook",
        "seeds/s2_rules",
        "seeds/s3_full",
    ],
)
def test_every_part_of_a_program_knows_where_it_stands(name: str) -> None:
    program = load(Path(__file__).parents[2] / "examples" / f"{name}.yaml").program
    assert program is not None
    parts = [part for step in program.steps.values() for part in parts_of(step)]
    lost = [
        part
        for part in parts
        if getattr(part, "span", None) == NOWHERE and part not in (NO_POLICY, Router())
    ]
    assert lost == []
