"""`anew skip`, from a second terminal and where nobody works on the run."""

from __future__ import annotations

from tests.surfaces.cli.terminals import HELLO, Desk, Opened, a_desk  # noqa: F401

# Fails until the test has left a file, and tries again only after an hour.
FETCH = """\
metadata: {name: fetch}
workflow:
  - step: fetch
    tool:
      kind: shell
      command: "test -f there || { echo > bell; exit 1; }"
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 4, delay: 3600}}]}}
"""
NAPS = """\
metadata: {name: naps}
workflow:
  - step: nap
    loop: {in: "{{ range(7) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 7}}
    tool: {kind: sleep, seconds: 3600}
"""


def opened(desk: Desk, text: str, name: str, count: int = 1) -> Opened:
    """A run whose terminal waits for it, once it has come to as many such events."""
    terminal = desk.open("run", desk.write("doc.yaml", text))
    while not (desk.folder / ".anew/anew.db").exists() or desk.names().count(name) < count:
        assert terminal.process.poll() is None, terminal.wait()
    return terminal


def test_a_second_terminal_lets_the_next_attempt_start(desk: Desk) -> None:
    bell = desk.pipe("bell")
    terminal = desk.open("run", desk.write("doc.yaml", FETCH))
    bell.read()
    while "task.retry_scheduled" not in desk.names():
        assert terminal.process.poll() is None
    (desk.folder / "there").touch()
    skipped = desk.call("skip", "last", "fetch", "--visit", "1", "--by", "ann")
    assert (skipped.status, skipped.err) == (0, "")
    first, rest = skipped.out.splitlines()
    assert first == "Attempt 2 of fetch starts now."
    assert rest.startswith("If no process is working on the run, `anew resume ")
    ended = terminal.wait()
    assert (ended.status, ended.err) == (0, "")
    assert "fetch: wait skipped: retry · " in ended.out
    assert "fetch: succeeded on attempt 2" in ended.out
    told = desk.call("explain", "last").out
    assert "Wait skipped: retry · 35" in " ".join(told.split())
    assert " s early · ann" in desk.call("timeline", "last").out


def test_many_waits_are_told_in_a_few_lines(desk: Desk) -> None:
    terminal = opened(desk, NAPS, "task.started", 7)
    one = desk.call("skip", "last", "nap", "--iteration", "6")
    assert one.out.splitlines()[0] == "The sleep of nap[6] ends now."
    lines = desk.call("skip", "last").out.splitlines()
    assert lines[:5] == [f"The sleep of nap[{index}] ends now." for index in range(5)]
    assert lines[5] == "And 1 more."
    assert terminal.wait().status == 0


def test_where_nobody_works_on_the_run_it_goes_on_when_resumed(desk: Desk) -> None:
    bell = desk.pipe("bell")
    terminal = desk.open("run", desk.write("doc.yaml", FETCH))
    bell.read()
    while "task.retry_scheduled" not in desk.names():
        assert terminal.process.poll() is None
    terminal.interrupt()
    terminal.wait()
    (desk.folder / "there").touch()
    run = desk.runs()[0]["run"]
    assert desk.call("skip", run).out.splitlines()[0] == "Attempt 2 of fetch starts now."
    shown = desk.call("show", run).out
    assert "wait skipped by" in shown
    desk.call("pause", run)
    resumed = desk.call("resume", run, "--json")
    assert (resumed.status, resumed.json["status"]) == (0, "done")


def test_a_paused_run_says_how_it_goes_on(desk: Desk) -> None:
    terminal = opened(desk, NAPS.replace("range(7)", "range(1)"), "task.started")
    desk.call("pause", "last")
    lines = desk.call("skip", "last").out.splitlines()
    assert lines[0] == "The sleep of nap[0] ends now."
    assert lines[1].startswith("The run is paused: `anew resume ")
    while "task.processed" not in desk.names():
        assert terminal.process.poll() is None
    terminal.stop()


def test_in_a_paused_run_the_next_attempt_starts_when_it_is_resumed(desk: Desk) -> None:
    bell = desk.pipe("bell")
    terminal = desk.open("run", desk.write("doc.yaml", FETCH))
    bell.read()
    while "task.retry_scheduled" not in desk.names():
        assert terminal.process.poll() is None
    desk.call("pause", "last")
    told = desk.call("skip", "last", "--by", "ann", "fetch").out.splitlines()
    assert told[0] == "Attempt 2 of fetch starts when the run is resumed."
    assert told[1].startswith("The run is paused: `anew resume ")
    terminal.stop()


def test_what_waits_for_nothing_of_the_kind_stays_as_it_is(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    said = desk.call("skip", "last")
    assert (said.status, said.err) == (0, "")
    assert said.out == "nothing of the run waits for a retry, a jump or a sleep\n"


def test_bad_words_are_refused_in_one_line(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    for words, told in (
        (("last", "gret"), "has no step 'gret'. Did you mean 'greet'?"),
        (("last", "--visit", "1"), "name the step, too"),
        (("999",), "999"),
    ):
        said = desk.call("skip", *words)
        assert said.status == 2
        assert said.is_one_clear_line()
        assert told in said.err
    assert desk.call("skip", "last", "greet", "--visit", "-1").status == 2


def test_waits_of_many_runs_are_skipped_by_name(desk: Desk) -> None:
    terminal = opened(desk, NAPS, "task.started", 7)
    told = desk.call("bulk", "skip", "--program", "naps", "--by", "ann", "--yes")
    assert (told.status, told.out.splitlines()[0]) == (0, "skip: 1 run changed, 0 refused")
    assert terminal.wait().status == 0
    assert " s early · ann" in desk.call("timeline", "last").out
