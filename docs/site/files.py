"""Pages for what the documentation links to and is not Markdown: files as they are, and folders."""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath

from docs.site import highlighting
from docs.site.page import Heading, Link, Page
from docs.site.places import ROOT, way


def show(source: PurePosixPath) -> Page:
    """The page of a file or of a folder."""
    is_folder = (ROOT / source).is_dir()
    body, links = _folder(source) if is_folder else (_file(source), [])
    title = f"{source}/" if is_folder else str(source)
    return Page(
        source=source,
        title=title,
        body=f'<h1 id="top"><code>{escape(title)}</code></h1>\n{body}',
        headings=[Heading(1, title, "top", [])],
        links=links,
        faults=[],
    )


def _file(source: PurePosixPath) -> str:
    return highlighting.block((ROOT / source).read_text(encoding="utf-8"), file=source.name)


def _folder(source: PurePosixPath) -> tuple[str, list[Link]]:
    found = sorted(path for path in (ROOT / source).iterdir() if path.name[0] not in "._")
    links = [Link(source / path.name, "", 1) for path in found]
    items = (
        f'<li><a href="{escape(way(source, link.target))}">{escape(link.target.name)}</a></li>\n'
        for link in links
    )
    return f"<ul>\n{''.join(items)}</ul>\n", links
