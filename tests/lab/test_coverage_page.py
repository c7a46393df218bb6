"""The page that shows coverage: whole by itself, and safe whatever a document says."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from anew.lab.coverage import coverage_of
from anew.lab.coverage_page import CoveredSource, page_of
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

FLOW = """\
workflow:
  - step: a  # <script>alert(1)</script> & "quotes" \x07
    tool: {kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: fail}}, {else: {then: {do: continue}}}]}}}
    next:
      - b
  - step: b
    tool: {kind: noop}
    next: [{step: c, when: "{{ false }}"}]
  - step: c
    tool: {kind: noop}
"""


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.rows: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append(dict(attrs).get("class") or "")


def page(file: str = "flow.yaml") -> str:
    text = FLOW.replace("\x07", "")
    program = load_text(text, file).program
    assert program is not None
    cover = coverage_of(program, [simulate(program, script_of({})).log])
    return page_of([CoveredSource(file, FLOW.splitlines(), cover)])


def test_each_line_is_marked_by_colour_and_sign() -> None:
    told = page()
    # Two headings and the row of the document come before the lines of the source.
    assert Tags(told).rows[3:] == ["", "", "part", "", "yes", "", "", "no", "", ""]
    assert "◐" in told
    assert "✗ rule 1 of a never matched" in told
    assert "✓ rule 2 of a · 1×" in told
    assert "✗ arc b -&gt; c was never taken" in told
    assert "50 %" in told


def test_whatever_a_document_says_is_shown_as_text() -> None:
    told = page('<img src=x onerror="alert(1)">.yaml')
    tags = Tags(told)
    assert not {"script", "img", "link", "iframe"} & set(tags.opened)
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in told
    assert "\x07" not in told


def test_lines_that_nobody_exercised_are_a_link_away() -> None:
    told = page()
    assert re.findall(r'href="#(d0l\d+)"', told) == ["d0l3", "d0l8"]
    ids = [value for name, value in Tags(told).attributes if name == "id"]
    assert {"d0", "d0l3", "d0l8"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_document_that_nobody_plays_or_that_decides_nothing_says_so() -> None:
    played = load_text(FLOW.replace("\x07", ""), "flow.yaml").program
    plain = load_text("workflow: [{step: a, tool: {kind: noop}}]", "plain.yaml").program
    assert played is not None
    assert plain is not None
    told = page_of(
        [
            CoveredSource("flow.yaml", [], coverage_of(played), 0),
            CoveredSource("plain.yaml", [], coverage_of(plain), 1),
        ]
    )
    assert told.count("no scenario plays it") == 2  # in the table and above its source
    assert told.count("decides nothing") == 2
    assert 'value="0"' in told
    assert "100 %" not in told


def test_whoever_hears_the_page_is_told_what_others_see() -> None:
    told = page()
    tags = Tags(told)
    named = dict(tags.attributes)
    assert tags.opened.count("caption") == tags.opened.count("table") == 2
    assert tags.opened.count("th") == len([1 for name, _ in tags.attributes if name == "scope"])
    assert re.findall(r'<progress[^>]*aria-label="([^"]*)"', told) == ["covered of flow.yaml"]
    assert "aria-label" in named
    for word in ("exercised", "partly exercised", "not exercised"):
        assert f'role="img" aria-label="{word}"' in told


def test_no_request_leaves_the_page() -> None:
    told = page()
    assert "default-src 'none'" in told
    assert not re.search(r"https?://|url\(|@import|src=", told)
    assert "prefers-color-scheme: dark" in told
