"""Escape sequences in whatever a task, a document or a person says: none reaches a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main
from anew.views.visible import visible

SEQUENCES = {
    "clear the screen": "\x1b[2J",
    "set the title": "\x1b]0;EVIL\x07",
    "a link": "\x1b]8;;http://evil.example\x1b\\EVIL\x1b]8;;\x1b\\",
    "write the clipboard": "\x1b]52;c;RVZJTA==\x07",
    "ask for an answer": "\x1b[6n",
    "report the title": "\x1b[21t",
    "a colour of eight bits": "\x9b31mEVIL",
    "a string of a device": "\x1bP$q\x1b\\",
    "back to the left": "said\rEVIL",
    "rub out": "good\b\b\b\bEVIL",
    "a bell": "\x07",
    "text that runs backwards": "\u202eLIVE",
    "an isolated direction": "\u2066EVIL\u2069",
    "a line of Unicode": "a\u2028EVIL",
    "no width": "a\u200bb\u200d",
    "a form feed": "\x0cEVIL",
    "delete": "a\x7fEVIL",
    "another character set": "\x0eEVIL\x0f",
    "a tag": "\U000e0041",
    "for private use": "\ue000EVIL",
}
EVERYTHING = " ".join(SEQUENCES.values())
# What our own output has besides printable characters; colours are off.
PLAIN = {"\n"}


def is_harmless(text: str) -> bool:
    return all(character.isprintable() or character in PLAIN for character in text)


@pytest.mark.parametrize("attack", SEQUENCES)
def test_what_is_shown_is_printable(attack: str) -> None:
    assert visible(SEQUENCES[attack]).isprintable()


def document(name: str) -> str:
    """Says everything wherever a document can: results, errors, output, logs, questions."""
    say = EVERYTHING
    shell = "printf '%s' \"$SAY\"; printf '%s' \"$SAY\" >&2"
    steps = [
        {"step": "note", "tool": {"kind": "noop", "result": {say: say}}, "next": [{"step": "out"}]},
        {
            "step": "out",
            "tool": {"kind": "shell", "command": shell, "env": {"SAY": say}},
            "next": [{"step": "fall"}],
        },
        {
            "step": "fall",
            "desc": say,
            "tool": {"kind": "shell", "command": f"{shell}; exit 3", "env": {"SAY": say}},
        },
    ]
    return as_yaml(
        {"metadata": {"name": name, "desc": say}, "workload": {say: say}, "workflow": steps}
    )


def asking() -> str:
    tool = {"kind": "human", "question": EVERYTHING, "choices": ["[Y] Yes", "[N] " + EVERYTHING]}
    return as_yaml({"metadata": {"name": "asking"}, "workflow": [{"step": "ask", "tool": tool}]})


def as_yaml(value: object) -> str:
    """JSON is YAML, but for characters beyond the first 65,536: a pair of escapes is two there."""
    return json.dumps(value).replace("\\udb40\\udc41", "\\U000e0041")


def told(*words: str) -> str:
    """All that a command prints."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        main(list(words))
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A failed run of the document, and one that asks."""
    folder = tmp_path_factory.mktemp("terminal")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("ANEW_DB", str(folder / "anew.db"))
        patch.setenv("ANEW_SYNCHRONOUS", "NORMAL")
        patch.delenv("ANEW_SERVER", raising=False)
        Path("loud.yaml").write_text(document("loud"))
        Path("ask.yaml").write_text(asking())
        Path("bad.yaml").write_text(document("loud").replace('"noop"', as_yaml(EVERYTHING)))
        Path("bad.dot").write_text(f'digraph g {{ a [label="{EVERYTHING}"]; {EVERYTHING} }}')
        assert "EVIL" in told("run", "ask.yaml")
        assert "EVIL" in told("run", "loud.yaml", "--label", "who=me", "--key", EVERYTHING)
        told("register", "loud.yaml")
        yield folder


COMMANDS = [
    "run loud.yaml", "run bad.yaml", "run none\x1b[2J.yaml", "check loud.yaml", "check bad.yaml",
    "check bad.dot", "simulate loud.yaml", "bounds loud.yaml", "graph loud.yaml", "graph bad.dot",
    "runs", "runs --long", "show last", "timeline last", "events last", "attempts last", "failures",
    "explain last", "graph last", "replay last", "questions", "programs", "workers", "doctor",
    "export last out\x1b[2J", "record last", "watch last", "retry last --no-wait", "migrate bad.yaml",
    "show \x1b[2J", "runs --label \x1b[2J=x", "answer 1 \x1b[2J", "signal 1 \x1b]0;x\x07",
    "\x1b[2J", "run loud.yaml --set \x1b[2J", "credential add \x1b[2J", "fork last --at \x1b[2J",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_lets_one_through(folder: Path, command: str) -> None:
    printed = told(*command.split(" "))
    assert printed
    assert is_harmless(printed), repr(printed)[:2000]
    assert "Traceback" not in printed


# Beginnings of sequences that we never write, however lively a view is.
FOREIGN = re.compile(
    rb"\x1b\]|\x1bP|\x1b\[6n|\x1b\[21t|\xc2\x9b|\x07|\x08|\x0c|\x0e|\xe2\x80\xae|\xe2\x80\xa8"
)


@pytest.mark.parametrize(
    "words", ["run loud.yaml", "watch last", "show last", "check bad.yaml", "runs"]
)
def test_no_live_view_lets_one_through(folder: Path, words: str) -> None:
    printed = typed(folder, words.split())
    assert printed
    assert not FOREIGN.search(printed), printed[:2000]


def typed(folder: Path, words: list[str]) -> bytes:
    """What a real terminal is sent, colours and all."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "anew", *words],
        cwd=folder,
        env=kept | {"TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    printed = b""
    try:
        while data := os.read(ours, 1 << 16):
            printed += data
    except OSError:
        pass  # the end of a terminal
    finally:
        os.close(ours)
        process.wait()
    return printed
