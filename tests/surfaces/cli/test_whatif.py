"""`anew whatif`: which runs it takes, what it says of them, and how it ends."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main
from anew.surfaces.cli.whatif import PlayProgress
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
        "  how they end: 6 for certain",
        "  failed → done: 0 for certain",
        "  done → failed: 2 for certain",
        f"    {RUN + 3}",
        f"    {RUN + 2}",
        "  unknown: 0",
        "  calls: 19 before, -6, -32 %",
        "    fetch.page: 15 before, -4, -27 %",
        "    store: 4 before, -2, -50 %",
        "  waiting for retries and jumps: -8 s in all, at most +0 s in one run",
        "rules:",
        "  rule 1 of fetch.page (new.yaml:11): matched 9 times, 11 before",
        "    5 retries (9 before), 10 s of waiting (18 s before), 4 times exhausted (2 before)",
        "policies changed: fetch.page",
    ]


def test_more_attempts_need_the_model_which_is_stated(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 5"), ("delay: 2.0", "delay: 3.0"))
    told = anew("whatif", "--program", new, *SINCE, "--samples", "50")
    assert told.status == 0
    (rescued,) = [line for line in told.lines if "failed → done" in line]
    assert rescued.startswith("  failed → done: 0 for certain, 1")
    assert "by the model, of 2 that need it (95 % interval" in rescued
    assert (
        "  how they end: 1 for certain, 3 if what is in doubt holds, 2 by the model" in told.lines
    )
    assert "the model (counted over 6 runs; 50 samples, seed 0):" in told.lines
    assert any("fetch.page, retries after server_error: 3 of 9 succeeded" in x for x in told.lines)
    assert any("asked later by more than 10 %: " in x for x in told.lines)


def test_other_moments_are_said_to_be_in_doubt(runs, anew) -> None:
    new = changed(runs, ("attempts: 3", "attempts: 2"), ("delay: 2.0", "delay: 0"))
    told = anew("whatif", "--program", new, *SINCE)
    assert "  how they end: 1 for certain, 5 if what is in doubt holds" in told.lines
    assert "  done → failed: 0 for certain, 2 more if what is in doubt holds" in told.lines
    assert f"    {RUN + 2}: in doubt" in told.lines
    assert told.lines[-3:-1] == [
        "in doubt:",
        "  executions answered by the log, asked sooner by more than 10 %: 5",
    ]


def test_what_is_rare_is_not_shown_as_nothing(runs, anew) -> None:
    jitter = "delay: 2.0, jitter: full, max_elapsed: 4.7"
    new = changed(runs, ("delay: 2.0", jitter))
    told = anew("whatif", "--program", new, str(RUN + 2))
    (broken,) = [line for line in told.lines if "done → failed" in line]
    assert re.search(
        r" <?0(\.1)? more by chance, of 1 that need it \(95 % interval 0 to 0\)", broken
    )
    assert "by the model" not in told.out
    assert any(
        "random numbers that the logs do not have (200 samples, seed 0)" in x for x in told.lines
    )


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0"), (0.01, "<0.1"), (0.06, "0.1"), (2, "2"), (2.44, "2.4")]
)
def test_numbers_are_short_and_never_nothing_when_they_are_something(number, told) -> None:
    from anew.lab.whatif.lines import _short

    assert _short(number) == told


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
    assert (report["runs"], report["failed"], report["certain"], report["cut"]) == (6, 2, 0, False)
    assert report["supposed"] == 4
    assert report["changes"] == ["task page of fetch has other inputs"]
    assert report["doubtful"]["inputs"] == 9
    assert {one["run"] for one in report["each"]} == {str(RUN + n) for n in range(6)}
    shares = report["each"][0]["shares"]
    assert sum(shares.values()) == pytest.approx(1)
    # The executions of the past asked another address.
    assert (report["rates"], report["uncounted"]) == ([], 15)
    assert report["unknown"]["mean"] == report["skipped"] == 2
    assert report["calls"]["before"] == 13


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
    assert any("retries after server_error: 3 of 9 succeeded" in x for x in told.lines)


def test_the_runs_of_another_name(runs, anew) -> None:
    new = changed(runs, ("name: flaky", "name: other"))
    told = anew("whatif", "--program", new, *SINCE)
    assert told.status == 2
    assert "no run of other that ended fits" in told.err
    named = anew("whatif", "--program", new, *SINCE, "--program-name", "flaky")
    assert named.status == 0
    assert named.err == "anew: warning: the document is other, and there are runs of flaky\n"
    assert "  another program: the runs are of flaky, this is other" in named.lines


def test_a_registered_program_by_name_and_version(runs, anew) -> None:
    told = anew("whatif", "--program", "flaky@1", *SINCE)
    assert told.lines[1:5] == [
        "  how they end: 6 for certain",
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


def test_a_program_of_which_nothing_is_known_may_fail_a_pipeline_too(runs, anew) -> None:
    asks = "metadata: {name: flaky}\nworkflow: [{step: a, tool: {kind: human, question: ok?}}]"
    (runs / "asks.yaml").write_text(asks)
    told = anew("whatif", "--program", "asks.yaml", *SINCE, "--fail-if-worse")
    assert told.status == 1
    assert "  how they end: 0 for certain, 6 unknown" in told.lines
    assert "  without 6 runs of unknown end:" in told.lines


def test_a_key_press_ends_it_at_once(runs, anew, monkeypatch) -> None:
    """Not when everything has been played: an event loop would keep the signal until then."""
    went_on = []

    def long_analysis(*_, **__):
        signal.raise_signal(signal.SIGINT)
        went_on.append(True)

    monkeypatch.setattr("anew.surfaces.cli.whatif.whatif", long_analysis)
    assert anew("whatif", "--program", changed(runs), *SINCE).status == 130
    assert went_on == []


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys) -> None:
    monkeypatch.setattr("anew.surfaces.cli.whatif.SHOWN_EVERY_SECONDS", 0)
    for is_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda said=is_terminal: said)
        progress = PlayProgress()
        progress.show(1_000, 2_000)
        progress.clear()
        assert ("1,000 of 2,000 plays" in capsys.readouterr().err) is is_terminal


@pytest.mark.usefixtures("_in_a_fresh_folder")
def test_a_run_and_its_retry_both_count_and_that_is_said(capsys) -> None:
    Path("flow.yaml").write_text(SHELL % 2)
    assert main(["run", "flow.yaml", "--set", "down_for=9", "--quiet"]) == 1
    assert main(["retry", "last", "--quiet"]) == 1
    capsys.readouterr()
    assert main(["whatif", "--program", "flow.yaml", "--since", "1h"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("2 runs (2 failed")
    assert told[1] == "  1 of them continue from another one (anew retry, fork); both count"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--program", "new.yaml"), "which runs?"),
        (("--program", "new.yaml", "--since", "1h", "last"), "which runs?"),
        (("--program", "new.yaml", "--since", "soon"), "is not a time"),
        (("--program", "new.yaml", "last", "--status", "failed"), "leave them out where runs"),
        (("--program", "new.yaml", "last", "--program-name", "x"), "leave them out where runs"),
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
    assert lines[2:4] == ["  failed → done: 0 for certain", "  done → failed: 1 for certain"]
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
