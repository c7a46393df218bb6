"""The one door to all languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from anew.errors import ConfigError
from anew.languages import load, load_text
from anew.languages.dot.extensions import Extensions
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


def test_a_message_quotes_only_the_beginning_of_a_text() -> None:
    (finding,) = load_text("x" * 400_000, "p.yaml").findings
    assert finding.message.startswith("a playbook must be a mapping; found 'xxx")
    assert finding.message.endswith("…'")
    assert len(finding.message) < 200


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("g.dot", "", "dot.empty"),
        ("g.gv", "digraph {}", "start_node"),
        ("g", "// c\nstrict digraph G { a -> b }", "dot.strict"),
    ],
)
def test_a_graph_is_told_by_its_name_or_by_how_it_begins(name: str, text: str, rule: str) -> None:
    loaded = load_text(text, name)
    assert loaded.program is None
    assert rule in [found.rule for found in loaded.findings]


def test_a_graph_is_loaded_from_a_file_in_the_dialect_that_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "flow.dot"
    path.write_text("digraph { start -> a -> exit }")
    programs = [load(path, dialect=word).program for word in (None, "docs")]
    assert [(p.language, p.dialect, p.name) for p in programs if p] == [
        ("dot", "spec", "flow"),
        ("dot", "docs", "flow"),
    ]


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


def test_a_dialect_cannot_be_chosen_for_a_playbook() -> None:
    with pytest.raises(ConfigError, match=r"p\.yaml is a playbook; --dialect is for DOT graphs"):
        load_text(PLAYBOOK, "p.yaml", dialect="docs")


def test_a_playbook_may_use_tools_that_code_brings() -> None:
    text = "workflow: [{step: a, tool: {kind: chat, channel: ops, text: hi}}]"
    (found,) = load_text(text, "p.yaml").findings
    assert found.rule == "tool.kind"
    loaded = load_text(text, "p.yaml", extensions=Extensions(kinds=["chat"]))
    assert loaded.findings == []
    misspelt = load_text(
        text.replace("chat", "caht"), "p.yaml", extensions=Extensions(kinds=["chat"])
    )
    assert misspelt.findings[0].suggestion == "Did you mean 'chat'?"
