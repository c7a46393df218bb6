"""A Markdown file as a page: its HTML, its headings with anchors, its links, and what is wrong.

Does not know whether a link leads anywhere: `__main__` does, once all pages are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.site import highlighting
from docs.site.page import Heading, Link, Page
from docs.site.places import ROOT, named, way

_MARKDOWN = MarkdownIt("commonmark").enable("table")
# A wide table scrolls in a box of its own, which can have the focus.
_TABLE = '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'
_MARKDOWN.add_render_rule("table_open", lambda *_: _TABLE)
_MARKDOWN.add_render_rule("table_close", lambda *_: "</table></div>\n")
_COMMENTS = re.compile(r"\s*(?:<!--.*?-->\s*)+", re.S)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def read(source: PurePosixPath) -> Page:
    text = (ROOT / source).read_text(encoding="utf-8")
    page = Page(source=source, title=source.name, body="", headings=[], links=[], faults=[])
    tokens = _MARKDOWN.parse(text)
    _Reader(page, text.splitlines()).go_through(tokens)
    if page.headings:
        page.title = page.headings[0].title
    page.body = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    return page


class _Reader:
    """Changes tokens into those of the site, and notes in `page` what it meets."""

    def __init__(self, page: Page, lines: list[str]) -> None:
        self._page = page
        self._lines = lines
        self._anchors: dict[str, int] = {}

    def go_through(self, tokens: list[Token]) -> None:
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                self._head(token, tokens[number + 1])
            elif token.type == "fence":
                self._show_code(token)
            elif token.type == "html_block":
                self._drop(token, token)
            elif token.type == "inline":
                self._go_into(token)

    def _head(self, opening: Token, inline: Token) -> None:
        title = "".join(_words(inline))
        anchor = self._new_anchor(inline.content)
        opening.attrSet("id", anchor)
        self._page.headings.append(Heading(int(opening.tag[1]), title, anchor, []))

    def _new_anchor(self, heading: str) -> str:
        """As GitHub makes it, so that the same links work there."""
        anchor = _NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-")
        seen = self._anchors.get(anchor, 0)
        self._anchors[anchor] = seen + 1
        return f"{anchor}-{seen}" if seen else anchor

    def _show_code(self, token: Token) -> None:
        self._tell(token.content)
        body = highlighting.block(token.content, language=token.info.strip())
        token.type, token.content = "html_block", body

    def _drop(self, token: Token, around: Token) -> None:
        """Comments are for those who read the file. Other HTML has no place in it."""
        if not _COMMENTS.fullmatch(token.content):
            self._blame(around, token.content, f"HTML is not shown: {token.content.strip()!r}")
        token.content = ""

    def _go_into(self, inline: Token) -> None:
        self._tell("".join(_words(inline)))
        for token in inline.children or []:
            if token.type == "html_inline":
                self._drop(token, inline)
            elif token.type == "link_open":
                self._lead(token, "href", inline)
            elif token.type == "image":
                self._lead(token, "src", inline)
                if not token.content:
                    self._blame(inline, "![](", "a picture needs words for those who do not see it")

    def _lead(self, token: Token, attribute: str, inline: Token) -> None:
        """Point a link at the page of the file it names."""
        address = str(token.attrs[attribute])
        asked = urlsplit(address)
        if asked.scheme:
            return
        path, line = unquote(asked.path), self._line(inline, address)
        target = named(self._page.source, path) if path else self._page.source
        if target is None:
            self._page.faults.append(f"{self._page.source}:{line}: {address} does not exist")
            return
        self._page.links.append(Link(target, unquote(asked.fragment), line))
        there = way(self._page.source, target) if path else ""
        token.attrs[attribute] = f"{there}#{asked.fragment}" if asked.fragment else there

    def _tell(self, words: str) -> None:
        if self._page.headings:
            self._page.headings[-1].told.append(words)

    def _blame(self, token: Token, needle: str, words: str) -> None:
        self._page.faults.append(f"{self._page.source}:{self._line(token, needle)}: {words}")

    def _line(self, token: Token, needle: str) -> int:
        """Where this stands in the block of the token, which may be many lines long."""
        first, end = token.map or (0, 1)
        found = (at for at in range(first, end) if needle in self._lines[at])
        return next(found, first) + 1


def _words(inline: Token) -> Iterator[str]:
    for token in inline.children or []:
        if token.type in ("text", "code_inline", "image"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
