"""The files a graph names: read once, kept with it, and part of what the program is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from anew.languages import Loaded, load, load_text
from anew.languages.dot import beside
from anew.languages.dot.extensions import Extensions, NodeType, Work, calling
from anew.languages.dot.graph import Graph
from anew.languages.dot.scoped import constant
from tests.languages.dot.documents import SPEC

GRAPH = """digraph g {
  model_stylesheet = "styles/m.css"
  start [shape=ellipse]
  a [prompt_file="a.md"]
  b [prompt="@./a.md"]
  done [shape=ellipse]
  start -> a -> b -> done
}"""
STYLES = "* { llm_model: m }\r\n"
PLAIN = SPEC + "a [prompt=p]; s->a->x }"


@pytest.fixture(name="folder")
def a_folder(tmp_path: Path) -> Path:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "m.css").write_bytes(STYLES.encode())
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfDo it.\xff")
    (tmp_path / "g.dot").write_text(GRAPH)
    return tmp_path


def digest_of(loaded: Loaded) -> str:
    assert loaded.program is not None, loaded.findings
    return loaded.program.digest


def test_what_was_read_beside_a_document_is_told_by_the_names_it_has_there(folder: Path) -> None:
    read = "\ufeffDo it.\ufffd"
    assert load(folder / "g.dot").files == {"styles/m.css": STYLES, "a.md": read, "./a.md": read}
    assert load_text(PLAIN, "p.dot").files == {}


def test_given_its_files_a_document_is_compiled_without_the_disk(folder: Path) -> None:
    loaded = load(folder / "g.dot")
    again = load_text(GRAPH, "elsewhere/g.dot", files=loaded.files)
    assert digest_of(again) == digest_of(loaded)
    assert again.files == loaded.files
    assert again.program is not None
    assert loaded.program is not None
    for step in ("a", "b"):
        tasks = (again.program.steps[step].tasks, loaded.program.steps[step].tasks)
        assert tasks[0][0].inputs.source == tasks[1][0].inputs.source


def test_a_file_that_was_not_kept_is_not_looked_for(folder: Path) -> None:
    kept = {"styles/m.css": STYLES, "a.md": "text"}
    loaded = load_text(GRAPH, str(folder / "g.dot"), files=kept)
    assert loaded.program is None
    (found,) = [found for found in loaded.findings if found.rule == "prompt-file"]
    assert "not kept with the document" in found.message


def test_another_text_in_a_file_is_another_program(folder: Path) -> None:
    first = load(folder / "g.dot")
    (folder / "a.md").write_text("Do it not.")
    second = load(folder / "g.dot")
    (folder / "styles" / "m.css").write_text("* { llm_model: n }")
    assert len({digest_of(one) for one in (first, second, load(folder / "g.dot"))}) == 3


def test_a_document_without_anything_beside_it_has_the_digest_of_its_text() -> None:
    extensions = Extensions(
        types=[calling("unused", "http", lambda node: {})], shapes={"cds": "unused"}, version="7"
    )
    known = hashlib.sha256(PLAIN.encode()).hexdigest()
    assert digest_of(load_text(PLAIN, "p.dot")) == known
    assert digest_of(load_text(PLAIN, "p.dot", files={"other": "x"})) == known
    assert digest_of(load_text(PLAIN, "p.dot", extensions=extensions)) == known


def test_a_chosen_dialect_is_told_and_makes_another_program() -> None:
    chosen = load_text(PLAIN, "p.dot", dialect="spec")
    assert (chosen.dialect, load_text(PLAIN, "p.dot").dialect) == ("spec", None)
    assert digest_of(chosen) != digest_of(load_text(PLAIN, "p.dot"))


def test_all_files_together_have_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [len((folder / name).read_bytes()) for name in ("styles/m.css", "a.md")]
    monkeypatch.setattr(beside, "FILES_BYTES_MAX", sum(sizes) + sizes[1] - 1)
    (found,) = [found for found in load(folder / "g.dot").findings if found.rule == "prompt-file"]
    assert "the files of the document are larger than" in found.message
    monkeypatch.setattr(beside, "FILES_BYTES_MAX", sum(sizes) + sizes[1])
    assert load(folder / "g.dot").program is not None


# --- what code adds ------------------------------------------------------------------------------


def test_a_program_that_uses_what_code_adds_says_so_by_its_digest() -> None:
    def loud(graph: Graph) -> Graph:
        return graph

    def quiet(graph: Graph) -> Graph:
        return graph

    text = SPEC + "a [shape=cds]; b [type=told]; s->a->b->x }"
    types = [
        NodeType(name, lambda c, node: Work("noop", constant({}))) for name in ("told", "asked")
    ]
    ways = [
        Extensions(types=types, shapes={"cds": "told"}),
        Extensions(types=types, shapes={"cds": "asked"}),
        Extensions(types=types, shapes={"cds": "told"}, version="2"),
        Extensions(types=types, shapes={"cds": "told"}, transforms=[loud]),
        Extensions(types=types, shapes={"cds": "told"}, transforms=[quiet]),
        Extensions(types=types, shapes={"cds": "told"}, transforms=[loud, quiet]),
    ]
    digests = [digest_of(load_text(text, "p.dot", extensions=way)) for way in ways]
    assert len({hashlib.sha256(text.encode()).hexdigest(), *digests}) == len(ways) + 1
    more = Extensions(types=[*types, calling("new", "http", lambda node: {})], rules=[lambda g: []])
    same = Extensions(types=more.types, shapes={"cds": "told"}, rules=more.rules)
    assert digest_of(load_text(text, "p.dot", extensions=same)) == digests[0]


def test_a_type_of_ones_own_has_attributes_and_writes_keys_of_its_own() -> None:
    text = (
        SPEC + 'a [type=own, colour=blue]; b [shape=hexagon, label="Is $made right?"]; s->a->b->x }'
    )
    own = calling("own", "http", lambda node: {}, writes=["made"])
    odd = {"attribute-unknown", "unused-variables"}
    found = load_text(text, "p.dot", extensions=Extensions(types=[own])).findings
    assert odd & {one.rule for one in found} == set()
    own = calling("other", "http", lambda node: {})
    found = load_text(text, "p.dot", extensions=Extensions(types=[own])).findings
    assert odd <= {one.rule for one in found}
