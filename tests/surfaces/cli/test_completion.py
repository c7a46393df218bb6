"""`anew completion`: scripts that the shells accept, and that know every command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from anew.surfaces.cli.command_table import COMMANDS
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

# How each shell reads a script without running it.
READ = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.mark.parametrize("shell", READ)
def test_a_script_names_every_command_and_its_shell_accepts_it(desk: Desk, shell: str) -> None:
    told = desk.call("completion", shell)
    assert (told.status, told.err) == (0, "")
    assert [row.word for row in COMMANDS if row.word not in told.out] == []
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = desk.write("completion", told.out)
    read = subprocess.run([*READ[shell], file], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


def complete(desk: Desk, *words: str) -> list[str]:
    """What bash offers for the last word."""
    file = desk.write("completion", desk.call("completion", "bash").out)
    typed = " ".join(f"'{word}'" for word in ("anew", *words))
    script = (
        f"source {file}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _anew; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return told.stdout.split()


def test_bash_completes_commands_and_files(desk: Desk) -> None:
    assert complete(desk, "re") == ["resume", "register", "retry", "record", "replay"]
    desk.write("flow.yaml", "")
    assert complete(desk, "run", "fl") == ["flow.yaml"]


def test_an_unknown_shell_is_refused(desk: Desk) -> None:
    told = desk.call("completion", "tcsh")
    assert told.status == 2
    assert "invalid choice: 'tcsh'" in told.err
