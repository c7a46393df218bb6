"""Read the pages of the documentation, and write the parts that follow the code.

A console block under `<!-- until: EVENT -->` is typed once the newest run's log has that event.
A page that names `postgresql://anew@db.example/anew` gets an empty PostgreSQL database there.

Decides nothing about what is missing: `test_docs.py` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anew.engine.events import Fact
from anew.engine.state import (
    FINAL,
    RUN_TRANSITIONS,
    STEP_RUN_TRANSITIONS,
    RunStatus,
    StepRunStatus,
)
from anew.lab.faults.audit import MEANINGS
from anew.lab.faults.campaign import NO_BUG
from anew.languages.dot.dot_rules import LINT_RULES, PARSE_RULES
from anew.languages.rules import RULES
from anew.program.findings import Severity
from anew.program.kind import Kind
from anew.program.kinds import HELPERS, KINDS
from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.problems import KINDS as PROBLEMS
from anew.surfaces.api.problems import TYPE_PREFIX
from tests.console import ROOT, SHOWN_POSTGRES, Terminal, alike, commands, is_pure, played
from tests.postgres_server import server

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROJECT_PAGES = [
    *PAGES,
    *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "SECURITY")),
]
EXAMPLES = sorted(
    path for ending in ("yaml", "dot") for path in (ROOT / "docs/examples").glob(f"*.{ending}")
)

BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)
GENERATED = re.compile(
    r"^<!-- generated: (?P<name>[^\n]+?) -->\n(?P<body>.*?)^<!-- end -->$", re.M | re.S
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?P<anchor>#[^)\s]+)?\)")
WORD = re.compile(r"`([^`]+)`")
SHOP = "ANEW_CREDENTIAL_SHOP"


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def of(page: Path) -> str:
    return relative(page)


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# --- reading pages -------------------------------------------------------------------------------


def anchor(heading: str) -> str:
    """What a link to a section ends with."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(page: Path, marks: str = "#+") -> list[str]:
    return re.findall(rf"^{marks} (.+)$", BLOCK.sub("", text(page)), re.M)


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in headings(page)}


class Block(NamedTuple):
    note: str
    language: str
    body: str


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(text(page))
    return [Block(block["note"] or "", block["language"], block["body"]) for block in found]


@cache
def section(page: Path, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    level = r"#{1,4}"
    found = re.search(rf"^({level}) {re.escape(heading)}\n", text(page), re.M)
    assert found, f"{relative(page)} has no section {heading!r}"
    following = re.compile(rf"^#{{1,{len(found[1])}}} ", re.M).search(text(page), found.end())
    return text(page)[found.end() : following.start() if following else None]


class Row(NamedTuple):
    """`names` are the words in backticks of the first cell."""

    names: tuple[str, ...]
    line: str


def rows(page: Path, heading: str) -> list[Row]:
    lines = [line for line in section(page, heading).splitlines() if line.startswith("| ")]
    firsts = [line.split(" | ")[0].replace("\\|", "|") for line in lines]
    return [
        Row(tuple(WORD.findall(first)), line) for first, line in zip(firsts, lines, strict=True)
    ]


def listed(page: Path, heading: str) -> set[str]:
    return {name for row in rows(page, heading) for name in row.names}


def row_of(page: Path, heading: str, name: str) -> str:
    found = [row.line for row in rows(page, heading) if name in row.names]
    assert found, f"{relative(page)}, {heading!r}: no row for {name!r}"
    return found[0]


def missing(names: Iterable[str], page: Path, heading: str) -> list[str]:
    return sorted(set(names) - listed(page, heading))


# --- running what the pages show -----------------------------------------------------------------


class Console(NamedTuple):
    """A console block of a page, and the event that is waited for before it is typed."""

    until: str
    body: str


def consoles(told: str) -> list[Console]:
    found = [block for block in BLOCK.finditer(told) if block["language"] == "console"]
    return [
        Console((block["note"] or "").partition("until: ")[2], block["body"]) for block in found
    ]


def is_typed(page: Path) -> bool:
    """Whether commands of this page are typed into a real shell."""
    return not all(map(is_pure, all_commands(consoles(text(page)))))


def all_commands(found: Iterable[Console]) -> Iterator[str]:
    return (command for block in found for command in commands(block.body))


def true_consoles(told: str) -> list[str]:
    """What the console blocks of a page must say, one by one."""
    found = consoles(told)
    if all(map(is_pure, all_commands(found))):
        return [played(block.body) for block in found]
    with (
        TemporaryDirectory() as folder,
        shop(told) as variables,
        shared(told) as postgres,
        Terminal(Path(folder).resolve(), variables, postgres=postgres) as terminal,
    ):
        happened = [terminal.played(block.body, until=block.until) for block in found]
    shown = [block.body for block in found]
    # Kept whole or replaced whole, so that a page tells of the same runs from top to bottom.
    return shown if all(map(alike, shown, happened)) else happened


@contextmanager
def shop(told: str) -> Iterator[dict[str, str]]:
    """A PostgreSQL database, for a page that says it has one in this variable."""
    if SHOP not in told:
        yield {}
        return
    with fresh_database() as data:
        yield {SHOP: json.dumps({"type": "postgres", "data": data})}


@contextmanager
def shared(told: str) -> Iterator[str | None]:
    """The URL of a PostgreSQL database, for a page that keeps its runs in one."""
    if SHOWN_POSTGRES not in told:
        yield None
        return
    with fresh_database() as data:
        name = data.pop("dbname")
        yield f"postgresql:///{name}?{urlencode(data)}"


@contextmanager
def fresh_database() -> Iterator[dict[str, str]]:
    """An empty PostgreSQL database, as the parts of its address."""
    name = f"anew_docs_{uuid4().hex}"
    server().execute(f"CREATE DATABASE {name}")
    found = conninfo_to_dict(make_conninfo(server().dsn, dbname=name))
    try:
        yield {key: str(value) for key, value in found.items() if value}
    finally:
        server().execute(f"DROP DATABASE {name} WITH (FORCE)")


def updated(page: Path, *, is_played: bool = True) -> str:
    """The page as the code would have it; what its consoles show is kept unless they are played."""
    told = page.read_text(encoding="utf-8")
    bodies = iter(true_consoles(told) if is_played else [one.body for one in consoles(told)])

    def block(found: re.Match[str]) -> str:
        kind, _, name = (found["note"] or "").partition(": ")
        body = found["body"]
        if kind == "file":
            body = (ROOT / name).read_text(encoding="utf-8")
        elif found["language"] == "console":
            body = next(bodies)
        return f"{found.string[found.start() : found.start('body')]}{body}```"

    def part(found: re.Match[str]) -> str:
        return f"<!-- generated: {found['name']} -->\n{GENERATORS[found['name']]()}<!-- end -->"

    return GENERATED.sub(part, BLOCK.sub(block, told))


# --- parts written from the code -----------------------------------------------------------------


def table(header: str, lines: Iterable[str]) -> str:
    ruler = "|".join("---" for _ in header.split(" | "))
    return "".join(f"{line}\n" for line in (f"| {header} |", f"|{ruler}|", *lines))


def rule_table(wanted: Callable[[str, Severity], bool]) -> str:
    chosen = [(rule, about) for rule, about in RULES.items() if wanted(rule, about.severity)]
    return table(
        "rule | severity | meaning",
        (f"| `{rule}` | {about.severity} | {about.summary} |" for rule, about in sorted(chosen)),
    )


def is_own_group(rule: str) -> bool:
    return rule.startswith(("yaml.", "strict.", "migrate.")) or is_of_graphs(rule)


def is_of_graphs(rule: str) -> bool:
    return rule in PARSE_RULES or rule in LINT_RULES


Moves = dict[tuple[StrEnum, type[Fact]], StrEnum]


def diagram(moves: Moves, first: StrEnum, final: Iterable[StrEnum]) -> str:
    """A state diagram: one arrow per pair of states, with the events that make the move."""
    arrows: dict[tuple[StrEnum, StrEnum], list[str]] = {}
    for (before, event), after in moves.items():
        arrows.setdefault((before, after), []).append(event.name)
    lines = ["```mermaid", "stateDiagram-v2"]
    if first is not RunStatus.NEW:  # drawn as the dot itself
        lines.append(f"    [*] --> {first}")
    for (before, after), events in arrows.items():
        start = "[*]" if before is RunStatus.NEW else before
        several = f"{len(events)} events, see the table"
        lines.append(
            f"    {start} --> {after} : {' / '.join(events) if len(events) < 4 else several}"
        )
    lines += [f"    {state} --> [*]" for state in sorted(final)]
    return "".join(f"{line}\n" for line in (*lines, "```"))


def moves_table(moves: Moves) -> str:
    grouped: dict[tuple[StrEnum, StrEnum], list[str]] = {}
    for (before, event), after in moves.items():
        grouped.setdefault((before, after), []).append(f"`{event.name}`")
    return table(
        "from | to | on",
        (f"| `{a}` | `{b}` | {', '.join(events)} |" for (a, b), events in grouped.items()),
    )


def run_states() -> str:
    return f"{diagram(RUN_TRANSITIONS, RunStatus.NEW, FINAL)}\n{moves_table(RUN_TRANSITIONS)}"


def step_run_states() -> str:
    final = [StepRunStatus.ENDED]
    drawn = diagram(STEP_RUN_TRANSITIONS, StepRunStatus.SCHEDULED, final)
    return f"{drawn}\n{moves_table(STEP_RUN_TRANSITIONS)}"


def words(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def kind_row(kind: Kind) -> str:
    required = " and ".join(" or ".join(f"`{name}`" for name in group) for group in kind.required)
    optional = kind.inputs.keys() - {name for group in kind.required for name in group}
    others = ", ".join(f"`{other}` for `{name}`" for other, name in sorted(kind.aliases.items()))
    more = " and any other" if kind.is_open else ""
    timeout = f"{kind.timeout_seconds:g} s" if kind.timeout_seconds else ""
    return f"| `{kind.name}` | {required} | {words(optional)}{more} | {others} | {timeout} |"


def kind_table() -> str:
    header = "kind | required | optional inputs | other names | attempt timeout"
    return re.sub(r" +", " ", table(header, map(kind_row, KINDS.values())))


def tool_table() -> str:
    """The kinds that have a page of their own."""
    rows = (
        f"| [`{kind.name}`](tools/{kind.name}.md) | {kind.title.removesuffix('.')}{extra_note(kind)} |"
        for kind in KINDS.values()
        if (ROOT / "docs/reference/tools" / f"{kind.name}.md").exists()
    )
    return table("kind | what it does", rows)


def invariant_table() -> str:
    """What the auditor of faults checks, and that the engine refuses nothing of its own."""
    meanings = {**MEANINGS, NO_BUG: "the engine does nothing that its own tables forbid"}
    return table(
        "invariant | meaning", (f"| `{name}` | {text} |" for name, text in meanings.items())
    )


def extra_note(kind: Kind) -> str:
    return f"; needs the extra `anew[{kind.extra.name}]`" if kind.extra is not None else ""


def helper_table() -> str:
    rows = (f"| `{name}` | {helper.meaning} |" for name, helper in HELPERS.items())
    return table("helper | fields", rows)


def shown_path(path: str) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def route_table(*tags: str) -> str:
    """Every route with one of these tags, in the order of the code."""
    rows = [row for row in ENDPOINTS if row.tag in tags]
    return table(
        "method | path | what it does | answers",
        (
            f"| {row.method} | `{shown_path(row.path)}` | {row.summary} | "
            f"{', '.join(map(str, row.answers))}{'; no token' if row.is_open else ''} |"
            for row in rows
        ),
    )


def problem_table() -> str:
    return table(
        "type | status | title",
        (
            f"| `{TYPE_PREFIX}{name}` | {kind.status} | {kind.title} |"
            for name, kind in PROBLEMS.items()
        ),
    )


GENERATORS: dict[str, Callable[[], str]] = {
    "routes of runs": lambda: route_table("runs", "events", "actions"),
    "routes of signals": lambda: route_table("signals"),
    "routes of programs": lambda: route_table("programs", "credentials"),
    "routes of the server": lambda: route_table("server"),
    "routes of NoETL": lambda: route_table("noetl"),
    "routes of Attractor": lambda: route_table("attractor"),
    "problems": problem_table,
    "run states": run_states,
    "step-run states": step_run_states,
    "tools": tool_table,
    "invariants": invariant_table,
    "kinds": kind_table,
    "helpers": helper_table,
    "rules of YAML": lambda: rule_table(lambda rule, _: rule.startswith("yaml.")),
    "rules that are errors": lambda: rule_table(
        lambda rule, severity: severity is Severity.ERROR and not is_own_group(rule)
    ),
    "rules that are warnings": lambda: rule_table(
        lambda rule, severity: severity is not Severity.ERROR and not is_own_group(rule)
    ),
    "rules of graphs that are errors": lambda: rule_table(
        lambda rule, severity: severity is Severity.ERROR and is_of_graphs(rule)
    ),
    "rules of graphs that are warnings": lambda: rule_table(
        lambda rule, severity: severity is not Severity.ERROR and is_of_graphs(rule)
    ),
    "rules of strict mode": lambda: rule_table(lambda rule, _: rule.startswith("strict.")),
    "rules of migrate": lambda: rule_table(lambda rule, _: rule.startswith("migrate.")),
}
