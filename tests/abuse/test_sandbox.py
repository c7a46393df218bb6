"""Ways out of a sandbox: through its own programs, its mounts, its links, its variables."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from anew.tools.sandbox import Sandbox, open_sandbox
from tests.tools.bubblewrap import missing
from tests.tools.code_calls import error_of, shell

KINDS = ("bubblewrap", "user")
SECRET = "the-secret-of-the-engine"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may use, with a secret file in a place of ours beside it."""
    with TemporaryDirectory(prefix="anew-test-") as made:
        base = Path(made)
        base.chmod(0o755)
        (base / "private").mkdir(mode=0o700)
        (base / "private" / "secret").write_text(SECRET)
        (base / "private" / "secret").chmod(0o600)
        (base / "work").mkdir()
        (base / "work").chmod(0o777)
        yield base / "work"


def opened(kind: str, folder: Path) -> Sandbox:
    if (why := missing(kind)) is not None:
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANEW_SANDBOX", kind)
        if os.geteuid() == 0:
            patch.setenv("ANEW_SANDBOX_USER", "nobody")
        return open_sandbox([folder.parent / "private"])


@pytest.fixture(params=KINDS)
def sandbox(request: pytest.FixtureRequest, folder: Path) -> Sandbox:
    return opened(request.param, folder)


@pytest.fixture
def bubblewrap(folder: Path) -> Sandbox:
    return opened("bubblewrap", folder)


FAKES = ("bwrap", "setpriv", "prlimit", "sh", "env")


@pytest.mark.parametrize("name", FAKES)
def test_a_program_of_the_sandbox_cannot_be_put_in_its_place(
    folder: Path, sandbox: Sandbox, name: str
) -> None:
    """By a PATH of the task, which may say where everything is but what makes the sandbox."""
    kept = folder / "run" / "tasks" if sandbox.has_mounts else folder
    (folder / name).write_text(f"#!/bin/sh\nid -u >{kept}/ran\n")
    (folder / name).chmod(0o755)
    outcome = shell(folder, "id -u", env={"PATH": f"{folder}:/usr/bin:/bin"}, sandbox=sandbox)
    assert outcome.error is None
    assert not (kept / "ran").exists()


LOADED = ("LD_PRELOAD", "LD_AUDIT")


@pytest.mark.parametrize("name", LOADED)
def test_no_library_gets_into_the_programs_of_the_sandbox(
    folder: Path, sandbox: Sandbox, name: str
) -> None:
    """The loader complains once for each program that it loads; the task is one."""
    outcome = shell(folder, ":", env={name: "/not/there.so"}, sandbox=sandbox)
    assert outcome.result["stderr"].count("/not/there.so") <= 1


VALUES = {
    "a quote": "it's",
    "two quotes": "''",
    "a quote and a command": "'; touch ran; '",
    "a command in brackets": "$(touch ran)",
    "a command in back quotes": "`touch ran`",
    "a line end and a command": "x\ntouch ran\n",
    "a backslash at the end": "x\\",
    "a comment": "# x",
    "an end of the file": "\nEOF\nexit 7\n",
    "not ASCII": "ü ſ \u202e",
    "nothing": "",
    "very long": "x'" * 50_000,
}


@pytest.mark.parametrize("attack", VALUES)
def test_a_variable_is_a_text_whatever_it_holds(
    folder: Path, bubblewrap: Sandbox, attack: str
) -> None:
    env = {"GIVEN": VALUES[attack]}
    outcome = shell(folder, 'printf %s "$GIVEN"', env=env, sandbox=bubblewrap, cwd="run/tasks")
    assert outcome.result["stdout"] == VALUES[attack]
    assert not (folder / "run" / "tasks" / "ran").exists()


@pytest.mark.parametrize("name", ["A;touch ran;B", "A B", "a.b", "1A", "A$(touch ran)", "-p"])
def test_a_name_of_a_variable_is_no_command(folder: Path, sandbox: Sandbox, name: str) -> None:
    kept = folder / "run" / "tasks" if sandbox.has_mounts else folder
    outcome = shell(folder, "env", env={name: "x"}, sandbox=sandbox, cwd=str(kept))
    assert error_of(outcome)["kind"] == "config"
    assert not (kept / "ran").exists()


# Where a task may write.
KEPT = 'cd "${ANEW_RUN_FOLDER:-.}"'

ESCAPES = {
    "the root of another process": "cat /proc/1/root{secret}",
    "the root of an own process": "cat /proc/self/root{secret}",
    "the folder of another process": "cat /proc/1/cwd/../private/secret",
    "by its path": "cat {secret}",
    "up from here": "cat ../private/secret",
    "by a link": "KEPT; ln -s {secret} link && cat link",
    "by a hard link": "KEPT; ln {secret} hard && cat hard",
    "without the mount above it": "umount {private} && cat {secret}",
    "with a mount of its own": "mount --bind / /mnt && cat /mnt{secret}",
    "in user namespaces below": "unshare -Urm sh -c 'umount {private}; cat {secret}'",
    "with another root": "chroot / cat {secret}",
    "by moving the folder above": "mv {private} {private}2; cat {private}2/secret",
    "through a device": "KEPT; mknod disk b 8 0 && cat disk",
    "as root again": "setpriv --reuid=0 --regid=0 --clear-groups cat {secret}",
    "as root by su": "su -c 'cat {secret}'",
    "through what is open": "for it in /proc/self/fd/*; do [ ! -f $it ] || cat $it; done",
    "through the memory of others": "cat /proc/[0-9]*/environ /proc/[0-9]*/mem | grep -a {word}",
}


@pytest.mark.parametrize("attack", ESCAPES)
def test_a_hidden_file_stays_hidden(folder: Path, sandbox: Sandbox, attack: str) -> None:
    private = folder.parent / "private"
    command = ESCAPES[attack].format(secret=private / "secret", private=private, word=SECRET)
    command = command.replace("KEPT", KEPT)
    outcome = shell(folder, f"({command}) </dev/null", sandbox=sandbox)
    assert SECRET not in str(outcome.result)
    assert (private / "secret").read_text() == SECRET


CHANGES = {
    "the root": "touch /anew-was-here",
    "a program": "touch /usr/bin/anew-was-here",
    "by mounting again": "mount -o remount,rw / && touch /usr/bin/anew-was-here",
    "the kernel": "echo 1 >/proc/sys/kernel/panic",
    "the name of the machine": "hostname anew-was-here",
    "the clock": "date -s 2001-01-01",
    "the document's neighbour": "touch ../anew-was-here",
    "memory that all share": "touch /dev/shm/anew-was-here",
    "temporary files of all": "touch /tmp/anew-was-here",
}


@pytest.mark.parametrize("attack", CHANGES)
def test_the_machine_is_not_changed(folder: Path, bubblewrap: Sandbox, attack: str) -> None:
    watched = [Path("/"), Path("/usr/bin"), Path("/dev/shm"), Path("/tmp"), folder.parent]
    panic, name = Path("/proc/sys/kernel/panic").read_text(), os.uname().nodename
    shell(folder, CHANGES[attack], sandbox=bubblewrap)
    assert not any((place / "anew-was-here").exists() for place in watched)
    assert (Path("/proc/sys/kernel/panic").read_text(), os.uname().nodename) == (panic, name)


def test_a_folder_that_is_a_link_gives_what_it_leads_to_and_no_more(
    folder: Path, bubblewrap: Sandbox
) -> None:
    (folder.parent / "linked").symlink_to(folder)
    (folder / "beside").write_text("read")
    run = folder.parent / "run"
    seen = shell(folder.parent / "linked", "cat beside", sandbox=bubblewrap, scratch=run)
    assert seen.result["stdout"] == "read"
    command = f"touch made {folder}/made {folder.parent}/linked/made; ls ../private"
    assert shell(folder.parent / "linked", command, sandbox=bubblewrap, scratch=run).error
    assert not (folder / "made").exists()


def test_a_document_beside_the_hidden_does_not_show_it(folder: Path, bubblewrap: Sandbox) -> None:
    """As with `--db work.db` in the folder of the document."""
    (folder / "work.db").write_text(SECRET)
    (folder / "work.db").chmod(0o666)
    beside = replace(bubblewrap, hidden=(folder / "work.db", folder / "not-there-yet"))
    command = "cat work.db; rm -f work.db; mv work.db x; cat x; echo broken >work.db"
    assert SECRET not in str(shell(folder, command, sandbox=beside).result)
    assert (folder / "work.db").read_text() == SECRET
    assert not (folder / "not-there-yet").exists()


def test_what_sleeps_apart_ends_with_its_task(folder: Path, bubblewrap: Sandbox) -> None:
    seconds = f"8{os.getpid()}"
    command = f"{KEPT}; mkfifo up; setsid sh -c 'echo up >up; exec sleep {seconds}' & read word <up"
    shell(folder, command, sandbox=bubblewrap)
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"sleep {seconds}" not in listed.stdout.splitlines()
