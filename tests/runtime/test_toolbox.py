"""What tools that packages bring may do wrong at the end of a run, which is not the worse for it."""

import asyncio
import logging

from anew.api import RunStatus, open_engine
from anew.engine.outcome import outcome_of
from anew.tools.agent import AgentTool


class Stubborn:
    """A tool and a backend that does its work, and then cannot be closed."""

    def __init__(self, why="still busy"):
        self._why = why
        self.is_closed = False

    async def call(self, _call):
        return outcome_of("done")

    async def run(self, _request):
        return "done"

    async def close(self):
        self.is_closed = True
        raise RuntimeError(self._why)


class Willing(Stubborn):
    async def close(self):
        self.is_closed = True


def ended(tmp_path, tools, **task):
    """The status of a run of one task, when its engine has been closed."""
    file = tmp_path / "flow.yaml"
    written = ", ".join(f"{key}: {value}" for key, value in task.items())
    file.write_text(f"workflow: [{{step: a, tool: {{{written}}}}}]")

    async def play():
        async with open_engine(tmp_path / "runs.db", tools=tools) as engine:
            return await (await engine.run(file)).status()

    return asyncio.run(play())


def test_a_tool_that_cannot_be_closed_is_a_warning_that_names_it(tmp_path, caplog):
    other = Willing()
    tools = {"stubborn": Stubborn(), "other": other}
    with caplog.at_level(logging.WARNING):
        assert ended(tmp_path, tools, kind="stubborn") is RunStatus.DONE
    assert caplog.messages == ["the tool stubborn could not be closed: RuntimeError: still busy"]
    assert other.is_closed


def test_a_backend_that_cannot_be_closed_is_named_and_the_others_are_closed(tmp_path, caplog):
    other = Willing()
    tools = {"agent": AgentTool({"mine": Stubborn("a\nb"), "other": other})}
    with caplog.at_level(logging.WARNING):
        done = ended(tmp_path, tools, kind="agent", prompt="do", backend="mine")
    assert done is RunStatus.DONE
    [told] = caplog.messages
    assert told.startswith("the tool agent could not be closed: ")
    assert told.endswith("agent backend 'mine': RuntimeError: a b")
    assert other.is_closed
