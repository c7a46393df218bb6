"""`anew prune`, as a user types it."""

import json

from anew.surfaces.cli.main import main

DOCUMENT = """
metadata: {name: pruned}
workflow:
  - step: keep
    tool: {kind: sqlite, command: "create table t (n int); insert into t values (1)"}
"""


def test_old_runs_go_with_their_files_and_young_ones_stay(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doc.yaml").write_text(DOCUMENT)
    assert main(["run", "doc.yaml", "--quiet"]) == 0
    scratch = tmp_path / ".anew" / "anew.db.scratch"
    assert len(list(scratch.iterdir())) == 1
    assert main(["prune", "--older-than", "1h", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"removed": 0}
    assert main(["prune", "--older-than", "0s"]) == 0
    assert capsys.readouterr().out == "removed 1 run\n"
    assert list(scratch.iterdir()) == []
    assert main(["show", "last"]) == 2


def test_an_age_that_is_none_is_refused(tmp_path, capsys):
    assert main(["prune", "--older-than", "soon", "--db", str(tmp_path / "a.db")]) == 2
    assert "write it like 30d" in capsys.readouterr().err


WAITS = """
metadata: {name: waiter}
workflow:
  - step: pay
    tool: {kind: wait, signal: paid}
"""


def test_one_run_goes_with_its_files_and_the_others_stay(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doc.yaml").write_text(DOCUMENT)
    assert main(["run", "doc.yaml", "--quiet"]) == 0
    assert main(["run", "doc.yaml", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["prune", "last"]) == 0
    assert capsys.readouterr().out == "removed 1 run\n"
    assert main(["runs", "--json"]) == 0
    [left] = capsys.readouterr().out.splitlines()
    scratch = tmp_path / ".anew" / "anew.db.scratch"
    assert [folder.name for folder in scratch.iterdir()] == [json.loads(left)["run"]]


def test_a_run_that_goes_on_is_not_dropped(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doc.yaml").write_text(WAITS)
    main(["run", "doc.yaml", "--quiet"])
    assert main(["prune", "last"]) == 2
    assert "has not ended (waiting) and is not damaged" in capsys.readouterr().err
    assert main(["cancel", "last"]) == 0
    assert main(["prune", "last"]) == 0
    assert main(["show", "last"]) == 2


def test_what_to_remove_has_to_be_said(tmp_path, capsys):
    for words in (["prune"], ["prune", "last", "--older-than", "1h"]):
        assert main([*words, "--db", str(tmp_path / "a.db")]) == 2
        assert "say which runs to remove" in capsys.readouterr().err


FAILS = """
metadata: {name: failing}
workflow:
  - step: stop
    tool: {kind: shell, command: "exit 3"}
"""


def test_only_runs_that_ended_so_go_and_a_dry_run_removes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "done.yaml").write_text(DOCUMENT)
    (tmp_path / "fails.yaml").write_text(FAILS)
    (tmp_path / "waits.yaml").write_text(WAITS)
    for name in ("done", "done", "fails", "waits"):
        main(["run", f"{name}.yaml", "--quiet"])
    capsys.readouterr()
    assert main(["prune", "--older-than", "0s", "--dry-run"]) == 0
    assert capsys.readouterr().out == "would remove 3 runs: 2 done, 1 failed\n"
    assert main(["prune", "--older-than", "1h", "--dry-run"]) == 0
    assert capsys.readouterr().out == "would remove 0 runs\n"
    assert main(["prune", "--older-than", "0s", "--status", "done", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"would_remove": 2, "statuses": {"done": 2}}
    assert main(["prune", "--older-than", "0s", "--status", "done", "--status", "cancelled"]) == 0
    assert capsys.readouterr().out == "removed 2 runs\n"
    assert main(["runs", "--json"]) == 0
    left = [json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()]
    assert left == ["waiting", "failed"]


def test_a_child_stays_while_its_parent_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "done.yaml").write_text(DOCUMENT)
    (tmp_path / "parent.yaml").write_text(PARENT)
    main(["register", "done.yaml"])
    main(["run", "parent.yaml", "--quiet"])
    capsys.readouterr()
    assert main(["prune", "--older-than", "0s", "--dry-run"]) == 0
    assert main(["prune", "--older-than", "0s", "--status", "done"]) == 0
    assert capsys.readouterr().out == "would remove 0 runs\nremoved 0 runs\n"


PARENT = """
metadata: {name: parent}
workflow:
  - step: child
    tool: {kind: playbook, path: pruned}
    next:
      arcs: [{step: pay}]
  - step: pay
    tool: {kind: wait, signal: paid}
"""


def test_one_run_is_removed_whatever_it_is(tmp_path, capsys):
    assert main(["prune", "7351", "--dry-run", "--db", str(tmp_path / "a.db")]) == 2
    assert "are for --older-than" in capsys.readouterr().err
