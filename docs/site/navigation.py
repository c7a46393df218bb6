"""The way through the site, in the order and the words of docs/index.md.

Every list of that page is a group, under the heading or the line before it.
"""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from docs.site.places import ROOT, START, named, way

_FIRST = "Start"


class Entry(Struct, frozen=True):
    title: str
    target: PurePosixPath


class Group(Struct, frozen=True):
    title: str
    entries: list[Entry]


def groups() -> list[Group]:
    """The groups of the index that lead anywhere."""
    found, depth = [Group(_FIRST, [])], 0
    for token in MarkdownIt("commonmark").parse((ROOT / START).read_text(encoding="utf-8")):
        depth += token.nesting if token.type == "bullet_list_open" else 0
        depth -= token.type == "bullet_list_close"
        if token.type != "inline":
            continue
        if depth:
            found[-1].entries.extend(_entries(token))
        elif token.level == 1 and token.content[-1] not in ".":
            found.append(Group(token.content.rstrip(":").partition(":")[0], []))
    return [group for group in found if group.entries]


def _entries(inline: Token) -> list[Entry]:
    parts = inline.children or []
    opened = [at for at, part in enumerate(parts) if part.type == "link_open"]
    return [
        Entry(parts[at + 1].content, target)
        for at in opened
        if (target := named(START, str(parts[at].attrs["href"]).partition("#")[0])) is not None
    ]


def shown(of: list[Group], page: PurePosixPath) -> str:
    """The groups as lists of links, as they are on the page of a file."""
    return "".join(
        f"<h2>{escape(group.title)}</h2>\n<ul>\n{''.join(_item(one, page) for one in group.entries)}</ul>\n"
        for group in of
    )


def _item(entry: Entry, page: PurePosixPath) -> str:
    here = ' aria-current="page"' if entry.target == page else ""
    return f'<li><a href="{way(page, entry.target)}"{here}>{escape(entry.title)}</a></li>\n'
