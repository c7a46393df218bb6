"""Which word calls which module, in the order of `anew --help`, and the text of that help.

Every call of `anew` pays for what is imported here, so this file imports nothing and knows nothing
of programs or runs.
"""

from __future__ import annotations


class Command:
    """A row of the table below. As a named tuple it would double the time of `anew --help`.

    `works`: it may execute tasks, which share its user, so it keeps its secrets to itself.
    `is_first`: `anew --help` shows it, before people ask for all.
    """

    __slots__ = ("is_first", "module", "summary", "word", "works")

    def __init__(
        self, word: str, module: str, summary: str, *, works: bool = False, is_first: bool = False
    ) -> None:
        self.word = word
        self.module = module
        self.summary = summary
        self.works = works
        self.is_first = is_first


class Group:
    """Commands for one thing people want; `title` says it."""

    __slots__ = ("commands", "title")

    def __init__(self, title: str, *commands: Command) -> None:
        self.title = title
        self.commands = commands


# What people want, in the order in which they want it, and the commands for it.
GROUPS = (
    Group(
        "Start",
        Command(
            "demo", "anew.surfaces.cli.demo", "see a run fail, be killed, and resume", is_first=True
        ),
        Command("init", "anew.surfaces.cli.init", "write a project from a template", is_first=True),
    ),
    Group(
        "Write a document",
        Command(
            "check", "anew.surfaces.cli.check", "find every problem in a document", is_first=True
        ),
        Command("simulate", "anew.surfaces.cli.simulate", "run a document in virtual time"),
        Command("graph", "anew.surfaces.cli.graph", "draw a document or a run"),
        Command("schema", "anew.surfaces.cli.schema", "print the JSON Schema of documents"),
        Command("migrate", "anew.surfaces.cli.migrate", "rewrite a document in the canonical form"),
    ),
    Group(
        "Run it, durably",
        Command(
            "run", "anew.surfaces.cli.run", "run a document, durably", works=True, is_first=True
        ),
        Command(
            "resume",
            "anew.surfaces.cli.resume",
            "resume unfinished or paused runs",
            works=True,
            is_first=True,
        ),
        Command(
            "answer",
            "anew.surfaces.cli.answer",
            "answer the question a run waits for",
            works=True,
            is_first=True,
        ),
        Command(
            "signal", "anew.surfaces.cli.signal", "send a run the signal it waits for", works=True
        ),
        Command(
            "register", "anew.surfaces.cli.register", "keep a document under its name", works=True
        ),
        Command("start", "anew.surfaces.cli.start", "run a registered document", works=True),
        Command("programs", "anew.surfaces.cli.programs", "list registered documents"),
    ),
    Group(
        "Look at runs",
        Command("runs", "anew.surfaces.cli.runs", "list runs", is_first=True),
        Command(
            "show",
            "anew.surfaces.cli.show",
            "show what a run does or waits for, and why",
            is_first=True,
        ),
        Command(
            "watch", "anew.surfaces.cli.watch", "follow a run from a second terminal", is_first=True
        ),
        Command("timeline", "anew.surfaces.cli.timeline", "show what happened when"),
        Command("events", "anew.surfaces.cli.events", "print the log of a run"),
        Command("attempts", "anew.surfaces.cli.attempts", "list attempts, and what was decided"),
        Command("questions", "anew.surfaces.cli.questions", "list the open questions of all runs"),
        Command("explain", "anew.surfaces.cli.explain", "explain why a run did what it did"),
        Command("failures", "anew.surfaces.cli.failures", "group failed runs by what went wrong"),
        Command("export", "anew.surfaces.cli.export", "write a run as a directory of files"),
    ),
    Group(
        "Fix what went wrong",
        Command(
            "retry",
            "anew.surfaces.cli.retry",
            "run again from the step that failed",
            works=True,
            is_first=True,
        ),
        Command("cancel", "anew.surfaces.cli.cancel", "end a run and its children", works=True),
        Command(
            "skip",
            "anew.surfaces.cli.skip",
            "end a wait of a run now: retry, jump, sleep",
            works=True,
        ),
        Command(
            "guard",
            "anew.surfaces.cli.guard",
            "show and change what holds calls to a dependency",
            works=True,
        ),
        Command("pause", "anew.surfaces.cli.pause", "let a run start no further task", works=True),
        Command(
            "fork", "anew.surfaces.cli.fork", "copy a run up to an event, and continue", works=True
        ),
        Command(
            "bulk",
            "anew.surfaces.cli.bulk",
            "cancel, pause, resume, retry or skip many runs",
            works=True,
        ),
        Command("prune", "anew.surfaces.cli.prune", "remove runs that ended long ago", works=True),
    ),
    Group(
        "Serve and work",
        Command(
            "serve",
            "anew.surfaces.cli.serve",
            "serve the HTTP API, and work on runs",
            works=True,
            is_first=True,
        ),
        Command(
            "worker",
            "anew.surfaces.cli.worker",
            "work on the runs of a server or database",
            works=True,
        ),
        Command("workers", "anew.surfaces.cli.workers", "list worker processes and waiting jobs"),
        Command(
            "credential",
            "anew.surfaces.cli.credential",
            "add, list and remove credentials",
            works=True,
        ),
        Command("doctor", "anew.surfaces.cli.doctor", "check the installation and the database"),
        Command(
            "completion", "anew.surfaces.cli.completion", "print a script for shell completion"
        ),
    ),
    Group(
        "Prove what it does",
        Command(
            "test", "anew.surfaces.cli.test", "play scenarios; measure rule coverage", is_first=True
        ),
        Command("bounds", "anew.surfaces.cli.bounds", "compute the worst case of a document"),
        Command("record", "anew.surfaces.cli.record", "make a scenario of a run"),
        Command(
            "replay", "anew.surfaces.cli.replay", "repeat the decisions of a run; compare logs"
        ),
        Command("whatif", "anew.surfaces.cli.whatif", "try another policy on past runs"),
        Command("lab-server", "anew.surfaces.cli.lab_server", "serve an API that fails on purpose"),
    ),
)

COMMANDS = tuple(row for group in GROUPS for row in group.commands)

_HELP = """\
usage: anew COMMAND [ARGUMENTS]

Anew runs workflows that survive failure.

{groups}

options:
  -h, --help     show this help; `anew COMMAND --help` shows help for a command
  -V, --version  show the version

example:
  anew run flow.yaml

exit status: 0 done, 1 the run failed, 2 bad document or usage, 3 waiting for a person or a signal,
4 store or server unreachable, 130 cancelled"""


def help_text(*, is_all: bool = False) -> str:
    """What `anew --help` prints: a dozen commands, or all of them."""
    shown = [_group_text(group, is_all=is_all) for group in GROUPS]
    if not is_all:
        shown.append(f"`anew help --all` shows all {len(COMMANDS)} commands.")
    return _HELP.format(groups="\n\n".join(shown))


def _group_text(group: Group, *, is_all: bool) -> str:
    rows = [row for row in group.commands if is_all or row.is_first]
    return "\n".join([f"{group.title}:", *(f"  {row.word:<10} {row.summary}" for row in rows)])
