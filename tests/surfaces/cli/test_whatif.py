"""`anew whatif`: which runs it takes, what it says of them, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, played
from tests.surfaces.cli.servers import TOKEN, server

FINE = {"result": 1, "takes": 1}
SINCE = ("--since", "2000-01-01T00:00:00Z")


def outcomes(failures: int) -> dict[str, list[dict[str, object]]]:
    return {"page": [*([{**DOWN, "times": failures}] if failures else []), FINE]}


@pytest.fixture
def runs(shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six runs that needed 0, 1, 2, 2, 3 and 4 attempts more, of the 3 they had."""
    monkeypatch.chdir(tmp_path)
    for number, failures in enumerate((0, 1, 2, 2, 3, 4)):
        shelf.put(played(RETRIES, outcomes=outcomes(failures)), run=RUN + number)
    return tmp_path


def changed(folder: Path, *pairs: tuple[str, str], name: str = "new.yaml") -> str:
    text = RETRIES
    for was, now in pairs:
        assert was in text
        text = text.replace(was, now)
    (folder / name).write_text(text)
    return name


def test_fewer_attempts_break_runs_for_certain_and_name_them(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 2"))
    told = anew("whatif", "--program", new, *SINCE)
    assert told.status == 0
    assert told.lines == [
        "6 runs (2 failed, 4 done), with new.yaml:",
        "  failed → done: 0 for certain",
        "  done → failed: 2 for certain",
        f"    {RUN + 3}",
        f"    {RUN + 2}",
        "  unknown: 0",
        "  calls: 19 before, -6, -32 %",
        "    fetch.page: 15 before, -4, -27 %",
        "    store: 4 before, -2, -50 %",
        "  waiting: -8 s in all, at most +0 s in one run",
        "rules:",
        "  rule 1 of fetch.page (new.yaml:11) matched 9 times (old rule 1: 11), "
        "exhausted 4 (old rule 1: 2)",
        "policies changed: fetch.page",
    ]


def test_more_attempts_need_the_model_which_is_stated(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 5"), ("delay: 2.0", "delay: 3.0"))
    told = anew("whatif", "--program", new, *SINCE, "--samples", "50")
    assert told.status == 0
    (rescued,) = [line for line in told.lines if "failed → done" in line]
    assert rescued.startswith("  failed → done: 0 for certain, 1.")
    assert "by the model, of 2 that need it (95 % interval" in rescued
    assert "the model (counted over 6 runs; 50 samples, seed 0):" in told.lines
    assert any(
        "fetch.page, any attempt after server_error: 3 of 9 went well" in x for x in told.lines
    )
    assert any("store, any attempt: 4 of 4 went well (no more exact" in x for x in told.lines)


def test_each_run_says_where_it_would_have_gone_another_way(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 2"))
    told = anew("whatif", "--program", new, str(RUN + 2), "--runs")
    assert told.lines[-3:] == [
        "each run:",
        f"  {RUN + 2}  done → failed  calls -2, waiting -2 s",
        "    from seq 10 on, fetch#1: page attempt 2: retry in 2.0 s → "
        "page attempt 2: retries exhausted (attempts), fail",
    ]


def test_the_json_has_the_whole_answer(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 5"), ("http://x", "http://y"))
    report = json.loads(anew("whatif", "--program", new, *SINCE, "--json", "--samples", "20").out)
    assert (report["runs"], report["failed"], report["certain"], report["cut"]) == (6, 2, 4, False)
    assert report["changes"] == ["task page of fetch has other inputs"]
    assert report["doubtful"]["inputs"] == 15
    assert {one["run"] for one in report["each"]} == {str(RUN + n) for n in range(6)}
    shares = report["each"][0]["shares"]
    assert sum(shares.values()) == pytest.approx(1)
    assert report["rates"][0]["observations"] == 9


@pytest.mark.parametrize(
    ("words", "count"), [((), 6), (("--status", "failed"), 2), (("--limit", "4"), 4)]
)
def test_the_runs_since_a_moment(runs, anew, words, count) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 2"))
    told = anew("whatif", "--program", new, *SINCE, *words)
    assert told.lines[0].startswith(f"{count} runs (")
    is_cut = f"Older runs were not looked at (--limit {count})." in told.lines
    assert is_cut == ("--limit" in words)


@pytest.mark.parametrize("which", [(*SINCE, "--status", "failed"), (str(RUN + 4), str(RUN + 5))])
def test_the_model_counts_runs_that_are_not_asked_about(runs, anew, which) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 4"))
    told = anew("whatif", "--program", new, *which)
    assert told.lines[0] == "2 runs (2 failed, 0 done), with new.yaml:"
    assert "the model (counted over 6 runs; 200 samples, seed 0):" in told.lines
    assert any("after server_error: 3 of 9 went well" in line for line in told.lines)


def test_the_runs_of_another_name(runs, anew) -> None:
    new = changed(runs, ("name: flaky", "name: other"))
    told = anew("whatif", "--program", new, *SINCE)
    assert told.status == 2
    assert "no run of other that ended fits" in told.err
    assert anew("whatif", "--program", new, *SINCE, "--program-name", "flaky").status == 0


def test_a_registered_program_by_name_and_version(runs, anew) -> None:
    told = anew("whatif", "--program", "flaky@1", *SINCE)
    assert told.lines[1:4] == [
        "  failed → done: 0 for certain",
        "  done → failed: 0 for certain",
        "  unknown: 0",
    ]
    assert "policies changed" not in told.out
    assert anew("whatif", "--program", "flaky", *SINCE).status == 0


def test_a_worse_program_may_fail_a_pipeline(runs, anew) -> None:
    worse = changed(runs, ("attempts: 3", "attempts: 2"))
    same = changed(runs, name="same.yaml")
    assert anew("whatif", "--program", worse, *SINCE, "--fail-if-worse").status == 1
    assert anew("whatif", "--program", same, *SINCE, "--fail-if-worse").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--program", "new.yaml"), "which runs?"),
        (("--program", "new.yaml", "--since", "1h", "last"), "which runs?"),
        (("--program", "new.yaml", "--since", "soon"), "is no moment"),
        (("--program", "absent.yaml", "last"), "there is no such file"),
        (("--program", "nobody", "last"), "no program nobody is registered"),
        (("--program", "flaky@7", "last"), "no program flaky version 7 is registered"),
        (("--program", "flaky@x", "last"), "neither a file nor NAME@VERSION"),
        (("--program", "new.yaml", "12"), "there is no run 12"),
        (("--program", "broken.yaml", "last"), "workflow"),
        (("--program", "new.yaml", "--since", "1h"), "no run of flaky that ended fits"),
    ],
)
def test_bad_input_says_what_to_do(runs, anew, words, said) -> None:
    changed(runs)
    (runs / "broken.yaml").write_text("metadata: {name: flaky}\nworkflow: []\n")
    told = anew("whatif", *words)
    assert told.status == 2
    assert said in told.err


def test_a_run_that_goes_on_is_left_out(shelf, anew, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shelf.put(played(RETRIES, outcomes=outcomes(1)), upto=6)
    told = anew("whatif", "--program", changed(tmp_path), "last")
    assert told.lines[-2:] == ["left out:", f"  {RUN}: it has not ended"]


GRAPH = """digraph nightly {
    start [shape=ellipse]
    fetch [shape=component tool_command="test \\"$_retry_count\\" -ge \\"$down_for\\"" max_retries=%d retry_backoff=none]
    done  [shape=ellipse]

    start -> fetch -> done
}
"""
SHELL = """
metadata: {name: nightly}
workload: {down_for: 0}
workflow:
- step: fetch
  tool:
    kind: shell
    command: "test {{ _attempt }} -gt {{ workload.down_for }}"
    spec: {policy: {rules: [{when: "outcome.status == 'error'", then: {do: retry, attempts: %d}}]}}
"""


@pytest.fixture
def _in_a_fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANEW_DB", str(tmp_path / "real.db"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("ANEW_SERVER", raising=False)


@pytest.mark.parametrize(
    ("document", "name", "more"), [(GRAPH, "flow.dot", -1), (SHELL, "flow.yaml", 0)]
)
@pytest.mark.usefixtures("_in_a_fresh_folder")
def test_real_runs_of_both_languages(document, name, more, capsys) -> None:
    Path(name).write_text(document % (3 + more))
    ends = [main(["run", name, "--set", f"down_for={n}", "--quiet"]) for n in (0, 1, 2, 4)]
    assert ends == [0, 0, 0, 1]
    capsys.readouterr()
    Path(f"new.{name}").write_text(document % (2 + more))
    assert main(["whatif", "--program", f"new.{name}", "--since", "1h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"4 runs (1 failed, 3 done), with new.{name}:"
    assert lines[1:3] == ["  failed → done: 0 for certain", "  done → failed: 1 for certain"]
    assert "  calls: 9 before, -2, -22 %" in lines
    Path(f"new.{name}").write_text(document % (6 + more))
    assert main(["whatif", "--program", f"new.{name}", "last", "--samples", "20"]) == 0
    assert "1 that need it" in capsys.readouterr().out


@pytest.mark.usefixtures("_in_a_fresh_folder")
def test_children_count_only_where_they_are_named(capsys) -> None:
    Path("flow.yaml").write_text(SHELL % 2)
    Path("outer.yaml").write_text(
        "metadata: {name: outer}\nworkflow: [{step: a, tool: {kind: playbook, file: flow.yaml}}]"
    )
    assert main(["run", "outer.yaml", "--quiet"]) == 0
    assert main(["whatif", "--program", "flow.yaml", "--since", "1h"]) == 2
    assert main(["run", "flow.yaml", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["runs", "--program", "nightly", "--json"]) == 0
    named = [json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()]
    for which, count in ((["--since", "1h"], "1 run "), (named, "2 runs ")):
        assert main(["whatif", "--program", "flow.yaml", *which]) == 0
        assert capsys.readouterr().out.startswith(count)


@pytest.mark.usefixtures("_in_a_fresh_folder")
def test_the_runs_of_a_server(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    Path("flow.yaml").write_text(SHELL % 2)
    Path("new.yaml").write_text(SHELL % 1)
    with server(tmp_path) as served:
        place = ("--server", served.url)
        assert main(["run", "flow.yaml", "--set", "down_for=1", "--quiet", *place]) == 0
        assert main(["register", "new.yaml", *place]) == 0
        capsys.readouterr()
        for new in ("new.yaml", "nightly@1"):
            assert main(["whatif", "--program", new, "--since", "1h", *place]) == 0
            assert "done → failed: 1 for certain" in capsys.readouterr().out
