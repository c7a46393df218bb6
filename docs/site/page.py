"""What is known of one page of the site, once its file is read."""

from __future__ import annotations

from pathlib import PurePosixPath

from msgspec import Struct


class Link(Struct, frozen=True):
    """A link or a picture that a page has, and the line of its file it stands in."""

    target: PurePosixPath
    anchor: str
    line: int


class Heading(Struct):
    """`told` is what stands under it, for the search."""

    level: int
    title: str
    anchor: str
    told: list[str]


class Page(Struct):
    """`faults` are what is wrong in the file itself, each with its line."""

    source: PurePosixPath
    title: str
    body: str
    headings: list[Heading]
    links: list[Link]
    faults: list[str]
