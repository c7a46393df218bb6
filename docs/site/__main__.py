"""Build the site: every page that docs/index.md leads to, with every link of it checked.

    python -m docs.site [FOLDER]

FOLDER is build/site unless given; what an earlier build left there is removed. What is wrong is
told with its file and line, and nothing is written then.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from docs.site import files, plain, reading
from docs.site.frame import INDEX, SCRIPT, STYLE, whole
from docs.site.indexing import index
from docs.site.navigation import groups
from docs.site.page import Page
from docs.site.places import PICTURES, ROOT, START, place

_OWN = Path(__file__).parent


class Site:
    """Everything that can be reached from the start, by the file it is made of."""

    def __init__(self) -> None:
        self.pages: dict[PurePosixPath, Page] = {}
        self.pictures: set[PurePosixPath] = set()
        waiting = [START]
        while waiting:
            source = waiting.pop()
            if source in self.pages or source in self.pictures:
                continue
            if source.suffix in PICTURES:
                self.pictures.add(source)
                continue
            is_markdown = source.suffix == ".md"
            self.pages[source] = reading.read(source) if is_markdown else files.show(source)
            waiting.extend(link.target for link in self.pages[source].links)

    def faults(self) -> Iterator[str]:
        for page in self.pages.values():
            yield from page.faults
            yield from self._dead_ends(page)
        yield from self._collisions()

    def _dead_ends(self, page: Page) -> Iterator[str]:
        for link in page.links:
            there = self.pages.get(link.target)
            anchors = {heading.anchor for heading in there.headings} if there else set()
            if link.anchor and link.anchor not in anchors:
                yield f"{page.source}:{link.line}: {link.target} has no heading #{link.anchor}"

    def _collisions(self) -> Iterator[str]:
        taken: dict[PurePosixPath, PurePosixPath] = {}
        for source in self.pages:
            other = taken.setdefault(place(source), source)
            if other != source:
                yield f"{source}:1: has the same place in the site as {other}"

    def write(self, folder: Path) -> None:
        ways = groups()
        for source, page in sorted(self.pages.items()):
            _put(folder / place(source), whole(page, ways))
        for source in self.pictures:
            target = folder / place(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / source, target)
        for name in (STYLE, SCRIPT):
            shutil.copyfile(_OWN / name, folder / name)
        _put(folder / INDEX, index(page for _, page in sorted(self.pages.items())))
        _put(folder / plain.LIST, plain.listed())
        _put(folder / plain.WHOLE, plain.whole(self.pages))


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _clear(folder: Path) -> bool:
    """Whether the site may be written there: what we did not make is not removed."""
    if not folder.exists() or not any(folder.iterdir()):
        return True
    is_ours = (folder / INDEX).exists()
    if is_ours:
        shutil.rmtree(folder)
    return is_ours


def main(words: list[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "build" / "site"
    site = Site()
    if faults := sorted(site.faults()):
        print("\n".join(faults), file=sys.stderr)
        return 1
    if not _clear(folder):
        print(f"{folder} has files that no build has made: name another folder", file=sys.stderr)
        return 2
    site.write(folder)
    print(f"{len(site.pages)} pages; begin with {folder / place(START)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
