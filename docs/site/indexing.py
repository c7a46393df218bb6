"""What the search looks through: for each heading of each page, the words that stand under it.

It is a script and not JSON: a page that is read from a disk may run the one and not fetch the
other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from docs.site.page import Heading, Page
from docs.site.places import place

_WORD = re.compile(r"[^\W_][\w.-]*[^\W_]")


def index(pages: Iterable[Page]) -> str:
    rows = [row for page in pages if page.source.suffix == ".md" for row in _rows(page)]
    told = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.anewSections = {told};\n"


def _rows(page: Page) -> Iterator[list[str]]:
    """The page, the heading, the address and the words of each section."""
    address = str(place(page.source))
    for heading in page.headings:
        own = "" if heading.level == 1 else heading.title
        anchor = "" if heading.level == 1 else f"#{heading.anchor}"
        yield [page.title, own, f"{address}{anchor}", _words(heading)]


def _words(heading: Heading) -> str:
    """Each word once: where it stands does not matter to the search."""
    told = " ".join((heading.title, *heading.told)).lower()
    return " ".join(sorted(set(_WORD.findall(told))))
