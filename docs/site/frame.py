"""What is around every page: its head, the search, the way to the others, what is on it."""

from __future__ import annotations

from html import escape
from string import Template

from docs.site.navigation import Group, shown
from docs.site.page import Heading, Page
from docs.site.places import START, hop, place

STYLE, SCRIPT, INDEX = "site.css", "search.js", "search-index.js"
_HEADINGS_MIN = 3
_WHOLE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="stylesheet" href="$top$style">
<link rel="icon" href="data:,">
<script defer src="$top$script"></script>
</head>
<body data-top="$top">
<header>
<a class="skip" href="#content">Skip to the page</a>
<a class="brand" href="$start">Anew</a>
<form role="search">
<input type="search" id="search" aria-label="Search the documentation" aria-keyshortcuts="/"
 placeholder="Search ( / )" autocomplete="off">
</form>
<a class="to-pages" href="#pages">All pages</a>
</header>
<section id="found" aria-label="Search results" hidden></section>
<main id="content" tabindex="-1">
$body</main>
$contents<nav id="pages" aria-label="Pages">
$pages</nav>
</body>
</html>
""")


def whole(page: Page, groups: list[Group]) -> str:
    """The HTML of a page."""
    here = place(page.source)
    top = hop(here, ".")
    return _WHOLE.substitute(
        title=escape("Anew documentation" if page.source == START else f"{page.title} · Anew"),
        top="" if top == "." else f"{top}/",
        style=STYLE,
        script=SCRIPT,
        start=hop(here, place(START)),
        body=page.body,
        contents=_contents(page.headings),
        pages=shown(groups, page.source),
    )


def _contents(headings: list[Heading]) -> str:
    found = [heading for heading in headings if heading.level == 2]
    if len(found) < _HEADINGS_MIN:
        return ""
    items = "".join(f'<li><a href="#{one.anchor}">{escape(one.title)}</a></li>\n' for one in found)
    heading = "<h2>On this page</h2>"
    return f'<nav id="contents" aria-label="On this page">\n{heading}\n<ul>\n{items}</ul>\n</nav>\n'
