"""The `anew` command: which word calls which module, and what each kind of error looks like.

Every call of `anew` pays for what is imported here, so this file imports almost nothing and knows
nothing of programs or runs. A command's module offers `run(words) -> int`, the exit status.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from anew.surfaces.cli import status


class Command:
    """A row of the table below. As a named tuple it would double the time of `anew --help`.

    `works`: it may execute tasks, which share its user, so it keeps its secrets to itself.
    """

    __slots__ = ("module", "summary", "word", "works")

    def __init__(self, word: str, module: str, summary: str, *, works: bool = False) -> None:
        self.word = word
        self.module = module
        self.summary = summary
        self.works = works


COMMANDS = (
    Command("run", "anew.surfaces.cli.run", "run a document, durably", works=True),
    Command("resume", "anew.surfaces.cli.resume", "resume unfinished or paused runs", works=True),
    Command("runs", "anew.surfaces.cli.runs", "list runs"),
    Command("show", "anew.surfaces.cli.show", "show what a run does or waits for, and why"),
    Command("events", "anew.surfaces.cli.events", "print the log of a run"),
    Command("timeline", "anew.surfaces.cli.timeline", "show what happened when"),
    Command("attempts", "anew.surfaces.cli.attempts", "list attempts, and what was decided"),
    Command("watch", "anew.surfaces.cli.watch", "follow a run from a second terminal"),
    Command(
        "answer", "anew.surfaces.cli.answer", "answer the question a run waits for", works=True
    ),
    Command("questions", "anew.surfaces.cli.questions", "list the open questions of all runs"),
    Command("signal", "anew.surfaces.cli.signal", "send a run the signal it waits for", works=True),
    Command("cancel", "anew.surfaces.cli.cancel", "end a run and its children", works=True),
    Command("pause", "anew.surfaces.cli.pause", "let a run start no further task", works=True),
    Command(
        "skip", "anew.surfaces.cli.skip", "end a wait of a run now: retry, jump, sleep", works=True
    ),
    Command("retry", "anew.surfaces.cli.retry", "run again from the step that failed", works=True),
    Command(
        "fork", "anew.surfaces.cli.fork", "copy a run up to an event, and continue", works=True
    ),
    Command("failures", "anew.surfaces.cli.failures", "group failed runs by what went wrong"),
    Command(
        "bulk",
        "anew.surfaces.cli.bulk",
        "cancel, pause, resume, retry or skip many runs",
        works=True,
    ),
    Command("explain", "anew.surfaces.cli.explain", "explain why a run did what it did"),
    Command("register", "anew.surfaces.cli.register", "keep a document under its name", works=True),
    Command("programs", "anew.surfaces.cli.programs", "list registered documents"),
    Command("start", "anew.surfaces.cli.start", "run a registered document", works=True),
    Command("serve", "anew.surfaces.cli.serve", "serve the HTTP API, and work on runs", works=True),
    Command("export", "anew.surfaces.cli.export", "write a run as a directory of files"),
    Command("prune", "anew.surfaces.cli.prune", "remove runs that ended long ago", works=True),
    Command("graph", "anew.surfaces.cli.graph", "draw a document or a run"),
    Command(
        "credential", "anew.surfaces.cli.credential", "add, list and remove credentials", works=True
    ),
    Command(
        "worker", "anew.surfaces.cli.worker", "work on the runs of a server or database", works=True
    ),
    Command("workers", "anew.surfaces.cli.workers", "list worker processes and waiting jobs"),
    Command("check", "anew.surfaces.cli.check", "find every problem in a document"),
    Command("simulate", "anew.surfaces.cli.simulate", "run a document in virtual time"),
    Command("test", "anew.surfaces.cli.test", "play scenarios; measure rule coverage"),
    Command("bounds", "anew.surfaces.cli.bounds", "compute the worst case of a document"),
    Command("record", "anew.surfaces.cli.record", "make a scenario of a run"),
    Command("replay", "anew.surfaces.cli.replay", "repeat the decisions of a run; compare logs"),
    Command("whatif", "anew.surfaces.cli.whatif", "try another policy on past runs"),
    Command("schema", "anew.surfaces.cli.schema", "print the JSON Schema of documents"),
    Command("migrate", "anew.surfaces.cli.migrate", "rewrite a document in the canonical form"),
    Command("lab-server", "anew.surfaces.cli.lab_server", "serve an API that fails on purpose"),
    Command("doctor", "anew.surfaces.cli.doctor", "check the installation and the database"),
    Command("completion", "anew.surfaces.cli.completion", "print a script for shell completion"),
)

# A command builds a program that lives to its end and hardly a cycle; looking for garbage as often
# as Python does by default would cost a tenth of `anew check`.
GARBAGE_THRESHOLD = 50_000

HELP_WORDS = ("-h", "--help", "help")
VERSION_WORDS = ("-V", "--version")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status. Nothing but that leaves this function.

    Without `argv` the process is there for this command alone.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    gc.set_threshold(GARBAGE_THRESHOLD)
    _prepare_streams()
    try:
        exit_status = _dispatch(words, is_alone=argv is None)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return status.PIPE_CLOSED
    except KeyboardInterrupt:
        print("anew: cancelled", file=sys.stderr)
        return status.CANCELLED
    except Exception as error:
        if os.environ.get("ANEW_DEBUG"):
            raise
        return _explain(error, words)
    return exit_status


def _dispatch(words: list[str], *, is_alone: bool) -> int:
    word, rest = (words[0], words[1:]) if words else ("", [])
    if word in HELP_WORDS:
        print(_help_text())
        return status.DONE
    if word in VERSION_WORDS:
        return _print_version()
    command = next((row for row in COMMANDS if row.word == word), None)
    if command is None:
        return _refuse(word)
    if command.works and is_alone:
        from anew.environment import protect_process

        protect_process()
    try:
        module = import_module(command.module)
        if is_alone:
            # What was imported lives to the end: looking for garbage there, as Python does once
            # more when it ends, would cost a tenth of `anew run`.
            gc.freeze()
        exit_status: int = module.run(rest)
    except SystemExit as stop:  # argparse has printed help or its complaint
        return stop.code if isinstance(stop.code, int) else status.BAD
    return exit_status


def _help_text() -> str:
    rows = "\n".join(f"  {row.word:<10} {row.summary}" for row in COMMANDS)
    return f"""\
usage: anew COMMAND [ARGUMENTS]

Anew runs workflows that survive failure.

commands:
{rows}

options:
  -h, --help     show this help; `anew COMMAND --help` shows help for a command
  -V, --version  show the version

example:
  anew run flow.yaml

exit status: 0 done, 1 the run failed, 2 bad document or usage, 3 waiting for a person or a signal,
4 store or server unreachable, 130 cancelled"""


def _print_version() -> int:
    from anew import __version__

    print(f"anew {__version__}")
    return status.DONE


def _refuse(word: str) -> int:
    if not word:
        print(_help_text(), file=sys.stderr)
        return status.BAD
    from difflib import get_close_matches

    matches = get_close_matches(word, [row.word for row in COMMANDS], n=1)
    remedy = f"Did you mean {matches[0]!r}?" if matches else "See `anew --help`."
    what = "option" if word.startswith("-") else "command"
    print(f"anew: there is no {what} {word!r}. {remedy}", file=sys.stderr)
    return status.BAD


def _explain(error: Exception, words: list[str]) -> int:
    from anew.errors import AnewError, EngineBug

    if isinstance(error, AnewError) and not isinstance(error, EngineBug):
        from anew.store import StoreError
        from anew.surfaces.cli.excerpts import visible
        from anew.surfaces.cli.hints import hinted
        from anew.surfaces.cli.location import place_said

        told = hinted(str(error), place_said(words))
        print(f"anew: {visible(told)}", file=sys.stderr)
        return status.UNREACHABLE if isinstance(error, StoreError) else status.BAD
    if isinstance(error, OSError) and error.strerror:  # a full disk, say: nobody's bug
        where = f" ({error.filename})" if error.filename else ""
        print(f"anew: {error.strerror.lower()}{where}", file=sys.stderr)
        return status.FAILED
    told = " ".join(f"{type(error).__name__}: {error}".split())
    print(
        f"anew: this is a bug in Anew, please report it ({told}). "
        "ANEW_DEBUG=1 shows where it happened.",
        file=sys.stderr,
    )
    return status.FAILED


def _prepare_streams() -> None:
    """A closed output swallows; a terminal that lacks a character shows its number instead."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    """Keep the interpreter from complaining about the closed pipe when it flushes at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # standard output is not a file: nothing will be flushed
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
