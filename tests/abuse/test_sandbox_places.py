"""Folders that a sender, a task or a setting would like to have in a sandbox, and does not get."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from anew.errors import ConfigError
from anew.tools.agent import AgentTool
from anew.tools.sandbox import Sandbox, open_sandbox
from tests.abuse.raw import Site
from tests.surfaces.api.processes import server
from tests.surfaces.api.served import TOKEN
from tests.tools.agent.agent_calls import agent
from tests.tools.bubblewrap import missing
from tests.tools.code_calls import error_of, shell

SECRET = "the-secret-of-the-owner"
IS_ROOT = os.geteuid() == 0


class Served(Struct):
    """A server whose tasks are in namespaces, and what lies beside it. No mode protects anything."""

    base: Path
    site: Site

    def told(self, command: str, **more: Any) -> str:
        """What the log says of a run of one command."""
        return self.told_of(document(command), **more)

    def told_of(self, text: str, **more: Any) -> str:
        answer = self.site.post("/api/v1/runs", {"document": text, **more})
        assert answer.status == 201, answer.text
        self.site.ended(answer.json["run"])
        return self.site.ask("GET", f"/api/v1/runs/{answer.json['run']}/events").text


def document(command: str) -> str:
    tool = {"kind": "shell", "command": command}
    return json.dumps({"metadata": {"name": "try"}, "workflow": [{"step": "a", "tool": tool}]})


def settings(kind: str = "bubblewrap") -> dict[str, str]:
    return {"ANEW_SANDBOX": kind, **({"ANEW_SANDBOX_USER": "nobody"} if IS_ROOT else {})}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if (why := missing("bubblewrap")) is not None:
        pytest.skip(why)
    base = tmp_path_factory.mktemp("places")
    for name in ("owner/.ssh", "owner/work", "owner/work/.git", "server", "project"):
        (base / name).mkdir(parents=True)
    for path in (base, *base.rglob("*")):
        path.chmod(0o777)
    for name in ("owner/.ssh/id", "owner/work/plan", "owner/work/.git/config", "server/notes"):
        (base / name).write_text(SECRET)
        (base / name).chmod(0o666)
    home = str(base / "owner")
    with server(base / "server", ANEW_TOKEN=TOKEN, HOME=home, **settings()) as one:
        yield Served(base, Site(one.url))


CLAIMED = {
    "keys": "{base}/owner/.ssh/x.yaml",
    "keys by a way round": "{base}/project/../owner/.ssh/x.yaml",
    "keys from the server's folder": "../owner/.ssh/x.yaml",
    "a file that is there": "{base}/owner/.ssh/id",
    "a folder of the home": "{base}/owner/work/x.yaml",
    "a repository": "{base}/owner/work/.git/x.yaml",
    "a project": "{base}/project/x.yaml",
    "the server's folder": "{base}/server/x.yaml",
    "the server's folder by a relative name": "x.yaml",
    "the database": "{base}/server/anew.db",
    "the folders of runs": "{base}/server/anew.db.scratch/x.yaml",
    "the root": "/x.yaml",
    "the configuration": "/etc/x.yaml",
    "the engine's own process": "/proc/self/x.yaml",
}
LOOK = (
    "cat {base}/owner/.ssh/id {base}/owner/work/plan {base}/owner/work/.git/config {base}/server/notes"
    " id plan config notes; touch {base}/owner/.ssh/authorized_keys {base}/owner/work/.git/new"
    " {base}/server/anew.db-journal {base}/server/anew.db.token {base}/project/new new; true"
)
PLANTED = ("authorized_keys", "new", "anew.db-journal", "anew.db.token")


@pytest.mark.parametrize("claim", CLAIMED)
def test_no_folder_is_had_by_saying_that_the_document_lies_there(
    served: Served, claim: str
) -> None:
    told = served.told(LOOK.format(base=served.base), file=CLAIMED[claim].format(base=served.base))
    assert SECRET not in told
    assert not planted(served)


def test_a_document_without_a_file_has_not_the_folder_of_the_server(served: Served) -> None:
    told = served.told(LOOK.format(base=served.base) + "; touch here && echo d''one")
    assert SECRET not in told
    assert "done" in told  # in a folder of its run
    assert not planted(served)


HELD = ("owner/.ssh", "owner/work/.git", "owner/work", "project", "server", "owner")


@pytest.mark.parametrize("place", HELD)
def test_where_a_document_lies_nothing_is_changed(served: Served, place: str) -> None:
    """Nor seen, in a hidden folder of the home, in the home itself, and of the database."""
    text = document(LOOK.format(base=served.base) + "; strings anew.db; cat anew.db anew.db-wal")
    held = served.base / place / "held.yaml"
    held.write_text(text)
    told = served.told_of(text, file=str(held))
    assert not planted(served)
    assert "SQLite format" not in told
    if place in {"owner/.ssh", "owner/work/.git", "owner"}:
        assert SECRET not in told
        assert "Move it into a folder" in told


def test_a_link_in_the_place_of_a_document_is_followed_to_where_it_lies(served: Served) -> None:
    text = document(LOOK.format(base=served.base))
    (served.base / "project" / "real.yaml").write_text(text)
    (served.base / "owner" / "work" / "linked.yaml").symlink_to(served.base / "project/real.yaml")
    told = served.told_of(text, file=str(served.base / "owner" / "work" / "linked.yaml"))
    assert SECRET not in told


def planted(served: Served) -> list[Path]:
    return [
        path for path in served.base.rglob("*") if path.name in PLANTED if "tasks" not in path.parts
    ]


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="anew-test-") as made:
        folder = Path(made) / "work"
        folder.parent.chmod(0o755)
        folder.mkdir()
        folder.chmod(0o777)
        yield folder


def opened(kind: str, *hidden: Path, **more: str) -> Sandbox:
    if (why := missing(kind)) is not None:
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (settings(kind) | more).items():
            patch.setenv(name, value)
        return open_sandbox(hidden)


BESIDE = ("x.db-journal", "x.db-wal", "x.db-shm", "x.db.token", "x.db.lock", "x.db.sock")


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("how", ["echo forged >{0}", "ln -s /etc/passwd {0}", "mv work.yaml {0}"])
def test_nothing_is_put_beside_a_database_in_the_document_s_folder(
    folder: Path, name: str, how: str
) -> None:
    """A journal that is not SQLite's would be played back at the next start."""
    (folder / "work.yaml").write_text("")
    sandbox = opened("bubblewrap", folder / "x.db", folder / name)
    shell(folder, how.format(name), sandbox=sandbox)
    assert not os.path.lexists(folder / name)


HOLDS = {
    "its folder": ("project/x.db", "project"),
    "a folder above": ("project/data/x.db", "project"),
    "its default folder": ("project/.anew", "project"),
    "the file itself": ("project/x.db", "project/x.db"),
    "by a link": ("project/x.db", "link"),
    "by a way round": ("project/x.db", "other/../project"),
}


@pytest.mark.parametrize("attack", HOLDS)
def test_no_writable_folder_holds_the_database(folder: Path, attack: str) -> None:
    for name in ("project/data", "project/.anew", "other"):
        (folder / name).mkdir(parents=True)
    (folder / "project" / "x.db").write_text("")
    (folder / "link").symlink_to(folder / "project")
    kept, place = HOLDS[attack]
    with pytest.raises(ConfigError, match="Put the database elsewhere"):
        opened("bubblewrap", folder / kept, ANEW_SANDBOX_WRITE=f"{folder}/other,{folder}/{place}")


WIDE = ("/", "/home", "/tmp", "/var", "relative", "/not/there")


@pytest.mark.parametrize("place", WIDE)
def test_a_writable_folder_is_a_folder_of_its_own(place: str) -> None:
    with pytest.raises(ConfigError, match="ANEW_SANDBOX_WRITE names"):
        opened("bubblewrap", ANEW_SANDBOX_WRITE=place)


MODES = {
    "everyone may write": ("work/x.db", 0o777, None),
    "everyone may add": ("work/x.db", 0o1777, None),
    "its group may write": ("work/x.db", 0o775, "group"),
    "it owns the folder": ("work/x.db", 0o500, "owner"),
    "it may rename the default folder": ("work/.anew", 0o777, None),
    "it may rename a folder above": ("work/data/x.db", 0o777, None),
    "it may make the folder first": ("work/later/x.db", 0o1777, None),
}


@pytest.mark.parametrize("attack", MODES)
def test_another_user_may_not_write_the_folder_of_the_database(folder: Path, attack: str) -> None:
    if not IS_ROOT:
        pytest.skip("the sandbox user needs root")
    import pwd

    name, mode, whose = MODES[attack]
    account = pwd.getpwnam("nobody")
    for made in (".anew", "data"):
        (folder / made).mkdir(mode=0o755)
    os.chown(
        folder, account.pw_uid if whose == "owner" else 0, account.pw_gid if whose == "group" else 0
    )
    folder.chmod(mode)
    with pytest.raises(ConfigError, match="Put the database elsewhere"):
        opened("user", folder.parent / name)
    os.chown(folder, 0, 0)
    folder.chmod(0o755)
    assert opened("user", folder.parent / name).is_on


OUTSIDE = ("/var/lib", "/var", "/opt", "/srv", "/mnt", "/media", "/etc", "/boot", "/sys")


@pytest.mark.parametrize("place", OUTSIDE)
def test_what_no_program_needs_is_not_there(folder: Path, place: str) -> None:
    """Whoever may read it: in a namespace without another user, tasks are its owner."""
    sandbox = opened("bubblewrap")
    try:
        made = Path(mkdtemp(prefix="anew-test-", dir=place))
    except OSError:
        pytest.skip(f"no file can be made in {place}")
    try:
        made.chmod(0o755)
        (made / "secret").write_text(SECRET)
        command = f"cat {made}/secret /proc/*/root{made}/secret; ls {place}"
        told = shell(folder, command, sandbox=sandbox).result["stdout"]
        assert SECRET not in told
        assert made.name not in told
        shown = opened("bubblewrap", ANEW_SANDBOX_READ=str(made))
        assert shell(folder, f"cat {made}/secret", sandbox=shown).result["stdout"] == SECRET
        assert shell(folder, f"echo >>{made}/secret", sandbox=shown).error is not None
        hidden = replace(shown, hidden=(made / "secret",))
        assert SECRET not in str(shell(folder, f"cat {made}/secret", sandbox=hidden).result)
    finally:
        shutil.rmtree(made)


ETC = (
    "shadow",
    "gshadow",
    "sudoers",
    "ssl/private",
    "ssh",
    "machine-id",
    "anew",
    "fstab",
    "crontab",
)


@pytest.mark.parametrize("name", ETC)
def test_of_the_configuration_only_what_programs_need_is_there(folder: Path, name: str) -> None:
    command = f"ls -d /etc/{name}"
    assert error_of(shell(folder, command, sandbox=opened("bubblewrap")))["kind"] == "exit_code"


def test_a_link_among_what_tasks_may_change_opens_nothing(folder: Path) -> None:
    """As the folder of a document that was there, and is a link now."""
    (folder / "given").mkdir()
    (folder / "secret").mkdir()
    (folder / "secret" / "it").write_text(SECRET)
    (folder / "given" / "docs").symlink_to(folder / "secret")
    sandbox = opened("bubblewrap", ANEW_SANDBOX_WRITE=str(folder / "given"))
    command = f"cat it {folder}/given/docs/it {folder}/secret/it"
    told = shell(folder / "given" / "docs", command, scratch=folder / "run", sandbox=sandbox)
    assert SECRET not in str(told)


REMOVED = (
    "../kept",
    "{folder}/kept",
    "run/tasks/../../../kept",
    "document.yaml",
    "link/kept",
)


@pytest.mark.parametrize("said", REMOVED)
def test_we_remove_no_file_for_a_task_by_the_name_of_its_status(folder: Path, said: str) -> None:
    """What lies there before a task begins is removed, so that no old status counts."""
    sandbox = opened("bubblewrap")
    kept = [folder.parent / "kept", folder / "document.yaml"]
    for path in kept:
        path.write_text(SECRET)
    (folder / "link").symlink_to(folder.parent)
    status_file = said.format(folder=folder.parent)
    outcome = agent(
        folder, tool=AgentTool(sandbox=sandbox), command="true", status_file=status_file
    )
    assert error_of(outcome)["kind"] == "config"
    assert [path.read_text() for path in kept] == [SECRET, SECRET]


LINKED = ("agents", "anew.db", "duckdb.db")


@pytest.mark.parametrize("name", LINKED)
def test_a_task_does_not_prepare_the_place_of_files_that_we_write(folder: Path, name: str) -> None:
    """A link there would lead what we write later to anywhere."""
    shell(folder, f'ln -s /etc "$ANEW_RUN_FOLDER/../{name}"', sandbox=opened("bubblewrap"))
    assert not os.path.lexists(folder / name)
