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
    return page_of([CoveredSource(file, FLOW.splitlines(), cover, cover.percent)])


def test_each_line_is_marked_by_colour_and_sign() -> None:
    told = page()
    # The heading and the row of the document come before the lines of the source.
    assert Tags(told).rows[2:] == ["", "", "part", "", "yes", "", "", "no", "", ""]
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


def test_no_request_leaves_the_page() -> None:
    told = page()
    assert "default-src 'none'" in told
    assert not re.search(r"https?://|url\(|@import|src=", told)
    assert "prefers-color-scheme: dark" in told
