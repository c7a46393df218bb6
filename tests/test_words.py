"""Texts for people are plain standard English: words that are refused, and what to say instead.

Read are the prose of the documentation, the strings of the product and of its page that have a space in them, and the
comments of examples. Code in backticks, names and machine-readable values are not.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.test_tidy import ROOT, relative, source


@dataclass(frozen=True, slots=True)
class Refused:
    """A word or phrase, as a pattern, and what to say instead."""

    pattern: str
    instead: str
    example: str

    @property
    def regex(self) -> re.Pattern[str]:
        return _whole_words(self.pattern)


@cache
def _whole_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")


# Archaic, or translated from German: each costs a reader in their second language a moment, at three in the morning.
REFUSED = (
    Refused(r"[Mm]end(?:s|ed|ing)?", "fix", "mend the cause"),
    Refused(r"(?:[Gg]o|[Gg]oes|[Ww]ent|going|gone) on", "resume, continue", "the run goes on"),
    Refused(r"[Tt]old|[Tt]ells?|[Tt]elling", "report, show, say", "`anew show` tells why"),
    Refused(r"[Bb]egun|[Bb]egan|[Bb]egins?|[Bb]eginnings?", "start", "no step has begun"),
    Refused(r"(?:did|does|done|go|goes|went|gone) well", "succeed", "the task went well"),
    Refused(r"[Ee]nd(?:s|ed|ing)? well", "succeed", "the step ended well"),
    Refused(r"hand(?:s|ed|ing)? back", "release, queue again", "the rest is handed back"),
    Refused(r"amount(?:s|ed)? to", "together, result in", "what the branches amount to"),
    Refused(r"be said(?! (?:before|earlier)\b)", "be expressed", "most of it can be said in DOT"),
    Refused(r"[Ww]ish(?:es|ed)?", "Retry-After, request", "the server's wish"),
    Refused(r"[Pp]ark(?:s|ed|ing)?", "sleeping, or waiting for what", "the run is parked"),
    Refused(r"[Dd]ead(?!-letter| rows?\b)", "given up, lost, gone", "the job is dead"),
    Refused(r"[Ll]ook closer", "zoom in", "Look closer"),
    Refused(r"same without this page", "CLI and API", "The same without this page"),
    Refused(r"hand(?:s|ed|ing)? out", "queue, lease, assign", "work is handed out again"),
    Refused(r"[Ww]oken?|[Ww]akes|[Ww]aking", "resume, notify", "until it is woken"),
    Refused(r"(?:stands?|stood)(?! in for)", "be, mean", "a key stands on the step"),
    Refused(r"[Bb]esides?", "next to, alongside, also", "a file beside the document"),
    Refused(r"[Aa]t work", "running, busy", "calls at work"),
    Refused(r"by itself", "automatically, on its own", "it retries by itself"),
    Refused(r"asked of", "requested from", "nothing is asked of it"),
    Refused(r"(?<!running )(?<!of )anew(?=[,;)]|\.(?!\w)|$)", "again", "it starts anew."),
    Refused(r"for ever", "forever", "it waits for ever"),
    Refused(r"[Oo]nce more", "again", "it is tried once more"),
    Refused(r"in the place of", "in place of, instead of", "in the place of another"),
    Refused(
        r"[Aa]fresh|[Ss]hall|[Uu]pon|[Tt]hereof|[Ww]hilst|[Oo]ught",
        "again, will, on",
        "as we shall see",
    ),
    Refused(r"(?:came|comes?) about", "was computed, happened", "how the delay came about"),
    Refused(r"(?:can|cannot|to) be had", "is (not) available", "its program cannot be had"),
    Refused(r"given repeatedly", "repeated", "may be given repeatedly"),
    Refused(r"those there are", "the runs, the steps", "`anew runs` lists those there are"),
    Refused(r"in good order", "cleanly", "it is stopped in good order"),
    Refused(
        r"so (?:many|long|often)(?! (?:as|that)\b)", "this many, at most N", "stop after so long"
    ),
    Refused(r"whom ever", "anyone", "by whom ever"),
    Refused(r"[Ll]ies", "is", "the file lies in a folder"),
    Refused(
        r"(?<![Tt]here )(?:is|are|was|were) no"
        r"(?= (?!longer\b|more\b|one\b|such\b|need\b|way\b|other\b)[\w…])",
        "is not a",
        "7x is no run id",
    ),
    Refused(r"branch(?:es)? of (?:a|the) fork", "branch of a split", "the branches of a fork meet"),
    Refused(r"(?<!\()workloads?(?![.:…])", "input", "a JSON object laid over the workload"),
)

ANY_REFUSED = _whole_words("|".join(refused.pattern for refused in REFUSED))

# Areas that are still to be read. May only shrink.
EXCUSED: tuple[str, ...] = ()

# Where a refused word is the right one: part of a path, the text that was found, and why.
ALLOWED: dict[tuple[str, str], str] = {
    ("src/anew/engine/settling.py", "began"): "logs hold this message, and replay compares it",
    ("src/anew/engine/router.py", "branch of the fork"): "logs hold it, and replay compares it",
    ("src/anew/languages/playbook/places.py", "workload"): "a list of keys",
    ("src/anew/languages/playbook/keys.py", "workload"): "a list of keys",
    ("src/anew/program/names.py", "workload"): "a list of names",
    ("src/anew/lab/script.py", "workload"): "the place in a script",
    ("src/anew/stores/postgres/batches.py", "go on"): "the function of the schema compares it",
    ("src/anew/surfaces/cli/", "anew"): "the command: completion, an address of a database",
    ("docs/benchmarks.md", "workload"): "what is measured",
    ("docs/reference/glossary.md", "workload"): "the key, which the glossary explains",
}


@dataclass(frozen=True, slots=True)
class Passage:
    """One text as people read it, white space and what is filled in apart."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{relative(self.path)}:{self.line}"


def python_passages(path: Path) -> Iterator[Passage]:
    """Strings with a space, without docstrings. What is filled in is left out."""
    nodes = list(ast.walk(ast.parse(source(path))))
    skipped: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
            text = "".join(
                part.value if isinstance(part, ast.Constant) else "…" for part in node.values
            )
            if not SQL.match(text):
                yield Passage(path, node.lineno, NOT_PROSE.sub("…", text))
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in skipped and not SQL.match(node.value):
            yield Passage(path, node.lineno, NOT_PROSE.sub("…", node.value))


SQL = re.compile(r"\s*(?:SELECT|FROM|INSERT|UPDATE|DELETE|WITH|CREATE|BEGIN|EXISTS|LOCK|run IN)\b")
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
NOT_PROSE = re.compile(r"<!--.*?-->|`[^`\n]*`|(?<=\])\([^)\n]*\)", re.DOTALL)


def prose_passages(path: Path) -> Iterator[Passage]:
    """Paragraphs and rows of tables of a page, without code and without where links lead to."""
    lines = NOT_PROSE.sub(_blank, FENCE.sub(_blank, source(path))).splitlines()
    start, block = 1, ""
    for number, line in enumerate([*lines, ""], 1):
        ends = not line.strip() or line.lstrip().startswith(("|", "#", "- "))
        if ends and block:
            yield Passage(path, start, block)
            block = ""
        start = start if block else number
        block = f"{block} {line.strip()}".strip()


def _blank(found: re.Match[str]) -> str:
    """As many lines, and a mark, so that words around code do not come together."""
    return "\n" * found.group().count("\n") or "…"


SCRIPT_COMMENT = re.compile(r"(?<![:\"'])//[^\n]*|/\*.*?\*/", re.DOTALL)
SCRIPT_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`', re.DOTALL)
SCRIPT_VALUE = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")
# What is between two tags, or between a tag and a value.
ELEMENT_TEXT = re.compile(r"[>}]([^<>{}]*)(?=[<{])")
SCRIPT_CODE = re.compile(
    r"^,\s+\w+:|[;=`]|\b(?:function|export|interface|async|return|const)\b|\): |[\w\]], \w+: "
)


def script_passages(path: Path) -> Iterator[Passage]:
    """Strings with a space, and the text of elements."""
    text = SCRIPT_COMMENT.sub(lambda found: "\n" * found.group().count("\n"), source(path))
    for found in SCRIPT_STRING.finditer(text):
        yield Passage(
            path, text.count("\n", 0, found.start()) + 1, SCRIPT_VALUE.sub("…", found.group())
        )
    for found in ELEMENT_TEXT.finditer(text):
        if not SCRIPT_CODE.search(found[1].strip()):
            yield Passage(path, text.count("\n", 0, found.start()) + 1, found[1].strip())


def comment_passages(path: Path) -> Iterator[Passage]:
    """Comments of an example, those of following lines as one."""
    start, block = 1, ""
    for number, line in enumerate([*source(path).splitlines(), ""], 1):
        comment = re.search(r"(?:^|\s)(?:#|//) (.*)", line)
        if not comment and block:
            yield Passage(path, start, NOT_PROSE.sub("…", block))
            block = ""
        if comment:
            start = start if block else number
            block = f"{block} {comment[1].strip()}".strip()


@cache
def passages() -> tuple[Passage, ...]:
    return tuple(passage for passage in _read() if " " in passage.text)


def _read() -> Iterator[Passage]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield from python_passages(path)
    for path in sorted(
        [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "examples/README.md"]
    ):
        yield from prose_passages(path) if path.name != "CHANGELOG.md" else newest_changes(path)
    for path in sorted((ROOT / "web/src").rglob("*.ts*")):
        yield from script_passages(path)
    for folder in ("examples", "docs/examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".yaml", ".dot", ".sh"}:
                yield from comment_passages(path)


def newest_changes(path: Path) -> Iterator[Passage]:
    """What was released is history, and stays as it was written."""
    released = next(iter(re.findall(r"(?m)^## (?!Unreleased).*$", source(path))), None)
    end = source(path).index(released) if released else len(source(path))
    last = source(path).count("\n", 0, end)
    return (passage for passage in prose_passages(path) if passage.line <= last)


def refused_in(text: str) -> Iterator[tuple[str, Refused]]:
    text = " ".join(text.split())
    if not ANY_REFUSED.search(text):
        return
    for refused in REFUSED:
        for found in refused.regex.finditer(text):
            yield found.group(), refused


def is_allowed(passage: Passage, word: str) -> bool:
    return any(
        relative(passage.path).startswith(place) and allowed == word for place, allowed in ALLOWED
    )


def is_excused(passage: Passage) -> bool:
    return relative(passage.path).startswith(EXCUSED)


def test_texts_for_people_have_no_refused_word() -> None:
    found = [
        f"{passage}: {word!r}, say: {refused.instead}"
        for passage in passages()
        if not is_excused(passage)
        for word, refused in refused_in(passage.text)
        if not is_allowed(passage, word)
    ]
    assert found == []


def test_every_excuse_is_still_needed() -> None:
    needed = {
        place
        for passage in passages()
        for place in EXCUSED
        if relative(passage.path).startswith(place) and list(refused_in(passage.text))
    }
    assert needed == set(EXCUSED)


def test_every_allowed_word_is_still_there() -> None:
    found = {
        (place, word)
        for passage in passages()
        for place, word in ALLOWED
        if relative(passage.path).startswith(place) and word in " ".join(passage.text.split())
    }
    assert sorted(set(ALLOWED) - found) == []


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.example)
def test_each_pattern_finds_its_example(refused: Refused) -> None:
    assert refused.regex.search(refused.example)


@pytest.mark.parametrize(
    "text",
    [
        "`anew resume` resumes the run",
        "there is no run 7",
        "it is no longer needed",
        "an agent.sh stands in for an agent",
        "a dead-lettered step-run",
        "in use by a running anew",
        "~/.config/anew/key",
        "as long as it runs, so long as it is paused",
    ],
)
def test_plain_texts_are_not_refused(text: str) -> None:
    assert list(refused_in(text)) == []


def test_every_kind_of_text_is_read() -> None:
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for passage in passages():
        texts[relative(passage.path)].add(" ".join(passage.text.split()))
    assert any("nothing to resume" in text for text in texts["src/anew/surfaces/cli/resume.py"])
    assert any(text.startswith("# Anew") for text in texts["README.md"])
    assert any("time there is" in text for text in texts["web/src/gantt/Tools.tsx"])
    assert any(texts["examples/flaky_api.yaml"])
