"""The `anew` command: calls the module of a word, and says what each kind of error looks like.

Every call of `anew` pays for what is imported here, so this file imports almost nothing and knows
nothing of programs or runs. A command's module offers `run(words) -> int`, the exit status.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from anew.surfaces.cli import status
from anew.surfaces.cli.command_table import COMMANDS, help_text

# A command builds a program that lives to its end and hardly a cycle; looking for garbage as often
# as Python does by default would cost a tenth of `anew check`.
GARBAGE_THRESHOLD = 50_000

# Modules of tools that every command knows, with commas; `--tools` adds others to one command.
TOOLS_VARIABLE = "ANEW_TOOLS"

_NOT_WINDOWS = (
    "anew: Anew does not run on Windows: it needs the locks, sockets and processes of Linux or "
    "macOS. Inside WSL it runs as on Linux."
)
HELP_WORDS = ("-h", "--help", "help")
ALL_WORDS = ("--all", "all")
VERSION_WORDS = ("-V", "--version")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status. Nothing but that leaves this function.

    Without `argv` the process is there for this command alone.
    """
    if sys.platform == "win32":
        print(_NOT_WINDOWS, file=sys.stderr)
        return status.BAD
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
    if word in HELP_WORDS and not (rest and rest[0] not in ALL_WORDS):
        print(help_text(is_all=bool(rest)))
        return status.DONE
    if word in HELP_WORDS:  # `anew help run`
        word, rest = rest[0], ["--help"]
    if word in VERSION_WORDS:
        return _print_version()
    command = next((row for row in COMMANDS if row.word == word), None)
    if command is None:
        return _refuse(word)
    if command.works and is_alone:
        from anew.environment import protect_process

        protect_process()
    try:
        if os.environ.get(TOOLS_VARIABLE):
            _load_tools(os.environ[TOOLS_VARIABLE])
        module = import_module(command.module)
        if is_alone:
            # What was imported lives to the end: looking for garbage there, as Python does once
            # more when it ends, would cost a tenth of `anew run`.
            gc.freeze()
        exit_status: int = module.run(rest)
    except SystemExit as stop:  # argparse has printed help or its complaint
        return stop.code if isinstance(stop.code, int) else status.BAD
    return exit_status


def _load_tools(named: str) -> None:
    from anew.tools.modules import load_tools

    for one in named.split(","):
        if one.strip():
            load_tools(one.strip())


def _print_version() -> int:
    from anew import __version__

    print(f"anew {__version__}")
    return status.DONE


def _refuse(word: str) -> int:
    if not word:
        print(help_text(), file=sys.stderr)
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
