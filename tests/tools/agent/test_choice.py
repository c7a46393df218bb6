"""Which backend is asked, and how backends of others are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anew.engine.outcome import Outcome, outcome_of
from anew.program.policy import Verdict
from anew.tools.agent import AgentReply, AgentRequest, AgentTool
from anew.tools.agent.choice import BUILT_IN, chosen
from anew.values import Object
from tests.tools.agent.agent_calls import a_call, agent, bounded, error_of


class Given:
    """A backend that says what it was told to say, and keeps what it was asked."""

    def __init__(self, says: object = "hello") -> None:
        self.says = says
        self.asked: list[AgentRequest] = []
        self.is_closed = False

    async def run(self, request: AgentRequest) -> object:
        self.asked.append(request)
        return self.says

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("inputs", "usual", "name"),
    [
        ({}, None, "simulate"),
        ({"provider": "openai", "model": "m"}, None, "simulate"),
        ({"provider": "OpenAI", "auth": {"api_key": "k"}}, None, "openai"),
        ({"provider": "anthropic", "auth": {"api_key": "k"}}, "command", "anthropic"),
        ({"provider": "anthropic"}, "provider", "anthropic"),
        ({"provider": "anthropic"}, "command", "command"),
        (
            {"backend": "simulate", "provider": "openai", "auth": {"api_key": "k"}},
            "command",
            "simulate",
        ),
        ({"command": ["true"]}, "openai", "command"),
        ({"backend": ""}, "mine", "mine"),
    ],
)
def test_the_author_chooses_before_the_operator_and_no_key_chooses_anything(
    inputs: Object, usual: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "in the environment")
    if usual:
        monkeypatch.setenv("ANEW_AGENT_BACKEND", usual)
    assert chosen(inputs) == name


def test_an_operator_may_set_command_and_model_for_tasks_that_name_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANEW_AGENT_COMMAND", 'cat; echo " $ANEW_MODEL $TICKET $HIDDEN"')
    monkeypatch.setenv("ANEW_AGENT_MODEL", "usual")
    monkeypatch.setenv("ANEW_AGENT_ENV", "TICKET, ABSENT")
    monkeypatch.setenv("TICKET", "t-1")
    monkeypatch.setenv("HIDDEN", "no")
    assert agent(tmp_path).result["text"] == "Say hello. usual t-1 \n"
    assert agent(tmp_path, model="own").result["text"] == "Say hello. own t-1 \n"
    assert agent(tmp_path, command="echo mine").result["text"] == "mine\n"
    monkeypatch.setenv("ANEW_AGENT_BACKEND", "simulate")
    assert agent(tmp_path).result["backend"] == "simulate"


def test_a_task_without_provider_cannot_leave_the_choice_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANEW_AGENT_BACKEND", "provider")
    error = error_of(agent())
    assert error["kind"] == "config"
    assert "give it a `provider`" in error["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("opanai", "Did you mean 'openai'?"), ("zzz", "Known: anthropic, command, openai, simulate.")],
)
def test_an_unknown_backend_is_a_config_error_that_helps(name: str, words: str) -> None:
    error = error_of(agent(backend=name))
    assert error["kind"] == "config"
    assert error["message"] == f"unknown agent backend {name!r}. {words}"


def test_simulation_answers_the_same_request_alike_and_others_not() -> None:
    first = agent()
    assert first.result["text"].startswith("[simulated] plan, visit 3, attempt 2, prompt ")
    assert first.result["status"] == "success"
    assert first.result["backend"] == "simulate"
    assert agent().result == first.result
    assert agent(prompt="Something else.").result["text"] != first.result["text"]
    assert agent(preamble="Before.").result["text"] != first.result["text"]


def test_everything_the_author_gives_reaches_the_backend(tmp_path: Path) -> None:
    backend = Given()
    inputs: Object = {
        "backend": "mine", "preamble": "Earlier: nothing.", "goal": "ship", "fidelity": "summary:high",
        "thread": "t1", "model": "m-1", "provider": "p", "reasoning_effort": "high", "max_tokens": "100",
        "temperature": "0.5", "system": "Be brief.", "context": {"a": 1}, "base_url": "http://x",
        "settings": {"depth": 3}, "auth": {"api_key": "k"}, "history": [{"role": "user", "text": "old"}],
    }  # fmt: skip
    outcome = agent(tmp_path, tool=AgentTool({"mine": backend}), **inputs)
    (asked,) = backend.asked
    assert asked.message == "Earlier: nothing.\n\nSay hello."
    assert asked.history == ()  # another fidelity than full has a preamble instead
    assert (asked.node, asked.goal, asked.fidelity, asked.thread) == (
        "plan",
        "ship",
        "summary:high",
        "t1",
    )
    assert (asked.model, asked.provider, asked.reasoning_effort) == ("m-1", "p", "high")
    assert (asked.max_tokens, asked.temperature, asked.system) == (100, 0.5, "Be brief.")
    assert asked.settings == {"depth": 3, "base_url": "http://x"}
    assert (asked.context, asked.auth) == ({"a": 1}, {"api_key": "k"})
    assert (asked.place.visit, asked.place.attempt) == (3, 2)
    assert (asked.folder, asked.scratch) == (tmp_path, tmp_path / "scratch")
    assert outcome.result == {
        "text": "hello", "status": "success", "backend": "mine", "model": "m-1", "thread": "t1"
    }  # fmt: skip
    assert backend.is_closed


@pytest.mark.parametrize("fidelity", [None, "full"])
def test_a_thread_with_a_history_needs_no_preamble(fidelity: str | None) -> None:
    backend = Given()
    said = [
        {"role": "user", "text": "a"},
        {"role": "assistant", "text": " "},
        {"role": "assistant", "text": "b"},
    ]
    tool = AgentTool({"mine": backend})
    agent(tool=tool, backend="mine", fidelity=fidelity, history=said, preamble="x")
    (asked,) = backend.asked
    assert [(message.role, message.text) for message in asked.history] == [
        ("user", "a"),
        ("assistant", "b"),
    ]
    assert asked.message == "Say hello."


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"prompt": "  "}, "prompt is empty"),
        ({"prompt": None}, "prompt is empty"),
        ({"fidelity": "complete"}, "fidelity is 'complete'"),
        ({"history": "text"}, "history must be a list"),
        ({"history": [{"role": "user", "text": "a"}, {"role": "robot", "text": "b"}]}, "history 2"),
        ({"max_tokens": 0.5}, "max_tokens must be a whole number"),
        ({"max_tokens": True}, "max_tokens must be a number"),
        ({"temperature": "warm"}, "temperature must be a number"),
        ({"temperature": "nan"}, "temperature must be a number"),
        ({"model": 5}, "model must be a text"),
        ({"settings": [1]}, "settings must be a mapping"),
    ],
)
def test_inputs_that_cannot_be_used_are_config_errors(inputs: Object, words: str) -> None:
    error = error_of(agent(**inputs))
    assert error["kind"] == "config"
    assert words in error["message"]


def test_a_backend_may_give_an_outcome_or_a_whole_reply() -> None:
    ready = outcome_of({"x": 1})
    assert agent(tool=AgentTool({"mine": Given(ready)}), backend="mine") == ready
    reply = AgentReply(
        text="t", model="m", usage={"input_tokens": 1}, stop="end", verdict=Verdict.PARTIAL
    )
    outcome = agent(tool=AgentTool({"mine": Given(reply)}), backend="mine")
    assert outcome.verdict is Verdict.PARTIAL
    assert (outcome.result["status"], outcome.result["model"], outcome.result["stop"]) == (
        "partial",
        "m",
        "end",
    )


def test_another_answer_of_a_backend_is_its_mistake() -> None:
    error = error_of(agent(tool=AgentTool({"mine": Given(5)}), backend="mine"))
    assert error["kind"] == "tool_error"
    assert "'mine' gave a int" in error["message"]


# --- backends that packages bring


PACKAGE = """
class Parrot:
    async def run(self, request):
        return request.prompt.upper()

    async def close(self):
        pass


def broken():
    raise RuntimeError("no beak")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What an installer leaves of a package with two backends."""
    (tmp_path / "a_parrot_package.py").write_text(PACKAGE)
    folder = tmp_path / "a_parrot_package-0.1.0.dist-info"
    folder.mkdir()
    points = "[anew.agents]\nparrot = a_parrot_package:Parrot\nbroken = a_parrot_package:broken\n"
    (folder / "entry_points.txt").write_text(points)
    (folder / "METADATA").write_text("Name: a-parrot-package\nVersion: 0.1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def test_an_installed_backend_is_found_by_its_name(installed: Path) -> None:
    assert agent(backend="parrot").result["text"] == "SAY HELLO."
    assert "Did you mean 'parrot'?" in error_of(agent(backend="parot"))["message"]


def test_an_installed_backend_that_cannot_be_built_is_named(installed: Path) -> None:
    error = error_of(agent(backend="broken"))
    assert error["kind"] == "config"
    assert "'broken' (a_parrot_package:broken) cannot be loaded: no beak" in error["message"]


def test_a_backend_is_built_once(installed: Path) -> None:
    async def twice() -> tuple[Outcome, Outcome, int]:
        tool = AgentTool()
        first = await tool.call(a_call(backend="parrot"))
        second = await tool.call(a_call(backend="parrot"))
        return first, second, len(tool._backends)

    first, second, count = bounded(twice())
    assert first.result == second.result
    assert count == 1


def test_the_built_in_table_names_what_exists() -> None:
    from anew.tools.agent.choice import backend_named

    for name in BUILT_IN:
        assert hasattr(backend_named(name), "run")
