"""`anew export`: a directory that is there whole, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anew.surfaces.cli import export as command
from anew.views.export.folder import Folder
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, hostile, played


@pytest.fixture
def run(shelf):
    simulation = played(RETRIES, outcomes={"page": [DOWN, {"result": 1}]})
    shelf.put(simulation)
    return simulation


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "out"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def leftovers(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir() if path != out)


def test_a_run_is_written_with_its_log_its_document_and_its_checkpoints(run, anew, out) -> None:
    told = anew("export", "last", str(out))
    assert told.status == 0
    assert told.lines == [f"run {RUN} is in {out}: 4 checkpoints, 21 files"]
    found = files_in(out)
    assert len(found) == 21
    assert {"playbook.yaml", "events.jsonl", "checkpoint.json", "status.json"} <= set(found)
    assert (out / "playbook.yaml").read_text() == RETRIES
    assert leftovers(out) == []


def listed(out: Path) -> list[str]:
    return (out / "files.txt").read_text().splitlines()


def test_the_list_of_files_names_every_file_but_itself(run, anew, out) -> None:
    anew("export", "last", str(out))
    assert sorted([*listed(out), "files.txt"]) == files_in(out)


def test_the_log_is_the_one_the_events_command_prints(run, anew, out, monkeypatch) -> None:
    monkeypatch.setattr(command, "PAGE_EVENTS", 4)
    anew("export", "last", str(out))
    assert (out / "events.jsonl").read_text() == anew("events", "last", "--json").out


def test_json_says_how_much_was_written(run, anew, out) -> None:
    told = anew("export", "last", str(out), "--json")
    assert json.loads(told.out) == {"dir": str(out), "files": 21, "checkpoints": 4}


def test_a_run_that_is_at_work_is_exported_as_far_as_it_is(shelf, anew, out) -> None:
    simulation = played(RETRIES, outcomes={"page": [DOWN, {"result": 1}]})
    shelf.put(simulation, upto=7)
    assert anew("export", "last", str(out)).status == 0
    assert json.loads((out / "status.json").read_text())["status"] == "running"
    assert json.loads((out / "checkpoint.json").read_text())["saved"] == "retrying"


def test_hostile_names_stay_inside_and_off_the_terminal(shelf, anew, out) -> None:
    shelf.put(hostile())
    told = anew("export", "last", str(out))
    assert told.status == 0
    assert "\x1b" not in told.out
    assert all("\x1b" not in name and "\n" not in name for name in files_in(out))


def test_an_empty_folder_is_taken(run, anew, out) -> None:
    out.mkdir(parents=True)
    assert anew("export", "last", str(out)).status == 0
    assert "manifest.json" in files_in(out)


def test_a_folder_in_use_is_left_alone(run, anew, out) -> None:
    out.mkdir(parents=True)
    (out / "mine.txt").write_text("keep")
    for words in ([], ["--force"]):
        told = anew("export", "last", str(out), *words)
        assert told.status == 2
        assert files_in(out) == ["mine.txt"]
        assert leftovers(out) == []
    assert "so --force does not replace it" in told.err


def test_an_earlier_export_is_replaced_only_when_asked_to(run, shelf, anew, out) -> None:
    anew("export", "last", str(out))
    (out / "status.json").write_text("old")
    refused = anew("export", "last", str(out))
    assert (refused.status, (out / "status.json").read_text()) == (2, "old")
    assert "--force" in refused.err
    assert anew("export", "last", str(out), "--force").status == 0
    assert json.loads((out / "status.json").read_text())["status"] == "done"
    assert leftovers(out) == []


def test_force_does_not_remove_what_no_export_wrote(run, anew, out) -> None:
    anew("export", "last", str(out))
    (out / "nodes" / "notes.txt").write_text("mine")
    told = anew("export", "last", str(out), "--force")
    assert told.status == 2
    assert "'nodes/notes.txt'" in told.err
    assert (out / "nodes" / "notes.txt").read_text() == "mine"


def test_force_does_not_replace_the_export_of_another_run(run, shelf, anew, out) -> None:
    shelf.put(played(RETRIES), run=RUN + 1)
    anew("export", str(RUN), str(out))
    told = anew("export", str(RUN + 1), str(out), "--force")
    assert told.status == 2
    assert f"is not an export of run {RUN + 1}" in told.err


def test_a_link_is_not_followed(run, anew, out, tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out.parent.mkdir()
    out.symlink_to(elsewhere)
    told = anew("export", "last", str(out))
    assert told.status == 2
    assert "symbolic link" in told.err
    assert list(elsewhere.iterdir()) == []


def test_a_link_inside_an_earlier_export_is_not_ours(run, anew, out, tmp_path) -> None:
    anew("export", "last", str(out))
    (tmp_path / "elsewhere").mkdir()
    (out / "nodes" / "link").symlink_to(tmp_path / "elsewhere")
    told = anew("export", "last", str(out), "--force")
    assert told.status == 2
    assert "'nodes/link'" in told.err
    assert (out / "nodes" / "link").is_symlink()


def test_the_current_folder_is_not_swapped_from_under_its_shell(
    run, anew, out, monkeypatch
) -> None:
    out.mkdir(parents=True)
    monkeypatch.chdir(out)
    told = anew("export", "last", ".")
    assert told.status == 2
    assert "call the command from outside of it" in told.err


@pytest.mark.parametrize("name", ["runs.db", "runs.db/inside"])
def test_a_place_that_cannot_be_a_folder_is_refused(run, anew, tmp_path, name) -> None:
    told = anew("export", "last", str(tmp_path / name))
    assert told.status == 2
    assert told.err.startswith(f"anew: {str(tmp_path / name)!r} ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_one_may_not_write_to_is_refused(run, anew, out) -> None:
    out.parent.mkdir(mode=0o500)
    told = anew("export", "last", str(out))
    assert told.status == 2
    assert "permission denied" in told.err


def test_a_run_or_a_database_that_is_not_there_is_said_to_be_missing(run, anew, out) -> None:
    assert anew("export", "999", str(out)).status == 2
    assert anew("export", "last", str(out), "--db", str(out / "none.db")).status == 4
    assert anew("export", "last", "").status == 2
    assert not out.exists()


def test_a_long_export_says_how_far_it_is_unless_it_is_to_be_quiet(
    run, anew, out, monkeypatch
) -> None:
    monkeypatch.setattr(command, "PROGRESS_SECONDS", 0.0)
    assert "18 of 18 events written" in anew("export", "last", str(out)).err
    assert anew("export", "last", str(out), "--force", "--quiet").err == ""


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from anew.surfaces.cli.main import main
raise SystemExit(main(["export", "last", sys.argv[1], "--db", sys.argv[2]]))
"""


def test_a_disk_that_takes_no_more_leaves_nothing_behind(shelf, out) -> None:
    simulation = played(RETRIES, outcomes={"page": [{"result": "x" * 300_000}]})
    shelf.put(simulation)
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(out), shelf.url],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1, ended.stderr
    assert f"cannot write the export to {str(out)!r}: file too large" in ended.stderr
    assert list(out.parent.iterdir()) == []


KILLED = """
import sys
from anew.views.export.changes import Write
from anew.views.export.folder import Folder
with Folder(sys.argv[1], run="7", replaces=False) as folder:
    folder.apply(Write("status.json", b"{}"))
    print("written", flush=True)
    sys.stdin.read()
"""


def test_a_crash_leaves_no_half_export_where_one_looks_for_it(run, anew, out) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    assert not out.exists()
    assert anew("export", "last", str(out)).status == 0


def test_an_interrupted_export_cleans_up(out) -> None:
    with pytest.raises(KeyboardInterrupt), Folder(str(out), run="7", replaces=False):
        raise KeyboardInterrupt
    assert list(out.parent.iterdir()) == []
