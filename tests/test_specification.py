"""The specification is in this repository, and every citation of it leads to a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import LINK, ROOT, anchor, anchors, headings, text

REFERENCE = ROOT / "docs/reference"
INDEX = REFERENCE / "specification.md"
# The pages that are rules from their first heading to their last.
RULES = ("playbook.md", "graphs.md", "expressions.md", "events.md", "tools.md", "check-rules.md")
# A rule as code and tests cite it: a page of the reference and, mostly, a section of it.
CITATION = re.compile(r"\b([a-z-]+(?:/[a-z-]+)?\.md)#([a-z0-9_-]+)")
# How documents were cited that a clone does not have.
ELSEWHERE = re.compile(
    r"SEMANTICS|\bDESIGN\.md|\bSTYLE\.md|\bAMB \d|\bseed (?:S\d|text|document)|\(S\d|\bS\d's"
    r"|\bdigest \d|the digest(?:,| alone| and)"
)
CODE = sorted(
    path
    for folder in ("src", "tests", "bench", "docs", "examples", "supply")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__) and "node_modules" not in path.parts
)


def cited() -> Iterator[tuple[str, str, str]]:
    for path in CODE:
        for found in CITATION.finditer(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), found[1], found[2]


def test_every_rule_that_code_cites_is_in_the_reference() -> None:
    lost = [
        f"{where}: {page}#{rule}"
        for where, page, rule in cited()
        if not (REFERENCE / page).is_file() or rule not in anchors(REFERENCE / page)
    ]
    assert lost == []


def test_rules_are_cited() -> None:
    assert len(set(cited())) > 50


@pytest.mark.parametrize("folder", ["src", "tests", "bench", "docs", "examples", "supply"])
def test_nothing_is_cited_that_a_clone_does_not_have(folder: str) -> None:
    pages = [*(ROOT / folder).rglob("*.md"), *(path for path in CODE if folder in path.parts)]
    outside = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in pages
        for found in ELSEWHERE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert outside == []


@pytest.mark.parametrize("page", RULES)
def test_the_index_leads_to_every_section_of_the_rules(page: str) -> None:
    linked = {link["path"] + (link["anchor"] or "") for link in LINK.finditer(text(INDEX))}
    titles = headings(REFERENCE / page, "##")
    assert [title for title in titles if f"{page}#{anchor(title)}" not in linked] == []
