"""The command backend with real processes: prompt in, reply out, status file, nothing left."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from anew.engine.outcome import Outcome
from anew.program.policy import Verdict
from anew.tool import AttemptRef
from anew.tools.agent import AgentTool
from anew.tools.agent.backends.shared_files import folder_name
from anew.tools.agent.status import AGENT_STATUS_BYTES_MAX
from anew.values import Object, Value
from tests.tools.agent.agent_calls import a_call, agent, answer_of, bounded, error_of
from tests.tools.code_calls import (
    PATIENCE_SECONDS,
    has_ended,
    open_files,
    own_children,
    wait_until_ended,
    written,
)


def writing(status: Value, *, then: str = "") -> str:
    """A command that leaves this status."""
    text = status if isinstance(status, str) else json.dumps(status)
    return f"printf '%s' '{text}' > \"$ANEW_STATUS_FILE\"\n{then}"


# --- what goes in


def test_the_prompt_is_on_standard_input_and_the_output_is_the_reply(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command="cat; echo thought >&2", preamble="Before é.")
    assert outcome.error is None
    assert outcome.result == {
        "text": "Before é.\n\nSay hello.", "status": "success", "backend": "command", "exit_code": 0
    }  # fmt: skip
    assert outcome.logs == {"stderr": "thought\n"}


def test_an_argument_may_name_the_file_of_the_prompt_instead(tmp_path: Path) -> None:
    script = (
        "import sys; print(open(sys.argv[1]).read() + '|' + sys.stdin.read() + '|' + sys.argv[2])"
    )
    command = [sys.executable, "-c", script, "{prompt_file}", "--model={model}"]
    assert (
        agent(tmp_path, command=command, model="m-1").result["text"] == "Say hello.||--model=m-1\n"
    )


def test_a_list_is_run_without_a_shell(tmp_path: Path) -> None:
    command: list[Value] = ["echo", "$HOME; {not} {a: 1}", 5]
    assert agent(tmp_path, command=command).result["text"] == "$HOME; {not} {a: 1} 5\n"


def test_a_value_is_never_spliced_into_shell_text(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command="echo {model} $ANEW_MODEL", model="$(touch never)")
    assert outcome.result["text"] == "{model} $(touch never)\n"
    assert not (tmp_path / "never").exists()


def test_a_program_is_told_about_its_task_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hidden")
    monkeypatch.setenv("LANG", "C.UTF-8")
    inputs: Object = {
        "model": "m-1", "provider": "p", "thread": "t", "fidelity": "compact", "reasoning_effort": "low",
        "env": {"KEY": "k", "N": 5, "LANG": None},
    }  # fmt: skip
    lines = agent(tmp_path, command="env", **inputs).result["text"].splitlines()
    told = dict(line.split("=", 1) for line in lines)
    for name in ("PWD", "OLDPWD", "SHLVL", "_"):
        told.pop(name, None)
    folder = tmp_path / "scratch/agents/plan/plan/v3.a2"
    assert told.keys() - {"PATH", "HOME"} == {
        "KEY", "N", "ANEW_IDEMPOTENCY_KEY", "ANEW_PROMPT_FILE", "ANEW_STATUS_FILE", "ANEW_RUN", "ANEW_STEP",
        "ANEW_VISIT", "ANEW_ATTEMPT", "ANEW_MODEL", "ANEW_PROVIDER", "ANEW_THREAD", "ANEW_FIDELITY",
        "ANEW_REASONING_EFFORT",
    }  # fmt: skip
    assert (told["ANEW_RUN"], told["ANEW_STEP"], told["ANEW_VISIT"], told["ANEW_ATTEMPT"]) == (
        "71",
        "plan",
        "3",
        "2",
    )
    assert (told["ANEW_MODEL"], told["ANEW_PROVIDER"], told["ANEW_THREAD"]) == ("m-1", "p", "t")
    assert (told["ANEW_FIDELITY"], told["ANEW_REASONING_EFFORT"]) == ("compact", "low")
    assert (told["ANEW_PROMPT_FILE"], told["ANEW_STATUS_FILE"]) == (
        f"{folder}/prompt.md",
        f"{folder}/status.json",
    )
    assert (told["KEY"], told["N"]) == ("k", "5")


def test_what_was_said_earlier_stands_before_the_prompt(tmp_path: Path) -> None:
    history = [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}]
    outcome = agent(tmp_path, command="cat", fidelity="full", history=history, system="Be brief.")
    assert (
        outcome.result["text"] == "Be brief.\n\n[user]\na\n\n[assistant]\nb\n\n[user]\nSay hello."
    )


def test_a_program_runs_beside_its_document_or_where_it_says(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert agent(tmp_path, command="pwd").result["text"] == f"{tmp_path}\n"
    assert agent(tmp_path, command="pwd", cwd="sub").result["text"] == f"{tmp_path}/sub\n"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "command must be"),
        ({"command": " "}, "command must be"),
        ({"command": []}, "command must be"),
        ({"command": [["a"]]}, "command 1 is not a text"),
        ({"command": ["echo", "{model}"]}, "command 2 has {model}, and the task gives no model"),
        ({"command": ["echo", "a\0b"]}, "command 2 has a NUL"),
        ({"command": ["no-such-program-anywhere"]}, "'no-such-program-anywhere' was not found"),
        ({"command": ["./no-such-file"]}, "was not found"),
        ({"command": ["echo"], "env": {"PATH": ""}}, "was not found"),
        ({"command": "x" * 3_000_000}, "cannot be started"),
        ({"command": "true", "cwd": "nowhere"}, "cwd 'nowhere' is not a folder"),
        ({"command": "true", "env": {"A=B": "1"}}, "'A=B'"),
        ({"command": "true", "env": {"A": ["secret"]}}, "env.A must be"),
        ({"command": "true", "env": {"A": "secret\0"}}, "env.A has a NUL"),
        ({"command": "true", "status_file": "."}, "status_file must be"),
        ({"command": "true", "auto_status": "perhaps"}, "auto_status must be true or false"),
    ],
)  # fmt: skip
def test_inputs_that_cannot_be_used_are_config_errors(
    tmp_path: Path, inputs: Object, words: str
) -> None:
    error = error_of(agent(tmp_path, backend="command", **inputs))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert "secret" not in error["message"]


# --- what comes out


def test_a_status_file_says_how_it_went(tmp_path: Path) -> None:
    status = {
        "outcome": "partial_success",
        "preferred_label": "Fix",
        "suggested_next_ids": ["a"],
        "context_updates": {"n": 1},
        "notes": "half",
    }
    outcome = agent(tmp_path, command=writing(status, then="echo text"))
    assert (outcome.error, outcome.verdict) == (None, Verdict.PARTIAL)
    assert (outcome.label, outcome.suggested, outcome.updates) == ("Fix", ("a",), {"n": 1})
    assert (outcome.result["text"], outcome.result["notes"]) == ("text\n", "half")


def test_a_status_file_that_says_failure_counts_although_the_exit_status_is_zero(
    tmp_path: Path,
) -> None:
    outcome = agent(
        tmp_path, command=writing({"outcome": "fail", "failure_reason": "tests"}, then="echo text")
    )
    assert error_of(outcome)["message"] == "tests"
    assert outcome.result["text"] == "text\n"


def test_a_custom_word_is_kept_for_routing(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command=writing({"outcome": "needs_dod"}))
    assert (outcome.error, outcome.word) == (None, "needs_dod")


def test_another_exit_status_than_zero_is_a_failure_that_keeps_the_text(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command="echo half; echo 'no model' >&2; exit 3")
    error = error_of(outcome)
    assert (error["kind"], error["code"], error["type"], error["retryable"]) == (
        "exit_code",
        3,
        "UNKNOWN",
        None,
    )
    assert error["message"] == "the agent's command ended with exit status 3: no model"
    assert (outcome.result["text"], outcome.result["exit_code"], outcome.result["status"]) == (
        "half\n",
        3,
        "failure",
    )


def test_a_failed_program_has_failed_whatever_its_status_says(tmp_path: Path) -> None:
    outcome = agent(
        tmp_path,
        command=writing({"outcome": "success", "context_updates": {"n": 1}}, then="exit 1"),
    )
    assert error_of(outcome)["kind"] == "exit_code"
    assert outcome.updates == {"n": 1}
    said = {"outcome": "fail", "error": {"type": "TERMINAL", "message": "no money"}}
    error = error_of(agent(tmp_path, command=writing(said, then="exit 4")))
    assert (error["message"], error["type"], error["retryable"], error["code"]) == (
        "no money",
        "TERMINAL",
        False,
        4,
    )


def test_a_signal_is_named(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command="kill -TERM $$")
    assert error_of(outcome)["message"] == "the agent's command was killed by SIGTERM"
    assert outcome.result["exit_code"] == 143


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (writing("{nope"), "status is not JSON"),
        (writing("[1]"), "status is not a JSON object"),
        (writing({"outcome": 7}), "`outcome` that is not a text"),
        (f'head -c {AGENT_STATUS_BYTES_MAX + 1} /dev/zero > "$ANEW_STATUS_FILE"', "longer than"),
        ('mkfifo "$ANEW_STATUS_FILE"', "is not a file"),
        ('mkdir "$ANEW_STATUS_FILE"', "is not a file"),
    ],
)
def test_a_status_file_that_cannot_be_read_is_a_failure(
    tmp_path: Path, command: str, words: str
) -> None:
    outcome = agent(tmp_path, command=f"{command}\necho text")
    assert words in error_of(outcome)["message"]
    assert error_of(outcome)["retryable"] is None


def test_a_status_that_is_not_json_is_shown_with_its_place(tmp_path: Path) -> None:
    message = error_of(agent(tmp_path, command=writing('{"outcome": fail}')))["message"]
    assert "is not JSON: Expecting value (line 1, column 13)" in message
    assert """it starts with '{"outcome": fail}""" in message
    assert "status.json" in message
    cut = error_of(agent(tmp_path, command=writing('{"outcome": ')))["message"]
    assert "(line 1, column 13)" in cut
    empty = error_of(agent(tmp_path, command=': > "$ANEW_STATUS_FILE"'))["message"]
    assert "it is empty" in empty
    text = error_of(agent(tmp_path, command="printf 'x\\377' > \"$ANEW_STATUS_FILE\""))["message"]
    assert "it is not UTF-8 (byte 2)" in text
    deep = error_of(agent(tmp_path, command=writing("[" * 100_000)))["message"]
    assert "nested too deeply" in deep


def test_a_status_may_end_the_output_instead(tmp_path: Path) -> None:
    outcome = agent(
        tmp_path,
        command="""echo 'Done.'; echo '```json'; echo '{"outcome": "retry"}'; echo '```'""",
    )
    assert (outcome.word, error_of(outcome)["type"]) == ("retry", "TRANSIENT")


@pytest.mark.parametrize(
    ("auto", "fails"),
    [(None, False), (True, False), ("true", False), (False, True), ("false", True)],
)
def test_without_a_status_success_is_assumed_unless_the_author_forbids_it(
    tmp_path: Path, auto: Value, fails: bool
) -> None:
    outcome = agent(tmp_path, command="echo text", auto_status=auto)
    assert (outcome.error is not None) == fails
    assert outcome.result["text"] == "text\n"
    assert agent(tmp_path, command=writing({"outcome": "success"}), auto_status=auto).error is None


def test_a_status_of_an_earlier_execution_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text('{"outcome": "fail"}')
    assert agent(tmp_path, command="true", status_file="status.json").error is None
    left = writing({"outcome": "fail"})
    assert agent(tmp_path, command=left).error is not None
    # The same attempt again, as after a lost worker.
    assert agent(tmp_path, command="true").error is None


def test_the_author_may_say_where_the_status_is_written(tmp_path: Path) -> None:
    outcome = agent(
        tmp_path, command='echo \'{"outcome": "skipped"}\' > s.json', status_file="s.json"
    )
    assert outcome.verdict is Verdict.SKIPPED


def test_prompts_are_kept_per_visit_and_attempt(tmp_path: Path) -> None:
    async def session() -> None:
        for visit, attempt, iteration in ((1, 1, None), (1, 2, None), (2, 1, None), (1, 1, 4)):
            place = AttemptRef("71", "my step/../x", visit, iteration, "ask", attempt)
            await answer_of(
                a_call(
                    tmp_path, place=place, command="cat", prompt=f"{visit}.{attempt}.{iteration}"
                )
            )

    bounded(session())
    folder = tmp_path / "scratch/agents" / folder_name("my step/../x") / "ask"
    kept = {path.parent.name: path.read_text() for path in folder.glob("*/prompt.md")}
    assert kept == {
        "v1.a1": "1.1.None",
        "v1.a2": "1.2.None",
        "v2.a1": "2.1.None",
        "v1.i4.a1": "1.1.4",
    }


@pytest.mark.parametrize("name", [".", "..", "a/b", "", "é", "a" * 200, ".hidden"])
def test_any_step_has_a_folder_name(name: str) -> None:
    safe = folder_name(name)
    assert safe.startswith("step-")
    assert "/" not in safe
    assert folder_name("plan_1.b") == "plan_1.b"


def test_output_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_OUTPUT_BYTES_MAX", "10000")
    text = agent(tmp_path, command="yes | head -c 3000000").result["text"]
    assert len(text) < 10_200
    assert "left out (ANEW_OUTPUT_BYTES_MAX)" in text


# --- nothing is left behind


def cancelled(folder: Path, command: Value) -> tuple[str, Object]:
    async def session() -> tuple[str, Object]:
        call = a_call(folder, command=command)
        task = asyncio.ensure_future(AgentTool().call(call))
        pids = await written(folder / "pids")
        task.cancel()
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        assert task.cancelled()
        return pids, call.printed

    return bounded(session())


def test_a_stopped_program_may_clean_up_and_what_it_printed_is_kept(tmp_path: Path) -> None:
    loop = "trap 'echo cleaned > after; exit' TERM; echo begun; echo $$ > pids; while :; do sleep 0.01; done"
    pids, printed = cancelled(tmp_path, loop)
    assert has_ended(int(pids))
    assert (tmp_path / "after").read_text() == "cleaned\n"
    assert printed["stdout"] == "begun\n"


def test_stopping_kills_the_whole_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.tools.agent.backends.command.AGENT_GRACE_SECONDS_MAX", 0.05)
    stubborn = "trap '' TERM; sleep 99 & echo $$ $! > pids; while :; do sleep 99; done"
    pids, _ = cancelled(tmp_path, ["/bin/sh", "-c", stubborn])
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_a_child_in_the_background_does_not_outlive_the_call(tmp_path: Path) -> None:
    outcome = agent(tmp_path, command="sleep 99 & echo $!")
    wait_until_ended(int(outcome.result["text"]))


def test_a_program_dies_with_its_worker(tmp_path: Path) -> None:
    worker_code = """
import asyncio, sys
from pathlib import Path
from anew.tools.agent import AgentTool
from tests.tools.agent.agent_calls import a_call
command = "trap '' TERM HUP; sleep 99 & echo $$ $! > pids; wait; sleep 99"
asyncio.run(AgentTool().call(a_call(Path(sys.argv[1]), command=command)))
"""
    worker = subprocess.Popen([sys.executable, "-c", worker_code, str(tmp_path)])
    pids = asyncio.run(written(tmp_path / "pids"))
    worker.kill()
    worker.wait()
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_a_program_does_not_begin_when_its_worker_dies_while_starting_it(tmp_path: Path) -> None:
    worker_code = """
import asyncio, os, sys
from pathlib import Path
from anew.tools import processes
from anew.tools.agent import AgentTool
from tests.tools.agent.agent_calls import a_call
def die(life, group):
    Path(sys.argv[1], "group").write_text(f"{group}\\n")
    os.kill(os.getpid(), 9)
processes._tie_lives = die
asyncio.run(AgentTool().call(a_call(Path(sys.argv[1]), command="touch begun")))
"""
    subprocess.run([sys.executable, "-c", worker_code, str(tmp_path)], check=False)
    wait_until_ended(int((tmp_path / "group").read_text()))
    assert not (tmp_path / "begun").exists()


def test_nothing_is_left_open_or_unreaped(tmp_path: Path) -> None:
    async def session() -> tuple[int, int, list[int]]:
        tool = AgentTool()
        commands: list[Value] = [
            "true",
            "exit 1",
            "sleep 99 &",
            "x" * 3_000_000,
            writing("{"),
            ["cat"],
        ]
        await tool.call(a_call(tmp_path, command="true"))
        before = open_files()
        for command in commands * 5:
            await tool.call(a_call(tmp_path, command=command))
        return before, open_files(), own_children()

    known = own_children()
    before, after, children = bounded(session())
    assert after == before
    assert children == known


def test_many_programs_run_beside_each_other(tmp_path: Path) -> None:
    async def session() -> list[Outcome]:
        tool = AgentTool()
        places = [AttemptRef("71", "plan", 1, n, "plan", 1) for n in range(20)]
        calls = [
            a_call(tmp_path, place=place, command="cat", prompt=str(place.iteration))
            for place in places
        ]
        return await asyncio.gather(*map(tool.call, calls))

    assert [outcome.result["text"] for outcome in bounded(session())] == [str(n) for n in range(20)]
