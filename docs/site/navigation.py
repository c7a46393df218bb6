"""The way through the site, in the order and the words of docs/index.md.

Every list of that page is a group, under the heading or the line before it.
"""

from __future__ import annotations

from html import escape
from itertools import takewhile
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from docs.site.places import ROOT, START, named, way

# How deep the words of a heading or a paragraph are nested when no list is around them.
_OUTSIDE = 1


class Entry(Struct, frozen=True):
    title: str
    target: PurePosixPath


class Group(Struct, frozen=True):
    title: str
    entries: list[Entry]


def groups() -> list[Group]:
    """The groups of the index that lead anywhere."""
    found: list[Group] = []
    for token in MarkdownIt("commonmark").parse((ROOT / START).read_text(encoding="utf-8")):
        if token.type == "inline" and token.level > _OUTSIDE:
            found[-1].entries.extend(_entries(token))
        elif token.type == "inline" and not token.content.endswith("."):
            found.append(Group(token.content.partition(":")[0], []))
    return [group for group in found if group.entries]


def _entries(inline: Token) -> list[Entry]:
    parts = inline.children or []
    opened = [at for at, part in enumerate(parts) if part.type == "link_open"]
    return [
        Entry(_begun(_words(parts[at + 1 :])), target)
        for at in opened
        if (target := named(START, str(parts[at].attrs["href"]).partition("#")[0])) is not None
    ]


def _words(parts: list[Token]) -> str:
    """What a link shows, code in it included."""
    inside = takewhile(lambda part: part.type != "link_close", parts)
    return "".join(part.content for part in inside)


def _begun(title: str) -> str:
    return title[:1].upper() + title[1:]


def shown(of: list[Group], page: PurePosixPath) -> str:
    """The groups as lists of links, as they are on the page of a file."""
    return "".join(
        f"<h2>{escape(group.title)}</h2>\n<ul>\n{_items(group, page)}</ul>\n" for group in of
    )


def _items(group: Group, page: PurePosixPath) -> str:
    return "".join(_item(entry, page) for entry in group.entries)


def _item(entry: Entry, page: PurePosixPath) -> str:
    here = ' aria-current="page"' if entry.target == page else ""
    return f'<li><a href="{way(page, entry.target)}"{here}>{escape(entry.title)}</a></li>\n'
