"""Model stylesheets: what they give to nodes, where they are read from, what is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anew.languages.dot import styling
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.read import ReadGraph, read_graph
from anew.languages.dot.source import escaped


def styled(sheet: str, body: str, dialect: DotDialect = DotDialect.SPEC) -> ReadGraph:
    text = f'digraph p {{ model_stylesheet="{escaped(sheet)}" {body} }}'
    return read_graph(text, "p.dot", dialect=dialect)


def style(sheet: str, body: str, dialect: DotDialect = DotDialect.SPEC) -> dict[str, object]:
    read = styled(sheet, body, dialect)
    assert [f.message for f in read.findings] == []
    assert read.graph is not None
    return {key: one.value for key, one in read.graph.nodes["a"].attributes.items()}


def test_a_more_specific_selector_wins_whatever_the_order() -> None:
    sheet = "#a { llm_model: i } .c { llm_model: c } box { llm_model: s } * { llm_model: u }"
    assert style(sheet, "a [class=c]")["llm_model"] == "i"
    assert style(sheet.replace("#a", "#b"), "a [class=c]")["llm_model"] == "c"
    assert style(sheet.replace("#a", "#b"), "a")["llm_model"] == "s"
    assert style(sheet.replace("#a", "#b"), "a [shape=tab]")["llm_model"] == "u"


def test_of_equally_specific_rules_the_last_wins_for_each_property() -> None:
    sheet = ".d { llm_model: d; llm_provider: p } .c { llm_model: c } .d { reasoning_effort: low }"
    found = style(sheet, 'a [class="c,d"]')
    assert found["llm_model"] == "c"
    assert found["llm_provider"] == "p"
    assert found["reasoning_effort"] == "low"
    assert style("* { llm_model: x } * { llm_model: y }", "a")["llm_model"] == "y"


def test_an_attribute_of_the_node_wins_also_under_its_other_name() -> None:
    sheet = "#a { model: m; provider: p; effort: high; max_tokens: 5; temperature: 0.5 }"
    found = style(sheet, "a [model=own llm_provider=mine]", DotDialect.DOCS)
    assert found == {
        "model": "own",
        "llm_provider": "mine",
        "reasoning_effort": "high",
        "max_tokens": 5,
        "temperature": 0.5,
    }


def test_the_class_of_a_subgraph_selects_its_nodes() -> None:
    found = style(".main-loop { llm_model: m }", 'subgraph { label="Main Loop" a }')
    assert found == {"llm_model": "m"}


def test_selectors_share_a_rule_and_values_are_quoted_or_bare() -> None:
    sheet = """/* all */ .x, #a { llm_model: "a; b"; llm_provider: 'q'; } // end"""
    assert style(sheet, "a") == {"llm_model": "a; b", "llm_provider": "q"}
    assert style("* { llm_model: claude-sonnet-4.5 }", "a") == {"llm_model": "claude-sonnet-4.5"}


@pytest.mark.parametrize(
    ("sheet", "column", "message"),
    [
        ("* { llm_model m }", 15, "found 'm' after 'llm_model' where `:` is expected"),
        ("* { llm_model: }", 16, "the property 'llm_model' has no value"),
        ("* { llm_model: m", 3, "the rule that starts here is not closed"),
        ("* llm_model: m", 15, "found the end where `{` is expected"),
        ("; * { llm_model: m }", 1, "found ';' where `{` is expected"),
        ("{ llm_model: m }", 1, "a selector is missing"),
        ("a > b { llm_model: m }", 1, "the selector 'a > b' is not one"),
        ("* { llm_model: a b: c { } }", 23, "found '{' after the value"),
    ],
)
def test_a_mistake_is_told_where_it_is_in_the_document(
    sheet: str, column: int, message: str
) -> None:
    first, *_ = styled(sheet, "a").findings
    assert (first.rule, first.severity.value) == ("stylesheet_syntax", "error")
    assert message in first.message
    start = len('digraph p { model_stylesheet="')
    assert (first.place.line, first.place.column) == (1, start + column)


def test_a_place_behind_escapes_and_lines_is_exact() -> None:
    (finding,) = styled('* { llm_model: "x";\n  llm_modle: y }', "a").findings
    assert (finding.rule, finding.place.line, finding.place.column) == (
        "dot.stylesheet-property",
        2,
        3,
    )
    assert finding.suggestion == "Did you mean 'llm_model'?"
    (finding,) = styled('* { llm_model: "x"; modle: y }', "a").findings
    assert finding.place.column == len('digraph p { model_stylesheet="* { llm_model: \\"x\\"; ') + 1


def test_the_dialects_differ_in_properties_and_in_shapes_as_selectors() -> None:
    assert [f.rule for f in styled("* { model: m }", "a").findings] == ["dot.stylesheet-property"]
    (finding,) = styled("box { model: m }", "a", DotDialect.DOCS).findings
    assert finding.rule == "stylesheet_syntax"
    assert "selects a shape" in finding.message


# --- a stylesheet in a file -----------------------------------------------------------------------


def read_beside(folder: Path, path: str, dialect: DotDialect = DotDialect.DOCS) -> ReadGraph:
    text = f'digraph p {{\n  model_stylesheet = "{path}"\n  a }}'
    return read_graph(text, str(folder / "p.dot"), dialect=dialect)


def test_the_docs_dialect_reads_a_file_beside_the_document(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "m.css").write_text("\ufeff* { model: m }\n* { modell: x }")
    read = read_beside(tmp_path, "styles/m.css")
    assert read.graph is not None
    assert read.graph.nodes["a"].text("llm_model") == "m"
    (finding,) = read.findings
    assert (finding.place.line, finding.place.column) == (2, 5)
    assert finding.place.file == str(tmp_path / "styles" / "m.css")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing.css", "there is no such file"),
        (".", "it is not a file"),
        ("../other.css", "outside the folder"),
        ("/etc/hostname", "outside the folder"),
        ("large.css", "larger than 10 bytes"),
        ("link.css", "outside the folder"),
        ("binary.css", "is not UTF-8"),
        ("x" * 5000, "long"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "other.css").write_text("")
    (folder / "link.css").symlink_to(tmp_path / "other.css")
    (folder / "large.css").write_text("* { model: m }")
    (folder / "binary.css").write_bytes(b"\xff\xfe")
    monkeypatch.setattr(styling, "STYLESHEET_BYTES_MAX", 10)
    (finding,) = read_beside(folder, path).findings
    assert finding.rule == "dot.stylesheet-file"
    assert reason in finding.message
    assert (finding.place.line, finding.place.column) == (2, 22)


def test_the_spec_dialect_reads_no_files(tmp_path: Path) -> None:
    (tmp_path / "m.css").write_text("* { llm_model: m }")
    (finding,) = read_beside(tmp_path, "m.css", DotDialect.SPEC).findings
    assert finding.rule == "stylesheet_syntax"
