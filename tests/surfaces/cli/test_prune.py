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
