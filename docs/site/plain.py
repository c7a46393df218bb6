"""The documentation as text, for programs that read it: `llms.txt` and `llms-full.txt`.

The first lists the pages in the order of docs/index.md, each with its first sentence; the second
has the README and every page whole. Knows Markdown files only, nothing of the site's HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from markdown_it import MarkdownIt

from docs.site.navigation import Group, groups
from docs.site.places import ROOT

LIST = "llms.txt"
WHOLE = "llms-full.txt"
_README = PurePosixPath("README.md")
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.S)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def listed() -> str:
    """What Anew is, and where each page of its documentation is, below the root of the project."""
    title, summary = _title(_README), _first_sentence(_README)
    sections = "\n".join(_section(group) for group in groups())
    return f"# {title}\n\n> {summary}\n\n- [README](README.md)\n\n{sections}"


def whole(sources: Iterable[PurePosixPath]) -> str:
    """The text of every page, README first, each under the name of its file."""
    pages = sorted({_README, *(source for source in sources if source.suffix == ".md")})
    return "\n".join(f"<!-- {page} -->\n\n{_text(page)}" for page in pages)


def _section(group: Group) -> str:
    entries = [entry for entry in group.entries if entry.target.suffix == ".md"]
    lines = [
        f"- [{entry.title}]({entry.target}): {_first_sentence(entry.target)}" for entry in entries
    ]
    return "\n".join([f"## {group.title}", "", *lines, ""])


def _text(page: PurePosixPath) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _title(page: PurePosixPath) -> str:
    return next(_texts(page, "heading_open"))


def _first_sentence(page: PurePosixPath) -> str:
    """The first sentence under the title, without the addresses of its links."""
    paragraph = next(_texts(page, "paragraph_open"), "")
    plain = _LINK.sub(r"\1", " ".join(paragraph.split()))
    sentence = _SENTENCE.match(plain)
    return (sentence.group() if sentence else plain).rstrip(":")


def _texts(page: PurePosixPath, opening: str) -> Iterator[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(_text(page))
    for token, inside in pairwise(tokens):
        if token.type == opening:
            yield inside.content
