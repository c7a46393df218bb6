"""`anew answer`, and what `anew run` does while a run waits for a person."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.surfaces.cli.terminals import (  # noqa: F401
    PATIENCE_SECONDS,
    ROOT,
    Desk,
    Held,
    a_desk,
    a_held_run,
)

ASK = """\
metadata: {name: ask}
workflow:
  - step: gate
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ gate.label }} by {{ gate.by }}"}
"""
TWO = """\
workflow:
  - step: start
    next: [{step: one}, {step: two}]
  - step: one
    tool: {kind: human, question: "One?", choices: [Yes, No]}
  - step: two
    tool: {kind: human, question: "Two?"}
"""
TIMED = ASK.replace("choices:", "timeout: 1h, timeout_action: first, choices:")


def waiting(desk: Desk, text: str = ASK) -> str:
    """The id of a run that waits."""
    told = desk.call("run", desk.write("ask.yaml", text), "--json")
    assert told.status == 3
    run: str = told.json["run"]
    return run


def test_a_run_that_waits_for_a_person_ends_the_command_with_3_and_says_how_to_answer(
    desk: Desk,
) -> None:
    told = desk.call("run", desk.write("ask.yaml", ASK))
    [row] = desk.runs("--status", "waiting")
    assert told.status == 3
    assert "Waiting for a person in gate" in told.out
    assert f"`anew answer {row['run']} CHOICE` answers" in told.out
    assert told.err == ""


def test_an_answer_tells_what_is_new_and_not_the_history(desk: Desk) -> None:
    waiting(
        desk,
        ASK.replace("  - step: gate", "  - step: early\n    next: [{step: gate}]\n  - step: gate"),
    )
    told = desk.call("answer", "last", "yes")
    assert told.status == 0
    assert "last: done" in told.out
    assert "early" not in told.out


def test_json_has_the_open_questions(desk: Desk) -> None:
    told = desk.call("run", desk.write("ask.yaml", TIMED), "--json").json
    assert told["status"] == "waiting"
    [question] = told["questions"]
    assert re.fullmatch(r"\d{4}-.*Z", question.pop("deadline"))
    assert question == {
        "run": told["run"],
        "step": "gate",
        "task": "gate",
        "question": "Ship it?",
        "choices": ["[Y] Yes", "[N] No"],
        "asked": 5,
    }


def test_an_answer_goes_on_with_the_run_to_its_end(desk: Desk) -> None:
    run = waiting(desk)
    told = desk.call("answer", run, "n", "--by", "ann", "--json")
    assert told.status == 0
    assert told.json["result"] == "[N] No by ann"
    assert "questions" not in told.json


def test_an_answer_to_one_of_two_questions_waits_for_the_other(desk: Desk) -> None:
    run = waiting(desk, TWO)
    unclear = desk.call("answer", run, "yes")
    assert unclear.status == 2
    assert unclear.is_one_clear_line()
    assert "`--step one` (One?); `--step two` (Two?)" in unclear.err
    assert desk.call("answer", run, "looks good", "--step", "two", "--json").status == 3
    assert desk.call("answer", run, "yes", "--json").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("answer", "last", "maybe"), "none of the choices of step gate. Choose from [Y] Yes, [N]"),
        (("answer", "last", "y", "--step", "last"), "step 'last' of run"),
        (("answer", "77777", "y"), "there is no run 77777"),
    ],
)
def test_a_refused_answer_is_one_clear_line_and_changes_nothing(
    desk: Desk, words: tuple[str, ...], said: str
) -> None:
    waiting(desk)
    before = desk.log()
    told = desk.call(*words)
    assert told.status == 2
    assert told.is_one_clear_line()
    assert said in told.err
    assert desk.log() == before


LOOP = """\
workflow:
  - step: each
    loop: {in: "{{ [0, 1, 2] }}", iterator: n, spec: {mode: parallel, max_in_flight: 3}}
    tool: {kind: human, question: "Number {{ iter.n }}?"}
"""


def test_one_of_several_questions_of_a_step_is_named_by_its_number(desk: Desk) -> None:
    run = waiting(desk, LOOP)
    rows = [json.loads(line) for line in desk.call("questions", "--json").out.splitlines()]
    named = {row["question"]: str(row["asked"]) for row in rows}
    remedy = f"`anew answer {run} TEXT --step each --asked {named['Number 2?']}"
    assert remedy in desk.call("questions").out
    words = ("answer", run, "last", "--step", "each", "--asked", named["Number 2?"])
    assert desk.call(*words).status == 3
    left = [one["question"] for one in desk.call("show", run, "--json").json["questions"]]
    assert left == ["Number 0?", "Number 1?"]
    told = desk.call(*words)
    assert (told.status, "is not open any more" in told.err) == (2, True)
    assert desk.call("answer", run, "x", "--asked", "9" * 30).status == 2


def test_an_answer_may_begin_with_a_hyphen(desk: Desk) -> None:
    run = waiting(desk, "workflow: [{step: -a, tool: {kind: human, question: How much?}}]")
    words = ("answer", run, "--step=-a", "--by=-me", "--json", "--", "--no-wait")
    assert desk.call(*words).json["result"]["answer"] == "--no-wait"


def test_a_number_counts_in_the_run_that_asks(desk: Desk) -> None:
    desk.write("ask.yaml", ASK)
    parent = "workflow: [{step: call, tool: {kind: playbook, file: ask.yaml}}]"
    assert desk.call("run", desk.write("parent.yaml", parent)).status == 3
    [row] = [row for row in desk.runs() if row["program"] == "parent"]
    [question] = row["questions"]
    words = ("y", "--asked", str(question["asked"]), "--by", "ann", "--json")
    told = desk.call("answer", row["run"], *words)
    assert told.status == 2
    assert f"but run {question['run']}, which it waits for, has one" in told.err
    assert desk.call("answer", question["run"], *words).json["result"] == "[Y] Yes by ann"


def test_a_second_answer_is_refused(desk: Desk) -> None:
    run = waiting(desk)
    kept = desk.call("answer", run, "yes", "--no-wait", "--by", "ann")
    assert (kept.status, kept.err) == (0, "")
    assert kept.out.startswith("answered; ")
    again = desk.call("answer", run, "no")
    assert again.status == 2
    assert "That of gate was answered already by ann: [Y] Yes." in again.err
    assert desk.call("resume", run, "--json").json["result"] == "[Y] Yes by ann"
    ended = desk.call("answer", run, "no")
    assert ended.status == 2
    assert "has ended (done)" in ended.err
    assert desk.names(run).count("human.answered") == 1


def test_of_two_commands_that_answer_at_once_one_wins(desk: Desk) -> None:
    run = waiting(desk)
    opened = [desk.open("answer", run, word, "--by", word, "--json") for word in ("yes", "no")]
    with ThreadPoolExecutor(2) as threads:
        told = list(threads.map(lambda one: one.wait(), opened))
    assert sorted(one.status for one in told) == [0, 2]
    assert desk.names(run).count("human.answered") == 1


def test_wait_stays_until_the_deadline_decides(desk: Desk) -> None:
    told = desk.call("run", desk.write("ask.yaml", TIMED.replace("1h", "1s")), "--wait", "--json")
    assert (told.status, told.json["result"]) == (0, "[Y] Yes by null")


def test_resume_after_the_deadline_goes_on_without_an_answer(desk: Desk) -> None:
    told = desk.call("run", desk.write("ask.yaml", TIMED.replace("1h", "10ms")), "--json")
    assert told.status in (0, 3)  # a deadline so near may have passed already
    assert desk.call("resume", told.json["run"], "--wait", "--json").status == 0


def test_a_second_terminal_answers_a_run_that_the_first_waits_for(desk: Desk) -> None:
    first = desk.open("run", desk.write("ask.yaml", ASK), "--wait", "--json")
    run = until_waiting(desk)
    told = desk.call("answer", run, "yes", "--by", "bob", "--json")
    assert (told.status, told.json["result"]) == (0, "[Y] Yes by bob")
    assert first.wait().json["result"] == "[Y] Yes by bob"


def test_watch_says_how_to_answer_and_follows_on(desk: Desk) -> None:
    run = waiting(desk)
    watch = desk.open("watch", run)
    watched = desk.folder / "terminal-0.out"
    until = time.monotonic() + PATIENCE_SECONDS
    while f"`anew answer {run} CHOICE` answers" not in watched.read_text():
        assert time.monotonic() < until, watched.read_text()
        time.sleep(0.05)
    assert desk.call("answer", run, "yes", "--json").status == 0
    told = watch.wait()
    assert told.status == 0
    assert "`anew answer" in told.err


def test_show_of_a_waiting_run_says_how_to_answer(desk: Desk) -> None:
    run = waiting(desk)
    assert f"`anew answer {run} CHOICE` answers" in desk.call("show", run).out


def until_waiting(desk: Desk) -> str:
    """The run that waits, once one does."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        rows = desk.runs("--status", "waiting") if (desk.folder / ".anew/anew.db").exists() else []
        if rows:
            run: str = rows[0]["run"]
            return run
        time.sleep(0.05)
    raise AssertionError("no run waits")


def test_a_guest_whose_run_waits_ends_with_3_and_may_be_answered_through_the_owner(
    desk: Desk, held: Held
) -> None:
    run = waiting(desk)
    told = desk.call("answer", run, "y", "--json")
    assert told.json["status"] == "done"
    assert held.terminal.process.poll() is None


def test_auto_approve_takes_the_first_choice_as_owner_and_as_guest(desk: Desk) -> None:
    file = desk.write("ask.yaml", ASK)
    told = desk.call("run", file, "--auto-approve", "--json")
    assert (told.status, told.json["result"]) == (0, "[Y] Yes by auto-approve")


def test_auto_approve_answers_for_its_own_run_only(desk: Desk, held: Held) -> None:
    other = waiting(desk)
    told = desk.call("run", "ask.yaml", "--auto-approve", "--json")
    assert told.json["result"] == "[Y] Yes by auto-approve"
    assert [row["run"] for row in desk.runs("--status", "waiting")] == [other]


def test_resume_of_a_waiting_run_ends_with_3_again(desk: Desk) -> None:
    run = waiting(desk)
    assert desk.call("resume", run, "--json").json["status"] == "waiting"
    assert desk.call("resume", "--quiet").status == 3


def test_resume_goes_through_several_waiting_runs(desk: Desk) -> None:
    runs = [waiting(desk), waiting(desk)]
    told = desk.call("resume", "--quiet")
    assert told.status == 3
    assert all(run in told.out for run in runs)


def test_a_paused_run_keeps_the_answer(desk: Desk) -> None:
    run = waiting(desk)
    assert desk.call("pause", run).out == "paused\n"
    told = desk.call("answer", run, "yes", "--by", "ann")
    assert told.status == 0
    assert "the run is paused" in told.out
    assert desk.call("resume", run, "--json").json["result"] == "[Y] Yes by ann"


def test_a_waiting_run_is_cancelled_and_pruned_like_any_other(desk: Desk) -> None:
    run = waiting(desk)
    assert "0" in desk.call("prune", "--older-than", "0s").out
    assert desk.call("cancel", run).out == "cancelled\n"
    assert desk.runs("--status", "waiting") == []


def test_the_question_of_a_child_is_answered_through_its_parent(desk: Desk) -> None:
    desk.write("ask.yaml", ASK)
    parent = "workflow: [{step: call, tool: {kind: playbook, file: ask.yaml}}]"
    told = desk.call("run", desk.write("parent.yaml", parent))
    assert told.status == 3
    assert re.search(
        r"person in its child run \d+, step gate: Ship it\? · choices: \[Y\] Y", told.out
    )
    shown = desk.call("show", "last").out
    [row] = [row for row in desk.runs() if row["program"] == "parent"]
    assert re.search(r"Waiting for a person in its child run \d+, step gate: Ship it\?", shown)
    assert f"`anew answer {row['run']} CHOICE` answers." in shown
    assert f"No process is working on it: `anew answer {row['run']} CHOICE` continues it." in shown
    told = desk.call("show", row["run"], "--json").json
    assert told["status"] == row["status"] == "running"
    assert told["questions"] == row["questions"]
    assert [one["question"] for one in told["questions"]] == ["Ship it?"]
    listed = desk.call("runs").out.splitlines()
    [line] = [one for one in listed if "waiting for a person or a signal in its child run" in one]
    assert told["questions"][0]["run"] in line
    answered = desk.call("answer", "last", "y", "--by", "ann", "--json")
    assert answered.json["result"] == "[Y] Yes by ann"


RESTARTED = """\
workflow:
  - step: start
    tool: {kind: shell, command: "echo x >> count.txt; wc -l < count.txt"}
    next: {arcs: [{step: again, when: "{{ event.result.stdout | trim | int < 3 }}"}, {step: last}]}
  - step: again
    tool: {kind: restart, entry: start}
  - step: last
    tool: {kind: noop, result: done}
"""


def test_run_follows_a_restarted_run_to_the_last_of_its_line(desk: Desk) -> None:
    told = desk.call("run", desk.write("line.yaml", RESTARTED), "--json")
    assert (told.status, told.json["result"]) == (0, "done")
    rows = desk.runs()
    assert rows[0]["run"] == told.json["run"]
    assert told.json["continues"] == rows[1]["run"]
    first = desk.call("show", rows[2]["run"], "--json").json
    assert first["continued_as"] == rows[1]["run"]


def test_a_guest_follows_a_restarted_run_too(desk: Desk, held: Held) -> None:
    told = desk.call("run", desk.write("line.yaml", RESTARTED), "--json")
    assert (told.status, told.json["result"]) == (0, "done")


# --- at a terminal -------------------------------------------------------------------------------


class Typed:
    """`anew` at a terminal at which someone types."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.text = ""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:  # pragma: no cover
            os.chdir(folder)
            os.environ.update(TERM="dumb", PYTHONPATH=str(ROOT / "src"))
            os.execv(sys.executable, [sys.executable, "-m", "anew", *words])

    def type(self, text: str, times: int = 1) -> None:
        """Type this at the next prompt."""
        while self.text.count("\n> ") < times:
            assert self._read(), self.text
        os.write(self._terminal, text.encode())

    def _read(self) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], PATIENCE_SECONDS)
        assert ready, f"it says nothing more than {self.text}"
        try:
            said = os.read(self._terminal, 4096)
        except OSError:  # the other side is closed
            return False
        self.text += said.decode().replace("\r", "")
        return bool(said)

    def status(self) -> int:
        while self._read():
            pass
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def test_a_terminal_is_asked_until_an_answer_fits(desk: Desk) -> None:
    at = Typed(desk.folder, "run", desk.write("ask.yaml", ASK))
    at.type("perhaps\n")
    at.type("n\n", times=2)
    assert at.status() == 0
    assert "gate: Ship it?\n  [Y] Yes\n  [N] No\n> " in at.text
    assert "That is none of the choices." in at.text
    assert desk.call("show", "last", "--json").json["result"].startswith("[N] No by ")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_leaving_the_question_leaves_the_run_waiting(desk: Desk, key: str) -> None:
    at = Typed(desk.folder, "run", desk.write("ask.yaml", ASK))
    at.type(key)
    assert at.status() == 3
    assert "CHOICE` answers." in at.text
    assert len(desk.runs("--status", "waiting")) == 1


def test_a_question_that_is_answered_elsewhere_leaves_the_screen(desk: Desk) -> None:
    at = Typed(desk.folder, "run", desk.write("ask.yaml", ASK))
    at.type("")
    desk.call("answer", "last", "yes", "--no-wait")
    assert at.status() == 0
    assert "answered elsewhere" in at.text


def test_a_guest_is_asked_at_its_terminal(desk: Desk, held: Held) -> None:
    at = Typed(desk.folder, "run", desk.write("ask.yaml", ASK))
    at.type("y\n")
    assert at.status() == 0
    assert held.terminal.process.poll() is None


def test_resume_asks_at_the_terminal(desk: Desk) -> None:
    run = waiting(desk)
    at = Typed(desk.folder, "resume", run)
    at.type("2\n")
    assert at.status() == 0


def test_commands_that_are_told_name_the_database_they_are_for(desk: Desk) -> None:
    elsewhere = ("--db", "other runs.db")
    told = desk.call("run", desk.write("ask.yaml", TIMED), *elsewhere)
    assert re.search(r"`anew answer \d+ CHOICE --db 'other runs.db'` answers", told.out)
    shown = desk.call("show", "last", *elsewhere).out
    assert len(re.findall(r"`anew answer \d+ CHOICE --db 'other runs.db'`", shown)) == 2
    assert re.search(r"`anew resume \d+ --db 'other runs.db'` keeps its deadline", shown)
    kept = desk.call("answer", "last", "y", "--no-wait", *elsewhere).out
    assert re.search(r"`anew resume \d+ --db 'other runs.db'` resumes it", kept)
    refused = desk.call("answer", "7777777", "y", "--db=other runs.db").err
    assert "`anew runs --db 'other runs.db'` lists" in refused


def test_the_usual_database_is_not_named(desk: Desk) -> None:
    told = desk.call("run", desk.write("ask.yaml", ASK), "--db", ".anew/anew.db")
    assert re.search(r"`anew answer \d+ CHOICE` answers", told.out)


def test_a_question_without_choices_is_told_to_want_a_text(desk: Desk) -> None:
    text = ASK.replace(', choices: ["[Y] Yes", "[N] No"]', "")
    assert re.search(
        r"`anew answer \d+ TEXT` answers", desk.call("run", desk.write("a.yaml", text)).out
    )
    assert re.search(r"`anew answer \d+ TEXT` continues", desk.call("show", "last").out)
