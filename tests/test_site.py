"""The static site of the documentation: complete, and no link of it leads nowhere."""

from __future__ import annotations

import os
import os.path
import re
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from docs.site import __main__ as site
from docs.site import files, navigation, places, plain, reading
from docs.site.highlighting import block
from tests.pages import PAGES, ROOT

PICTURE_BYTES_MAX = 200_000
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<path>[^)\s]*screenshots/(?P<name>[^)\s]+)\.png)\)")


class Read(HTMLParser):
    """What a page of the site leads to and loads, which places it has, and how it is dressed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.leads += [given["href"]] if tag == "a" else []
        self.loads += [given[name] for name in ("src", "href") if name in given and tag != "a"]
        is_script = tag == "script" and "src" not in given
        self.inline += [tag] * (is_script or tag == "style" or "style" in given)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "of" / "anew"
    assert site.main([str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Read]:
    return {path: Read(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with pages of its own, and a file beside it that is none of its business."""
    root = tmp_path / "project"
    for module in (places, reading, files, navigation, plain, site):
        monkeypatch.setattr(module, "ROOT", root)
    (root / "docs").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("# S\n", encoding="utf-8")
    return root


def page(project: Path, text: str, name: str = "docs/index.md") -> None:
    (project / name).write_text(text, encoding="utf-8")


def test_every_page_of_the_documentation_is_in_the_site(built: Path) -> None:
    for source in PAGES:
        path = places.place(PurePosixPath(source.relative_to(ROOT).as_posix()))
        assert (built / path).is_file(), source


def test_every_link_of_the_site_leads_to_a_place_of_it(pages: dict[Path, Read]) -> None:
    for path, read in pages.items():
        assert len(read.ids) == len(set(read.ids)), path
        for address in read.leads:
            asked = urlsplit(address)
            named = os.path.normpath(path.parent / unquote(asked.path))
            target = Path(named) if asked.path else path
            assert target in pages, (path, address)
            assert not asked.fragment or unquote(asked.fragment) in pages[target].ids, address


def test_a_page_loads_files_of_the_site_only_and_has_nothing_inline(
    pages: dict[Path, Read],
) -> None:
    for path, read in pages.items():
        for address in read.loads:
            assert address == "data:," or (path.parent / address).is_file(), (path, address)
        assert read.inline == [], path


def test_comments_are_for_those_who_read_the_file(built: Path) -> None:
    assert "<!-- file: " in (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    told = (built / "tutorial.html").read_text(encoding="utf-8")
    assert "<!--" not in told
    assert "&lt;!--" not in told


def test_the_way_through_the_site_is_that_of_the_index(built: Path) -> None:
    groups = {group.title: group.entries for group in navigation.groups()}
    assert list(groups) == ["Anew documentation", "The lab", "Run", "Write", "Reference"]
    assert groups["Run"][0].target == PurePosixPath("docs/how-to/run.md")
    told = (built / "how-to/run.html").read_text(encoding="utf-8")
    assert '<a href="run.html" aria-current="page">Run a playbook</a>' in told
    assert '<a href="../reference/limits.html">Limits</a>' in told


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# A\n\nSee\n[this](gone.md).", "docs/index.md:4: gone.md does not exist"),
        ("# A\n\n[this](../../secret.md)", "docs/index.md:3: ../../secret.md does not exist"),
        ("# A\n\n[b](#b)", "docs/index.md:3: docs/index.md has no heading #b"),
        ("# A\n\n![a plot](plot.svg)", "docs/index.md:3: plot.svg does not exist"),
        ("# A\n\n<b>bold</b>", "docs/index.md:3: HTML is not shown: '<b>'"),
        ("# A\n\n<script>\nx()\n</script>", "docs/index.md:3: HTML is not shown"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, fault: str
) -> None:
    page(project, text)
    assert site.main([str(project / "out")]) == 1
    assert fault in capsys.readouterr().err
    assert not (project / "out").exists()


def test_a_picture_needs_words(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page(project, "# A\n\n![](plot.svg)")
    (project / "docs/plot.svg").write_text("<svg/>", encoding="utf-8")
    assert site.main([str(project / "out")]) == 1
    assert "docs/index.md:3: a picture needs words" in capsys.readouterr().err


def test_two_files_with_one_place_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page(project, "# A\n\n[one](notes.md) and [other](notes)")
    page(project, "# N\n", "docs/notes.md")
    page(project, "plain", "docs/notes")
    assert site.main([str(project / "out")]) == 1
    assert "the same place in the site" in capsys.readouterr().err


def test_a_folder_that_no_build_has_made_is_left_alone(project: Path) -> None:
    page(project, "# A\n")
    page(project, "# A\n", "README.md")
    (project / "mine").mkdir()
    (project / "mine/diary.txt").write_text("dear", encoding="utf-8")
    assert site.main([str(project / "mine")]) == 2
    assert (project / "mine/diary.txt").exists()
    assert site.main([str(project / "out")]) == 0
    assert site.main([str(project / "out")]) == 0


def test_anchors_are_those_of_github(project: Path) -> None:
    page(project, "# A\n\n## `anew` serve, now\n\n## Twice\n\n## Twice\n\n[a](#twice-1)\n")
    found = reading.read(PurePosixPath("docs/index.md"))
    assert [heading.anchor for heading in found.headings] == [
        "a",
        "anew-serve-now",
        "twice",
        "twice-1",
    ]
    assert list(site.Site().faults()) == []


def test_code_and_names_are_shown_as_text(project: Path) -> None:
    for language in ("yaml", "console", ""):
        told = block("<img src=x onerror=alert(1)>", language=language)
        assert "<img" not in told
        assert "&lt;img" in told
    (project / "docs/<b>.txt").write_text("</code><script>", encoding="utf-8")
    told = files.show(PurePosixPath("docs/<b>.txt")).body
    assert "<b>" not in told
    assert "<script>" not in told


def test_the_documentation_shows_pictures_that_the_tests_make() -> None:
    tour = (ROOT / "tests/web/test_tour.py").read_text(encoding="utf-8")
    made = set(re.findall(r'"(tour-[\w-]+)"', tour))
    shown = {found["name"] for one in PAGES for found in PICTURE.finditer(one.read_text("utf-8"))}
    kept = {path.stem for path in (ROOT / "docs/screenshots").iterdir()}
    assert shown
    assert shown - made == set()
    assert kept == shown, "`make screenshots` keeps what the documentation shows"


def test_a_picture_is_small_enough_to_be_kept() -> None:
    for path in (ROOT / "docs/screenshots").iterdir():
        assert path.stat().st_size < PICTURE_BYTES_MAX, path.name


def test_programs_find_every_page_as_text(built: Path) -> None:
    listed = (built / "llms.txt").read_text(encoding="utf-8")
    whole = (built / "llms-full.txt").read_text(encoding="utf-8")
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        assert f"({name})" in listed or name == "docs/index.md", name
        assert f"<!-- {name} -->\n\n{page.read_text(encoding='utf-8')}" in whole, name


def test_the_list_of_pages_for_programs_is_that_of_the_index() -> None:
    path = ROOT / "llms.txt"
    if os.environ.get("ANEW_UPDATE_DOCS") == "1":
        path.write_text(plain.listed(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == plain.listed()
