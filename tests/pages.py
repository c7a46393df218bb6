"""Read the pages of the documentation, run what they show, and write the parts that follow the code.

Decides nothing about what is missing: `test_docs.py` does.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anew.engine.events import Fact
from anew.engine.state import (
    FINAL,
    RUN_TRANSITIONS,
    STEP_RUN_TRANSITIONS,
    RunStatus,
    StepRunStatus,
)
from anew.languages.rules import RULES
from anew.program.findings import Severity
from anew.program.kinds import KINDS, Kind
from anew.surfaces.cli.main import main

ROOT = Path(__file__).resolve().parent.parent

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROJECT_PAGES = [*PAGES, *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CONTRIBUTING"))]
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.yaml"))

BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)
GENERATED = re.compile(
    r"^<!-- generated: (?P<name>[^\n]+?) -->\n(?P<body>.*?)^<!-- end -->$", re.M | re.S
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?P<anchor>#[^)\s]+)?\)")
WORD = re.compile(r"`([^`]+)`")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def of(page: Path) -> str:
    return relative(page)


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# --- reading pages -------------------------------------------------------------------------------


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
    return [Row(tuple(WORD.findall(line.split(" | ")[0])), line) for line in lines]


def listed(page: Path, heading: str) -> set[str]:
    return {name for row in rows(page, heading) for name in row.names}


def row_of(page: Path, heading: str, name: str) -> str:
    found = [row.line for row in rows(page, heading) if name in row.names]
    assert found, f"{relative(page)}, {heading!r}: no row for {name!r}"
    return found[0]


def missing(names: Iterable[str], page: Path, heading: str) -> list[str]:
    return sorted(set(names) - listed(page, heading))


# --- running what the pages show -----------------------------------------------------------------


def run(words: list[str]) -> tuple[str, int]:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        exit_status = main(words)
    return printed.getvalue(), exit_status


def demo_words() -> list[str]:
    """What `make demo` calls."""
    recipe = re.search(r"^demo:.*\n\t@\$\(BIN\)/anew (.*)$", text(ROOT / "Makefile"), re.M)
    assert recipe, "the Makefile has no demo that calls anew"
    return shlex.split(recipe[1])


def played(body: str) -> str:
    """A console block with the output its commands give now; others than ours are not run."""
    lines: list[str] = []
    exit_status = 0
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue
        lines.append(line)
        match shlex.split(line[2:], comments=True):
            case ["anew", *words]:
                printed, exit_status = run(words)
            case ["make", "demo"]:
                printed, exit_status = run(demo_words())
            case ["echo", "$?"]:
                printed = f"{exit_status}\n"
            case _:
                return body
        lines += printed.splitlines()
    return "".join(f"{line}\n" for line in lines)


def true_body(block: Block) -> str:
    """What the block must say."""
    kind, _, name = block.note.partition(": ")
    if kind == "file":
        return (ROOT / name).read_text(encoding="utf-8")
    return played(block.body) if block.language == "console" else block.body


def updated(page: Path) -> str:
    """The page as the code would have it."""

    def block(found: re.Match[str]) -> str:
        body = true_body(Block(found["note"] or "", found["language"], found["body"]))
        before = found.string[found.start() : found.start("body")]
        return f"{before}{body}```"

    def part(found: re.Match[str]) -> str:
        return f"<!-- generated: {found['name']} -->\n{GENERATORS[found['name']]()}<!-- end -->"

    return GENERATED.sub(part, BLOCK.sub(block, page.read_text(encoding="utf-8")))


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
    return rule.startswith(("yaml.", "strict.", "migrate."))


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
    optional = kind.inputs - {name for group in kind.required for name in group}
    others = ", ".join(f"`{other}` for `{name}`" for other, name in sorted(kind.aliases.items()))
    more = " and any other" if kind.is_open else ""
    timeout = f"{kind.timeout_seconds:g} s" if kind.timeout_seconds else ""
    return f"| `{kind.name}` | {required} | {words(optional)}{more} | {others} | {timeout} |"


def kind_table() -> str:
    header = "kind | required | optional inputs | other names | attempt timeout"
    return re.sub(r" +", " ", table(header, map(kind_row, KINDS.values())))


GENERATORS: dict[str, Callable[[], str]] = {
    "run states": run_states,
    "step-run states": step_run_states,
    "kinds": kind_table,
    "rules of YAML": lambda: rule_table(lambda rule, _: rule.startswith("yaml.")),
    "rules that are errors": lambda: rule_table(
        lambda rule, severity: severity is Severity.ERROR and not is_own_group(rule)
    ),
    "rules that are warnings": lambda: rule_table(
        lambda rule, severity: severity is not Severity.ERROR and not is_own_group(rule)
    ),
    "rules of strict mode": lambda: rule_table(lambda rule, _: rule.startswith("strict.")),
    "rules of migrate": lambda: rule_table(lambda rule, _: rule.startswith("migrate.")),
}
