"""Agents in playbooks, through the real runtime: results, retries, credentials, time limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from anew.engine.state import RunState, RunStatus
from anew.languages import load_text
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.stores.memory import MemoryDatabase
from tests.tools.agent.agent_calls import a_model_server, bounded
from tests.tools.agent.test_wire import KEY, ok, refused, reply
from tests.tools.code_calls import wait_until_ended, written


class World:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.database = MemoryDatabase()
        self.engine = Engine(self.database, folder / "scratch")

    async def ended(self, text: str, name: str = "test.yaml") -> tuple[RunState, list[Any]]:
        document = read_document(text, str(self._folder / name))
        run = (await self.engine.start(StartRequest(document, {}))).run
        state = await self.engine.wait(run)
        return state, await read_log(self.database.archive, run)


def in_a_world(folder: Path, work: Callable[[World], Awaitable[None]]) -> None:
    async def play() -> None:
        world = World(folder)
        try:
            await work(world)
        finally:
            await world.engine.stop(0)

    bounded(play())


def test_an_agent_answers_and_later_steps_read_its_text(tmp_path: Path) -> None:
    playbook = """
workflow:
  - step: plan
    tool: {kind: agent, prompt: "Plan {{ 1 + 1 }} things."}
    next: [{step: tell}]
  - step: tell
    tool: {kind: noop, result: "{{ plan.text }} / {{ plan.status }}"}
"""

    async def work(world: World) -> None:
        state, log = await world.ended(playbook)
        assert state.last_result.startswith("[simulated] plan, visit 1, attempt 1, prompt ")
        assert state.last_result.endswith(" / success")
        # Prompt and reply are in the log, with their visit and attempt.
        (asked,) = [e for e in log if e.name == "task.started" and e.step == "plan"]
        assert (asked.inputs["prompt"], asked.visit, asked.attempt) == ("Plan 2 things.", 1, 1)

    in_a_world(tmp_path, work)


def test_a_failing_agent_is_tried_again_by_a_rule_and_every_attempt_is_kept(tmp_path: Path) -> None:
    command = """[ "$ANEW_ATTEMPT" = 3 ] && cat && exit; echo '{"outcome": "retry"}' > "$ANEW_STATUS_FILE" """
    playbook = f"""
workflow:
  - step: plan
    tool:
      kind: agent
      prompt: Try {{{{ attempt }}}}
      command: {json.dumps(command)}
      spec:
        policy:
          rules:
            - when: "{{{{ outcome.error.retryable }}}}"
              then: {{do: retry, attempts: 5, delay: 0}}
            - else: {{then: {{do: continue}}}}
"""

    async def work(world: World) -> None:
        state, log = await world.ended(playbook)
        assert state.status is RunStatus.DONE, state.failure
        assert state.last_result["text"].startswith("Try")
        folder = next((tmp_path / "scratch").glob("*/agents/plan/*"))
        assert sorted(path.name for path in folder.iterdir()) == ["v1.a1", "v1.a2", "v1.a3"]
        assert [e.attempt for e in log if e.name == "task.started"] == [1, 2, 3]

    in_a_world(tmp_path, work)


def test_a_rate_limit_is_waited_out_and_the_key_stays_out_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = {"type": "openai", "data": {"api_key": KEY}}
    monkeypatch.setenv("ANEW_CREDENTIAL_MODEL_KEY", json.dumps(credential))
    heard_keys: list[str] = []

    def says(heard: Any) -> Any:
        heard_keys.append(heard.headers["authorization"])
        if len(heard_keys) == 1:
            return refused(429, {"message": f"slow down, {KEY}"}, retry_after_ms="1")(heard)
        return ok(reply("openai", "Hello."))(heard)

    async def work(world: World) -> None:
        async with a_model_server(says) as server:
            playbook = f"""
keychain: [{{name: model_key, provider: env}}]
workflow:
  - step: ask
    tool:
      kind: agent
      provider: openai
      model: m-1
      prompt: Say hello.
      base_url: {server.url}/v1
      auth: model_key
      retry: {{max_attempts: 3, initial_delay: 0.001}}
"""
            state, log = await world.ended(playbook)
            assert state.status is RunStatus.DONE, state.failure
            assert state.last_result["text"] == "Hello."
            assert heard_keys == [f"Bearer {KEY}"] * 2
            assert KEY not in repr(log)

    in_a_world(tmp_path, work)


def test_an_agent_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    playbook = """
workflow:
  - step: plan
    tool:
      kind: agent
      prompt: Think.
      command: "echo thinking; sleep 99 & echo $$ $! > pids; wait"
      timeout: 2
"""

    async def work(world: World) -> None:
        state, log = await world.ended(playbook)
        assert state.failure["kind"] == "timeout"
        for pid in map(int, (await written(tmp_path / "pids")).split()):
            await asyncio.to_thread(wait_until_ended, pid)
        assert "thinking" in repr(log)

    in_a_world(tmp_path, work)


GRAPH = r"""
digraph g {
  graph [goal="ship it", default_fidelity="full", model_stylesheet="* { llm_model: m-1; llm_provider: p }"]
  start [shape=Mdiamond]
  exit [shape=Msquare]
  plan [prompt="Plan: $goal", thread_id="t", command="echo \"$ANEW_MODEL $ANEW_PROVIDER $ANEW_THREAD $ANEW_FIDELITY\""]
  work [prompt="Work.", thread_id="t", command="cat; echo '{\"outcome\": \"needs_fix\", \"preferred_label\": \"B\", \"context_updates\": {\"n\": 3}}' > $ANEW_STATUS_FILE"]
  fix [prompt="Last: $n", command="cat"]
  ship [prompt="Ship."]
  start -> plan -> work
  work -> ship [label="A"]
  work -> fix [label="B"]
  fix -> exit
  ship -> exit
}
"""


def test_a_node_of_a_graph_tells_its_style_and_thread_and_leads_the_run(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        state, log = await world.ended(GRAPH, "graph.dot")
        assert state.status is RunStatus.DONE, state.failure
        ended = [e for e in log if e.name == "task.processed" and e.outcome.result]
        told = {event.step: event.outcome.result["text"] for event in ended}
        assert told["plan"] == "m-1 p t full\n"
        assert (
            told["work"] == "[user]\nPlan: ship it\n\n[assistant]\nm-1 p t full\n\n\n[user]\nWork."
        )
        assert told["fix"].endswith("Last: 3")
        assert "ship" not in told

    in_a_world(tmp_path, work)


def test_the_checker_knows_the_inputs_of_agents() -> None:
    found = load_text(
        "workflow: [{step: a, tool: {kind: agent, prompt: x, modle: m}}]", "a.yaml"
    ).findings
    assert any("modle" in finding.message for finding in found)
    missing = load_text("workflow: [{step: a, tool: {kind: agent, model: m}}]", "a.yaml").findings
    assert any("prompt" in finding.message for finding in missing)
    older = "workflow: [{step: a, tool: {kind: agent, prompt: x, llm_model: m, llm_provider: p, thread_id: t}}]"
    program = load_text(older, "a.yaml").program
    assert program is not None
